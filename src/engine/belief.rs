//! The cluster as the scheduler believes it to be, and which nodes it may use.
//!
//! The books are exact. The soft capacity is an estimate: the truth at once, or readings that are late, noisy,
//! smoothed and published only when they move enough.

use std::sync::Arc;

use crate::cluster::devices::{DeviceMask, Devices, WHOLE, pick};
use crate::cluster::{Cluster, NodeId};
use crate::engine::log::NodeLog;
use crate::engine::port::{Ask, View};
use crate::engine::setup::{Setup, Telemetry};
use crate::resources::{DIMS, Dim, DimMask};
use crate::rng::{Purpose, Stream};

/// The soft dimensions, in the order of the arrays below.
const SOFT: [Dim; 2] = [Dim::Sto, Dim::Ioc];

/// Columns in the order in which they rule most nodes out.
const BY_SELECTIVITY: [Dim; DIMS] = [Dim::Gpu, Dim::Hbm, Dim::Sto, Dim::Net, Dim::Ram, Dim::Cpu, Dim::Ioc];

#[derive(Clone, Debug)]
pub(crate) struct Belief {
    /// Planned capacity − used, by dimension and node.
    available: [Vec<i32>; DIMS],
    /// θ × estimate of the soft capacities.
    planned: [Vec<i32>; 2],
    /// Moving averages behind the estimates.
    averages: [Vec<f64>; 2],
    /// Published estimates, before θ.
    estimates: [Vec<f64>; 2],
    versions: Vec<u32>,
    /// Nodes whose version rose.
    changes: NodeLog,
    inverse: Arc<[[f64; DIMS]]>,
    cordoned: Vec<bool>,
    telemetry: Telemetry,
    safety: f64,
    cordon: f64,
    readings: u64,
    seed: u64,
    /// GPUs one by one; `None` where they are a pool.
    devices: Option<Devices>,
    /// Of each node: free thousandths of its freest device, and devices that are wholly free.
    freest: Vec<i32>,
    whole: Vec<i32>,
    /// See [`View::hosted`].
    hosted: Vec<u64>,
}

impl Belief {
    pub fn new(setup: &Setup, cluster: &Cluster) -> Self {
        let inverse = setup
            .node_types
            .iter()
            .map(|kind| kind.capacity.0.map(|amount| if amount > 0 { 1.0 / f64::from(amount) } else { 0.0 }));
        let mut belief = Self {
            available: core::array::from_fn(|_| vec![0; cluster.len()]),
            planned: core::array::from_fn(|_| vec![0; cluster.len()]),
            averages: core::array::from_fn(|_| vec![0.0; cluster.len()]),
            estimates: core::array::from_fn(|_| vec![0.0; cluster.len()]),
            versions: vec![0; cluster.len()],
            changes: NodeLog::new(cluster.len()),
            inverse: inverse.collect(),
            cordoned: vec![false; cluster.len()],
            telemetry: setup.telemetry,
            safety: f64::from(setup.scheduler.safety_ppm) / 1e6,
            cordon: f64::from(setup.scheduler.cordon_ppm) / 1e6,
            readings: 0,
            seed: setup.seed,
            devices: cluster.device_lists().cloned(),
            freest: vec![0; cluster.len()],
            whole: vec![0; cluster.len()],
            hosted: vec![0; cluster.len()],
        };
        for node in cluster.ids() {
            belief.learn_truth(cluster, node);
        }
        belief
    }

    /// Whether storage changes are known at once, without readings.
    pub fn is_perfect(&self) -> bool {
        self.telemetry.interval.as_ms() == 0
    }

    /// Takes the true state of a node as the estimate. Says whether more is available than before.
    pub fn learn_truth(&mut self, cluster: &Cluster, node: NodeId) -> bool {
        let effective = cluster.effective(node);
        for (s, dim) in SOFT.into_iter().enumerate() {
            self.averages[s][node.index()] = f64::from(effective[dim]);
            self.estimates[s][node.index()] = f64::from(effective[dim]);
        }
        self.plan(cluster, node)
    }

    /// Takes a reading of every node and pushes those on which more is available than before to `gained`.
    pub fn take_readings(&mut self, cluster: &Cluster, mut gained: impl FnMut(NodeId)) {
        self.readings += 1;
        let Telemetry { noise, smoothing, dead_band, .. } = self.telemetry;
        for node in cluster.ids() {
            let n = node.index();
            let (effective, nominal) = (cluster.effective(node), cluster.capacity(node));
            // Indexed by node and reading, so that it is the same whatever the scheduler did.
            let mut stream = Stream::new(self.seed, Purpose::Telemetry, n as u64, self.readings);
            for (s, dim) in SOFT.into_iter().enumerate() {
                let capacity = f64::from(nominal[dim]);
                let error = if noise > 0.0 { stream.lognormal(noise) } else { 1.0 };
                // A sensor cannot report more than the link can carry.
                let reading = (f64::from(effective[dim]) * error).min(capacity);
                let average = &mut self.averages[s][n];
                *average = smoothing * reading + (1.0 - smoothing) * *average;
                // Compared with what is published, not with the last average: else small steps never add up.
                if (*average - self.estimates[s][n]).abs() > dead_band * capacity {
                    self.estimates[s][n] = *average;
                }
            }
            if self.plan(cluster, node) {
                gained(node);
            }
        }
    }

