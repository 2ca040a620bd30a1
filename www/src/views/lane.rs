//! One lane: a scheduler, its numbers, its nodes and its queue.

use leptos::prelude::*;
use residua::scenario::Issue;
use residua::schedulers;
use residua::stage::palette::line_style;
use residua::stage::plot;
use residua::stage::reel::{NodeState, Stat};

use super::canvas::Drawing;
use super::failure::Reason;
use super::focus;
use super::grid::{Grid, NodeTable, counts, state_name};
use super::kpis::{FIRST_KPIS, KPIS, Kpis, Uses};
use super::legend::StateSign;
use crate::i18n::{Said, Text, use_text};
use crate::lab::{Progress, use_lab};
use crate::numbers::use_numbers;
use crate::settings::scheduler_title;
use crate::theme::use_theme;

/// All lanes, side by side; on narrow screens one, chosen by [`Switch`].
#[component]
pub fn Lanes() -> impl IntoView {
    let (lab, text) = (use_lab(), use_text());
    let slots = Memo::new(move |_| lab.lanes());
    view! {
        <Switch/>
        <p class="sr" id="grid-keys">{move || text.t("grid.keys")}</p>
        <div class="lanes" data-count=move || slots.get().to_string()>
            <For each=move || 0..slots.get() key=|lane| *lane let:lane>
                <LaneView lane=lane/>
            </For>
        </div>
    }
}

/// Which lane a narrow screen shows.
#[component]
fn Switch() -> impl IntoView {
    let (lab, text) = (use_lab(), use_text());
    view! {
        <div class="segments lane-switch" role="group" aria-label=move || text.t("lane.switch")>
            {move || {
                lab.settings
                    .with(|settings| settings.schedulers.clone())
                    .into_iter()
                    .enumerate()
                    .map(|(lane, id)| view! {
                        <button
                            type="button"
                            aria-pressed=move || (lab.front.get() == lane).to_string()
                            on:click=move |_| lab.front.set(lane)
                        >
                            {scheduler_title(&id)}
                        </button>
                    })
                    .collect_view()
            }}
        </div>
    }
}

#[component]
fn LaneView(lane: usize) -> impl IntoView {
    let (lab, text, numbers) = (use_lab(), use_text(), use_numbers());
    let watch = lab.watches[lane];
    let scheduler =
        Memo::new(move |_| lab.settings.with(|settings| settings.schedulers.get(lane).cloned().unwrap_or_default()));
    let state = move || {
        watch.progress.with(|progress| match progress {
            Progress::Starting | Progress::Running => "running",
            Progress::Done => "done",
            Progress::Refused(_) | Progress::Failed(_) => "error",
        })
    };
    // The play head at the end shows the run's own numbers; this carries them for whoever reads the page by program.
    let metrics = move || watch.metrics.with(|metrics| metrics.as_ref().map(json)).unwrap_or_default();
    let done = move || {
        let frames = watch.frames.get();
        lab.with_header(lane, |header| frames as f64 / f64::from(header.frames.max(1))).unwrap_or(0.0)
    };
    view! {
        <article
            class="lane"
            class:lane-front=move || lab.front.get() == lane
            data-testid="lane"
            data-scheduler=move || scheduler.get()
            data-state=state
            aria-label=move || scheduler_title(&scheduler.get())
        >
            <header class="lane-header">
                <Swatch scheduler=scheduler/>
                <Picker lane=lane scheduler=scheduler/>
                <span class="lane-note">
                    {move || match watch.progress.get() {
                        Progress::Starting | Progress::Running => numbers.percent(done(), 0),
                        _ => String::new(),
                    }}
                </span>
            </header>
            {move || match watch.progress.get() {
                Progress::Failed(message) => view! { <Failure lane=lane message=message/> }.into_any(),
                Progress::Refused(issues) => view! {
                    <div class="failure" role="alert">
                        <p>{text.t("lane.refused")}</p>
                        <ul>{issues.into_iter().map(|issue| view! { <li><Problem issue=issue/></li> }).collect_view()}</ul>
                    </div>
                }.into_any(),
                _ => ().into_any(),
            }}
            <Kpis lane=lane kpis=&KPIS[..FIRST_KPIS]/>
            <Uses lane=lane/>
            <States lane=lane/>
            <Show when=move || lab.table.get() fallback=move || view! { <Grid lane=lane/> }>
                <NodeTable lane=lane/>
            </Show>
            <Kpis lane=lane kpis=&KPIS[FIRST_KPIS..]/>
            <Queue lane=lane/>
            <span hidden data-testid="final" data-metrics=metrics></span>
        </article>
    }
}

