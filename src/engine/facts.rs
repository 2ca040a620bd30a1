//! Facts leave the engine by one door; whoever listens is a stranger to it.

use crate::cluster::{Cluster, DeviceMask, NodeId};
use crate::engine::JobState;
use crate::units::SimTime;
use crate::workload::Job;

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
        /// The devices of each task; none where GPUs are a pool.
        devices: &'a [DeviceMask],
        /// Whether it never ran before.
        is_first: bool,
        /// Tasks that left their node with more asked of its soft dimensions than it can give.
        oversubscribed: usize,
    },
    /// A job was turned away for good.
    Rejected {
        /// It.
        job: &'a Job,
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
        /// The part of it that was done in the measured window.
        measured: i128,
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

/// Nobody listens.
impl Probe for () {
    fn elapse(&mut self, _from: SimTime, _to: SimTime, _totals: &Totals) {}

    fn observe(&mut self, _at: SimTime, _fact: &Fact<'_>, _stage: &Stage<'_>) {}
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
