//! The only code that allocates and frees.
//!
//! Amounts are whole numbers and every change is checked, so hard dimensions are never oversubscribed and what is
//! freed is what was allocated. Soft dimensions may be oversubscribed; what that costs is decided in
//! [`crate::engine`].

use std::sync::Arc;

use crate::cluster::devices::{DeviceMask, Devices, Gpus};
use crate::cluster::{NodeId, NodeType};
use crate::resources::{Amounts, DIMS, Dim, DimMask};

/// One task on a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tenant {
    /// The job it belongs to.
    pub slot: u32,
    /// What it holds.
    pub demand: Amounts,
    /// The devices it is on, the same share of each; none where GPUs are a pool.
    pub devices: DeviceMask,
    /// Share of its asked storage bandwidth and I/O CPU that it gets.
    pub share: f64,
}

/// A task would not fit in a hard dimension, or on the devices named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused;

/// All nodes, what is used of them, and what they can give now.
#[derive(Clone, Debug)]
pub struct Cluster {
    types: Arc<[NodeType]>,
    nodes: Arc<[u8]>,
    exists: DimMask,
    used: [Vec<i32>; DIMS],
    storage: Vec<i32>,
    io_cpu: Vec<i32>,
    factor_ppm: Vec<u32>,
    tenants: Vec<Vec<Tenant>>,
    /// GPUs one by one; `None` where they are a pool.
    devices: Option<Devices>,
}

impl Cluster {
    pub(crate) fn new(types: &[NodeType], nodes: &[u8], exists: DimMask, gpus: Gpus) -> Self {
        let capacity = |node: &u8, dim: Dim| types[usize::from(*node)].capacity[dim];
        Self {
            types: types.into(),
            nodes: nodes.into(),
            exists,
            used: core::array::from_fn(|_| vec![0; nodes.len()]),
            storage: nodes.iter().map(|node| capacity(node, Dim::Sto)).collect(),
            io_cpu: nodes.iter().map(|node| capacity(node, Dim::Ioc)).collect(),
            factor_ppm: vec![1_000_000; nodes.len()],
            tenants: vec![Vec::new(); nodes.len()],
            devices: match gpus {
                Gpus::Pool => None,
                Gpus::Devices => {
                    Some(Devices::new(nodes.iter().map(|node| (capacity(node, Dim::Gpu) / 1000) as usize)))
                }
            },
        }
    }

    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// All nodes, in order.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// Dimensions that exist here.
    #[must_use]
    pub fn exists(&self) -> DimMask {
        self.exists
    }

    /// The kinds of nodes.
    #[must_use]
    pub fn node_types(&self) -> &[NodeType] {
        &self.types
    }

    /// Position of the node's type.
    #[must_use]
    pub fn type_index(&self, node: NodeId) -> usize {
        usize::from(self.nodes[node.index()])
    }

    /// Nominal capacity.
    #[must_use]
    pub fn capacity(&self, node: NodeId) -> Amounts {
        self.types[self.type_index(node)].capacity
    }

    /// What the node can give now: nominal, but less storage bandwidth and I/O CPU while it rebuilds.
    #[must_use]
    pub fn effective(&self, node: NodeId) -> Amounts {
        let mut amounts = self.capacity(node);
        amounts[Dim::Sto] = self.storage[node.index()];
        amounts[Dim::Ioc] = self.io_cpu[node.index()];
        amounts
    }

    /// What its tasks hold or, of soft dimensions, ask for.
    #[must_use]
    pub fn used(&self, node: NodeId) -> Amounts {
        Amounts(core::array::from_fn(|m| self.used[m][node.index()]))
    }

    /// What is left: effective − used, never below zero.
    #[must_use]
    pub fn residual(&self, node: NodeId) -> Amounts {
        let used = self.used(node);
        self.effective(node).map(|dim, amount| (amount - used[dim]).max(0))
    }

    /// The residual shape: what is left ÷ *nominal* capacity, in the order of [`Dim::ALL`]. A dimension without
    /// capacity counts as empty.
    #[must_use]
    pub fn normalised(&self, node: NodeId) -> [f64; DIMS] {
        let (residual, capacity) = (self.residual(node), self.capacity(node));
        core::array::from_fn(|m| {
            if capacity.0[m] > 0 { f64::from(residual.0[m]) / f64::from(capacity.0[m]) } else { 0.0 }
        })
    }

    /// Free GPUs in thousandths.
    #[must_use]
    pub fn free_gpu_milli(&self, node: NodeId) -> i32 {
        self.capacity(node)[Dim::Gpu] - self.used[Dim::Gpu.index()][node.index()]
    }

    /// Free thousandths of each of the node's devices, in an order that never changes; empty where its GPUs are a
    /// pool.
    #[must_use]
    pub fn devices(&self, node: NodeId) -> &[u16] {
        self.devices.as_ref().map_or(&[], |devices| devices.free(node))
    }

    /// Whether the node's storage is rebuilding.
    #[must_use]
    pub fn is_rebuilding(&self, node: NodeId) -> bool {
        self.factor_ppm[node.index()] < 1_000_000
    }

