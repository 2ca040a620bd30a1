//! The glyph of a node: a heptagon whose corners say how much is left in each dimension.
//!
//! Three outlines lie in each other: what was bought (nominal), what the node can give now (effective), what is left
//! (residual). Position is identity: an axis is always at the same hour, compute at the top, host at the right, data
//! path at the bottom left, so that a starved data path is one bite. The radius is linear in *residual ÷ nominal*,
//! from [`INNER`] of the outer radius (nothing left) to all of it; a packed node stays visible as a small heptagon.
//! The area carries no number.
//!
//! What is drawn depends on the size: names of axes from [`BIG`], rays, contours and extras from [`MIDDLE`], the
//! bare shape and the sign of the state from [`SMALL`]. Smaller than that, draw a [`tile`](crate::stage::tile).

use crate::resources::{DIMS, Dim};
use crate::stage::marks::{Anchor, Mark, Paint, Point, Stroke};
use crate::stage::palette::Palette;
use crate::stage::reel::{BREATHING_LOSS, NodeFrame, NodeState, PINCHED_ABOVE, PINCHED_BELOW};

/// From this size in pixels the axes are named.
pub const BIG: f64 = 96.0;
/// From this size in pixels there are rays and contours.
pub const MIDDLE: f64 = 40.0;
/// The smallest glyph in pixels.
pub const SMALL: f64 = 24.0;
/// Where an axis begins, as a share of the outer radius.
pub const INNER: f64 = 0.2;

/// The axes clockwise from 12 o'clock. Not the order of vectors.
pub const AXES: [Dim; DIMS] = [Dim::Gpu, Dim::Hbm, Dim::Ram, Dim::Cpu, Dim::Ioc, Dim::Sto, Dim::Net];

/// Names of the axes, in the order of [`AXES`]; the same in every language.
pub const AXIS_NAMES: [&str; DIMS] = ["SM", "HBM", "RAM", "CPU", "IOC", "STO", "NET"];

/// Direction of each axis: cosine and sine of −90° + k · 360°/7.
const DIRECTIONS: [Point; DIMS] = [
    [0.0, -1.0],
    [0.781_831_482_468_029_8, -0.623_489_801_858_733_5],
    [0.974_927_912_181_823_6, 0.222_520_933_956_314_4],
    [0.433_883_739_117_558_1, 0.900_968_867_902_419_1],
    [-0.433_883_739_117_558_1, 0.900_968_867_902_419_1],
    [-0.974_927_912_181_823_6, 0.222_520_933_956_314_4],
    [-0.781_831_482_468_029_8, -0.623_489_801_858_733_5],
];

/// Sizes of one glyph, in pixels.
struct Frame {
    size: f64,
    centre: f64,
    radius: f64,
    line: f64,
    big: bool,
    middle: bool,
}

impl Frame {
    fn of(size: f64) -> Self {
        let (big, middle) = (size >= BIG, size >= MIDDLE);
        let margin = if big {
            // Room for the names.
            20.0
        } else if middle {
            3.0
        } else {
            1.5
        };
        let line = if big {
            1.5
        } else if middle {
            1.2
        } else {
            1.0
        };
        Self { size, centre: size / 2.0, radius: size / 2.0 - margin, line, big, middle }
    }

    /// A length that is `big` at 120 px, `middle` at 48 px and `small` at 24 px, and grows with the glyph in between.
    fn scaled(&self, big: f64, middle: f64, small: f64) -> f64 {
        if self.big {
            big * self.size / 120.0
        } else if self.middle {
            middle * self.size / 48.0
        } else {
            small * self.size / 24.0
        }
    }

    /// The point at `distance` pixels from the centre on axis `k`.
    fn at(&self, k: usize, distance: f64) -> Point {
        [self.centre + distance * DIRECTIONS[k][0], self.centre + distance * DIRECTIONS[k][1]]
    }

    /// Distance from the centre of a share of nominal.
    fn reach(&self, share: f32) -> f64 {
        self.radius * (INNER + (1.0 - INNER) * f64::from(share))
    }

    /// The shape with these shares, in vector order; axes that the node does not have are left out.
    fn shape(&self, node: &NodeFrame, shares: &[f32; DIMS]) -> Vec<Point> {
        axes(node).map(|k| self.at(k, self.reach(shares[AXES[k].index()]))).collect()
    }
}

/// Positions in [`AXES`] of the dimensions that the node has.
fn axes(node: &NodeFrame) -> impl Iterator<Item = usize> {
    (0..DIMS).filter(|k| node.dims.has(AXES[*k]))
}

/// Whether one axis is nearly empty while another is not.
#[must_use]
pub fn is_pinched(node: &NodeFrame) -> bool {
    f64::from(node.longest()) > PINCHED_ABOVE
        && node.shortest().is_some_and(|(_, least)| f64::from(least) < PINCHED_BELOW)
}

