//! Dot product, as in the FGD paper: the node where demand × what is free is least, so the tightest one.

use crate::cluster::NodeId;
use crate::engine::port::grade::{Grade, Graded};
use crate::engine::port::{Ask, View};
use crate::resources::Dim;
use crate::schedulers::{Arena, Card};

/// Roster entry.
pub const CARD: Card = Card {
    family: "dot-product",
    title: "DotProd",
    idea: "Prefers the node whose free CPU and GPU, multiplied with what is asked, give the least.",
    source: "Baseline of Weng et al., Beware of Fragmentation, USENIX ATC 2023, section 6 (after Grandl et al., SIGCOMM \
             2014), as in its simulator: divided by the largest node, points cut to whole numbers",
    seven_id: None,
    arena: Arena::Replay,
    knobs: &[],
    build: |_| Box::new(Graded::new(DotProduct)),
};

/// The CPU of the paper's largest node, in thousandths of a core.
const CPU: f64 = 128_000.0;
/// The GPUs of the paper's largest node, in thousandths.
const GPU: f64 = 8_000.0;

#[derive(Clone, Debug)]
struct DotProduct;

impl Grade for DotProduct {
    const DIMS: &'static [Dim] = &[Dim::Cpu, Dim::Gpu];

    fn grade(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> i32 {
        let product = |dim: Dim, unit: f64| {
            f64::from(view.available_in(node, dim)) / unit * (f64::from(ask.demand[dim]) / unit)
        };
        (100.0 * (1.0 - (product(Dim::Cpu, CPU) + product(Dim::Gpu, GPU)) / 2.0)) as i32
    }
}
