//! Why jobs wait: a look back at a run, and at what each waiting job lacks there.
//!
//! A run is not kept moment by moment: it is gone through again, which ends in the same state to the bit.

use serde::{Deserialize, Serialize};

use crate::engine::Simulation;
use crate::engine::inquiry::{Bar, Judgement, Verdict};
use crate::engine::setup::Setup;
use crate::error::Error;
use crate::resources::{Amounts, DIMS, Dim};
use crate::units::SimTime;

/// Looks at a node for a job that are worth an answer: a blink. Where it would take more, the first of the queue are
/// looked at.
const MOST_LOOKS: usize = 5_000_000;

/// Jobs that are looked at however large the cluster is.
const LEAST_JOBS: usize = 40;

/// What stands between a job and a node in one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lack {
    /// The dimension.
    pub dim: Dim,
    /// What a task needs, in the dimension's unit.
    pub needed: f64,
    /// What the scheduler believes to be left.
    pub available: f64,
    /// What the node has when it is healthy and empty.
    pub nominal: f64,
}

/// A node that nearly has room.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Near {
    /// Its number.
    pub node: u32,
    /// Whether its storage is rebuilding.
    pub rebuilding: bool,
    /// Everything that is missing, worst first.
    pub lacks: Vec<Lack>,
}

/// Why a job is not running.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum Reason {
    /// No node has room for one of its tasks.
    FitsNowhere {
        /// The node that lacks least.
        nearest: Option<Near>,
    },
    /// Some tasks would fit, but not all at once.
    TooFewTogether {
        /// Tasks for which there is room.
        room: u32,
    },
    /// Where there is room, the node is kept for a job that has waited longer.
    Kept,
    /// Where there is room, the storage looks too ill to be used.
    Cordoned,
    /// There is room, but others are before it: its turn has not come.
    Behind,
}

impl Reason {
    /// Whether it is of the same kind, whatever the numbers.
    fn is_like(&self, other: &Self) -> bool {
        core::mem::discriminant(self) == core::mem::discriminant(other)
    }
}

/// Jobs that wait for the same kind of reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaitingJobs {
    /// How many.
    pub count: u32,
    /// The first of them in the queue, which the rest is about: its position in order of arrival, from 0.
    pub job: u64,
    /// Their class.
    pub class: String,
    /// How many tasks start together, in all of them.
    pub tasks: u16,
    /// What each of them asks for, in the units of the dimensions.
    pub asks: [f64; DIMS],
    /// Since when it waits, in hours.
    pub waited: f64,
    /// Why.
    pub reason: Reason,
}

/// Who waits at a moment, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waiting {
    /// The moment, in simulated milliseconds.
    pub at: u64,
    /// Free GPUs of the cluster.
    pub free_gpus: f64,
    /// Jobs that wait.
    pub count: u32,
    /// Those that were looked at: the first so many of the queue.
    pub looked_at: u32,
    /// Of these, those that fit on no node although what is left on all nodes together would hold each of them: shape
    /// keeps them out, not amount.
    pub by_shape: u32,
    /// How old the scheduler's knowledge of storage is, in seconds; 0 if it is at once.
    pub age: f64,
    /// They, by class, size and kind of reason; most first.
    pub groups: Vec<WaitingJobs>,
}

/// A run that is gone through again.
#[derive(Clone, Debug)]
pub struct LookBack {
    simulation: Simulation<()>,
}

impl LookBack {
    /// At the beginning of a run.
    ///
    /// # Errors
    /// What the engine has against the setup.
    pub fn new(setup: &Setup) -> Result<Self, Error> {
        Ok(Self { simulation: Simulation::with_probe(setup.clone(), ())? })
    }

