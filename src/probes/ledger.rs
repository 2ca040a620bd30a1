//! Where every GPU-hour of the fleet went: exclusive uses that add up to capacity × time, to the unit.

use crate::probes::shape::Free;
use crate::probes::{Fact, LedgerHours, Metrics, Totals, Uses, Window, over};
use crate::units::SimTime;

/// The ledger's unit is one GPU thousandth × one millionth × one millisecond.
pub const UNITS_PER_GPU_HOUR: f64 = 1e3 * 1e6 * 3_600_000.0;

/// The uses, in the ledger's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    start: SimTime,
    capacity: i128,
    productive: i128,
    stalled: i128,
    redone: i128,
    stranded: i128,
    held: i128,
    spare: i128,
    capacity_milli: i64,
    measured_ms: i128,
}

impl Ledger {
    pub(crate) fn new(window: Window) -> Self {
        Self { start: window.start, ..Self::default() }
    }

    fn window(&self) -> Window {
        Window { start: self.start }
    }

    pub(crate) fn elapse(&mut self, from: SimTime, to: SimTime, totals: &Totals, free: Free) {
        let span = self.window().overlap_ms(from, to);
        self.capacity_milli = totals.capacity_milli;
        if span == 0 {
            return;
        }
        let scale = |milli: i64| over(i128::from(milli), 1_000_000);
        let stalled = scale(totals.allocated_milli) - i128::from(totals.productive);
        let unallocated = scale(totals.capacity_milli - totals.allocated_milli);
        let spare = unallocated - i128::from(free.stranded) - i128::from(free.held);
        self.measured_ms += span;
        self.capacity += over(scale(totals.capacity_milli), span);
        self.productive += over(i128::from(totals.productive), span);
        self.stalled += over(stalled, span);
        self.stranded += over(i128::from(free.stranded), span);
        self.held += over(i128::from(free.held), span);
        self.spare += over(spare, span);
    }

    pub(crate) fn observe(&mut self, at: SimTime, fact: &Fact<'_>) {
        // What ends as measuring starts has advanced nothing that is measured.
        if at <= self.start {
            return;
        }
        match fact {
            // The part of its last millisecond that a job did not need was allocated and advanced nothing.
            Fact::Finished { overshoot, .. } => {
                self.productive -= overshoot;
                self.stalled += overshoot;
            }
            // Work is known to be wasted only when it is thrown away.
            Fact::Evicted { measured, .. } => {
                self.productive -= measured;
                self.redone += measured;
            }
            _ => {}
        }
    }

    /// Hours measured so far.
    #[must_use]
    pub fn measured_hours(&self) -> f64 {
        self.measured_ms as f64 / 3_600_000.0
    }

    /// Stalled GPU-hours as a share of the fleet's, 0..1.
    #[must_use]
    pub fn stalled_share(&self) -> f64 {
        self.share(self.stalled)
    }

    /// The uses in whole units: productive, stalled, redone, stranded, held, spare.
    #[must_use]
    pub fn uses(&self) -> [i128; 6] {
        [self.productive, self.stalled, self.redone, self.stranded, self.held, self.spare]
    }

    /// Capacity × measured time, in the same unit.
    #[must_use]
    pub fn capacity(&self) -> i128 {
        self.capacity
    }

    fn share(&self, units: i128) -> f64 {
        units as f64 / self.capacity.max(1) as f64
    }

    /// The uses in hours of one whole GPU.
    #[must_use]
    pub fn hours(&self) -> LedgerHours {
        let hours = |units: i128| units as f64 / UNITS_PER_GPU_HOUR;
        LedgerHours {
            capacity: hours(self.capacity),
            uses: Uses {
                productive: hours(self.productive),
                stalled: hours(self.stalled),
                redone: hours(self.redone),
                stranded: hours(self.stranded),
                held: hours(self.held),
                spare: hours(self.spare),
            },
            difference: (self.capacity - self.uses().iter().sum::<i128>()) as i64,
        }
    }

    pub(crate) fn report(&self, metrics: &mut Metrics) {
        let advanced = self.productive + self.redone;
        let allocated = advanced + self.stalled;
        metrics.ledger = self.hours();
        metrics.allocated = self.share(allocated);
        metrics.productive = self.share(advanced);
        metrics.productive_gpu_h = advanced as f64 / UNITS_PER_GPU_HOUR;
        metrics.stall = self.stalled as f64 / allocated.max(1) as f64;
    }
}