    /// Recomputes what is planned with and what is available. Says whether either dimension gained.
    fn plan(&mut self, cluster: &Cluster, node: NodeId) -> bool {
        let n = node.index();
        let before = [self.planned[0][n], self.planned[1][n]];
        let was_cordoned = self.cordoned[n];
        for s in 0..SOFT.len() {
            self.planned[s][n] = (self.safety * self.estimates[s][n]) as i32;
        }
        let nominal = f64::from(cluster.capacity(node)[Dim::Sto]);
        self.cordoned[n] = self.cordon > 0.0 && self.estimates[0][n] < self.cordon * nominal;
        self.refresh(cluster, node);
        self.planned[0][n] > before[0] || self.planned[1][n] > before[1] || (was_cordoned && !self.cordoned[n])
    }

    /// Recomputes what is available after the books of a node changed.
    pub fn refresh(&mut self, cluster: &Cluster, node: NodeId) {
        let n = node.index();
        let (capacity, used) = (cluster.capacity(node), cluster.used(node));
        for dim in DimMask::FIVE.iter() {
            self.available[dim.index()][n] = capacity[dim] - used[dim];
        }
        for (s, dim) in SOFT.into_iter().enumerate() {
            self.available[dim.index()][n] = self.planned[s][n] - used[dim];
        }
        if let (Some(mine), Some(books)) = (&mut self.devices, cluster.device_lists()) {
            mine.copy_from(books, node);
            self.hosted[n] = cluster
                .tenants(node)
                .iter()
                .fold(0, |bits, tenant| bits | kind_of(tenant.devices.len(), tenant.demand[Dim::Gpu]));
            self.count_devices(node);
        }
        self.versions[n] = self.versions[n].wrapping_add(1);
        self.changes.push(node);
    }

    fn count_devices(&mut self, node: NodeId) {
        let Some(devices) = &self.devices else { return };
        let free = devices.free(node);
        self.freest[node.index()] = free.iter().copied().max().map_or(0, i32::from);
        self.whole[node.index()] = free.iter().filter(|free| **free == WHOLE).count() as i32;
    }

    /// The devices a task goes to: the one its scheduler wants, or the usual ones; none where GPUs are a pool.
    /// Refused if they do not hold it.
    pub fn devices_for(&self, node: NodeId, ask: &Ask, wanted: Option<usize>) -> Option<DeviceMask> {
        let Some(devices) = &self.devices else { return Some(DeviceMask::NONE) };
        match wanted {
            Some(index) => {
                let mask = DeviceMask::one(index);
                (!mask.is_empty() && devices.holds(node, mask, ask.milli())).then_some(mask)
            }
            None => pick(devices.free(node), ask.gpus, ask.milli()),
        }
    }

    /// Whether GPUs are kept one by one.
    pub fn has_devices(&self) -> bool {
        self.devices.is_some()
    }

    /// Whether the node's devices hold one task. Without devices: yes, the pool decides.
    fn devices_hold(&self, node: NodeId, ask: &Ask) -> bool {
        let Some(devices) = &self.devices else { return true };
        let (count, milli) = (i32::from(ask.gpus), ask.milli());
        match count {
            0 => true,
            1 => self.freest[node.index()] >= milli,
            _ if milli == i32::from(WHOLE) => self.whole[node.index()] >= count,
            _ => devices.free(node).iter().filter(|free| i32::from(**free) >= milli).count() as i32 >= count,
        }
    }

    /// Books one task in the belief only, while a gang is being tried.
    pub fn reserve_tentatively(&mut self, node: NodeId, ask: &Ask, devices: DeviceMask) {
        let demand = &ask.demand;
        if let Some(mine) = &mut self.devices {
            mine.take(node, devices, ask.milli());
            self.hosted[node.index()] |= kind_of(devices.len(), demand[Dim::Gpu]);
            self.count_devices(node);
        }
        let n = node.index();
        for (column, amount) in self.available.iter_mut().zip(demand.0) {
            column[n] -= amount;
        }
        self.versions[n] = self.versions[n].wrapping_add(1);
        self.changes.push(node);
    }

    /// Takes it that so much is left of one dimension, until the next [`refresh`](Self::refresh).
    pub fn suppose(&mut self, node: NodeId, dim: Dim, amount: i32) {
        let n = node.index();
        self.available[dim.index()][n] = amount;
        self.versions[n] = self.versions[n].wrapping_add(1);
        self.changes.push(node);
    }

