//! Curves over simulated time: axes with round ticks, lines told apart by colour, dashes and end signs.
//!
//! The chart does not know what it shows: units and the writing of numbers come from the caller.

mod thinning;

use crate::stage::marks::{Mark, Paint, Point};
use crate::stage::palette::{LineStyle, Palette};
use crate::stage::plot::{End, LETTER_WIDTH, Plane, curve, nice};
use thinning::{runs, thinned};

/// One curve.
#[derive(Clone, Copy, Debug)]
pub struct Series<'a> {
    /// One value a step from hour 0; NaN leaves a gap.
    pub values: &'a [f64],
    /// How it looks.
    pub style: LineStyle,
}

/// A chart to be drawn.
pub struct Chart<'a> {
    /// Width and height in pixels.
    pub size: Point,
    /// The last hour of the horizontal axis, which starts at 0.
    pub hours: f64,
    /// Hours from one value to the next; the last value may come sooner, at `hours`.
    pub step: f64,
    /// The curves, back to front.
    pub series: &'a [Series<'a>],
    /// Hours at the start that are not measured; shaded. 0: none.
    pub warm_up: f64,
    /// The vertical axis ends at least here; it starts at 0.
    pub least_top: f64,
    /// Writes a value of the vertical axis.
    pub write_value: &'a dyn Fn(f64) -> String,
    /// Writes an hour.
    pub write_hour: &'a dyn Fn(f64) -> String,
}

impl core::fmt::Debug for Chart<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Chart").field("size", &self.size).finish_non_exhaustive()
    }
}

/// Hours between ticks so that there are at most `most` steps in `hours`: of the steps that people count hours in, the
/// smallest; if it leaves no tick at the end of the axis and one up to twice as large does, that one.
fn hour_step(hours: f64, most: f64) -> f64 {
    const STEPS: [f64; 14] = [0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 24.0, 48.0, 96.0, 168.0];
    let Some(first) = STEPS.into_iter().find(|step| hours / step <= most) else {
        return 24.0 * nice(hours / most / 24.0);
    };
    let ends = |step: &f64| (hours / step - libm::round(hours / step)).abs() < 1e-6;
    STEPS.into_iter().filter(|step| *step >= first && *step <= first * 2.0).find(ends).unwrap_or(first)
}

