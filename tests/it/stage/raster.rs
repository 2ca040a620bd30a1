//! A slow, plain rasteriser of marks: enough to ask whether two small drawings look different.

use residua::stage::marks::{Colour, HATCH_PITCH, HATCH_WIDTH, Mark, Paint, Point, Stroke};

/// Samples a pixel, along each side.
const SAMPLES: usize = 4;

/// Grey levels, 0..=255, of `size` × `size` pixels.
pub fn grey(marks: &[Mark], size: usize, background: Colour) -> Vec<f64> {
    let mut levels = Vec::with_capacity(size * size);
    for y in 0..size {
        for x in 0..size {
            let mut sum = 0.0;
            for k in 0..SAMPLES * SAMPLES {
                let at = |pixel: usize, k: usize| pixel as f64 + (k as f64 + 0.5) / SAMPLES as f64;
                let point = [at(x, k % SAMPLES), at(y, k / SAMPLES)];
                let colour = marks.iter().fold(background, |below, mark| match cover(mark, point) {
                    Some(colour) => colour.over(below),
                    None => below,
                });
                sum +=
                    0.299 * f64::from(colour.red) + 0.587 * f64::from(colour.green) + 0.114 * f64::from(colour.blue);
            }
            levels.push(sum / (SAMPLES * SAMPLES) as f64);
        }
    }
    levels
}

/// The share of pixels in which two drawings differ by more than `step` grey levels.
pub fn difference(a: &[f64], b: &[f64], step: f64) -> f64 {
    a.iter().zip(b).filter(|(a, b)| (*a - *b).abs() > step).count() as f64 / a.len() as f64
}

/// The colour of a mark at a point.
fn cover(mark: &Mark, at: Point) -> Option<Colour> {
    let (fill, stroke) = match mark {
        Mark::Polygon { points, fill, stroke } => {
            (fill.filter(|_| inside(points, at)), stroke.filter(|stroke| on(points, true, stroke, at)))
        }
        Mark::Ring { outer, inner, fill } => (Some(*fill).filter(|_| inside(outer, at) != inside(inner, at)), None),
        Mark::Line { points, stroke } => (None, Some(*stroke).filter(|stroke| on(points, false, stroke, at))),
        Mark::Circle { centre, radius, fill, stroke } => {
            let distance = length(at, *centre);
            let edge = |stroke: &Stroke| (distance - radius).abs() <= stroke.width / 2.0;
            (fill.filter(|_| distance <= *radius), stroke.filter(edge))
        }
        Mark::Pie { centre, radius, share, fill } => {
            // Clockwise from 12 o'clock.
            let turn = libm::atan2(at[0] - centre[0], centre[1] - at[1]).rem_euclid(std::f64::consts::TAU);
            (Some(*fill).filter(|_| length(at, *centre) <= *radius && turn <= share * std::f64::consts::TAU), None)
        }
        Mark::Rect { at: corner, size, fill, stroke } => {
            let [x, y] = [at[0] - corner[0], at[1] - corner[1]];
            let is_in = (0.0..=size[0]).contains(&x) && (0.0..=size[1]).contains(&y);
            let [right, bottom] = [corner[0] + size[0], corner[1] + size[1]];
            let corners = [*corner, [right, corner[1]], [right, bottom], [corner[0], bottom]];
            (fill.filter(|_| is_in), stroke.filter(|stroke| on(&corners, true, stroke, at)))
        }
        Mark::Text { .. } => (None, None),
    };
    stroke.map(|stroke| stroke.colour).or_else(|| fill.map(|fill| colour(fill, at)))
}

fn colour(fill: Paint, [x, y]: Point) -> Colour {
    match fill {
        Paint::Solid(colour) => colour,
        Paint::Hatch { line, ground } => {
            let across = ((x + y) / std::f64::consts::SQRT_2).rem_euclid(HATCH_PITCH);
            if (HATCH_WIDTH / 2.0..=HATCH_PITCH - HATCH_WIDTH / 2.0).contains(&across) { ground } else { line }
        }
    }
}

fn length(a: Point, b: Point) -> f64 {
    let [x, y] = [a[0] - b[0], a[1] - b[1]];
    (x * x + y * y).sqrt()
}

fn inside(points: &[Point], [x, y]: Point) -> bool {
    let mut is_inside = false;
    for (i, a) in points.iter().enumerate() {
        let b = points[(i + 1) % points.len()];
        if (a[1] > y) != (b[1] > y) && x < (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]) + a[0] {
            is_inside = !is_inside;
        }
    }
    is_inside
}

/// Whether a point lies on a line through points, and on a dash of it.
fn on(points: &[Point], is_closed: bool, stroke: &Stroke, at: Point) -> bool {
    let mut run = 0.0;
    let last = if is_closed { points.len() } else { points.len().saturating_sub(1) };
    for i in 0..last {
        let (a, b) = (points[i], points[(i + 1) % points.len()]);
        let whole = length(a, b);
        if whole > 0.0 {
            let along = (((at[0] - a[0]) * (b[0] - a[0]) + (at[1] - a[1]) * (b[1] - a[1])) / whole).clamp(0.0, whole);
            let foot = [a[0] + (b[0] - a[0]) * along / whole, a[1] + (b[1] - a[1]) * along / whole];
            if length(at, foot) <= stroke.width / 2.0 && is_dash(stroke.dash, run + along) {
                return true;
            }
        }
        run += whole;
    }
    false
}

fn is_dash(dash: &[f64], along: f64) -> bool {
    let period: f64 = dash.iter().sum();
    if dash.is_empty() || period <= 0.0 {
        return true;
    }
    let mut rest = along.rem_euclid(period);
    for (i, length) in dash.iter().enumerate() {
        if rest < *length {
            return i % 2 == 0;
        }
        rest -= length;
    }
    true
}
