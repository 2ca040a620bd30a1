//! Trying to start jobs: one when it arrives, those that wait whenever capacity came back.
//!
//! What a failed attempt found out is remembered, and only nodes that gained since are looked at again. That is
//! exact: a node on which a task did not fit can only hold it after it has gained.
//!
//! Where a sample of the feasible nodes is enough, a search goes round the cluster from where the last one stopped and
//! ends as soon as it has that many, as kube-scheduler does. An attempt that fails has looked at every node, so what it
//! found out is as good as without sampling.

use crate::cluster::{DeviceMask, NodeId};
use crate::engine::belief::Belief;
use crate::engine::facts::{Fact, Probe};
use crate::engine::port::{Ask, Open, Search};
use crate::engine::setup::Ties;
use crate::engine::{JobState, Simulation};
use crate::error::Error;
use crate::resources::{Amounts, DimMask};
use crate::workload::TypeMask;

/// Room for lists of candidate nodes, kept between attempts.
#[derive(Clone, Debug)]
pub(crate) struct Candidates {
    feasible: Vec<NodeId>,
    looked_at: Vec<NodeId>,
    is_listed: Vec<bool>,
    is_open: Vec<bool>,
    chosen: Vec<NodeId>,
    /// The devices of each task, beside `chosen`.
    devices: Vec<DeviceMask>,
    equals: Vec<NodeId>,
}

impl Candidates {
    pub fn new(nodes: usize) -> Self {
        Self {
            feasible: Vec::new(),
            looked_at: Vec::new(),
            is_listed: vec![false; nodes],
            is_open: Vec::new(),
            chosen: Vec::new(),
            devices: Vec::new(),
            equals: Vec::new(),
        }
    }

    /// Makes the open nodes of these types the feasible ones, where no other rule keeps a job off a node; says how many
    /// there are. Without a branch in the loop: which nodes are open is hard to guess.
    fn take_open(&mut self, kinds: &[u8], types: TypeMask) -> u32 {
        self.feasible.resize(kinds.len(), NodeId(0));
        let mut count = 0;
        let feasible = self.feasible.as_mut_slice();
        for (node, (kind, is_open)) in kinds.iter().zip(&self.is_open).enumerate() {
            feasible[count] = NodeId(node as u32);
            count += usize::from(*is_open & types.allows(usize::from(*kind)));
        }
        self.feasible.truncate(count);
        count as u32
    }

    /// Lists `nodes` once each, in rising order.
    fn list(&mut self, nodes: impl Iterator<Item = NodeId>) {
        self.looked_at.clear();
        for node in nodes {
            if !core::mem::replace(&mut self.is_listed[node.index()], true) {
                self.looked_at.push(node);
            }
        }
        self.looked_at.sort_unstable();
        for node in &self.looked_at {
            self.is_listed[node.index()] = false;
        }
    }
}

impl<P: Probe> Simulation<P> {
    /// Walks the queue from its head and starts whatever fits, within the window.
    pub(super) fn walk_queue(&mut self) {
        self.queue.mark_walked();
        let window = self.setup.queueing.window as usize;
        let is_strict = self.setup.queueing.is_strict();
        let (mut position, mut tried) = (0, 0);
        while self.fault.is_none() && (is_strict || tried < window) {
            let Some(slot) = self.queue.get(position) else { break };
            tried += 1;
            if self.try_start(slot) {
                self.queue.remove(position);
            } else if is_strict {
                break;
            } else {
                self.reserve_if_aged(slot);
                position += 1;
            }
        }
    }

    /// Starts a job if the scheduler finds nodes for all its tasks.
    pub(super) fn try_start(&mut self, slot: u32) -> bool {
        self.try_as_told(slot).unwrap_or_else(|| self.attempt(slot))
    }

    /// Asks the scheduler, and starts the job where it says.
    pub(super) fn attempt(&mut self, slot: u32) -> bool {
        let ask = self.ask_of(slot);
        let dims = self.fit_dims();
        if let Some(is_started) = self.start_by_search(slot, &ask, dims) {
            return is_started;
        }
        if !self.find_feasible(slot, &ask, dims) {
            return false;
        }
        let mut chosen = core::mem::take(&mut self.candidates.chosen);
        let mut devices = core::mem::take(&mut self.candidates.devices);
        chosen.clear();
        devices.clear();
        let found = self.choose_nodes(slot, &ask, dims, &mut chosen, &mut devices);
        // Whatever was booked tentatively is undone; the books decide.
        for &node in &chosen {
            self.belief.refresh(&self.cluster, node);
        }
        if found {
            self.start(slot, &chosen, &devices);
        }
        self.candidates.chosen = chosen;
        self.candidates.devices = devices;
        found
    }

