//! What must hold for every scheduler on any small cluster: books, ledger, conservation, determinism.

use proptest::prelude::*;
use residua::cluster::{NodeId, NodeType};
use residua::engine::Simulation;
use residua::engine::port::{Ask, View};
use residua::engine::setup::{Gpus, OutOfMemory, Queueing, Rebuilds, Setup, Sharing, Telemetry};
use residua::error::Error;
use residua::probes::{Fact, Probe, Stage, Standard, Totals};
use residua::resources::{Amounts, DIMS, Dim, DimMask};
use residua::schedulers::{self, Ties};
use residua::units::{SimTime, Span};
use residua::workload::{ClassId, Growth, Job, JobClass, TypeMask, fewest_devices};

use crate::small::listed;

const HORIZON: Span = Span::from_secs(6 * 3600);

fn amounts(range: [std::ops::RangeInclusive<i32>; DIMS]) -> impl Strategy<Value = Amounts> {
    range.prop_map(Amounts)
}

fn node_type() -> impl Strategy<Value = NodeType> {
    amounts([8..=64, 16..=128, 1..=8, 16..=64, 8..=64, 1..=40, 1..=40]).prop_map(|mut capacity| {
        capacity[Dim::Gpu] *= 1000;
        NodeType { id: "N".to_owned(), title: "node".to_owned(), capacity }
    })
}

fn job() -> impl Strategy<Value = Job> {
    let demand = amounts([0..=24, 0..=48, 0..=4, 0..=40, 0..=24, 0..=16, 0..=16]);
    (demand, 0..3u8, 0..14_400_000u64, 1..4u16, 1..5_400_000u64, any::<bool>()).prop_map(
        |(mut demand, class, arrival, tasks, work, is_half)| {
            demand[Dim::Gpu] = demand[Dim::Gpu] * 1000 + if is_half { 500 } else { 0 };
            Job {
                index: 0,
                class: ClassId(class),
                arrival: SimTime(arrival),
                tasks,
                demand,
                gpus: fewest_devices(demand[Dim::Gpu]),
                work: Span(work),
                types: TypeMask::ANY,
            }
        },
    )
}

fn queueing() -> impl Strategy<Value = Queueing> {
    prop_oneof![
        Just(Queueing::STRICT),
        (2..20u32, prop::option::of(0..3600u64)).prop_map(|(window, reserve_after)| Queueing {
            window,
            reserve_after: reserve_after.map(Span::from_secs),
            reserve_ppm: 300_000,
            reserve_min: 2,
            rejects: false,
        }),
    ]
}

fn telemetry() -> impl Strategy<Value = Telemetry> {
    prop_oneof![
        Just(Telemetry::PERFECT),
        (10..3600u64, 0.0..0.5f64, 0.05..=1.0f64, 0.0..0.2f64).prop_map(|(interval, noise, smoothing, dead_band)| {
            Telemetry { interval: Span::from_secs(interval), noise, smoothing, dead_band }
        }),
    ]
}

fn choice() -> impl Strategy<Value = schedulers::Choice> {
    let entries: Vec<_> = schedulers::entries().chain(schedulers::replay_entries()).collect();
    (
        prop::sample::select(entries),
        700_000..1_300_000u32,
        prop_oneof![Just(0u32), Just(750_000)],
        0..=1_000_000u32,
        prop_oneof![Just(Ties::Fixed), Just(Ties::Drawn)],
        prop_oneof![Just(0u32), 1..5u32],
    )
        .prop_map(|(entry, safety_ppm, cordon_ppm, foresight_ppm, ties, sample)| schedulers::Choice {
            ties,
            sample,
            safety_ppm,
            cordon_ppm,
            foresight_ppm,
            ..entry.choice()
        })
}

