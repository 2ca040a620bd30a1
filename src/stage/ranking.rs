//! How policies of a packing run stand to each other, and what the tie-break does to that.

use crate::replay::Point;

/// Where a policy stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// GPU allocated when 100 % of the cluster's GPUs have been asked for, in percent.
    pub alloc_100: Option<f64>,
    /// The same at 130 %.
    pub alloc_130: Option<f64>,
    /// Fragmented share of the idle GPU at 80 %, in percent.
    pub frag_80: Option<f64>,
    /// 1 for the policy that has allocated most at 100 %; those that differ by less than is printed share a rank.
    pub rank: Option<u32>,
}

/// Values that differ by less than this are the same to two decimals.
const SAME: f64 = 0.005;

/// The last value of a curve at or before a percentage that it reaches: on a small cluster a pod is several percent, and
/// until the next one nothing changes.
#[must_use]
pub fn up_to(curve: &[Point], percent: u32) -> Option<&Point> {
    curve.last().filter(|last| last.arrived_pct >= percent)?;
    curve[..curve.partition_point(|point| point.arrived_pct <= percent)].last()
}

/// The standings of finished curves, in their order; a curve that is not finished is `None` and has no rank.
#[must_use]
pub fn standings<C: AsRef<[Point]>>(curves: &[Option<C>]) -> Vec<Standing> {
    let value = |curve: &Option<C>, percent, of: fn(&Point) -> f64| {
        curve.as_ref().and_then(|curve| up_to(curve.as_ref(), percent)).map(of)
    };
    let alloc_100: Vec<Option<f64>> = curves.iter().map(|curve| value(curve, 100, |point| point.alloc)).collect();
    let rank = |own: f64| 1 + alloc_100.iter().flatten().filter(|other| **other - own >= SAME).count() as u32;
    curves
        .iter()
        .zip(&alloc_100)
        .map(|(curve, alloc_100)| Standing {
            alloc_100: *alloc_100,
            alloc_130: value(curve, 130, |point| point.alloc),
            frag_80: value(curve, 80, |point| point.frag_ratio),
            rank: alloc_100.map(rank),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(alloc: f64) -> Option<Vec<Point>> {
        let point = |arrived_pct, alloc| Point { arrived_pct, alloc, frag_ratio: 30.0 };
        Some(vec![point(80, 80.0), point(100, alloc), point(130, alloc + 1.0)])
    }

    #[test]
    fn who_allocates_most_is_first_and_equals_share_a_rank() {
        let found = standings(&[curve(90.0), curve(95.0), None, curve(90.004), curve(80.0)]);
        let ranks: Vec<Option<u32>> = found.iter().map(|standing| standing.rank).collect();
        assert_eq!(ranks, [Some(2), Some(1), None, Some(2), Some(4)]);
        assert_eq!(found[1].alloc_130, Some(96.0));
        assert_eq!(found[1].frag_80, Some(30.0));
    }

    #[test]
    fn between_two_arrivals_nothing_changes() {
        let point = |arrived_pct| Point { arrived_pct, alloc: f64::from(arrived_pct), frag_ratio: 1.0 };
        let curve = [point(97), point(103)];
        assert_eq!(
            [96, 97, 100, 103, 104].map(|percent| up_to(&curve, percent).map(|point| point.arrived_pct)),
            [None, Some(97), Some(97), Some(103), None,]
        );
    }

    #[test]
    fn what_is_not_there_is_not_made_up() {
        let found = standings(&[Some(vec![Point { arrived_pct: 99, alloc: 9.0, frag_ratio: 1.0 }]), None]);
        assert!(found.iter().all(|standing| standing.rank.is_none() && standing.alloc_100.is_none()));
    }
}
