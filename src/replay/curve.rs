//! What the experiment measures after every arrival: GPU allocated, and the share of the idle GPU that is fragmented.

use crate::cluster::{Cluster, DeviceMask, NodeId};
use crate::engine::setup::Setup;
use crate::probes::{Fact, Probe, Stage, Totals};
use crate::resources::Dim;
use crate::units::SimTime;
use crate::workload::typical::Fragments;

use serde::{Deserialize, Serialize};

/// Demand beyond this percentage counts as this.
const MOST_PERCENT: u32 = 1000;

/// A point of both curves: means over the arrivals that brought demand to this percentage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Demand arrived so far, placed or turned away, in percent of the cluster's GPUs; half percents go to the even
    /// number, and what lies beyond 1000 counts as that.
    pub arrived_pct: u32,
    /// GPU allocated, in percent of the cluster's; rounded to hundredths before and after the mean, as published.
    pub alloc: f64,
    /// Fragmented share of the idle GPU, in percent; rounded to hundredths before the mean.
    pub frag_ratio: f64,
}

/// The percentage that a demand of so many thousandths counts as, of a cluster with so many.
#[must_use]
pub fn percent_of(arrived_milli: i64, capacity_milli: i64) -> u32 {
    let percent = libm::rint(100.0 * arrived_milli as f64 / capacity_milli as f64) as u32;
    percent.min(MOST_PERCENT)
}

/// Where a pod went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The node, in the order of ties.
    pub node: NodeId,
    /// Its devices; none for a pod without GPUs.
    pub devices: DeviceMask,
}

/// Sums over the arrivals of one percent, in hundredths of a percent.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    arrivals: i64,
    alloc: i64,
    frag: i64,
}

/// The experiment's probe.
#[derive(Clone, Debug)]
pub struct Packing {
    fragments: Fragments,
    /// Expected fragment of each node, and of all.
    of_node: Vec<f64>,
    of_all: f64,
    arrived_milli: i64,
    bins: Vec<Bin>,
    rejected: u64,
    placements: Vec<Option<Placement>>,
}

impl Packing {
    /// For a run of `setup`.
    #[must_use]
    pub fn new(setup: &Setup) -> Self {
        Self {
            fragments: Fragments::new(setup.typical.clone()),
            of_node: Vec::new(),
            of_all: 0.0,
            arrived_milli: 0,
            bins: Vec::new(),
            rejected: 0,
            placements: Vec::new(),
        }
    }

    /// Computes everything anew from now on. For the slow twin in tests: results are the same.
    #[doc(hidden)]
    #[must_use]
    pub fn forgetful(mut self) -> Self {
        self.fragments.forget();
        self
    }

    /// The curves so far, a point a percent; percentages at which nothing arrived are left out.
    #[must_use]
    pub fn curve(&self) -> Vec<Point> {
        let filled = (0..).zip(&self.bins).filter(|(_, bin)| bin.arrivals > 0);
        let point = |(arrived_pct, bin): (u32, &Bin)| Point {
            arrived_pct,
            alloc: libm::round(bin.alloc as f64 / bin.arrivals as f64) / 100.0,
            frag_ratio: bin.frag as f64 / bin.arrivals as f64 / 100.0,
        };
        filled.map(point).collect()
    }

    /// Pods turned away so far.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Where each pod went, in order of arrival; `None`: nowhere.
    #[must_use]
    pub fn placements(&self) -> &[Option<Placement>] {
        &self.placements
    }

    fn measure(&mut self, cluster: &Cluster, node: NodeId) -> f64 {
        let cpu = cluster.capacity(node)[Dim::Cpu] - cluster.used(node)[Dim::Cpu];
        self.fragments.of(cluster.type_index(node), cpu, cluster.devices(node))
    }

    fn look_at_all(&mut self, cluster: &Cluster) {
        self.of_node = cluster.ids().map(|node| self.measure(cluster, node)).collect();
        self.of_all = self.of_node.iter().sum();
    }

    /// After an arrival, placed or not.
    fn record(&mut self, totals: &Totals) {
        let capacity = totals.capacity_milli as f64;
        let percent = percent_of(self.arrived_milli, totals.capacity_milli) as usize;
        if self.bins.len() <= percent {
            self.bins.resize(percent + 1, Bin::default());
        }
        let idle = (totals.capacity_milli - totals.allocated_milli) as f64;
        let bin = &mut self.bins[percent];
        bin.arrivals += 1;
        bin.alloc += libm::round(10_000.0 * totals.allocated_milli as f64 / capacity) as i64;
        if idle > 0.0 {
            bin.frag += libm::round(10_000.0 * self.of_all / idle) as i64;
        }
    }
}

impl Probe for Packing {
    fn elapse(&mut self, _from: SimTime, _to: SimTime, _totals: &Totals) {}

    fn observe(&mut self, _at: SimTime, fact: &Fact<'_>, stage: &Stage<'_>) {
        match fact {
            Fact::Arrived { job } => {
                if self.of_node.is_empty() {
                    self.look_at_all(stage.cluster);
                }
                self.arrived_milli += job.gpu_milli();
            }
            Fact::Started { nodes, devices, .. } => {
                for (&node, &devices) in nodes.iter().zip(*devices) {
                    let after = self.measure(stage.cluster, node);
                    self.of_all += after - self.of_node[node.index()];
                    self.of_node[node.index()] = after;
                    self.placements.push(Some(Placement { node, devices }));
                }
                self.record(stage.totals);
            }
            Fact::Rejected { .. } => {
                self.rejected += 1;
                self.placements.push(None);
                self.record(stage.totals);
            }
            _ => {}
        }
    }
}
