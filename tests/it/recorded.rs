//! Recorded arrivals: replayed as they are, read as time passes, every fault said.

use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use residua::engine::Simulation;
use residua::engine::setup::Setup;
use residua::error::Error;
use residua::probes::Standard;
use residua::scenario::{Scenario, TRACE};
use residua::units::{SimTime, Span};
use residua::workload::Source;
use residua::workload::openb::recorded::{LISTED_A_KIND, Opener, Recorded, Trouble, survey};
use residua::workload::openb::{Arrivals, Kind, OnFault, Options, import};

const NODES: &str = "sn,cpu_milli,memory_mib,gpu,model\n\
                     n0,64000,262144,2,T4\nn1,64000,262144,2,T4\nn2,96000,524288,8,G2\n";

const HEADER: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,creation_time,deletion_time,scheduled_time";

fn opener(text: &str) -> Opener {
    let text = text.to_owned();
    Opener::new(move || Ok(Box::new(Cursor::new(text.clone().into_bytes()))))
}

fn read(rows: &str, options: &Options) -> Result<Recorded, Trouble> {
    survey(("nodes.csv", NODES), ("pods.csv", &opener(&format!("{HEADER}\n{rows}"))), options, |_| {})
}

/// What was found, as (row, kind), and the sentences.
fn refused(rows: &str) -> (Vec<(usize, Kind)>, String) {
    match read(rows, &Options::default()).expect_err("a fault") {
        Trouble::Refused(refused) => (
            refused.findings.iter().map(|finding| (finding.row, finding.kind)).collect(),
            Trouble::Refused(refused).to_string(),
        ),
        Trouble::Unreadable(why) => panic!("{why}"),
    }
}

fn setup(recorded: &Recorded, hours: f64) -> Setup {
    let set = [("hours", hours.to_string()), ("warm_up_hours", "0".to_owned())];
    let scenario =
        Scenario::for_trace(TRACE, &set.map(|(key, value)| (key.to_owned(), value))).expect("good settings");
    scenario.recorded_setup(recorded, "best-fit-5d", 1).expect("a good setup")
}

/// Pods as (seconds after the one before, seconds until it started, seconds it ran, GPUs).
fn rows(pods: &[(u64, u64, u64, u64)]) -> String {
    let mut created = 1_000_000;
    let row = |(n, (gap, wait, run, gpus)): (usize, &(u64, u64, u64, u64))| {
        created += gap;
        let (scheduled, share) = (created + wait, if *gpus > 0 { 1000 } else { 0 });
        format!("p{n},4000,8192,{gpus},{share},LS,{created},{},{scheduled}\n", scheduled + run)
    };
    pods.iter().enumerate().map(row).collect()
}

#[test]
fn pods_arrive_when_they_were_created_and_run_as_long_as_they_did() {
    let recorded =
        read(&rows(&[(0, 5, 600, 1), (60, 0, 90_000, 2), (0, 30, 1, 0)]), &Options::default()).expect("right");
    let jobs: Vec<_> = recorded.stream().collect();
    let times: Vec<_> = jobs.iter().map(|job| (job.index, job.arrival.as_ms(), job.work.as_ms())).collect();
    // The first creation starts the clock; 25 hours are not cut.
    assert_eq!(times, [(0, 0, 600_000), (1, 60_000, 90_000_000), (2, 60_000, 1_000)]);
    assert_eq!(recorded.jobs, 3);
    assert_eq!(recorded.length, Span::from_secs(60 + 90_000));
    assert_eq!(recorded.trace.arrivals, Arrivals::Recorded);
    assert!(recorded.trace.samples.is_empty());
    // (600 + 2 × 90,000) GPU-seconds ÷ (12 GPUs × 90,060 s).
    assert!((recorded.load - 180_600.0 / (12.0 * 90_060.0)).abs() < 1e-12, "{}", recorded.load);
}

