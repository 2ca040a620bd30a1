//! GPU clustering, as in the FGD paper: tasks of a kind keep together.

use crate::cluster::NodeId;
use crate::engine::port::grade::{Grade, Graded};
use crate::engine::port::{Ask, View};
use crate::resources::Dim;
use crate::schedulers::{Arena, Card};

/// Roster entry.
pub const CARD: Card = Card {
    family: "gpu-clustering",
    title: "GpuClustering",
    idea: "Keeps tasks that ask for the same number of GPUs (or share one) together, on the fullest such node.",
    source: "Baseline of Weng et al., Beware of Fragmentation, USENIX ATC 2023, section 6 (after Gandiva, OSDI 2018), as in \
             its simulator",
    seven_id: None,
    arena: Arena::Replay,
    knobs: &[],
    build: |_| Box::new(Graded::new(GpuClustering)),
};

/// The GPUs of the paper's largest node, in thousandths.
const GPU: f64 = 8_000.0;

#[derive(Clone, Debug)]
struct GpuClustering;

impl Grade for GpuClustering {
    const DIMS: &'static [Dim] = &[Dim::Gpu];

    fn grade(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> i32 {
        if ask.gpus == 0 {
            return 0;
        }
        let kind = 1u64 << if ask.is_shared() { 0 } else { ask.gpus.min(63) };
        let hosted = view.hosted(node);
        let company = match hosted {
            0 => 25,
            _ if hosted == kind => 75,
            _ if hosted & kind != 0 => 50,
            _ => 0,
        };
        let fullness = 25.0 * (GPU - f64::from(view.available_in(node, Dim::Gpu))) / GPU;
        fullness as i32 + company
    }
}
