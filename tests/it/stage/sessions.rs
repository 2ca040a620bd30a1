//! Sessions: what a worker sends is the run, no more and no less.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use residua::engine::Simulation;
use residua::scenario::{PRESETS, Scenario};
use residua::stage::reel::{LANE_BYTES, NodeState, Reel, Stat};
use residua::stage::session::{RunRequest, Session, TraceFiles};
use residua::units::SimTime;
use residua::workload::openb::OnFault;

fn request(scenario: &str, scheduler: &str) -> RunRequest {
    let set = [("nodes", "16"), ("hours", "8"), ("warm_up_hours", "2")];
    RunRequest {
        scenario: scenario.to_owned(),
        set: set.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec(),
        scheduler: scheduler.to_owned(),
        seed: 7,
        trace: None,
        lanes: 4,
    }
}

/// Plays a session to its end in chunks of `most` frames.
fn play(request: &RunRequest, most: usize) -> (Reel, residua::probes::Metrics) {
    let mut session = Session::start(request).unwrap();
    let mut reel = Reel::new(session.header().clone()).unwrap();
    loop {
        let chunk = session.advance(most);
        reel.push(&chunk.words).unwrap();
        if let Some(metrics) = chunk.done {
            assert!(session.is_over());
            assert!(session.advance(most).words.is_empty());
            assert!(session.advance(most).done.is_none());
            return (reel, metrics);
        }
        assert!(!session.is_over());
    }
}

#[test]
fn a_frame_that_was_approached_by_a_few_events_at_a_time_is_the_same() {
    let request = request("c-storage-stress", "ragp-io");
    let (whole, metrics) = play(&request, 64);
    let mut session = Session::start(&request).unwrap();
    let mut reel = Reel::new(session.header().clone()).unwrap();
    let mut pauses = 0;
    while !session.is_over() {
        while !session.approach(3) {
            pauses += 1;
        }
        let chunk = session.advance(1);
        reel.push(&chunk.words).unwrap();
        if let Some(done) = chunk.done {
            assert_eq!(done, metrics);
        }
    }
    assert!(pauses > 1000, "{pauses} pauses");
    assert!(session.approach(1), "nothing is left to approach");
    assert_eq!(reel.len(), whole.len());
    for at in 0..whole.len() {
        let [frame, expected] = [&reel, &whole].map(|reel| reel.frame(at).unwrap());
        assert_eq!(frame.time(), expected.time());
        for stat in Stat::ALL {
            assert_eq!(frame.stat(stat).to_bits(), expected.stat(stat).to_bits(), "{stat:?} of frame {at}");
        }
    }
}

#[test]
fn a_session_ends_with_the_measures_of_a_plain_run() {
    for preset in PRESETS {
        let request = request(preset.id, "ragp-io");
        let scenario = Scenario::preset(preset.id, &request.set).unwrap();
        let mut plain = Simulation::new(scenario.setup("ragp-io", 7).unwrap()).unwrap();
        plain.run_to_end();
        let (reel, metrics) = play(&request, 17);
        assert_eq!(metrics, plain.metrics(), "{}", preset.id);
        assert!(reel.is_complete());
        assert_eq!(reel.len(), 8 * 60 + 1);
        assert_eq!(reel.frame(reel.len() - 1).unwrap().time(), SimTime(8 * 3_600_000));
    }
}

#[test]
fn the_last_frame_says_what_the_measures_say() {
    for scheduler in ["scalar-5d", "ragp-5d", "ragp-io"] {
        let (reel, metrics) = play(&request("d-breathing", scheduler), 50);
        let last = reel.frame(reel.len() - 1).unwrap();
        let wanted = [
            (Stat::FShapeMean, metrics.f_shape),
            (Stat::FLostMean, metrics.f_lost),
            (Stat::StallMean, metrics.stall),
            (Stat::AllocatedMean, metrics.allocated),
            (Stat::ProductiveMean, metrics.productive),
            (Stat::ProductiveGpuHours, metrics.productive_gpu_h),
            (Stat::WastedGpuHours, metrics.ledger.uses.stranded + metrics.ledger.uses.stalled),
            (Stat::CapacityGpuHours, metrics.ledger.capacity),
            (Stat::HealthMean, metrics.health),
            (Stat::WaitP50, metrics.wait_p50.unwrap()),
            (Stat::WaitP99, metrics.wait_p99.unwrap()),
            (Stat::WaitTrainMean, metrics.wait_train_mean.unwrap_or(f64::NAN)),
            (Stat::JobsPerHour, metrics.jobs_per_hour),
            (Stat::Evictions, metrics.evictions),
        ];
        for (stat, value) in wanted {
            let shown = last.stat(stat);
            let same = shown.is_nan() && value.is_nan() || (shown - value).abs() <= 1e-6 * value.abs().max(1e-9);
            assert!(same, "{scheduler}: {stat:?} is {shown} instead of {value}");
        }
        assert!(last.stat(Stat::ProductiveMean) > 0.3);
    }
}