/// The measures of a run as JSON, each number the shortest that reads back as the same.
fn json(metrics: &residua::probes::Metrics) -> String {
    use serde::Serialize;
    let serializer = serde_wasm_bindgen::Serializer::json_compatible();
    metrics
        .serialize(&serializer)
        .ok()
        .and_then(|value| js_sys::JSON::stringify(&value).ok())
        .map(String::from)
        .unwrap_or_default()
}

/// Why a run was refused: where, what was there, what is allowed, what to do.
#[component]
fn Problem(issue: Issue) -> impl IntoView {
    let text = use_text();
    let Issue { path, value, allowed, remedy } = issue;
    // Keys and values are the same in every language; a few places and values are words.
    let place = move || {
        let [path, value] = [&path, &value].map(|words| text.said(words).0);
        if value.is_empty() { path } else { format!("{path} = {value}") }
    };
    let has_range = !allowed.is_empty();
    let allowed = move || {
        let (words, lang) = text.said(&allowed);
        has_range.then(|| view! { " – " <span lang=lang>{text.tf("lane.allowed", &[("allowed", &words)])}</span> })
    };
    view! {
        <code>{place}</code>
        {allowed}
        {(!remedy.is_empty()).then(|| view! { ". " <Said english=remedy/> })}
    }
}

/// A worker that is gone: why, and how to go on.
#[component]
fn Failure(lane: usize, message: String) -> impl IntoView {
    let (lab, text) = (use_lab(), use_text());
    // Whether any other lane goes on, or has come to its end.
    let are_others = Memo::new(move |_| {
        (0..lab.lanes()).filter(|other| *other != lane).any(|other| {
            let is_gone = |progress: &Progress| matches!(progress, Progress::Failed(_) | Progress::Refused(_));
            !lab.watches[other].progress.with(is_gone)
        })
    });
    view! {
        <div class="failure" role="alert">
            <p>{move || if are_others.get() { text.t("lane.failed") } else { text.t("lane.failed_alone") }}</p>
            <Reason message=message/>
            <button
                type="button"
                class="button"
                data-testid="restart"
                on:click=move |_| {
                    focus::to(&picker_id(lane));
                    lab.restart(lane);
                }
            >
                {move || text.t("lane.restart")}
            </button>
        </div>
    }
}

/// The line that stands for a scheduler on the curves.
#[component]
pub fn Swatch(#[prop(into)] scheduler: Signal<String>) -> impl IntoView {
    let theme = use_theme();
    const SIZE: [f64; 2] = [30.0, 14.0];
    let marks = Signal::derive(move || plot::sample(line_style(&scheduler.get()), SIZE, theme.palette()));
    view! { <Drawing size=SIZE marks=marks/> }
}

/// The id of a lane's choice of scheduler.
fn picker_id(lane: usize) -> String {
    format!("picker-{lane}")
}

/// The choice of a lane's scheduler, built from the roster.
#[component]
fn Picker(lane: usize, scheduler: Memo<String>) -> impl IntoView {
    let (lab, text) = (use_lab(), use_text());
    let group = move |seven: bool| {
        schedulers::entries()
            .filter(move |entry| (entry.sees.len() == 7) == seven)
            .map(|entry| {
                let id = entry.id();
                let this = id.clone();
                view! {
                    <option value=id title=idea(text, entry.card) selected=move || scheduler.get() == this>
                        {entry.title()}
                    </option>
                }
            })
            .collect_view()
    };
    let choose = move |event: web_sys::Event| {
        let chosen = event_target_value(&event);
        if schedulers::find(&chosen).is_some() {
            lab.settings.update(|settings| {
                if let Some(lane) = settings.schedulers.get_mut(lane) {
                    *lane = chosen;
                }
            });
        }
    };
    let number = lane + 1;
    view! {
        <select
            id=picker_id(lane)
            class="picker"
            aria-label=move || text.tf("lane.picker", &[("n", &number.to_string())])
            title=move || schedulers::find(&scheduler.get()).map(|entry| idea(text, entry.card)).unwrap_or_default()
            prop:value=move || scheduler.get()
            on:change=choose
        >
            <optgroup label=move || text.t("lane.sees5")>{group(false)}</optgroup>
            <optgroup label=move || text.t("lane.sees7")>{group(true)}</optgroup>
        </select>
    }
}

