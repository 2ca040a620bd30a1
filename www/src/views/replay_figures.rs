//! The two figures: GPU allocated, and the fragmented share of what is idle, against the demand that has arrived.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use residua::replay::Point;
use residua::schedulers::Entry;
use residua::stage::figure::{Figure, Line, percent_at, style};
use residua::stage::plot::Plane;

use super::grid::observe_width;
use super::replay_controls::PolicySign;
use crate::i18n::use_text;
use crate::numbers::use_numbers;
use crate::paint;
use crate::replay::{Replay, title, use_replay};
use crate::replay_link::MOST_PERCENT;
use crate::theme::use_theme;

/// Height of a figure in CSS pixels.
const HEIGHT: f64 = 280.0;

/// From this width on lines carry their labels.
const LABELS_FROM: f64 = 420.0;

/// Close up, the horizontal axis begins here: before, hardly anything is turned away and all policies are one line.
const CLOSE_FROM: f64 = 80.0;

/// What a figure shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Alloc,
    Frag,
}

impl Value {
    pub const ALL: [Self; 2] = [Self::Alloc, Self::Frag];

    pub const fn key(self) -> &'static str {
        match self {
            Self::Alloc => "alloc",
            Self::Frag => "frag",
        }
    }

    fn of(self, point: &Point) -> f64 {
        match self {
            Self::Alloc => point.alloc,
            Self::Frag => point.frag_ratio,
        }
    }

    fn points(self, points: &[Point]) -> Vec<(f64, f64)> {
        points.iter().map(|point| (f64::from(point.arrived_pct), self.of(point))).collect()
    }
}

/// A policy, its curve and what was published.
#[derive(Clone, Debug)]
struct Shown {
    entry: Entry,
    curve: Arc<[Point]>,
    published: Vec<Point>,
}

/// Everything that the figures show now. Follows settings and runs.
fn shown(replay: Replay) -> Vec<Shown> {
    let settings = replay.settings.get();
    let policies = settings.policies().into_iter();
    policies
        .map(|entry| Shown {
            curve: replay.curve(&entry.id(), settings.random_ties),
            published: replay.published(&entry),
            entry,
        })
        .collect()
}

/// Percent arrived at which values are written: under the cursor, or where as much was asked for as there is.
fn at(replay: Replay, shown: &[Shown]) -> u32 {
    let last = shown.iter().filter_map(|shown| shown.curve.last()).map(|point| point.arrived_pct).max();
    replay.cursor.get().unwrap_or(100).min(last.unwrap_or(0))
}

/// Both figures.
#[component]
pub fn Figures() -> impl IntoView {
    let (replay, text, numbers) = (use_replay(), use_text(), use_numbers());
    let lines = RwSignal::new(Vec::new());
    // Once for both figures and all that is written under them.
    Effect::new(move |_| lines.set(shown(replay)));
    let percent = move || lines.with(|lines| at(replay, lines));
    let has_published = move || lines.with(|lines| lines.iter().any(|line| !line.published.is_empty()));
    view! {
        <section class="figures" aria-labelledby="figures-title">
            <header class="section-header">
                <h2 id="figures-title">{move || text.t("replay.figures")}</h2>
                <p class="note">
                    {move || {
                        let percent = numbers.percent(f64::from(percent()) / 100.0, 0);
                        text.tf("replay.at", &[("percent", &percent)])
                    }}
                    <Show when=has_published>" " {move || text.t("replay.dots")}</Show>
                </p>
            </header>
            <div class="figure-pair">
                {Value::ALL.map(|value| view! { <FigureView value=value lines=lines/> }).collect_view()}
            </div>
        </section>
    }
}

