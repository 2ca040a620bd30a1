//! What charts and figures share: the plane between two axes, and the pieces that are drawn on it.

use crate::stage::marks::{Anchor, Colour, Mark, Paint, Point, Stroke};
use crate::stage::palette::{LineStyle, Palette, Sign};

/// Width of a curve in pixels.
pub(super) const WIDTH: f64 = 2.0;
/// Size of letters in pixels.
const LETTERS: f64 = 11.0;
/// Roughly how wide a letter of that size is.
pub(super) const LETTER_WIDTH: f64 = 6.2;
/// Least distance between two end labels in pixels.
pub(super) const LABEL_PITCH: f64 = 13.0;

/// The plane between the axes: where it is, in pixels, and which values it shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Left end of the horizontal axis.
    pub left: f64,
    /// Right end of the horizontal axis.
    pub right: f64,
    /// Top of the vertical axis.
    pub top: f64,
    /// Where the axes meet.
    pub bottom: f64,
    /// Values at the two ends of the horizontal axis.
    pub across: (f64, f64),
    /// Values at the foot and the top of the vertical axis.
    pub up: (f64, f64),
}

/// How far along `ends` a value is: 0 at the first, 1 at the second; 0 where they are the same.
fn share(value: f64, (from, to): (f64, f64)) -> f64 {
    if to > from { (value - from) / (to - from) } else { 0.0 }
}

impl Plane {
    /// Horizontal position of a value.
    #[must_use]
    pub fn x(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * share(value, self.across)
    }

    /// Vertical position of a value; what is off the axis is at its end.
    #[must_use]
    pub fn y(&self, value: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * share(value, self.up).clamp(0.0, 1.0)
    }

    /// The value at a horizontal position, held inside the axis.
    #[must_use]
    pub fn value_at(&self, x: f64) -> f64 {
        let (from, to) = self.across;
        from + share(x, (self.left, self.right)).clamp(0.0, 1.0) * (to - from)
    }

    /// A value of the vertical axis: its line across the plane, and what is written beside it.
    pub(super) fn tick_up(&self, value: f64, written: &str, palette: &Palette, marks: &mut Vec<Mark>) {
        let y = self.y(value);
        let colour = if y >= self.bottom { palette.axis } else { palette.grid };
        marks.push(line(vec![[self.left, y], [self.right, y]], colour));
        marks.push(text([self.left - 5.0, y + 4.0], written, Anchor::End, palette.text));
    }

    /// A value of the horizontal axis: a short line below it, and what is written there.
    pub(super) fn tick_across(&self, value: f64, written: &str, palette: &Palette, marks: &mut Vec<Mark>) {
        let x = self.x(value);
        marks.push(line(vec![[x, self.bottom], [x, self.bottom + 4.0]], palette.axis));
        marks.push(text([x, self.bottom + 15.0], written, Anchor::Middle, palette.text));
    }

    /// An upright line through the plane.
    pub(super) fn upright(&self, x: f64, colour: Colour) -> Mark {
        line(vec![[x, self.top], [x, self.bottom]], colour)
    }

    /// A sign at the end of each curve and, if wanted, its label beside it; labels keep their distance.
    pub(super) fn ends(&self, mut ends: Vec<End<'_>>, with_labels: bool, palette: &Palette, marks: &mut Vec<Mark>) {
        for end in &ends {
            marks.push(sign_mark(end.style, end.at, 4.0, palette));
        }
        if !with_labels {
            return;
        }
        ends.sort_by(|a, b| a.at[1].total_cmp(&b.at[1]));
        let lowest = self.bottom - LABEL_PITCH * (ends.len().saturating_sub(1)) as f64;
        let mut next = self.top;
        for (k, End { label, at: [x, y], .. }) in ends.into_iter().enumerate() {
            let y = y.min(lowest + LABEL_PITCH * k as f64).max(next);
            next = y + LABEL_PITCH;
            marks.push(text([x + 9.0, y + 4.0], label, Anchor::Start, palette.text));
        }
    }
}