    /// Hard dimensions are always looked at: the books would refuse.
    pub(super) fn fit_dims(&self) -> DimMask {
        let chosen = self.setup.scheduler.fit_dims;
        DimMask::FIVE.or(chosen).and(self.setup.exists)
    }

    /// What the scheduler is told that a task needs: its demand now and, with foresight, part of its growth.
    pub(super) fn ask_of(&self, slot: u32) -> Ask {
        let state = &self.jobs[slot];
        Ask {
            class: state.job.class,
            demand: self.planned_demand(state),
            gpus: state.job.gpus,
            tasks: state.job.tasks,
            types: state.job.types,
        }
    }

    fn planned_demand(&self, state: &JobState) -> Amounts {
        let foresight = self.setup.scheduler.foresight_ppm;
        let growth = self.setup.classes[state.job.class.index()].growth;
        let (Some(growth), true) = (growth, foresight > 0) else { return state.demand };
        let full = growth.demand(&state.job.demand, growth.steps);
        state.demand.map(|dim, now| {
            let more = i64::from(full[dim] - now).max(0) * i64::from(foresight) / 1_000_000;
            now + more as i32
        })
    }

    /// Has the scheduler look for the node of a single task itself, where every node would have to be looked at. `None`
    /// where that is not so, or where it wants a list.
    fn start_by_search(&mut self, slot: u32, ask: &Ask, dims: DimMask) -> Option<bool> {
        let must_look_everywhere = self.queue.gains_since(self.jobs[slot].memory.seen).is_none();
        let choice = &self.setup.scheduler;
        let may_search = ask.tasks == 1 && self.remembers && choice.ties == Ties::Fixed && choice.sample == 0;
        if !may_search || !must_look_everywhere {
            return None;
        }
        let view = self.belief.view(&self.setup);
        let open = Open { belief: &self.belief, setup: &self.setup, queue: &self.queue, slot, ask, dims };
        let node = match self.scheduler.search(&view, ask, &open) {
            Search::NeedsList => return None,
            Search::Nothing => {
                self.remember_failure(slot, &[]);
                return Some(false);
            }
            Search::Found(node) => node,
        };
        let taken = if open.has(node) { self.devices_on(node, ask) } else { None };
        let Some(taken) = taken else {
            self.break_rule(slot, node);
            return Some(false);
        };
        self.start(slot, &[node], &[taken]);
        Some(true)
    }

    /// Notes that a job's attempt failed and which nodes, too few, had room for a task.
    fn remember_failure(&mut self, slot: u32, open: &[NodeId]) {
        let seen = Some(self.queue.end_of_log());
        let memory = &mut self.jobs[slot].memory;
        memory.seen = seen;
        memory.open.clear();
        memory.open.extend_from_slice(open);
    }

    /// The devices that a task gets on `node`: those its scheduler wants, or the usual ones.
    fn devices_on(&mut self, node: NodeId, ask: &Ask) -> Option<DeviceMask> {
        let wanted = if self.belief.has_devices() && ask.is_shared() {
            self.scheduler.device(&self.belief.view(&self.setup), ask, node)
        } else {
            None
        };
        self.belief.devices_for(node, ask, wanted)
    }

    fn break_rule(&mut self, slot: u32, node: NodeId) {
        self.fault = Some(Error::BrokenRule {
            scheduler: self.setup.scheduler.id.clone(),
            node: node.0,
            job: self.jobs[slot].job.index,
        });
    }

