//! Schedules worked out by hand, to the millisecond.

use residua::engine::Simulation;
use residua::engine::setup::{OutOfMemory, Queueing, Setup, Sharing};
use residua::resources::{Amounts, Dim};
use residua::units::Span;
use residua::workload::{Growth, Job};

use crate::small::{Log, amounts, job, setup};

/// Runs to the end and compares what happened, line by line.
fn check(setup: Setup, expected: &[&str]) {
    let mut simulation = Simulation::with_probe(setup, Log::default()).expect("a good setup");
    simulation.run_to_end();
    assert_eq!(simulation.fault(), None);
    assert_eq!(simulation.probe().lines, expected);
}

fn gpus(count: i32) -> Amounts {
    amounts(&[(Dim::Gpu, count * 1000)])
}

fn with_storage(gpu: i32, storage: i32) -> Amounts {
    amounts(&[(Dim::Gpu, gpu * 1000), (Dim::Sto, storage)])
}

#[test]
fn two_jobs_that_ask_for_more_than_the_disk_gives_share_it() {
    // 8 + 8 of 10 MB/s: each runs at 5/8, so 100 s of work take 160 s.
    let jobs = vec![job(0, 100, with_storage(1, 8)), job(0, 100, with_storage(1, 8))];
    check(
        setup(with_storage(8, 10), 1, jobs),
        &["0.000 start 0 on 0", "0.000 start 1 on 0", "160.000 end 0", "160.000 end 1"],
    );
}

#[test]
fn water_filling_meets_the_small_ask_and_gives_the_rest_to_the_large() {
    // 2 and 10 of 9 MB/s: 2 runs at full speed and ends at 100 s; 10 has 7/10 until then (70 s done), then 9/10:
    // 30 ÷ 0.9 = 33.334 s more, rounded up to the millisecond.
    let jobs = vec![job(0, 100, with_storage(1, 2)), job(0, 100, with_storage(1, 10))];
    check(
        setup(with_storage(8, 9), 1, jobs),
        &["0.000 start 0 on 0", "0.000 start 1 on 0", "100.000 end 0", "133.334 end 1"],
    );
}

/// What a job did not need of its last millisecond was measured only if that millisecond was.
#[test]
fn a_job_that_ends_as_measuring_starts_is_not_in_the_ledger() {
    let jobs = vec![job(0, 100, with_storage(1, 2)), job(0, 100, with_storage(1, 10))];
    let mut setup = setup(with_storage(8, 9), 1, jobs);
    setup.warm_up = Span::from_secs_f64(133.334);
    let mut simulation = Simulation::new(setup).expect("a good setup");
    simulation.run_to_end();
    let ledger = simulation.probe().ledger();
    assert_eq!(ledger.uses()[..2], [0, 0], "nothing runs after 133.334 s");
}

#[test]
fn an_unpoliced_disk_slows_the_small_one_too() {
    // 2 and 10 of 9 MB/s, everyone at 9/12 = 0.75: both end at 133.334 s.
    let jobs = vec![job(0, 100, with_storage(1, 2)), job(0, 100, with_storage(1, 10))];
    let mut setup = setup(with_storage(8, 9), 1, jobs);
    setup.sharing = Sharing::Proportional;
    check(setup, &["0.000 start 0 on 0", "0.000 start 1 on 0", "133.334 end 0", "133.334 end 1"]);
}

#[test]
fn a_gang_runs_at_the_pace_of_its_slowest_task() {
    // First fit puts job 0 on node 0, the gang's first task beside it and its second on node 1. On node 0 the asks
    // are 8 and 6 of 10: 5 each. So the gang runs at 5/6, although node 1 has bandwidth to spare, and job 0 at 5/8,
    // until 80 s.
    let mut gang = job(0, 100, with_storage(1, 6));
    gang.tasks = 2;
    let first = job(0, 50, with_storage(1, 8));
    let mut setup = setup(with_storage(2, 10), 2, vec![first, gang]);
    setup.horizon = Span::from_secs(200);
    // Until 80 s the gang does 80 × 0.833333 = 66.66664 s of work; 33.33336 s are left: it ends at 113.334 s.
    check(setup, &["0.000 start 0 on 0", "0.000 start 1 on 0+1", "80.000 end 0", "113.334 end 1"]);
}