#[test]
fn frames_do_not_depend_on_how_they_are_asked_for() {
    let request = request("c-storage-stress", "tetris-5d");
    let (a, first) = play(&request, 1);
    let (b, second) = play(&request, 1000);
    assert_eq!(first, second);
    for i in 0..a.len() {
        let (a, b) = (a.frame(i).unwrap(), b.frame(i).unwrap());
        assert!(a.nodes().eq(b.nodes()));
        for stat in Stat::ALL {
            assert_eq!(a.stat(stat).to_bits(), b.stat(stat).to_bits());
        }
    }
}

#[test]
fn frames_agree_with_themselves_and_with_the_model() {
    let mut seen = [0_u32; NodeState::ALL.len()];
    for scheduler in ["scalar-5d", "ragp-5d", "ragp-io"] {
        let (reel, _) = play(&request("d-breathing", scheduler), 100);
        let header = reel.header().clone();
        for i in 0..reel.len() {
            let frame = reel.frame(i).unwrap();
            let waiting: u32 = (0..header.classes.len()).map(|class| frame.waiting(class)).sum();
            assert_eq!(f64::from(waiting), frame.stat(Stat::Waiting));
            assert!(frame.stat(Stat::FitsNowhere) <= frame.stat(Stat::Waiting));
            assert!(frame.stat(Stat::Productive) <= frame.stat(Stat::Allocated) + 1e-9);
            assert_eq!(frame.nodes().filter(|node| node.rebuilding).count() as f64, frame.stat(Stat::Rebuilding));
            let free: f32 = frame.nodes().map(|node| node.gpus_free).sum();
            let allocated = frame.stat(Stat::Allocated) * header.gpus;
            assert!((f64::from(free) + allocated - header.gpus).abs() < 0.01, "{free} + {allocated}");
            let stranded: f32 = frame.nodes().map(|node| node.gpus_stranded()).sum();
            assert!((f64::from(stranded) / header.gpus - frame.stat(Stat::Stranded)).abs() < 0.003);
            for node in frame.nodes() {
                seen[NodeState::ALL.iter().position(|state| *state == node.state).unwrap()] += 1;
                let steps = |shares: [f32; 7]| shares.map(|share| (share * 255.0) as i32);
                for (left, most) in steps(node.residual).into_iter().zip(steps(node.effective)) {
                    assert!(left <= most, "{node:?}");
                }
                match node.state {
                    NodeState::Stalled => assert!(node.stall > 0.04 && node.jobs > 0),
                    NodeState::Degraded => assert!(node.rebuilding),
                    NodeState::Breathing => assert!(node.forecast.is_some()),
                    NodeState::Blocked => assert!(node.gpus_free > 0.0 && waiting > 0),
                    NodeState::Packed => assert!(node.longest() <= 0.15),
                    NodeState::Pinched => assert!(node.shortest().unwrap().1 <= 0.1 && node.longest() >= 0.25),
                    NodeState::Healthy | NodeState::Offline => {}
                }
            }
        }
    }
    println!("{:?}", NodeState::ALL.map(NodeState::name).into_iter().zip(seen).collect::<Vec<_>>());
    // The model has no nodes that are switched off, and this workload hardly ever fills a node in all dimensions.
    for (state, count) in NodeState::ALL.into_iter().zip(seen) {
        let is_rare = matches!(state, NodeState::Offline | NodeState::Packed);
        assert!(count > 0 || is_rare, "{state:?} is never seen");
    }
    assert_eq!(seen[7], 0, "offline");
}