impl Chart<'_> {
    /// Where things are.
    #[must_use]
    pub fn layout(&self) -> Plane {
        let (step, ticks) = self.value_ticks();
        let peak = step * f64::from(ticks);
        let widest = (0..=ticks).map(|k| (self.write_value)(f64::from(k) * step).chars().count()).max().unwrap_or(0);
        let left = (widest as f64 * LETTER_WIDTH + 8.0).min(self.size[0] / 3.0);
        let right = (self.size[0] - 10.0).max(left + 1.0);
        let top = 8.0;
        let bottom = (self.size[1] - 18.0).max(top + 1.0);
        Plane { left, right, top, bottom, across: (0.0, self.hours), up: (0.0, peak) }
    }

    /// The step between ticks of the vertical axis, and how many steps there are.
    fn value_ticks(&self) -> (f64, u32) {
        let highest = self
            .series
            .iter()
            .flat_map(|series| series.values)
            .copied()
            .filter(|value| value.is_finite())
            .fold(self.least_top, f64::max);
        let wanted = (self.size[1] / 44.0).clamp(2.0, 6.0);
        let step = nice(highest / wanted);
        let ticks = libm::ceil(highest / step - 1e-6).clamp(1.0, 1000.0) as u32;
        (step, ticks)
    }

    /// The hour of a value.
    fn hour_of(&self, index: usize) -> f64 {
        (index as f64 * self.step).min(self.hours)
    }

    /// Everything, back to front.
    #[must_use]
    pub fn marks(&self, palette: &Palette) -> Vec<Mark> {
        let layout = self.layout();
        let mut marks = Vec::new();
        self.warm_up(&layout, palette, &mut marks);
        self.axes(&layout, palette, &mut marks);
        for series in self.series {
            self.curve(series, &layout, palette, &mut marks);
        }
        self.ends(&layout, palette, &mut marks);
        marks
    }

    /// What is not measured.
    fn warm_up(&self, layout: &Plane, palette: &Palette, marks: &mut Vec<Mark>) {
        if self.warm_up > 0.0 {
            let right = layout.x(self.warm_up.min(self.hours));
            marks.push(Mark::Rect {
                at: [layout.left, layout.top],
                size: [right - layout.left, layout.bottom - layout.top],
                fill: Some(Paint::Solid(palette.nominal_fill)),
                stroke: None,
            });
        }
    }

    fn axes(&self, layout: &Plane, palette: &Palette, marks: &mut Vec<Mark>) {
        let (step, ticks) = self.value_ticks();
        for k in 0..=ticks {
            let value = f64::from(k) * step;
            layout.tick_up(value, &(self.write_value)(value), palette, marks);
        }
        // By the chart's own width, not what its labels leave of it: charts side by side have the same ticks.
        let step = hour_step(self.hours, ((self.size[0] - 64.0) / 56.0).max(1.0));
        let count = libm::floor(self.hours / step + 1e-6).clamp(0.0, 1000.0) as u32;
        for k in 0..=count {
            let hour = f64::from(k) * step;
            layout.tick_across(hour, &(self.write_hour)(hour), palette, marks);
        }
    }

    fn curve(&self, series: &Series<'_>, layout: &Plane, palette: &Palette, marks: &mut Vec<Mark>) {
        for points in runs(series.values) {
            let points = thinned(&points, |index| layout.x(self.hour_of(index)));
            let points = points.into_iter().map(|(x, value)| [x, layout.y(value)]).collect();
            curve(points, series.style, palette, marks);
        }
    }

    fn ends(&self, layout: &Plane, palette: &Palette, marks: &mut Vec<Mark>) {
        let end = |series: &Series<'_>| {
            let last = series.values.iter().rposition(|value| value.is_finite())?;
            Some([layout.x(self.hour_of(last)), layout.y(series.values[last])])
        };
        let ends =
            self.series.iter().filter_map(|series| end(series).map(|at| End { label: "", style: series.style, at }));
        layout.ends(ends.collect(), false, palette, marks);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stage::palette::line_style;
    use crate::stage::plot::WIDTH;

    fn chart<'a>(series: &'a [Series<'a>], size: Point) -> Chart<'a> {
        Chart {
            size,
            hours: 30.0,
            step: 1.0 / 60.0,
            series,
            warm_up: 6.0,
            least_top: 0.0,
            write_value: &|value| format!("{value:.2}"),
            write_hour: &|hour| format!("{hour} h"),
        }
    }

    #[test]
    fn steps_are_round() {
        for (least, step) in
            [(0.03, 0.05), (0.1, 0.1), (0.11, 0.2), (3.0, 5.0), (7.0, 10.0), (f64::NAN, 1.0), (0.0, 1.0)]
        {
            assert!((nice(least) - step).abs() < 1e-12, "{least}: {}", nice(least));
        }
        assert_eq!(hour_step(30.0, 10.0), 3.0);
        assert_eq!(hour_step(30.0, 6.0), 6.0);
        // A narrow chart: 8 h would end at 24 h.
        assert_eq!(hour_step(30.0, 4.5), 10.0);
        assert_eq!(hour_step(48.0, 4.5), 12.0);
        assert_eq!(hour_step(29.0, 4.5), 8.0);
    }

    #[test]
    fn a_place_is_an_hour_inside_the_axis() {
        let layout = chart(&[], [600.0, 200.0]).layout();
        assert!((layout.value_at(layout.x(12.5)) - 12.5).abs() < 1e-9);
        assert_eq!(layout.value_at(-50.0), 0.0);
        assert_eq!(layout.value_at(5000.0), 30.0);
    }

    #[test]
    fn nothing_to_show_is_an_empty_chart() {
        let series = [Series { values: &[f64::NAN], style: line_style("x") }];
        for series in [&series[..], &[]] {
            let mut chart = chart(series, [300.0, 120.0]);
            chart.hours = 0.0;
            assert!(!chart.marks(&Palette::LIGHT).is_empty());
        }
    }

    proptest! {
        #[test]
        fn every_point_is_inside_the_axes(
            values in prop::collection::vec(prop_oneof![0.0_f64..1e7, Just(f64::NAN)], 0..500),
            width in 1.0_f64..2000.0,
            height in 1.0_f64..800.0,
        ) {
            let series = [Series { values: &values, style: line_style("scalar-5d") }];
            let chart = chart(&series, [width, height]);
            let layout = chart.layout();
            for mark in chart.marks(&Palette::DARK) {
                if let Mark::Line { points, stroke } = mark
                    && stroke.width == WIDTH
                {
                    for [x, y] in points {
                        prop_assert!((layout.left - 1e-6..=layout.right + 1e-6).contains(&x));
                        prop_assert!((layout.top - 1e-6..=layout.bottom + 1e-6).contains(&y));
                    }
                }
            }
        }
    }
}
