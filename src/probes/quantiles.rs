//! Quantiles of measures that come one by one: exact while there are few, and from then on in bounded memory.
//!
//! Up to [`MOST_EXACT`] values each is kept. From then on values are counted in buckets, each as wide as a 512th of the
//! power of two below it, so that a quantile is off by at most [`LARGEST_ERROR`] of itself, however many values come.

/// So many values are kept one by one: ten days of a cluster of 64 nodes.
pub const MOST_EXACT: usize = 250_000;

/// Most that a quantile of counted values is off, as a share of itself: half a bucket.
pub const LARGEST_ERROR: f64 = 1.0 / 1024.0;

/// Buckets a power of two, as a power of two.
const FINENESS: u32 = 9;

/// The bucket of the smallest value told apart from nothing: 2⁻¹⁰, as times are whole milliseconds.
const FIRST: u64 = (1023 - 10) << FINENESS;

/// Buckets up to 2⁵⁰; the largest measure, a run of a year ÷ a millisecond of work, is below 2³⁵.
const BUCKETS: usize = 60 << FINENESS;

/// Numbers that are not negative, in the order in which they came or in buckets.
#[derive(Clone, Debug, Default)]
pub struct Quantiles {
    values: Vec<f64>,
    buckets: Option<Buckets>,
}

/// How many values fell where.
#[derive(Clone, Debug)]
struct Buckets {
    counts: Vec<u64>,
    /// Values below the first bucket, which are nothing.
    nothing: u64,
    count: u64,
    sum: f64,
}

impl Quantiles {
    /// One more value.
    pub fn add(&mut self, value: f64) {
        if let Some(buckets) = &mut self.buckets {
            buckets.add(value);
            return;
        }
        self.values.push(value);
        if self.values.len() > MOST_EXACT {
            let mut buckets = Buckets { counts: vec![0; BUCKETS], nothing: 0, count: 0, sum: 0.0 };
            core::mem::take(&mut self.values).into_iter().for_each(|value| buckets.add(value));
            self.buckets = Some(buckets);
        }
    }

    /// The values in the order in which they came, while each is kept.
    #[must_use]
    pub fn kept(&self) -> Option<&[f64]> {
        self.buckets.is_none().then_some(&self.values)
    }

    /// Most that a quantile is off, as a share of itself.
    #[must_use]
    pub fn error(&self) -> f64 {
        if self.buckets.is_some() { LARGEST_ERROR } else { 0.0 }
    }

    /// The quantiles at each of `at`, and the mean; nothing where no value came.
    #[must_use]
    pub fn read<const N: usize>(&self, at: [f64; N]) -> ([Option<f64>; N], Option<f64>) {
        match &self.buckets {
            Some(buckets) => {
                let quantiles = at.map(|q| quantile(buckets.count, q, |position| buckets.at(position)));
                (quantiles, Some(buckets.sum / buckets.count as f64))
            }
            None => {
                let mut sorted = self.values.clone();
                sorted.sort_by(f64::total_cmp);
                let count = sorted.len() as u64;
                let quantiles = at.map(|q| quantile(count, q, |position| sorted[position as usize]));
                (quantiles, (count > 0).then(|| sorted.iter().sum::<f64>() / count as f64))
            }
        }
    }
}

impl Buckets {
    fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        // The bits of a number that is not negative rise with it: exponent first, then the parts of its power of two.
        match (value.to_bits() >> (52 - FINENESS)).checked_sub(FIRST) {
            Some(bucket) => self.counts[(bucket as usize).min(BUCKETS - 1)] += 1,
            None => self.nothing += 1,
        }
    }

    /// The value at `position` in rising order: the middle of its bucket.
    fn at(&self, position: u64) -> f64 {
        let mut below = self.nothing;
        if position < below {
            return 0.0;
        }
        for (bucket, count) in self.counts.iter().enumerate() {
            below += count;
            if position < below {
                let edge = |bucket: u64| f64::from_bits((FIRST + bucket) << (52 - FINENESS));
                return f64::midpoint(edge(bucket as u64), edge(bucket as u64 + 1));
            }
        }
        0.0
    }
}

/// The quantile at `q` (0..=1) of `count` values in rising order, `at` each position, between neighbours by linear
/// interpolation (type 7 of Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996). `None` if there are no values.
pub(crate) fn quantile(count: u64, q: f64, at: impl Fn(u64) -> f64) -> Option<f64> {
    let last = count.checked_sub(1)?;
    let position = q * last as f64;
    let below = position as u64;
    let above = (below + 1).min(last);
    let low = at(below);
    Some(low + (at(above) - low) * (position - below as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    fn of(values: impl IntoIterator<Item = f64>) -> Quantiles {
        let mut quantiles = Quantiles::default();
        values.into_iter().for_each(|value| quantiles.add(value));
        quantiles
    }

    #[test]
    fn quantiles_interpolate_between_neighbours() {
        let four = of([4.0, 1.0, 3.0, 2.0]);
        assert_eq!(four.read([0.5, 0.0, 1.0]), ([Some(2.5), Some(1.0), Some(4.0)], Some(2.5)));
        assert_eq!(of([]).read([0.5]), ([None], None));
        assert_eq!(four.error(), 0.0);
    }

    /// Waits as they come: a part of them nothing, the others over nine powers of ten.
    fn waits(count: usize) -> Vec<f64> {
        let mut stream = Stream::new(1, Purpose::Attributes, 0, 0);
        let wait = |stream: &mut Stream| libm::round(1000.0 * stream.lognormal(3.0) * 40.0) / 1000.0;
        (0..count).map(|_| if stream.unit() < 0.2 { 0.0 } else { wait(&mut stream) }).collect()
    }

    #[test]
    fn counted_values_are_off_by_no_more_than_is_said_and_memory_stays() {
        let mut values = waits(MOST_EXACT + 50_000);
        let counted = of(values.iter().copied());
        assert_eq!(counted.kept(), None);
        let at = [0.0, 0.1, 0.2, 0.5, 0.9, 0.99, 0.9999, 1.0];
        let (quantiles, mean) = counted.read(at);
        values.sort_by(f64::total_cmp);
        for (q, found) in at.into_iter().zip(quantiles) {
            let exact = quantile(values.len() as u64, q, |position| values[position as usize]).expect("values");
            let found = found.expect("values");
            assert!((found - exact).abs() <= counted.error() * exact, "{q}: {found} instead of {exact}");
        }
        let exact = values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean.expect("values") - exact).abs() < 1e-9 * exact);
        // Nothing is kept a value.
        assert_eq!(counted.values.capacity(), 0);
    }

    #[test]
    fn the_last_exact_value_changes_nothing() {
        let values = waits(MOST_EXACT);
        let exact = of(values.iter().copied());
        assert_eq!((exact.kept().map(<[f64]>::len), exact.error()), (Some(MOST_EXACT), 0.0));
    }

    #[test]
    fn what_is_out_of_all_bounds_is_counted_at_the_bound() {
        let mut buckets = Buckets { counts: vec![0; BUCKETS], nothing: 0, count: 0, sum: 0.0 };
        [1e300, 1e-300, f64::INFINITY].into_iter().for_each(|value| buckets.add(value));
        assert_eq!((buckets.nothing, buckets.counts[BUCKETS - 1]), (1, 2));
    }
}
