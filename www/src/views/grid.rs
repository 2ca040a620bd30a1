//! The nodes of a lane on a canvas, each as the glyph of what is left on it, and the same as a table.
//!
//! Only nodes that look different from what is on the canvas are drawn again. Pointing at a node, or moving to it with
//! the arrow keys, outlines it in all lanes and shows its numbers.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::html;
use leptos::prelude::*;
use residua::resources::Dim;
use residua::stage::marks::{Mark, Stroke};
use residua::stage::palette::Palette;
use residua::stage::reel::{NodeFrame, NodeState};
use residua::stage::tile::Pixels;
use residua::stage::{glyph, tile};
use residua::units::SimTime;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

use crate::i18n::{Said, Text, use_text};
use crate::lab::{Lab, Progress, use_lab};
use crate::numbers::{Numbers, use_numbers};
use crate::paint;
use crate::theme::use_theme;

/// The largest glyph in a lane: more would only spread few nodes out.
const LARGEST: f64 = 64.0;

/// The keys that move from node to node.
const KEYS: [&str; 6] = ["ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "Home", "End"];

/// Where the nodes are on the canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Places {
    columns: usize,
    rows: usize,
    /// Distance from node to node, in CSS pixels.
    pitch: f64,
}

impl Places {
    /// A square of `nodes` in `width`.
    fn of(nodes: usize, width: f64) -> Self {
        let columns = ((nodes as f64).sqrt().ceil() as usize).max(1);
        let rows = nodes.div_ceil(columns).max(1);
        // Whole pixels, so that every node is equally sharp.
        let pitch = (width / columns as f64).floor().clamp(1.0, LARGEST);
        Self { columns, rows, pitch }
    }

    fn width(self) -> f64 {
        self.columns as f64 * self.pitch
    }

    fn height(self) -> f64 {
        self.rows as f64 * self.pitch
    }

    fn corner(self, node: usize) -> [f64; 2] {
        [(node % self.columns) as f64 * self.pitch, (node / self.columns) as f64 * self.pitch]
    }

    fn node_at(self, x: f64, y: f64, nodes: usize) -> Option<usize> {
        if x < 0.0 || y < 0.0 {
            return None;
        }
        let (column, row) = ((x / self.pitch) as usize, (y / self.pitch) as usize);
        let node = row * self.columns + column;
        (column < self.columns && node < nodes).then_some(node)
    }

    /// The node that an arrow key leads to.
    fn beside(self, node: usize, key: &str, nodes: usize) -> Option<usize> {
        let to = match key {
            "ArrowRight" => node.checked_add(1)?,
            "ArrowLeft" => node.checked_sub(1)?,
            "ArrowDown" => node.checked_add(self.columns)?,
            "ArrowUp" => node.checked_sub(self.columns)?,
            "Home" => 0,
            "End" => nodes.checked_sub(1)?,
            _ => return None,
        };
        (to < nodes).then_some(to)
    }
}

/// What is on the canvas.
#[derive(Default)]
struct Drawn {
    /// Words of each node as drawn; empty: not drawn.
    nodes: Vec<Vec<u32>>,
    /// The tiles of a cluster so large that shapes would be too slow.
    pixels: Option<Pixels>,
    outlined: Option<usize>,
    places: Option<Places>,
    ratio: f64,
    dark: bool,
}

