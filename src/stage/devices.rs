//! The nodes of a packing run, each as a small mark of its devices: a device is a column that fills from below by its
//! share in use; the line under them is as long as the node's CPU is free.
//!
//! Nodes stand by model of GPU, those with fewer devices first, in rows that break where the width ends. A device is
//! as wide on every node, so that area means GPUs.

use crate::cluster::devices::WHOLE;
use crate::stage::board::{Floor, NodeNow};
use crate::stage::marks::{Mark, Paint, Point, Stroke};
use crate::stage::palette::Palette;

/// Height of the line of a model's name.
const HEADING: f64 = 20.0;
/// Room between two nodes, and between two rows.
const GAP: f64 = 3.0;
/// Height of the CPU line, with the room above it.
const CPU: f64 = 3.0;
/// Devices are at most so wide.
const WIDEST: u32 = 8;
/// The narrowest device.
const NARROWEST: u32 = 2;
/// All nodes together should not be higher than this.
const HIGHEST: f64 = 800.0;

/// A model of GPU and where its nodes begin.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The model.
    pub model: String,
    /// Its nodes.
    pub nodes: u32,
    /// Its devices.
    pub devices: u32,
    /// Where the base line of its name is.
    pub base: f64,
}

/// Where all nodes are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    /// Width of a device in pixels.
    pub device: f64,
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
    /// Height of a node.
    pub node_height: f64,
    /// The models, from above.
    pub groups: Vec<Group>,
    /// Nodes of the floor in the order in which they stand.
    pub order: Vec<u32>,
    /// Top left corner of each node, by its position on the floor.
    corners: Vec<Point>,
    /// Devices of each node.
    devices: Vec<u16>,
}

impl Places {
    /// The nodes of a floor in `width` pixels: with devices as wide as fits into a height that can be overlooked.
    #[must_use]
    pub fn of(floor: &Floor, width: f64) -> Self {
        let mut places = Self::with(floor, width, NARROWEST);
        for device in NARROWEST + 1..=WIDEST {
            let wider = Self::with(floor, width, device);
            if wider.height > HIGHEST {
                break;
            }
            places = wider;
        }
        places
    }

    fn with(floor: &Floor, width: f64, device: u32) -> Self {
        let device = f64::from(device);
        let node_height = device * 3.0 + 2.0 + CPU;
        let mut order: Vec<u32> = (0..floor.nodes.len() as u32).collect();
        // Stable: nodes of a kind stay in the order of the list.
        order.sort_by(|a, b| {
            let key = |node: &u32| {
                let kind = floor.kind(*node as usize);
                (&kind.model, kind.gpus, floor.nodes[*node as usize].kind)
            };
            key(a).cmp(&key(b))
        });
        let mut groups: Vec<Group> = Vec::new();
        let mut corners = vec![[0.0; 2]; floor.nodes.len()];
        let devices: Vec<u16> = (0..floor.nodes.len()).map(|node| floor.kind(node).gpus).collect();
        let (mut x, mut y) = (0.0, 0.0);
        for &node in &order {
            let kind = floor.kind(node as usize);
            if groups.last().is_none_or(|group| group.model != kind.model) {
                let top = if groups.is_empty() { 0.0 } else { y + node_height + GAP };
                groups.push(Group { model: kind.model.clone(), nodes: 0, devices: 0, base: top + HEADING - 6.0 });
                (x, y) = (0.0, top + HEADING);
            }
            let wide = node_width(kind.gpus, device);
            if x > 0.0 && x + wide > width {
                (x, y) = (0.0, y + node_height + GAP);
            }
            corners[node as usize] = [x, y];
            x += wide + GAP;
            if let Some(group) = groups.last_mut() {
                group.nodes += 1;
                group.devices += u32::from(kind.gpus);
            }
        }
        let height = if order.is_empty() { 0.0 } else { y + node_height };
        Self { device, width, height, node_height, groups, order, corners, devices }
    }

