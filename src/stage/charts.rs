//! Curves over simulated time: axes with round ticks, lines told apart by colour, dashes and end signs, a cursor.
//!
//! The chart does not know what it shows: titles, units and the writing of numbers come from the caller. The cursor
//! is drawn apart from the curves, so that a surface with the curves can stay while the cursor moves.

mod thinning;

use crate::stage::marks::{Anchor, Mark, Paint, Point, Stroke};
use crate::stage::palette::{LineStyle, Palette};
use crate::stage::plot::{End, LETTER_WIDTH, Plane, curve, dot, nice, text};
use thinning::{runs, thinned};

/// One curve.
#[derive(Clone, Copy, Debug)]
pub struct Series<'a> {
    /// What it is called at its end.
    pub label: &'a str,
    /// One value a step from hour 0; NaN leaves a gap.
    pub values: &'a [f64],
    /// How it looks.
    pub style: LineStyle,
}

/// A reported range, drawn behind the curves.
#[derive(Clone, Copy, Debug)]
pub struct Band<'a> {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Whose it is.
    pub label: &'a str,
}

/// A chart to be drawn.
pub struct Chart<'a> {
    /// Width and height in pixels.
    pub size: Point,
    /// What is shown, with its unit: written above the vertical axis.
    pub title: &'a str,
    /// The last hour of the horizontal axis, which starts at 0.
    pub hours: f64,
    /// Hours from one value to the next; the last value may come sooner, at `hours`.
    pub step: f64,
    /// The curves, back to front.
    pub series: &'a [Series<'a>],
    /// A reported range.
    pub band: Option<Band<'a>>,
    /// Hours at the start that are not measured; shaded. 0: none.
    pub warm_up: f64,
    /// The vertical axis ends at least here; it starts at 0.
    pub least_top: f64,
    /// Whether curves carry their labels at the right.
    pub end_labels: bool,
    /// Writes a value of the vertical axis.
    pub write_value: &'a dyn Fn(f64) -> String,
    /// Writes an hour.
    pub write_hour: &'a dyn Fn(f64) -> String,
}

