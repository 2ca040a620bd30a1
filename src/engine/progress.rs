//! How a node's storage bandwidth and I/O CPU are divided among its tasks, and so how fast each job runs.

use crate::cluster::books::Tenant;
use crate::engine::setup::Sharing;
use crate::resources::Dim;

/// Room to work in, kept between calls so that sharing allocates nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    order: Vec<(i32, u32)>,
    /// Shares before the last change, for whoever compares.
    pub before: Vec<f64>,
}

/// Sets each tenant's share: the least over the soft dimensions of grant ÷ ask, 1 where nothing is asked.
///
/// The dimensions are divided independently; a task held back by one does not release the other.
pub(crate) fn share(tenants: &mut [Tenant], capacity: [(Dim, i32); 2], sharing: Sharing, scratch: &mut Scratch) {
    for tenant in tenants.iter_mut() {
        tenant.share = 1.0;
    }
    for (dim, capacity) in capacity {
        let asked: i64 = tenants.iter().map(|tenant| i64::from(tenant.demand[dim])).sum();
        if asked <= i64::from(capacity) {
            continue;
        }
        match sharing {
            Sharing::Proportional => {
                let share = f64::from(capacity.max(0)) / asked as f64;
                for tenant in tenants.iter_mut().filter(|tenant| tenant.demand[dim] > 0) {
                    tenant.share = tenant.share.min(share);
                }
            }
            Sharing::MaxMin => {
                let level = water_level(tenants.iter().map(|tenant| tenant.demand[dim]), capacity, scratch);
                for tenant in tenants.iter_mut() {
                    let ask = f64::from(tenant.demand[dim]);
                    if ask > level {
                        tenant.share = tenant.share.min(level / ask);
                    }
                }
            }
        }
    }
}

/// The most that anyone gets when `asks` sum to more than `capacity`: whoever asks less gets all of it, the rest get
/// this much each (max-min fairness, by water-filling).
fn water_level(asks: impl Iterator<Item = i32>, capacity: i32, scratch: &mut Scratch) -> f64 {
    scratch.order.clear();
    scratch.order.extend(asks.zip(0..));
    scratch.order.sort_unstable();
    let mut left = f64::from(capacity.max(0));
    let mut takers = scratch.order.len() as f64;
    for &(ask, _) in &scratch.order {
        let even = left / takers;
        if f64::from(ask) > even {
            return even;
        }
        left -= f64::from(ask);
        takers -= 1.0;
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Amounts;

    fn tenants(asks: &[i32]) -> Vec<Tenant> {
        asks.iter()
            .zip(0..)
            .map(|(&ask, slot)| {
                let mut demand = Amounts::ZERO;
                demand[Dim::Sto] = ask;
                Tenant { slot, demand, devices: crate::cluster::DeviceMask::NONE, share: 0.0 }
            })
            .collect()
    }

    fn shares(asks: &[i32], capacity: i32, sharing: Sharing) -> Vec<f64> {
        let mut tenants = tenants(asks);
        share(&mut tenants, [(Dim::Sto, capacity), (Dim::Ioc, 10)], sharing, &mut Scratch::default());
        tenants.iter().map(|tenant| tenant.share).collect()
    }

    #[test]
    fn small_asks_are_met_and_the_rest_share_evenly() {
        // 12 among 2, 5, 10: the first takes 2, the others 5 each.
        assert_eq!(shares(&[10, 2, 5], 12, Sharing::MaxMin), [0.5, 1.0, 1.0]);
        // 9 among 2, 5, 10: 2, 3.5, 3.5.
        assert_eq!(shares(&[10, 2, 5], 9, Sharing::MaxMin), [0.35, 1.0, 0.7]);
    }

    #[test]
    fn an_unpoliced_disk_slows_everyone_alike() {
        assert_eq!(shares(&[10, 2, 4], 8, Sharing::Proportional), [0.5, 0.5, 0.5]);
        assert_eq!(shares(&[10, 0], 5, Sharing::Proportional), [0.5, 1.0]);
    }

    #[test]
    fn enough_for_all_is_full_speed_exactly() {
        assert_eq!(shares(&[3, 4, 5], 12, Sharing::MaxMin), [1.0; 3]);
    }

    #[test]
    fn no_capacity_at_all_starves_only_those_who_ask() {
        assert_eq!(shares(&[0, 4], 0, Sharing::MaxMin), [1.0, 0.0]);
    }

    proptest::proptest! {
        /// No one gets more than it asks; no one is short while another has more than it; nothing is left over.
        #[test]
        fn max_min_fairness(asks in proptest::collection::vec(0..5000i32, 1..24), capacity in 0..20_000i32) {
            let grants: Vec<f64> = shares(&asks, capacity, Sharing::MaxMin)
                .iter().zip(&asks).map(|(share, ask)| share * f64::from(*ask)).collect();
            let total: f64 = grants.iter().sum();
            let asked: f64 = asks.iter().map(|ask| f64::from(*ask)).sum();
            proptest::prop_assert!((total - asked.min(f64::from(capacity))).abs() < 1e-6);
            for (grant, ask) in grants.iter().zip(&asks) {
                proptest::prop_assert!(*grant <= f64::from(*ask) + 1e-9);
                if *grant < f64::from(*ask) - 1e-9 {
                    for other in &grants {
                        proptest::prop_assert!(*other <= grant + 1e-9);
                    }
                }
            }
        }
    }
}
