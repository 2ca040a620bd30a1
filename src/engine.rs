//! The simulation: applies decisions, never chooses.
//!
//! Events are taken one by one from one total order; after an event that freed or raised capacity the queue is
//! walked once. A simulation is a value: clone it, and both copies go on alike.

use std::sync::Arc;

use crate::cluster::{Cluster, NodeId};
use crate::error::Error;
use crate::probes::{Fact, Probe, Stage, Standard, Totals};
use crate::resources::{Amounts, Dim};
use crate::rng::{Purpose, Stream};
use crate::schedulers;
use crate::units::{Rate, SimTime, Span, Work};
use crate::workload::{Job, Source};

use belief::Belief;
use calendar::{Calendar, Class, Event};
use jobs::Jobs;
use queue::Queue;
use setup::{OutOfMemory, Setup};

pub use jobs::JobState;

mod belief;
mod calendar;
mod jobs;
mod pass;
pub mod port;
mod progress;
mod queue;
pub mod setup;

/// Time between samples of the queue.
const SAMPLE_EVERY: Span = Span::from_secs(60);

/// A run: the cluster, the jobs, the scheduler, and the moment it has reached.
#[derive(Clone, Debug)]
pub struct Simulation<P: Probe = Standard> {
    setup: Arc<Setup>,
    now: SimTime,
    cluster: Cluster,
    belief: Belief,
    jobs: Jobs,
    queue: Queue,
    calendar: Calendar,
    source: Source,
    arriving: Option<Job>,
    rebuild_streams: Vec<Stream>,
    scheduler: Box<dyn port::Scheduler>,
    totals: Totals,
    /// Nodes that this event changed.
    touched: Vec<NodeId>,
    is_touched: Vec<bool>,
    /// Jobs whose rate may have changed in this event.
    affected: Vec<u32>,
    scratch: progress::Scratch,
    candidates: pass::Candidates,
    events: u64,
    fault: Option<Error>,
    /// Whether attempts start from what earlier ones found out. Only the slow twin in tests does without.
    remembers: bool,
    probe: P,
}

impl Simulation<Standard> {
    /// A run that measures everything of [`crate::probes::Metrics`].
    ///
    /// # Errors
    /// [`Error::Setup`] if the setup contradicts itself.
    pub fn new(setup: Setup) -> Result<Self, Error> {
        let probe = Standard::new(&setup);
        Self::with_probe(setup, probe)
    }

    /// The measures of the window so far: from the end of the warm-up, or from the start if that is still to come.
    #[must_use]
    pub fn metrics(&self) -> crate::probes::Metrics {
        let waiting = self.queue.iter().map(|slot| &self.jobs[slot]);
        let pending: u128 = waiting
            .map(|state| u128::from(state.total().0.saturating_sub(state.done.0)) * state.gpu_milli() as u128)
            .sum();
        self.probe.metrics(pending)
    }

    /// A fingerprint of everything that happened so far: equal runs have equal digests, native and WASM.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.probe.digest()
    }
}

impl<P: Probe> Simulation<P> {
    /// A run that tells `probe` what happens.
    ///
    /// # Errors
    /// [`Error::Setup`] if the setup contradicts itself.
    pub fn with_probe(setup: Setup, probe: P) -> Result<Self, Error> {
        let entry = schedulers::find(&setup.scheduler.id)
            .ok_or_else(|| Error::Setup(format!("there is no scheduler {:?}", setup.scheduler.id)))?;
        let scheduler = (entry.card.build)(&schedulers::Tuning {
            score_dims: setup.scheduler.score_dims.and(setup.exists),
            knobs: setup.scheduler.knobs.clone(),
            seed: setup.seed,
        });
        Self::with_scheduler(setup, probe, scheduler)
    }