fn setup() -> impl Strategy<Value = Setup> {
    let cluster = (prop::collection::vec(node_type(), 1..4), prop::collection::vec(0..3u8, 1..10));
    let rules =
        (queueing(), telemetry(), choice(), any::<bool>(), any::<bool>(), prop::option::of(1..3u64), any::<bool>());
    let warm_up = prop_oneof![Just(0), 1..300u64].prop_map(|minutes| Span::from_secs(minutes * 60));
    (cluster, prop::collection::vec(job(), 1..60), rules, warm_up, any::<u64>()).prop_map(
        |((node_types, nodes), mut jobs, rules, warm_up, seed)| {
            let (queueing, telemetry, scheduler, is_fair, throttles, rebuild_hours, has_devices) = rules;
            jobs.sort_by_key(|job| job.arrival);
            for (job, index) in jobs.iter_mut().zip(0..) {
                job.index = index;
            }
            let growth = Growth { hbm: 1.0, sto: 1.5, ioc: 0.5, steps: 3, hbm_cap: 60 };
            let class = |share_ppm, growth, at: usize| JobClass {
                id: format!("c{at}"),
                typical: jobs[at % jobs.len()].demand,
                share_ppm,
                growth,
                training: at == 1,
            };
            Setup {
                nodes: nodes.iter().map(|kind| kind % node_types.len() as u8).collect(),
                node_types,
                gpus: if has_devices { Gpus::Devices } else { Gpus::Pool },
                exists: DimMask::SEVEN,
                classes: vec![class(500_000, None, 0), class(300_000, Some(growth), 1), class(200_000, None, 2)],
                typical: std::sync::Arc::default(),
                source: listed(jobs),
                rebuilds: rebuild_hours.map(|hours| Rebuilds {
                    healthy_mean: Span::from_secs(hours * 3600),
                    rebuild_mean: Span::from_secs(1800),
                    factor_ppm: (0, 600_000),
                    ioc_ppm: 750_000,
                }),
                sharing: if is_fair { Sharing::MaxMin } else { Sharing::Proportional },
                out_of_memory: if throttles { OutOfMemory::Throttle } else { OutOfMemory::Requeue },
                eviction_loss_ppm: 250_000,
                queueing,
                telemetry,
                scheduler,
                warm_up,
                horizon: HORIZON,
                seed,
            }
        },
    )
}

/// Counts work by the books of its own: nothing shared with the ledger.
#[derive(Clone, Debug, Default)]
struct Work {
    /// GPU thousandths × millionths × ms.
    finished: i128,
    lost: i128,
    arrived: u64,
    ended: u64,
}

impl Probe for Work {
    fn elapse(&mut self, _from: SimTime, _to: SimTime, _totals: &Totals) {}

    fn observe(&mut self, _at: SimTime, fact: &Fact<'_>, _stage: &Stage<'_>) {
        match fact {
            Fact::Arrived { .. } => self.arrived += 1,
            Fact::Finished { state, .. } => {
                self.ended += 1;
                self.finished += i128::from(state.gpu_milli()) * i128::from(state.job.work.as_ms()) * 1_000_000;
            }
            Fact::Evicted { lost, .. } => self.lost += lost,
            _ => {}
        }
    }
}

type Checked = Simulation<(Standard, Work)>;

fn start(setup: Setup) -> Checked {
    let probe = (Standard::new(&setup), Work::default());
    Simulation::with_probe(setup, probe).expect("a good setup")
}

/// Books against capacity and against the jobs that hold them.
fn check_books(simulation: &Checked) -> Result<(), TestCaseError> {
    let cluster = simulation.cluster();
    let mut allocated = 0;
    for node in cluster.ids() {
        let (used, capacity) = (cluster.used(node), cluster.capacity(node));
        for dim in DimMask::FIVE.iter() {
            prop_assert!(used[dim] >= 0 && used[dim] <= capacity[dim], "{dim} of node {} is oversubscribed", node.0);
        }
        let mut held = Amounts::ZERO;
        for state in simulation.jobs_on(node) {
            held = held.map(|dim, amount| amount + state.demand[dim]);
        }
        for dim in Dim::ALL.into_iter().filter(|dim| *dim != Dim::Hbm) {
            prop_assert_eq!(held[dim], used[dim], "what jobs hold of {} is what is booked", dim);
        }
        let devices = cluster.devices(node);
        if !devices.is_empty() {
            let free: i32 = devices.iter().map(|free| i32::from(*free)).sum();
            prop_assert_eq!(free, capacity[Dim::Gpu] - used[Dim::Gpu], "devices and sums of node {}", node.0);
            prop_assert!(devices.iter().all(|free| *free <= 1000));
        }
        // A throttled job holds less memory than it needs.
        prop_assert!(used[Dim::Hbm] <= held[Dim::Hbm]);
        allocated += i64::from(used[Dim::Gpu]);
    }
    let totals = simulation.totals();
    prop_assert_eq!(allocated, totals.allocated_milli);
    prop_assert_eq!(simulation.waiting().count(), totals.waiting as usize);
    Ok(())
}

