//! Whether decisions swing: placements from window to window, verdicts from reading to reading, and how often a
//! placement or the queue shows that shape was misjudged.

use crate::probes::{Fact, Metrics, Window};
use crate::units::SimTime;

/// Placements are counted a node in windows of ten minutes.
const WINDOW_MS: u64 = 600_000;

/// Oscillation, misadmission, mismatch and flips.
#[derive(Clone, Debug)]
pub struct Churn {
    window: Window,
    /// Placements a node in the window at hand and in the one before.
    counts: [Vec<u32>; 2],
    window_index: u64,
    change: u64,
    sum: u64,
    placements: u64,
    misadmitted: u64,
    sampled: u64,
    fits_in_total: u64,
    /// Last true and believed verdict a node.
    verdicts: Vec<Option<(bool, bool)>>,
    readings: u64,
    flips: u64,
}

impl Churn {
    pub(crate) fn new(nodes: usize, window: Window) -> Self {
        Self {
            window,
            counts: [vec![0; nodes], vec![0; nodes]],
            window_index: 0,
            change: 0,
            sum: 0,
            placements: 0,
            misadmitted: 0,
            sampled: 0,
            fits_in_total: 0,
            verdicts: vec![None; nodes],
            readings: 0,
            flips: 0,
        }
    }

    pub(crate) fn elapse(&mut self, to: SimTime) {
        self.turn_to(to.as_ms() / WINDOW_MS);
    }

    pub(crate) fn observe(&mut self, at: SimTime, fact: &Fact<'_>) {
        match fact {
            Fact::Started { nodes, oversubscribed, .. } => {
                for node in *nodes {
                    self.counts[0][node.index()] += 1;
                }
                if self.window.has(at) {
                    self.placements += nodes.len() as u64;
                    self.misadmitted += *oversubscribed as u64;
                }
            }
            Fact::QueueSample { waiting, fits_in_total } if self.window.has(at) => {
                self.sampled += waiting;
                self.fits_in_total += fits_in_total;
            }
            Fact::Reading { node, truth, believed } => {
                let last = self.verdicts[node.index()].replace((*truth, *believed));
                if self.window.has(at) {
                    self.readings += 1;
                    let flipped = last.is_some_and(|(was, said)| said != *believed && was == *truth);
                    self.flips += u64::from(flipped);
                }
            }
            _ => {}
        }
    }

    /// Closes the windows before `index`.
    fn turn_to(&mut self, index: u64) {
        while self.window_index < index {
            let start = SimTime(self.window_index * WINDOW_MS);
            // The pair (before, this) counts if both lie in the measured time.
            if start.as_ms() >= self.window.start.as_ms() + WINDOW_MS {
                for (now, before) in self.counts[0].iter().zip(&self.counts[1]) {
                    self.change += u64::from(now.abs_diff(*before));
                    self.sum += u64::from(now + before);
                }
            }
            self.counts.swap(0, 1);
            self.counts[0].fill(0);
            self.window_index += 1;
        }
    }

    pub(crate) fn report(&self, metrics: &mut Metrics) {
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        metrics.oscillation = share(self.change, self.sum);
        metrics.misadmitted = share(self.misadmitted, self.placements);
        metrics.mismatch = share(self.fits_in_total, self.sampled);
        metrics.flip = share(self.flips, self.readings);
    }
}
