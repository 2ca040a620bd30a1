//! The two figures of a packing run: a value in percent against the demand that has arrived, a line a policy, and what
//! was published as dots on it.
//!
//! Lines are told apart by colour, dashes and end sign together, and by a label at their end where there is room.

use crate::stage::charts::{nice, sign_mark};
use crate::stage::marks::{Anchor, Colour, Mark, Paint, Point, Stroke};
use crate::stage::palette::{Hue, LineStyle, Palette, Sign};

/// Width of a line in pixels.
const WIDTH: f64 = 2.0;
/// Size of letters in pixels.
const LETTERS: f64 = 11.0;
/// Roughly how wide a letter of that size is.
const LETTER_WIDTH: f64 = 6.2;
/// Least distance between two end labels in pixels.
const LABEL_PITCH: f64 = 13.0;
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

/// Where things are in a figure, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Left end of the horizontal axis.
    pub left: f64,
    /// Right end of the horizontal axis.
    pub right: f64,
    /// Top of the vertical axis.
    pub top: f64,
    /// Where the axes meet.
    pub bottom: f64,
    /// Percent arrived at the left end.
    pub from: f64,
    /// Percent arrived at the right end.
    pub to: f64,
    /// Value at the foot.
    pub low: f64,
    /// Value at the top.
    pub high: f64,
    /// Distance of ticks of the vertical axis.
    pub step: f64,
}

impl Layout {
    /// Horizontal position of a percentage.
    #[must_use]
    pub fn x(&self, percent: f64) -> f64 {
        self.left + (self.right - self.left) * (percent - self.from) / (self.to - self.from).max(1e-9)
    }

