//! Curves over the whole run, all lanes in each: what the cursor or the play head is at stands in numbers under them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leptos::html;
use leptos::prelude::*;
use residua::stage::charts::{Chart, Series};
use residua::stage::marks::{Mark, Paint, Stroke};
use residua::stage::palette::{Palette, line_style};
use residua::stage::plot::Plane;
use residua::stage::reel::{Frame, Reel, Stat};

use super::grid::observe_width;
use super::lane::Swatch;
use crate::clock::{hours_minutes, now};
use crate::i18n::{Lang, use_text};
use crate::lab::{Lab, use_lab};
use crate::numbers::{NOTHING, Numbers, use_numbers};
use crate::paint;
use crate::settings::{MOST_LANES, scheduler_title};
use crate::theme::use_theme;

/// Height of a chart in CSS pixels.
const HEIGHT: f64 = 168.0;

/// Each point is the mean of so many milliseconds before it: from minute to minute the curves jump with every job,
/// and four of them could not be told apart. Only what was, so that the play head sees nothing that is still to come.
const MEAN_OF: u64 = 30 * 60_000;

/// Shortest time between two drawings of the same chart while frames still arrive, in milliseconds.
const INTERVAL: f64 = 400.0;

/// How many frames [`MEAN_OF`] is.
fn frames_in_mean(reel: &Reel) -> usize {
    (MEAN_OF / reel.header().interval_ms).max(1) as usize
}

/// The mean of the last `count` values; of fewer where there are fewer.
fn mean(values: &[f64], count: usize) -> f64 {
    let last = &values[values.len().saturating_sub(count)..];
    last.iter().sum::<f64>() / last.len() as f64
}

thread_local! {
    /// When a chart was last drawn, in real milliseconds.
    static LAST: Cell<f64> = const { Cell::new(f64::NEG_INFINITY) };
}

/// Whether a chart may be drawn now: only one in an animation frame, so that none of them holds up the page.
fn is_turn() -> bool {
    let now = now();
    let is_turn = now - LAST.get() > 8.0;
    if is_turn {
        LAST.set(now);
    }
    is_turn
}

/// A thing that is shown over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    Shape,
    Stall,
    Allocated,
    Productive,
    Waiting,
    Wasted,
}

impl Curve {
    pub const ALL: [Self; 6] =
        [Self::Wasted, Self::Shape, Self::Stall, Self::Allocated, Self::Productive, Self::Waiting];

    /// The middle of the keys of its texts.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Shape => "shape",
            Self::Stall => "stall",
            Self::Allocated => "allocated",
            Self::Productive => "productive",
            Self::Waiting => "waiting",
            Self::Wasted => "wasted",
        }
    }

    /// The value in a frame; money where a GPU-hour costs `money` and the fleet has `gpus`.
    fn value(self, frame: &Frame<'_>, gpus: f64, price: f64) -> f64 {
        match self {
            Self::Shape => frame.stat(Stat::FShape),
            Self::Stall => frame.stat(Stat::Stall),
            Self::Allocated => frame.stat(Stat::Allocated),
            Self::Productive => frame.stat(Stat::Productive),
            Self::Waiting => frame.stat(Stat::Waiting),
            Self::Wasted => {
                let starved = frame.stat(Stat::Stall) * frame.stat(Stat::Allocated);
                (frame.stat(Stat::Stranded) + starved) * gpus * price
            }
        }
    }

    /// Works out the values of frames that have arrived since.
    fn extend(self, line: &mut Line, reel: &Reel, price: f64) {
        let gpus = reel.header().gpus;
        let count = frames_in_mean(reel);
        for index in line.exact.len()..reel.len() {
            let Some(frame) = reel.frame(index) else {
                return;
            };
            line.exact.push(self.value(&frame, gpus, price));
            line.means.push(mean(&line.exact, count));
        }
    }

    /// What the curve says at a frame.
    fn value_at(self, reel: &Reel, index: usize, price: f64) -> f64 {
        let gpus = reel.header().gpus;
        let first = (index + 1).saturating_sub(frames_in_mean(reel));
        let values: Vec<f64> =
            (first..=index).filter_map(|index| Some(self.value(&reel.frame(index)?, gpus, price))).collect();
        mean(&values, values.len())
    }

    /// Whether the article reports a range of it for a scenario.
    fn is_reported_in(self, scenario: &str) -> bool {
        self == Self::Shape && REPORTED_IN.contains(&scenario)
    }

    /// As it stands in the list under the chart.
    fn written(self, numbers: Numbers, value: f64) -> String {
        if !value.is_finite() {
            return NOTHING.to_owned();
        }
        match self {
            Self::Shape => numbers.fixed(value, 3),
            Self::Stall | Self::Allocated | Self::Productive => numbers.percent(value, 1),
            Self::Waiting => numbers.whole(value),
            Self::Wasted => numbers.money(value, 0),
        }
    }

    /// As it stands at the axis.
    fn at_axis(self, numbers: Numbers, value: f64) -> String {
        match self {
            Self::Shape => numbers.fixed(value, 2),
            Self::Stall | Self::Allocated | Self::Productive => numbers.percent(value, 0),
            Self::Waiting => numbers.whole(value),
            Self::Wasted => numbers.money(value, 0),
        }
    }

    /// The axis ends at least here.
    const fn least_top(self) -> f64 {
        match self {
            // Above the article's baselines.
            Self::Shape => 0.14,
            Self::Stall => 0.05,
            // Both the same, so that they can be compared.
            Self::Allocated | Self::Productive => 1.0,
            Self::Waiting => 5.0,
            Self::Wasted => 10.0,
        }
    }
}

