//! Measures of waits that are cheap to read at every frame.
//!
//! The standard probes sort the waits that they keep anew each time they are asked, which is fine once at the end of a run
//! and too dear 1,800 times. Here they are kept sorted; once there are so many that they are only counted, the probes are
//! asked. The numbers are those of [`Metrics`](crate::probes::Metrics), and a
//! test holds them to that.

use crate::engine::setup::Setup;
use crate::probes::quantiles::{Quantiles, quantile};
use crate::probes::{Fact, Probe, Stage, Totals, Window};
use crate::units::SimTime;

/// Counts over the measured window so far.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    window: Window,
    is_training: Vec<bool>,
    training_sum: f64,
    training_count: u32,
    /// Jobs completed.
    pub completions: u32,
    /// Jobs requeued.
    pub evictions: u32,
}

impl Running {
    pub fn new(setup: &Setup) -> Self {
        Self {
            window: Window { start: SimTime::ZERO + setup.warm_up },
            is_training: setup.classes.iter().map(|class| class.training).collect(),
            training_sum: 0.0,
            training_count: 0,
            completions: 0,
            evictions: 0,
        }
    }

    /// Mean wait of training jobs in seconds.
    pub fn training_mean(&self) -> Option<f64> {
        (self.training_count > 0).then(|| self.training_sum / f64::from(self.training_count))
    }
}

impl Probe for Running {
    fn elapse(&mut self, _from: SimTime, _to: SimTime, _totals: &Totals) {}

    fn observe(&mut self, at: SimTime, fact: &Fact<'_>, _stage: &Stage<'_>) {
        if !self.window.has(at) {
            return;
        }
        match fact {
            Fact::Evicted { .. } => self.evictions += 1,
            Fact::Finished { state, .. } => {
                self.completions += 1;
                let job = &state.job;
                if self.is_training[job.class.index()] && self.window.has(job.arrival) {
                    let start = state.first_start.unwrap_or(job.arrival);
                    self.training_sum += start.since(job.arrival).as_secs();
                    self.training_count += 1;
                }
            }
            _ => {}
        }
    }
}

/// Numbers in rising order, of a list that only grows at its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sorted {
    values: Vec<f64>,
}

impl Sorted {
    /// The median and the 99th percentile of waits so far.
    pub fn p50_and_p99(&mut self, waits: &Quantiles) -> [Option<f64>; 2] {
        let Some(kept) = waits.kept() else {
            self.values = Vec::new();
            return waits.read([0.5, 0.99]).0;
        };
        self.follow(kept);
        [0.5, 0.99].map(|q| quantile(self.values.len() as u64, q, |position| self.values[position as usize]))
    }

    /// Takes over what has come since the last time.
    fn follow(&mut self, list: &[f64]) {
        let mut fresh = list.get(self.values.len()..).unwrap_or_default().to_vec();
        if fresh.is_empty() {
            return;
        }
        fresh.sort_by(f64::total_cmp);
        // From behind, so that nothing is overwritten that is still needed.
        let mut left = self.values.len();
        self.values.resize(left + fresh.len(), 0.0);
        let mut at = self.values.len();
        while let Some(last) = fresh.last() {
            at -= 1;
            if left > 0 && self.values[left - 1] > *last {
                left -= 1;
                self.values[at] = self.values[left];
            } else {
                self.values[at] = *last;
                fresh.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_taken_over_bit_by_bit_is_sorted(list in prop::collection::vec(-1e3_f64..1e3, 0..200), step in 1_usize..50) {
            let mut sorted = Sorted::default();
            for end in (0..list.len()).step_by(step).chain([list.len()]) {
                sorted.follow(&list[..end]);
                let mut expected = list[..end].to_vec();
                expected.sort_by(f64::total_cmp);
                prop_assert_eq!(&sorted.values, &expected);
            }
        }
    }
}