    /// Whether a task fits, as far as `dims` can tell. The most selective columns come first.
    pub fn fits(&self, node: NodeId, ask: &Ask, dims: DimMask) -> bool {
        let fits = |dim: Dim| ask.demand[dim] <= self.available[dim.index()][node.index()];
        BY_SELECTIVITY.into_iter().all(|dim| !dims.has(dim) || fits(dim)) && self.devices_hold(node, ask)
    }

    /// Sets `is_open` of every node to whether a task fits there: a plain pass over each column, which compilers turn
    /// into vector instructions, given up as soon as no node is left.
    pub fn fits_where(&self, ask: &Ask, dims: DimMask, is_open: &mut Vec<bool>) {
        let mut is_first = true;
        let mut keep = |needed: i32, column: &[i32]| {
            if core::mem::take(&mut is_first) {
                is_open.clear();
                is_open.extend(column.iter().map(|available| needed <= *available));
                return true;
            }
            let mut any = false;
            for (open, available) in is_open.iter_mut().zip(column) {
                *open &= needed <= *available;
                any |= *open;
            }
            any
        };
        // Where devices have room, so has their sum.
        let mut dims = dims;
        if self.has_devices() {
            dims = dims.without(Dim::Gpu);
            // Whatever the number of devices, it needs one; whole ones are counted.
            if !keep(ask.milli(), &self.freest) {
                return;
            }
            if ask.gpus > 1 && ask.milli() == i32::from(WHOLE) && !keep(i32::from(ask.gpus), &self.whole) {
                return;
            }
        }
        for dim in BY_SELECTIVITY.into_iter().filter(|dim| dims.has(*dim)) {
            if !keep(ask.demand[dim], &self.available[dim.index()]) {
                return;
            }
        }
        if is_first {
            is_open.clear();
            is_open.resize(self.versions.len(), true);
        }
        if self.has_devices() && ask.gpus > 1 && ask.milli() < i32::from(WHOLE) {
            for (open, node) in is_open.iter_mut().zip(0..) {
                *open = *open && self.devices_hold(NodeId(node), ask);
            }
        }
    }

    /// How many tasks fit, at most `most`; where tasks take parts of several devices each, never too few.
    pub fn slots(&self, node: NodeId, ask: &Ask, dims: DimMask, most: u16) -> u16 {
        let n = node.index();
        let by_amount = dims
            .iter()
            .filter(|dim| ask.demand[*dim] > 0)
            .map(|dim| (self.available[dim.index()][n].max(0) / ask.demand[dim]).min(i32::from(most)) as u16)
            .min()
            .unwrap_or(most);
        match &self.devices {
            Some(devices) if ask.gpus > 0 => {
                let milli = ask.milli().max(1);
                let parts: i32 = devices.free(node).iter().map(|free| i32::from(*free) / milli).sum();
                by_amount.min((parts / i32::from(ask.gpus)).min(i32::from(most)) as u16)
            }
            _ => by_amount,
        }
    }

    /// Whether the node could hold a task if it were empty.
    pub fn could_hold(&self, cluster: &Cluster, node: NodeId, ask: &Ask, dims: DimMask) -> bool {
        let used = cluster.used(node);
        let has_devices =
            !self.has_devices() || (cluster.devices(node).len() >= usize::from(ask.gpus) && ask.milli() <= 1000);
        has_devices && dims.iter().all(|dim| ask.demand[dim] <= self.available[dim.index()][node.index()] + used[dim])
    }

    /// Whether any node may be cordoned at all.
    pub fn cordons(&self) -> bool {
        self.cordon > 0.0
    }

    /// Whether nothing may be placed on the node because its storage looks ill.
    pub fn is_cordoned(&self, node: NodeId) -> bool {
        self.cordoned[node.index()]
    }

    /// Planned storage bandwidth − used, in MB/s.
    pub fn available_storage(&self, node: NodeId) -> i32 {
        self.available[Dim::Sto.index()][node.index()]
    }

    pub fn view<'a>(&'a self, setup: &'a Setup) -> View<'a> {
        View {
            available: &self.available,
            versions: &self.versions,
            changes: &self.changes,
            node_types: &setup.node_types,
            nodes: &setup.nodes,
            inverse: &self.inverse,
            classes: &setup.classes,
            typical: &setup.typical,
            devices: self.devices.as_ref(),
            hosted: &self.hosted,
        }
    }

    /// Whether the ask allows the node's type.
    pub fn allows(setup: &Setup, node: NodeId, ask: &Ask) -> bool {
        ask.types.allows(usize::from(setup.nodes[node.index()]))
    }
}

/// The bit of [`View::hosted`] for a task on so many devices; none without.
fn kind_of(devices: usize, gpu_milli: i32) -> u64 {
    match devices {
        0 => 0,
        1 if gpu_milli < i32::from(WHOLE) => 1,
        whole => 1 << whole.min(63),
    }
}