/// The grid of nodes of one lane.
#[component]
pub fn Grid(lane: usize) -> impl IntoView {
    let (lab, text, numbers, theme) = (use_lab(), use_text(), use_numbers(), use_theme());
    let clock = lab.clock;
    let wrapper = NodeRef::<html::Div>::new();
    let canvas = NodeRef::<html::Canvas>::new();
    let width = RwSignal::new(0.0_f64);
    let places = RwSignal::new(None::<Places>);
    let drawn = Rc::new(RefCell::new(Drawn::default()));

    observe_width(wrapper, width);
    // What else changes the picture than the play head.
    Effect::new(move |_| {
        width.track();
        theme.dark.track();
        lab.node.track();
        lab.table.track();
        lab.watches[lane].frames.track();
        clock.repaint();
    });

    clock.on_paint(move |time| {
        let Some(canvas) = canvas.try_get_untracked().flatten() else {
            return;
        };
        // The nodes of the run before are not those of one that was refused.
        let is_gone = lab.watches[lane]
            .progress
            .with_untracked(|progress| matches!(progress, Progress::Refused(_) | Progress::Failed(_)));
        if is_gone && lab.with_reel(lane, |_| ()).is_none() {
            if drawn.borrow().places.is_some() {
                *drawn.borrow_mut() = Drawn::default();
                canvas.set_width(canvas.width());
            }
            return;
        }
        let room = width.get_untracked();
        if room < 1.0 {
            return;
        }
        let palette = untrack(|| theme.palette());
        let dark = theme.dark.get_untracked();
        let outlined = lab.node.get_untracked();
        let ratio = window().device_pixel_ratio().clamp(1.0, 3.0);
        lab.with_reel(lane, |reel| {
            let Some(frame) = reel.frame(reel.index_at(SimTime(time))) else {
                return;
            };
            let nodes = reel.header().nodes as usize;
            let wanted = Places::of(nodes, room);
            let mut drawn = drawn.borrow_mut();
            let fresh = drawn.places != Some(wanted) || drawn.ratio != ratio || drawn.nodes.len() != nodes;
            if fresh {
                _ = paint::fit(&canvas, wanted.width(), wanted.height(), ratio);
                drawn.places = Some(wanted);
                drawn.ratio = ratio;
                places.set(Some(wanted));
            }
            if fresh || drawn.dark != dark {
                drawn.dark = dark;
                drawn.nodes = vec![Vec::new(); nodes];
                drawn.pixels = None;
            }
            let Some(context) = paint::context(&canvas) else {
                return;
            };
            let before = std::mem::replace(&mut drawn.outlined, outlined);
            let is_pixels = nodes >= paint::PIXELS_FROM && wanted.pitch < glyph::SMALL;
            let side = (wanted.pitch * ratio).round() as usize;
            if is_pixels && drawn.pixels.is_none() {
                drawn.pixels = Some(Pixels::new(wanted.columns * side, wanted.rows * side, palette.background));
            }
            let mut is_changed = before != outlined;
            for node in 0..nodes {
                let words = frame.node_words(node);
                let outline_changed = before != outlined && (before == Some(node) || outlined == Some(node));
                if drawn.nodes[node] == words && !outline_changed {
                    continue;
                }
                let Some(state) = frame.node(node) else {
                    continue;
                };
                is_changed = true;
                words.clone_into(&mut drawn.nodes[node]);
                if let Some(pixels) = &mut drawn.pixels {
                    let (column, row) = (node % wanted.columns, node / wanted.columns);
                    pixels.draw(&state, column * side, row * side, side, palette);
                    continue;
                }
                let corner = wanted.corner(node);
                context.clear_rect(corner[0], corner[1], wanted.pitch, wanted.pitch);
                let mut marks = picture(&state, wanted.pitch, palette);
                if outlined == Some(node) {
                    marks.push(outline(wanted.pitch, palette));
                }
                let marks: Vec<Mark> = marks.into_iter().map(|mark| mark.moved(corner)).collect();
                paint::paint(&context, &marks);
            }
            if let (Some(pixels), true) = (&drawn.pixels, is_changed) {
                paint::put(&context, pixels, 0.0, 0.0);
                if let Some(node) = outlined {
                    paint::paint(&context, &[outline(wanted.pitch, palette).moved(wanted.corner(node))]);
                }
            }
        });
    });

    let nodes = move || {
        lab.watches[lane].run.track();
        lab.with_header(lane, |header| header.nodes as usize).unwrap_or(0)
    };
    let point = move |event: web_sys::PointerEvent| {
        let at = places
            .get_untracked()
            .and_then(|places| places.node_at(f64::from(event.offset_x()), f64::from(event.offset_y()), nodes()));
        if lab.node.get_untracked() != at {
            lab.node.set(at);
        }
    };
    let on_key = move |event: web_sys::KeyboardEvent| {
        if event.key() == "Escape" {
            lab.node.set(None);
            return;
        }
        if event.ctrl_key() || event.meta_key() || event.alt_key() || event.shift_key() {
            return;
        }
        let Some(places) = places.get_untracked() else {
            return;
        };
        let to = match lab.node.get_untracked() {
            None => places.beside(0, &event.key(), nodes()).map(|_| 0),
            Some(node) => places.beside(node, &event.key(), nodes()),
        };
        if !KEYS.contains(&event.key().as_str()) {
            return;
        }
        // Also at the edge, where they lead nowhere: the play head does not move instead.
        event.prevent_default();
        event.stop_propagation();
        if let Some(to) = to {
            lab.speaking.set(Some(lane));
            lab.node.set(Some(to));
        }
    };
    let summary = move || {
        let counts = counts(lab, lane);
        let said: Vec<String> = NodeState::ALL
            .into_iter()
            .zip(counts)
            .filter(|(_, count)| *count > 0)
            .map(|(state, count)| format!("{count} {}", state_name(text, state)))
            .collect();
        let nodes = text.count("count.nodes", nodes() as f64, &nodes().to_string());
        text.tf("grid.summary", &[("nodes", &nodes), ("states", &said.join(", "))])
    };

    view! {
        <div
            class="grid"
            node_ref=wrapper
            role="group"
            tabindex="0"
            aria-label=summary
            aria-describedby="grid-keys"
            on:keydown=on_key
            on:blur=move |_| {
                lab.speaking.set(None);
                lab.node.set(None);
            }
        >
            <canvas
                node_ref=canvas
                aria-hidden="true"
                on:pointermove=point
                on:pointerdown=point
                on:pointerleave=move |_| lab.node.set(None)
            ></canvas>
            <NodeCard lane=lane places=places/>
            <p class="sr" role="status">
                {move || {
                    let index = lab.node.get().filter(|_| lab.speaking.get() == Some(lane))?;
                    let state = lab.with_frame(lane, lab.clock.position(), |frame| frame.node(index)).flatten()?;
                    let name = text.tf("grid.node", &[("n", &index.to_string())]);
                    Some(format!("{name}: {}", describe(text, numbers, &state)))
                }}
            </p>
        </div>
    }
}

