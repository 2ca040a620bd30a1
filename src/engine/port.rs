//! What a scheduler may see and must answer. The engine knows nothing else about schedulers.

use core::fmt;
use std::sync::Arc;

use crate::cluster::devices::{DeviceMask, Devices, pick};
use crate::cluster::{NodeId, NodeType};
use crate::engine::log::NodeLog;
use crate::resources::{Amounts, DIMS, Dim, DimMask};
use crate::workload::typical::TypicalTasks;
use crate::workload::{ClassId, JobClass, TypeMask};

pub mod grade;
pub mod open;

pub use open::{Open, Search};

/// What a job asks for, as far as a scheduler may know it: no durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Its class.
    pub class: ClassId,
    /// Demand of one task that is planned for.
    pub demand: Amounts,
    /// Devices over which a task's GPU is spread evenly; looked at only where nodes keep their GPUs one by one.
    pub gpus: u16,
    /// Number of tasks that start together.
    pub tasks: u16,
    /// Node types it may run on.
    pub types: TypeMask,
}

impl Ask {
    /// What a task asks of each of its devices, in thousandths of a GPU.
    #[must_use]
    pub fn milli(&self) -> i32 {
        self.demand[Dim::Gpu] / i32::from(self.gpus.max(1))
    }

    /// Whether a task asks for part of one device, so that it may matter which.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.gpus == 1 && self.milli() < 1000
    }
}

/// The cluster as the scheduler believes it to be: exact books, estimated storage state.
#[derive(Debug)]
pub struct View<'a> {
    pub(in crate::engine) available: &'a [Vec<i32>; DIMS],
    pub(in crate::engine) versions: &'a [u32],
    pub(in crate::engine) changes: &'a NodeLog,
    pub(in crate::engine) node_types: &'a [NodeType],
    pub(in crate::engine) nodes: &'a [u8],
    /// `1 / capacity` by type and dimension; 0 where there is no capacity.
    pub(in crate::engine) inverse: &'a [[f64; DIMS]],
    pub(in crate::engine) classes: &'a [JobClass],
    pub(in crate::engine) typical: &'a Arc<TypicalTasks>,
    pub(in crate::engine) devices: Option<&'a Devices>,
    pub(in crate::engine) hosted: &'a [u64],
}

impl View<'_> {
    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// What is believed to be left on `node`. Soft dimensions may be negative: more is booked than is there.
    #[must_use]
    pub fn available(&self, node: NodeId) -> Amounts {
        Amounts(core::array::from_fn(|m| self.available[m][node.index()]))
    }

    /// What is believed to be left of one dimension.
    #[must_use]
    pub fn available_in(&self, node: NodeId, dim: Dim) -> i32 {
        self.available[dim.index()][node.index()]
    }

    /// Position of the node's type.
    #[must_use]
    pub fn type_index(&self, node: NodeId) -> usize {
        usize::from(self.nodes[node.index()])
    }

    /// The kinds of nodes in this cluster.
    #[must_use]
    pub fn node_types(&self) -> &[NodeType] {
        self.node_types
    }

    /// `1 / nominal capacity` of the node in each dimension; 0 where it has none.
    #[must_use]
    pub fn inverse_capacity(&self, node: NodeId) -> &[f64; DIMS] {
        &self.inverse[self.type_index(node)]
    }

    /// The same of any node of the type at `type_index`.
    #[must_use]
    pub fn inverse_capacity_of_type(&self, type_index: usize) -> &[f64; DIMS] {
        &self.inverse[type_index]
    }

    /// Mean over `dims` of what would be left of `node` ÷ nominal, were one task of `ask` placed there; 0 if `dims` is
    /// empty.
    #[must_use]
    pub fn mean_left(&self, ask: &Ask, node: NodeId, dims: DimMask) -> f64 {
        let inverse = self.inverse_capacity(node);
        let left = |dim: Dim| f64::from(self.available_in(node, dim) - ask.demand[dim]) * inverse[dim.index()];
        dims.iter().map(left).sum::<f64>() / dims.len().max(1) as f64
    }

    /// Changes whenever anything that [`available`](Self::available) says of the node does: what was computed from
    /// it may be kept until then.
    #[must_use]
    pub fn version(&self, node: NodeId) -> u32 {
        self.versions[node.index()]
    }

    /// Nodes whose [`version`](Self::version) changed since `seen`, some perhaps more than once, and where to go on
    /// from next time. `None` for the nodes: too much has happened, look at every node.
    #[must_use]
    pub fn changes_since(&self, seen: u64) -> (Option<&[NodeId]>, u64) {
        (self.changes.since(seen), self.changes.end())
    }

    /// Free thousandths of each of the node's devices, in an order that never changes; empty where GPUs are a pool.
    #[must_use]
    pub fn devices(&self, node: NodeId) -> &[u16] {
        self.devices.map_or(&[], |devices| devices.free(node))
    }

    /// The devices that a task of `ask` gets on `node` unless its scheduler says otherwise. `None` if it does not fit
    /// on them.
    #[must_use]
    pub fn usual_devices(&self, node: NodeId, ask: &Ask) -> Option<DeviceMask> {
        pick(self.devices(node), ask.gpus, ask.milli())
    }

    /// Kinds of GPU tasks on the node: bit 0 for those that share a device, bit *n* for those on *n* whole devices
    /// (63: or more). 0 where GPUs are a pool.
    #[must_use]
    pub fn hosted(&self, node: NodeId) -> u64 {
        self.hosted[node.index()]
    }

    /// Typical tasks, most frequent first; empty but in a replay.
    #[must_use]
    pub fn typical(&self) -> &Arc<TypicalTasks> {
        self.typical
    }

    /// Job classes with their typical tasks and weights.
    #[must_use]
    pub fn classes(&self) -> &[JobClass] {
        self.classes
    }
}

