//! Marks onto a canvas. It decides nothing: colours, places and order are in the marks.

use residua::stage::marks::{Anchor, Colour, HATCH_PITCH, HATCH_WIDTH, Mark, Paint, Point, Stroke};
use residua::stage::tile::Pixels;
use wasm_bindgen::{Clamped, JsCast, JsValue};
use web_sys::{CanvasRenderingContext2d, CanvasWindingRule, HtmlCanvasElement, ImageData};

/// From this many nodes a picture of pixels is quicker than shapes.
pub const PIXELS_FROM: usize = 1500;

/// What is drawn with on `canvas`; `None` if the browser cannot.
pub fn context(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok()??.dyn_into().ok()
}

/// Gives a canvas `width` × `height` CSS pixels and as many of its own as the screen has in that place, and lets
/// marks be drawn in CSS pixels. Clears it. Does nothing but clear if it has that size already.
pub fn fit(canvas: &HtmlCanvasElement, width: f64, height: f64, ratio: f64) -> Option<CanvasRenderingContext2d> {
    let context = context(canvas)?;
    let own = |length: f64| (length * ratio).round().max(1.0) as u32;
    if canvas.width() != own(width) || canvas.height() != own(height) {
        canvas.set_width(own(width));
        canvas.set_height(own(height));
        let style = canvas.style();
        _ = style.set_property("width", &format!("{width}px"));
        _ = style.set_property("height", &format!("{height}px"));
    }
    _ = context.set_transform(ratio, 0.0, 0.0, ratio, 0.0, 0.0);
    context.clear_rect(0.0, 0.0, width, height);
    Some(context)
}

/// Draws marks, back to front.
pub fn paint(context: &CanvasRenderingContext2d, marks: &[Mark]) {
    for mark in marks {
        draw(context, mark);
    }
}

/// Puts pixels at a place in the canvas's own pixels; what was there is gone.
pub fn put(context: &CanvasRenderingContext2d, pixels: &Pixels, left: f64, top: f64) {
    if let Ok(data) = ImageData::new_with_u8_clamped_array(Clamped(&pixels.bytes), pixels.width as u32) {
        _ = context.put_image_data(&data, left, top);
    }
}

fn draw(context: &CanvasRenderingContext2d, mark: &Mark) {
    match mark {
        Mark::Polygon { points, fill, stroke } => {
            context.begin_path();
            trace(context, points);
            context.close_path();
            finish(context, *fill, *stroke);
        }
        Mark::Ring { outer, inner, fill } => {
            context.begin_path();
            trace(context, outer);
            context.close_path();
            trace(context, inner);
            context.close_path();
            match fill {
                Paint::Solid(colour) => {
                    context.set_fill_style_str(&colour.css());
                    context.fill_with_canvas_winding_rule(CanvasWindingRule::Evenodd);
                }
                Paint::Hatch { line, ground } => {
                    context.save();
                    context.clip_with_canvas_winding_rule(CanvasWindingRule::Evenodd);
                    hatch(context, bounds(outer), *line, *ground);
                    context.restore();
                }
            }
        }
        Mark::Line { points, stroke } => {
            context.begin_path();
            trace(context, points);
            finish(context, None, Some(*stroke));
        }
        Mark::Circle { centre, radius, fill, stroke } => {
            context.begin_path();
            _ = context.arc(centre[0], centre[1], *radius, 0.0, std::f64::consts::TAU);
            finish(context, *fill, *stroke);
        }
        Mark::Pie { centre, radius, share, fill } => {
            let from = -std::f64::consts::FRAC_PI_2;
            context.begin_path();
            context.move_to(centre[0], centre[1]);
            _ = context.arc(
                centre[0],
                centre[1],
                *radius,
                from,
                from + share.clamp(0.0, 1.0) * std::f64::consts::TAU,
            );
            context.close_path();
            finish(context, Some(*fill), None);
        }
        Mark::Rect { at, size, fill, stroke } => {
            context.begin_path();
            context.rect(at[0], at[1], size[0], size[1]);
            finish(context, *fill, *stroke);
        }
        Mark::Text { at, text, size, anchor, colour } => {
            context.set_font(&format!("{size}px system-ui, sans-serif"));
            context.set_text_align(match anchor {
                Anchor::Start => "left",
                Anchor::Middle => "center",
                Anchor::End => "right",
            });
            context.set_fill_style_str(&colour.css());
            _ = context.fill_text(text, at[0], at[1]);
        }
    }
}

fn trace(context: &CanvasRenderingContext2d, points: &[Point]) {
    for (i, [x, y]) in points.iter().enumerate() {
        if i == 0 {
            context.move_to(*x, *y);
        } else {
            context.line_to(*x, *y);
        }
    }
}

/// Fills and strokes the path that was traced.
fn finish(context: &CanvasRenderingContext2d, fill: Option<Paint>, stroke: Option<Stroke>) {
    match fill {
        None => {}
        // No mark but a ring is hatched today; one that is gets the colour of the lines.
        Some(Paint::Solid(colour) | Paint::Hatch { line: colour, .. }) => {
            context.set_fill_style_str(&colour.css());
            context.fill();
        }
    }
    if let Some(Stroke { colour, width, dash }) = stroke {
        context.set_stroke_style_str(&colour.css());
        context.set_line_width(width);
        if dash.is_empty() {
            context.stroke();
        } else {
            set_dash(context, dash);
            context.stroke();
            set_dash(context, &[]);
        }
    }
}

fn set_dash(context: &CanvasRenderingContext2d, dash: &[f64]) {
    let lengths: js_sys::Array = dash.iter().map(|length| JsValue::from_f64(*length)).collect();
    _ = context.set_line_dash(&lengths);
}

fn bounds(points: &[Point]) -> [Point; 2] {
    points.iter().fold([[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]], |[low, high], [x, y]| {
        [[low[0].min(*x), low[1].min(*y)], [high[0].max(*x), high[1].max(*y)]]
    })
}

/// Lines at 45° over an area. They run on from one area to the next, so that neighbours match.
fn hatch(context: &CanvasRenderingContext2d, [low, high]: [Point; 2], line: Colour, ground: Colour) {
    context.set_fill_style_str(&ground.css());
    context.fill_rect(low[0], low[1], high[0] - low[0], high[1] - low[1]);
    // Lines x + y = c, `pitch` apart along an axis.
    let pitch = HATCH_PITCH * std::f64::consts::SQRT_2;
    let mut c = ((low[0] + low[1]) / pitch).floor() * pitch;
    context.begin_path();
    while c <= high[0] + high[1] + pitch {
        context.move_to(c - low[1], low[1]);
        context.line_to(c - high[1], high[1]);
        c += pitch;
    }
    context.set_stroke_style_str(&line.css());
    context.set_line_width(HATCH_WIDTH);
    context.stroke();
}
