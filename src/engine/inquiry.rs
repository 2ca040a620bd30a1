//! Why a job went where it went, or nowhere: what the scheduler saw of every node at its last attempt, and what others
//! would have chosen then.
//!
//! An inquiry changes nothing: schedulers that are asked are copies. A [redirected](Simulation::redirect) run is another
//! run.

use core::fmt;

use crate::cluster::{DeviceMask, NodeId};
use crate::engine::belief::Belief;
use crate::engine::facts::Probe;
use crate::engine::port::{Ask, Cost, Scheduler};
use crate::engine::{JobState, Simulation};
use crate::resources::{Amounts, Dim, DimMask};
use crate::units::{SimTime, Span};

/// A rule that keeps a job off a node, whatever room there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bar {
    /// The job may not run on nodes of this type.
    Type,
    /// The node is kept for a job that has waited longer.
    Kept,
    /// Its storage looks too ill to be used.
    Cordoned,
    /// Its devices have room enough together, but not one by one.
    Devices,
}

/// What the scheduler saw of one node, for one task.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The node.
    pub node: NodeId,
    /// What it believed to be left there.
    pub available: Amounts,
    /// What truly was left.
    pub residual: Amounts,
    /// Dimensions that it looks at and in which less is left than the task needs.
    pub short: DimMask,
    /// The first rule that keeps the job off it.
    pub bar: Option<Bar>,
    /// What placing the task there costs by the scheduler's score; `None` where it was no candidate, or where there is
    /// no score of one node.
    pub cost: Option<Cost>,
}

impl Verdict {
    /// Whether the task could go there.
    #[must_use]
    pub fn is_candidate(&self) -> bool {
        self.short.is_empty() && self.bar.is_none()
    }
}

/// Another scheduler that is asked about the same moment.
pub struct Other {
    /// It.
    pub scheduler: Box<dyn Scheduler>,
    /// Dimensions in which a node must have room; the hard ones always count.
    pub fit_dims: DimMask,
}

impl Clone for Other {
    fn clone(&self) -> Self {
        Self { scheduler: self.scheduler.clone_box(), fit_dims: self.fit_dims }
    }
}

impl fmt::Debug for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Other").field("fit_dims", &self.fit_dims).finish_non_exhaustive()
    }
}

/// What an attempt to place a job looked like.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// When.
    pub at: SimTime,
    /// The job's position in order of arrival.
    pub job: u64,
    /// How long it had waited since it arrived.
    pub waited: Span,
    /// What one of its tasks was planned with.
    pub ask: Ask,
    /// Dimensions in which a node had to have room.
    pub dims: DimMask,
    /// Of every node, in order.
    pub verdicts: Vec<Verdict>,
    /// Tasks for which there was room, none counted more than once.
    pub room: u32,
    /// Where its scheduler wanted the first task; `None` if there was too little room for all of them.
    pub preferred: Option<NodeId>,
    /// Where its tasks went; empty if it had to wait.
    pub placed: Vec<NodeId>,
    /// The smallest change, relative to a node's nominal capacity, that would have changed `preferred`. `None` for a job
    /// of several tasks, or if the scheduler has no score.
    pub flip: Option<Flip>,
    /// Where each of the others would have put its first task.
    pub others: Vec<Option<NodeId>>,
    /// Free GPUs of the whole cluster, in thousandths.
    pub free_gpu_milli: i64,
    /// Age of what was known of storage; zero if it is known at once.
    pub age: Span,
}

impl Judgement {
    /// Nodes to which a task could go.
    #[must_use]
    pub fn candidates(&self) -> Vec<NodeId> {
        self.verdicts.iter().filter(|verdict| verdict.is_candidate()).map(|verdict| verdict.node).collect()
    }
}

/// A change of what is left on one node that would have made it the choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flip {
    /// The node.
    pub node: NodeId,
    /// The only dimension that changes.
    pub dim: Dim,
    /// What is believed to be left there.
    pub from: i32,
    /// What would have to be.
    pub to: i32,
}

