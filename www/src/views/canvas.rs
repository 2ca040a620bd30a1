//! A small drawing from the stage's marks.

use leptos::html;
use leptos::prelude::*;
use residua::stage::marks::Mark;

use crate::paint;

/// Draws `marks` on a canvas of `size` CSS pixels, and again when they change. It says nothing by itself: what it
/// shows must stand in words beside it.
#[component]
pub fn Drawing(size: [f64; 2], #[prop(into)] marks: Signal<Vec<Mark>>) -> impl IntoView {
    let canvas = NodeRef::<html::Canvas>::new();
    Effect::new(move |_| {
        let Some(canvas) = canvas.get() else {
            return;
        };
        let ratio = window().device_pixel_ratio().clamp(1.0, 3.0);
        if let Some(context) = paint::fit(&canvas, size[0], size[1], ratio) {
            marks.with(|marks| paint::paint(&context, marks));
        }
    });
    view! {
        <canvas
            class="drawing"
            node_ref=canvas
            aria-hidden="true"
            style=format!("width: {}px; height: {}px", size[0], size[1])
        ></canvas>
    }
}