#[test]
fn backfill_lets_a_small_job_pass_a_large_one() {
    let jobs = || vec![job(0, 100, gpus(3)), job(1, 100, gpus(2)), job(2, 10, gpus(1))];
    check(
        setup(gpus(4), 1, jobs()),
        &[
            "0.000 start 0 on 0",
            "2.000 start 2 on 0",
            "12.000 end 2",
            "100.000 end 0",
            "100.000 start 1 on 0",
            "200.000 end 1",
        ],
    );
    let mut strict = setup(gpus(4), 1, jobs());
    strict.queueing = Queueing::STRICT;
    check(
        strict,
        &[
            "0.000 start 0 on 0",
            "100.000 end 0",
            "100.000 start 1 on 0",
            "100.000 start 2 on 0",
            "110.000 end 2",
            "200.000 end 1",
        ],
    );
}

/// Four nodes of 4 GPUs, best fit (the fullest node), a decision scores `sample` nodes.
fn rotating(sample: u32, jobs: Vec<Job>) -> Setup {
    let mut setup = setup(gpus(4), 4, jobs);
    setup.scheduler = residua::schedulers::find("best-fit-5d").expect("in the roster").choice();
    setup.scheduler.sample = sample;
    setup
}

#[test]
fn a_sample_is_looked_for_from_where_the_last_search_stopped() {
    let jobs = vec![
        // Nodes 0 and 1 are enough; both are empty, so the lower. The next search starts at 2.
        job(0, 100, gpus(1)),
        // 2 and 3, although node 0 would be the best fit of all. The next starts at 0 again.
        job(1, 100, gpus(1)),
        // 1 and 3 are empty, 0 and 2 are not. Next: 0.
        job(2, 10, gpus(4)),
        // 0 and 2 have 3 left. Next: 3.
        job(3, 100, gpus(3)),
        // 3, then over the end 2, which is fuller. Next: 3.
        job(4, 100, gpus(1)),
        // 3 alone, found by going round once: next is 3 still.
        job(5, 100, gpus(4)),
        // Nowhere, until job 2 leaves node 1 at 12 s.
        job(6, 100, gpus(4)),
        // 2 alone has room for it.
        job(13, 2, gpus(1)),
    ];
    let mut setup = rotating(2, jobs);
    setup.horizon = Span::from_secs(20);
    check(
        setup,
        &[
            "0.000 start 0 on 0",
            "1.000 start 1 on 2",
            "2.000 start 2 on 1",
            "3.000 start 3 on 0",
            "4.000 start 4 on 2",
            "5.000 start 5 on 3",
            "12.000 end 2",
            "12.000 start 6 on 1",
            "13.000 start 7 on 2",
            "15.000 end 7",
        ],
    );
}

#[test]
fn a_sample_for_a_gang_has_room_for_all_its_tasks() {
    // Three tasks of 2 GPUs: node 0 holds two, so the search goes on to node 1; the next starts at node 2.
    let mut gang = job(0, 100, gpus(2));
    gang.tasks = 3;
    let mut setup = rotating(1, vec![gang, job(1, 100, gpus(1))]);
    setup.horizon = Span::from_secs(20);
    check(setup, &["0.000 start 0 on 0+0+1", "1.000 start 1 on 2"]);
}

#[test]
fn a_retry_moves_the_start_as_a_search_of_all_nodes_would() {
    // All four nodes have 1 GPU left; the gang of two tasks of 2 GPUs waits. With a sample of 1
    // each of the first four jobs moved the start on by one: it stands at 0 again.
    let mut gang = job(4, 100, gpus(2));
    gang.tasks = 2;
    let jobs = vec![
        job(0, 100, gpus(3)),
        job(0, 100, gpus(3)),
        job(0, 10, gpus(3)),
        job(0, 20, gpus(3)),
        gang,
        // Node 2 is free from 10 s on and holds both tasks: the retry looks at it alone, and the next search starts at
        // node 3, which has 1 GPU left, not at node 0.
        job(11, 100, gpus(1)),
    ];
    let mut setup = rotating(1, jobs);
    setup.horizon = Span::from_secs(15);
    check(
        setup,
        &[
            "0.000 start 0 on 0",
            "0.000 start 1 on 1",
            "0.000 start 2 on 2",
            "0.000 start 3 on 3",
            "10.000 end 2",
            "10.000 start 4 on 2+2",
            "11.000 start 5 on 3",
        ],
    );
}