#[test]
fn everything_wrong_with_a_request_comes_at_once() {
    let mut request = request("c-storage-stress", "ragp-io");
    request.set.push(("load".to_owned(), "99".to_owned()));
    request.set.push(("no.such.key".to_owned(), "1".to_owned()));
    let issues = Session::start(&request).unwrap_err();
    assert!(issues.len() >= 2, "{issues:?}");
    request.set.clear();
    request.scheduler = "nobody".to_owned();
    assert_eq!(Session::start(&request).unwrap_err().len(), 1);
    request.scenario = "nowhere".to_owned();
    assert!(!Session::start(&request).unwrap_err().is_empty());
}

fn trace(folder: &Path, nodes: &str, pods: &str) -> Option<TraceFiles> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok().map(Into::into);
    Some(TraceFiles {
        nodes_name: nodes.to_owned(),
        nodes_csv: read(nodes)?,
        pods_name: pods.to_owned(),
        pods_csv: read(pods)?,
        on_fault: OnFault::Drop,
        assume: true,
    })
}

#[test]
fn a_trace_is_run_with_and_without_assumptions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/openb");
    let files = trace(&folder, "nodes.csv", "pods.csv").unwrap();
    for assume in [true, false] {
        for scheduler in ["ragp-io", "fgd-5d"] {
            let trace = Some(TraceFiles { assume, ..files.clone() });
            let mut set = vec![("hours", "6"), ("warm_up_hours", "1"), ("load", "0.8")];
            set.extend(assume.then_some(("rebuilds.degraded_share", "0.15")));
            let set = set.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
            let request = RunRequest { set, trace, ..request("c-storage-stress", scheduler) };
            let (reel, metrics) = play(&request, 60);
            assert!(metrics.allocated > 0.0);
            assert_eq!(reel.header().exists.len(), if assume { 7 } else { 3 });
            assert_eq!(metrics.ledger.difference, 0);
            let rebuilding = reel.series(Stat::Rebuilding).any(|nodes| nodes > 0.0);
            assert_eq!(rebuilding, assume, "without storage nothing can rebuild");
            let last = reel.frame(reel.len() - 1).unwrap();
            assert!(last.nodes().all(|node| node.dims.len() <= reel.header().exists.len()));
        }
    }
}

/// The same files and settings are the same experiment on the page and on the command line.
#[test]
fn a_trace_on_the_page_is_the_run_of_the_command() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/openb");
    let (nodes, pods) = ("nodes.csv", "pods.csv");
    for (set, assume) in
        [(&[][..], true), (&[("load", "0.9"), ("rebuilds.degraded_share", "0.2")], true), (&[], false)]
    {
        let set: Vec<(String, String)> = set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let trace = Some(TraceFiles { assume, ..trace(&folder, nodes, pods).unwrap() });
        // What scenario the page stood at before must not matter.
        let request = RunRequest { set: set.clone(), trace, ..request("c-storage-stress", "ragp-io") };
        let (reel, metrics) = play(&request, 500);
        assert_eq!((reel.header().horizon_ms, reel.header().warm_up_ms), (48 * 3_600_000, 24 * 3_600_000));

        let mut command = Command::new(env!("CARGO_BIN_EXE_residua"));
        command.args(["run", "--json", "--seed", "7", "--schedulers", "ragp-io"]);
        command.arg("--trace-nodes").arg(folder.join(nodes)).arg("--trace-pods").arg(folder.join(pods));
        command.args(["--assume", if assume { "on" } else { "off" }]);
        for (key, value) in &set {
            command.arg("--set").arg(format!("{key}={value}"));
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let all: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let ours: serde_json::Value = serde_json::from_str(&serde_json::to_string(&metrics).unwrap()).unwrap();
        assert_eq!(all["runs"][0]["metrics"], ours, "{set:?}");
        assert!(metrics.allocated > 0.3);
    }
}

/// Also what only the engine has against a run has a place and a remedy.
#[test]
fn what_the_engine_refuses_has_its_place() {
    let mut setup = Scenario::preset("a", &[]).unwrap().setup("ragp-io", 1).unwrap();
    setup.nodes.clear();
    let issues = Session::of(setup).unwrap_err();
    let messages: Vec<_> = issues.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "settings – allowed: settings that a run can start with. this run cannot start: there are no nodes; give at \
          least one"
        ]
    );
}