    /// Vertical position of a value; what is off the axis is at its end.
    #[must_use]
    pub fn y(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low).max(1e-9);
        self.bottom - (self.bottom - self.top) * share.clamp(0.0, 1.0)
    }

    /// The whole percentage nearest to a horizontal position, held inside the axis.
    #[must_use]
    pub fn percent(&self, x: f64) -> f64 {
        let share = ((x - self.left) / (self.right - self.left)).clamp(0.0, 1.0);
        libm::round(self.from + share * (self.to - self.from)).clamp(self.from, self.to)
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
    pub fn layout(&self) -> Layout {
        let (low, high, step) = self.range();
        let widest = [low, high].map(|value| (self.write)(value).chars().count()).into_iter().max().unwrap_or(0);
        let labels = self.lines.iter().map(|line| line.label.chars().count()).max().unwrap_or(0);
        let margin = if self.end_labels && labels > 0 { 16.0 + labels as f64 * LETTER_WIDTH } else { 16.0 };
        let left = (widest as f64 * LETTER_WIDTH + 8.0).min(self.size[0] / 3.0);
        Layout {
            left,
            right: (self.size[0] - margin).max(left + 1.0),
            top: 8.0,
            bottom: (self.size[1] - 18.0).max(9.0),
            from: self.from,
            to: self.to,
            low,
            high,
            step,
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

    fn axes(&self, layout: &Layout, palette: &Palette, marks: &mut Vec<Mark>) {
        let ticks = libm::round((layout.high - layout.low) / layout.step).clamp(1.0, 100.0) as u32;
        for k in 0..=ticks {
            let value = (layout.low + f64::from(k) * layout.step).min(layout.high);
            let y = layout.y(value);
            let colour = if k == 0 { palette.axis } else { palette.grid };
            marks.push(line(vec![[layout.left, y], [layout.right, y]], colour));
            marks.push(text([layout.left - 5.0, y + 4.0], &(self.write)(value), Anchor::End, palette.text));
        }
        // Tens, twenties or fifties, so that the written ones do not touch and the last is not cut off.
        let room = ((layout.right - layout.left) / 44.0).max(1.0);
        let step =
            [5.0, 10.0, 20.0, 50.0].into_iter().find(|step| (self.to - self.from) / step <= room).unwrap_or(100.0);
        let mut percent = libm::ceil(self.from / step) * step;
        while percent <= self.to {
            let x = layout.x(percent);
            marks.push(line(vec![[x, layout.bottom], [x, layout.bottom + 4.0]], palette.axis));
            marks.push(text([x, layout.bottom + 15.0], &(self.write)(percent), Anchor::Middle, palette.text));
            percent += step;
        }
        // Where as much has been asked for as there is.
        if self.from < 100.0 && self.to > 100.0 {
            let x = layout.x(100.0);
            marks.push(line(vec![[x, layout.top], [x, layout.bottom]], palette.grid));
        }
    }

    fn line(&self, line: &Line<'_>, layout: &Layout, palette: &Palette, marks: &mut Vec<Mark>) {
        let seen = line.points.iter().filter(|(percent, value)| self.is_seen(*percent) && value.is_finite());
        let points: Vec<Point> = seen.map(|(percent, value)| [layout.x(*percent), layout.y(*value)]).collect();
        if points.len() < 2 {
            return;
        }
        let colour = palette.hue(line.style.hue);
        if let Some(casing) = palette.casing(colour) {
            let stroke = Stroke::solid(casing, WIDTH + 1.6).dashed(line.style.dash);
            marks.push(Mark::Line { points: points.clone(), stroke });
        }
        marks.push(Mark::Line { points, stroke: Stroke::solid(colour, WIDTH).dashed(line.style.dash) });
    }

    /// Discs with an edge in the colour of the ink, so that they are seen on the line they lie on.
    fn published(&self, line: &Line<'_>, layout: &Layout, palette: &Palette, marks: &mut Vec<Mark>) {
        for (percent, value) in line.published.iter().filter(|(percent, _)| self.is_seen(*percent)) {
            marks.push(Mark::Circle {
                centre: [layout.x(*percent), layout.y(*value)],
                radius: DOT,
                fill: Some(Paint::Solid(palette.hue(line.style.hue))),
                stroke: Some(Stroke::solid(palette.ink, 1.2)),
            });
        }
    }

    /// A sign at the end of each line and, if wanted, its label beside it; labels keep their distance.
    fn ends(&self, layout: &Layout, palette: &Palette, marks: &mut Vec<Mark>) {
        let mut ends: Vec<(&Line<'_>, Point)> = self
            .lines
            .iter()
            .filter_map(|line| {
                let last =
                    line.points.iter().rev().find(|(percent, value)| self.is_seen(*percent) && value.is_finite())?;
                Some((line, [layout.x(last.0), layout.y(last.1)]))
            })
            .collect();
        for (line, at) in &ends {
            marks.push(sign_mark(line.style, *at, 4.0, palette));
        }
        if !self.end_labels {
            return;
        }
        ends.sort_by(|a, b| a.1[1].total_cmp(&b.1[1]));
        let lowest = layout.bottom - LABEL_PITCH * (ends.len().saturating_sub(1)) as f64;
        let mut next = layout.top;
        for (k, (line, [x, y])) in ends.into_iter().enumerate() {
            let y = y.min(lowest + LABEL_PITCH * k as f64).max(next);
            next = y + LABEL_PITCH;
            marks.push(text([x + 9.0, y + 4.0], line.label, Anchor::Start, palette.text));
        }
    }

    /// The cursor at a percentage: a line, and a dot on each line that has a value there.
    #[must_use]
    pub fn cursor(&self, percent: f64, palette: &Palette) -> Vec<Mark> {
        let layout = self.layout();
        let x = layout.x(percent.clamp(self.from, self.to));
        let mut marks = vec![line(vec![[x, layout.top], [x, layout.bottom]], palette.cursor)];
        for line in self.lines {
            let value = line.points.iter().find(|(at, _)| *at == percent).map(|(_, value)| *value);
            if let Some(value) = value.filter(|value| value.is_finite()) {
                marks.push(Mark::Circle {
                    centre: [x, layout.y(value)],
                    radius: 3.0,
                    fill: Some(Paint::Solid(palette.hue(line.style.hue))),
                    stroke: Some(Stroke::solid(palette.cursor, 1.0)),
                });
            }
        }
        marks
    }
}

fn text(at: Point, text: &str, anchor: Anchor, colour: Colour) -> Mark {
    Mark::Text { at, text: text.to_owned(), size: LETTERS, anchor, colour }
}

fn line(points: Vec<Point>, colour: Colour) -> Mark {
    Mark::Line { points, stroke: Stroke::solid(colour, 1.0) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::schedulers::replay_entries;

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
        assert!(layout.low <= 70.0 && layout.low > 50.0, "what is left of the axis does not count: {layout:?}");
        assert!((95.0..=100.0).contains(&layout.high));
        let layout = figure(&lines, [600.0, 300.0], false).layout();
        assert_eq!((layout.low, layout.high), (0.0, 100.0));
    }

    #[test]
    fn the_cursor_finds_whole_percents() {
        let layout = figure(&[], [600.0, 300.0], false).layout();
        for percent in [0.0, 1.0, 77.0, 130.0] {
            assert_eq!(layout.percent(layout.x(percent) + 0.3), percent);
        }
        assert_eq!(layout.percent(-9.0), 0.0);
        assert_eq!(layout.percent(9e9), 130.0);
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
