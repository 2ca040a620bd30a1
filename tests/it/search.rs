//! Searches that look at few nodes: schedulers that look for a node themselves find what a look at every node finds, and
//! a sample is the same however it is found.

use proptest::prelude::*;
use residua::engine::Simulation;
use residua::probes::Standard;
use residua::scenario::Scenario;
use residua::units::SimTime;

/// A scenario of its own size, with knobs and information that change which nodes are good and which are open.
fn settings() -> impl Strategy<Value = Vec<(String, String)>> {
    let size = (17..150u32, 0.5..1.2f64, 0.0..0.4f64);
    let knobs = (0.0..3.0f64, 0.0..3.0f64, 0.0..3.0f64, 0.0..1.0f64, 0.0..0.5f64, 0.01..0.5f64, 0..2u8);
    let information = (prop::bool::ANY, prop::sample::select(vec![0.0, 0.75]), 0.7..=1.0f64, prop::bool::ANY);
    (size, knobs, information).prop_map(|(size, knobs, information)| {
        let (nodes, load, degraded) = size;
        let (imbalance, alignment, exhaustion, shortfall, tightness, tau, absolute) = knobs;
        let (is_noisy, cordon, safety, throttles) = information;
        let mut set = vec![
            ("nodes", nodes.to_string()),
            ("load", format!("{load:.3}")),
            ("hours", "3".to_owned()),
            ("warm_up_hours", "0".to_owned()),
            ("rebuilds.degraded_share", format!("{degraded:.3}")),
            ("rebuilds.mean_hours", "0.5".to_owned()),
            ("scheduler.ragp_imbalance", imbalance.to_string()),
            ("scheduler.ragp_alignment", alignment.to_string()),
            ("scheduler.ragp_exhaustion", exhaustion.to_string()),
            ("scheduler.ragp_shortfall", shortfall.to_string()),
            ("scheduler.ragp_tightness", tightness.to_string()),
            ("scheduler.ragp_tau", tau.to_string()),
            ("scheduler.ragp_absolute", absolute.to_string()),
            ("scheduler.cordon", cordon.to_string()),
            ("scheduler.safety", format!("{safety:.3}")),
        ];
        if is_noisy {
            set.push(("telemetry.interval_seconds", "300".to_owned()));
            set.push(("telemetry.noise", "0.2".to_owned()));
        }
        if throttles {
            set.push(("out_of_memory", "throttle".to_owned()));
        }
        set.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    })
}

fn schedulers() -> impl Strategy<Value = String> {
    prop::sample::select(residua::schedulers::entries().map(|entry| entry.id()).collect::<Vec<_>>())
}

fn scenarios() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a-balanced", "c-storage-stress", "d-breathing"])
}

/// The run of a scenario with so many nodes to a sample.
fn sampled(
    scenario: &str,
    set: &[(String, String)],
    sample: u32,
    scheduler: &str,
    seed: u64,
) -> Simulation<Standard> {
    let set = [set, &[("scheduler.sample".to_owned(), sample.to_string())]].concat();
    let scenario = Scenario::preset(scenario, &set).expect("a good scenario");
    Simulation::new(scenario.setup(scheduler, seed).expect("a known scheduler")).expect("a good setup")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_search_finds_what_a_look_at_every_node_finds(
        set in settings(),
        scenario in prop::sample::select(vec!["a-balanced", "c-storage-stress", "d-breathing"]),
        scheduler in prop::sample::select(vec!["ragp-5d", "ragp-io", "ragp-io", "first-fit-7d", "random-7d"]),
        seed in 0..1000u64,
    ) {
        let scenario = Scenario::preset(scenario, &set).expect("a good scenario");
        let setup = scenario.setup(scheduler, seed).expect("a known scheduler");
        let mut fast = Simulation::new(setup.clone()).expect("a good setup");
        let mut slow = Simulation::new(setup).expect("a good setup").looking_everywhere();
        fast.run_to_end();
        slow.run_to_end();
        prop_assert!(fast.fault().is_none() && fast.events() > 100);
        prop_assert_eq!(fast.digest(), slow.digest());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_sample_is_the_same_whatever_is_remembered_and_in_a_clone(
        set in settings(),
        scenario in scenarios(),
        sample in 1..40u32,
        scheduler in schedulers(),
        seed in 0..1000u64,
        cut in 0..10_800u64,
    ) {
        let mut fast = sampled(scenario, &set, sample, &scheduler, seed);
        let mut slow = fast.clone().looking_everywhere();
        fast.run_until(SimTime(cut * 1000));
        let mut second = fast.clone();
        fast.run_to_end();
        slow.run_to_end();
        second.run_to_end();
        prop_assert!(fast.fault().is_none() && fast.events() > 100);
        prop_assert_eq!(fast.digest(), slow.digest());
        prop_assert_eq!(fast.digest(), second.digest());
    }

    #[test]
    fn a_sample_as_large_as_the_cluster_changes_nothing(
        set in settings(),
        scenario in scenarios(),
        more in 0..2u32,
        scheduler in schedulers(),
        seed in 0..1000u64,
    ) {
        let mut all = sampled(scenario, &set, 0, &scheduler, seed);
        all.run_to_end();
        let nodes = all.cluster().len() as u32;
        let mut whole = sampled(scenario, &set, nodes + more, &scheduler, seed);
        whole.run_to_end();
        prop_assert_eq!(all.digest(), whole.digest());
    }
}

/// A search that stops early must be told from one that does not, or the tests above show nothing.
#[test]
fn a_small_sample_decides_otherwise() {
    let set = [("nodes", "64"), ("hours", "3"), ("warm_up_hours", "0")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()));
    let digest = |sample| {
        let mut simulation = sampled("c-storage-stress", &set, sample, "ragp-io", 1);
        simulation.run_to_end();
        simulation.digest()
    };
    let digests = [0, 8, 32].map(digest);
    assert!(digests[0] != digests[1] && digests[1] != digests[2] && digests[0] != digests[2], "{digests:x?}");
}