    /// Storage bandwidth left by the rebuild, in millionths of nominal; 1,000,000 when healthy.
    #[must_use]
    pub fn rebuild_factor_ppm(&self, node: NodeId) -> u32 {
        self.factor_ppm[node.index()]
    }

    /// Whether more storage bandwidth or I/O CPU is asked of the node than it can give.
    #[must_use]
    pub fn is_oversubscribed(&self, node: NodeId) -> bool {
        let n = node.index();
        self.used[Dim::Sto.index()][n] > self.storage[n] || self.used[Dim::Ioc.index()][n] > self.io_cpu[n]
    }

    /// GPUs of the whole cluster, in thousandths.
    #[must_use]
    pub fn total_gpu_milli(&self) -> i64 {
        self.nodes.iter().map(|node| i64::from(self.types[usize::from(*node)].capacity[Dim::Gpu])).sum()
    }

    pub(crate) fn device_lists(&self) -> Option<&Devices> {
        self.devices.as_ref()
    }

    pub(crate) fn tenants(&self, node: NodeId) -> &[Tenant] {
        &self.tenants[node.index()]
    }

    pub(crate) fn tenants_mut(&mut self, node: NodeId) -> &mut [Tenant] {
        &mut self.tenants[node.index()]
    }

    /// Sets what is left of the node's soft capacity, in millionths of nominal.
    pub(crate) fn set_health(&mut self, node: NodeId, storage_ppm: u32, io_cpu_ppm: u32) {
        let capacity = self.capacity(node);
        let part = |amount: i32, ppm: u32| (i64::from(amount) * i64::from(ppm) / 1_000_000) as i32;
        self.storage[node.index()] = part(capacity[Dim::Sto], storage_ppm);
        self.io_cpu[node.index()] = part(capacity[Dim::Ioc], io_cpu_ppm);
        self.factor_ppm[node.index()] = storage_ppm;
    }

    /// Puts a task on a node, and an even share of its GPU on each of `devices` (none where GPUs are a pool).
    /// Refused, with nothing changed, if a hard dimension or a device does not hold it.
    pub(crate) fn place(
        &mut self,
        node: NodeId,
        slot: u32,
        demand: Amounts,
        devices: DeviceMask,
    ) -> Result<(), Refused> {
        let share = share(&demand, devices);
        if let Some(lists) = &self.devices {
            let is_whole = share * devices.len() as i32 == demand[Dim::Gpu];
            if !is_whole || !lists.holds(node, devices, share) {
                return Err(Refused);
            }
        }
        self.book(node, Amounts::ZERO, demand)?;
        if let Some(lists) = &mut self.devices {
            lists.take(node, devices, share);
        }
        self.tenants[node.index()].push(Tenant { slot, demand, devices, share: 1.0 });
        Ok(())
    }

    /// Changes what a task holds. Refused, with nothing changed, if a hard dimension does not hold it. Devices keep
    /// what they gave: a task does not grow in GPU where they are kept one by one.
    pub(crate) fn resize(&mut self, node: NodeId, tenant: usize, demand: Amounts) -> Result<(), Refused> {
        let held = self.tenants[node.index()][tenant].demand;
        if self.devices.is_some() && held[Dim::Gpu] != demand[Dim::Gpu] {
            return Err(Refused);
        }
        self.book(node, held, demand)?;
        self.tenants[node.index()][tenant].demand = demand;
        Ok(())
    }

    /// Takes all of a job's tasks off a node.
    pub(crate) fn vacate(&mut self, node: NodeId, slot: u32) {
        let n = node.index();
        for tenant in self.tenants[n].iter().filter(|tenant| tenant.slot == slot) {
            for (column, amount) in self.used.iter_mut().zip(tenant.demand.0) {
                column[n] -= amount;
            }
            if let Some(lists) = &mut self.devices {
                lists.give(node, tenant.devices, share(&tenant.demand, tenant.devices));
            }
        }
        self.tenants[n].retain(|tenant| tenant.slot != slot);
        debug_assert!(self.used.iter().all(|column| column[n] >= 0), "more was freed than allocated");
    }

    /// Refused, with nothing changed, where a hard dimension would hold more than its capacity, or a soft one more
    /// than can be counted.
    fn book(&mut self, node: NodeId, before: Amounts, after: Amounts) -> Result<(), Refused> {
        let (capacity, used) = (self.capacity(node), self.used(node));
        let mut next = [0; DIMS];
        for (dim, next) in Dim::ALL.into_iter().zip(&mut next) {
            let sum = (used[dim] - before[dim]).checked_add(after[dim]);
            *next = sum.filter(|sum| dim.is_soft() || *sum <= capacity[dim]).ok_or(Refused)?;
        }
        for (column, next) in self.used.iter_mut().zip(next) {
            column[node.index()] = next;
        }
        Ok(())
    }
}

/// What each device of a task gives, in thousandths.
fn share(demand: &Amounts, devices: DeviceMask) -> i32 {
    demand[Dim::Gpu] / (devices.len() as i32).max(1)
}
