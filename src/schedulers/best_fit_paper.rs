//! Best fit, as in the FGD paper: the node with the least left, counted against the largest node.

use crate::cluster::NodeId;
use crate::engine::port::grade::{Grade, Graded};
use crate::engine::port::{Ask, View};
use crate::resources::Dim;
use crate::schedulers::{Arena, Card};

/// Roster entry.
pub const CARD: Card = Card {
    family: "best-fit-paper",
    title: "BestFit",
    idea: "Prefers the node on which the least CPU and GPU would be left.",
    source: "Baseline of Weng et al., Beware of Fragmentation, USENIX ATC 2023, section 6, as in its simulator: divided \
             by the largest node, points cut to whole numbers",
    seven_id: None,
    arena: Arena::Replay,
    knobs: &[],
    build: |_| Box::new(Graded::new(BestFit)),
};

/// The CPU of the paper's largest node, in thousandths of a core.
const CPU: f64 = 128_000.0;
/// The GPUs of the paper's largest node, in thousandths.
const GPU: f64 = 8_000.0;

#[derive(Clone, Debug)]
struct BestFit;

impl Grade for BestFit {
    const DIMS: &'static [Dim] = &[Dim::Cpu, Dim::Gpu];

    fn grade(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> i32 {
        let half = |dim: Dim, unit: f64| 0.5 * f64::from(view.available_in(node, dim) - ask.demand[dim]) / unit;
        (100.0 * (1.0 - half(Dim::Cpu, CPU) - half(Dim::Gpu, GPU))) as i32
    }
}
