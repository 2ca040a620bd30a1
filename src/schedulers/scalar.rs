//! Scalar balancing: spread load by one number, the average of what is left.

use crate::cluster::NodeId;
use crate::engine::port::{Ask, Score, View};
use crate::resources::DimMask;
use crate::schedulers::{Arena, Card};

/// Roster entry.
pub const CARD: Card = Card {
    family: "scalar",
    title: "Scalar",
    idea: "Balances load: prefers the node with the most left on average, one number for all dimensions.",
    source: "Kubernetes NodeResourcesFit with LeastAllocated (kube-scheduler documentation, scoring strategies)",
    seven_id: None,
    arena: Arena::Both,
    knobs: &[],
    build: |tuning| Box::new(Scalar { dims: tuning.score_dims }),
};

#[derive(Clone, Debug)]
struct Scalar {
    dims: DimMask,
}

impl Score for Scalar {
    fn score(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> f64 {
        -view.mean_left(ask, node, self.dims)
    }
}