    /// Top left corner and size of a node.
    #[must_use]
    pub fn node(&self, node: usize) -> (Point, Point) {
        (self.corners[node], [node_width(self.devices[node], self.device), self.node_height])
    }

    /// The node at a point, or so near that it must be meant.
    #[must_use]
    pub fn node_at(&self, x: f64, y: f64) -> Option<usize> {
        let reach = GAP / 2.0;
        (0..self.corners.len()).find(|node| {
            let ([left, top], [width, height]) = self.node(*node);
            (left - reach..=left + width + reach).contains(&x) && (top - reach..=top + height + reach).contains(&y)
        })
    }

    /// The node that an arrow key leads to: the next or the one before in their order, or the nearest in the row above
    /// or below.
    #[must_use]
    pub fn beside(&self, node: usize, key: &str) -> Option<usize> {
        let at = self.order.iter().position(|other| *other as usize == node)?;
        let [x, y] = self.corners[node];
        let to = |at: usize| self.order.get(at).map(|node| *node as usize);
        let nearest = |is_row: &dyn Fn(f64) -> bool, is_nearer: fn(f64, f64) -> bool| {
            let tops = self.corners.iter().map(|corner| corner[1]).filter(|top| is_row(*top));
            let row = tops.reduce(|a, b| if is_nearer(a, b) { a } else { b })?;
            let in_row = (0..self.corners.len()).filter(|node| self.corners[*node][1] == row);
            in_row.min_by(|a, b| (self.corners[*a][0] - x).abs().total_cmp(&(self.corners[*b][0] - x).abs()))
        };
        match key {
            "ArrowRight" => to(at + 1),
            "ArrowLeft" => to(at.checked_sub(1)?),
            "ArrowDown" => nearest(&|top| top > y, |a, b| a < b),
            "ArrowUp" => nearest(&|top| top < y, |a, b| a > b),
            "Home" => to(0),
            "End" => to(self.order.len().checked_sub(1)?),
            _ => None,
        }
    }
}

fn node_width(devices: u16, device: f64) -> f64 {
    // An edge of a pixel around them and one between two.
    f64::from(devices.max(1)) * (device + 1.0) + 1.0
}

/// A node with `cpu_milli` of CPU in all, at the origin. A device in use shows at least a trace of it, and only one of
/// which nothing is left is full.
#[must_use]
pub fn marks(now: &NodeNow<'_>, cpu_milli: i32, places: &Places, palette: &Palette) -> Vec<Mark> {
    let device = places.device;
    let room = places.node_height - CPU - 2.0;
    let width = node_width(now.free.len() as u16, device);
    let solid = |colour| Some(Paint::Solid(colour));
    let rect = |at, size, fill| Mark::Rect { at, size, fill: solid(fill), stroke: None };
    let mut marks = vec![rect([0.0, 0.0], [width, room + 2.0], palette.nominal_line)];
    for (index, free) in now.free.iter().enumerate() {
        let left = 1.0 + index as f64 * (device + 1.0);
        let used = f64::from(WHOLE - free.min(&WHOLE)) / f64::from(WHOLE);
        let filled = match *free {
            0 => room,
            WHOLE => 0.0,
            _ => libm::round(used * room).clamp(1.0, room - 1.0),
        };
        marks.push(rect([left, 1.0], [device, room - filled], palette.background));
        marks.push(rect(
            [left, 1.0 + room - filled],
            [device, filled],
            palette.residual_fill.over(palette.background),
        ));
    }
    let free = if cpu_milli > 0 { f64::from(now.cpu_milli.max(0)) / f64::from(cpu_milli) } else { 0.0 };
    marks.push(rect([0.0, room + 3.0], [width * free.min(1.0), CPU - 1.0], palette.effective_line));
    marks
}