/// The glyph of `node` in a square of `size` pixels, back to front.
#[must_use]
pub fn marks(node: &NodeFrame, size: f64, palette: &Palette) -> Vec<Mark> {
    noted(node, size, palette, "")
}

/// The same with a note under it, if it is big enough for names: `rebuild 38 %`.
#[must_use]
pub fn noted(node: &NodeFrame, size: f64, palette: &Palette, note: &str) -> Vec<Mark> {
    let frame = Frame::of(size);
    let mut marks = Vec::with_capacity(12);
    if node.state == NodeState::Offline {
        offline(&frame, node, palette, &mut marks);
    } else {
        outlines(&frame, node, palette, &mut marks);
        match node.state {
            NodeState::Blocked => blocked(&frame, node, palette, &mut marks),
            NodeState::Breathing => breathing(&frame, node, palette, &mut marks),
            _ => residual(&frame, node, palette, &mut marks),
        }
        match node.state {
            NodeState::Stalled => stalled(&frame, node, palette, &mut marks),
            NodeState::Pinched => pin(&frame, node, palette, &mut marks),
            NodeState::Degraded if is_pinched(node) => pin(&frame, node, palette, &mut marks),
            _ => {}
        }
        if node.reserved && frame.middle {
            reserved(&frame, palette, &mut marks);
        }
    }
    if frame.big {
        names(&frame, node, palette, note, &mut marks);
    }
    marks
}

fn offline(frame: &Frame, node: &NodeFrame, palette: &Palette, marks: &mut Vec<Mark>) {
    let outline = Stroke::solid(palette.nominal_line, frame.line).dashed(&[2.0, 2.0]);
    marks.push(Mark::Polygon { points: frame.shape(node, &[1.0; DIMS]), fill: None, stroke: Some(outline) });
    let (from, to) = (frame.centre - frame.radius * 0.5, frame.centre + frame.radius * 0.5);
    let stroke = Stroke::solid(palette.nominal_line, frame.line + 0.6);
    marks.push(Mark::Line { points: vec![[from, from], [to, to]], stroke });
}

/// What was bought, and what of it is lost for now.
fn outlines(frame: &Frame, node: &NodeFrame, palette: &Palette, marks: &mut Vec<Mark>) {
    let nominal = frame.shape(node, &[1.0; DIMS]);
    let stroke = Stroke::solid(palette.nominal_line, if frame.big { 1.0 } else { 0.8 });
    let fill = Some(Paint::Solid(palette.nominal_fill));
    marks.push(Mark::Polygon { points: nominal.clone(), fill, stroke: Some(stroke) });
    if axes(node).any(|k| node.effective[AXES[k].index()] < 1.0) {
        let effective = frame.shape(node, &node.effective);
        let fill = Paint::Hatch { line: palette.hatch_line, ground: palette.hatch_ground };
        marks.push(Mark::Ring { outer: nominal, inner: effective.clone(), fill });
        let stroke = Some(Stroke::solid(palette.effective_line, frame.line));
        marks.push(Mark::Polygon { points: effective, fill: None, stroke });
    }
}

fn contour(frame: &Frame, palette: &Palette) -> Option<Stroke> {
    frame.middle.then_some(Stroke::solid(palette.residual_line, frame.line))
}

/// What is left.
fn residual(frame: &Frame, node: &NodeFrame, palette: &Palette, marks: &mut Vec<Mark>) {
    let points = frame.shape(node, &node.residual);
    // One line out and back along every axis: seven times fewer things to draw.
    let rays = points.iter().flat_map(|end| [[frame.centre; 2], *end]).collect();
    let fill = Some(Paint::Solid(palette.residual_fill));
    marks.push(Mark::Polygon { points, fill, stroke: contour(frame, palette) });
    if frame.middle {
        let stroke = Stroke::solid(palette.ray, if frame.big { 1.2 } else { 0.8 });
        marks.push(Mark::Line { points: rays, stroke });
    }
}

/// What is left, nothing of it of use now: no fill, dashes, a bar.
fn blocked(frame: &Frame, node: &NodeFrame, palette: &Palette, marks: &mut Vec<Mark>) {
    let dash: &[f64] = if frame.big { &[5.0, 3.0] } else { &[3.0, 2.0] };
    marks.push(Mark::Polygon {
        points: frame.shape(node, &node.residual),
        fill: Some(Paint::Solid(palette.paper)),
        stroke: Some(Stroke::solid(palette.ink, frame.line + 0.4).dashed(dash)),
    });
    let (half, thick) = (frame.radius * 0.62, frame.scaled(7.0, 4.0, 2.6));
    let bar = |thick: f64, colour| Mark::Rect {
        at: [frame.centre - half, frame.centre - thick / 2.0],
        size: [2.0 * half, thick],
        fill: Some(Paint::Solid(colour)),
        stroke: None,
    };
    marks.push(bar(thick + 1.4, palette.paper));
    marks.push(bar(thick, palette.ink));
}

