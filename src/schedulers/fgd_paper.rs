//! Fragmentation gradient descent, as published: place where the expected fragment grows least.

use crate::cluster::NodeId;
use crate::engine::port::grade::{Grade, Graded};
use crate::engine::port::{Ask, View};
use crate::resources::Dim;
use crate::schedulers::{Arena, Card};
use crate::workload::typical::Fragments;

/// Roster entry.
pub const CARD: Card = Card {
    family: "fgd-paper",
    title: "FGD",
    idea: "Prefers the node and device where the least more free GPU becomes unusable for the workload's typical tasks.",
    source: "Weng et al., Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent, \
             USENIX ATC 2023, as in its simulator: points are a sigmoid cut to whole numbers",
    seven_id: None,
    arena: Arena::Replay,
    knobs: &[],
    build: |_| Box::new(Graded::new(Fgd { fragments: None, remembers: true })),
};

#[derive(Clone, Debug)]
struct Fgd {
    /// The measure by the view's typical tasks; made when they are first seen.
    fragments: Option<Fragments>,
    remembers: bool,
}

impl Fgd {
    /// The most points that a placement on the node gives and, for a task that shares a device, on which.
    fn best(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> (i32, Option<usize>) {
        let remembers = self.remembers;
        let fragments = self.fragments.get_or_insert_with(|| {
            let mut fragments = Fragments::new(view.typical().clone());
            if !remembers {
                fragments.forget();
            }
            fragments
        });
        let kind = view.type_index(node);
        let (cpu, milli) = (view.available_in(node, Dim::Cpu), ask.milli());
        let mut devices = [0u16; crate::cluster::devices::MOST_DEVICES];
        let devices = &mut devices[..view.devices(node).len()];
        devices.copy_from_slice(view.devices(node));
        let before = fragments.of(kind, cpu, devices);
        let mut points = |devices: &[u16]| {
            let after = fragments.of(kind, cpu - ask.demand[Dim::Cpu], devices);
            points_of(before - after)
        };
        if !ask.is_shared() {
            let taken = view.usual_devices(node, ask).unwrap_or_default();
            for index in taken.iter() {
                devices[index] -= milli as u16;
            }
            return (points(devices), None);
        }
        let mut best: (i32, Option<usize>) = (i32::MIN, None);
        for index in 0..devices.len() {
            let free = devices[index];
            // A device like an earlier one gives the same.
            if i32::from(free) < milli || remembers && devices[..index].contains(&free) {
                continue;
            }
            devices[index] = free - milli as u16;
            let points = points(devices);
            devices[index] = free;
            if points > best.0 {
                best = (points, Some(index));
            }
        }
        best
    }
}

/// Points for making `gain` thousandths of a GPU useful again (negative: useless).
fn points_of(gain: f64) -> i32 {
    (1.0 / (1.0 + libm::exp(-gain / 1000.0)) * 100.0) as i32
}

impl Grade for Fgd {
    const DIMS: &'static [Dim] = &[Dim::Cpu, Dim::Gpu];

    fn grade(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> i32 {
        self.best(view, ask, node).0
    }

    fn device(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> Option<usize> {
        self.best(view, ask, node).1
    }

    fn forget(&mut self) {
        self.remembers = false;
        self.fragments = None;
    }
}
