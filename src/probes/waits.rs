//! How long jobs waited and took, and how much work came and went.
//!
//! Waits, slowdowns and inflation are of jobs that arrived in the measured window and finished before the end.
//! They are therefore censored: a scheduler that never starts long jobs looks good here. Read them together with
//! the GPU-hours still pending.

use crate::engine::setup::Setup;
use crate::probes::quantiles::Quantiles;
use crate::probes::{Fact, Metrics, Totals, Window, over};
use crate::units::SimTime;

/// Waits and throughput over the measured window.
#[derive(Clone, Debug)]
pub struct Waits {
    window: Window,
    is_training: Vec<bool>,
    /// Seconds until the first start.
    waits: Quantiles,
    training_sum: f64,
    training_count: u32,
    slowdowns: Quantiles,
    inflations: Quantiles,
    arrived: u128,
    completed: u128,
    completions: u64,
    evictions: u64,
    waiting_ms: i128,
    measured_ms: i128,
}

impl Waits {
    pub(crate) fn new(setup: &Setup, window: Window) -> Self {
        Self {
            window,
            is_training: setup.classes.iter().map(|class| class.training).collect(),
            waits: Quantiles::default(),
            training_sum: 0.0,
            training_count: 0,
            slowdowns: Quantiles::default(),
            inflations: Quantiles::default(),
            arrived: 0,
            completed: 0,
            completions: 0,
            evictions: 0,
            waiting_ms: 0,
            measured_ms: 0,
        }
    }

    pub(crate) fn elapse(&mut self, from: SimTime, to: SimTime, totals: &Totals) {
        let span = self.window.overlap_ms(from, to);
        self.waiting_ms += over(i128::from(totals.waiting), span);
        self.measured_ms += span;
    }

    pub(crate) fn observe(&mut self, at: SimTime, fact: &Fact<'_>) {
        if !self.window.has(at) {
            return;
        }
        match fact {
            Fact::Arrived { job } => self.arrived += job.gpu_milli() as u128 * u128::from(job.work.as_ms()),
            Fact::Evicted { .. } => self.evictions += 1,
            Fact::Finished { state, .. } => {
                let job = &state.job;
                self.completions += 1;
                self.completed += job.gpu_milli() as u128 * u128::from(job.work.as_ms());
                if !self.window.has(job.arrival) {
                    return;
                }
                let start = state.first_start.unwrap_or(job.arrival);
                let wait = start.since(job.arrival).as_secs();
                let work = job.work.as_secs();
                self.waits.add(wait);
                self.slowdowns.add(at.since(job.arrival).as_secs() / work);
                self.inflations.add(at.since(start).as_secs() / work);
                if self.is_training[job.class.index()] {
                    self.training_sum += wait;
                    self.training_count += 1;
                }
            }
            _ => {}
        }
    }

    /// Waits so far, in seconds.
    #[must_use]
    pub fn seconds(&self) -> &Quantiles {
        &self.waits
    }

    pub(crate) fn report(&self, metrics: &mut Metrics, hours: f64) {
        let ([wait_p50, wait_p99], wait_mean) = self.waits.read([0.5, 0.99]);
        let ([slowdown_p50, slowdown_p99], _) = self.slowdowns.read([0.5, 0.99]);
        let ([inflation_p99], inflation_mean) = self.inflations.read([0.99]);
        (metrics.wait_p50, metrics.wait_p99, metrics.wait_mean) = (wait_p50, wait_p99, wait_mean);
        (metrics.slowdown_p50, metrics.slowdown_p99) = (slowdown_p50, slowdown_p99);
        (metrics.inflation_mean, metrics.inflation_p99) = (inflation_mean, inflation_p99);
        metrics.percentile_error = self.waits.error();
        metrics.wait_train_mean =
            (self.training_count > 0).then(|| self.training_sum / f64::from(self.training_count));
        metrics.throughput_rel = (self.arrived > 0).then(|| self.completed as f64 / self.arrived as f64);
        metrics.jobs_per_hour = if hours > 0.0 { self.completions as f64 / hours } else { 0.0 };
        metrics.evictions = self.evictions as f64;
        metrics.queue_mean = self.waiting_ms as f64 / self.measured_ms.max(1) as f64;
    }
}
