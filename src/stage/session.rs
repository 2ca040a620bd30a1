//! A session: one run, simulated ahead and written down frame by frame. This is all that a worker does.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::engine::Simulation;
use crate::engine::setup::Setup;
use crate::error::Error;
use crate::probes::{Metrics, Standard};
use crate::resources::Dim;
use crate::scenario::{Issue, Memory, Scenario};
use crate::stage::reel::{self, NodeTypeInfo, ReelHeader, Stat};
use crate::stage::running::{Running, Sorted};
use crate::stage::why::LookBack;
use crate::stage::{look, replay};
use crate::units::Span;
use crate::workload::openb::OnFault;

/// Most bytes that the page may take with all its lanes: what phones and small laptops leave a tab.
pub const TAB_BYTES: u64 = 512 << 20;

/// What of it is the page's own, without what belongs to a lane.
pub const PAGE_BYTES: u64 = 64_000_000;

/// Why a run of that size cannot be one of `lanes` in a browser: each has an equal part of [`TAB_BYTES`], for what its
/// worker takes and for the frames that the page holds.
pub(crate) fn too_much(memory: Memory, lanes: u32, (classes, hours): (usize, f64), own_nodes: bool) -> Option<Issue> {
    let part = (TAB_BYTES - PAGE_BYTES) / u64::from(lanes.max(1));
    let horizon_ms = Span::from_hours_f64(hours).as_ms();
    memory.too_much(lanes, own_nodes, |nodes| part as f64 - reel::most_bytes(nodes, classes, horizon_ms) as f64)
}

/// What is to be run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRequest {
    /// Id of one of the scenarios that come with the program. It has no say in a run on a trace: that starts from
    /// [`crate::scenario::TRACE`], as the command's does.
    pub scenario: String,
    /// Settings that differ from what the run starts from: dotted path and value, as after `--set`.
    pub set: Vec<(String, String)>,
    /// Roster id of the scheduler.
    pub scheduler: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// A recorded cluster and its jobs, in place of the scenario's own.
    pub trace: Option<TraceFiles>,
    /// How many such runs the page shows, this one among them: they share its memory.
    pub lanes: u32,
}

impl RunRequest {
    /// Whether both ask for the same run, whatever is beside it.
    #[must_use]
    pub fn is_same_run(&self, other: &Self) -> bool {
        let of = |request: &Self| (request.seed, request.scheduler.clone(), request.scenario.clone());
        of(self) == of(other) && self.set == other.set && self.trace == other.trace
    }
}

/// The two files of a recorded trace, and how to read them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceFiles {
    /// Name of the node list.
    pub nodes_name: String,
    /// Its contents, shared by all who hold the trace.
    pub nodes_csv: Arc<str>,
    /// Name of the pod list.
    pub pods_name: String,
    /// Its contents.
    pub pods_csv: Arc<str>,
    /// What to do with faulty rows.
    pub on_fault: OnFault,
    /// Whether dimensions that the trace lacks are filled from stated assumptions; if not, they do not exist.
    pub assume: bool,
}

/// Some frames, and at the end the measures of the run.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Whole frames, as [`reel::Reel::push`] takes them.
    pub words: Vec<u32>,
    /// The measures of the whole run; there once all frames are.
    pub done: Option<Metrics>,
}

/// A run that is being simulated ahead.
#[derive(Clone, Debug)]
pub struct Session {
    simulation: Simulation<(Standard, Running)>,
    header: ReelHeader,
    waits: Sorted,
    look: look::Look,
    next: u32,
    is_over: bool,
}

impl Session {
    /// Prepares a run.
    ///
    /// # Errors
    /// Everything that is wrong with the request, at once.
    pub fn start(request: &RunRequest) -> Result<Self, Vec<Issue>> {
        let setup = match &request.trace {
            None => Scenario::preset(&request.scenario, &request.set)
                .and_then(|scenario| {
                    let setup = scenario.setup(&request.scheduler, request.seed)?;
                    let size = (scenario.classes.len(), scenario.hours);
                    let too_much = too_much(scenario.memory(), request.lanes, size, true);
                    too_much.map_or(Ok(setup), |issue| Err(issue.into()))
                })
                .map_err(|issues| issues.0)?,
            Some(files) => replay::setup(request, files)?,
        };
        Self::of(setup)
    }

    /// Prepares the run of a setup.
    ///
    /// # Errors
    /// What the engine has against it.
    pub fn of(setup: Setup) -> Result<Self, Vec<Issue>> {
        let header = header_of(&setup);
        let look = look::Look::new(&setup);
        let probe = (Standard::new(&setup), Running::new(&setup));
        let refused =
            |error: Error| vec![Issue::new("settings", "", "settings that a run can start with", error.to_string())];
        let simulation = Simulation::with_probe(setup, probe).map_err(refused)?;
        Ok(Self { simulation, header, waits: Sorted::default(), look, next: 0, is_over: false })
    }

    /// The same run from its beginning, to be gone through again.
    ///
    /// # Errors
    /// None that did not come when the session was made.
    pub fn look_back(&self) -> Result<LookBack, Error> {
        LookBack::new(self.simulation.setup())
    }

    /// What is the same in all frames.
    #[must_use]
    pub fn header(&self) -> &ReelHeader {
        &self.header
    }

