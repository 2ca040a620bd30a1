//! A look at a simulation: what each node shows at this moment.

use crate::cluster::NodeId;
use crate::engine::setup::Setup;
use crate::engine::{JobState, Simulation};
use crate::probes::Probe;
use crate::resources::{Amounts, DIMS, Dim, DimMask};
use crate::stage::reel::{
    BREATHING_LOSS, NodeFrame, NodeState, PACKED_BELOW, PINCHED_ABOVE, PINCHED_BELOW, STALLED_FROM,
};
use crate::workload::{Growth, TypeMask};

/// The last look, and what does not change between looks.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    /// Typical task and weight of each class with jobs.
    typical: Vec<(Amounts, u32)>,
    growth: Vec<Option<Growth>>,
    /// Dimensions of each kind of node.
    dims: Vec<DimMask>,
    nodes: Vec<NodeFrame>,
    waiting: Vec<u32>,
    queues: Vec<Queue>,
    waiting_gpu_milli: i64,
    rebuilding: u32,
    fits_nowhere: u32,
}

/// The waiting jobs of one class.
#[derive(Clone, Debug)]
struct Queue {
    /// What a task of them asks for at least, dimension by dimension. If this does not fit, none does.
    least: Amounts,
    jobs: Vec<(Amounts, TypeMask)>,
}

impl Queue {
    const EMPTY: Self = Self { least: Amounts([i32::MAX; DIMS]), jobs: Vec::new() };

    fn fits(&self, residual: &Amounts, kind: usize, exists: DimMask) -> bool {
        self.least.fits_in(residual, exists)
            && self.jobs.iter().any(|(demand, types)| types.allows(kind) && demand.fits_in(residual, exists))
    }
}

impl Look {
    pub fn new(setup: &Setup) -> Self {
        let classes = setup.classes.iter();
        let dims_of = |capacity: &Amounts| {
            DimMask::of(&setup.exists.iter().filter(|dim| capacity[*dim] > 0).collect::<Vec<_>>())
        };
        Self {
            typical: classes.clone().map(|class| (class.typical, class.share_ppm)).collect(),
            growth: classes.map(|class| class.growth).collect(),
            dims: setup.node_types.iter().map(|kind| dims_of(&kind.capacity)).collect(),
            nodes: Vec::with_capacity(setup.nodes.len()),
            waiting: vec![0; setup.classes.len()],
            queues: vec![Queue::EMPTY; setup.classes.len()],
            waiting_gpu_milli: 0,
            rebuilding: 0,
            fits_nowhere: 0,
        }
    }