    /// Fills `candidates.feasible`. If there is too little room for all tasks, remembers what was found and says no.
    fn find_feasible(&mut self, slot: u32, ask: &Ask, dims: DimMask) -> bool {
        let mut candidates = core::mem::replace(&mut self.candidates, Candidates::new(0));
        let memory = &self.jobs[slot].memory;
        let is_partial = match self.queue.gains_since(memory.seen.filter(|_| self.remembers)) {
            Some(gains) => {
                candidates.list(memory.open.iter().chain(gains).copied());
                true
            }
            None => false,
        };
        candidates.feasible.clear();
        let mut slots: u32 = 0;
        if self.setup.scheduler.sample > 0 {
            slots = self.take_sample(slot, ask, dims, is_partial, &mut candidates);
        } else if is_partial {
            for &node in &candidates.looked_at {
                if self.belief.fits(node, ask, dims) {
                    slots += self.take_if_allowed(node, slot, ask, dims, &mut candidates.feasible);
                }
            }
        } else {
            self.belief.fits_where(ask, dims, &mut candidates.is_open);
            if ask.tasks == 1 && self.queue.kept() == 0 && !self.belief.cordons() {
                slots = candidates.take_open(&self.setup.nodes, ask.types);
            } else {
                for (node, is_open) in self.cluster.ids().zip(&candidates.is_open) {
                    if *is_open {
                        slots += self.take_if_allowed(node, slot, ask, dims, &mut candidates.feasible);
                    }
                }
            }
        }
        let is_enough = slots >= u32::from(ask.tasks);
        if !is_enough {
            self.remember_failure(slot, &candidates.feasible);
        }
        self.candidates = candidates;
        is_enough
    }

    /// Makes the first feasible nodes of a round through the cluster the feasible ones, as many as the sample and the
    /// tasks need; says for how many tasks they have room. The round starts where the last one stopped; with
    /// `is_partial` no other nodes are feasible than those looked at.
    fn take_sample(
        &mut self,
        slot: u32,
        ask: &Ask,
        dims: DimMask,
        is_partial: bool,
        candidates: &mut Candidates,
    ) -> u32 {
        let Candidates { looked_at, feasible, .. } = candidates;
        let (start, count) = (self.look_from, self.cluster.len() as u32);
        let (slots, last) = if is_partial {
            let (before, from) = looked_at.split_at(looked_at.partition_point(|node| *node < start));
            self.take_until_enough(from.iter().chain(before).copied(), slot, ask, dims, feasible)
        } else {
            let round = (start.0..count).chain(0..start.0).map(NodeId);
            self.take_until_enough(round, slot, ask, dims, feasible)
        };
        // A whole round ends where it started.
        if let Some(NodeId(last)) = last {
            self.look_from = NodeId((last + 1) % count);
        }
        // Those before the start were found last.
        let found_first = feasible.partition_point(|node| *node >= start);
        feasible.rotate_left(found_first);
        slots
    }

    /// Adds feasible nodes of `round` until there are enough of them; says for how many tasks they have room, and which
    /// was the last if there were enough.
    fn take_until_enough(
        &self,
        round: impl Iterator<Item = NodeId>,
        slot: u32,
        ask: &Ask,
        dims: DimMask,
        feasible: &mut Vec<NodeId>,
    ) -> (u32, Option<NodeId>) {
        let (wanted, tasks) = (self.setup.scheduler.sample as usize, u32::from(ask.tasks));
        let mut slots = 0;
        for node in round {
            if self.belief.fits(node, ask, dims) {
                slots += self.take_if_allowed(node, slot, ask, dims, feasible);
                if feasible.len() >= wanted && slots >= tasks {
                    return (slots, Some(node));
                }
            }
        }
        (slots, None)
    }

    /// Adds a node with room to the feasible ones unless a rule keeps the job off it; says for how many tasks.
    fn take_if_allowed(&self, node: NodeId, slot: u32, ask: &Ask, dims: DimMask, feasible: &mut Vec<NodeId>) -> u32 {
        let may_use = !self.queue.is_kept_from(node, slot)
            && !self.belief.is_cordoned(node)
            && Belief::allows(&self.setup, node, ask);
        if !may_use {
            return 0;
        }
        feasible.push(node);
        if ask.tasks == 1 { 1 } else { u32::from(self.belief.slots(node, ask, dims, ask.tasks)) }
    }

