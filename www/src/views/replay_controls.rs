//! What can be set of a replay: ties, orders, policies; and how far it is.

use leptos::prelude::*;
use residua::schedulers::{Arena, Entry};

use super::canvas::Drawing;
use super::failure::Reason;
use super::focus;
use crate::i18n::use_text;
use crate::numbers::use_numbers;
use crate::replay::{title, use_replay};
use crate::replay_link::{Choice, MOST_SEED};
use crate::theme::use_theme;
use residua::stage::{figure, plot};

/// The line that stands for a policy in the figures.
#[component]
pub fn PolicySign(policy: String) -> impl IntoView {
    let theme = use_theme();
    const SIZE: [f64; 2] = [30.0, 14.0];
    let style = figure::style(&policy);
    let marks = Signal::derive(move || plot::sample(style, SIZE, theme.palette()));
    view! { <Drawing size=SIZE marks=marks/> }
}

/// What can be done about the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// They go on, and can be cancelled.
    Running,
    /// They rest, and some are missing.
    Short,
    /// All are there.
    Done,
}

/// The bar above the figures.
#[component]
pub fn Controls() -> impl IntoView {
    let (replay, text, numbers) = (use_replay(), use_text(), use_numbers());
    let settings = replay.settings;
    let has_order = move || replay.loaded().is_some_and(|loaded| loaded.order_seed.is_some());
    let order = move || match settings.with(|settings| settings.choice) {
        Choice::File if has_order() => "file".to_owned(),
        Choice::File => "1".to_owned(),
        Choice::All => "all".to_owned(),
        Choice::Seed(seed) => seed.to_string(),
    };
    let choose = move |value: String| {
        let choice = match value.as_str() {
            "file" => Choice::File,
            "all" => Choice::All,
            seed => Choice::Seed(seed.parse().unwrap_or(1)),
        };
        settings.update(|settings| settings.choice = choice);
    };
    let option = move |value: String, label: String| {
        let this = value.clone();
        view! { <option value=value selected=move || order() == this>{label}</option> }
    };
    let overall = Memo::new(move |_| replay.overall());
    // Apart from how far it is, so that a button that has the focus stays.
    let phase = Memo::new(move |_| match overall.get() {
        (_, false) => Phase::Running,
        (share, true) if share < 1.0 => Phase::Short,
        _ => Phase::Done,
    });
    view! {
        <div class="replay-controls">
            <Pair
                name="ties"
                of=["fixed", "random"]
                is_second=Signal::derive(move || settings.with(|settings| settings.random_ties))
                set=move |second| settings.update(|settings| settings.random_ties = second)
            />
            <div class="field">
                <label for="replay-order">{move || text.t("replay.order")}</label>
                <select
                    id="replay-order"
                    data-testid="replay-order"
                    prop:value=order
                    on:change=move |event| choose(event_target_value(&event))
                >
                    {move || has_order().then(|| option("file".to_owned(), text.t("replay.order.file")))}
                    {move || {
                        let seed = |seed: u64| {
                            let label = text.tf("replay.order.seed", &[("seed", &seed.to_string())]);
                            option(seed.to_string(), label)
                        };
                        (1..=MOST_SEED).map(seed).collect_view()
                    }}
                    {move || {
                        let most = numbers.whole(MOST_SEED as f64);
                        option("all".to_owned(), text.tf("replay.order.mean", &[("n", &most)]))
                    }}
                </select>
            </div>
            <Pair
                name="view"
                of=["whole", "close"]
                is_second=Signal::derive(move || settings.with(|settings| settings.close))
                set=move |second| settings.update(|settings| settings.close = second)
            />
            <div class="replay-go" id="replay-go" tabindex="-1">
                {move || match phase.get() {
                    Phase::Running => view! {
                        <progress
                            max="1"
                            value=move || overall.get().0
                            aria-label=text.t("replay.progress")
                        ></progress>
                        <Go name="stop" act=move || replay.stop()/>
                    }.into_any(),
                    Phase::Short => view! { <Go name="run" is_main=true act=move || replay.resume()/> }.into_any(),
                    Phase::Done => ().into_any(),
                }}
            </div>
        </div>
    }
}