/// Ranges of fragmentation that the article reports under storage stress: RAGP-I/O's, and the baselines'.
const REPORTED: [(f64, f64); 2] = [(0.04, 0.06), (0.09, 0.12)];

/// Scenarios in which the article reports them.
const REPORTED_IN: [&str; 2] = ["c-storage-stress", "d-breathing"];

/// What a drawing depends on.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    width: f64,
    ratio: f64,
    dark: bool,
    lang: Lang,
    money: (f64, &'static str),
    schedulers: Vec<String>,
    scenario: String,
    runs: [u32; MOST_LANES],
    frames: [usize; MOST_LANES],
}

impl Key {
    /// Whether what has been worked out for `other` only has to be carried on.
    fn continues(&self, other: &Self) -> bool {
        self.money == other.money && self.schedulers == other.schedulers && self.runs == other.runs
    }
}

/// One lane's curve so far.
#[derive(Default)]
struct Line {
    scheduler: String,
    exact: Vec<f64>,
    means: Vec<f64>,
}

/// What is on the canvases of one chart.
#[derive(Default)]
struct Drawn {
    key: Option<Key>,
    at: f64,
    lines: Vec<Line>,
    hours: f64,
    step: f64,
    warm_up: f64,
    cursor: Option<u64>,
}

/// All curves.
#[component]
pub fn Curves() -> impl IntoView {
    let (lab, text) = (use_lab(), use_text());
    let when = move || {
        let time = hours_minutes(lab.cursor.get().unwrap_or_else(|| lab.clock.shown.get()));
        if lab.cursor.with(Option::is_some) {
            text.tf("curves.at_cursor", &[("time", &time)])
        } else {
            text.tf("curves.at_head", &[("time", &time)])
        }
    };
    view! {
        <section class="curves" aria-labelledby="curves-title">
            <header class="section-header">
                <h2 id="curves-title">{move || text.t("curves.title")}</h2>
                <p class="note">{when}</p>
            </header>
            <div class="charts">
                {Curve::ALL.into_iter().map(|curve| view! { <ChartView curve=curve/> }).collect_view()}
            </div>
        </section>
    }
}