    /// Asks the scheduler for a node for each task, each given the ones before.
    fn choose_nodes(
        &mut self,
        slot: u32,
        ask: &Ask,
        dims: DimMask,
        chosen: &mut Vec<NodeId>,
        devices: &mut Vec<DeviceMask>,
    ) -> bool {
        for task in 0..ask.tasks {
            let view = self.belief.view(&self.setup);
            let feasible = &self.candidates.feasible;
            let node = match self.setup.scheduler.ties {
                Ties::Fixed => self.scheduler.choose(&view, ask, feasible),
                Ties::Drawn => {
                    let equals = &mut self.candidates.equals;
                    self.scheduler.equals(&view, ask, feasible, equals);
                    // Drawn also where there is no choice: what was decided before changes no later draw.
                    let draw = self.ties.below(equals.len().max(1));
                    equals.get(draw).copied()
                }
            };
            let Some(node) = node else { return false };
            let taken = self.devices_on(node, ask);
            let (Ok(position), Some(taken)) = (self.candidates.feasible.binary_search(&node), taken) else {
                self.break_rule(slot, node);
                return false;
            };
            chosen.push(node);
            devices.push(taken);
            if task + 1 < ask.tasks {
                self.belief.reserve_tentatively(node, ask, taken);
                if !self.belief.fits(node, ask, dims) {
                    self.candidates.feasible.remove(position);
                }
            }
        }
        true
    }

    /// Books a job's tasks and lets it run.
    pub(super) fn start(&mut self, slot: u32, nodes: &[NodeId], devices: &[DeviceMask]) {
        let demand = self.jobs[slot].demand;
        for (&node, &devices) in nodes.iter().zip(devices) {
            if self.cluster.place(node, slot, demand, devices).is_err() {
                // Nothing of the roster can bring this about; whatever could is stopped before it does harm.
                self.fault = Some(Error::Refused { node: node.0, job: self.jobs[slot].job.index });
                return;
            }
        }
        let reserved = core::mem::take(&mut self.jobs[slot].reserved);
        for node in reserved {
            self.queue.give_back(node);
            self.touch(node);
        }
        let (now, measured_from) = (self.now, self.warm_up());
        let state = &mut self.jobs[slot];
        state.advance(now, measured_from);
        state.nodes.extend_from_slice(nodes);
        let is_first = state.first_start.is_none();
        state.first_start.get_or_insert(now);
        self.totals.waiting -= 1;
        self.totals.running += 1;
        self.totals.allocated_milli += state.gpu_milli();
        self.totals.productive += state.gpu_milli() * i64::from(state.rate.ppm());
        for &node in nodes {
            self.after_books_changed(node);
        }
        // Its own rate is settled below even where its neighbours' is not affected.
        self.settle_rates();
        self.schedule_milestone(slot);
        let oversubscribed = nodes.iter().filter(|node| self.cluster.is_oversubscribed(**node)).count();
        let job = self.jobs[slot].job.clone();
        self.tell(&Fact::Started { job: &job, nodes, devices, is_first, oversubscribed });
    }

    /// Keeps nodes for a job that has waited too long: those with most free GPUs that could hold a task when empty.
    fn reserve_if_aged(&mut self, slot: u32) {
        let queueing = self.setup.queueing;
        let Some(limit) = queueing.reserve_after else { return };
        let state = &self.jobs[slot];
        if !state.reserved.is_empty() || self.now.since(state.job.arrival) <= limit {
            return;
        }
        let share = self.cluster.len() as u64 * u64::from(queueing.reserve_ppm) / 1_000_000;
        let most = share.max(u64::from(queueing.reserve_min)) as usize;
        let wanted = usize::from(state.job.tasks);
        if self.queue.kept() + wanted > most {
            return;
        }
        let (ask, dims) = (self.ask_of(slot), self.fit_dims());
        let mut nodes: Vec<NodeId> = self
            .cluster
            .ids()
            .filter(|&node| {
                !self.queue.is_reserved(node)
                    && !self.belief.is_cordoned(node)
                    && Belief::allows(&self.setup, node, &ask)
                    && self.belief.could_hold(&self.cluster, node, &ask, dims)
            })
            .collect();
        if nodes.len() < wanted {
            return;
        }
        nodes.sort_by_key(|&node| (core::cmp::Reverse(self.cluster.free_gpu_milli(node)), node));
        nodes.truncate(wanted);
        for &node in &nodes {
            self.queue.keep(node, slot);
            self.touch(node);
        }
        self.jobs[slot].reserved = nodes;
    }
}
