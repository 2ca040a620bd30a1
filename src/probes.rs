//! Listeners: facts leave the engine by one door, and probes count them. Probes read; they change nothing.

use crate::cluster::{Cluster, NodeId};
use crate::engine::JobState;
use crate::engine::setup::Setup;
use crate::units::SimTime;
use crate::workload::Job;

pub mod churn;
pub mod digest;
pub mod ledger;
pub mod metrics;
pub mod shape;
pub mod waits;

pub use metrics::{LedgerHours, Metrics};

/// Something that happened.
#[derive(Debug)]
pub enum Fact<'a> {
    /// A job arrived.
    Arrived {
        /// It.
        job: &'a Job,
    },
    /// A job started on these nodes, one a task.
    Started {
        /// It.
        job: &'a Job,
        /// The node of each task.
        nodes: &'a [NodeId],
        /// Whether it never ran before.
        is_first: bool,
        /// Tasks that left their node with more asked of its soft dimensions than it can give.
        oversubscribed: usize,
    },
    /// A job ended.
    Finished {
        /// Its last state; it holds no nodes any more.
        state: &'a JobState,
        /// What its last millisecond could have done beyond its work: GPU thousandths × millionths × ms.
        overshoot: i128,
    },
    /// A job was taken off its nodes for want of GPU memory.
    Evicted {
        /// Its position in order of arrival.
        job: u64,
        /// Work thrown away: GPU thousandths × millionths × ms.
        lost: i128,
    },
    /// A node's storage started or ended a rebuild.
    Rebuild {
        /// The node.
        node: NodeId,
        /// Started, rather than ended.
        starts: bool,
    },
    /// A node's books, health or reservation changed; told once a node and event, after all else.
    NodeChanged {
        /// The node.
        node: NodeId,
        /// Whether it is kept for a job that has waited long.
        reserved: bool,
    },
    /// A telemetry reading was taken.
    Reading {
        /// The node.
        node: NodeId,
        /// Whether the typical task of the first class fits by storage.
        truth: bool,
        /// Whether the scheduler believes so.
        believed: bool,
    },
    /// The once-a-minute look at the queue.
    QueueSample {
        /// Jobs waiting.
        waiting: u64,
        /// Those of them that the residuals of all nodes together would hold.
        fits_in_total: u64,
    },
}

/// Sums over the cluster, kept exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// GPUs of the fleet, in thousandths.
    pub capacity_milli: i64,
    /// GPUs allocated, in thousandths.
    pub allocated_milli: i64,
    /// GPUs that advance work: thousandths × millionths of full speed.
    pub productive: i64,
    /// Jobs waiting.
    pub waiting: u32,
    /// Jobs running.
    pub running: u32,
}

/// What a probe may look at.
#[derive(Clone, Copy, Debug)]
pub struct Stage<'a> {
    /// The nodes.
    pub cluster: &'a Cluster,
    /// Sums over them.
    pub totals: &'a Totals,
}

/// A listener.
pub trait Probe: Clone + core::fmt::Debug {
    /// Time passes, during which nothing changes.
    fn elapse(&mut self, from: SimTime, to: SimTime, totals: &Totals);

    /// Something happened.
    fn observe(&mut self, at: SimTime, fact: &Fact<'_>, stage: &Stage<'_>);
}

impl<A: Probe, B: Probe> Probe for (A, B) {
    fn elapse(&mut self, from: SimTime, to: SimTime, totals: &Totals) {
        self.0.elapse(from, to, totals);
        self.1.elapse(from, to, totals);
    }

    fn observe(&mut self, at: SimTime, fact: &Fact<'_>, stage: &Stage<'_>) {
        self.0.observe(at, fact, stage);
        self.1.observe(at, fact, stage);
    }
}

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
    }

    fn observe(&mut self, at: SimTime, fact: &Fact<'_>, stage: &Stage<'_>) {
        self.shape.observe(fact, stage);
        self.ledger.observe(at, fact);
        self.waits.observe(at, fact);
        self.churn.observe(at, fact);
        self.digest.observe(at, fact);
    }
}