/// Two nodes of 2 GPUs, kept half full by one-GPU jobs that follow each other; a two-GPU job waits from second 1.
fn starving(reserve_after: Option<Span>) -> Setup {
    let mut jobs: Vec<Job> = vec![job(1, 50, gpus(2))];
    // Every 40 s two new jobs of 60 s: at least one is always running on each node.
    for round in 0..8 {
        jobs.push(job(round * 40, 60, gpus(1)));
        jobs.push(job(round * 40, 60, gpus(1)));
    }
    let mut setup = setup(gpus(2), 2, jobs);
    setup.scheduler = residua::schedulers::find("scalar-5d").expect("in the roster").choice();
    setup.queueing = Queueing { window: 64, reserve_after, reserve_ppm: 0, reserve_min: 1, rejects: false };
    setup
}

#[test]
fn a_job_that_waited_long_gets_a_node_kept_for_it() {
    let start_of_large = |setup: Setup| {
        let mut simulation = Simulation::with_probe(setup, Log::default()).expect("a good setup");
        simulation.run_to_end();
        let line = simulation.probe().lines.iter().find(|line| line.contains("start 2 ")).cloned();
        line.expect("it starts in the end").split(' ').next().expect("a time").to_owned()
    };
    // Without the rule it waits until the stream of small jobs dries up: the last two arrive at 280 s and the
    // nodes are half full until 340 s.
    assert_eq!(start_of_large(starving(None)), "340.000");
    // With it, at the first end after 100 s of waiting (140 s) a node is kept. The job on it, started at 120 s,
    // ends at 180 s: there is the room.
    assert_eq!(start_of_large(starving(Some(Span::from_secs(100)))), "180.000");
}

/// A job that doubles its GPU memory half way, beside one that leaves it no room.
fn breathing(out_of_memory: OutOfMemory) -> Setup {
    let memory = |amount| amounts(&[(Dim::Gpu, 1000), (Dim::Hbm, amount)]);
    let mut other = job(0, 300, memory(60));
    other.class = residua::workload::ClassId(1);
    let mut setup = setup(amounts(&[(Dim::Gpu, 8000), (Dim::Hbm, 100)]), 1, vec![job(0, 100, memory(40)), other]);
    let mut steady = setup.classes[0].clone();
    steady.share_ppm = 0;
    setup.classes.push(steady);
    setup.classes[0].growth = Some(Growth { hbm: 1.0, sto: 0.0, ioc: 0.0, steps: 1, hbm_cap: 80 });
    setup.out_of_memory = out_of_memory;
    setup
}

#[test]
fn a_job_without_memory_to_grow_is_requeued_and_loses_a_quarter_of_its_work() {
    // At 50 s it asks for 80 of which 40 are free besides its own: evicted with 50 s done, 12.5 s lost. It waits for
    // the other's end at 300 s and has 100 − 37.5 = 62.5 s left.
    check(
        breathing(OutOfMemory::Requeue),
        &[
            "0.000 start 0 on 0",
            "0.000 start 1 on 0",
            "50.000 evict 0",
            "300.000 end 1",
            "300.000 start 0 on 0",
            "362.500 end 0",
        ],
    );
}

#[test]
fn a_throttled_job_runs_at_held_over_needed() {
    // From 50 s on it holds 40 of 80: half speed, the other 50 s of work take 100 s.
    check(
        breathing(OutOfMemory::Throttle),
        &["0.000 start 0 on 0", "0.000 start 1 on 0", "150.000 end 0", "300.000 end 1"],
    );
}

#[test]
fn what_was_stalled_stranded_and_spare_adds_up_to_the_fleet() {
    // The first schedule above, over 200 s on 8 GPUs: two GPUs for 160 s at 5/8.
    let jobs = vec![job(0, 100, with_storage(1, 8)), job(0, 100, with_storage(1, 8))];
    let mut setup = setup(with_storage(8, 10), 1, jobs);
    setup.horizon = Span::from_secs(200);
    let mut simulation = Simulation::new(setup).expect("a good setup");
    simulation.run_to_end();
    let seconds = |hours: f64| (hours * 3600.0 * 1000.0).round() / 1000.0;
    let ledger = simulation.metrics().ledger;
    assert_eq!(seconds(ledger.capacity), 1600.0);
    assert_eq!(seconds(ledger.uses.productive), 200.0);
    assert_eq!(seconds(ledger.uses.stalled), 120.0);
    // While both run nothing is left of the disk: the 6 free GPUs are stranded. Afterwards all 8 are spare.
    assert_eq!(seconds(ledger.uses.stranded), 960.0);
    assert_eq!(seconds(ledger.uses.spare), 320.0);
    assert_eq!(ledger.difference, 0);
    assert_eq!(simulation.metrics().inflation_mean, Some(1.6));
}
