//! The tile of a node: a square for when there are too many nodes for glyphs.
//!
//! It carries two things only. Its tone says how much is left on the shortest axis: the more blue, the more is left,
//! as in the glyph. A sign says the state. It comes as marks for vector drawings, and as pixels for thousands of
//! tiles at once.

use crate::stage::marks::{Colour, Mark, Paint, Stroke};
use crate::stage::palette::Palette;
use crate::stage::reel::{NodeFrame, NodeState};

/// The smallest tile in pixels on which signs can be told apart.
pub const SMALLEST: f64 = 6.0;

/// The tone of a node: the shortest axis between the palette's two ends.
#[must_use]
pub fn tone(node: &NodeFrame, palette: &Palette) -> Colour {
    if node.state == NodeState::Offline {
        return palette.background;
    }
    let least = node.shortest().map_or(0.0, |(_, least)| f64::from(least));
    palette.tile_empty.mixed(palette.tile_full, least)
}

/// The tile of `node` in a square of `size` pixels, back to front. The square itself is a pixel smaller, so that
/// neighbours do not touch.
#[must_use]
pub fn marks(node: &NodeFrame, size: f64, palette: &Palette) -> Vec<Mark> {
    let side = size - 1.0;
    let mut marks = vec![Mark::Rect {
        at: [0.5, 0.5],
        size: [side, side],
        fill: Some(Paint::Solid(tone(node, palette))),
        stroke: Some(Stroke::solid(palette.nominal_line, 0.6)),
    }];
    let centre = [size / 2.0; 2];
    let solid = |colour| Some(Paint::Solid(colour));
    let rect = |half_width: f64, half_height: f64, colour| Mark::Rect {
        at: [centre[0] - half_width, centre[1] - half_height],
        size: [2.0 * half_width, 2.0 * half_height],
        fill: solid(colour),
        stroke: None,
    };
    // A triangle in a corner, with an edge of paper so that it stands out from every tone.
    let corner = |x: f64, y: f64, colour| {
        let (inward_x, inward_y) = (if x > centre[0] { -1.0 } else { 1.0 }, if y > centre[1] { -1.0 } else { 1.0 });
        let leg = size * 0.56;
        Mark::Polygon {
            points: vec![[x, y], [x + inward_x * leg, y], [x, y + inward_y * leg]],
            fill: solid(colour),
            stroke: Some(Stroke::solid(palette.paper, 0.8)),
        }
    };
    let (low, high) = (0.5, size - 0.5);
    match node.state {
        NodeState::Healthy => {}
        NodeState::Packed => {
            marks.push(rect(size * 0.18 + 0.6, size * 0.18 + 0.6, palette.paper));
            marks.push(rect(size * 0.18, size * 0.18, palette.residual_line));
        }
        NodeState::Pinched => marks.push(Mark::Circle {
            centre,
            radius: size * 0.22,
            fill: solid(palette.alarm),
            stroke: Some(Stroke::solid(palette.paper, 0.8)),
        }),
        NodeState::Degraded => marks.push(corner(low, high, palette.effective_line)),
        NodeState::Breathing => marks.push(corner(high, low, palette.ink)),
        NodeState::Stalled => marks.push(Mark::Circle {
            centre,
            radius: size * 0.26,
            fill: solid(palette.paper),
            stroke: Some(Stroke::solid(palette.alarm, size * 0.15)),
        }),
        NodeState::Blocked => {
            marks.push(rect(size * 0.36 + 0.6, size * 0.11 + 0.6, palette.paper));
            marks.push(rect(size * 0.36, size * 0.11, palette.ink));
        }
        NodeState::Offline => marks.push(Mark::Line {
            points: vec![[size * 0.2, size * 0.2], [size * 0.8, size * 0.8]],
            stroke: Stroke::solid(palette.nominal_line, 1.2),
        }),
    }
    marks
}

