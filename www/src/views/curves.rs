//! Curves over the whole run, all lanes in each: what the cursor or the play head is at stands in numbers under them.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::html;
use leptos::prelude::*;
use residua::stage::charts::{Chart, Layout, Series};
use residua::stage::marks::{Mark, Paint};
use residua::stage::palette::{Palette, line_style};
use residua::stage::reel::{Frame, Reel, Stat};
use residua::units::SimTime;

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
const INTERVAL: f64 = 150.0;

/// How many frames [`MEAN_OF`] is.
fn frames_in_mean(reel: &Reel) -> usize {
    (MEAN_OF / reel.header().interval_ms).max(1) as usize
}

/// The mean of each value and those before it, `count` in all; of fewer where there are fewer.
fn means(values: &[f64], count: usize) -> Vec<f64> {
    (0..values.len())
        .map(|index| {
            let before = &values[(index + 1).saturating_sub(count)..=index];
            before.iter().sum::<f64>() / before.len() as f64
        })
        .collect()
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

    fn values(self, reel: &Reel, price: f64) -> Vec<f64> {
        let gpus = reel.header().gpus;
        let values: Vec<f64> =
            (0..reel.len()).filter_map(|index| Some(self.value(&reel.frame(index)?, gpus, price))).collect();
        means(&values, frames_in_mean(reel))
    }

    /// The last of [`values`](Self::values) up to a frame.
    fn value_at(self, reel: &Reel, index: usize, price: f64) -> f64 {
        let gpus = reel.header().gpus;
        let first = (index + 1).saturating_sub(frames_in_mean(reel));
        let values: Vec<f64> =
            (first..=index).filter_map(|index| Some(self.value(&reel.frame(index)?, gpus, price))).collect();
        values.iter().sum::<f64>() / values.len() as f64
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
    frames: [usize; MOST_LANES],
}

/// What is on the canvases of one chart.
#[derive(Default)]
struct Drawn {
    key: Option<Key>,
    at: f64,
    values: Vec<(String, Vec<f64>)>,
    hours: f64,
    step: f64,
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
    let layout = StoredValue::new(None::<Layout>);
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
        if fresh && drawn.key.as_ref().is_some_and(|before| before.width == key.width) && now() - drawn.at < INTERVAL
        {
            // Soon; frames arrive faster than they can be looked at.
            fresh = false;
            clock.repaint();
        }
        if fresh {
            drawn.values = key
                .schedulers
                .iter()
                .enumerate()
                .map(|(slot, id)| {
                    let values = lab.with_reel(slot, |reel| curve.values(reel, key.money.0));
                    (id.clone(), values.unwrap_or_default())
                })
                .collect();
            (drawn.hours, drawn.step) = lab
                .with_any_header(|header| (header.horizon_ms as f64 / 3.6e6, header.interval_ms as f64 / 3.6e6))
                .unwrap_or((30.0, 1.0 / 60.0));
        }
        let palette = theme.palette();
        let warm_up = lab.with_any_header(|header| header.warm_up_ms as f64 / 3.6e6).unwrap_or(0.0);
        let titles: Vec<String> = drawn.values.iter().map(|(id, _)| scheduler_title(id)).collect();
        let series: Vec<Series<'_>> = drawn
            .values
            .iter()
            .zip(&titles)
            .map(|((id, values), title)| Series { label: title, values, style: line_style(id) })
            .collect();
        let chart = Chart {
            // Room at the right for half of the last hour's name.
            size: [key.width - 6.0, HEIGHT],
            title: "",
            hours: drawn.hours,
            step: drawn.step,
            series: &series,
            band: None,
            warm_up,
            least_top: curve.least_top(),
            end_labels: false,
            write_value: &|value| curve.at_axis(numbers, value),
            write_hour: &|hour| text.tf("curves.hour", &[("n", &numbers.short(hour, 1))]),
        };
        if fresh {
            let place = chart.layout();
            layout.set_value(Some(place));
            if let Some(context) = paint::fit(&base, key.width, HEIGHT, key.ratio) {
                if curve.is_reported_in(&key.scenario) {
                    paint::paint(&context, &reported(&place, palette));
                }
                paint::paint(&context, &chart.marks(palette));
            }
        }
        let at = lab.cursor.get_untracked().unwrap_or(time);
        let cursor = (fresh || drawn.cursor != Some(at)).then(|| chart.cursor(at as f64 / 3.6e6, palette));
        if let Some(marks) = cursor {
            if let Some(context) = paint::fit(&overlay, key.width, HEIGHT, key.ratio) {
                paint::paint(&context, &marks);
            }
            drawn.cursor = Some(at);
        }
        if fresh {
            drawn.key = Some(key);
            drawn.at = now();
        }
    });

    let time_at = move |event: &web_sys::PointerEvent| {
        let layout = layout.get_value()?;
        Some((layout.hour(f64::from(event.offset_x())) * 3.6e6) as u64)
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
    lab.watches[slot].frames.track();
    let time = lab.cursor.get().unwrap_or_else(|| lab.clock.shown.get());
    let price = lab.calculation.with(|calculation| calculation.price);
    let value = lab.with_reel(slot, |reel| curve.value_at(reel, reel.index_at(SimTime(time)), price));
    value.unwrap_or(f64::NAN)
}

/// The grounds of the article's ranges; what they are stands under the chart.
fn reported(layout: &Layout, palette: &Palette) -> Vec<Mark> {
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
        assert_eq!(means(&[3.0, 5.0, 10.0, 0.0], 2), [3.0, 4.0, 7.5, 5.0]);
        assert_eq!(means(&[], 2), [0.0; 0]);
    }
}