#[component]
fn FigureView(value: Value, lines: RwSignal<Vec<Shown>>) -> impl IntoView {
    let (replay, text, numbers, theme) = (use_replay(), use_text(), use_numbers(), use_theme());
    let wrapper = NodeRef::<html::Div>::new();
    let (base, overlay) = (NodeRef::<html::Canvas>::new(), NodeRef::<html::Canvas>::new());
    let width = RwSignal::new(0.0_f64);
    let layout = StoredValue::new(None::<Plane>);
    observe_width(wrapper, width);

    let percent = move || lines.with(|lines| at(replay, lines));
    // Lines and cursor are on canvases of their own, so that the cursor moves without the lines being drawn again.
    let draw = move |canvas: &web_sys::HtmlCanvasElement, is_cursor: bool| {
        let width = width.get();
        let palette = theme.palette();
        let close = replay.settings.with(|settings| settings.close);
        let write = |percent: f64| numbers.percent_short(percent / 100.0, 1);
        let ratio = window().device_pixel_ratio().clamp(1.0, 3.0);
        if width < 40.0 {
            return;
        }
        lines.with(|lines| {
            let titles: Vec<String> = lines.iter().map(|line| title(&line.entry)).collect();
            let points: Vec<_> = lines.iter().map(|line| value.points(&line.curve)).collect();
            let published: Vec<_> = lines.iter().map(|line| value.points(&line.published)).collect();
            let drawn: Vec<Line<'_>> = lines
                .iter()
                .enumerate()
                .map(|(at, line)| Line {
                    label: &titles[at],
                    points: &points[at],
                    published: &published[at],
                    style: style(&line.entry.id()),
                })
                .collect();
            let figure = Figure {
                size: [width, HEIGHT],
                from: if close { CLOSE_FROM } else { 0.0 },
                to: f64::from(MOST_PERCENT),
                is_close: close,
                lines: &drawn,
                end_labels: width >= LABELS_FROM,
                write: &write,
            };
            if let Some(context) = paint::fit(canvas, width, HEIGHT, ratio) {
                // Only the cursor follows the cursor.
                let marks =
                    if is_cursor { figure.cursor(f64::from(percent()), palette) } else { figure.marks(palette) };
                paint::paint(&context, &marks);
            }
            layout.set_value(Some(figure.layout()));
        });
    };
    Effect::new(move |_| {
        if let Some(canvas) = base.get() {
            draw(&canvas, false);
        }
    });
    Effect::new(move |_| {
        if let Some(canvas) = overlay.get() {
            draw(&canvas, true);
        }
    });

    let point = move |event: web_sys::PointerEvent| {
        if let Some(layout) = layout.get_value() {
            replay.cursor.set(Some(percent_at(&layout, f64::from(event.offset_x())) as u32));
        }
    };
    let on_key = move |event: web_sys::KeyboardEvent| {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        let at = untrack(percent);
        let step = if event.shift_key() { 10 } else { 1 };
        let to = match event.key().as_str() {
            "ArrowRight" | "ArrowUp" => at.saturating_add(step),
            "ArrowLeft" | "ArrowDown" => at.saturating_sub(step),
            "PageUp" => at.saturating_add(10),
            "PageDown" => at.saturating_sub(10),
            "Home" => 0,
            "End" => MOST_PERCENT,
            "Escape" => return replay.cursor.set(None),
            _ => return,
        };
        event.prevent_default();
        replay.cursor.set(Some(to.min(MOST_PERCENT)));
    };
    let policies =
        Memo::new(move |_| lines.with(|lines| lines.iter().map(|line| line.entry.id()).collect::<Vec<_>>()));
    let written = move |value: Option<f64>| numbers.percent(value.map_or(f64::NAN, |value| value / 100.0), 2);
    let said = move || {
        let percent = percent();
        let said = |line: &Shown| {
            let found = residua::stage::ranking::up_to(&line.curve, percent).map(|point| value.of(point));
            format!("{} {}", title(&line.entry), written(found))
        };
        let values: Vec<String> = lines.with(|lines| lines.iter().map(said).collect());
        let percent = numbers.percent(f64::from(percent) / 100.0, 0);
        text.tf("replay.at_values", &[("percent", &percent), ("values", &values.join(", "))])
    };
    view! {
        <figure class="chart" data-testid=format!("figure-{}", value.key())>
            <figcaption>
                <h3>{move || text.t(&format!("replay.figure.{}", value.key()))}</h3>
                <span class="note">{move || text.t(&format!("replay.figure.{}.unit", value.key()))}</span>
            </figcaption>
            <div
                class="chart-area"
                node_ref=wrapper
                style:height=format!("{HEIGHT}px")
                role="slider"
                tabindex="0"
                aria-label=move || text.t(&format!("replay.figure.{}", value.key()))
                aria-valuemin="0"
                aria-valuemax=MOST_PERCENT.to_string()
                aria-valuenow=move || percent().to_string()
                aria-valuetext=said
                on:pointermove=point
                on:pointerdown=point
                on:pointerleave=move |_| replay.cursor.set(None)
                on:keydown=on_key
            >
                <canvas node_ref=base aria-hidden="true"></canvas>
                <canvas class="chart-cursor" node_ref=overlay aria-hidden="true"></canvas>
            </div>
            <p class="axis-title note" aria-hidden="true">{move || text.t("replay.figure.axis")}</p>
            <ul class="figure-values" data-testid=format!("values-{}", value.key()) data-percent=move || percent().to_string()>
                // Kept while values change: a list made anew with every tick, with its signs, would take longer than
                // the figure itself.
                <For each=move || policies.get() key=Clone::clone let:id>
                    {
                        let (of, entry) = (id.clone(), residua::replay::find(&id));
                        let number = move || {
                            let percent = percent();
                            lines.with(|lines| {
                                let line = lines.iter().find(|line| line.entry.id() == of)?;
                                residua::stage::ranking::up_to(&line.curve, percent).map(|point| value.of(point))
                            })
                        };
                        let shown = number.clone();
                        view! {
                            <li data-policy=id.clone() data-value=move || number().map(|value| value.to_string())>
                                <PolicySign policy=id.clone()/>
                                <span>{entry.as_ref().map(title)}</span>
                                <b>{move || written(shown())}</b>
                            </li>
                        }
                    }
                </For>
            </ul>
        </figure>
    }
}