/// What marks the node that is pointed at.
fn outline(pitch: f64, palette: &Palette) -> Mark {
    let stroke = Some(Stroke::solid(palette.cursor, 1.5));
    Mark::Rect { at: [0.75, 0.75], size: [pitch - 1.5; 2], fill: None, stroke }
}

/// What a node looks like in a square of `size` pixels.
fn picture(node: &NodeFrame, size: f64, palette: &Palette) -> Vec<Mark> {
    if size >= glyph::SMALL { glyph::marks(node, size, palette) } else { tile::marks(node, size, palette) }
}

/// Nodes of a lane by state, in the order of [`NodeState::ALL`], as they are drawn at the time that text shows.
pub fn counts(lab: Lab, lane: usize) -> [u32; NodeState::ALL.len()] {
    let time = lab.clock.shown.get();
    lab.watches[lane].frames.track();
    lab.with_frame(lane, time, |frame| tile::counts(frame.nodes())).unwrap_or_default()
}

/// What a state is called.
pub fn state_name(text: Text, state: NodeState) -> String {
    text.t(&format!("state.{}", state.name()))
}

/// What a dimension is called.
pub fn dim_name(text: Text, dim: Dim) -> String {
    text.t(&format!("dim.{}", dim.name()))
}

/// The numbers of the node that is pointed at.
#[component]
fn NodeCard(lane: usize, places: RwSignal<Option<Places>>) -> impl IntoView {
    let (lab, text, numbers) = (use_lab(), use_text(), use_numbers());
    let node = move || {
        let index = lab.node.get()?;
        let state = lab.here(lane, |frame| frame.node(index)).flatten()?;
        let kind = lab.with_header(lane, |header| {
            header.node_types.get(usize::from(*header.node_type.get(index)?)).map(|kind| kind.title.clone())
        });
        Some((index, state, kind.flatten().unwrap_or_default()))
    };
    // Above nodes in the lower half, below those in the upper.
    let side = move || {
        let (places, index) = (places.get()?, lab.node.get()?);
        let [_, y] = places.corner(index);
        Some(if y + places.pitch / 2.0 > places.height() / 2.0 {
            format!("bottom: calc(100% - {}px)", y - 6.0)
        } else {
            format!("top: {}px", y + places.pitch + 6.0)
        })
    };
    view! {
        {move || node().map(|(index, state, kind)| view! {
            <div class="node-card" style=side>
                <p><b>{text.tf("grid.node", &[("n", &index.to_string())])}</b> " " <Said english=kind/></p>
                <p>{describe(text, numbers, &state)}</p>
                <table>
                    <caption class="sr">{text.t("grid.left")}</caption>
                    <tbody>
                        {glyph::AXES
                            .into_iter()
                            .filter(|dim| state.dims.has(*dim))
                            .map(|dim| {
                                let share = f64::from(state.residual[dim.index()]);
                                view! {
                                    <tr>
                                        <th scope="row">{dim_name(text, dim)}</th>
                                        <td class="bar" aria-hidden="true">
                                            <i style:width=format!("{:.1}%", share * 100.0)></i>
                                        </td>
                                        <td>{numbers.percent(share, 0)}</td>
                                    </tr>
                                }
                            })
                            .collect_view()}
                    </tbody>
                </table>
            </div>
        })}
    }
}

