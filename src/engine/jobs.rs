//! Jobs that wait or run, and the slots they live in.

use crate::cluster::NodeId;
use crate::resources::Amounts;
use crate::units::{Rate, SimTime, Span, Work};
use crate::workload::{Growth, Job};

/// A job that waits or runs.
#[derive(Clone, Debug)]
pub struct JobState {
    /// The job as it arrived.
    pub job: Job,
    /// What one task asks for now: the demand at admission and its growth so far.
    pub demand: Amounts,
    /// How fast it runs. Full speed while it waits.
    pub rate: Rate,
    /// When it started for the first time.
    pub first_start: Option<SimTime>,
    /// The node of each task; empty while it waits.
    pub nodes: Vec<NodeId>,
    /// Growth steps taken.
    pub steps_taken: u8,
    /// Nodes kept for it because it waited long.
    pub reserved: Vec<NodeId>,
    /// Work done and kept, up to `synced`.
    pub(crate) done: Work,
    pub(crate) synced: SimTime,
    /// The part of `done` from before the measured window.
    pub(crate) unmeasured: Work,
    /// Share of full speed that too little GPU memory leaves (1 unless throttled).
    pub(crate) memory_share: f64,
    /// Raised whenever its next milestone changes; older milestones are void.
    pub(crate) version: u64,
    pub(crate) memory: Memory,
}

/// What the last failed attempt to place a waiting job found out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// Position in the log of gains up to which it has looked. `None`: never looked.
    pub seen: Option<u64>,
    /// Nodes that had room for a task then – too few for the whole gang.
    pub open: Vec<NodeId>,
}

impl JobState {
    pub(crate) fn new(job: Job, version: u64) -> Self {
        Self {
            demand: job.demand,
            synced: job.arrival,
            job,
            rate: Rate::FULL,
            first_start: None,
            nodes: Vec::new(),
            steps_taken: 0,
            reserved: Vec::new(),
            done: Work(0),
            unmeasured: Work(0),
            memory_share: 1.0,
            version,
            memory: Memory::default(),
        }
    }

    /// Whether it runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// GPUs of all tasks, in thousandths.
    #[must_use]
    pub fn gpu_milli(&self) -> i64 {
        self.job.gpu_milli()
    }

    /// All the work there is.
    #[must_use]
    pub fn total(&self) -> Work {
        Work::of(self.job.work)
    }

    /// Work that is done and kept at `now`.
    #[must_use]
    pub fn work_done(&self, now: SimTime) -> Work {
        let running = if self.is_running() { Work::done(self.rate, now.since(self.synced)).0 } else { 0 };
        Work(self.done.0 + running)
    }

    /// Brings `done` up to `now`; what is done by `measured_from` is noted as unmeasured.
    pub(crate) fn advance(&mut self, now: SimTime, measured_from: SimTime) {
        let until = now.min(measured_from);
        if self.synced < until {
            self.unmeasured = self.work_done(until);
        }
        self.done = self.work_done(now);
        self.synced = now;
    }

    /// Share of its work that is done and kept at `now`, 0..1.
    #[must_use]
    pub fn progress(&self, now: SimTime) -> f64 {
        (self.work_done(now).0 as f64 / self.total().0.max(1) as f64).min(1.0)
    }

    /// The work at which the next growth step or the end is due, and whether it is the end.
    pub(crate) fn milestone(&self, growth: Option<&Growth>) -> (Work, bool) {
        match growth {
            Some(growth) if self.steps_taken < growth.steps => {
                let parts = u64::from(growth.steps) + 1;
                (Work(self.total().0 / parts * (u64::from(self.steps_taken) + 1)), false)
            }
            _ => (self.total(), true),
        }
    }

    /// Time from `synced` until the milestone at today's rate.
    pub(crate) fn time_to(&self, milestone: Work) -> Span {
        Work(milestone.0.saturating_sub(self.done.0)).time_at(self.rate)
    }
}

/// Slots that are used again when a job ends, so that memory is bounded by what waits and runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jobs {
    slots: Vec<Option<JobState>>,
    vacant: Vec<u32>,
    /// Versions never repeat, also when a slot is used again.
    next_version: u64,
}

impl Jobs {
    pub fn insert(&mut self, job: Job) -> u32 {
        let state = JobState::new(job, self.new_version());
        if let Some(slot) = self.vacant.pop() {
            self.slots[slot as usize] = Some(state);
            return slot;
        }
        if self.slots.len() == self.slots.capacity() {
            // By an eighth and not twofold: while slots move, old and new ones both take memory.
            self.slots.reserve_exact(self.slots.len() / 8 + 64);
        }
        self.slots.push(Some(state));
        (self.slots.len() - 1) as u32
    }

    pub fn remove(&mut self, slot: u32) -> Option<JobState> {
        let state = self.slots[slot as usize].take();
        if state.is_some() {
            self.vacant.push(slot);
        }
        state
    }

    pub fn new_version(&mut self) -> u64 {
        self.next_version += 1;
        self.next_version
    }

    pub fn get(&self, slot: u32) -> Option<&JobState> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// Slots there are, vacant ones too.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }
}

impl core::ops::Index<u32> for Jobs {
    type Output = JobState;
    fn index(&self, slot: u32) -> &JobState {
        self.slots[slot as usize].as_ref().expect("the slot of a job that waits or runs")
    }
}

impl core::ops::IndexMut<u32> for Jobs {
    fn index_mut(&mut self, slot: u32) -> &mut JobState {
        self.slots[slot as usize].as_mut().expect("the slot of a job that waits or runs")
    }
}
