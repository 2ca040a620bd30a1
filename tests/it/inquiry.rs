//! Why a job went where it went: what is said of a decision is what the engine decided by, and asking changes nothing.

use proptest::prelude::*;
use residua::cluster::NodeId;
use residua::engine::Simulation;
use residua::engine::inquiry::{Judgement, Other};
use residua::probes::Standard;
use residua::resources::Dim;
use residua::scenario::Scenario;
use residua::schedulers::{self, Tuning};
use residua::units::SimTime;

fn start(scenario: &str, scheduler: &str, seed: u64, more: &[(&str, &str)]) -> Simulation<Standard> {
    let small = [("nodes", "16"), ("hours", "4"), ("warm_up_hours", "1"), ("load", "0.95")];
    let set = small.iter().chain(more).map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let scenario = Scenario::preset(scenario, &set.collect::<Vec<_>>()).expect("a good scenario");
    Simulation::new(scenario.setup(scheduler, seed).expect("a known scheduler")).expect("a good setup")
}

/// A scheduler of the roster, to be asked.
fn other(id: &str) -> Other {
    let entry = schedulers::find(id).expect("in the roster");
    let choice = entry.choice();
    let tuning = Tuning { score_dims: choice.score_dims, knobs: choice.knobs, seed: 1 };
    Other { scheduler: (entry.card.build)(&tuning), fit_dims: choice.fit_dims }
}

/// Runs to the end with an eye on one job; its last judgement.
fn watched(mut simulation: Simulation<Standard>, job: u64) -> (Option<Judgement>, u64) {
    simulation.ask_about(job, vec![other("scalar-5d"), other("ragp-io")]);
    simulation.run_to_end();
    (simulation.judgement().cloned(), simulation.digest())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_said_is_what_was_decided_by(
        scenario in prop::sample::select(vec!["a-balanced", "c-storage-stress", "d-breathing"]),
        at in 0..14usize,
        seed in 0..1000u64,
        job in 0..400u64,
        is_late in prop::bool::ANY,
    ) {
        let ids: Vec<String> = schedulers::entries().map(|entry| entry.id()).collect();
        let more: &[(&str, &str)] =
            if is_late { &[("telemetry.interval_seconds", "300"), ("telemetry.noise", "0.2")] } else { &[] };
        let mut unwatched = start(scenario, &ids[at], seed, more);
        let (judgement, digest) = watched(unwatched.clone(), job);
        unwatched.run_to_end();
        prop_assert_eq!(unwatched.digest(), digest, "to be asked changes nothing");
        let Some(judgement) = judgement else { return Ok(()) };
        prop_assert_eq!(judgement.placed.first().copied(), judgement.preferred, "{:?}", judgement);
        // The cheapest candidate, the first of equals, is where it went.
        let cheapest = judgement
            .verdicts
            .iter()
            .filter_map(|verdict| Some((verdict.cost.as_ref()?.total, verdict.node)))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        if !judgement.placed.is_empty() {
            prop_assert_eq!(cheapest.map(|(_, node)| node), judgement.preferred);
        }
        for verdict in &judgement.verdicts {
            let lacks: Vec<Dim> = judgement.dims.iter().filter(|dim| judgement.ask.demand[*dim] > verdict.available[*dim]).collect();
            prop_assert_eq!(verdict.short.iter().collect::<Vec<_>>(), lacks);
            prop_assert_eq!(verdict.cost.is_some(), verdict.is_candidate());
            if let Some(cost) = &verdict.cost {
                let sum: f64 = cost.terms.iter().map(|term| term.value).sum();
                prop_assert!((sum - cost.total).abs() <= 1e-9 * (1.0 + cost.total.abs()), "{:?}", cost);
            }
        }
        if judgement.placed.is_empty() && judgement.ask.tasks == 1 {
            prop_assert!(judgement.verdicts.iter().all(|verdict| !verdict.is_candidate()));
        }
    }
}

