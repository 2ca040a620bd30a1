//! The same jobs under several schedulers: runs, means with confidence, and paired differences.
//!
//! Schedulers are compared *within* a seed: both got the same jobs and rebuilds, so most of the luck cancels. What
//! it does not do: run anything in parallel (the command does), or correct for looking at many measures.

use serde::{Serialize, Serializer};

use crate::engine::Simulation;
use crate::engine::setup::Setup;
use crate::error::Error;
use crate::probes::Metrics;
use crate::units::SimTime;

mod student;

pub use student::t_975;

/// One finished run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// Id of the scheduler.
    pub scheduler: String,
    /// Seed of jobs and rebuilds.
    pub seed: u64,
    /// Fingerprint of everything that happened, 16 hex digits.
    pub digest: String,
    /// What was measured.
    pub metrics: Metrics,
}

/// Runs `setup` to its end, and calls `progress` after each of `slices` equal parts of its time.
///
/// # Errors
///
/// A setup that contradicts itself; a scheduler that broke a rule.
pub fn simulate(setup: Setup, slices: u64, mut progress: impl FnMut()) -> Result<Run, Error> {
    let (scheduler, seed) = (setup.scheduler.id.clone(), setup.seed);
    let mut simulation = Simulation::new(setup)?;
    let end = simulation.horizon().as_ms();
    for slice in 1..=slices.max(1) {
        let time = u128::from(end) * u128::from(slice) / u128::from(slices.max(1));
        simulation.run_until(SimTime(time as u64));
        progress();
    }
    match simulation.fault() {
        Some(fault) => Err(fault.clone()),
        None => Ok(Run {
            scheduler,
            seed,
            digest: format!("{:016x}", simulation.digest()),
            metrics: simulation.metrics(),
        }),
    }
}

/// A mean, and how far from it the true mean may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// Mean of the values there are; `None` if there are none.
    pub mean: Option<f64>,
    /// Half the width of the 95 % t-interval; `None` with fewer than two values.
    pub ci95: Option<f64>,
}

impl Estimate {
    /// Of independent values.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let count = values.len();
        if count == 0 {
            return Self::default();
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        if count == 1 {
            return Self { mean: Some(mean), ci95: None };
        }
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let standard_error = libm::sqrt(squares / (count - 1) as f64 / count as f64);
        Self { mean: Some(mean), ci95: Some(t_975(count - 1) * standard_error) }
    }

    /// Whether the interval leaves out zero: a difference that is not luck, at 95 %.
    #[must_use]
    pub fn excludes_zero(&self) -> bool {
        matches!((self.mean, self.ci95), (Some(mean), Some(ci95)) if mean.abs() > ci95)
    }
}

/// Estimates by the name of the measure, in the order of [`Metrics::named`].
#[derive(Clone, Debug, PartialEq)]
pub struct Estimates(pub Vec<(&'static str, Estimate)>);

impl Estimates {
    /// The estimate of that measure; empty if there is no such measure.
    #[must_use]
    pub fn get(&self, name: &str) -> Estimate {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, estimate)| *estimate).unwrap_or_default()
    }
}

impl Serialize for Estimates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, estimate)| (name, estimate)))
    }
}

/// What a scheduler did over all seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Id of the scheduler.
    pub scheduler: String,
    /// Mean over seeds of every measure.
    pub metrics: Estimates,
}

/// How a scheduler differs from the baseline: its value − the baseline's, seed by seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Paired {
    /// Id of the scheduler it is compared with.
    pub baseline: String,
    /// Id of the scheduler.
    pub scheduler: String,
    /// Mean over seeds of every measure's difference.
    pub metrics: Estimates,
}

/// Schedulers in the order in which they first appear.
fn schedulers(runs: &[Run]) -> Vec<&str> {
    let mut ids: Vec<&str> = Vec::new();
    for run in runs {
        if !ids.contains(&run.scheduler.as_str()) {
            ids.push(&run.scheduler);
        }
    }
    ids
}

/// Estimates of every measure from one list of named values a seed.
fn estimates(seeds: &[Vec<(&'static str, Option<f64>)>]) -> Estimates {
    let names = Metrics::default().named();
    let estimate = |position: usize| {
        let values: Vec<f64> = seeds.iter().filter_map(|named| named[position].1).collect();
        Estimate::of(&values)
    };
    Estimates(names.iter().enumerate().map(|(position, (name, _))| (*name, estimate(position))).collect())
}

/// Means over the seeds, scheduler by scheduler.
#[must_use]
pub fn summarise(runs: &[Run]) -> Vec<Summary> {
    schedulers(runs)
        .into_iter()
        .map(|id| {
            let seeds: Vec<_> =
                runs.iter().filter(|run| run.scheduler == id).map(|run| run.metrics.named()).collect();
            Summary { scheduler: id.to_owned(), metrics: estimates(&seeds) }
        })
        .collect()
}

/// Differences of every other scheduler from the first, over the seeds that both have.
#[must_use]
pub fn paired(runs: &[Run]) -> Vec<Paired> {
    let ids = schedulers(runs);
    let Some((baseline, others)) = ids.split_first() else { return Vec::new() };
    let difference = |run: &Run| {
        let base = runs.iter().find(|base| base.scheduler == *baseline && base.seed == run.seed)?;
        let pairs = run.metrics.named().into_iter().zip(base.metrics.named());
        Some(pairs.map(|((name, value), (_, from))| (name, value.zip(from).map(|(a, b)| a - b))).collect::<Vec<_>>())
    };
    others
        .iter()
        .map(|id| {
            let seeds: Vec<_> = runs.iter().filter(|run| run.scheduler == *id).filter_map(difference).collect();
            Paired { baseline: (*baseline).to_owned(), scheduler: (*id).to_owned(), metrics: estimates(&seeds) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(scheduler: &str, seed: u64, f_lost: f64, wait: Option<f64>) -> Run {
        let metrics = Metrics { f_lost, wait_p50: wait, ..Metrics::default() };
        Run { scheduler: scheduler.to_owned(), seed, digest: String::new(), metrics }
    }

    #[test]
    fn an_interval_worked_by_hand() {
        // Mean 3, sample variance 2.5, t(4) = 2.776445: 2.776445 × √(2.5 / 5).
        let estimate = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(estimate.mean, Some(3.0));
        assert!((estimate.ci95.expect("five values") - 1.963_243).abs() < 1e-6);
        assert_eq!(Estimate::of(&[7.0]), Estimate { mean: Some(7.0), ci95: None });
        assert_eq!(Estimate::of(&[]), Estimate::default());
    }

    #[test]
    fn pairs_are_within_a_seed() {
        // Seeds differ by 10, schedulers by exactly 1: unpaired that is noise, paired it is certain.
        let runs = [
            run("base", 1, 10.0, None),
            run("base", 2, 20.0, Some(5.0)),
            run("other", 2, 21.0, Some(6.0)),
            run("other", 1, 11.0, Some(1.0)),
            run("other", 3, 99.0, None),
        ];
        let paired = paired(&runs);
        assert_eq!((paired.len(), paired[0].baseline.as_str()), (1, "base"));
        assert_eq!(paired[0].metrics.get("f_lost"), Estimate { mean: Some(1.0), ci95: Some(0.0) });
        assert!(paired[0].metrics.get("f_lost").excludes_zero());
        assert_eq!(paired[0].metrics.get("wait_p50"), Estimate { mean: Some(1.0), ci95: None });
        assert!(!paired[0].metrics.get("wait_p50").excludes_zero());
        assert_eq!(summarise(&runs)[0].metrics.get("f_lost").mean, Some(15.0));
    }
}
