//! What was published beside what a replay found.

use serde::Serialize;

use crate::replay::Point;
use crate::workload::openb::packing::{Published, PublishedMean};

/// A published value beside ours, both in percent; means, where there are several runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// Demand arrived, in percent of the cluster's GPUs.
    pub arrived_pct: u32,
    /// GPU allocated: ours.
    pub alloc: f64,
    /// GPU allocated: published.
    pub alloc_published: f64,
    /// Fragmented share of the idle GPU: ours.
    pub frag_ratio: f64,
    /// Fragmented share of the idle GPU: published.
    pub frag_ratio_published: f64,
}

impl Pair {
    /// Ours − published, allocated and fragmented, in percentage points.
    #[must_use]
    pub fn differences(&self) -> (f64, f64) {
        (self.alloc - self.alloc_published, self.frag_ratio - self.frag_ratio_published)
    }
}

/// Pairs one run with the published run of this workload, policy and seed. Empty if there is none.
#[must_use]
pub fn pair(curve: &[Point], published: &[Published], workload: &str, policy: &str, seed: u64) -> Vec<Pair> {
    let rows = published
        .iter()
        .filter(|row| row.workload == workload && row.policy == policy && row.seed == seed)
        .map(|row| (row.arrived_pct, row.alloc, row.frag_ratio));
    together(curve, rows)
}

/// Pairs the mean of several runs with the mean over all published seeds of this workload and policy.
#[must_use]
pub fn pair_means(curves: &[&[Point]], published: &[Published], workload: &str, policy: &str) -> Vec<Pair> {
    pair_with(&mean(curves), &means(published, workload, policy))
}

/// Pairs a curve with published means.
#[must_use]
pub fn pair_with(curve: &[Point], means: &[PublishedMean]) -> Vec<Pair> {
    together(curve, means.iter().map(|mean| (mean.arrived_pct, mean.alloc, mean.frag_ratio)))
}

/// The means over all published seeds of a workload and a policy, by percent arrived.
#[must_use]
pub fn means(published: &[Published], workload: &str, policy: &str) -> Vec<PublishedMean> {
    let rows: Vec<&Published> =
        published.iter().filter(|row| row.workload == workload && row.policy == policy).collect();
    let mut percents: Vec<u32> = rows.iter().map(|row| row.arrived_pct).collect();
    percents.sort_unstable();
    percents.dedup();
    let mean = |arrived_pct: u32| {
        let of = || rows.iter().filter(|row| row.arrived_pct == arrived_pct);
        let count = of().count() as f64;
        PublishedMean {
            workload: workload.to_owned(),
            policy: policy.to_owned(),
            arrived_pct,
            alloc: of().map(|row| row.alloc).sum::<f64>() / count,
            frag_ratio: of().map(|row| row.frag_ratio).sum::<f64>() / count,
        }
    };
    percents.into_iter().map(mean).collect()
}

/// The greatest differences of some pairs, allocated and fragmented, in percentage points; rounded to four decimals, as
/// the published values are.
#[must_use]
pub fn greatest(pairs: &[Pair]) -> (f64, f64) {
    let rounded = |value: f64| libm::round(value * 1e4) / 1e4;
    let most = pairs
        .iter()
        .map(Pair::differences)
        .fold((0.0_f64, 0.0_f64), |most, (alloc, frag)| (most.0.max(alloc.abs()), most.1.max(frag.abs())));
    (rounded(most.0), rounded(most.1))
}

/// The mean curve; a percentage that only some runs have is a mean over these.
#[must_use]
pub fn mean(curves: &[&[Point]]) -> Vec<Point> {
    let most = curves.iter().flat_map(|curve| curve.iter()).map(|point| point.arrived_pct).max();
    let Some(most) = most else { return Vec::new() };
    let mut sums = vec![(0.0, 0.0, 0u32); most as usize + 1];
    for point in curves.iter().flat_map(|curve| curve.iter()) {
        let sum = &mut sums[point.arrived_pct as usize];
        *sum = (sum.0 + point.alloc, sum.1 + point.frag_ratio, sum.2 + 1);
    }
    (0..)
        .zip(sums)
        .filter(|(_, sum)| sum.2 > 0)
        .map(|(arrived_pct, (alloc, frag, count))| Point {
            arrived_pct,
            alloc: alloc / f64::from(count),
            frag_ratio: frag / f64::from(count),
        })
        .collect()
}

fn together(curve: &[Point], published: impl Iterator<Item = (u32, f64, f64)>) -> Vec<Pair> {
    published
        .filter_map(|(arrived_pct, alloc_published, frag_ratio_published)| {
            let at = curve.binary_search_by_key(&arrived_pct, |point| point.arrived_pct).ok()?;
            let Point { alloc, frag_ratio, .. } = curve[at];
            Some(Pair { arrived_pct, alloc, alloc_published, frag_ratio, frag_ratio_published })
        })
        .collect()
}