#[test]
fn another_scheduler_chooses_what_it_would_have_chosen() {
    // Its own first decision is the same in its own run: until then nothing differs.
    for id in ["scalar-5d", "tetris-7d", "fgd-7d", "ragp-io"] {
        let mut simulation = start("c-storage-stress", "best-fit-5d", 7, &[]);
        simulation.ask_about(0, vec![other(id)]);
        let mut own = start("c-storage-stress", id, 7, &[]);
        own.ask_about(0, Vec::new());
        for run in [&mut simulation, &mut own] {
            while run.judgement().is_none() && run.step().is_some() {}
        }
        let (asked, own) = (simulation.judgement().expect("it came"), own.judgement().expect("it came"));
        assert_eq!(asked.others, [own.placed.first().copied()], "{id}");
    }
}

/// The first job that waited and what was said while it did.
fn first_that_waits(simulation: &mut Simulation<Standard>) -> Judgement {
    loop {
        simulation.step().expect("at such a load somebody waits");
        let job = simulation.waiting().find(|state| state.job.tasks == 1).map(|state| state.job.index);
        if let Some(judgement) = job.and_then(|job| simulation.judge(job, &[])) {
            return judgement;
        }
    }
}

#[test]
fn a_waiting_job_is_told_what_it_lacks() {
    let mut simulation = start("c-storage-stress", "ragp-io", 3, &[("load", "1.4")]);
    let judgement = first_that_waits(&mut simulation);
    assert_eq!(judgement.preferred, None);
    assert!(judgement.verdicts.iter().all(|verdict| !verdict.is_candidate()));
    let flip = judgement.flip.expect("one dimension of one node would have been enough");
    let verdict = &judgement.verdicts[flip.node.index()];
    assert!(verdict.short.has(flip.dim) && verdict.short.len() == 1, "{flip:?} {verdict:?}");
    assert_eq!(flip.to, judgement.ask.demand[flip.dim], "just enough");
    assert_eq!(flip.from, verdict.available[flip.dim]);
}

#[test]
fn a_job_goes_where_it_is_told_if_there_is_room() {
    let mut ahead = start("c-storage-stress", "scalar-5d", 11, &[]);
    ahead.run_until(SimTime::ZERO + residua::units::Span::from_secs(3600));
    let before = ahead.clone();
    // The next job of one task that starts somewhere.
    let (job, judgement) = (0..)
        .find_map(|job| {
            let mut run = before.clone();
            run.ask_about(job, Vec::new());
            run.run_until(SimTime::ZERO + residua::units::Span::from_secs(7200));
            run.judgement().filter(|judgement| judgement.placed.len() == 1).cloned().map(|found| (job, found))
        })
        .expect("jobs start");
    let instead = judgement
        .verdicts
        .iter()
        .find(|verdict| verdict.is_candidate() && Some(verdict.node) != judgement.preferred)
        .expect("there was a choice")
        .node;
    let mut fork = before.clone();
    fork.ask_about(job, Vec::new());
    fork.redirect(job, vec![instead]);
    fork.run_until(judgement.at);
    let told = fork.judgement().expect("the same attempt");
    assert_eq!((told.at, &told.placed), (judgement.at, &vec![instead]));
    assert_eq!(told.preferred, judgement.preferred, "its scheduler still wants what it wanted");
    fork.run_to_end();
    assert_eq!(fork.fault(), None);
    // A node without room is not taken, and no rule is broken.
    let full = judgement.verdicts.iter().find(|verdict| !verdict.short.is_empty()).map(|verdict| verdict.node);
    for nodes in [vec![NodeId(9999)], vec![instead, instead], full.into_iter().collect()] {
        let mut fork = before.clone();
        fork.ask_about(job, Vec::new());
        fork.redirect(job, nodes);
        fork.run_until(judgement.at);
        assert_eq!(fork.judgement().expect("the same attempt").placed, judgement.placed);
    }
}