    /// Whether all frames and the measures were given out.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// What stopped the run before its end, if a scheduler broke a rule. Then no more frames come.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        self.simulation.fault().map(ToString::to_string)
    }

    /// Simulates towards the next frame, by so many events at most; says whether it is there, so that
    /// [`advance`](Self::advance) has only to write it down. A frame of a large cluster is hundreds of thousands of
    /// events away from the one before.
    pub fn approach(&mut self, most_events: u32) -> bool {
        let time = self.header.time_of(self.next as usize);
        (0..most_events).any(|_| !self.simulation.step_towards(time))
    }

    /// Simulates on and gives out the next frames: at most `most`, none once it is over.
    pub fn advance(&mut self, most: usize) -> Chunk {
        let mut words = Vec::with_capacity(most.min(64) * self.header.frame_words());
        let mut written = 0;
        while written < most && self.next < self.header.frames {
            let time = self.header.time_of(self.next as usize);
            self.simulation.run_until(time);
            if self.simulation.fault().is_some() {
                self.is_over = true;
                return Chunk { words, done: None };
            }
            self.look.at(&self.simulation);
            let stats = self.stats();
            let (waiting, nodes) = (self.look.waiting(), self.look.nodes());
            reel::write_frame(&mut words, time, &stats, waiting, nodes);
            self.next += 1;
            written += 1;
        }
        let ends = self.next == self.header.frames && !self.is_over;
        self.is_over |= ends;
        Chunk { words, done: ends.then(|| self.metrics()) }
    }

    /// The measures of the run so far.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.simulation.probe().0.metrics(self.simulation.pending_work())
    }

    /// The numbers of the frame at this moment.
    fn stats(&mut self) -> [f32; Stat::COUNT] {
        let (standard, running) = self.simulation.probe();
        let mut so_far = Metrics::default();
        standard.shape().report(&mut so_far);
        standard.ledger().report(&mut so_far);
        let [wait_p50, wait_p99] = self.waits.p50_and_p99(standard.waits().seconds());
        let hours = standard.ledger().measured_hours();
        let ledger = so_far.ledger;
        let totals = self.simulation.totals();
        let fleet = totals.capacity_milli.max(1) as f64;
        let allocated = totals.allocated_milli as f64;
        let productive = totals.productive as f64 / 1e6;
        let measured = |value: f64| if hours > 0.0 { value } else { f64::NAN };
        let known = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let value = |stat| match stat {
            Stat::FShape => standard.shape().f_shape(),
            Stat::Stranded => standard.shape().stranded_share(),
            Stat::Stall if allocated > 0.0 => 1.0 - productive / allocated,
            Stat::Stall => 0.0,
            Stat::Allocated => allocated / fleet,
            Stat::Productive => productive / fleet,
            Stat::Waiting => f64::from(totals.waiting),
            Stat::WaitingGpus => self.look.waiting_gpus(),
            Stat::Running => f64::from(totals.running),
            Stat::Rebuilding => f64::from(self.look.rebuilding()),
            Stat::FitsNowhere => f64::from(self.look.fits_nowhere()),
            Stat::FShapeMean => measured(so_far.f_shape),
            Stat::FLostMean => measured(so_far.strand_total + standard.ledger().stalled_share()),
            Stat::StallMean => measured(so_far.stall),
            Stat::AllocatedMean => measured(so_far.allocated),
            Stat::ProductiveMean => measured(so_far.productive),
            Stat::ProductiveGpuHours => so_far.productive_gpu_h,
            Stat::WastedGpuHours => measured(ledger.uses.stranded + ledger.uses.stalled),
            Stat::CapacityGpuHours => ledger.capacity,
            Stat::HealthMean => measured(so_far.health),
            Stat::WaitP50 => known(wait_p50),
            Stat::WaitP99 => known(wait_p99),
            Stat::WaitTrainMean => known(running.training_mean()),
            Stat::JobsPerHour => measured(f64::from(running.completions) / hours),
            Stat::Evictions => f64::from(running.evictions),
        };
        Stat::ALL.map(|stat| value(stat) as f32)
    }
}

fn header_of(setup: &Setup) -> ReelHeader {
    let horizon_ms = setup.horizon.as_ms();
    let (interval_ms, frames) = reel::interval(setup.nodes.len(), setup.classes.len(), horizon_ms);
    let gpus = |kind: &u8| Dim::Gpu.value(setup.node_types[usize::from(*kind)].capacity[Dim::Gpu]);
    let info = |kind: &crate::cluster::NodeType| NodeTypeInfo {
        id: kind.id.clone(),
        title: kind.title.clone(),
        capacity: kind.capacity,
    };
    ReelHeader {
        nodes: setup.nodes.len() as u32,
        node_types: setup.node_types.iter().map(info).collect(),
        node_type: setup.nodes.clone(),
        exists: setup.exists,
        classes: setup.classes.iter().map(|class| class.id.clone()).collect(),
        interval_ms,
        frames,
        horizon_ms,
        warm_up_ms: setup.warm_up.as_ms(),
        // A kind that is not described is refused when the simulation is made.
        gpus: setup.nodes.iter().filter(|kind| usize::from(**kind) < setup.node_types.len()).map(gpus).sum(),
    }
}
