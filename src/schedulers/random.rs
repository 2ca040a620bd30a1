//! Random: any node that holds the task, each as likely as the others.

use crate::cluster::NodeId;
use crate::engine::port::{Ask, Score, View};
use crate::rng::{Purpose, Stream, scatter};
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
    build: |tuning| Box::new(Random { stream: Stream::new(tuning.seed, Purpose::Scheduler, 0, 0), salt: 0 }),
};

#[derive(Clone, Debug)]
struct Random {
    stream: Stream,
    salt: u64,
}

impl Score for Random {
    fn prepare(&mut self, _view: &View<'_>, _ask: &Ask) {
        self.salt = self.stream.bits();
    }

    /// A fresh random rank a decision and node: the lowest of them is an even draw, whatever the order of looking.
    fn score(&mut self, _view: &View<'_>, _ask: &Ask, node: NodeId) -> f64 {
        (scatter(self.salt ^ u64::from(node.0)) >> 11) as f64
    }
}