/// A scheduler's idea: translated if there is a translation, else in its own words.
pub fn idea(text: Text, card: &schedulers::Card) -> String {
    text.maybe(&format!("scheduler.{}.idea", card.family)).unwrap_or_else(|| card.idea.to_owned())
}

/// A state's name and what it means.
fn explained(text: Text, state: NodeState) -> String {
    format!("{}: {}", state_name(text, state), text.t(&format!("state.{}.help", state.name())))
}

/// How many nodes are in each state.
#[component]
fn States(lane: usize) -> impl IntoView {
    let (lab, text, numbers) = (use_lab(), use_text(), use_numbers());
    let counts = Memo::new(move |_| counts(lab, lane));
    view! {
        <ul class="states" aria-label=move || text.t("lane.states")>
            {NodeState::ALL
                .into_iter()
                .enumerate()
                .filter(|(_, state)| *state != NodeState::Offline)
                .map(|(at, state)| {
                    let count = move || counts.with(|counts| counts[at]);
                    view! {
                        <li class:none=move || count() == 0 title=move || explained(text, state)>
                            <StateSign state=state size=24.0/>
                            <b>{move || numbers.whole(f64::from(count()))}</b>
                            <span class="sr">{move || state_name(text, state)}</span>
                        </li>
                    }
                })
                .collect_view()}
        </ul>
    }
}

/// Who waits, by class.
#[component]
fn Queue(lane: usize) -> impl IntoView {
    let (lab, text, numbers) = (use_lab(), use_text(), use_numbers());
    let classes = Memo::new(move |_| {
        lab.watches[lane].progress.track();
        lab.with_header(lane, |header| header.classes.clone()).unwrap_or_default()
    });
    let waiting = move |class: usize| lab.here(lane, |frame| frame.waiting(class)).unwrap_or(0);
    let all = Memo::new(move |_| lab.now(lane, Stat::Waiting));
    // As beside the other numbers; what it is compared with is said there.
    let difference = move || {
        let difference = all.get() - lab.now(0, Stat::Waiting);
        let is_said = lane > 0 && difference.is_finite();
        if is_said { numbers.signed(difference, |difference| numbers.whole(difference)) } else { String::new() }
    };
    let nowhere = Memo::new(move |_| lab.now(lane, Stat::FitsNowhere));
    // How many a full bar stands for: the largest class, and at least as many as can be told apart.
    let full = Memo::new(move |_| {
        let most = classes.with(|classes| (0..classes.len()).map(waiting).max());
        f64::from(most.unwrap_or(0)).max(20.0)
    });
    view! {
        <section class="queue">
            <h3>
                {move || text.t("queue.title")}
                <b data-testid="waiting" data-value=move || all.get().to_string()>{move || numbers.whole(all.get())}</b>
                <span class="difference" data-testid="waiting-difference">{difference}</span>
                <span class="queue-nowhere">
                    {move || {
                        let count = nowhere.get();
                        (count > 0.0).then(|| text.count("queue.nowhere", count, &numbers.whole(count)))
                    }}
                </span>
            </h3>
            <Show when=move || { all.get() >= 1.0 }>
                <button
                    type="button"
                    class="button button-quiet"
                    data-testid="why"
                    on:click=move |_| lab.ask_why(lane)
                >
                    {move || text.count("why.open", all.get(), &numbers.whole(all.get()))}
                </button>
            </Show>
            <ul>
                {move || {
                    classes
                        .get()
                        .into_iter()
                        .enumerate()
                        .map(|(class, id)| {
                            let count = Memo::new(move |_| waiting(class));
                            let width = move || format!("{:.1}%", f64::from(count.get()) * 100.0 / full.get());
                            view! {
                                <li class:none=move || count.get() == 0>
                                    <span class="queue-class">{class_name(text, &id)}</span>
                                    <span class="bar" aria-hidden="true"><i style:width=width></i></span>
                                    <b>{move || numbers.whole(f64::from(count.get()))}</b>
                                </li>
                            }
                        })
                        .collect_view()
                }}
            </ul>
        </section>
    }
}

/// What a class of jobs is called; classes of other traces go by their own name.
pub fn class_name(text: Text, id: &str) -> String {
    text.maybe(&format!("class.{id}")).unwrap_or_else(|| id.to_owned())
}