/// Cluster, classes and what is assumed do not depend on how jobs arrive.
#[test]
fn the_classes_are_those_of_the_same_list_read_at_once() {
    let pods = format!("{HEADER}\n{}", rows(&[(0, 5, 600, 1), (60, 0, 900, 2), (9, 30, 1, 0), (8, 1, 44, 1)]));
    let options = Options { cap: None, ..Options::default() };
    let imported = import(("nodes.csv", NODES), ("pods.csv", &pods), &options).expect("right");
    let recorded = survey(("nodes.csv", NODES), ("pods.csv", &opener(&pods)), &options, |_| {}).expect("right").trace;
    assert_eq!(recorded.classes, imported.classes);
    assert_eq!(recorded.node_types, imported.node_types);
    assert_eq!(recorded.nodes, imported.nodes);
    assert_eq!(recorded.assumptions[1..], imported.assumptions[1..]);
    assert_eq!(recorded.report, imported.report);
    let demands: Vec<_> = imported.samples.iter().map(|sample| (sample.demand, sample.class, sample.types)).collect();
    let jobs = survey(("n", NODES), ("p", &opener(&pods)), &options, |_| {}).expect("right").stream();
    assert_eq!(jobs.map(|job| (job.demand, job.class, job.types)).collect::<Vec<_>>(), demands);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Read as time passes, held in a list, or copied on the way: the same run.
    #[test]
    fn a_stream_is_as_good_as_a_list(
        pods in prop::collection::vec((0..900_u64, 0..60_u64, 0..9000_u64, 0..5_u64), 1..60),
        cut in 0..10_000_u64,
    ) {
        prop_assume!(pods.iter().any(|pod| pod.3 > 0));
        let recorded = read(&rows(&pods), &Options::default()).expect("right");
        let streamed = setup(&recorded, 12.0);
        let jobs: Vec<_> = recorded.stream().collect();
        prop_assert_eq!(jobs.len() as u64, recorded.jobs);
        let listed = Setup { source: Source::Listed { jobs: jobs.into(), next: 0 }, ..streamed.clone() };
        let run = |setup: Setup| {
            let mut simulation = Simulation::new(setup).expect("a good setup");
            simulation.run_to_end();
            (simulation.digest(), format!("{:?}", simulation.metrics()), simulation.fault().cloned())
        };
        let expected = run(listed);
        prop_assert_eq!(&run(streamed.clone()), &expected);
        let mut original = Simulation::new(streamed).expect("a good setup");
        original.run_until(SimTime(cut * 1000));
        let mut copy = original.clone();
        original.run_to_end();
        copy.run_to_end();
        prop_assert_eq!(original.digest(), expected.0);
        prop_assert_eq!(copy.digest(), expected.0);
    }
}

#[test]
fn every_row_that_cannot_be_replayed_is_said() {
    let (found, words) = refused(
        "a,4000,8192,1,1000,LS,100,700,100\n\
         b,4000,8192,1,1000,LS,,700,100\n\
         c,4000,8192,1,1000,LS,120,,130\n\
         d,4000,8192,1,1000,LS,130,700,\n\
         a,4000,8192,1,1000,LS,140,700,150\n\
         e,4000,8192,1,1000\n\
         f,4000,8192,9,1000,LS,150,700,150\n",
    );
    assert_eq!(
        found,
        [
            (3, Kind::MissingValue),
            (4, Kind::NoRunTime),
            (5, Kind::NoRunTime),
            (6, Kind::RepeatedName),
            (7, Kind::FieldCount),
            (8, Kind::FitsNoNode),
        ]
        .map(|(row, kind)| (row, kind))
        .into_iter()
        .chain([(1, Kind::AbsentColumn)])
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect::<Vec<_>>()
    );
    assert!(
        words.contains("row 3, column creation_time: missing value: without it there is no arrival to replay"),
        "{words}"
    );
    let dropped = Options { on_fault: OnFault::Drop, ..Options::default() };
    let rows = "a,4000,8192,1,1000,LS,100,700,100\nb,4000,8192,1,1000,LS,,700,100\n";
    let recorded = read(rows, &dropped).expect("one good row");
    assert_eq!((recorded.jobs, recorded.trace.report.faults.len(), recorded.trace.report.pods.rows), (1, 1, 2));
    assert_eq!(recorded.stream().count(), 1);
}

