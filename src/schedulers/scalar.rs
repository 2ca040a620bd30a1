//! Scalar balancing: spread load by one number, the average of what is left.

use crate::cluster::NodeId;
use crate::engine::port::{Ask, Score, View};
use crate::resources::{Dim, DimMask};
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
        -mean_left(view, ask, node, self.dims)
    }
}

/// Mean over `dims` of what would be left ÷ nominal, after one task of `ask`.
fn mean_left(view: &View<'_>, ask: &Ask, node: NodeId, dims: DimMask) -> f64 {
    let inverse = view.inverse_capacity(node);
    let left = |dim: Dim| f64::from(view.available_in(node, dim) - ask.demand[dim]) * inverse[dim.index()];
    dims.iter().map(left).sum::<f64>() / dims.len().max(1) as f64
}
