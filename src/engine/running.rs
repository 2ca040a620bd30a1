//! Jobs that run: milestones, growth, ends and evictions, and the rate of each from what its nodes can give.

use crate::cluster::NodeId;
use crate::cluster::books::Tenant;
use crate::engine::calendar::{Class, Event};
use crate::engine::facts::{Fact, Probe};
use crate::engine::setup::OutOfMemory;
use crate::engine::{Simulation, jobs, progress};
use crate::resources::Dim;
use crate::units::{Rate, Work};

impl<P: Probe> Simulation<P> {
    pub(super) fn reach_milestone(&mut self, slot: u32) {
        let growth = self.setup.classes[self.jobs[slot].job.class.index()].growth;
        let (milestone, is_end) = self.jobs[slot].milestone(growth.as_ref());
        self.sync(slot);
        if self.jobs[slot].done < milestone {
            // Cannot happen: the milestone was scheduled for the moment it is reached.
            debug_assert!(false, "a milestone came early");
            self.schedule_milestone(slot);
        } else if is_end {
            self.finish(slot);
        } else {
            self.grow(slot);
        }
    }

    /// Brings a job's work up to now. Always before its rate changes.
    pub(super) fn sync(&mut self, slot: u32) {
        let (now, measured_from) = (self.now, self.warm_up());
        self.jobs[slot].advance(now, measured_from);
    }

    pub(super) fn finish(&mut self, slot: u32) {
        let state = &self.jobs[slot];
        // The last millisecond may have been more than enough; what was too much is not productive.
        let overshoot = state.done.0 - state.total().0;
        let gpu_milli = state.gpu_milli();
        self.release(slot);
        if let Some(state) = self.jobs.remove(slot) {
            self.tell(&Fact::Finished { state: &state, overshoot: i128::from(overshoot) * i128::from(gpu_milli) });
        }
    }

    /// Takes a running job off its nodes.
    pub(super) fn release(&mut self, slot: u32) {
        let nodes = core::mem::take(&mut self.jobs[slot].nodes);
        let state = &self.jobs[slot];
        self.totals.allocated_milli -= state.gpu_milli();
        self.totals.productive -= state.gpu_milli() * i64::from(state.rate.ppm());
        self.totals.running -= 1;
        let mut previous = None;
        for &node in &nodes {
            // A gang's tasks on one node leave together.
            if previous != Some(node) && self.cluster.tenants(node).iter().any(|tenant| tenant.slot == slot) {
                self.cluster.vacate(node, slot);
                self.after_books_changed(node);
                self.queue.gain(node);
            }
            previous = Some(node);
        }
        self.settle_rates();
    }

    /// A breathing job reaches its next step.
    pub(super) fn grow(&mut self, slot: u32) {
        let Some(growth) = self.setup.classes[self.jobs[slot].job.class.index()].growth else { return };
        let state = &mut self.jobs[slot];
        state.steps_taken += 1;
        let wanted = growth.demand(&state.job.demand, state.steps_taken);
        state.demand = wanted;
        let mut nodes = state.nodes.clone();
        nodes.sort_unstable();
        nodes.dedup();
        let throttles = self.setup.out_of_memory == OutOfMemory::Throttle;
        let mut memory_share: f64 = 1.0;
        let mut is_out_of_memory = false;
        for &node in &nodes {
            for tenant in 0..self.cluster.tenants(node).len() {
                let Tenant { slot: owner, demand: held, .. } = self.cluster.tenants(node)[tenant];
                if owner != slot || self.cluster.resize(node, tenant, wanted).is_ok() {
                    continue;
                }
                is_out_of_memory = true;
                if throttles {
                    let free = self.cluster.capacity(node)[Dim::Hbm] - self.cluster.used(node)[Dim::Hbm];
                    let mut possible = wanted;
                    possible[Dim::Hbm] = (held[Dim::Hbm] + free.max(0)).min(wanted[Dim::Hbm]);
                    memory_share = memory_share.min(f64::from(possible[Dim::Hbm]) / f64::from(wanted[Dim::Hbm]));
                    // What is free is free: this cannot be refused.
                    let _ = self.cluster.resize(node, tenant, possible);
                }
            }
        }
        if is_out_of_memory && !throttles {
            self.evict(slot);
            return;
        }
        self.jobs[slot].memory_share = memory_share;
        for &node in &nodes {
            self.after_books_changed(node);
        }
        if !self.affected.contains(&slot) {
            self.affected.push(slot);
        }
        self.settle_rates();
        self.schedule_milestone(slot);
    }

