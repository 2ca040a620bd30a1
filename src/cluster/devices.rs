//! A node's GPUs one by one: how many thousandths of each are free, in an order that never changes.
//!
//! A task takes the same share of each of its devices. Which ones is the policy's choice where it makes one, else
//! that of [`pick`].

use serde::{Deserialize, Serialize};

use crate::cluster::NodeId;

/// Thousandths of a whole device.
pub const WHOLE: u16 = 1000;

/// Most devices that a node may have where they are kept one by one.
pub const MOST_DEVICES: usize = 64;

/// How a node keeps its GPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gpus {
    /// One pool: a task takes thousandths of the node's GPUs together.
    #[default]
    Pool,
    /// One by one: a task takes a share of each of so many devices.
    Devices,
}

/// Some devices of a node: bit *i* stands for the device at index *i*. Empty where GPUs are a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeviceMask(pub u64);

impl DeviceMask {
    /// No device.
    pub const NONE: Self = Self(0);

    /// One device; none if the index is beyond what a node may have.
    #[must_use]
    pub const fn one(index: usize) -> Self {
        if index < MOST_DEVICES { Self(1 << index) } else { Self::NONE }
    }

    /// How many there are.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Their indices, in rising order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        core::iter::from_fn(move || {
            let index = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (index < MOST_DEVICES).then_some(index)
        })
    }
}

/// The devices of `free` that a task of `count` × `milli` takes unless its policy says otherwise: those with the
/// least that is enough, the first among equals. `None` if there are too few.
#[must_use]
pub fn pick(free: &[u16], count: u16, milli: i32) -> Option<DeviceMask> {
    let mut mask = DeviceMask::NONE;
    for _ in 0..count {
        let mut least: Option<(u16, usize)> = None;
        for (index, &amount) in free.iter().enumerate() {
            let is_open = i32::from(amount) >= milli && mask.0 >> index & 1 == 0;
            if is_open && least.is_none_or(|(known, _)| amount < known) {
                least = Some((amount, index));
            }
        }
        mask.0 |= 1 << least?.1;
    }
    Some(mask)
}

/// The devices of all nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Devices {
    /// Where each node's devices start in `free`, and where the last one's end.
    start: Vec<u32>,
    free: Vec<u16>,
}

impl Devices {
    /// Nodes with these numbers of devices, all free.
    pub fn new(counts: impl Iterator<Item = usize>) -> Self {
        let mut devices = Self { start: vec![0], free: Vec::new() };
        for count in counts {
            devices.free.resize(devices.free.len() + count, WHOLE);
            devices.start.push(devices.free.len() as u32);
        }
        devices
    }

    fn range(&self, node: NodeId) -> core::ops::Range<usize> {
        self.start[node.index()] as usize..self.start[node.index() + 1] as usize
    }

    /// Free thousandths of each device of a node.
    pub fn free(&self, node: NodeId) -> &[u16] {
        &self.free[self.range(node)]
    }

    /// Whether each device of `mask` is there and has `milli` left.
    pub fn holds(&self, node: NodeId, mask: DeviceMask, milli: i32) -> bool {
        let free = self.free(node);
        mask.iter().all(|index| free.get(index).is_some_and(|amount| i32::from(*amount) >= milli))
    }

    /// Takes `milli` of each device of `mask`, which must [hold](Self::holds) it.
    pub fn take(&mut self, node: NodeId, mask: DeviceMask, milli: i32) {
        let range = self.range(node);
        for index in mask.iter() {
            self.free[range.start + index] -= milli as u16;
        }
    }

    /// Gives back what was taken.
    pub fn give(&mut self, node: NodeId, mask: DeviceMask, milli: i32) {
        let range = self.range(node);
        for index in mask.iter() {
            let free = &mut self.free[range.start + index];
            *free += milli as u16;
            debug_assert!(*free <= WHOLE, "more of a device was freed than allocated");
        }
    }

    /// Makes a node's devices those of `other`, which has the same nodes.
    pub fn copy_from(&mut self, other: &Self, node: NodeId) {
        let range = self.range(node);
        self.free[range.clone()].copy_from_slice(&other.free[range]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(free: &[u16], count: u16, milli: i32) -> Option<Vec<usize>> {
        pick(free, count, milli).map(|mask| mask.iter().collect())
    }

    #[test]
    fn a_shared_task_takes_the_least_that_is_enough() {
        assert_eq!(picked(&[540, 300, 1000, 300], 1, 220), Some(vec![1]));
        assert_eq!(picked(&[540, 300, 1000, 300], 1, 301), Some(vec![0]));
        assert_eq!(picked(&[540, 300, 999, 300], 1, 1000), None);
    }

    #[test]
    fn whole_devices_are_the_first_free_ones() {
        assert_eq!(picked(&[999, 1000, 1000, 0, 1000], 2, 1000), Some(vec![1, 2]));
        assert_eq!(picked(&[999, 1000, 1000, 0, 1000], 4, 1000), None);
        assert_eq!(picked(&[1000], 0, 0), Some(vec![]));
    }

    #[test]
    fn the_last_device_of_the_largest_node_can_be_named() {
        assert_eq!(DeviceMask::one(63).iter().collect::<Vec<_>>(), [63]);
        assert_eq!(DeviceMask(u64::MAX).iter().count(), 64);
        assert!(DeviceMask::one(64).is_empty());
    }

    #[test]
    fn what_is_taken_comes_back() {
        let (node, mask) = (NodeId(1), DeviceMask(0b101));
        let mut devices = Devices::new([2, 3, 0].into_iter());
        assert!(devices.holds(node, mask, 400) && !devices.holds(NodeId(0), mask, 400));
        devices.take(node, mask, 400);
        assert_eq!((devices.free(NodeId(0)), devices.free(node)), (&[1000, 1000][..], &[600, 1000, 600][..]));
        assert!(!devices.holds(node, mask, 601));
        devices.give(node, mask, 400);
        assert_eq!((devices.free(node), devices.free(NodeId(2))), (&[1000; 3][..], &[][..]));
    }
}