impl core::fmt::Debug for Chart<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Chart").field("size", &self.size).field("title", &self.title).finish_non_exhaustive()
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
        let labels = if self.end_labels {
            self.series.iter().map(|series| series.label.chars().count()).max().unwrap_or(0)
        } else {
            0
        };
        let left = (widest as f64 * LETTER_WIDTH + 8.0).min(self.size[0] / 3.0);
        let margin = if labels > 0 { 16.0 + labels as f64 * LETTER_WIDTH } else { 10.0 };
        let right = (self.size[0] - margin).max(left + 1.0);
        let top = if self.title.is_empty() { 8.0 } else { 20.0 };
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
            .chain(self.band.map(|band| band.high))
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

    /// Position of the last value at or before an hour.
    #[must_use]
    pub fn index_at(&self, hour: f64) -> usize {
        if hour >= self.hours && self.step > 0.0 {
            return libm::ceil(self.hours / self.step - 1e-9) as usize;
        }
        let index = libm::floor(hour / self.step + 1e-9);
        if index.is_finite() && index > 0.0 { index as usize } else { 0 }
    }

    /// What each curve says at an hour: the value at or before it, `None` where there is none.
    #[must_use]
    pub fn values_at(&self, hour: f64) -> Vec<Option<f64>> {
        let index = self.index_at(hour);
        self.series.iter().map(|series| series.values.get(index).copied().filter(|value| value.is_finite())).collect()
    }

    /// Everything but the cursor, back to front.
    #[must_use]
    pub fn marks(&self, palette: &Palette) -> Vec<Mark> {
        let layout = self.layout();
        let mut marks = Vec::new();
        self.grounds(&layout, palette, &mut marks);
        self.axes(&layout, palette, &mut marks);
        for series in self.series {
            self.curve(series, &layout, palette, &mut marks);
        }
        self.band_label(&layout, palette, &mut marks);
        self.ends(&layout, palette, &mut marks);
        marks
    }

    /// The warm-up and the reported range.
    fn grounds(&self, layout: &Plane, palette: &Palette, marks: &mut Vec<Mark>) {
        if self.warm_up > 0.0 {
            let right = layout.x(self.warm_up.min(self.hours));
            marks.push(Mark::Rect {
                at: [layout.left, layout.top],
                size: [right - layout.left, layout.bottom - layout.top],
                fill: Some(Paint::Solid(palette.nominal_fill)),
                stroke: None,
            });
        }
        if let Some(band) = &self.band {
            let (high, low) = (layout.y(band.high), layout.y(band.low));
            marks.push(Mark::Rect {
                at: [layout.left, high],
                size: [layout.right - layout.left, low - high],
                fill: Some(Paint::Solid(palette.band)),
                stroke: None,
            });
        }
    }

    /// Whose the reported range is, readable over the curves.
    fn band_label(&self, layout: &Plane, palette: &Palette, marks: &mut Vec<Mark>) {
        let Some(band) = self.band.filter(|band| !band.label.is_empty()) else { return };
        let width = band.label.chars().count() as f64 * LETTER_WIDTH;
        let [x, y] = [layout.right - 4.0, layout.y(band.high) + 11.0];
        marks.push(Mark::Rect {
            at: [x - width - 2.0, y - 10.0],
            size: [width + 4.0, 13.0],
            fill: Some(Paint::Solid(palette.background.with_alpha(217))),
            stroke: None,
        });
        marks.push(text([x, y], band.label, Anchor::End, palette.text));
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
        if !self.title.is_empty() {
            marks.push(text([2.0, 11.0], self.title, Anchor::Start, palette.text));
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
        let ends = self
            .series
            .iter()
            .filter_map(|series| end(series).map(|at| End { label: series.label, style: series.style, at }));
        layout.ends(ends.collect(), self.end_labels, palette, marks);
    }

    /// The cursor at an hour: a line, and a dot on each curve that has a value there.
    #[must_use]
    pub fn cursor(&self, hour: f64, palette: &Palette) -> Vec<Mark> {
        let layout = self.layout();
        let x = layout.x(hour.clamp(0.0, self.hours));
        let mut marks = vec![layout.upright(x, palette.cursor)];
        for (series, value) in self.series.iter().zip(self.values_at(hour)) {
            if let Some(value) = value {
                let edge = Stroke::solid(palette.cursor, 1.0);
                marks.push(dot([x, layout.y(value)], 3.0, series.style, edge, palette));
            }
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stage::palette::line_style;
    use crate::stage::plot::{LABEL_PITCH, WIDTH};

    fn chart<'a>(series: &'a [Series<'a>], size: Point) -> Chart<'a> {
        Chart {
            size,
            title: "Fragmentation",
            hours: 30.0,
            step: 1.0 / 60.0,
            series,
            band: None,
            warm_up: 6.0,
            least_top: 0.0,
            end_labels: true,
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
    fn the_cursor_reads_the_value_at_or_before_it() {
        let values: Vec<f64> = (0..=1800).map(f64::from).collect();
        let series = [Series { label: "a", values: &values, style: line_style("ragp-io") }];
        let chart = chart(&series, [600.0, 200.0]);
        for (hour, value) in [(0.0, 0.0), (1.0, 60.0), (1.0 + 0.9 / 60.0, 60.0), (29.999, 1799.0), (30.0, 1800.0)] {
            assert_eq!(chart.values_at(hour), [Some(value)], "{hour}");
        }
        let layout = chart.layout();
        assert!((layout.value_at(layout.x(12.5)) - 12.5).abs() < 1e-9);
        assert_eq!(layout.value_at(-50.0), 0.0);
        assert_eq!(layout.value_at(5000.0), 30.0);
    }

    #[test]
    fn nothing_to_show_is_an_empty_chart() {
        let series = [Series { label: "a", values: &[f64::NAN], style: line_style("x") }];
        for series in [&series[..], &[]] {
            let mut chart = chart(series, [300.0, 120.0]);
            chart.hours = 0.0;
            assert!(!chart.marks(&Palette::LIGHT).is_empty());
            assert!(!chart.cursor(0.0, &Palette::LIGHT).is_empty());
            assert!(chart.values_at(0.0).iter().all(Option::is_none));
        }
    }

    proptest! {
        #[test]
        fn every_point_is_inside_the_axes(
            values in prop::collection::vec(prop_oneof![0.0_f64..1e7, Just(f64::NAN)], 0..500),
            width in 1.0_f64..2000.0,
            height in 1.0_f64..800.0,
        ) {
            let series = [Series { label: "scalar", values: &values, style: line_style("scalar-5d") }];
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

    #[test]
    fn end_labels_do_not_lie_on_each_other() {
        let values = [[0.5; 10], [0.5; 10], [0.5; 10], [0.0; 10]];
        let series: Vec<_> =
            values.iter().map(|values| Series { label: "same", values, style: line_style("fgd-5d") }).collect();
        let marks = chart(&series, [400.0, 150.0]).marks(&Palette::LIGHT);
        let mut labels: Vec<f64> = marks
            .iter()
            .filter_map(|mark| match mark {
                Mark::Text { text, at, .. } if text == "same" => Some(at[1]),
                _ => None,
            })
            .collect();
        labels.sort_by(f64::total_cmp);
        assert_eq!(labels.len(), 4);
        assert!(labels.windows(2).all(|pair| pair[1] - pair[0] >= LABEL_PITCH - 1e-9), "{labels:?}");
    }
}