    /// Takes a job off its nodes, throws part of its work away and puts it at the front of the queue.
    pub(super) fn evict(&mut self, slot: u32) {
        self.release(slot);
        let loss_ppm = u128::from(self.setup.eviction_loss_ppm);
        let version = self.jobs.new_version();
        let state = &mut self.jobs[slot];
        let lost = Work((u128::from(state.done.0) * loss_ppm / 1_000_000) as u64);
        // What is lost is the newest work first; only what was done in the measured window is measured as redone.
        let measured = lost.min(Work(state.done.0 - state.unmeasured.0));
        state.done.0 -= lost.0;
        state.unmeasured = state.unmeasured.min(state.done);
        state.rate = Rate::FULL;
        state.memory_share = 1.0;
        state.version = version;
        state.memory = jobs::Memory::default();
        let gpu_milli = state.gpu_milli();
        let job = state.job.index;
        self.totals.waiting += 1;
        self.queue.push_front(slot);
        let in_units = |work: Work| i128::from(work.0) * i128::from(gpu_milli);
        self.tell(&Fact::Evicted { job, lost: in_units(lost), measured: in_units(measured) });
    }

    pub(super) fn schedule_milestone(&mut self, slot: u32) {
        let version = self.jobs.new_version();
        let state = &mut self.jobs[slot];
        state.version = version;
        let growth = self.setup.classes[state.job.class.index()].growth.as_ref();
        let (milestone, is_end) = state.milestone(growth);
        let at = state.synced + state.time_to(milestone);
        let class = if is_end { Class::Completion } else { Class::Growth };
        self.schedule(at, class, Event::Milestone { slot, version });
    }

    /// Recomputes what a node's tasks get, after its tasks or its capacity changed, and remembers whose rate may
    /// have changed.
    pub(super) fn after_books_changed(&mut self, node: NodeId) {
        self.belief.refresh(&self.cluster, node);
        self.reshare(node);
        self.touch(node);
    }

    pub(super) fn reshare(&mut self, node: NodeId) {
        let effective = self.cluster.effective(node);
        let soft = [(Dim::Sto, effective[Dim::Sto]), (Dim::Ioc, effective[Dim::Ioc])];
        let tenants = self.cluster.tenants_mut(node);
        self.scratch.before.clear();
        self.scratch.before.extend(tenants.iter().map(|tenant| tenant.share));
        progress::share(tenants, soft, self.setup.sharing, &mut self.scratch);
        for (tenant, before) in self.cluster.tenants(node).iter().zip(&self.scratch.before) {
            #[expect(clippy::float_cmp, reason = "any change at all is a change")]
            if tenant.share != *before && !self.affected.contains(&tenant.slot) {
                self.affected.push(tenant.slot);
            }
        }
    }

    /// Gives every affected job the rate that its slowest task allows.
    pub(super) fn settle_rates(&mut self) {
        let mut affected = core::mem::take(&mut self.affected);
        for &slot in &affected {
            if self.jobs.get(slot).is_none_or(|state| !state.is_running()) {
                continue;
            }
            let rate = self.rate_of(slot);
            if rate == self.jobs[slot].rate {
                continue;
            }
            self.sync(slot);
            let state = &mut self.jobs[slot];
            let gain = i64::from(rate.ppm()) - i64::from(state.rate.ppm());
            self.totals.productive += state.gpu_milli() * gain;
            state.rate = rate;
            self.schedule_milestone(slot);
        }
        affected.clear();
        self.affected = affected;
    }

    pub(super) fn rate_of(&self, slot: u32) -> Rate {
        let state = &self.jobs[slot];
        let tasks = state.nodes.iter().flat_map(|&node| self.cluster.tenants(node));
        let slowest = tasks.filter(|tenant| tenant.slot == slot).map(|tenant| tenant.share).fold(1.0, f64::min);
        Rate::from_share(slowest * state.memory_share)
    }
}
