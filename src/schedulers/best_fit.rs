//! Best fit: fill the fullest node that still holds the task.

use crate::cluster::NodeId;
use crate::engine::port::{Ask, Score, View};
use crate::resources::DimMask;
use crate::schedulers::{Arena, Card};

/// Roster entry.
pub const CARD: Card = Card {
    family: "best-fit",
    title: "Best fit",
    idea: "Packs tightly: prefers the node with the least left on average.",
    source: "Kubernetes NodeResourcesFit with MostAllocated (kube-scheduler documentation, scoring strategies)",
    seven_id: None,
    arena: Arena::Lab,
    knobs: &[],
    build: |tuning| Box::new(BestFit { dims: tuning.score_dims }),
};

#[derive(Clone, Debug)]
struct BestFit {
    dims: DimMask,
}

impl Score for BestFit {
    fn score(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> f64 {
        view.mean_left(ask, node, self.dims)
    }
}
