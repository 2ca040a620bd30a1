//! A fingerprint of a run: every start, end, eviction and rebuild with its time, and the ledger.

use crate::probes::Fact;
use crate::probes::ledger::Ledger;
use crate::rng::scatter;
use crate::units::SimTime;

/// Folds facts into 64 bits.
#[derive(Clone, Copy, Debug)]
pub struct Digest(u64);

impl Digest {
    pub(crate) fn new(seed: u64) -> Self {
        Self(scatter(seed))
    }

    fn fold(&mut self, word: u64) {
        self.0 = scatter(self.0 ^ word);
    }

    pub(crate) fn observe(&mut self, at: SimTime, fact: &Fact<'_>) {
        let (kind, subject): (u64, u64) = match fact {
            Fact::Started { job, nodes, devices, .. } => {
                for node in *nodes {
                    self.fold(u64::from(node.0));
                }
                for mask in devices.iter().filter(|mask| !mask.is_empty()) {
                    self.fold(mask.0);
                }
                (1, job.index)
            }
            Fact::Finished { state, .. } => (2, state.job.index),
            Fact::Rejected { job } => (5, job.index),
            Fact::Evicted { job, .. } => (3, *job),
            Fact::Rebuild { node, starts } => (4, u64::from(node.0) << 1 | u64::from(*starts)),
            _ => return,
        };
        self.fold(at.as_ms());
        self.fold(subject << 3 | kind);
    }

    /// The fingerprint of everything so far.
    pub(crate) fn value(mut self, ledger: &Ledger) -> u64 {
        for units in ledger.uses() {
            self.fold(units as u64);
            self.fold((units >> 64) as u64);
        }
        self.0
    }
}