    /// The nodes as last seen.
    pub fn nodes(&self) -> impl Iterator<Item = NodeFrame> + '_ {
        self.nodes.iter().cloned()
    }

    /// Waiting jobs by class.
    pub fn waiting(&self) -> &[u32] {
        &self.waiting
    }

    /// GPUs that waiting jobs ask for.
    pub fn waiting_gpus(&self) -> f64 {
        self.waiting_gpu_milli as f64 / 1000.0
    }

    /// Nodes whose storage is rebuilding.
    pub fn rebuilding(&self) -> u32 {
        self.rebuilding
    }

    /// Waiting jobs of which no task fits on any node.
    pub fn fits_nowhere(&self) -> u32 {
        self.fits_nowhere
    }

    /// Looks.
    pub fn at<P: Probe>(&mut self, simulation: &Simulation<P>) {
        let cluster = simulation.cluster();
        self.look_at_queue(simulation);
        self.nodes.clear();
        self.rebuilding = 0;
        for node in cluster.ids() {
            let frame = self.look_at_node(simulation, node);
            self.rebuilding += u32::from(frame.rebuilding);
            self.nodes.push(frame);
        }
    }

    fn look_at_queue<P: Probe>(&mut self, simulation: &Simulation<P>) {
        let cluster = simulation.cluster();
        let exists = cluster.exists();
        self.waiting.fill(0);
        self.waiting_gpu_milli = 0;
        for queue in &mut self.queues {
            queue.least = Queue::EMPTY.least;
            queue.jobs.clear();
        }
        for state in simulation.waiting() {
            let class = state.job.class.index();
            self.waiting[class] += 1;
            self.waiting_gpu_milli += state.gpu_milli();
            let queue = &mut self.queues[class];
            for (least, amount) in queue.least.0.iter_mut().zip(state.demand.0) {
                *least = (*least).min(amount);
            }
            queue.jobs.push((state.demand, state.job.types));
        }
        // One that asks for less than another wherever it counts fits wherever the other does: only jobs that fit
        // nowhere are compared with every node, and most queues are short.
        let nodes: Vec<(Amounts, usize)> =
            cluster.ids().map(|node| (cluster.residual(node), cluster.type_index(node))).collect();
        self.fits_nowhere = 0;
        for queue in &self.queues {
            let least = &queue.least;
            let open: Vec<_> = nodes.iter().filter(|(residual, _)| least.fits_in(residual, exists)).collect();
            for (demand, types) in &queue.jobs {
                let fits =
                    open.iter().any(|(residual, kind)| types.allows(*kind) && demand.fits_in(residual, exists));
                self.fits_nowhere += u32::from(!fits);
            }
        }
        // Jobs without GPUs do not make a node with free GPUs blocked.
        for queue in &mut self.queues {
            queue.jobs.retain(|(demand, _)| demand[Dim::Gpu] > 0);
        }
    }

    fn look_at_node<P: Probe>(&self, simulation: &Simulation<P>, node: NodeId) -> NodeFrame {
        let cluster = simulation.cluster();
        let exists = cluster.exists();
        let kind = cluster.type_index(node);
        let dims = self.dims[kind];
        let (capacity, residual) = (cluster.capacity(node), cluster.residual(node));
        let share = |amount: i32, dim: Dim| {
            if dims.has(dim) { (f64::from(amount) / f64::from(capacity[dim])).clamp(0.0, 1.0) } else { 0.0 }
        };
        let shares = |amounts: Amounts| Dim::ALL.map(|dim| share(amounts[dim], dim));
        let left = shares(residual);
        let free_gpu_milli = if exists.has(Dim::Gpu) { residual[Dim::Gpu] } else { 0 };
        let tasks = self.tasks(simulation, node);
        let forecast = tasks.grows.then(|| {
            let mut later = residual;
            for dim in Dim::ALL {
                later[dim] = residual[dim].saturating_sub(tasks.growth[dim]).max(0);
            }
            shares(later)
        });
        let fitting: u32 = self
            .typical
            .iter()
            .filter(|(demand, _)| demand.fits_in(&residual, exists))
            .map(|(_, weight)| weight)
            .sum();
        let somebody_waits = self.queues.iter().any(|queue| !queue.jobs.is_empty());
        let is_blocked = somebody_waits
            && free_gpu_milli > 0
            && !self.queues.iter().any(|queue| queue.fits(&residual, kind, exists));
        let rebuilding = cluster.is_rebuilding(node);
        let seen =
            Seen { left: &left, forecast: forecast.as_ref(), dims, stall: tasks.stall, rebuilding, is_blocked };
        NodeFrame {
            residual: left.map(|value| value as f32),
            effective: shares(cluster.effective(node)).map(|value| value as f32),
            forecast: forecast.map(|forecast| forecast.map(|value| value as f32)),
            stall: tasks.stall as f32,
            fits: (f64::from(fitting) / 1e6) as f32,
            state: seen.state(),
            gpus_free: free_gpu_milli as f32 / 1000.0,
            jobs: tasks.jobs,
            reserved: simulation.is_reserved(node),
            rebuilding,
            dims,
        }
    }

    /// Sums over the tasks on a node.
    fn tasks<P: Probe>(&self, simulation: &Simulation<P>, node: NodeId) -> Tasks {
        let mut growth = Amounts::ZERO;
        let mut grows = false;
        let (mut held, mut starved) = (0.0, 0.0);
        let mut jobs: Vec<u64> = Vec::new();
        for state in simulation.jobs_on(node) {
            if !jobs.contains(&state.job.index) {
                jobs.push(state.job.index);
            }
            let gpus = f64::from(state.demand[Dim::Gpu]);
            held += gpus;
            starved += gpus * (1.0 - state.rate.as_share());
            if let Some(law) = &self.growth[state.job.class.index()] {
                grows |= state.steps_taken < law.steps;
                add_growth(&mut growth, state, law);
            }
        }
        let stall = if held > 0.0 { starved / held } else { 0.0 };
        Tasks { growth, grows, stall, jobs: jobs.len().min(255) as u8 }
    }
}

/// What the tasks on a node add up to.
struct Tasks {
    /// What they will ask for in addition, once grown.
    growth: Amounts,
    /// Whether any of them still grows.
    grows: bool,
    /// Share of their GPU time that is starved.
    stall: f64,
    /// Different jobs.
    jobs: u8,
}