/// What free GPUs are good for at this moment, from the books of each node: stranded, held, spare; in thousandths ×
/// millionths.
fn idle_uses(simulation: &Checked) -> [i128; 3] {
    let cluster = simulation.cluster();
    let classes = &simulation.setup().classes;
    let mut uses = [0; 3];
    for node in cluster.ids() {
        let residual = cluster.residual(node);
        let fitting = classes.iter().filter(|class| class.typical.fits_in(&residual, cluster.exists()));
        let fitting: u32 = fitting.map(|class| class.share_ppm).sum();
        let free = i128::from(cluster.free_gpu_milli(node));
        let usable = free * i128::from(fitting);
        uses[0] += free * 1_000_000 - usable;
        uses[if simulation.is_reserved(node) { 1 } else { 2 }] += usable;
    }
    uses
}

/// Work done and kept by the jobs that still run or wait, in GPU thousandths × millionths × ms.
fn unfinished_work(simulation: &Checked) -> i128 {
    let mut seen = Vec::new();
    let running = simulation.cluster().ids().flat_map(|node| simulation.jobs_on(node)).filter(|state| {
        let is_new = !seen.contains(&state.job.index);
        seen.push(state.job.index);
        is_new
    });
    let all: Vec<_> = running.collect();
    let work = |state: &residua::engine::JobState| {
        i128::from(state.work_done(simulation.now()).0) * i128::from(state.gpu_milli())
    };
    all.into_iter().map(work).sum::<i128>() + simulation.waiting().map(work).sum::<i128>()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn books_ledger_and_work_add_up(setup in setup()) {
        let warm_up = setup.warm_up;
        let mut simulation = start(setup);
        let mut idle = [0i128; 3];
        loop {
            let (from, uses) = (simulation.now(), idle_uses(&simulation));
            let is_over = simulation.step().is_none();
            if is_over {
                simulation.run_to_end();
            }
            let ms = i128::from(simulation.now().since(from.max(SimTime::ZERO + warm_up)).as_ms());
            for (sum, milli) in idle.iter_mut().zip(uses) {
                *sum += milli * ms;
            }
            check_books(&simulation)?;
            if is_over {
                break;
            }
        }
        prop_assert_eq!(simulation.fault(), None);
        let (standard, work) = simulation.probe();
        let ledger = standard.ledger();
        prop_assert_eq!(ledger.uses().iter().sum::<i128>(), ledger.capacity());
        let capacity = i128::from(simulation.cluster().total_gpu_milli()) * 1_000_000 * i128::from(HORIZON.as_ms() - warm_up.as_ms());
        prop_assert_eq!(ledger.capacity(), capacity);
        let [productive, stalled, redone, stranded, held, spare] = ledger.uses();
        prop_assert!([productive, stalled, redone, stranded, held, spare].iter().all(|use_| *use_ >= 0));
        prop_assert_eq!([stranded, held, spare], idle, "what is free, node by node");
        if warm_up == Span::ZERO {
            // What advanced is what is finished, kept or thrown away – to the unit.
            prop_assert_eq!(productive, work.finished + unfinished_work(&simulation));
            prop_assert_eq!(redone, work.lost);
        }
        // Every job has ended or is named as unfinished.
        let mut running: Vec<u64> =
            simulation.cluster().ids().flat_map(|node| simulation.jobs_on(node)).map(|state| state.job.index).collect();
        running.sort_unstable();
        running.dedup();
        let unfinished = running.len() + simulation.waiting().count();
        prop_assert_eq!(work.arrived, work.ended + unfinished as u64);
    }

    #[test]
    fn equal_runs_have_equal_digests_however_they_are_cut(setup in setup(), cut in 0..21_600u64) {
        let mut whole = Simulation::new(setup.clone()).expect("a good setup");
        whole.run_to_end();
        let mut first = Simulation::new(setup).expect("a good setup");
        first.run_until(SimTime(cut * 1000));
        let mut second = first.clone();
        while first.step().is_some() {}
        first.run_to_end();
        second.run_to_end();
        prop_assert_eq!(whole.digest(), first.digest());
        prop_assert_eq!(whole.digest(), second.digest());
        prop_assert_eq!(format!("{:?}", whole.metrics()), format!("{:?}", second.metrics()));
    }

    #[test]
    fn remembering_failed_attempts_changes_no_decision(setup in setup()) {
        let mut fast = Simulation::new(setup.clone()).expect("a good setup");
        let mut slow = Simulation::new(setup).expect("a good setup").looking_everywhere();
        fast.run_to_end();
        slow.run_to_end();
        prop_assert_eq!(fast.digest(), slow.digest());
    }

    #[test]
    fn whoever_sees_storage_and_reads_the_truth_never_starts_a_stall(setup in setup()) {
        // Feasibility in seven dimensions with perfect telemetry: no placement leaves its node oversubscribed.
        let mut setup = setup;
        setup.telemetry = Telemetry::PERFECT;
        setup.scheduler.fit_dims = DimMask::SEVEN;
        setup.scheduler.safety_ppm = 1_000_000;
        let mut simulation = Simulation::new(setup).expect("a good setup");
        simulation.run_to_end();
        prop_assert_eq!(simulation.metrics().misadmitted, 0.0);
    }
}

