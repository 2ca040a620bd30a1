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
/// Hours in a twelfth of that year.
pub const HOURS_PER_MONTH: f64 = 730.0;

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

/// Changing from one scheduler to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Switch {
    /// Less spent on hours without work, minus the running cost of the new scheduler. Negative: it costs more.
    pub per_year: f64,
    /// Months until the one-off cost is earned back; `None` if it never is.
    pub payback_months: Option<f64>,
}

/// What switching brings: spend × (share wasted before − after) − `running_per_year`, against `one_off`.
#[must_use]
pub fn switch(spend: Waste, share_before: f64, share_after: f64, running_per_year: f64, one_off: f64) -> Switch {
    let per_year = spend.per_year * (share_before - share_after) - running_per_year;
    let payback_months = (per_year > 0.0).then(|| one_off / per_year * 12.0);
    Switch { per_year, payback_months }
}

/// A fleet of one's own that serves tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Owned {
    /// Cost of one GPU for one hour, busy or not.
    pub gpu_hour: f64,
    /// Staff, space and whatever else a month costs however many GPUs there are.
    pub operations_per_month: f64,
    /// Tokens a second of one GPU at work.
    pub tokens_per_second: f64,
}

impl Owned {
    /// What `gpus` cost a month. There is no utilisation in it: an idle GPU is billed too.
    #[must_use]
    pub fn per_month(&self, gpus: f64) -> f64 {
        gpus * self.gpu_hour * HOURS_PER_MONTH + self.operations_per_month
    }

    /// Tokens a month of `gpus` that are `productive` (0..1) of the paid hours.
    #[must_use]
    pub fn tokens_per_month(&self, gpus: f64, productive: f64) -> f64 {
        gpus * self.tokens_per_second * 3600.0 * HOURS_PER_MONTH * productive
    }

    /// Whole GPUs for `tokens` a month when the busiest hour needs `peak` × the mean (1 or more): a staircase.
    ///
    /// `None` if no number of GPUs is enough, because none is ever productive.
    #[must_use]
    pub fn gpus_for(&self, tokens: f64, peak: f64, productive: f64) -> Option<f64> {
        let each = self.tokens_per_month(1.0, productive);
        (each > 0.0).then(|| libm::ceil(tokens * peak / each))
    }

    /// The least share of paid hours that must be productive for `gpus` to serve as cheaply as `api_per_million`.
    ///
    /// Above 1 it cannot be done at that price; `None` if the API is free or a GPU serves nothing.
    #[must_use]
    pub fn break_even_productive(&self, gpus: f64, api_per_million: f64) -> Option<f64> {
        let earned = self.tokens_per_month(gpus, 1.0) / 1e6 * api_per_million;
        (earned > 0.0).then(|| self.per_month(gpus) / earned)
    }

    /// Tokens a month above which `gpus` of one's own cost less than the API, if they can serve them.
    #[must_use]
    pub fn break_even_tokens(&self, gpus: f64, api_per_million: f64) -> Option<f64> {
        (api_per_million > 0.0).then(|| self.per_month(gpus) / api_per_million * 1e6)
    }
}

/// Prices of an API for a million tokens of each sort, and how one's tokens divide into them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenPrices {
    /// Price and share (0..1) of fresh input tokens.
    pub input: (f64, f64),
    /// Price and share of input tokens found in the provider's cache.
    pub cached: (f64, f64),
    /// Price and share of output tokens.
    pub output: (f64, f64),
}

impl TokenPrices {
    /// A million tokens of the mix.
    #[must_use]
    pub fn per_million(&self) -> f64 {
        [self.input, self.cached, self.output].iter().map(|(price, share)| price * share).sum()
    }
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

    #[test]
    fn a_switch_pays_back_or_does_not() {
        let gross = spend(1000.0, 3.0, HOURS_PER_YEAR);
        let better = switch(gross, 0.10, 0.05, 314_000.0, 500_000.0);
        assert!((better.per_year - 1_000_000.0).abs() < 1e-6, "{better:?}");
        assert!((better.payback_months.unwrap() - 6.0).abs() < 1e-9, "{better:?}");
        assert_eq!(switch(gross, 0.05, 0.05, 0.0, 500_000.0).payback_months, None);
        assert!(switch(gross, 0.05, 0.10, 0.0, 0.0).per_year < 0.0);
    }

    const OWNED: Owned = Owned { gpu_hour: 2.0, operations_per_month: 5_400.0, tokens_per_second: 1_000.0 };

    #[test]
    fn own_or_api_breaks_even_where_the_formulas_meet() {
        // 10 GPUs: 10 × 2 × 730 + 5,400 = 20,000 a month; at most 26.28 thousand million tokens.
        assert_eq!(OWNED.per_month(10.0), 20_000.0);
        assert_eq!(OWNED.tokens_per_month(10.0, 1.0), 26_280e6);
        // At 2 a million: 10,000 million tokens a month, or productive 20,000 / 52,560 of the hours.
        assert_eq!(OWNED.break_even_tokens(10.0, 2.0), Some(10_000e6));
        let share = OWNED.break_even_productive(10.0, 2.0).unwrap();
        assert_eq!(share, 20_000.0 / 52_560.0);
        assert!((OWNED.tokens_per_month(10.0, share) - 10_000e6).abs() < 1.0);
        assert_eq!(OWNED.break_even_tokens(10.0, 0.0), None);
        assert_eq!(OWNED.break_even_productive(10.0, 0.0), None);
    }

    #[test]
    fn gpus_come_whole() {
        // One GPU, half productive: 1,314 million tokens a month.
        assert_eq!(OWNED.gpus_for(1_314e6, 1.0, 0.5), Some(1.0));
        assert_eq!(OWNED.gpus_for(1_315e6, 1.0, 0.5), Some(2.0));
        assert_eq!(OWNED.gpus_for(1_314e6, 3.0, 0.5), Some(3.0));
        assert_eq!(OWNED.gpus_for(0.0, 1.0, 0.5), Some(0.0));
        assert_eq!(OWNED.gpus_for(1e6, 1.0, 0.0), None);
    }

    #[test]
    fn cached_tokens_are_priced_apart() {
        let prices = TokenPrices { input: (2.0, 0.5), cached: (0.5, 0.25), output: (8.0, 0.25) };
        assert_eq!(prices.per_million(), 1.0 + 0.125 + 2.0);
    }
}
