//! The two figures of a packing run: a value in percent against the demand that has arrived, a line a policy, and what
//! was published as dots on it.
//!
//! Lines are told apart by colour, dashes and end sign together, and by a label at their end where there is room.

use crate::stage::marks::{Mark, Point, Stroke};
use crate::stage::palette::{Hue, LineStyle, Palette, Sign};
use crate::stage::plot::{End, LETTER_WIDTH, Plane, curve, dot, nice};

/// Radius of what was published.
const DOT: f64 = 3.2;

/// The look of a policy in a replay, by its roster id. Families have the colour they have in the Lab; where two share
/// one, dashes and sign differ.
#[must_use]
pub fn style(policy: &str) -> LineStyle {
    let (hue, dash, sign, filled): (_, &'static [f64], _, _) = match policy {
        "fgd-paper" => (Hue::Green, &[], Sign::Triangle, true),
        "best-fit-paper" => (Hue::Vermillion, &[9.0, 2.0], Sign::Diamond, true),
        "gpu-packing" => (Hue::Sky, &[5.0, 2.0], Sign::Square, true),
        "gpu-clustering" => (Hue::Purple, &[12.0, 3.0, 2.0, 3.0], Sign::Disc, true),
        "dot-product" => (Hue::Orange, &[6.0, 4.0], Sign::Triangle, false),
        "random-paper" => (Hue::Grey, &[2.0, 3.0], Sign::Disc, false),
        "ragp-3d" => (Hue::Blue, &[18.0, 3.0], Sign::Disc, true),
        "first-fit-3d" => (Hue::Ink, &[3.0, 2.0, 8.0, 2.0], Sign::Square, false),
        "tetris-3d" => (Hue::Orange, &[10.0, 3.0], Sign::Diamond, false),
        "scalar-3d" => (Hue::Grey, &[4.0, 3.0], Sign::Square, true),
        _ => (Hue::Ink, &[2.0, 2.0], Sign::Diamond, false),
    };
    LineStyle { hue, dash, sign, filled }
}

/// One policy's line.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// What stands at its end.
    pub label: &'a str,
    /// Percent arrived and value, by percent arrived.
    pub points: &'a [(f64, f64)],
    /// What was published, likewise.
    pub published: &'a [(f64, f64)],
    /// How it looks.
    pub style: LineStyle,
}

/// A figure to be drawn.
pub struct Figure<'a> {
    /// Width and height in pixels.
    pub size: Point,
    /// Percent arrived at the two ends of the horizontal axis.
    pub from: f64,
    /// The right end.
    pub to: f64,
    /// Whether the vertical axis covers only what the lines need; else it goes from 0 to 100.
    pub is_close: bool,
    /// The lines, back to front.
    pub lines: &'a [Line<'a>],
    /// Whether lines carry their labels at the right.
    pub end_labels: bool,
    /// Writes a percentage at an axis.
    pub write: &'a dyn Fn(f64) -> String,
}

impl core::fmt::Debug for Figure<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Figure").field("size", &self.size).field("lines", &self.lines.len()).finish_non_exhaustive()
    }
}

