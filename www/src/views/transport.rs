//! Playing: buttons, speed, and the scrubber that goes anywhere.

use leptos::prelude::*;

use crate::clock::{SPEEDS, hours_minutes};
use crate::i18n::use_text;
use crate::lab::use_lab;
use crate::numbers::use_numbers;

/// The bar at the foot of the page.
#[component]
pub fn Transport() -> impl IntoView {
    let (lab, text, numbers) = (use_lab(), use_text(), use_numbers());
    let clock = lab.clock;

    // What the scrubber spans, in frames, so that one arrow key is one frame.
    let span = Memo::new(move |_| {
        lab.with_any_header(|header| (header.interval_ms, header.horizon_ms, header.warm_up_ms))
            .unwrap_or((60_000, 0, 0))
    });
    let frames = move || {
        let (step, end, _) = span.get();
        end.div_ceil(step)
    };
    let at = move || {
        let (step, end, _) = span.get();
        let time = clock.shown.get();
        if time >= end { end.div_ceil(step) } else { time / step }
    };
    let time_text = move || hours_minutes(clock.shown.get());
    let end_text = move || hours_minutes(span.get().1);
    let value_text = move || {
        let rebuilding = lab.now(0, residua::stage::reel::Stat::Rebuilding);
        let waiting = lab.now(0, residua::stage::reel::Stat::Waiting);
        text.tf(
            "transport.valuetext",
            &[
                ("time", &time_text()),
                ("end", &end_text()),
                ("rebuilding", &text.count("count.nodes", rebuilding, &numbers.whole(rebuilding))),
                ("waiting", &text.count("grid.jobs", waiting, &numbers.whole(waiting))),
            ],
        )
    };
    let ready = move || {
        let (_, end, _) = span.get();
        let lanes = lab.lanes();
        if end == 0 {
            return 0.0;
        }
        (0..lanes)
            .map(|slot| {
                let frames = lab.watches[slot].frames.get();
                lab.with_header(slot, |header| frames as f64 / f64::from(header.frames.max(1))).unwrap_or(0.0)
            })
            .fold(1.0, f64::min)
    };
    let warm_up_share = move || {
        let (_, end, warm_up) = span.get();
        if end == 0 { 0.0 } else { warm_up as f64 / end as f64 }
    };
    let share = move || {
        let (_, end, _) = span.get();
        if end == 0 { 0.0 } else { (clock.shown.get() as f64 / end as f64).min(1.0) }
    };

    let seek = move |event: web_sys::Event| {
        if let Ok(frame) = event_target_value(&event).parse::<f64>() {
            let (step, end, _) = span.get_untracked();
            lab.seek(((frame.max(0.0) as u64) * step).min(end));
        }
    };

    view! {
        <section class="transport" aria-label=move || text.t("transport.label")>
            <div class="transport-buttons">
                <Jump to="start" path="M5 5v14M19 5v14L8 12Z" act=move || lab.seek(0) wide_only=true/>
                <Jump to="back" path="M15 5v14L5 12ZM19 5v14" act=move || clock.step_by(-1)/>
                <button
                    type="button"
                    class="play"
                    data-testid="play"
                    aria-pressed=move || clock.playing.get().to_string()
                    aria-label=move || text.t("transport.play")
                    title=move || if clock.playing.get() { text.t("transport.pause") } else { text.t("transport.play") }
                    on:click=move |_| clock.toggle(lab.first_look())
                >
                    {move || if clock.playing.get() {
                        view! { <Icon path="M8 5h3v14H8ZM14 5h3v14h-3Z" solid=true/> }
                    } else {
                        view! { <Icon path="M8 4v16l12-8Z" solid=true/> }
                    }}
                </button>
                <Jump to="forward" path="M9 5v14l10-7ZM5 5v14" act=move || clock.step_by(1)/>
                <Jump to="end" path="M19 5v14M5 5v14l11-7Z" act=move || lab.seek(u64::MAX) wide_only=true/>
            </div>
            <p class="clock" aria-hidden="true">
                <b>{time_text}</b>
                <span>" / " {end_text}</span>
            </p>
            <div
                class="scrub"
                style:--ready=move || format!("{:.4}", ready())
                style:--warm-up=move || format!("{:.4}", warm_up_share())
                style:--at=move || format!("{:.4}", share())
            >
                <input
                    type="range"
                    data-testid="scrubber"
                    min="0"
                    step="1"
                    max=move || frames().to_string()
                    aria-label=move || text.t("transport.scrubber")
                    aria-valuetext=value_text
                    prop:value=move || at().to_string()
                    on:input=seek
                />
                <span class="scrub-warm-up" aria-hidden="true">{move || text.t("transport.warm_up")}</span>
            </div>
            <label class="speed">
                <span class="sr">{move || text.t("transport.speed")}</span>
                <select
                    on:change=move |event| {
                        if let Ok(speed) = event_target_value(&event).parse() {
                            clock.speed.set(speed);
                        }
                    }
                    prop:value=move || clock.speed.get().to_string()
                >
                    {SPEEDS
                        .into_iter()
                        .enumerate()
                        .map(|(index, minutes)| {
                            let name = move || {
                                text.tf("transport.minutes_a_second", &[("n", &numbers.whole(minutes))])
                            };
                            view! {
                                <option value=index.to_string() selected=move || clock.speed.get() == index>{name}</option>
                            }
                        })
                        .collect_view()}
                </select>
            </label>
        </section>
    }
}

/// The places that a [`Jump`] goes to, as in the keys of their texts.
#[cfg(test)]
pub const JUMPS: [&str; 4] = ["start", "back", "forward", "end"];

/// A button that moves the play head.
#[component]
fn Jump(
    to: &'static str,
    /// Its drawing.
    path: &'static str,
    act: impl Fn() + 'static,
    /// Left out where the page is narrow: the scrubber does the same.
    #[prop(optional)]
    wide_only: bool,
) -> impl IntoView {
    let text = use_text();
    let name = move || text.t(&format!("transport.{to}"));
    view! {
        <button
            type="button"
            class="icon-button"
            class:wide-only=wide_only
            aria-label=name
            title=name
            on:click=move |_| act()
        >
            <Icon path=path/>
        </button>
    }
}

/// A drawing of 24 × 24.
#[component]
pub fn Icon(path: &'static str, #[prop(optional)] solid: bool) -> impl IntoView {
    view! {
        <svg class="icon" class:icon-solid=solid viewBox="0 0 24 24" aria-hidden="true" focusable="false">
            <path d=path></path>
        </svg>
    }
}
