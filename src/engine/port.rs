//! What a scheduler may see and must answer. The engine knows nothing else about schedulers.

use core::fmt;

use crate::cluster::{NodeId, NodeType};
use crate::resources::{Amounts, DIMS, Dim};
use crate::workload::{ClassId, JobClass, TypeMask};

/// What a job asks for, as far as a scheduler may know it: no durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Its class.
    pub class: ClassId,
    /// Demand of one task that is planned for.
    pub demand: Amounts,
    /// Number of tasks that start together.
    pub tasks: u16,
    /// Node types it may run on.
    pub types: TypeMask,
}

/// The cluster as the scheduler believes it to be: exact books, estimated storage state.
#[derive(Debug)]
pub struct View<'a> {
    pub(crate) available: &'a [Vec<i32>; DIMS],
    pub(crate) versions: &'a [u32],
    pub(crate) node_types: &'a [NodeType],
    pub(crate) nodes: &'a [u8],
    /// `1 / capacity` by type and dimension; 0 where there is no capacity.
    pub(crate) inverse: &'a [[f64; DIMS]],
    pub(crate) classes: &'a [JobClass],
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

    /// Changes whenever anything that [`available`](Self::available) says of the node does: what was computed from
    /// it may be kept until then.
    #[must_use]
    pub fn version(&self, node: NodeId) -> u32 {
        self.versions[node.index()]
    }

    /// Job classes with their typical tasks and weights.
    #[must_use]
    pub fn classes(&self) -> &[JobClass] {
        self.classes
    }
}

/// Decides where a task goes. It sees the [`View`] and the [`Ask`]; whether a task fits is decided before, by the
/// dimensions of [`crate::schedulers::Choice::fit_dims`].
pub trait Scheduler: fmt::Debug + Send + Sync {
    /// The best of `candidates` for one task, or `None` if there are none. `candidates` are feasible and in rising
    /// order; equal candidates go to the lowest.
    fn choose(&mut self, view: &View<'_>, ask: &Ask, candidates: &[NodeId]) -> Option<NodeId>;

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

    fn clone_box(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}