impl Figure<'_> {
    fn is_seen(&self, percent: f64) -> bool {
        (self.from..=self.to).contains(&percent)
    }

    /// Lowest and highest value of the vertical axis, and the distance of its ticks.
    fn range(&self) -> (f64, f64, f64) {
        let seen = self.lines.iter().flat_map(|line| line.points.iter().chain(line.published));
        let (low, high) = seen
            .filter(|(percent, value)| self.is_seen(*percent) && value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (_, value)| (low.min(*value), high.max(*value)));
        let wanted = (self.size[1] / 50.0).clamp(2.0, 8.0);
        if !self.is_close || low > high {
            return (0.0, 100.0, if wanted >= 5.0 { 20.0 } else { 50.0 });
        }
        let step = nice((high - low).max(2.0) / wanted);
        ((libm::floor(low / step) * step).max(0.0), (libm::ceil(high / step) * step).min(100.0), step)
    }

    /// Where things are.
    #[must_use]
    pub fn layout(&self) -> Plane {
        let (low, high, _) = self.range();
        let widest = [low, high].map(|value| (self.write)(value).chars().count()).into_iter().max().unwrap_or(0);
        let labels = self.lines.iter().map(|line| line.label.chars().count()).max().unwrap_or(0);
        let margin = if self.end_labels && labels > 0 { 16.0 + labels as f64 * LETTER_WIDTH } else { 16.0 };
        let left = (widest as f64 * LETTER_WIDTH + 8.0).min(self.size[0] / 3.0);
        Plane {
            left,
            right: (self.size[0] - margin).max(left + 1.0),
            top: 8.0,
            bottom: (self.size[1] - 18.0).max(9.0),
            across: (self.from, self.to),
            up: (low, high),
        }
    }

    /// Everything but the cursor, back to front.
    #[must_use]
    pub fn marks(&self, palette: &Palette) -> Vec<Mark> {
        let layout = self.layout();
        let mut marks = Vec::new();
        self.axes(&layout, palette, &mut marks);
        for line in self.lines {
            self.line(line, &layout, palette, &mut marks);
        }
        for line in self.lines {
            self.published(line, &layout, palette, &mut marks);
        }
        self.ends(&layout, palette, &mut marks);
        marks
    }

    fn axes(&self, layout: &Plane, palette: &Palette, marks: &mut Vec<Mark>) {
        let (low, high, step) = self.range();
        let ticks = libm::round((high - low) / step).clamp(1.0, 100.0) as u32;
        for k in 0..=ticks {
            let value = (low + f64::from(k) * step).min(high);
            layout.tick_up(value, &(self.write)(value), palette, marks);
        }
        // Tens, twenties or fifties, so that the written ones do not touch and the last is not cut off.
        let room = ((layout.right - layout.left) / 44.0).max(1.0);
        let step =
            [5.0, 10.0, 20.0, 50.0].into_iter().find(|step| (self.to - self.from) / step <= room).unwrap_or(100.0);
        let mut percent = libm::ceil(self.from / step) * step;
        while percent <= self.to {
            layout.tick_across(percent, &(self.write)(percent), palette, marks);
            percent += step;
        }
        // Where as much has been asked for as there is.
        if self.from < 100.0 && self.to > 100.0 {
            marks.push(layout.upright(layout.x(100.0), palette.grid));
        }
    }

    fn line(&self, line: &Line<'_>, layout: &Plane, palette: &Palette, marks: &mut Vec<Mark>) {
        let seen = line.points.iter().filter(|(percent, value)| self.is_seen(*percent) && value.is_finite());
        let points: Vec<Point> = seen.map(|(percent, value)| [layout.x(*percent), layout.y(*value)]).collect();
        if points.len() < 2 {
            return;
        }
        curve(points, line.style, palette, marks);
    }

    /// Discs with an edge in the colour of the ink, so that they are seen on the line they lie on.
    fn published(&self, line: &Line<'_>, layout: &Plane, palette: &Palette, marks: &mut Vec<Mark>) {
        for (percent, value) in line.published.iter().filter(|(percent, _)| self.is_seen(*percent)) {
            let at = [layout.x(*percent), layout.y(*value)];
            marks.push(dot(at, DOT, line.style, Stroke::solid(palette.ink, 1.2), palette));
        }
    }

    fn ends(&self, layout: &Plane, palette: &Palette, marks: &mut Vec<Mark>) {
        let seen = |(percent, value): &&(f64, f64)| self.is_seen(*percent) && value.is_finite();
        let ends = self.lines.iter().filter_map(|line| {
            let (percent, value) = line.points.iter().rev().find(seen)?;
            Some(End { label: line.label, style: line.style, at: [layout.x(*percent), layout.y(*value)] })
        });
        layout.ends(ends.collect(), self.end_labels, palette, marks);
    }

    /// The cursor at a percentage: a line, and a dot on each line that has a value there.
    #[must_use]
    pub fn cursor(&self, percent: f64, palette: &Palette) -> Vec<Mark> {
        let layout = self.layout();
        let x = layout.x(percent.clamp(self.from, self.to));
        let mut marks = vec![layout.upright(x, palette.cursor)];
        for line in self.lines {
            let value = line.points.iter().find(|(at, _)| *at == percent).map(|(_, value)| *value);
            if let Some(value) = value.filter(|value| value.is_finite()) {
                marks.push(dot([x, layout.y(value)], 3.0, line.style, Stroke::solid(palette.cursor, 1.0), palette));
            }
        }
        marks
    }
}

