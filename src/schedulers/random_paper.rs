//! Random, as in the FGD paper: any node that holds the task, and any of its devices that has enough.

use crate::cluster::NodeId;
use crate::engine::port::{Ask, Score, View};
use crate::rng::{Lots, Purpose, Stream};
use crate::schedulers::{Arena, Card};

/// Roster entry.
pub const CARD: Card = Card {
    family: "random-paper",
    title: "Random",
    idea: "Takes any node on which the task fits, and any device of it with enough left.",
    source: "Baseline of Weng et al., Beware of Fragmentation, USENIX ATC 2023, section 6, as in its simulator; its \
             random numbers cannot be replayed, so it agrees on average only",
    seven_id: None,
    arena: Arena::Replay,
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

    fn device(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> Option<usize> {
        let is_open = |(_, free): &(usize, &u16)| i32::from(**free) >= ask.milli();
        let open = || view.devices(node).iter().enumerate().filter(is_open);
        let draw = self.0.stream().below(open().count().max(1));
        open().nth(draw).map(|(index, _)| index)
    }
}
