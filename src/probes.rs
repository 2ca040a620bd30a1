//! Listeners: facts leave the engine by one door, and probes count them. Probes read; they change nothing.

use crate::engine::Simulation;
use crate::engine::setup::Setup;
use crate::error::Error;
use crate::units::SimTime;

pub mod churn;
pub mod digest;
pub mod ledger;
pub mod metrics;
pub mod quantiles;
pub mod shape;
pub mod waits;

pub use crate::engine::facts::{Fact, Probe, Stage, Totals};
pub use metrics::{LedgerHours, Metrics, Uses};

/// The measured window: from the end of the warm-up on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub start: SimTime,
}

impl Window {
    /// Milliseconds of `from .. to` that lie in the window.
    pub fn overlap_ms(self, from: SimTime, to: SimTime) -> i128 {
        i128::from(to.since(from.max(self.start)).as_ms())
    }

    /// Whether a moment lies in it.
    pub fn has(self, at: SimTime) -> bool {
        at >= self.start
    }
}

/// A value over so many milliseconds, exactly. Nearly always both are small enough for a product of 64 bits; WASM has no
/// wider one, and takes long to put it together.
pub(crate) fn over(value: i128, ms: i128) -> i128 {
    match (i64::try_from(value), i64::try_from(ms)) {
        (Ok(value), Ok(ms)) if value.unsigned_abs().leading_zeros() + ms.unsigned_abs().leading_zeros() > 64 => {
            i128::from(value * ms)
        }
        _ => value * ms,
    }
}

/// Every measure of [`Metrics`], and the digest.
#[derive(Clone, Debug)]
pub struct Standard {
    shape: shape::Shape,
    ledger: ledger::Ledger,
    waits: waits::Waits,
    churn: churn::Churn,
    digest: digest::Digest,
}

impl Standard {
    /// For a run of `setup`.
    #[must_use]
    pub fn new(setup: &Setup) -> Self {
        let window = Window { start: SimTime::ZERO + setup.warm_up };
        Self {
            shape: shape::Shape::new(setup, window),
            ledger: ledger::Ledger::new(window),
            waits: waits::Waits::new(setup, window),
            churn: churn::Churn::new(setup.nodes.len(), window),
            digest: digest::Digest::new(setup.seed),
        }
    }

    /// The shape of what is left, now and so far.
    #[must_use]
    pub fn shape(&self) -> &shape::Shape {
        &self.shape
    }

    /// Where every GPU-hour went so far.
    #[must_use]
    pub fn ledger(&self) -> &ledger::Ledger {
        &self.ledger
    }

    /// Waits of jobs so far.
    #[must_use]
    pub fn waits(&self) -> &waits::Waits {
        &self.waits
    }

    pub(crate) fn digest(&self) -> u64 {
        self.digest.value(&self.ledger)
    }

    /// `pending`: work of the waiting jobs, in GPU thousandths × millionths × ms.
    pub(crate) fn metrics(&self, pending: u128) -> Metrics {
        let mut metrics = Metrics::default();
        self.shape.report(&mut metrics);
        self.ledger.report(&mut metrics);
        self.waits.report(&mut metrics, self.ledger.measured_hours());
        self.churn.report(&mut metrics);
        metrics.f_lost = metrics.strand_total + self.ledger.stalled_share();
        metrics.pending_gpu_h = pending as f64 / ledger::UNITS_PER_GPU_HOUR;
        metrics
    }
}

impl Probe for Standard {
    fn elapse(&mut self, from: SimTime, to: SimTime, totals: &Totals) {
        self.shape.elapse(from, to);
        self.ledger.elapse(from, to, totals, self.shape.free());
        self.waits.elapse(from, to, totals);
        self.churn.elapse(to);
    }

    fn observe(&mut self, at: SimTime, fact: &Fact<'_>, stage: &Stage<'_>) {
        self.shape.observe(fact, stage);
        self.ledger.observe(at, fact);
        self.waits.observe(at, fact);
        self.churn.observe(at, fact);
        self.digest.observe(at, fact);
    }
}

impl Simulation<Standard> {
    /// A run that measures everything of [`Metrics`].
    ///
    /// # Errors
    /// [`Error::Setup`] if the setup contradicts itself.
    pub fn new(setup: Setup) -> Result<Self, Error> {
        let probe = Standard::new(&setup);
        Self::with_probe(setup, probe)
    }

    /// The measures of the window so far.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.probe().metrics(self.pending_work())
    }

    /// A fingerprint of everything that happened so far: equal runs have equal digests, native and WASM.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.probe().digest()
    }
}