#[test]
fn every_card_is_complete_and_every_id_unique() {
    let mut ids: Vec<String> = schedulers::entries().map(|entry| entry.id()).collect();
    for card in schedulers::ROSTER {
        assert!(!card.title.is_empty() && card.idea.ends_with('.'), "{}", card.family);
        assert!(card.source.len() > 20, "{} does not say where it comes from", card.family);
        for knob in card.knobs {
            assert!(knob.key.starts_with(card.family), "{} is not a key of {}", knob.key, card.family);
            assert!((knob.range.0..=knob.range.1).contains(&knob.default));
        }
    }
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count);
    for id in ["scalar-5d", "scalar-7d", "tetris-5d", "tetris-7d", "best-fit-5d", "best-fit-7d", "ragp-5d", "ragp-io"]
    {
        assert!(schedulers::find(id).is_some(), "{id}");
    }
}

#[test]
fn reserved_nodes_are_given_back() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = setup();
    for _ in 0..32 {
        let Ok(tree) = strategy.new_tree(&mut runner) else { continue };
        let mut simulation = start(proptest::strategy::ValueTree::current(&tree));
        simulation.run_to_end();
        let kept = simulation.waiting().map(|state| state.reserved.len()).sum::<usize>();
        let marked = simulation.cluster().ids().filter(|node: &NodeId| simulation.is_reserved(*node)).count();
        assert_eq!(kept, marked, "nodes are kept for nobody");
    }
}

/// A scheduler that answers with a node nobody offered.
#[derive(Clone, Debug)]
struct Stubborn;

impl residua::engine::port::Scheduler for Stubborn {
    fn choose(&mut self, _view: &View<'_>, _ask: &Ask, _candidates: &[NodeId]) -> Option<NodeId> {
        Some(NodeId(1))
    }

    fn clone_box(&self) -> Box<dyn residua::engine::port::Scheduler> {
        Box::new(self.clone())
    }
}

#[test]
fn a_broken_rule_is_a_named_fault_and_the_books_stay_whole() {
    let gpu = crate::small::amounts(&[(Dim::Gpu, 1000)]);
    // Two one-GPU nodes: the second job finds node 1 taken, and the scheduler insists on it.
    let jobs = vec![crate::small::job(0, 60, gpu), crate::small::job(1, 60, gpu)];
    let setup = crate::small::setup(gpu, 2, jobs);
    let mut simulation =
        Simulation::with_scheduler(setup, crate::small::Log::default(), Box::new(Stubborn)).expect("a good setup");
    simulation.run_to_end();
    let fault = Error::BrokenRule { scheduler: "first-fit-5d".to_owned(), node: 1, job: 1 };
    assert_eq!(simulation.fault(), Some(&fault));
    assert!(simulation.is_finished());
    assert_eq!(simulation.cluster().used(NodeId(1)), gpu);
    assert_eq!(simulation.totals().waiting, 1, "the job that could not be placed still waits");
}
