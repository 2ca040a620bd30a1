//! Marks onto a canvas. It decides nothing: colours, places and order are in the marks.

use std::f64::consts::{FRAC_PI_2, SQRT_2, TAU};

use residua::stage::marks::{Anchor, Colour, HATCH_PITCH, HATCH_WIDTH, Mark, Paint, Point, Stroke};
use residua::stage::tile::Pixels;
use wasm_bindgen::{Clamped, JsCast, JsValue};
use web_sys::{CanvasRenderingContext2d, CanvasWindingRule, HtmlCanvasElement, ImageData};

/// The page's own font, as in `styles/tokens.css`: a canvas does not inherit it.
const FONT: &str = "Inter, -apple-system, \"Segoe UI\", Roboto, \"Helvetica Neue\", Arial, system-ui, sans-serif";

/// From this many nodes a picture of pixels is quicker than shapes.
pub const PIXELS_FROM: usize = 1500;

/// What is drawn with on `canvas`; `None` if the browser cannot.
pub fn context(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok()??.dyn_into().ok()
}

/// Whether this browser lets the page draw at all.
pub fn is_possible() -> bool {
    let canvas = web_sys::window().and_then(|window| window.document()?.create_element("canvas").ok());
    canvas.and_then(|canvas| canvas.dyn_into().ok()).is_some_and(|canvas| context(&canvas).is_some())
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
    let mut brush = Brush { context, fill: None, stroke: None, width: f64::NAN, letters: None };
    for mark in marks {
        brush.draw(mark);
    }
}

/// Puts pixels at a place in the canvas's own pixels; what was there is gone.
pub fn put(context: &CanvasRenderingContext2d, pixels: &Pixels, left: f64, top: f64) {
    if let Ok(data) = ImageData::new_with_u8_clamped_array(Clamped(&pixels.bytes), pixels.width as u32) {
        _ = context.put_image_data(&data, left, top);
    }
}

/// A canvas and what it was last told: the browser takes longer to read the name of a colour than to draw with it.
struct Brush<'a> {
    context: &'a CanvasRenderingContext2d,
    fill: Option<Colour>,
    stroke: Option<Colour>,
    width: f64,
    letters: Option<(f64, Anchor)>,
}

impl Brush<'_> {
    fn draw(&mut self, mark: &Mark) {
        let context = self.context;
        match mark {
            Mark::Polygon { points, fill, stroke } => {
                context.begin_path();
                trace(context, points);
                context.close_path();
                self.finish(*fill, *stroke);
            }
            Mark::Ring { outer, inner, fill } => {
                context.begin_path();
                trace(context, outer);
                context.close_path();
                trace(context, inner);
                context.close_path();
                match fill {
                    Paint::Solid(colour) => {
                        self.fill_with(*colour);
                        context.fill_with_canvas_winding_rule(CanvasWindingRule::Evenodd);
                    }
                    Paint::Hatch { line, ground } => {
                        context.save();
                        context.clip_with_canvas_winding_rule(CanvasWindingRule::Evenodd);
                        self.hatch(bounds(outer), *line, *ground);
                        context.restore();
                        // What was set meanwhile is forgotten again.
                        (self.fill, self.stroke, self.width) = (None, None, f64::NAN);
                    }
                }
            }
            Mark::Line { points, stroke } => {
                context.begin_path();
                trace(context, points);
                self.finish(None, Some(*stroke));
            }
            Mark::Circle { centre, radius, fill, stroke } => {
                context.begin_path();
                _ = context.arc(centre[0], centre[1], *radius, 0.0, TAU);
                self.finish(*fill, *stroke);
            }
            Mark::Pie { centre, radius, share, fill } => {
                context.begin_path();
                context.move_to(centre[0], centre[1]);
                let end = share.clamp(0.0, 1.0) * TAU - FRAC_PI_2;
                _ = context.arc(centre[0], centre[1], *radius, -FRAC_PI_2, end);
                context.close_path();
                self.finish(Some(*fill), None);
            }
            Mark::Rect { at, size, fill, stroke } => {
                context.begin_path();
                context.rect(at[0], at[1], size[0], size[1]);
                self.finish(*fill, *stroke);
            }
            Mark::Text { at, text, size, anchor, colour } => {
                if self.letters != Some((*size, *anchor)) {
                    context.set_font(&format!("{size}px {FONT}"));
                    context.set_text_align(match anchor {
                        Anchor::Start => "left",
                        Anchor::Middle => "center",
                        Anchor::End => "right",
                    });
                    self.letters = Some((*size, *anchor));
                }
                self.fill_with(*colour);
                _ = context.fill_text(text, at[0], at[1]);
            }
        }
    }

    /// Fills and strokes the path that was traced.
    fn finish(&mut self, fill: Option<Paint>, stroke: Option<Stroke>) {
        // No mark but a ring is hatched today; one that is gets the colour of the lines.
        if let Some(Paint::Solid(colour) | Paint::Hatch { line: colour, .. }) = fill {
            self.fill_with(colour);
            self.context.fill();
        }
        if let Some(Stroke { colour, width, dash }) = stroke {
            self.stroke_with(colour, width);
            if dash.is_empty() {
                self.context.stroke();
            } else {
                set_dash(self.context, dash);
                self.context.stroke();
                set_dash(self.context, &[]);
            }
        }
    }

    fn fill_with(&mut self, colour: Colour) {
        if self.fill != Some(colour) {
            self.context.set_fill_style_str(&colour.css());
            self.fill = Some(colour);
        }
    }

    fn stroke_with(&mut self, colour: Colour, width: f64) {
        if self.stroke != Some(colour) {
            self.context.set_stroke_style_str(&colour.css());
            self.stroke = Some(colour);
        }
        #[expect(clippy::float_cmp, reason = "any change at all is a change")]
        if self.width != width {
            self.context.set_line_width(width);
            self.width = width;
        }
    }

    /// Lines at 45° over an area. They run on from one area to the next, so that neighbours match.
    fn hatch(&mut self, [low, high]: [Point; 2], line: Colour, ground: Colour) {
        let context = self.context;
        self.fill_with(ground);
        context.fill_rect(low[0], low[1], high[0] - low[0], high[1] - low[1]);
        // Lines x + y = c, `pitch` apart along an axis.
        let pitch = HATCH_PITCH * SQRT_2;
        let mut c = ((low[0] + low[1]) / pitch).floor() * pitch;
        context.begin_path();
        while c <= high[0] + high[1] + pitch {
            context.move_to(c - low[1], low[1]);
            context.line_to(c - high[1], high[1]);
            c += pitch;
        }
        self.stroke_with(line, HATCH_WIDTH);
        context.stroke();
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

fn set_dash(context: &CanvasRenderingContext2d, dash: &[f64]) {
    let lengths: js_sys::Array = dash.iter().map(|length| JsValue::from_f64(*length)).collect();
    _ = context.set_line_dash(&lengths);
}

fn bounds(points: &[Point]) -> [Point; 2] {
    points.iter().fold([[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]], |[low, high], [x, y]| {
        [[low[0].min(*x), low[1].min(*y)], [high[0].max(*x), high[1].max(*y)]]
    })
}
