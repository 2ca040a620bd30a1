//! First fit: the first node that holds the task.

use crate::cluster::NodeId;
use crate::engine::port::{Ask, Open, Score, Search, View};
use crate::schedulers::{Arena, Card};

/// Roster entry.
pub const CARD: Card = Card {
    family: "first-fit",
    title: "First fit",
    idea: "Takes the first node, in fixed order, on which the task fits.",
    source: "D. S. Johnson, Near-optimal bin packing algorithms, MIT, 1973",
    seven_id: None,
    arena: Arena::Both,
    knobs: &[],
    build: |_| Box::new(FirstFit),
};

#[derive(Clone, Debug)]
struct FirstFit;

impl Score for FirstFit {
    fn score(&mut self, _view: &View<'_>, _ask: &Ask, node: NodeId) -> f64 {
        f64::from(node.0)
    }

    fn search(&mut self, view: &View<'_>, _ask: &Ask, open: &Open<'_>) -> Search {
        (0..view.len() as u32).map(NodeId).find(|node| open.has(*node)).map_or(Search::Nothing, Search::Found)
    }
}