    /// A run with a scheduler that need not be in the roster; `setup.scheduler` says what it sees.
    ///
    /// # Errors
    /// [`Error::Setup`] if the setup contradicts itself.
    pub fn with_scheduler(setup: Setup, probe: P, scheduler: Box<dyn port::Scheduler>) -> Result<Self, Error> {
        setup.check().map_err(Error::Setup)?;
        let mut cluster = Cluster::new(&setup.node_types, &setup.nodes, setup.exists);
        let mut calendar = Calendar::default();
        let rebuild_streams = start_rebuilds(&setup, &mut cluster, &mut calendar);
        if setup.telemetry.interval > Span::ZERO {
            calendar.schedule(SimTime::ZERO + setup.telemetry.interval, Class::Telemetry, Event::Telemetry);
        }
        calendar.schedule(SimTime::ZERO + SAMPLE_EVERY, Class::Sample, Event::Sample);
        let mut source = setup.source.clone();
        let arriving = source.next();
        let mut simulation = Self {
            now: SimTime::ZERO,
            belief: Belief::new(&setup, &cluster),
            jobs: Jobs::default(),
            queue: Queue::new(setup.nodes.len()),
            calendar,
            source,
            arriving,
            rebuild_streams,
            scheduler,
            totals: Totals { capacity_milli: cluster.total_gpu_milli(), ..Totals::default() },
            touched: cluster.ids().collect(),
            is_touched: vec![true; cluster.len()],
            affected: Vec::new(),
            scratch: progress::Scratch::default(),
            candidates: pass::Candidates::new(cluster.len()),
            events: 0,
            fault: None,
            remembers: true,
            cluster,
            setup: Arc::new(setup),
            probe,
        };
        simulation.report_touched();
        Ok(simulation)
    }

    /// The slow twin: every attempt looks at every node. Decisions are the same; tests compare them.
    #[doc(hidden)]
    #[must_use]
    pub fn looking_everywhere(mut self) -> Self {
        self.remembers = false;
        self
    }

    /// The moment it has reached.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Where it ends.
    #[must_use]
    pub fn horizon(&self) -> SimTime {
        SimTime::ZERO + self.setup.horizon
    }

    /// Where measuring starts.
    #[must_use]
    pub fn warm_up(&self) -> SimTime {
        SimTime::ZERO + self.setup.warm_up
    }