/// A part of a cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// What it is called: a key, the same for every node.
    pub name: &'static str,
    /// What it adds to the cost.
    pub value: f64,
}

/// What placing a task on a node costs; lower is better.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// The number that decides.
    pub total: f64,
    /// What it is made up of; the terms add up to the total, but for rounding.
    pub terms: Vec<Term>,
}

/// Decides where a task goes. It sees the [`View`] and the [`Ask`]; whether a task fits is decided before, by the
/// dimensions of [`crate::schedulers::Choice::fit_dims`].
pub trait Scheduler: fmt::Debug + Send + Sync {
    /// The best of `candidates` for one task, or `None` if there are none. `candidates` are feasible and in rising
    /// order; equal candidates go to the lowest.
    fn choose(&mut self, view: &View<'_>, ask: &Ask, candidates: &[NodeId]) -> Option<NodeId>;

    /// The best of all `open` nodes for one task, equal ones to the lowest: what [`choose`](Self::choose) says of a
    /// list of them. For schedulers that need not look at every node to know.
    fn search(&mut self, _view: &View<'_>, _ask: &Ask, _open: &Open<'_>) -> Search {
        Search::NeedsList
    }

    /// All of `candidates` that are as good as the best one, in rising order, into `equals`. For ties that are broken
    /// at random; a scheduler that knows of no ties names its choice alone.
    fn equals(&mut self, view: &View<'_>, ask: &Ask, candidates: &[NodeId], equals: &mut Vec<NodeId>) {
        equals.clear();
        equals.extend(self.choose(view, ask, candidates));
    }

    /// The device of `node` for a task that [shares one](Ask::is_shared), where devices are kept one by one; it must
    /// have enough left. `None`: the one with the least that is enough.
    fn device(&mut self, _view: &View<'_>, _ask: &Ask, _node: NodeId) -> Option<usize> {
        None
    }

    /// What one task of `ask` costs on each of `candidates`, for people who ask why: of those, [`choose`](Self::choose)
    /// takes the cheapest, and of equals the first. `None` if there is no such number.
    fn costs(&mut self, _view: &View<'_>, _ask: &Ask, _candidates: &[NodeId]) -> Option<Vec<Cost>> {
        None
    }

    /// Computes everything anew from now on. For the slow twin in tests: decisions are the same.
    #[doc(hidden)]
    fn forget(&mut self) {}

    /// A copy that will decide alike.
    fn clone_box(&self) -> Box<dyn Scheduler>;
}

impl Clone for Box<dyn Scheduler> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}

/// A scheduler that is a cost function of one node. Implement this, and [`Scheduler`] follows.
pub trait Score: Clone + fmt::Debug + Send + Sync + 'static {
    /// Called before the candidates of one decision are scored.
    fn prepare(&mut self, _view: &View<'_>, _ask: &Ask) {}

    /// Cost of placing one task of `ask` on `node`; lower is better. Not NaN.
    fn score(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> f64;

    /// What makes up the [`score`](Self::score): the terms add up to it, but for rounding.
    fn terms(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> Vec<Term> {
        vec![Term { name: "score", value: self.score(view, ask, node) }]
    }

    /// As [`Scheduler::search`]. [`prepare`](Self::prepare) is called before only if this does.
    fn search(&mut self, _view: &View<'_>, _ask: &Ask, _open: &Open<'_>) -> Search {
        Search::NeedsList
    }

    /// As [`Scheduler::device`].
    fn device(&mut self, _view: &View<'_>, _ask: &Ask, _node: NodeId) -> Option<usize> {
        None
    }

    /// As [`Scheduler::forget`].
    #[doc(hidden)]
    fn forget(&mut self) {}
}

impl<S: Score> Scheduler for S {
    fn choose(&mut self, view: &View<'_>, ask: &Ask, candidates: &[NodeId]) -> Option<NodeId> {
        self.prepare(view, ask);
        let mut best: Option<(f64, NodeId)> = None;
        for &node in candidates {
            let cost = self.score(view, ask, node);
            debug_assert!(!cost.is_nan(), "a score may not be NaN");
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, node));
            }
        }
        best.map(|(_, node)| node)
    }

    fn search(&mut self, view: &View<'_>, ask: &Ask, open: &Open<'_>) -> Search {
        Score::search(self, view, ask, open)
    }

    fn equals(&mut self, view: &View<'_>, ask: &Ask, candidates: &[NodeId], equals: &mut Vec<NodeId>) {
        self.prepare(view, ask);
        equals.clear();
        let mut least = f64::INFINITY;
        for &node in candidates {
            let cost = self.score(view, ask, node);
            if cost < least {
                least = cost;
                equals.clear();
            }
            if cost <= least {
                equals.push(node);
            }
        }
    }

    fn device(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> Option<usize> {
        Score::device(self, view, ask, node)
    }

    fn costs(&mut self, view: &View<'_>, ask: &Ask, candidates: &[NodeId]) -> Option<Vec<Cost>> {
        self.prepare(view, ask);
        let costs = candidates.iter().map(|&node| {
            let total = self.score(view, ask, node);
            Cost { total, terms: self.terms(view, ask, node) }
        });
        Some(costs.collect())
    }

    fn forget(&mut self) {
        Score::forget(self);
    }

    fn clone_box(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}
