//! From values to the points of a line: no more than a screen can show, and no peak less.

/// The unbroken runs of values, each value with its position.
pub(super) fn runs(values: &[f64]) -> Vec<Vec<(usize, f64)>> {
    let mut runs: Vec<Vec<(usize, f64)>> = Vec::new();
    let mut broken = true;
    for (index, value) in values.iter().enumerate() {
        if !value.is_finite() {
            broken = true;
        } else if let Some(run) = runs.last_mut()
            && !broken
        {
            run.push((index, *value));
        } else {
            runs.push(vec![(index, *value)]);
            broken = false;
        }
    }
    runs
}

/// At most two points a pixel column – the lowest and the highest in their order – and the first and the last of all:
/// no peak is lost and none is invented.
pub(super) fn thinned(run: &[(usize, f64)], x_of: impl Fn(usize) -> f64) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::with_capacity(run.len().min(4096));
    let mut push = |index: usize, value: f64| {
        let x = x_of(index);
        if points.last().is_none_or(|last| last.0 < x) {
            points.push((x, value));
        }
    };
    if let Some(&(index, value)) = run.first() {
        push(index, value);
    }
    let column = |index: usize| libm::floor(x_of(index));
    for chunk in run.chunk_by(|a, b| column(a.0) == column(b.0)) {
        let by_value = |a: &&(usize, f64), b: &&(usize, f64)| a.1.total_cmp(&b.1);
        if let (Some(low), Some(high)) = (chunk.iter().min_by(by_value), chunk.iter().max_by(by_value)) {
            let (first, second) = if low.0 < high.0 { (low, high) } else { (high, low) };
            push(first.0, first.1);
            push(second.0, second.1);
        }
    }
    if let Some(&(index, value)) = run.last() {
        push(index, value);
    }
    points
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn thinning_keeps_every_peak_and_invents_none(
            values in prop::collection::vec(0.0_f64..1.0, 1..3000),
            width in 50.0_f64..1200.0,
        ) {
            let run: Vec<_> = values.iter().copied().enumerate().collect();
            let x_of = |index: usize| index as f64 / values.len() as f64 * width;
            let points = thinned(&run, x_of);
            prop_assert!(points.len() as f64 <= 2.0 * (width + 3.0));
            prop_assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let highest = |points: &mut dyn Iterator<Item = f64>| points.fold(0.0, f64::max);
            prop_assert_eq!(
                highest(&mut points.iter().map(|point| point.1)),
                highest(&mut values.iter().copied())
            );
            prop_assert!(points.iter().all(|point| values.contains(&point.1)));
            prop_assert_eq!(points.last().unwrap().1, *values.last().unwrap());
        }
    }
}