    /// Whether it has reached its end, or a fault.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.now >= self.horizon() || self.fault.is_some()
    }

    /// What stopped it, if a scheduler broke a rule.
    #[must_use]
    pub fn fault(&self) -> Option<&Error> {
        self.fault.as_ref()
    }

    /// What it was made from.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The nodes.
    #[must_use]
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Events so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Sums over the cluster at this moment.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The listener.
    #[must_use]
    pub fn probe(&self) -> &P {
        &self.probe
    }

    /// Waiting jobs, in the order of the queue.
    pub fn waiting(&self) -> impl Iterator<Item = &JobState> {
        self.queue.iter().map(|slot| &self.jobs[slot])
    }

    /// The job of each task on a node; a gang with several tasks there comes several times.
    pub fn jobs_on(&self, node: NodeId) -> impl Iterator<Item = &JobState> {
        self.cluster.tenants(node).iter().map(|tenant| &self.jobs[tenant.slot])
    }

    /// Whether the node is kept for a job that has waited long.
    #[must_use]
    pub fn is_reserved(&self, node: NodeId) -> bool {
        self.queue.is_reserved(node)
    }

    /// What the scheduler believes is left on a node.
    #[must_use]
    pub fn believed(&self, node: NodeId) -> Amounts {
        self.belief.view(&self.setup).available(node)
    }

    /// Processes one event, if one is left before the end; returns its time.
    pub fn step(&mut self) -> Option<SimTime> {
        self.step_until(self.horizon())
    }

    /// Processes all events up to and including `time` (but not past the end); the clock then stands there.
    pub fn run_until(&mut self, time: SimTime) {
        let time = time.min(self.horizon());
        while self.step_until(time).is_some() {}
        if self.fault.is_none() && time > self.now {
            self.pass_time(time);
        }
    }

    /// Runs to the end.
    pub fn run_to_end(&mut self) {
        self.run_until(self.horizon());
    }

    fn step_until(&mut self, limit: SimTime) -> Option<SimTime> {
        if self.fault.is_some() {
            return None;
        }
        let arrival = self.arriving.as_ref().map_or(SimTime::NEVER, |job| job.arrival);
        let (scheduled, class) = self.calendar.peek().unwrap_or((SimTime::NEVER, Class::Arrival));
        if (scheduled, class) < (arrival, Class::Arrival) {
            if scheduled > limit {
                return None;
            }
            let (at, event) = self.calendar.pop()?;
            self.pass_time(at);
            self.apply(event);
        } else {
            if arrival > limit || arrival == SimTime::NEVER {
                return None;
            }
            let job = self.arriving.take()?;
            self.arriving = self.source.next();
            self.pass_time(arrival);
            self.arrive(job);
        }
        self.report_touched();
        Some(self.now)
    }

    fn pass_time(&mut self, to: SimTime) {
        if to > self.now {
            self.probe.elapse(self.now, to, &self.totals);
            self.now = to;
        }
    }

    fn tell(&mut self, fact: &Fact<'_>) {
        let stage = Stage { cluster: &self.cluster, totals: &self.totals };
        self.probe.observe(self.now, fact, &stage);
    }

    fn touch(&mut self, node: NodeId) {
        if !core::mem::replace(&mut self.is_touched[node.index()], true) {
            self.touched.push(node);
        }
    }

    fn report_touched(&mut self) {
        let touched = core::mem::take(&mut self.touched);
        for &node in &touched {
            self.is_touched[node.index()] = false;
            let reserved = self.queue.is_reserved(node);
            self.tell(&Fact::NodeChanged { node, reserved });
        }
        self.touched = touched;
        self.touched.clear();
    }

    fn apply(&mut self, event: Event) {
        match event {
            Event::Milestone { slot, version } => {
                if self.jobs.get(slot).is_none_or(|state| state.version != version) {
                    return;
                }
                self.events += 1;
                self.reach_milestone(slot);
            }
            Event::Rebuild(node) => {
                self.events += 1;
                self.toggle_rebuild(node);
            }
            Event::Telemetry => {
                self.events += 1;
                self.read_telemetry();
            }
            Event::Sample => {
                self.sample();
                self.calendar.schedule(self.now + SAMPLE_EVERY, Class::Sample, Event::Sample);
            }
        }
        if self.queue.has_new_gains() {
            self.walk_queue();
        }
    }

    fn arrive(&mut self, job: Job) {
        self.events += 1;
        self.tell(&Fact::Arrived { job: &job });
        let slot = self.jobs.insert(job);
        self.totals.waiting += 1;
        // In strict order nobody overtakes those who already wait.
        let may_try = !self.setup.queueing.is_strict() || self.queue.is_empty();
        if !(may_try && self.try_start(slot)) {
            self.queue.push_back(slot);
        }
    }

    fn reach_milestone(&mut self, slot: u32) {
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
    fn sync(&mut self, slot: u32) {
        let now = self.now;
        let state = &mut self.jobs[slot];
        state.done.0 += Work::done(state.rate, now.since(state.synced)).0;
        state.synced = now;
    }

    fn finish(&mut self, slot: u32) {
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
    fn release(&mut self, slot: u32) {
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
    fn grow(&mut self, slot: u32) {
        let Some(growth) = self.setup.classes[self.jobs[slot].job.class.index()].growth else { return };
        let state = &mut self.jobs[slot];
        state.steps_taken += 1;
        let wanted = jobs::grown(&state.job.demand, &growth, state.steps_taken);
        state.demand = wanted;
        let nodes = state.nodes.clone();
        let mut memory_share: f64 = 1.0;
        let mut changed: Vec<(NodeId, usize, Amounts)> = Vec::with_capacity(nodes.len());
        let mut is_out_of_memory = false;
        let mut seen: Vec<NodeId> = Vec::with_capacity(nodes.len());
        for &node in &nodes {
            if seen.contains(&node) {
                continue;
            }
            seen.push(node);
            let tenants = self.cluster.tenants(node);
            let mine: Vec<usize> = (0..tenants.len()).filter(|&t| tenants[t].slot == slot).collect();
            for tenant in mine {
                let held = self.cluster.tenants(node)[tenant].demand;
                let mut next = wanted;
                if self.cluster.resize(node, tenant, next).is_err() {
                    is_out_of_memory = true;
                    let free = self.cluster.capacity(node)[Dim::Hbm] - self.cluster.used(node)[Dim::Hbm];
                    next[Dim::Hbm] = (held[Dim::Hbm] + free.max(0)).min(wanted[Dim::Hbm]);
                    if self.setup.out_of_memory == OutOfMemory::Throttle {
                        memory_share = memory_share.min(f64::from(next[Dim::Hbm]) / f64::from(wanted[Dim::Hbm]));
                        // What is free is free: this cannot be refused.
                        let _ = self.cluster.resize(node, tenant, next);
                    }
                }
                changed.push((node, tenant, held));
            }
        }
        if is_out_of_memory && self.setup.out_of_memory == OutOfMemory::Requeue {
            self.evict(slot);
            return;
        }
        self.jobs[slot].memory_share = memory_share;
        for &node in &seen {
            self.after_books_changed(node);
        }
        if !self.affected.contains(&slot) {
            self.affected.push(slot);
        }
        self.settle_rates();
        self.schedule_milestone(slot);
    }

    /// Takes a job off its nodes, throws part of its work away and puts it at the front of the queue.
    fn evict(&mut self, slot: u32) {
        self.release(slot);
        let loss_ppm = u64::from(self.setup.eviction_loss_ppm);
        let version = self.jobs.new_version();
        let state = &mut self.jobs[slot];
        let lost = Work((u128::from(state.done.0) * u128::from(loss_ppm) / 1_000_000) as u64);
        state.done.0 -= lost.0;
        state.rate = Rate::FULL;
        state.memory_share = 1.0;
        state.version = version;
        state.memory = jobs::Memory::default();
        let gpu_milli = state.gpu_milli();
        let job = state.job.index;
        self.totals.waiting += 1;
        self.queue.push_front(slot);
        self.tell(&Fact::Evicted { job, lost: i128::from(lost.0) * i128::from(gpu_milli) });
    }

    fn schedule_milestone(&mut self, slot: u32) {
        let version = self.jobs.new_version();
        let state = &mut self.jobs[slot];
        state.version = version;
        let growth = self.setup.classes[state.job.class.index()].growth.as_ref();
        let (milestone, is_end) = state.milestone(growth);
        let at = state.synced + state.time_to(milestone);
        let class = if is_end { Class::Completion } else { Class::Growth };
        self.calendar.schedule(at, class, Event::Milestone { slot, version });
    }

    /// Recomputes what a node's tasks get, after its tasks or its capacity changed, and remembers whose rate may
    /// have changed.
    fn after_books_changed(&mut self, node: NodeId) {
        self.belief.refresh(&self.cluster, node);
        self.reshare(node);
        self.touch(node);
    }

    fn reshare(&mut self, node: NodeId) {
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
    fn settle_rates(&mut self) {
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

    fn rate_of(&self, slot: u32) -> Rate {
        let state = &self.jobs[slot];
        let tasks = state.nodes.iter().flat_map(|&node| self.cluster.tenants(node));
        let slowest = tasks.filter(|tenant| tenant.slot == slot).map(|tenant| tenant.share).fold(1.0, f64::min);
        Rate::from_share(slowest * state.memory_share)
    }

    fn toggle_rebuild(&mut self, node: NodeId) {
        let Some(rebuilds) = self.setup.rebuilds else { return };
        let stream = &mut self.rebuild_streams[node.index()];
        let starts = !self.cluster.is_rebuilding(node);
        let (storage, io_cpu, mean) = if starts {
            (draw_factor(&rebuilds, stream), rebuilds.ioc_ppm, rebuilds.rebuild_mean)
        } else {
            (1_000_000, 1_000_000, rebuilds.healthy_mean)
        };
        let length = draw_length(mean, stream);
        self.cluster.set_health(node, storage, io_cpu);
        self.calendar.schedule(self.now + length, Class::Rebuild, Event::Rebuild(node));
        if self.belief.is_perfect() && self.belief.learn_truth(&self.cluster, node) {
            self.queue.gain(node);
        }
        self.reshare(node);
        self.touch(node);
        self.settle_rates();
        self.tell(&Fact::Rebuild { node, starts });
    }

    fn read_telemetry(&mut self) {
        let queue = &mut self.queue;
        self.belief.take_readings(&self.cluster, |node| queue.gain(node));
        if let Some(first) = self.setup.classes.first() {
            let needed = first.typical[Dim::Sto];
            for node in self.cluster.ids() {
                let left = self.cluster.effective(node)[Dim::Sto] - self.cluster.used(node)[Dim::Sto];
                let truth = needed <= left;
                let believed = needed <= self.belief.available_storage(node);
                let stage = Stage { cluster: &self.cluster, totals: &self.totals };
                self.probe.observe(self.now, &Fact::Reading { node, truth, believed }, &stage);
            }
        }
        self.calendar.schedule(self.now + self.setup.telemetry.interval, Class::Telemetry, Event::Telemetry);
    }

    fn sample(&mut self) {
        let mut total = [0i64; crate::resources::DIMS];
        if !self.queue.is_empty() {
            for node in self.cluster.ids() {
                for (sum, amount) in total.iter_mut().zip(self.cluster.residual(node).0) {
                    *sum += i64::from(amount);
                }
            }
        }
        let fits = self
            .waiting()
            .filter(|state| {
                let tasks = i64::from(state.job.tasks);
                state.demand.0.iter().zip(total).all(|(&amount, left)| i64::from(amount) * tasks <= left)
            })
            .count();
        self.tell(&Fact::QueueSample { waiting: self.queue.len() as u64, fits_in_total: fits as u64 });
    }
}

/// Draws every node's first state from the stationary law and schedules its first change.
fn start_rebuilds(setup: &Setup, cluster: &mut Cluster, calendar: &mut Calendar) -> Vec<Stream> {
    let Some(rebuilds) = setup.rebuilds else { return Vec::new() };
    let (healthy, rebuild) = (rebuilds.healthy_mean.as_secs(), rebuilds.rebuild_mean.as_secs());
    let mut streams = Vec::with_capacity(cluster.len());
    for node in cluster.ids() {
        let mut stream = Stream::new(setup.seed, Purpose::Rebuilds, u64::from(node.0), 0);
        let is_rebuilding = stream.unit() * (healthy + rebuild) < rebuild;
        // Exponential times have no memory: what is left of the first state is as long as a whole one.
        let mean = if is_rebuilding { rebuilds.rebuild_mean } else { rebuilds.healthy_mean };
        if is_rebuilding {
            cluster.set_health(node, draw_factor(&rebuilds, &mut stream), rebuilds.ioc_ppm);
        }
        calendar.schedule(SimTime::ZERO + draw_length(mean, &mut stream), Class::Rebuild, Event::Rebuild(node));
        streams.push(stream);
    }
    streams
}

fn draw_factor(rebuilds: &setup::Rebuilds, stream: &mut Stream) -> u32 {
    let (low, high) = rebuilds.factor_ppm;
    // A node whose storage is at full speed does not count as rebuilding.
    (stream.uniform(f64::from(low), f64::from(high)) as u32).min(999_999)
}

fn draw_length(mean: Span, stream: &mut Stream) -> Span {
    Span((libm::round(stream.exponential(mean.as_ms() as f64)) as u64).max(1))
}