/// A choice between two. Texts and test ids are made of `name` and the names in `of`.
#[component]
fn Pair(
    name: &'static str,
    of: [&'static str; 2],
    is_second: Signal<bool>,
    set: impl Fn(bool) + Copy + 'static,
) -> impl IntoView {
    let text = use_text();
    let [first, second] = of;
    let label = format!("{name}-label");
    view! {
        <div class="field">
            <span class="label" id=label.clone()>{move || text.t(&format!("replay.{name}"))}</span>
            <div class="segments" role="group" aria-labelledby=label>
                {[(false, first), (true, second)].map(|(this, of)| view! {
                    <button
                        type="button"
                        data-testid=format!("{name}-{of}")
                        aria-pressed=move || (is_second.get() == this).to_string()
                        on:click=move |_| set(this)
                    >
                        {move || text.t(&format!("replay.{name}.{of}"))}
                    </button>
                }).collect_view()}
            </div>
        </div>
    }
}

/// A button that goes once it is pressed, because something else is to be done then; the focus stays in its place.
#[component]
fn Go(name: &'static str, #[prop(optional)] is_main: bool, act: impl Fn() + 'static) -> impl IntoView {
    let text = use_text();
    view! {
        <button
            type="button"
            class="button"
            class:button-main=is_main
            data-testid=format!("replay-{name}")
            on:click=move |_| {
                focus::to("replay-go");
                act();
            }
        >
            {move || text.t(&format!("replay.{name}"))}
        </button>
    }
}

/// Which policies run, and how far each is.
#[component]
pub fn Policies() -> impl IntoView {
    let (replay, text) = (use_replay(), use_text());
    let settings = replay.settings;
    let offered =
        Memo::new(move |_| settings.with(|settings| settings.offered().iter().map(Entry::id).collect::<Vec<_>>()));
    view! {
        <section class="panel policies" aria-labelledby="policies-title">
            <h2 id="policies-title">{move || text.t("replay.policies")}</h2>
            <ul>
                <For each=move || offered.get() key=Clone::clone let:id>
                    <Policy id=id/>
                </For>
            </ul>
            <label class="check">
                <input
                    type="checkbox"
                    data-testid="replay-extra"
                    prop:checked=move || settings.with(|settings| settings.extra)
                    on:change=move |event| {
                        let extra = event_target_checked(&event);
                        settings.update(|settings| {
                            settings.extra = extra;
                            let runs = settings.policies().iter().any(|entry| entry.id() == settings.shown);
                            if let Some(last) = settings.policies().last().filter(|_| !runs) {
                                settings.shown = last.id();
                            }
                        });
                    }
                />
                <span>{move || text.t("replay.extra")}</span>
            </label>
        </section>
    }
}

/// One policy.
#[component]
fn Policy(id: String) -> impl IntoView {
    let (replay, text, numbers) = (use_replay(), use_text(), use_numbers());
    let settings = replay.settings;
    let entry = residua::replay::find(&id);
    let name = entry.as_ref().map_or_else(|| id.clone(), title);
    let family = entry.map_or("", |entry| entry.card.family);
    let is_own = entry.is_some_and(|entry| entry.card.arena == Arena::Replay);
    let on = Memo::new({
        let id = id.clone();
        move |_| settings.with(|settings| !settings.off.contains(&id))
    });
    // The last one stays: an empty figure tells nothing.
    let is_last = move || on.get() && settings.with(|settings| settings.policies().len() == 1);
    let progress = Memo::new({
        let id = id.clone();
        move |_| replay.progress(&id, settings.with(|settings| settings.random_ties))
    });
    let toggle = {
        let id = id.clone();
        move |event| {
            let is_on = event_target_checked(&event);
            settings.update(|settings| {
                settings.off.retain(|other| *other != id);
                if !is_on {
                    settings.off.push(id.clone());
                }
                if let Some(last) = settings.policies().last().filter(|_| settings.shown == id) {
                    settings.shown = last.id();
                }
            });
        }
    };
    let rejected = {
        let id = id.clone();
        move || replay.rejected(&id, settings.with(|settings| settings.random_ties))
    };
    let state = move || {
        if !on.get() {
            return "off";
        }
        progress.with(|progress| match progress {
            progress if progress.broken.is_some() => "error",
            progress if progress.is_done => "done",
            progress if progress.is_running => "running",
            _ => "stopped",
        })
    };
    let label = name.clone();
    view! {
        <li data-testid="policy" data-policy=id.clone() data-state=state class:is-own=is_own>
            <label class="check">
                <input type="checkbox" prop:checked=on prop:disabled=is_last on:change=toggle/>
                <PolicySign policy=id.clone()/>
                <span>{name}</span>
            </label>
            <div class="policy-progress">
                <Show when=move || state() == "running">
                    <progress
                        max="1"
                        value=move || progress.with(|progress| progress.share)
                        aria-label=text.tf("replay.progress_of", &[("policy", &label)])
                    ></progress>
                </Show>
                <span class="note">
                    {move || match (state(), rejected()) {
                        ("done", Some(count)) => {
                            text.count("replay.rejected", count, &numbers.short(count, 1))
                        }
                        ("stopped", _) => text.t("replay.stopped"),
                        _ => String::new(),
                    }}
                </span>
            </div>
            <p class="note policy-idea">{move || text.t(&format!("scheduler.{family}.idea"))}</p>
            {move || progress.with(|progress| progress.broken.clone()).map(|message| view! {
                <div class="field-error"><Reason message=message/></div>
            })}
        </li>
    }
}