#[component]
fn ChartView(curve: Curve) -> impl IntoView {
    let (lab, text, numbers, theme) = (use_lab(), use_text(), use_numbers(), use_theme());
    let clock = lab.clock;
    let wrapper = NodeRef::<html::Div>::new();
    let (base, overlay) = (NodeRef::<html::Canvas>::new(), NodeRef::<html::Canvas>::new());
    let width = RwSignal::new(0.0_f64);
    let layout = StoredValue::new(None::<Plane>);
    let drawn = Rc::new(RefCell::new(Drawn::default()));

    observe_width(wrapper, width);
    let key = Memo::new(move |_| Key {
        width: width.get(),
        ratio: window().device_pixel_ratio().clamp(1.0, 3.0),
        dark: theme.dark.get(),
        lang: text.lang.get(),
        money: (lab.calculation.with(|calculation| calculation.price), numbers.currency.get()),
        schedulers: lab.settings.with(|settings| settings.schedulers.clone()),
        scenario: lab.settings.with(|settings| {
            // The article's ranges are of its own jobs, not of a trace's.
            if settings.trace.is_some() { String::new() } else { settings.scenario.clone() }
        }),
        runs: std::array::from_fn(|slot| lab.watches[slot].run.get()),
        frames: std::array::from_fn(|slot| lab.watches[slot].frames.get()),
    });
    Effect::new(move |_| {
        key.track();
        lab.cursor.track();
        clock.repaint();
    });

    clock.on_paint(move |time| {
        let (Some(base), Some(overlay)) = (base.try_get_untracked().flatten(), overlay.try_get_untracked().flatten())
        else {
            return;
        };
        let Some(key) = key.try_get_untracked() else {
            return;
        };
        if key.width < 40.0 {
            return;
        }
        let mut drawn = drawn.borrow_mut();
        let mut fresh = drawn.key.as_ref() != Some(&key);
        if fresh {
            // Frames arrive faster than they can be looked at; and not all charts in one animation frame.
            let is_new = drawn.key.as_ref().is_none_or(|before| before.width != key.width || before.dark != key.dark);
            let too_soon = !is_new && now() - drawn.at < INTERVAL;
            if too_soon || !is_turn() {
                fresh = false;
                clock.repaint();
            }
        }
        if fresh {
            if !drawn.key.as_ref().is_some_and(|before| key.continues(before)) {
                let line = |scheduler: &String| Line { scheduler: scheduler.clone(), ..Line::default() };
                drawn.lines = key.schedulers.iter().map(line).collect();
            }
            for (slot, line) in drawn.lines.iter_mut().enumerate() {
                lab.with_reel(slot, |reel| curve.extend(line, reel, key.money.0));
            }
            let hours = |ms: u64| ms as f64 / 3.6e6;
            (drawn.hours, drawn.step, drawn.warm_up) = lab
                .with_any_header(|header| {
                    (hours(header.horizon_ms), hours(header.interval_ms), hours(header.warm_up_ms))
                })
                .unwrap_or((30.0, 1.0 / 60.0, 0.0));
        }
        let palette = theme.palette();
        if fresh && let Some(context) = paint::fit(&base, key.width, HEIGHT, key.ratio) {
            let series: Vec<Series<'_>> = drawn
                .lines
                .iter()
                .map(|line| Series { values: &line.means, style: line_style(&line.scheduler) })
                .collect();
            let chart = Chart {
                // Room at the right for half of the last hour's name.
                size: [key.width - 6.0, HEIGHT],
                hours: drawn.hours,
                step: drawn.step,
                series: &series,
                warm_up: drawn.warm_up,
                least_top: curve.least_top(),
                write_value: &|value| curve.at_axis(numbers, value),
                write_hour: &|hour| text.tf("curves.hour", &[("n", &numbers.short(hour, 1))]),
            };
            let place = chart.layout();
            if curve.is_reported_in(&key.scenario) {
                paint::paint(&context, &reported(&place, palette));
            }
            paint::paint(&context, &chart.marks(palette));
            layout.set_value(Some(place));
        }
        let at = lab.cursor.get_untracked().unwrap_or(time);
        if (fresh || drawn.cursor != Some(at))
            && let Some(place) = layout.get_value()
            && let Some(context) = paint::fit(&overlay, key.width, HEIGHT, key.ratio)
        {
            paint::paint(&context, &cursor(&place, &drawn, at, palette));
            drawn.cursor = Some(at);
        }
        if fresh {
            drawn.key = Some(key);
            drawn.at = now();
        }
    });

    let time_at = move |event: &web_sys::PointerEvent| {
        let layout = layout.get_value()?;
        Some((layout.value_at(f64::from(event.offset_x())) * 3.6e6) as u64)
    };
    view! {
        <figure class="chart">
            <figcaption>
                <h3>
                    {move || text.t(&format!("curves.{}", curve.key()))}
                    {move || {
                        let term = text.maybe(&format!("curves.{}.term", curve.key()));
                        term.map(|term| view! { <span class="term" lang="en">{term}</span> })
                    }}
                </h3>
                <span class="note">{move || text.t(&format!("curves.{}.unit", curve.key()))}</span>
            </figcaption>
            <div
                class="chart-area"
                node_ref=wrapper
                style:height=format!("{HEIGHT}px")
                on:pointermove=move |event| lab.cursor.set(time_at(&event))
                on:pointerleave=move |_| lab.cursor.set(None)
                on:click=move |event| {
                    use wasm_bindgen::JsCast;
                    if let Some(time) = event.dyn_ref::<web_sys::PointerEvent>().and_then(time_at) {
                        lab.seek(time);
                    }
                }
            >
                <canvas node_ref=base aria-hidden="true"></canvas>
                <canvas class="chart-cursor" node_ref=overlay aria-hidden="true"></canvas>
            </div>
            <Values curve=curve/>
            <Show when=move || key.with(|key| curve.is_reported_in(&key.scenario))>
                <p class="reported">
                    <i aria-hidden="true"></i>
                    {move || {
                        let range = |(low, high): (f64, f64)| {
                            format!("{}–{}", numbers.fixed(low, 2), numbers.fixed(high, 2))
                        };
                        text.tf("curves.reported", &[("io", &range(REPORTED[0])), ("others", &range(REPORTED[1]))])
                    }}
                </p>
            </Show>
        </figure>
    }
}