#[test]
fn rows_out_of_order_are_refused_with_the_row_and_the_remedy() {
    let (found, words) = refused(
        "a,4000,8192,1,1000,LS,100,700,100\n\
         b,4000,8192,1,1000,LS,90,700,100\n\
         c,4000,8192,1,1000,LS,100,700,100\n\
         d,4000,8192,1,1000,LS,80,700,100\n",
    );
    // One is named, all are counted: one sorting is the cure for all.
    assert!(found.contains(&(3, Kind::OutOfOrder)) && !found.contains(&(5, Kind::OutOfOrder)), "{found:?}");
    assert!(words.contains("2 × not in order of time"), "{words}");
    assert!(
        words.contains("row 2 is later, at 100") && words.contains("sort them by creation_time, which is column 7"),
        "{words}"
    );
    assert!(words.contains("… and 1 more × not in order of time"), "{words}");
    // Whoever drops faulty rows does not drop these: what was said of them is of the file.
    let dropped = Options { on_fault: OnFault::Drop, ..Options::default() };
    let rows = "a,4000,8192,1,1000,LS,100,700,100\nb,4000,8192,1,1000,LS,90,700,100\n";
    assert!(matches!(read(rows, &dropped), Err(Trouble::Refused(refused)) if !refused.can_drop()));
}

#[test]
fn what_is_no_recording_is_refused() {
    let of = |pods: &str| survey(("n", NODES), ("p", &opener(pods)), &Options::default(), |_| {});
    for (pods, words) in [
        ("", "empty file"),
        (NODES, "choose the other file"),
        ("name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,1000\n", "no run times in this file"),
        (
            "name,cpu_milli,memory_mib,num_gpu,gpu_milli,deletion_time,scheduled_time\na,1,1,1,1000,9,5\n",
            "recorded arrivals are those of this column",
        ),
        (HEADER, "choose one with rows below its header"),
    ] {
        let error = of(pods).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    }
    let broken = Opener::new(|| Err(io::Error::other("the disk is gone")));
    let error = survey(("n", NODES), ("p", &broken), &Options::default(), |_| {}).expect_err("no disk");
    assert_eq!(error, Trouble::Unreadable("p: it cannot be read: the disk is gone".to_owned()));
}

#[test]
fn of_many_faults_the_first_are_listed_and_all_are_counted() {
    let bad: String = (0..LISTED_A_KIND + 50).map(|n| format!("b{n},4000,8192,1,1000,LS,x,700,100\n")).collect();
    let rows = format!("{bad}{}", rows(&[(0, 5, 600, 1)]));
    let recorded = read(&rows, &Options { on_fault: OnFault::Drop, ..Options::default() }).expect("one good row");
    let report = recorded.trace.report;
    let count = report.counts.iter().find(|count| count.kind == Kind::NotANumber).expect("counted");
    assert_eq!((report.faults.len(), count.count), (LISTED_A_KIND, LISTED_A_KIND + 50));
    let error = read(&rows, &Options::default()).expect_err("faults").to_string();
    assert!(
        error.contains("250 × not a whole number") && error.contains("… and 50 more × not a whole number"),
        "{error}"
    );
}

