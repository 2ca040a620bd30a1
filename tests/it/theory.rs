//! Queueing theory: a cluster of one-GPU nodes with exponential work is the M/M/c queue.

use residua::engine::Simulation;
use residua::engine::setup::Queueing;
use residua::resources::{Amounts, Dim};
use residua::rng::{Purpose, Stream};
use residua::units::{SimTime, Span};
use residua::workload::Job;

use crate::small::{amounts, job, listed, setup};

/// Erlang C: probability that a job has to wait, for `servers` and an offered load of `erlangs`.
fn erlang_c(servers: u32, erlangs: f64) -> f64 {
    let mut term = 1.0;
    let mut sum = 1.0;
    for k in 1..servers {
        term *= erlangs / f64::from(k);
        sum += term;
    }
    let last = term * erlangs / f64::from(servers) / (1.0 - erlangs / f64::from(servers));
    last / (sum + last)
}

fn poisson_jobs(count: u64, per_second: f64, mean_seconds: f64, seed: u64, demand: Amounts) -> Vec<Job> {
    let mut gaps = Stream::new(seed, Purpose::Arrivals, 0, 0);
    let mut works = Stream::new(seed, Purpose::Attributes, 0, 0);
    let mut at = 0.0;
    let draw = |index| {
        at += gaps.exponential(1000.0 / per_second);
        let mut job = job(0, 0, demand);
        job.index = index;
        job.arrival = SimTime(at as u64);
        job.work = Span((works.exponential(mean_seconds * 1000.0) as u64).max(1));
        job
    };
    (0..count).map(draw).collect()
}

#[test]
fn waits_are_those_of_erlang_c() {
    let (servers, mean, load) = (8u32, 100.0, 0.8);
    let erlangs = f64::from(servers) * load;
    let expected = erlang_c(servers, erlangs) * mean / (f64::from(servers) * (1.0 - load));
    let demand = amounts(&[(Dim::Gpu, 1000)]);
    // Independent runs from empty; the first tenth is left out of each.
    let means: Vec<f64> = (1..=160)
        .map(|seed| {
            let jobs = poisson_jobs(30_000, erlangs / mean, mean, seed, demand);
            let end = jobs.last().expect("there are jobs").arrival;
            let mut setup = setup(demand, servers as usize, Vec::new());
            setup.source = listed(jobs);
            setup.queueing = Queueing::STRICT;
            setup.horizon = end - SimTime::ZERO;
            setup.warm_up = Span(end.as_ms() / 10);
            let mut simulation = Simulation::new(setup).expect("a good setup");
            simulation.run_to_end();
            simulation.metrics().wait_mean.expect("jobs finished")
        })
        .collect();
    let n = means.len() as f64;
    let mean_wait = means.iter().sum::<f64>() / n;
    let deviation =
        (means.iter().map(|wait| (wait - mean_wait) * (wait - mean_wait)).sum::<f64>() / (n - 1.0)).sqrt();
    // 99.9 % t interval with 159 degrees of freedom.
    let half = 3.353 * deviation / n.sqrt();
    assert!(half < 0.05 * expected, "the test is too blunt: {mean_wait:.2} ± {half:.2}");
    assert!((mean_wait - expected).abs() < half, "{mean_wait:.2} ± {half:.2}, Erlang C says {expected:.2}");
}

#[test]
fn erlang_c_itself() {
    // One server: the probability to wait is the load. A classic call-centre table: 10 servers, 8 erlangs: 0.4092.
    assert!((erlang_c(1, 0.5) - 0.5).abs() < 1e-12);
    assert!((erlang_c(10, 8.0) - 0.4092).abs() < 5e-5);
}

#[test]
fn distributions_are_those_of_the_reference_library() {
    use rand_distr::Distribution;
    // Our own go through `libm`, so that native and WASM agree; their moments and quantiles are compared here.
    let mut ours = Stream::new(7, Purpose::Attributes, 0, 0);
    let mut rng = <rand_xoshiro::Xoshiro256PlusPlus as rand::SeedableRng>::seed_from_u64(7);
    let reference = rand_distr::LogNormal::new(-0.32, 0.8).expect("a good law");
    let mut mine: Vec<f64> = (0..200_000).map(|_| ours.lognormal(0.8)).collect();
    let mut theirs: Vec<f64> = (0..200_000).map(|_| reference.sample(&mut rng)).collect();
    mine.sort_by(f64::total_cmp);
    theirs.sort_by(f64::total_cmp);
    for percent in [1, 5, 25, 50, 75, 95, 99] {
        let at = percent * 2000;
        assert!((mine[at] / theirs[at] - 1.0).abs() < 0.03, "{percent} %: {} and {}", mine[at], theirs[at]);
    }
}
