//! Random: any node that holds the task, each as likely as the others.

use crate::cluster::NodeId;
use crate::engine::port::{Ask, Score, View};
use crate::rng::{Lots, Purpose, Stream};
use crate::schedulers::{Arena, Card};

/// Roster entry.
pub const CARD: Card = Card {
    family: "random",
    title: "Random",
    idea: "Takes any node on which the task fits: the yardstick that a scheduler has to beat.",
    source: "Baseline of Weng et al., Beware of Fragmentation, USENIX ATC 2023, section 6",
    seven_id: None,
    arena: Arena::Lab,
    knobs: &[],
    build: |tuning| Box::new(Random(Lots::new(Stream::new(tuning.seed, Purpose::Scheduler, 0, 0)))),
};

#[derive(Clone, Debug)]
struct Random(Lots);

impl Score for Random {
    fn prepare(&mut self, _view: &View<'_>, _ask: &Ask) {
        self.0.shuffle();
    }

    fn score(&mut self, _view: &View<'_>, _ask: &Ask, node: NodeId) -> f64 {
        self.0.rank(u64::from(node.0))
    }
}