/// What each lane says at the cursor, or at the play head.
#[component]
fn Values(curve: Curve) -> impl IntoView {
    let (lab, numbers) = (use_lab(), use_numbers());
    let lanes = Memo::new(move |_| lab.settings.with(|settings| settings.schedulers.clone()));
    let value = move |slot: usize| value_at(lab, slot, curve);
    view! {
        <ul class="chart-values">
            {move || {
                lanes
                    .get()
                    .into_iter()
                    .enumerate()
                    .map(|(slot, id)| view! {
                        <li>
                            <Swatch scheduler=Signal::stored(id.clone())/>
                            <span>{scheduler_title(&id)}</span>
                            <b>{move || curve.written(numbers, value(slot))}</b>
                        </li>
                    })
                    .collect_view()
            }}
        </ul>
    }
}

fn value_at(lab: Lab, slot: usize, curve: Curve) -> f64 {
    let price = lab.calculation.with(|calculation| calculation.price);
    let Some(time) = lab.cursor.get() else {
        return lab.at_here(slot, |reel, index| curve.value_at(reel, index, price)).unwrap_or(f64::NAN);
    };
    lab.watches[slot].frames.track();
    let index = lab.index_at(slot, time);
    let value = index.and_then(|index| lab.with_reel(slot, |reel| curve.value_at(reel, index, price)));
    value.unwrap_or(f64::NAN)
}

/// A line at a time and a dot on each curve that has a value there. By hand, because it is drawn in every animation
/// frame: asking the chart would look through all values each time.
fn cursor(layout: &Plane, drawn: &Drawn, time: u64, palette: &Palette) -> Vec<Mark> {
    let hour = (time as f64 / 3.6e6).min(drawn.hours);
    let x = layout.x(hour);
    let stroke = Stroke::solid(palette.cursor, 1.0);
    let mut marks = vec![Mark::Line { points: vec![[x, layout.top], [x, layout.bottom]], stroke }];
    for line in &drawn.lines {
        // The last value stands at the end, which may come before a whole step.
        let steps = hour / drawn.step;
        let index = if hour >= drawn.hours { (steps - 1e-9).ceil() as usize } else { (steps + 1e-9) as usize };
        let value = line.means.get(index);
        if let Some(value) = value.filter(|value| value.is_finite()) {
            marks.push(Mark::Circle {
                centre: [x, layout.y(*value)],
                radius: 3.0,
                fill: Some(Paint::Solid(palette.hue(line_style(&line.scheduler).hue))),
                stroke: Some(stroke),
            });
        }
    }
    marks
}

/// The grounds of the article's ranges; what they are stands under the chart.
fn reported(layout: &Plane, palette: &Palette) -> Vec<Mark> {
    REPORTED
        .into_iter()
        .map(|(low, high)| {
            let (top, bottom) = (layout.y(high), layout.y(low));
            Mark::Rect {
                at: [layout.left, top],
                size: [layout.right - layout.left, bottom - top],
                fill: Some(Paint::Solid(palette.band)),
                stroke: None,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn a_mean_looks_back_only() {
        assert_eq!(mean(&[3.0], 2), 3.0);
        assert_eq!(mean(&[3.0, 5.0, 10.0], 2), 7.5);
        assert_eq!(mean(&[3.0, 5.0, 10.0], 9), 6.0);
    }
}
