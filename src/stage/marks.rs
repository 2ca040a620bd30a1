//! Marks: the few shapes that everything on the stage is drawn with.
//!
//! A drawing is a list of marks, back to front, in CSS pixels from the top left corner. It knows nothing of the
//! surface it ends up on.

use serde::{Deserialize, Serialize};

/// A point: x to the right, y down, in CSS pixels.
pub type Point = [f64; 2];

/// A colour: red, green, blue and how opaque it is, all 0..=255.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Colour {
    /// Red.
    pub red: u8,
    /// Green.
    pub green: u8,
    /// Blue.
    pub blue: u8,
    /// 255 covers what is below, 0 cannot be seen.
    pub alpha: u8,
}

impl Colour {
    /// The opaque colour `0xRRGGBB`.
    #[must_use]
    pub const fn hex(rgb: u32) -> Self {
        Self { red: (rgb >> 16) as u8, green: (rgb >> 8) as u8, blue: rgb as u8, alpha: 255 }
    }

    /// The same colour, `alpha`/255 opaque.
    #[must_use]
    pub const fn with_alpha(self, alpha: u8) -> Self {
        Self { alpha, ..self }
    }

    /// This colour laid over an opaque one.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        self.with_alpha(255).mixed(below, 1.0 - f64::from(self.alpha) / 255.0)
    }

    /// The colour that lies `share` (0..=1) of the way to `other`, channel by channel.
    #[must_use]
    pub fn mixed(self, other: Self, share: f64) -> Self {
        let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * share.clamp(0.0, 1.0) + 0.5) as u8;
        Self {
            red: mix(self.red, other.red),
            green: mix(self.green, other.green),
            blue: mix(self.blue, other.blue),
            alpha: mix(self.alpha, other.alpha),
        }
    }

    /// As CSS and SVG write it: `#0072b2`, or `#0072b2d9` if it is not opaque.
    #[must_use]
    pub fn css(self) -> String {
        let Self { red, green, blue, alpha } = self;
        if alpha == 255 {
            format!("#{red:02x}{green:02x}{blue:02x}")
        } else {
            format!("#{red:02x}{green:02x}{blue:02x}{alpha:02x}")
        }
    }

    /// Relative luminance as WCAG 2 defines it, 0 (black) to 1 (white), of the colour taken as opaque.
    #[must_use]
    pub fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { libm::pow((value + 0.055) / 1.055, 2.4) }
        };
        0.2126 * linear(self.red) + 0.7152 * linear(self.green) + 0.0722 * linear(self.blue)
    }

    /// WCAG 2 contrast ratio with `other`, 1 to 21, both taken as opaque.
    #[must_use]
    pub fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }
}

/// What an area is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// One colour.
    Solid(Colour),
    /// Lines at 45°, [`HATCH_PITCH`] apart and [`HATCH_WIDTH`] wide, on a ground.
    Hatch {
        /// Colour of the lines.
        line: Colour,
        /// Colour between them.
        ground: Colour,
    },
}

/// Distance between hatch lines, in pixels, measured across them.
pub const HATCH_PITCH: f64 = 4.0;
/// Width of hatch lines, in pixels.
pub const HATCH_WIDTH: f64 = 1.6;

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// Its width in pixels.
    pub width: f64,
    /// Lengths of dash and gap in turn, in pixels; empty: solid.
    pub dash: &'static [f64],
}

impl Stroke {
    /// A solid line.
    #[must_use]
    pub const fn solid(colour: Colour, width: f64) -> Self {
        Self { colour, width, dash: &[] }
    }

    /// The same line with dashes.
    #[must_use]
    pub const fn dashed(self, dash: &'static [f64]) -> Self {
        Self { dash, ..self }
    }
}

/// Which point of a text lies at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// One thing to draw.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A closed shape.
    Polygon {
        /// Its corners.
        points: Vec<Point>,
        /// Its inside.
        fill: Option<Paint>,
        /// Its outline.
        stroke: Option<Stroke>,
    },
    /// The area between two closed shapes, the inner one inside the outer.
    Ring {
        /// Corners of the outer shape.
        outer: Vec<Point>,
        /// Corners of the inner shape.
        inner: Vec<Point>,
        /// What lies between.
        fill: Paint,
    },
    /// An open line through points.
    Line {
        /// The points.
        points: Vec<Point>,
        /// How it is drawn.
        stroke: Stroke,
    },
    /// A disc or circle.
    Circle {
        /// Its centre.
        centre: Point,
        /// Its radius in pixels.
        radius: f64,
        /// Its inside.
        fill: Option<Paint>,
        /// Its outline.
        stroke: Option<Stroke>,
    },
    /// A piece of a disc, clockwise from 12 o'clock.
    Pie {
        /// Its centre.
        centre: Point,
        /// Its radius in pixels.
        radius: f64,
        /// How much of the disc, 0..=1.
        share: f64,
        /// Its inside.
        fill: Paint,
    },
    /// An upright rectangle.
    Rect {
        /// Its top left corner.
        at: Point,
        /// Width and height in pixels.
        size: Point,
        /// Its inside.
        fill: Option<Paint>,
        /// Its outline.
        stroke: Option<Stroke>,
    },
    /// A line of text.
    Text {
        /// Where its base line is, at the point that `anchor` names.
        at: Point,
        /// What it says.
        text: String,
        /// Size of the letters in pixels.
        size: f64,
        /// Which point of it lies at `at`.
        anchor: Anchor,
        /// Its colour.
        colour: Colour,
    },
}

impl Mark {
    /// The same mark, moved.
    #[must_use]
    pub fn moved(mut self, by: Point) -> Self {
        let shift = |point: &mut Point| {
            point[0] += by[0];
            point[1] += by[1];
        };
        match &mut self {
            Self::Polygon { points, .. } | Self::Line { points, .. } => points.iter_mut().for_each(shift),
            Self::Ring { outer, inner, .. } => outer.iter_mut().chain(inner).for_each(shift),
            Self::Circle { centre: at, .. }
            | Self::Pie { centre: at, .. }
            | Self::Rect { at, .. }
            | Self::Text { at, .. } => shift(at),
        }
        self
    }
}