/// A list that changes between its check and the run ends the run: its numbers would be of nothing.
#[test]
fn a_list_that_changes_after_it_was_checked_ends_the_run() {
    let all = rows(&[(0, 5, 600, 1), (60, 0, 900, 2), (60, 0, 900, 2)]);
    let fewer = rows(&[(0, 5, 600, 1), (60, 0, 900, 2)]);
    let (all, fewer) = (format!("{HEADER}\n{all}"), format!("{HEADER}\n{fewer}"));
    let opened = Arc::new(AtomicUsize::new(0));
    let opener = Opener::new(move || {
        let text = if opened.fetch_add(1, Ordering::Relaxed) == 0 { &all } else { &fewer };
        Ok(Box::new(Cursor::new(text.clone().into_bytes())))
    });
    let recorded = survey(("n", NODES), ("pods.csv", &opener), &Options::default(), |_| {}).expect("right at first");
    let mut simulation = Simulation::new(setup(&recorded, 1.0)).expect("a good setup");
    simulation.run_to_end();
    let fault = simulation.fault().expect("a fault");
    assert_eq!(*fault, Error::Source("pods.csv: it changed after it was checked; start again".to_owned()));
    assert!(simulation.is_finished());
}

/// Writes pods as it is read, one a second, and counts them.
struct Endless {
    written: Arc<AtomicUsize>,
    pods: usize,
    rest: Vec<u8>,
}

impl Read for Endless {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() && self.pods > 0 {
            let n = self.written.fetch_add(1, Ordering::Relaxed);
            self.pods -= 1;
            self.rest = format!("p{n},4000,8192,1,1000,LS,{n},{},{n}\n", n + 11).into_bytes();
            if n == 0 {
                self.rest = format!("{HEADER}\n{}", String::from_utf8_lossy(&self.rest)).into_bytes();
            }
        }
        let count = self.rest.len().min(room.len());
        room[..count].copy_from_slice(&self.rest[..count]);
        self.rest.drain(..count);
        Ok(count)
    }
}

/// No more is read than time has passed, and no more is held than runs and waits.
#[test]
fn a_recording_is_read_as_time_passes_and_what_is_over_is_forgotten() {
    const PODS: usize = 30_000;
    let written = Arc::new(AtomicUsize::new(0));
    let opener = {
        let written = written.clone();
        Opener::new(move || {
            written.store(0, Ordering::Relaxed);
            let pods = Endless { written: written.clone(), pods: PODS, rest: Vec::new() };
            Ok(Box::new(BufReader::with_capacity(256, pods)))
        })
    };
    let recorded = survey(("n", NODES), ("p", &opener), &Options::default(), |_| {}).expect("right");
    assert_eq!(written.load(Ordering::Relaxed), PODS);
    let mut simulation = Simulation::new(setup(&recorded, 8.0)).expect("a good setup");
    let mut at_once = 0;
    for second in 0..8 * 3600 {
        simulation.run_until(SimTime(second * 1000));
        // The job that comes next, and what the buffer holds of those behind it.
        let read = written.load(Ordering::Relaxed) as u64;
        assert!(read <= second + 12, "{read} rows after {second} s");
        let totals = simulation.totals();
        at_once = at_once.max(totals.waiting + totals.running);
    }
    let held = simulation.held();
    // A slot is given back only after the next job came in the same moment.
    assert!(held.slots <= at_once as usize + 1, "{held:?} for {at_once} jobs at once");
    assert!((11..=30).contains(&at_once), "{at_once} jobs at once of {PODS}");
}

/// A long job whose neighbours come and go changes its rate thousands of times, and each time its end is entered anew.
#[test]
fn void_ends_of_jobs_are_forgotten() {
    use residua::resources::Dim;

    use crate::small::{amounts, job, setup};

    let room = [(Dim::Cpu, 64), (Dim::Gpu, 8000), (Dim::Sto, 100), (Dim::Ioc, 100)];
    let starved = amounts(&[(Dim::Cpu, 1), (Dim::Gpu, 1000), (Dim::Sto, 100)]);
    let jobs = (0..3000).map(|n| job(n, if n == 0 { 3600 } else { 1 }, starved)).collect();
    let setup = setup(amounts(&room), 1, jobs);
    let mut simulation = Simulation::<Standard>::new(setup).expect("a good setup");
    let mut most = 0;
    while simulation.step().is_some() {
        most = most.max(simulation.held().events);
    }
    assert!(simulation.events() > 5000, "{} events", simulation.events());
    let running = 8;
    assert!(most <= 2 * (running + 1) + 257, "{most} events in the calendar");
}