/// Adds what one task will still ask for.
fn add_growth(sum: &mut Amounts, state: &JobState, law: &Growth) {
    let full = |dim: Dim, factor: f64| libm::round(f64::from(state.job.demand[dim]) * (1.0 + factor)) as i32;
    let hbm = full(Dim::Hbm, law.hbm).min(law.hbm_cap.max(state.job.demand[Dim::Hbm]));
    for (dim, full) in [(Dim::Hbm, hbm), (Dim::Sto, full(Dim::Sto, law.sto)), (Dim::Ioc, full(Dim::Ioc, law.ioc))] {
        sum[dim] = sum[dim].saturating_add((full - state.demand[dim]).max(0));
    }
}

/// What decides the state of a node.
struct Seen<'a> {
    left: &'a [f64; DIMS],
    forecast: Option<&'a [f64; DIMS]>,
    dims: DimMask,
    stall: f64,
    rebuilding: bool,
    is_blocked: bool,
}

impl Seen<'_> {
    /// By priority: offline, blocked, stalled, degraded, breathing, pinched, packed, healthy.
    fn state(&self) -> NodeState {
        let axes = || self.dims.iter().map(|dim| self.left[dim.index()]);
        let (least, most) = (axes().fold(1.0, f64::min), axes().fold(0.0, f64::max));
        let will_lose = |forecast: &[f64; DIMS]| {
            self.dims.iter().any(|dim| self.left[dim.index()] - forecast[dim.index()] >= BREATHING_LOSS)
        };
        if self.dims.is_empty() {
            NodeState::Offline
        } else if self.is_blocked {
            NodeState::Blocked
        } else if self.stall >= STALLED_FROM {
            NodeState::Stalled
        } else if self.rebuilding {
            NodeState::Degraded
        } else if self.forecast.is_some_and(will_lose) {
            NodeState::Breathing
        } else if least < PINCHED_BELOW && most > PINCHED_ABOVE {
            NodeState::Pinched
        } else if most < PACKED_BELOW {
            NodeState::Packed
        } else {
            NodeState::Healthy
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: [f64; DIMS] = [0.5; DIMS];

    fn state<'a>(change: impl FnOnce(&mut Seen<'a>)) -> NodeState {
        let mut seen = Seen {
            left: &HALF,
            forecast: None,
            dims: DimMask::SEVEN,
            stall: 0.0,
            rebuilding: false,
            is_blocked: false,
        };
        change(&mut seen);
        seen.state()
    }

    #[test]
    fn each_state_has_its_cause_and_its_rank() {
        let pinched = [0.5, 0.5, 0.5, 0.5, 0.5, 0.05, 0.5];
        let later = [0.5, 0.5, 0.5, 0.35, 0.5, 0.5, 0.5];
        assert_eq!(state(|_| {}), NodeState::Healthy);
        assert_eq!(state(|seen| seen.left = &[0.1; DIMS]), NodeState::Packed);
        assert_eq!(state(|seen| seen.left = &pinched), NodeState::Pinched);
        assert_eq!(state(|seen| seen.forecast = Some(&later)), NodeState::Breathing);
        assert_eq!(
            state(|seen| {
                seen.forecast = Some(&later);
                seen.rebuilding = true;
            }),
            NodeState::Degraded
        );
        assert_eq!(
            state(|seen| {
                seen.rebuilding = true;
                seen.stall = 0.2;
            }),
            NodeState::Stalled
        );
        assert_eq!(
            state(|seen| {
                seen.stall = 0.2;
                seen.is_blocked = true;
            }),
            NodeState::Blocked
        );
        assert_eq!(state(|seen| seen.dims = DimMask::EMPTY), NodeState::Offline);
    }

    #[test]
    fn a_packed_node_is_not_pinched() {
        assert_eq!(state(|seen| seen.left = &[0.1, 0.0, 0.14, 0.1, 0.1, 0.1, 0.1]), NodeState::Packed);
    }

    #[test]
    fn a_dimension_that_a_node_lacks_does_not_pinch_it() {
        let left = [0.5, 0.5, 0.0, 0.0, 0.5, 0.5, 0.5];
        assert_eq!(state(|seen| seen.left = &left), NodeState::Pinched);
        let dims = DimMask::of(&[Dim::Cpu, Dim::Ram, Dim::Net, Dim::Sto, Dim::Ioc]);
        assert_eq!(
            state(|seen| {
                seen.left = &left;
                seen.dims = dims;
            }),
            NodeState::Healthy
        );
    }
}