#[derive(Clone, Debug)]
pub(crate) struct Inquiry {
    job: u64,
    others: Vec<Other>,
    last: Option<Box<Judgement>>,
}

/// Where a job is to go at its next attempt, whatever its scheduler says.
#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    job: u64,
    nodes: Vec<NodeId>,
}

/// Nodes whose leftovers are varied in search of a [`Flip`]: the best so many.
const VARIED: usize = 12;

/// Steps between nothing and the whole of a dimension when leftovers are varied.
const STEPS: i32 = 128;

impl<P: Probe> Simulation<P> {
    /// Watches one job from now on: its latest attempt to be placed is kept, with what `others` would have chosen.
    pub fn ask_about(&mut self, job: u64, others: Vec<Other>) {
        self.inquiry = Some(Box::new(Inquiry { job, others, last: None }));
    }

    /// The latest attempt of the job that is [watched](Self::ask_about); `None` if there was none since.
    #[must_use]
    pub fn judgement(&self) -> Option<&Judgement> {
        self.inquiry.as_ref()?.last.as_deref()
    }

    /// What an attempt of a waiting job would look like now. `None` if no such job waits.
    #[must_use]
    pub fn judge(&self, job: u64, others: &[Other]) -> Option<Judgement> {
        let slot = self.queue.iter().find(|slot| self.jobs[*slot].job.index == job)?;
        Some(self.judge_slot(slot, others))
    }

    /// The same without what the scheduler thinks of the candidates: what is left, and what is in the way.
    #[must_use]
    pub fn judge_room(&self, job: u64) -> Option<Judgement> {
        let slot = self.queue.iter().find(|slot| self.jobs[*slot].job.index == job)?;
        Some(self.look_for_room(slot))
    }

    /// Sends a job to these nodes, one a task, at its next attempt; its scheduler is not asked. If a node does not have
    /// room for it in the books, it is.
    pub fn redirect(&mut self, job: u64, nodes: Vec<NodeId>) {
        self.redirect = Some(Redirect { job, nodes });
    }

    /// An attempt that somebody watches, or that is told where to go. `None`: neither.
    pub(super) fn try_as_told(&mut self, slot: u32) -> Option<bool> {
        if self.inquiry.is_none() && self.redirect.is_none() {
            return None;
        }
        let job = self.jobs[slot].job.index;
        let is_watched = self.inquiry.as_ref().is_some_and(|inquiry| inquiry.job == job);
        let is_redirected = self.redirect.as_ref().is_some_and(|redirect| redirect.job == job);
        if !is_watched && !is_redirected {
            return None;
        }
        let judgement = self.inquiry.take_if(|_| is_watched).map(|inquiry| {
            let judgement = self.judge_slot(slot, &inquiry.others);
            (inquiry, judgement)
        });
        let nodes = self.redirect.take_if(|_| is_redirected).map(|redirect| redirect.nodes);
        let is_started = nodes.is_some_and(|nodes| self.start_there(slot, &nodes)) || self.attempt(slot);
        if let Some((mut inquiry, mut judgement)) = judgement {
            if is_started && let Some(state) = self.jobs.get(slot) {
                judgement.placed.clone_from(&state.nodes);
            }
            inquiry.last = Some(Box::new(judgement));
            self.inquiry = Some(inquiry);
        }
        Some(is_started)
    }

    /// Starts a job on these nodes if the books have room for all its tasks.
    fn start_there(&mut self, slot: u32, nodes: &[NodeId]) -> bool {
        let ask = self.ask_of(slot);
        let is_known = nodes.iter().all(|node| node.index() < self.cluster.len());
        if nodes.len() != usize::from(ask.tasks) || !is_known {
            return false;
        }
        let hard = DimMask::FIVE.and(self.setup.exists);
        let mut devices: Vec<DeviceMask> = Vec::with_capacity(nodes.len());
        for &node in nodes {
            let fits = self.belief.fits(node, &ask, hard) && Belief::allows(&self.setup, node, &ask);
            let Some(taken) = fits.then(|| self.belief.devices_for(node, &ask, None)).flatten() else { break };
            self.belief.reserve_tentatively(node, &ask, taken);
            devices.push(taken);
        }
        for &node in nodes {
            self.belief.refresh(&self.cluster, node);
        }
        let has_room = devices.len() == nodes.len();
        if has_room {
            self.start(slot, nodes, &devices);
        }
        has_room
    }