/// Two tones – what is left, and what will be – and arrowheads on the axes that growth takes from.
fn breathing(frame: &Frame, node: &NodeFrame, palette: &Palette, marks: &mut Vec<Mark>) {
    let forecast = node.forecast.unwrap_or(node.residual);
    marks.push(Mark::Polygon {
        points: frame.shape(node, &node.residual),
        fill: Some(Paint::Solid(palette.forecast_fill)),
        stroke: contour(frame, palette),
    });
    let width = if frame.big { 1.2 } else { 0.8 };
    let outline = Stroke::solid(palette.residual_line, width);
    marks.push(Mark::Polygon {
        points: frame.shape(node, &forecast),
        fill: Some(Paint::Solid(palette.residual_fill.with_alpha(255))),
        stroke: Some(if frame.middle { outline.dashed(&[3.0, 2.0]) } else { outline }),
    });
    let width = frame.scaled(6.5, 4.5, 3.2);
    for k in axes(node) {
        let m = AXES[k].index();
        if f64::from(node.residual[m] - forecast[m]) < BREATHING_LOSS {
            continue;
        }
        // An arrowhead just outside the shape, pointing at the centre.
        let [x, y] = frame.at(k, frame.radius * (INNER + (1.0 - INNER) * (f64::from(node.residual[m]) + 0.16)));
        let [out_x, out_y] = DIRECTIONS[k];
        // 126° off the outward direction, as in the drawing this follows.
        let (cos, sin) = (-0.588_501, 0.808_496);
        let wing =
            |sin: f64| [x + 0.9 * width * (out_x * cos - out_y * sin), y + 0.9 * width * (out_x * sin + out_y * cos)];
        marks.push(Mark::Polygon {
            points: vec![wing(sin), wing(-sin), [x - 1.3 * width * out_x, y - 1.3 * width * out_y]],
            fill: Some(Paint::Solid(palette.ink)),
            stroke: Some(Stroke::solid(palette.paper, 0.6)),
        });
    }
}

/// A ring in the centre, filled as far as the jobs are starved.
fn stalled(frame: &Frame, node: &NodeFrame, palette: &Palette, marks: &mut Vec<Mark>) {
    let radius = frame.scaled(17.0, 8.0, 4.6);
    let centre = [frame.centre; 2];
    marks.push(Mark::Circle {
        centre,
        radius,
        fill: Some(Paint::Solid(palette.paper)),
        stroke: Some(Stroke::solid(palette.alarm, frame.scaled(2.5, 2.0, 1.6))),
    });
    marks.push(Mark::Pie { centre, radius, share: f64::from(node.stall), fill: Paint::Solid(palette.alarm) });
}

/// A pin where the shortest axis ends.
fn pin(frame: &Frame, node: &NodeFrame, palette: &Palette, marks: &mut Vec<Mark>) {
    let Some(k) = node.shortest().and_then(|(dim, _)| AXES.iter().position(|axis| *axis == dim)) else { return };
    let distance = frame.radius * (INNER + 0.02) + frame.scaled(6.0, 4.0, 2.4);
    marks.push(Mark::Circle {
        centre: frame.at(k, distance),
        radius: frame.scaled(5.0, 3.2, 2.2),
        fill: Some(Paint::Solid(palette.alarm)),
        stroke: Some(Stroke::solid(palette.paper, if frame.middle { 1.0 } else { 0.6 })),
    });
}

/// A notch at 12 o'clock: kept for a job that has waited long.
fn reserved(frame: &Frame, palette: &Palette, marks: &mut Vec<Mark>) {
    let (width, depth) = (frame.scaled(5.0, 3.4, 2.0), frame.scaled(8.0, 5.0, 3.0));
    let top = frame.centre - frame.radius;
    marks.push(Mark::Polygon {
        points: vec![
            [frame.centre - width, top - 1.0],
            [frame.centre + width, top - 1.0],
            [frame.centre, top + depth],
        ],
        fill: Some(Paint::Solid(palette.ink)),
        stroke: Some(Stroke::solid(palette.paper, 0.8)),
    });
}

fn names(frame: &Frame, node: &NodeFrame, palette: &Palette, note: &str, marks: &mut Vec<Mark>) {
    let text = |at: Point, text: &str, size: f64| Mark::Text {
        at,
        text: text.to_owned(),
        size,
        anchor: Anchor::Middle,
        colour: palette.text,
    };
    for k in axes(node) {
        let [x, y] = frame.at(k, frame.radius + 10.0);
        marks.push(text([x, y + 3.0], AXIS_NAMES[k], 8.5));
    }
    if !note.is_empty() {
        marks.push(text([frame.centre, frame.size - 2.0], note, 9.0));
    }
}