#[test]
fn settings_without_a_say_in_a_trace_are_problems() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/openb");
    let trace = trace(&folder, "nodes.csv", "pods.csv");
    let set = vec![("storage_intensity".to_owned(), "1.5".to_owned()), ("load".to_owned(), "9".to_owned())];
    let issues = Session::start(&RunRequest { set, trace, ..request("a-balanced", "ragp-io") }).unwrap_err();
    let paths: Vec<&str> = issues.iter().map(|issue| issue.path.as_str()).collect();
    assert_eq!(paths, ["storage_intensity", "load"], "{issues:#?}");
}

#[test]
fn settings_of_storage_without_storage_are_problems() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/openb");
    let files = trace(&folder, "nodes.csv", "pods.csv").unwrap();
    let set = [("rebuilds.degraded_share", "0.2"), ("load", "0.9"), ("scheduler.safety", "0.8")];
    let set: Vec<_> = set.map(|(path, value)| (path.to_owned(), value.to_owned())).into();
    let start = |assume| {
        let trace = Some(TraceFiles { assume, ..files.clone() });
        Session::start(&RunRequest { set: set.clone(), trace, ..request("a-balanced", "ragp-io") })
    };
    assert!(start(true).is_ok());
    let issues = start(false).unwrap_err();
    let paths: Vec<&str> = issues.iter().map(|issue| issue.path.as_str()).collect();
    assert_eq!(paths, ["rebuilds.degraded_share", "scheduler.safety"], "{issues:#?}");
}

/// A key that names dimensions is silent in part: what the trace lacks is named, and nothing is cut unsaid.
#[test]
fn dimensions_that_a_trace_does_not_have_are_problems() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/openb");
    let files = trace(&folder, "nodes.csv", "pods.csv").unwrap();
    let start = |assume, key: &str, value: &str| {
        let trace = Some(TraceFiles { assume, ..files.clone() });
        let set = vec![(key.to_owned(), value.to_owned())];
        let refused = Session::start(&RunRequest { set, trace, ..request("a-balanced", "ragp-io") }).err();
        refused.unwrap_or_default().into_iter().map(|issue| issue.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        start(false, "scheduler.fit_dims", "sto,ioc"),
        [
            "scheduler.fit_dims = sto,ioc – allowed: some of cpu,ram,gpu, which the trace has. Leave out sto,ioc, or let \
          the missing dimensions be assumed"
        ]
    );
    let said = start(false, "scheduler.score_dims", "gpu,sto");
    assert!(said.len() == 1 && said[0].contains(". Leave out sto, or"), "{said:?}");
    let said = start(false, "scheduler.score_dims", "sto");
    assert!(said.len() == 1 && said[0].contains(". Name one of these, or"), "{said:?}");
    for (assume, key, value) in [
        (true, "scheduler.fit_dims", "sto,ioc"),
        (true, "scheduler.score_dims", "gpu,sto"),
        (false, "scheduler.score_dims", "gpu,cpu"),
        (false, "scheduler.fit_dims", "own"),
    ] {
        assert!(start(assume, key, value).is_empty(), "{key} = {value}: {:?}", start(assume, key, value));
    }
}

/// None is left out on the way from a worker to the page, however many there are.
#[test]
fn every_fault_of_a_trace_is_a_problem_of_its_own() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/openb");
    let mut files = trace(&folder, "nodes.csv", "pods.csv").unwrap();
    files.on_fault = OnFault::Stop;
    let row = "faulty,many,16384,1,1000,,LS,Succeeded,0,3600,0\n";
    let faulty = (0..1000).map(|number| row.replace("faulty", &format!("faulty-{number}")));
    files.pods_csv = [files.pods_csv.to_string()].into_iter().chain(faulty).collect::<String>().into();
    let refused = RunRequest { set: vec![], trace: Some(files), ..request("c-storage-stress", "ragp-io") };
    assert_eq!(Session::start(&refused).unwrap_err().len(), 1000);
}

#[test]
fn a_faulty_trace_is_refused_with_file_and_row() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/openb");
    let mut files = trace(&folder, "nodes_faulty.csv", "pods_faulty.csv").unwrap();
    files.on_fault = OnFault::Stop;
    let refused = RunRequest { set: vec![], trace: Some(files), ..request("c-storage-stress", "ragp-io") };
    let issues = Session::start(&refused).unwrap_err();
    assert!(issues.len() > 1);
    assert!(
        issues.iter().any(|issue| issue.path == "nodes_faulty.csv:3:cpu_milli" && issue.value == "-96000"),
        "{issues:#?}"
    );
}

