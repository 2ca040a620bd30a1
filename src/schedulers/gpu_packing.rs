//! GPU packing, as in the FGD paper: first devices that are shared already, then busy nodes, then empty ones.

use crate::cluster::NodeId;
use crate::cluster::devices::WHOLE;
use crate::engine::port::grade::{Grade, Graded};
use crate::engine::port::{Ask, View};
use crate::resources::Dim;
use crate::schedulers::{Arena, Card};

/// Roster entry.
pub const CARD: Card = Card {
    family: "gpu-packing",
    title: "GpuPacking",
    idea: "Fills devices that are in use before whole ones, busy nodes before empty ones, small empty nodes before large.",
    source: "Baseline of Weng et al., Beware of Fragmentation, USENIX ATC 2023, section 6 (after AntMan, OSDI 2020), as in \
             its simulator",
    seven_id: None,
    arena: Arena::Replay,
    knobs: &[],
    build: |_| Box::new(Graded::new(GpuPacking)),
};

#[derive(Clone, Debug)]
struct GpuPacking;

impl Grade for GpuPacking {
    const DIMS: &'static [Dim] = &[Dim::Gpu];

    fn grade(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> i32 {
        if ask.gpus == 0 {
            return 0;
        }
        let devices = view.devices(node);
        if devices.iter().all(|free| *free == WHOLE) {
            let count = devices.len() as i32;
            return (33 - count).max(count);
        }
        let Some(taken) = view.usual_devices(node, ask) else { return 0 };
        let taken = || taken.iter().map(|index| devices[index]);
        let whole = taken().filter(|free| *free == WHOLE).count() as i32;
        if whole > 0 {
            return (50 - whole).max(33);
        }
        let left: i32 = taken().map(|free| i32::from(free) / 10).sum();
        (100 - left / 10).max(50)
    }
}
