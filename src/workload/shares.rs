//! Shares as whole millionths.

/// Parts of the whole.
pub(crate) const MILLION: u32 = 1_000_000;

/// What part of their sum each of `parts` is, in millionths that sum to exactly 1,000,000: rounded down, and the rest
/// one by one to the largest remainders, the first of equals. All zero if `parts` are.
pub(crate) fn millionths(parts: &[u128]) -> Vec<u32> {
    let whole = u128::from(MILLION);
    let total: u128 = parts.iter().sum();
    if total == 0 {
        return vec![0; parts.len()];
    }
    let mut shares: Vec<u32> = parts.iter().map(|part| (part * whole / total) as u32).collect();
    let mut by_remainder: Vec<usize> = (0..parts.len()).collect();
    by_remainder.sort_by_key(|&index| core::cmp::Reverse(parts[index] * whole % total));
    // Less than one is missing a part that has a remainder, so every part gets at most one more.
    let missing = MILLION - shares.iter().sum::<u32>();
    for index in by_remainder.into_iter().take(missing as usize) {
        shares[index] += 1;
    }
    shares
}

/// The same of fractions that sum to about 1. They are weighed to fifteen digits, as many as a fraction is written
/// with, so that what is written in whole millionths stays as it is written.
pub(crate) fn millionths_of(shares: &[f64]) -> Vec<u32> {
    let weights: Vec<u128> = shares.iter().map(|share| libm::round(share * 1e15) as u128).collect();
    millionths(&weights)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shares_sum_to_a_million() {
        assert_eq!(millionths(&[1, 1, 1]), [333_334, 333_333, 333_333]);
        assert_eq!(millionths(&[0, 5]), [0, 1_000_000]);
        assert_eq!(millionths(&[0, 0]), [0, 0]);
        for parts in [[7u128, 11, 13], [1, 1_000_003, 999], [u64::MAX.into(), 3, 1]] {
            assert_eq!(millionths(&parts).iter().sum::<u32>(), MILLION, "{parts:?}");
        }
    }

    #[test]
    fn written_shares_stay_as_written() {
        assert_eq!(millionths_of(&[0.6, 0.25, 0.15]), [600_000, 250_000, 150_000]);
        assert_eq!(millionths_of(&[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.0]), [333_334, 333_333, 333_333, 0]);
        // The schema takes sums that are off by a millionth: they are scaled.
        assert_eq!(millionths_of(&[0.5, 0.500_001]).iter().sum::<u32>(), MILLION);
        assert_eq!(millionths_of(&[0.5, 0.499_999]).iter().sum::<u32>(), MILLION);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_made(shares in prop::collection::vec(0.0_f64..1.0, 1..255)) {
            prop_assume!(shares.iter().sum::<f64>() > 1e-3);
            let parts = millionths_of(&shares);
            prop_assert_eq!(parts.iter().sum::<u32>(), MILLION);
            let sum: f64 = shares.iter().sum();
            for (part, share) in parts.iter().zip(&shares) {
                prop_assert!((f64::from(*part) - share / sum * 1e6).abs() < 1.001);
            }
        }
    }
}