/// A node's state, jobs and free GPUs in words.
fn describe(text: Text, numbers: Numbers, node: &NodeFrame) -> String {
    let mut parts = vec![match node.state {
        NodeState::Stalled => text.tf("grid.stalled", &[("share", &numbers.percent(f64::from(node.stall), 0))]),
        NodeState::Degraded => {
            let left = f64::from(node.effective[Dim::Sto.index()]);
            text.tf("grid.degraded", &[("share", &numbers.percent(left, 0))])
        }
        state => state_name(text, state),
    }];
    if node.rebuilding && node.state != NodeState::Degraded {
        let left = f64::from(node.effective[Dim::Sto.index()]);
        parts.push(text.tf("grid.degraded", &[("share", &numbers.percent(left, 0))]));
    }
    if node.reserved {
        parts.push(text.t("grid.reserved"));
    }
    parts.push(text.count("grid.jobs", f64::from(node.jobs), &numbers.whole(f64::from(node.jobs))));
    let free = f64::from(node.gpus_free);
    parts.push(text.count("grid.free", free, &numbers.short(free, 1)));
    parts.join(" · ")
}

/// Rows of a table at once: tens of thousands would stop the page each time they are written.
const MOST_ROWS: usize = 500;

/// The same as a table: every node, what is left in each dimension, its state.
#[component]
pub fn NodeTable(lane: usize) -> impl IntoView {
    let (lab, text, numbers) = (use_lab(), use_text(), use_numbers());
    // Twice a second is as fast as a table can be read.
    let time = RwSignal::new(lab.clock.shown.get_untracked());
    let last = StoredValue::new(0.0_f64);
    Effect::new(move |_| {
        let shown = lab.clock.shown.get();
        let playing = lab.clock.playing.get();
        let now = crate::clock::now();
        if !playing || now - last.get_value() >= 500.0 {
            last.set_value(now);
            time.set(shown);
        }
    });
    let nodes = move || {
        lab.watches[lane].run.track();
        lab.with_header(lane, |header| header.nodes as usize).unwrap_or(0)
    };
    let chosen = RwSignal::new(0_usize);
    // Another run may have fewer nodes.
    let first = move || chosen.get().min(nodes().saturating_sub(1) / MOST_ROWS * MOST_ROWS);
    let rows = move || {
        lab.watches[lane].frames.track();
        let (time, first) = (time.get(), first());
        lab.with_frame(lane, time, |frame| {
            (first..first + MOST_ROWS)
                .map_while(|index| Some((index, frame.node(index)?)))
                .map(|(index, node)| {
                    let axes: String = glyph::AXES
                        .into_iter()
                        .map(|dim| {
                            let share = f64::from(node.residual[dim.index()]);
                            let share = if node.dims.has(dim) { numbers.percent(share, 0) } else { "–".to_owned() };
                            format!("<td>{share}</td>")
                        })
                        .collect();
                    format!("<tr><th scope=\"row\">{index}</th><td>{}</td>{axes}</tr>", state_name(text, node.state))
                })
                .collect::<String>()
        })
        .unwrap_or_default()
    };
    let turn = move || {
        let (first, nodes) = (first(), nodes());
        let last = (first + MOST_ROWS).min(nodes);
        (nodes > MOST_ROWS).then(|| {
            view! {
                <p class="tools">
                    <button
                        type="button"
                        class="button button-quiet"
                        disabled=first == 0
                        on:click=move |_| chosen.set(first.saturating_sub(MOST_ROWS))
                    >
                        {text.t("grid.rows_before")}
                    </button>
                    <span>
                        {text.tf(
                            "grid.rows_shown",
                            &[
                                ("first", &numbers.whole(first as f64)),
                                ("last", &numbers.whole(last.saturating_sub(1) as f64)),
                                ("nodes", &numbers.whole(nodes as f64)),
                            ],
                        )}
                    </span>
                    <button
                        type="button"
                        class="button button-quiet"
                        data-testid="rows-after"
                        disabled=last == nodes
                        on:click=move |_| chosen.set(first + MOST_ROWS)
                    >
                        {text.t("grid.rows_after")}
                    </button>
                </p>
            }
        })
    };
    view! {
        {turn}
        <div class="node-table" tabindex="0" role="region" aria-label=move || text.t("grid.table")>
            <table>
                <thead>
                    <tr>
                        <th scope="col">{move || text.t("grid.column_node")}</th>
                        <th scope="col">{move || text.t("grid.column_state")}</th>
                        {glyph::AXES
                            .into_iter()
                            .map(|dim| view! { <th scope="col">{move || dim_name(text, dim)}</th> })
                            .collect_view()}
                    </tr>
                </thead>
                // Only numbers and the page's own words: nothing of it comes from outside.
                <tbody inner_html=rows></tbody>
            </table>
        </div>
    }
}