/// What marks the node that is pointed at.
#[must_use]
pub fn outline(places: &Places, node: usize, palette: &Palette) -> Mark {
    let ([x, y], [width, height]) = places.node(node);
    let stroke = Some(Stroke::solid(palette.cursor, 2.0));
    Mark::Rect { at: [x - 1.0, y - 1.0], size: [width + 2.0, height + 2.0], fill: None, stroke }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stage::board::{FloorKind, FloorNode};

    fn floor(counts: &[(&str, u16, usize)]) -> Floor {
        let kinds = counts.iter().map(|(model, gpus, _)| FloorKind {
            title: String::new(),
            model: (*model).to_owned(),
            gpus: *gpus,
            cpu_milli: 1000,
        });
        let nodes = counts.iter().enumerate().flat_map(|(kind, (.., count))| {
            (0..*count).map(move |n| FloorNode { name: format!("{kind}-{n}"), kind: kind as u8 })
        });
        Floor { kinds: kinds.collect(), nodes: nodes.collect(), probe: None }
    }

    fn filled(free: u16, height_of: usize) -> f64 {
        let places = Places::with(&floor(&[("T4", 1, 1)]), 100.0, 4);
        let now = NodeNow { free: &[free], cpu_milli: 250, pods: 0 };
        let marks = marks(&now, 1000, &places, &Palette::LIGHT);
        let Mark::Rect { size, .. } = &marks[height_of] else { panic!("a rectangle") };
        size[1]
    }

    #[test]
    fn only_a_full_device_looks_full_and_only_a_free_one_empty() {
        let (rest, used) = (1, 2);
        let room = filled(WHOLE, rest);
        assert_eq!((filled(WHOLE, used), filled(0, used)), (0.0, room));
        assert_eq!((filled(999, used), filled(1, used)), (1.0, room - 1.0));
        assert_eq!(filled(500, used), room / 2.0);
    }

    #[test]
    fn arrow_keys_reach_every_node_and_stay_inside() {
        let floor = floor(&[("T4", 2, 30), ("A10", 1, 7), ("G2", 8, 20)]);
        let places = Places::of(&floor, 300.0);
        assert_eq!(places.groups.iter().map(|group| group.model.as_str()).collect::<Vec<_>>(), ["A10", "G2", "T4"]);
        let first = places.order[0] as usize;
        let (mut node, mut seen) = (first, vec![first]);
        while let Some(next) = places.beside(node, "ArrowRight") {
            seen.push(next);
            node = next;
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..57).collect::<Vec<_>>());
        assert_eq!(places.beside(first, "ArrowLeft"), None);
        assert_eq!(places.beside(first, "ArrowUp"), None);
        let below = places.beside(first, "ArrowDown").unwrap();
        assert_eq!(places.beside(below, "ArrowUp"), Some(first));
        assert_eq!(places.beside(first, "x"), None);
    }

    #[test]
    fn no_nodes_are_no_trouble() {
        let places = Places::of(&Floor::default(), 0.0);
        assert_eq!((places.height, places.node_at(0.0, 0.0)), (0.0, None));
        assert_eq!(places.beside(0, "End"), None);
    }

    proptest! {
        #[test]
        fn nodes_lie_inside_and_apart(counts in prop::collection::vec((1_u16..9, 0_usize..40), 1..6), width in 80.0_f64..1200.0) {
            let models = ["A", "B", "C", "D", "E", "F"];
            let list: Vec<_> = counts.iter().zip(models).map(|((gpus, count), model)| (model, *gpus, *count)).collect();
            let floor = floor(&list);
            let places = Places::of(&floor, width);
            let mut boxes: Vec<(Point, Point)> = (0..floor.nodes.len()).map(|node| places.node(node)).collect();
            for (node, ([x, y], [wide, high])) in boxes.iter().enumerate() {
                prop_assert!(*x >= 0.0 && x + wide <= width && y + high <= places.height);
                prop_assert_eq!(places.node_at(x + wide / 2.0, y + high / 2.0), Some(node));
            }
            boxes.sort_by(|a, b| a.0[1].total_cmp(&b.0[1]).then(a.0[0].total_cmp(&b.0[0])));
            for pair in boxes.windows(2) {
                let apart = pair[0].0[1] < pair[1].0[1] || pair[0].0[0] + pair[0].1[0] < pair[1].0[0];
                prop_assert!(apart);
            }
        }
    }
}