/// The whole percentage nearest to a horizontal position, held inside the axis.
#[must_use]
pub fn percent_at(plane: &Plane, x: f64) -> f64 {
    libm::round(plane.value_at(x))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::schedulers::replay_entries;
    use crate::stage::plot::{LABEL_PITCH, WIDTH};

    fn figure<'a>(lines: &'a [Line<'a>], size: Point, is_close: bool) -> Figure<'a> {
        let from = if is_close { 70.0 } else { 0.0 };
        Figure { size, from, to: 130.0, is_close, lines, end_labels: true, write: &|value| format!("{value}") }
    }

    fn rising() -> Vec<(f64, f64)> {
        (0..=130).map(|percent| (f64::from(percent), f64::from(percent).min(95.0))).collect()
    }

    #[test]
    fn policies_are_told_apart_without_colour() {
        let styles: Vec<_> = replay_entries().map(|entry| (entry.id(), style(&entry.id()))).collect();
        assert_eq!(styles.len(), 10);
        for (i, (a, first)) in styles.iter().enumerate() {
            for (b, second) in &styles[i + 1..] {
                assert_ne!(first.dash, second.dash, "{a} and {b}");
                assert_ne!(
                    (first.sign, first.filled, first.hue),
                    (second.sign, second.filled, second.hue),
                    "{a} and {b}"
                );
            }
        }
    }

    #[test]
    fn close_up_the_axis_covers_what_is_seen() {
        let points = rising();
        let lines = [Line { label: "a", points: &points, published: &[(50.0, 1.0)], style: style("fgd-paper") }];
        let layout = figure(&lines, [600.0, 300.0], true).layout();
        assert!(layout.up.0 <= 70.0 && layout.up.0 > 50.0, "what is left of the axis does not count: {layout:?}");
        assert!((95.0..=100.0).contains(&layout.up.1));
        let layout = figure(&lines, [600.0, 300.0], false).layout();
        assert_eq!(layout.up, (0.0, 100.0));
    }

    #[test]
    fn the_cursor_finds_whole_percents() {
        let layout = figure(&[], [600.0, 300.0], false).layout();
        for percent in [0.0, 1.0, 77.0, 130.0] {
            assert_eq!(percent_at(&layout, layout.x(percent) + 0.3), percent);
        }
        assert_eq!(percent_at(&layout, -9.0), 0.0);
        assert_eq!(percent_at(&layout, 9e9), 130.0);
    }

    #[test]
    fn labels_at_the_ends_do_not_lie_on_each_other() {
        let points = rising();
        let line = Line { label: "same", points: &points, published: &[], style: style("fgd-paper") };
        let lines = vec![line; 10];
        let marks = figure(&lines, [500.0, 260.0], false).marks(&Palette::LIGHT);
        let mut at: Vec<f64> = marks
            .iter()
            .filter_map(|mark| match mark {
                Mark::Text { text, at, .. } if text == "same" => Some(at[1]),
                _ => None,
            })
            .collect();
        at.sort_by(f64::total_cmp);
        assert_eq!(at.len(), 10);
        assert!(at.windows(2).all(|pair| pair[1] - pair[0] >= LABEL_PITCH - 1e-9), "{at:?}");
        assert!(at[9] < 260.0, "{at:?}");
    }

    #[test]
    fn a_dot_is_drawn_for_each_published_value_in_sight() {
        let points = rising();
        let published = [(50.0, 50.0), (80.0, 79.0), (130.0, 95.0)];
        let lines = [Line { label: "", points: &points, published: &published, style: style("fgd-paper") }];
        let count = |is_close| {
            let marks = figure(&lines, [600.0, 300.0], is_close).marks(&Palette::DARK);
            marks.iter().filter(|mark| matches!(mark, Mark::Circle { radius, .. } if *radius == DOT)).count()
        };
        assert_eq!((count(false), count(true)), (3, 2));
    }

    proptest! {
        #[test]
        fn every_point_is_inside_the_axes(
            values in prop::collection::vec(prop_oneof![0.0_f64..100.0, Just(f64::NAN)], 0..131),
            width in 1.0_f64..2000.0,
            height in 1.0_f64..800.0,
            is_close in any::<bool>(),
        ) {
            let points: Vec<(f64, f64)> = (0..).map(f64::from).zip(values).collect();
            let lines = [Line { label: "policy", points: &points, published: &[], style: style("dot-product") }];
            let figure = figure(&lines, [width, height], is_close);
            let layout = figure.layout();
            for mark in figure.marks(&Palette::DARK) {
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