/// Where a curve ends.
pub(super) struct End<'a> {
    pub label: &'a str,
    pub style: LineStyle,
    pub at: Point,
}

/// A curve, on a casing where its colour needs one to be seen.
pub(super) fn curve(points: Vec<Point>, style: LineStyle, palette: &Palette, marks: &mut Vec<Mark>) {
    let colour = palette.hue(style.hue);
    if let Some(casing) = palette.casing(colour) {
        let stroke = Stroke::solid(casing, WIDTH + 1.6).dashed(style.dash);
        marks.push(Mark::Line { points: points.clone(), stroke });
    }
    marks.push(Mark::Line { points, stroke: Stroke::solid(colour, WIDTH).dashed(style.dash) });
}

/// A disc of a curve's colour with an edge.
pub(super) fn dot(centre: Point, radius: f64, style: LineStyle, edge: Stroke, palette: &Palette) -> Mark {
    Mark::Circle { centre, radius, fill: Some(Paint::Solid(palette.hue(style.hue))), stroke: Some(edge) }
}

/// The smallest of 1, 2 or 5 times a power of ten that is at least `least`; 1 if `least` is no positive number.
pub(super) fn nice(least: f64) -> f64 {
    if !(least.is_finite() && least > 0.0) {
        return 1.0;
    }
    let power = libm::pow(10.0, libm::floor(libm::log10(least)));
    // A hair's breadth, so that 0.1 / 0.1 being 1.0000000000000002 does not double the step.
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|times| times * power)
        .find(|step| *step >= least * 0.999_999)
        .unwrap_or(least)
}

/// The sample of a line for a legend, in a box of `size` pixels: the line with its sign at the end.
#[must_use]
pub fn sample(style: LineStyle, size: Point, palette: &Palette) -> Vec<Mark> {
    let end = [size[0] - 5.0, size[1] / 2.0];
    let mut marks = Vec::new();
    curve(vec![[1.0, end[1]], end], style, palette, &mut marks);
    marks.push(sign_mark(style, end, 4.0, palette));
    marks
}

/// The end sign of a line at `at`, `radius` pixels large.
fn sign_mark(style: LineStyle, at: Point, radius: f64, palette: &Palette) -> Mark {
    let colour = palette.hue(style.hue);
    let fill = Some(Paint::Solid(if style.filled { colour } else { palette.background }));
    let edge = if style.filled { palette.casing(colour).unwrap_or(palette.background) } else { colour };
    let edge = if style.filled { edge } else { palette.casing(colour).unwrap_or(edge) };
    let stroke = Some(Stroke::solid(edge, 1.4));
    let [x, y] = at;
    let polygon = |points: Vec<Point>| Mark::Polygon { points, fill, stroke };
    match style.sign {
        Sign::Disc => Mark::Circle { centre: at, radius, fill, stroke },
        Sign::Square => {
            let half = radius * 0.9;
            polygon(vec![[x - half, y - half], [x + half, y - half], [x + half, y + half], [x - half, y + half]])
        }
        Sign::Diamond => {
            let far = radius * 1.25;
            polygon(vec![[x, y - far], [x + far, y], [x, y + far], [x - far, y]])
        }
        Sign::Triangle => {
            let far = radius * 1.2;
            polygon(vec![[x, y - far], [x + far, y + far * 0.8], [x - far, y + far * 0.8]])
        }
    }
}

pub(super) fn text(at: Point, text: &str, anchor: Anchor, colour: Colour) -> Mark {
    Mark::Text { at, text: text.to_owned(), size: LETTERS, anchor, colour }
}

pub(super) fn line(points: Vec<Point>, colour: Colour) -> Mark {
    Mark::Line { points, stroke: Stroke::solid(colour, 1.0) }
}