/// What a browser's memory does not hold is refused with a size that it does hold.
#[test]
fn a_run_that_a_browser_does_not_hold_is_refused_with_the_remedy() {
    let with = |nodes: &str| RunRequest {
        set: [("nodes", nodes), ("hours", "24"), ("load", "0.7")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .to_vec(),
        ..request("c-storage-stress", "ragp-io")
    };
    Session::start(&with("10000")).expect("ten thousand nodes for a day fit");
    let issues = Session::start(&with("20000")).expect_err("too much");
    assert_eq!((issues.len(), issues[0].path.as_str(), issues[0].value.as_str()), (1, "nodes", "20000"));
    assert!(
        issues[0].allowed.starts_with("what takes at most 67 MB of memory in each of 4 lanes; this takes about ")
    );
    let nodes =
        issues[0].remedy.strip_prefix("Take at most ").and_then(|rest| rest.split_once(" nodes")).expect("nodes").0;
    Session::start(&with(nodes)).expect("the advice helps");
}

/// What a lane may take is what the lanes beside it leave.
#[test]
fn fewer_lanes_may_be_larger() {
    let hot = |lanes, nodes: &str, load: &str| {
        let set = [("nodes", nodes), ("load", load), ("hours", "30")];
        let set = set.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
        Session::start(&RunRequest { set, lanes, ..request("c-storage-stress", "first-fit-5d") }).map(|_| ())
    };
    // Thirty hours of a thousand nodes: what waits in the end is taken to be 13 MB at load 0.95, 73 at 1.2 and 200 at 1.5.
    for (load, most) in [("0.85", 4), ("0.95", 4), ("1", 4), ("1.2", 3), ("1.5", 1)] {
        for lanes in 1..=4 {
            let outcome = hot(lanes, "1000", load);
            assert_eq!(outcome.is_ok(), lanes <= most, "{lanes} lanes at {load}: {outcome:?}");
        }
    }
    let refused = hot(4, "1000", "1.5").expect_err("too much for four");
    assert!(refused[0].remedy.contains("fewer lanes"), "{refused:?}");
    assert!(!hot(1, "10000", "1.5").expect_err("too much for one").remove(0).remedy.contains("lanes"));
}

/// What is estimated is about what a run holds, so that neither is refused what fits nor taken what does not. In small
/// clusters luck counts for more; their queues are no more than a few megabytes.
#[test]
fn what_waits_at_once_is_what_was_estimated() {
    for (id, load) in
        [("a-balanced", "1.2"), ("b-bursty", "0.8"), ("c-storage-stress", "1.2"), ("d-breathing", "1.5")]
    {
        let set = [("nodes", "96"), ("load", load)].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let scenario = residua::scenario::Scenario::preset(id, &set).unwrap();
        let mut simulation = residua::engine::Simulation::new(scenario.setup("first-fit-5d", 3).unwrap()).unwrap();
        simulation.run_to_end();
        let (held, most) = (simulation.held().slots as f64, scenario.memory().most_jobs());
        assert!(
            (held / 1.1..2.1 * held + 1_000.0).contains(&most),
            "{id} at {load}: {held} jobs, {most:.0} estimated"
        );
    }
}

/// However large a run: its frames fit, the last is at its end, and any moment is found.
#[test]
fn the_frames_of_a_large_run_fit_and_can_be_sought() {
    let large = RunRequest {
        set: [("nodes", "10000"), ("hours", "24"), ("warm_up_hours", "0"), ("load", "0.05")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .to_vec(),
        ..request("c-storage-stress", "first-fit-5d")
    };
    let mut session = Session::start(&large).unwrap();
    let header = session.header().clone();
    let bytes = header.frame_words() as u64 * 4 * u64::from(header.frames);
    assert!(bytes <= LANE_BYTES && bytes > LANE_BYTES * 9 / 10, "{bytes} bytes");
    assert_eq!(header.time_of(header.frames as usize - 1), SimTime(24 * 3_600_000));
    let mut reel = Reel::new(header.clone()).unwrap();
    reel.push(&session.advance(3).words).unwrap();
    let second = reel.index_at(SimTime(2 * header.interval_ms - 1));
    assert_eq!((reel.len(), second), (3, 1));
    assert_eq!(reel.frame(second).unwrap().time(), header.time_of(1));
}
