//! Tetris: align what is asked with what is free.

use crate::cluster::NodeId;
use crate::engine::port::{Ask, Score, View};
use crate::resources::{Dim, DimMask};
use crate::schedulers::{Arena, Card};

/// Roster entry.
pub const CARD: Card = Card {
    family: "tetris",
    title: "Tetris",
    idea: "Prefers the node whose free resources point the same way as the task's demand (largest dot product).",
    source: "Grandl et al., Multi-resource Packing for Cluster Schedulers, SIGCOMM 2014, section 3.2 \
             (as published it sees disk and network too: that is the seven-dimensional one)",
    seven_id: None,
    arena: Arena::Both,
    knobs: &[],
    build: |tuning| Box::new(Tetris { dims: tuning.score_dims }),
};

#[derive(Clone, Debug)]
struct Tetris {
    dims: DimMask,
}

impl Score for Tetris {
    fn score(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> f64 {
        let inverse = view.inverse_capacity(node);
        let aligned = |dim: Dim| {
            let unit = inverse[dim.index()];
            f64::from(ask.demand[dim]) * unit * (f64::from(view.available_in(node, dim)) * unit)
        };
        -self.dims.iter().map(aligned).sum::<f64>()
    }
}
