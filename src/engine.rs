//! The simulation: applies decisions, never chooses.
//!
//! Events are taken one by one from one total order; after an event that freed or raised capacity the queue is
//! walked once. A simulation is a value: clone it, and both copies go on alike.

use std::sync::Arc;

use crate::cluster::{Cluster, NodeId};
use crate::error::Error;
use crate::resources::Amounts;
use crate::rng::{Purpose, Stream};
use crate::units::{SimTime, Span};
use crate::workload::{Job, Source};

use belief::Belief;
use calendar::{Calendar, Class, Event};
use facts::{Fact, Probe, Stage, Totals};
use jobs::Jobs;
use queue::Queue;
use setup::Setup;

pub use jobs::JobState;

mod belief;
mod calendar;
pub mod facts;
mod health;
pub mod inquiry;
mod jobs;
mod log;
mod pass;
pub mod port;
mod progress;
mod queue;
mod running;
pub mod setup;

/// Time between samples of the queue.
const SAMPLE_EVERY: Span = Span::from_secs(60);

/// How much of it there is of what could grow with a run. Neither grows with the number of jobs that came and went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Slots of jobs: as many as ever ran and waited at once.
    pub slots: usize,
    /// Events entered in the calendar: at most about twice those that will happen, one a job that runs and one a node.
    pub events: usize,
}

/// A run: the cluster, the jobs, the scheduler, and the moment it has reached.
#[derive(Clone, Debug)]
pub struct Simulation<P: Probe> {
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
    /// Draws among equals, if ties are broken at random.
    ties: Stream,
    /// Where the next search for a sample of the feasible nodes starts.
    look_from: NodeId,
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
    /// The job that somebody asks about.
    inquiry: Option<Box<inquiry::Inquiry>>,
    /// Where a job is told to go.
    redirect: Option<inquiry::Redirect>,
    /// Whether attempts start from what earlier ones found out. Only the slow twin in tests does without.
    remembers: bool,
    probe: P,
}

impl<P: Probe> Simulation<P> {
    /// A run with a scheduler that need not be in the roster; `setup.scheduler` says what it sees.
    ///
    /// # Errors
    /// [`Error::Setup`] if the setup contradicts itself.
    pub fn with_scheduler(setup: Setup, probe: P, scheduler: Box<dyn port::Scheduler>) -> Result<Self, Error> {
        setup.check().map_err(Error::Setup)?;
        let mut cluster = Cluster::new(&setup.node_types, &setup.nodes, setup.exists, setup.gpus);
        let mut calendar = Calendar::default();
        let rebuild_streams = health::start(&setup, &mut cluster, &mut calendar);
        if setup.telemetry.interval > Span::ZERO {
            calendar.schedule(SimTime::ZERO + setup.telemetry.interval, Class::Telemetry, Event::Telemetry);
        }
        calendar.schedule(SimTime::ZERO + SAMPLE_EVERY, Class::Sample, Event::Sample);
        let source = setup.source.clone();
        let mut simulation = Self {
            now: SimTime::ZERO,
            belief: Belief::new(&setup, &cluster),
            jobs: Jobs::default(),
            queue: Queue::new(setup.nodes.len()),
            calendar,
            source,
            arriving: None,
            rebuild_streams,
            scheduler,
            ties: Stream::new(setup.seed, Purpose::Ties, 0, 0),
            look_from: NodeId(0),
            totals: Totals { capacity_milli: cluster.total_gpu_milli(), ..Totals::default() },
            touched: cluster.ids().collect(),
            is_touched: vec![true; cluster.len()],
            affected: Vec::new(),
            scratch: progress::Scratch::default(),
            candidates: pass::Candidates::new(cluster.len()),
            events: 0,
            fault: None,
            inquiry: None,
            redirect: None,
            remembers: true,
            cluster,
            setup: Arc::new(setup),
            probe,
        };
        simulation.await_arrival();
        simulation.report_touched();
        Ok(simulation)
    }

    /// The slow twin: every attempt looks at every node, and nothing that was computed is kept. Decisions are the same;
    /// tests compare them.
    #[doc(hidden)]
    #[must_use]
    pub fn looking_everywhere(mut self) -> Self {
        self.remembers = false;
        self.scheduler.forget();
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

    /// What it holds in memory of jobs and of the future.
    #[must_use]
    pub fn held(&self) -> Held {
        Held { slots: self.jobs.slots(), events: self.calendar.len() }
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

    /// Work that the waiting jobs still have to do, in GPU thousandths × millionths of full speed × ms.
    #[must_use]
    pub fn pending_work(&self) -> u128 {
        let left = |state: &JobState| state.total().0.saturating_sub(state.done.0);
        self.waiting().map(|state| u128::from(left(state)) * state.gpu_milli() as u128).sum()
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

    /// Processes one event, if one is left up to and including `limit`; says whether there was one.
    pub fn step_towards(&mut self, limit: SimTime) -> bool {
        self.step_until(limit.min(self.horizon())).is_some()
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
            self.await_arrival();
            self.pass_time(arrival);
            self.arrive(job);
        }
        self.report_touched();
        Some(self.now)
    }

    /// Gets the next job from the source. A source that breaks off ends the run: what came until then is not all.
    fn await_arrival(&mut self) {
        self.arriving = self.source.next();
        if self.arriving.is_none() {
            self.fault = self.source.failure().map(|why| Error::Source(why.to_owned()));
        }
    }

    /// Enters an event in the calendar, unless it lies beyond the end.
    fn schedule(&mut self, at: SimTime, class: Class, event: Event) {
        if at > self.horizon() {
            return;
        }
        self.calendar.schedule(at, class, event);
        // A job whose rate changes leaves a void milestone behind. A long one beside many short ones leaves so many that
        // they would fill the memory long before their time comes.
        let expected = self.totals.running as usize + self.cluster.len();
        if self.calendar.len() > 2 * expected + 256 {
            let jobs = &self.jobs;
            self.calendar.retain(|event| match event {
                Event::Milestone { slot, version } => jobs.get(*slot).is_some_and(|state| state.version == *version),
                _ => true,
            });
        }
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
                self.schedule(self.now + SAMPLE_EVERY, Class::Sample, Event::Sample);
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
        if may_try && self.try_start(slot) {
            return;
        }
        if self.setup.queueing.rejects {
            self.totals.waiting -= 1;
            if let Some(state) = self.jobs.remove(slot) {
                self.tell(&Fact::Rejected { job: &state.job });
            }
        } else {
            self.queue.push_back(slot);
        }
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
