//! Money: what must hold for any prices, not only for the worked example.

use proptest::prelude::*;
use residua::economics::{HOURS_PER_YEAR, Prices, bill, price_per_productive, spend, waste};
use residua::probes::{LedgerHours, Uses};

/// Prices, fleets and shares as people have them.
fn fleet() -> impl Strategy<Value = (f64, f64)> {
    (0.0..100_000.0, 0.0..1_000.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// An idle GPU is billed too. Public calculators multiply rent by utilisation, so that idling looks cheap.
    #[test]
    fn what_is_owned_costs_the_same_however_it_is_used((gpus, price) in fleet(), a in 0.01..1.0, b in 0.01..1.0) {
        let gross = spend(gpus, price, HOURS_PER_YEAR);
        for wasted in [a, b] {
            // Wasted and useful money always make up the same bill.
            let lost = waste(gpus, price, wasted, HOURS_PER_YEAR).per_year;
            let useful = waste(gpus, price, 1.0 - wasted, HOURS_PER_YEAR).per_year;
            prop_assert!((lost + useful - gross.per_year).abs() <= 1e-9 * gross.per_year.max(1.0));
        }
    }

    #[test]
    fn more_waste_never_costs_less((gpus, price) in fleet(), a in 0.0..1.0, b in 0.0..1.0) {
        let (low, high) = if a <= b { (a, b) } else { (b, a) };
        let less = waste(gpus, price, low, HOURS_PER_YEAR);
        let more = waste(gpus, price, high, HOURS_PER_YEAR);
        prop_assert!(less.per_hour <= more.per_hour && less.per_day <= more.per_day && less.per_year <= more.per_year);
        prop_assert!(price_per_productive(price, low) <= price_per_productive(price, high));
    }

    #[test]
    fn the_parts_of_any_bill_are_its_total(uses in prop::array::uniform6(0.0..10_000.0), price in 0.0..1_000.0) {
        let [productive, stalled, redone, stranded, held, spare] = uses;
        let capacity = uses.iter().sum();
        let uses = Uses { productive, stalled, redone, stranded, held, spare };
        let ledger = LedgerHours { capacity, uses, difference: 0 };
        let bill = bill(&ledger, Prices { gpu_hour: price });
        prop_assert!(bill.difference().abs() <= 1e-9 * bill.total.max(1.0), "{}", bill.difference());
        // A part that goes missing is noticed.
        let uses = Uses { stalled: bill.uses.stalled + 1.0, ..bill.uses };
        let broken = residua::economics::Bill { uses, ..bill };
        prop_assert!((broken.difference() + 1.0).abs() <= 1e-6);
    }
}