/// Pixels of four bytes (red, green, blue, opacity) in rows from the top, as a canvas takes them.
#[derive(Clone, Debug)]
pub struct Pixels {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The bytes, `4 · width · height` of them.
    pub bytes: Vec<u8>,
}

impl Pixels {
    /// A surface of one colour.
    #[must_use]
    pub fn new(width: usize, height: usize, colour: Colour) -> Self {
        let pixel = [colour.red, colour.green, colour.blue, colour.alpha];
        Self { width, height, bytes: pixel.repeat(width * height) }
    }

    fn set(&mut self, x: usize, y: usize, colour: Colour) {
        if x < self.width {
            let at = 4 * (y * self.width + x);
            if let Some(pixel) = self.bytes.get_mut(at..at + 4) {
                pixel.copy_from_slice(&[colour.red, colour.green, colour.blue, colour.alpha]);
            }
        }
    }

    /// Draws the tile of `node` with its top left corner at (`left`, `top`) in a square of `size` device pixels, the
    /// last row and column of which stay as they are. What lies outside is not drawn.
    pub fn draw(&mut self, node: &NodeFrame, left: usize, top: usize, size: usize, palette: &Palette) {
        let side = size.saturating_sub(1);
        let ground = tone(node, palette);
        for y in 0..side {
            for x in 0..side {
                let colour = sign(node, x, y, side, palette).unwrap_or(ground);
                self.set(left + x, top + y, colour);
            }
        }
    }
}

/// The colour of the sign of the state at a pixel of a square of `side` pixels, if it covers that pixel.
fn sign(node: &NodeFrame, x: usize, y: usize, side: usize, palette: &Palette) -> Option<Colour> {
    // Position from the centre in half pixels, so that even and odd sides are both symmetric.
    let (dx, dy) = (2 * x as i32 + 1 - side as i32, 2 * y as i32 + 1 - side as i32);
    let side = side as i32;
    // A disc of a radius of `share` of the side, in the same half pixels.
    let within = |percent: i32| 100 * 100 * (dx * dx + dy * dy) <= (2 * percent * side) * (2 * percent * side);
    let boxed = |percent: i32| dx.abs().max(dy.abs()) * 100 <= 2 * percent * side;
    match node.state {
        NodeState::Healthy => None,
        NodeState::Packed => boxed(18).then_some(palette.residual_line).or(boxed(26).then_some(palette.paper)),
        NodeState::Pinched => within(24).then_some(palette.alarm).or(within(33).then_some(palette.paper)),
        NodeState::Stalled => within(17).then_some(palette.paper).or(within(36).then_some(palette.alarm)),
        NodeState::Blocked => {
            let bar = |wide: i32, high: i32| dx.abs() * 100 <= 2 * wide * side && dy.abs() * 100 <= 2 * high * side;
            bar(38, 12).then_some(palette.ink).or(bar(44, 22).then_some(palette.paper))
        }
        // In the corners: bottom left, and top right.
        NodeState::Degraded | NodeState::Breathing => {
            let (along, colour) = if node.state == NodeState::Degraded {
                (x as i32 + (side - 1 - y as i32), palette.effective_line)
            } else {
                ((side - 1 - x as i32) + y as i32, palette.ink)
            };
            let leg = (side * 11 / 20).max(2);
            (along < leg).then_some(colour).or((along == leg).then_some(palette.paper))
        }
        NodeState::Offline => {
            let edge = dx.abs().max(dy.abs()) >= side - 1;
            ((dx - dy).abs() <= 2 && !edge || edge && (x + y).is_multiple_of(2)).then_some(palette.nominal_line)
        }
    }
}

/// How many nodes are in each state, in the order of [`NodeState::ALL`], for the text beside the tiles.
#[must_use]
pub fn counts(nodes: impl Iterator<Item = NodeFrame>) -> [u32; NodeState::ALL.len()] {
    let mut counts = [0; NodeState::ALL.len()];
    for node in nodes {
        if let Some(at) = NodeState::ALL.iter().position(|state| *state == node.state) {
            counts[at] += 1;
        }
    }
    counts
}
