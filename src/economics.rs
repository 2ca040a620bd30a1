//! What GPU-hours cost: pure functions from prices and hours to money.
//!
//! The one idea: **owned and rented GPUs bill by the clock, output comes by the useful hour.** Utilisation therefore
//! only ever divides output; it never lowers a cost. Money is a plain number in the user's currency: nothing here
//! knows a currency, an exchange rate or today's prices.
//!
//! What it does not do: call waste "savings". Whether a recovered hour is worth money (returned, not bought, or sold
//! as output) is for the reader to say.

use serde::{Deserialize, Serialize};

use crate::probes::{LedgerHours, Uses};

/// Hours in a year of 365 days.
pub const HOURS_PER_YEAR: f64 = 8760.0;

/// What things cost, in the user's currency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prices {
    /// One GPU for one hour, blended over how the GPUs were bought.
    pub gpu_hour: f64,
}

/// A stream of money at three scales.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Waste {
    /// Each hour.
    pub per_hour: f64,
    /// Each day of 24 hours.
    pub per_day: f64,
    /// Each year of as many hours as were given.
    pub per_year: f64,
}

/// What `gpus` cost at `price` a GPU-hour, whether they work or not.
///
/// `hours_per_year` is the number of hours billed in a year, usually [`HOURS_PER_YEAR`].
#[must_use]
pub fn spend(gpus: f64, price: f64, hours_per_year: f64) -> Waste {
    let per_hour = gpus * price;
    Waste { per_hour, per_day: per_hour * 24.0, per_year: per_hour * hours_per_year }
}

/// The part of [`spend`] that buys no work: `share` (0..1) of the GPU-hours is stranded, stalled or idle.
#[must_use]
pub fn waste(gpus: f64, price: f64, share: f64, hours_per_year: f64) -> Waste {
    let Waste { per_hour, per_day, per_year } = spend(gpus, price, hours_per_year);
    Waste { per_hour: per_hour * share, per_day: per_day * share, per_year: per_year * share }
}

/// What a GPU-hour that does work costs when `share` (0..1) of the hours do none: price ÷ (1 − share).
///
/// Infinite when no hour does any work.
#[must_use]
pub fn price_per_productive(price: f64, share: f64) -> f64 {
    price / (1.0 - share).max(0.0)
}

/// Where the money of a run went: each use of the ledger at the price of its GPU-hours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bill {
    /// Every GPU-hour of the fleet.
    pub total: f64,
    /// Its parts.
    #[serde(flatten)]
    pub uses: Uses,
}

impl Bill {
    /// Total − the sum of the parts: zero but for the last bits of a sum, if the ledger balances.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.total - self.uses.parts().iter().map(|(_, money)| money).sum::<f64>()
    }
}

/// Prices every use of `ledger`.
#[must_use]
pub fn bill(ledger: &LedgerHours, prices: Prices) -> Bill {
    let money = |hours: f64| hours * prices.gpu_hour;
    Bill { total: money(ledger.capacity), uses: ledger.uses.map(money) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_gpus_at_three_dollars() {
        let gross = spend(1000.0, 3.0, HOURS_PER_YEAR);
        assert_eq!(gross, Waste { per_hour: 3_000.0, per_day: 72_000.0, per_year: 26_280_000.0 });
        let tenth = waste(1000.0, 3.0, 0.10, HOURS_PER_YEAR);
        assert_eq!(tenth, Waste { per_hour: 300.0, per_day: 7_200.0, per_year: 2_628_000.0 });
    }

    #[test]
    fn a_productive_hour_costs_more_than_a_billed_one() {
        assert_eq!(libm::round(price_per_productive(3.0, 0.10) * 100.0) / 100.0, 3.33);
        assert_eq!(price_per_productive(3.0, 0.0), 3.0);
        assert_eq!(price_per_productive(3.0, 1.0), f64::INFINITY);
        assert_eq!(price_per_productive(3.0, 1.5), f64::INFINITY);
    }

    #[test]
    fn the_parts_of_a_bill_are_its_total() {
        let uses = Uses { productive: 70.0, stalled: 8.0, redone: 2.0, stranded: 10.0, held: 4.0, spare: 6.0 };
        let ledger = LedgerHours { capacity: 100.0, uses, difference: 0 };
        let bill = bill(&ledger, Prices { gpu_hour: 3.0 });
        assert_eq!((bill.total, bill.uses.stalled, bill.uses.spare), (300.0, 24.0, 18.0));
        assert_eq!(bill.difference(), 0.0);
    }
}