/// An observer and what it calls; dropped, nothing is called any more.
type Observing = (web_sys::ResizeObserver, Closure<dyn Fn()>);

/// Keeps `width` at the width of an element, for as long as the component lives.
pub fn observe_width(element: NodeRef<html::Div>, width: RwSignal<f64>) {
    let observer = StoredValue::new_local(None::<Observing>);
    Effect::new(move |_| {
        let Some(element) = element.get() else {
            return;
        };
        let watched = element.clone();
        let on_change = Closure::<dyn Fn()>::new(move || {
            let now = f64::from(watched.client_width());
            if width.try_get_untracked().is_some_and(|before| before != now) {
                width.set(now);
            }
        });
        if let Ok(new) = web_sys::ResizeObserver::new(on_change.as_ref().unchecked_ref()) {
            new.observe(&element);
            observer.set_value(Some((new, on_change)));
        }
    });
    on_cleanup(move || {
        _ = observer.try_update_value(|observer| {
            if let Some((observer, _)) = observer.take() {
                observer.disconnect();
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn sixty_four_nodes_are_eight_by_eight() {
        let places = Places::of(64, 360.0);
        assert_eq!((places.columns, places.rows, places.pitch), (8, 8, 45.0));
        assert_eq!(places.node_at(46.0, 1.0, 64), Some(1));
        assert_eq!(places.node_at(361.0, 1.0, 64), None);
        for node in 0..64 {
            let [x, y] = places.corner(node);
            assert_eq!(places.node_at(x + 1.0, y + 1.0, 64), Some(node));
        }
    }

    #[wasm_bindgen_test]
    fn arrow_keys_stay_on_the_grid() {
        let places = Places::of(10, 400.0);
        assert_eq!(places.columns, 4);
        assert_eq!(places.beside(0, "ArrowLeft", 10), None);
        assert_eq!(places.beside(5, "ArrowDown", 10), Some(9));
        assert_eq!(places.beside(6, "ArrowDown", 10), None);
        assert_eq!(places.beside(3, "End", 10), Some(9));
        assert_eq!(places.beside(3, "a", 10), None);
    }

    #[wasm_bindgen_test]
    fn no_nodes_and_no_room_are_no_trouble() {
        let places = Places::of(0, 0.0);
        assert_eq!(places.node_at(0.0, 0.0, 0), None);
        assert_eq!(places.beside(0, "End", 0), None);
    }
}
