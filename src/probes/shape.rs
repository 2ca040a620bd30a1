//! The shape of what is left: fragmentation, strandedness, health – running sums of one contribution a node.
//!
//! Contributions are whole numbers (billionths, or GPU thousandths × class weight in millionths), so sums do not
//! drift however often nodes change.

use crate::cluster::{Cluster, NodeId};
use crate::engine::setup::Setup;
use crate::probes::{Fact, Metrics, Stage, Window, over};
use crate::resources::{Amounts, DIMS, DimMask};
use crate::units::SimTime;

/// Billionths make up one.
const NANO: f64 = 1e9;

/// What is left of a node, as the metrics see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Contribution {
    /// Variance of the residual shape ÷ its maximum, in billionths.
    variance: i64,
    /// Free GPUs on which the typical task does not fit: thousandths × millionths of class weight.
    stranded: i64,
    /// Free GPUs, usable, on a node kept for a job that has waited long.
    held: i64,
    /// Free GPUs in thousandths.
    free: i64,
    /// Weight of the classes whose typical task fits, in millionths.
    fitting: i64,
    /// 1 if a soft dimension is oversubscribed.
    oversubscribed: i64,
}

/// Free GPUs by what they are good for: thousandths × millionths of class weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Free {
    pub stranded: i64,
    pub held: i64,
}

/// Shape measures, now and over the measured window.
#[derive(Clone, Debug)]
pub struct Shape {
    window: Window,
    typical: Vec<(Amounts, i64)>,
    nodes: Vec<Contribution>,
    now: Contribution,
    integral: [i128; 5],
    measured_ms: i128,
    capacity_milli: i64,
}

/// The largest population variance that `k` numbers between 0 and 1 can have: ⌊k²/4⌋ / k².
#[must_use]
pub fn largest_variance(k: usize) -> f64 {
    if k < 2 {
        return 1.0;
    }
    (k * k / 4) as f64 / (k * k) as f64
}

/// Variance of the normalised residuals over `dims`, as a share of the largest possible: 0 (a cube) to 1.
#[must_use]
pub fn shape_variance(normalised: &[f64; DIMS], dims: DimMask) -> f64 {
    let k = dims.len().max(1) as f64;
    let mean = dims.iter().map(|dim| normalised[dim.index()]).sum::<f64>() / k;
    let square = |value: f64| (value - mean) * (value - mean);
    let variance = dims.iter().map(|dim| square(normalised[dim.index()])).sum::<f64>() / k;
    variance / largest_variance(dims.len())
}

impl Shape {
    pub(crate) fn new(setup: &Setup, window: Window) -> Self {
        let typical = setup.classes.iter().filter(|class| class.share_ppm > 0);
        let capacity = setup
            .nodes
            .iter()
            .map(|kind| i64::from(setup.node_types[usize::from(*kind)].capacity[crate::resources::Dim::Gpu]));
        Self {
            window,
            typical: typical.map(|class| (class.typical, i64::from(class.share_ppm))).collect(),
            nodes: vec![Contribution::default(); setup.nodes.len()],
            now: Contribution::default(),
            integral: [0; 5],
            measured_ms: 0,
            capacity_milli: capacity.sum(),
        }
    }

    /// Fragmentation at this moment, 0..1.
    #[must_use]
    pub fn f_shape(&self) -> f64 {
        self.now.variance as f64 / NANO / self.nodes.len() as f64
    }

    /// Share of the fleet's GPUs that is stranded at this moment, 0..1.
    #[must_use]
    pub fn stranded_share(&self) -> f64 {
        self.now.stranded as f64 / 1e6 / (self.capacity_milli.max(1)) as f64
    }

    /// Residual health at this moment, 0..1.
    #[must_use]
    pub fn health(&self) -> f64 {
        self.now.fitting as f64 / 1e6 / self.nodes.len() as f64
    }

    /// Fragmentation of one node, 0..1.
    #[must_use]
    pub fn node_f_shape(&self, node: NodeId) -> f64 {
        self.nodes[node.index()].variance as f64 / NANO
    }

    /// Stranded GPUs on one node, in whole GPUs (weighed by class, so not a whole number).
    #[must_use]
    pub fn node_stranded(&self, node: NodeId) -> f64 {
        self.nodes[node.index()].stranded as f64 / 1e9
    }

    pub(crate) fn free(&self) -> Free {
        Free { stranded: self.now.stranded, held: self.now.held }
    }

    pub(crate) fn elapse(&mut self, from: SimTime, to: SimTime) {
        let span = self.window.overlap_ms(from, to);
        let now = &self.now;
        let values = [now.variance, now.stranded, now.free, now.fitting, now.oversubscribed];
        for (integral, value) in self.integral.iter_mut().zip(values) {
            *integral += over(i128::from(value), span);
        }
        self.measured_ms += span;
    }

    pub(crate) fn observe(&mut self, fact: &Fact<'_>, stage: &Stage<'_>) {
        let Fact::NodeChanged { node, reserved } = *fact else { return };
        let next = self.look_at(stage.cluster, node, reserved);
        let last = core::mem::replace(&mut self.nodes[node.index()], next);
        let now = &mut self.now;
        now.variance += next.variance - last.variance;
        now.stranded += next.stranded - last.stranded;
        now.held += next.held - last.held;
        now.free += next.free - last.free;
        now.fitting += next.fitting - last.fitting;
        now.oversubscribed += next.oversubscribed - last.oversubscribed;
    }

    fn look_at(&self, cluster: &Cluster, node: NodeId, reserved: bool) -> Contribution {
        let residual = cluster.residual(node);
        let fits = |demand: &Amounts| demand.fits_in(&residual, cluster.exists());
        let fitting: i64 = self.typical.iter().filter(|(demand, _)| fits(demand)).map(|(_, weight)| weight).sum();
        let free = i64::from(cluster.free_gpu_milli(node));
        let variance = shape_variance(&cluster.normalised(node), cluster.exists());
        Contribution {
            variance: libm::round(variance * NANO) as i64,
            stranded: free * (1_000_000 - fitting),
            held: if reserved { free * fitting } else { 0 },
            free,
            fitting,
            oversubscribed: i64::from(cluster.is_oversubscribed(node)),
        }
    }

    pub(crate) fn report(&self, metrics: &mut Metrics) {
        let [variance, stranded, free, fitting, oversubscribed] = self.integral;
        let node_ms = (self.measured_ms * self.nodes.len() as i128).max(1) as f64;
        let gpu_ms = (self.measured_ms * i128::from(self.capacity_milli)).max(1) as f64;
        metrics.f_shape = variance as f64 / NANO / node_ms;
        metrics.f_strand = stranded as f64 / 1e6 / free.max(1) as f64;
        metrics.strand_total = stranded as f64 / 1e6 / gpu_ms;
        metrics.health = fitting as f64 / 1e6 / node_ms;
        metrics.over_nodes = oversubscribed as f64 / node_ms;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_shape_has_three_full_and_four_empty_axes() {
        assert_eq!(largest_variance(7), 12.0 / 49.0);
        let worst = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0];
        assert!((shape_variance(&worst, DimMask::SEVEN) - 1.0).abs() < 1e-12);
        assert!(shape_variance(&[0.4; DIMS], DimMask::SEVEN) < 1e-12);
    }

    proptest::proptest! {
        #[test]
        fn fragmentation_is_a_share(values in proptest::array::uniform7(0.0..=1.0f64)) {
            let share = shape_variance(&values, DimMask::SEVEN);
            proptest::prop_assert!((0.0..=1.0 + 1e-12).contains(&share));
        }
    }
}