    fn judge_slot(&self, slot: u32, others: &[Other]) -> Judgement {
        let mut judgement = self.look_for_room(slot);
        let ask = judgement.ask;
        let view = self.belief.view(&self.setup);
        let candidates = judgement.candidates();
        if let Some(costs) = self.scheduler.clone_box().costs(&view, &ask, &candidates) {
            for (node, cost) in candidates.iter().zip(costs) {
                judgement.verdicts[node.index()].cost = Some(cost);
            }
        }
        if judgement.room >= u32::from(ask.tasks) {
            judgement.preferred = self.scheduler.clone_box().choose(&view, &ask, &candidates);
        }
        if ask.tasks == 1 {
            judgement.flip = self.smallest_flip(&ask, judgement.dims, &judgement.verdicts, judgement.preferred);
        }
        judgement.others = others.iter().map(|other| self.choice_of(other, slot, &ask)).collect();
        judgement
    }

    /// What is left of every node for a job, and what is in the way.
    fn look_for_room(&self, slot: u32) -> Judgement {
        let (ask, dims) = (self.ask_of(slot), self.fit_dims());
        let state: &JobState = &self.jobs[slot];
        let view = self.belief.view(&self.setup);
        let verdict = |node| {
            let available = view.available(node);
            let short: Vec<Dim> = dims.iter().filter(|dim| ask.demand[*dim] > available[*dim]).collect();
            let short = DimMask::of(&short);
            let bar = self.bar(slot, node, &ask, short, dims);
            Verdict { node, available, residual: self.cluster.residual(node), short, bar, cost: None }
        };
        let interval = self.setup.telemetry.interval.as_ms();
        let mut judgement = Judgement {
            at: self.now,
            job: state.job.index,
            waited: self.now.since(state.job.arrival),
            ask,
            dims,
            verdicts: self.cluster.ids().map(verdict).collect(),
            room: 0,
            preferred: None,
            placed: Vec::new(),
            flip: None,
            others: Vec::new(),
            free_gpu_milli: self.totals.capacity_milli - self.totals.allocated_milli,
            age: if interval == 0 { Span::ZERO } else { Span(self.now.as_ms() % interval) },
        };
        let room = |node: NodeId| u32::from(self.belief.slots(node, &ask, dims, ask.tasks));
        judgement.room = judgement.candidates().into_iter().map(room).sum();
        judgement
    }

    fn bar(&self, slot: u32, node: NodeId, ask: &Ask, short: DimMask, dims: DimMask) -> Option<Bar> {
        if !Belief::allows(&self.setup, node, ask) {
            Some(Bar::Type)
        } else if self.queue.is_kept_from(node, slot) {
            Some(Bar::Kept)
        } else if self.belief.is_cordoned(node) {
            Some(Bar::Cordoned)
        } else if short.is_empty() && !self.belief.fits(node, ask, dims) {
            Some(Bar::Devices)
        } else {
            None
        }
    }

    fn choice_of(&self, other: &Other, slot: u32, ask: &Ask) -> Option<NodeId> {
        let dims = DimMask::FIVE.or(other.fit_dims).and(self.setup.exists);
        let candidates: Vec<NodeId> = self
            .cluster
            .ids()
            .filter(|&node| {
                self.belief.fits(node, ask, dims)
                    && !self.queue.is_kept_from(node, slot)
                    && !self.belief.is_cordoned(node)
                    && Belief::allows(&self.setup, node, ask)
            })
            .collect();
        other.scheduler.clone_box().choose(&self.belief.view(&self.setup), ask, &candidates)
    }