    /// The moment it has reached, in simulated milliseconds.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.simulation.now().as_ms()
    }

    /// Goes on towards a moment, by so many events at most; says whether it is there. A moment that has passed is never
    /// reached: begin anew.
    pub fn advance(&mut self, to: u64, most_events: u32) -> bool {
        let to = SimTime(to).min(self.simulation.horizon());
        for _ in 0..most_events {
            if !self.simulation.step_towards(to) {
                self.simulation.run_until(to);
                return true;
            }
        }
        false
    }

    /// Who waits now, and why.
    #[must_use]
    pub fn waiting(&self) -> Waiting {
        let simulation = &self.simulation;
        let cluster = simulation.cluster();
        let mut left = [0i64; DIMS];
        for node in cluster.ids() {
            for (sum, amount) in left.iter_mut().zip(cluster.residual(node).0) {
                *sum += i64::from(amount);
            }
        }
        let fits_in_total = |demand: &Amounts, tasks: u16| {
            demand.0.iter().zip(left).all(|(&amount, left)| i64::from(amount) * i64::from(tasks) <= left)
        };
        let most = (MOST_LOOKS / cluster.len().max(1)).max(LEAST_JOBS);
        let (mut looked_at, mut by_shape, mut age) = (0, 0, 0.0);
        let mut groups: Vec<WaitingJobs> = Vec::new();
        for state in simulation.waiting().take(most) {
            let Some(judgement) = simulation.judge_room(state.job.index) else { continue };
            let reason = self.reason(&judgement);
            looked_at += 1;
            by_shape += u32::from(
                matches!(reason, Reason::FitsNowhere { .. }) && fits_in_total(&state.demand, state.job.tasks),
            );
            age = judgement.age.as_secs();
            let class = &simulation.setup().classes[state.job.class.index()].id;
            let is_like = |group: &&mut WaitingJobs| {
                group.class == *class && group.tasks == state.job.tasks && group.reason.is_like(&reason)
            };
            if let Some(group) = groups.iter_mut().find(is_like) {
                group.count += 1;
                continue;
            }
            let demand = judgement.ask.demand;
            groups.push(WaitingJobs {
                count: 1,
                job: state.job.index,
                class: class.clone(),
                tasks: state.job.tasks,
                asks: Dim::ALL.map(|dim| dim.value(demand[dim])),
                waited: judgement.waited.as_hours(),
                reason,
            });
        }
        groups.sort_by_key(|group| core::cmp::Reverse(group.count));
        let totals = simulation.totals();
        Waiting {
            at: simulation.now().as_ms(),
            free_gpus: (totals.capacity_milli - totals.allocated_milli) as f64 / 1000.0,
            count: totals.waiting,
            looked_at,
            by_shape,
            age,
            groups,
        }
    }

    fn reason(&self, judgement: &Judgement) -> Reason {
        let has_room = |verdict: &&Verdict| verdict.short.is_empty() && verdict.bar != Some(Bar::Devices);
        let barred_by =
            |bar| judgement.verdicts.iter().any(|verdict| verdict.short.is_empty() && verdict.bar == Some(bar));
        let open = judgement.verdicts.iter().filter(has_room).any(|verdict| verdict.bar.is_none());
        if open {
            return if judgement.room < u32::from(judgement.ask.tasks) {
                Reason::TooFewTogether { room: judgement.room }
            } else {
                Reason::Behind
            };
        }
        if barred_by(Bar::Kept) {
            return Reason::Kept;
        }
        if barred_by(Bar::Cordoned) {
            return Reason::Cordoned;
        }
        let allowed =
            judgement.verdicts.iter().filter(|verdict| verdict.bar != Some(Bar::Type) && !verdict.short.is_empty());
        // The fewest dimensions, and of these the least.
        let nearest = allowed
            .map(|verdict| (verdict.short.len(), self.near(verdict, judgement)))
            .min_by(|(a, (lacks, _)), (b, (lacks_less, _))| a.cmp(b).then(lacks.total_cmp(lacks_less)));
        Reason::FitsNowhere { nearest: nearest.map(|(_, (_, near))| near) }
    }

    /// What a node lacks, and how much that is: the sum of shares of what it has when healthy and empty.
    fn near(&self, verdict: &Verdict, judgement: &Judgement) -> (f64, Near) {
        let cluster = self.simulation.cluster();
        let nominal = cluster.capacity(verdict.node);
        let share =
            |dim: Dim| f64::from(judgement.ask.demand[dim] - verdict.available[dim]) / f64::from(nominal[dim].max(1));
        let mut short: Vec<Dim> = verdict.short.iter().collect();
        short.sort_by(|a, b| share(*b).total_cmp(&share(*a)));
        let lacks = short.iter().map(|&dim| Lack {
            dim,
            needed: dim.value(judgement.ask.demand[dim]),
            available: dim.value(verdict.available[dim]),
            nominal: dim.value(nominal[dim]),
        });
        let near =
            Near { node: verdict.node.0, rebuilding: cluster.is_rebuilding(verdict.node), lacks: lacks.collect() };
        (short.iter().map(|dim| share(*dim)).sum(), near)
    }
}