    fn smallest_flip(
        &self,
        ask: &Ask,
        dims: DimMask,
        verdicts: &[Verdict],
        preferred: Option<NodeId>,
    ) -> Option<Flip> {
        let best = match preferred {
            Some(node) => Some((node, verdicts[node.index()].cost.as_ref()?.total)),
            None => None,
        };
        let mut varied: Vec<(f64, &Verdict)> = verdicts
            .iter()
            .filter(|verdict| Some(verdict.node) != preferred && verdict.bar.is_none() && verdict.short.len() <= 1)
            .map(|verdict| (self.distance(verdict, ask), verdict))
            .collect();
        varied.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.node.cmp(&b.1.node)));
        let mut supposed = Supposed { belief: self.belief.clone(), scheduler: self.scheduler.clone_box() };
        let mut least: Option<(f64, Flip)> = None;
        for (_, verdict) in varied.into_iter().take(VARIED) {
            // Another dimension changes nothing for a node that lacks one.
            for dim in dims.iter().filter(|dim| verdict.short.is_empty() || verdict.short.has(*dim)) {
                let nominal = self.cluster.capacity(verdict.node)[dim];
                let from = verdict.available[dim];
                let wins = |to: i32| supposed.wins(self, verdict.node, (dim, to), (ask, dims), best);
                if let Some(to) = nearest(from, ask.demand[dim].max(0), nominal, wins) {
                    let share = f64::from(to.abs_diff(from)) / f64::from(nominal.max(1));
                    if least.is_none_or(|(least, _)| share < least) {
                        least = Some((share, Flip { node: verdict.node, dim, from, to }));
                    }
                }
                supposed.belief.refresh(&self.cluster, verdict.node);
            }
        }
        least.map(|(_, flip)| flip)
    }

    /// How far a node is from being chosen: what it lacks as a share of nominal, or what it costs.
    fn distance(&self, verdict: &Verdict, ask: &Ask) -> f64 {
        let nominal = self.cluster.capacity(verdict.node);
        let lacks = |dim: Dim| f64::from(ask.demand[dim] - verdict.available[dim]) / f64::from(nominal[dim].max(1));
        let lacks: f64 = verdict.short.iter().map(lacks).sum();
        lacks + verdict.cost.as_ref().map_or(0.0, |cost| cost.total)
    }
}

/// The cluster as it might be, and who judges it.
struct Supposed {
    belief: Belief,
    scheduler: Box<dyn Scheduler>,
}

impl Supposed {
    /// Whether a node would be the choice instead of the best one, were so much left there.
    fn wins<P: Probe>(
        &mut self,
        simulation: &Simulation<P>,
        node: NodeId,
        (dim, to): (Dim, i32),
        (ask, dims): (&Ask, DimMask),
        best: Option<(NodeId, f64)>,
    ) -> bool {
        self.belief.suppose(node, dim, to);
        if !self.belief.fits(node, ask, dims) {
            return false;
        }
        let Some((chosen, least)) = best else { return true };
        let costs = self.scheduler.costs(&self.belief.view(&simulation.setup), ask, &[node]);
        let cost = costs.and_then(|costs| costs.first().map(|cost| cost.total));
        cost.is_some_and(|cost| cost < least || (cost <= least && node < chosen))
    }
}

/// The value nearest to `from`, between `least` and `most`, that wins: on a grid, then to the unit.
fn nearest(from: i32, least: i32, most: i32, mut wins: impl FnMut(i32) -> bool) -> Option<i32> {
    let width = i64::from((most - least).max(0));
    let grid = (0..=i64::from(STEPS)).map(|step| least + (width * step / i64::from(STEPS)) as i32);
    let mut steps: Vec<i32> = grid.filter(|to| *to != from).collect();
    steps.sort_by_key(|to| to.abs_diff(from));
    let (mut inside, mut outside) = (steps.into_iter().find(|to| wins(*to))?, from);
    // Between the nearest step that wins and where it is now lies the edge.
    while inside.abs_diff(outside) > 1 {
        let middle = outside + (inside - outside) / 2;
        if wins(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    Some(inside)
}
