//! The page "Replay a paper": a published packing experiment, run again on the reader's device.

use leptos::html;
use leptos::prelude::*;
use residua::schedulers::Entry;

use super::drop::on_files;
use super::failure::Reason;
use super::focus;
use super::notices::{NoDrawing, Notices, cut, unknown};
use super::replay_controls::{Controls, Policies};
use super::replay_figures::Figures;
use super::replay_files::{DropPanel, FilesPanel, Report};
use super::replay_floor::FloorSection;
use super::replay_ranking::{Differences, FGD, Ranking};
use super::topbar::TopBar;
use crate::i18n::{Text, use_text};
use crate::numbers::{Numbers, use_numbers};
use crate::replay::{Files, Replay, title, use_replay};
use crate::replay_link::Trouble;
use crate::route::{self, Place};

/// GPUs of the published cluster.
const PUBLISHED_GPUS: f64 = 6212.0;

/// Nodes of the published cluster that have GPUs.
const PUBLISHED_NODES: f64 = 1213.0;

/// Everything.
#[component]
pub fn ReplayPage() -> impl IntoView {
    let (replay, text) = (use_replay(), use_text());
    let main = NodeRef::<html::Main>::new();
    let dragging = RwSignal::new(false);
    on_files(dragging, move |list| replay.take(&list));
    let is_ready = Memo::new(move |_| replay.loaded().is_some());
    view! {
        <a
            class="skip"
            href=move || format!("{}#main", route::path(Place::Replay, text.lang.get()))
            on:click=move |event| {
                // A real jump would replace the fragment, which is the state.
                event.prevent_default();
                if let Some(main) = main.get() {
                    _ = main.focus();
                }
            }
        >
            {move || text.t("replay.skip")}
        </a>
        <TopBar/>
        <main id="main" class="replay" tabindex="-1" node_ref=main data-testid="replay" data-state=move || state(replay)>
            <Head/>
            <NoDrawing/>
            <Notices troubles=replay.troubles explained=explained testid="replay-notice"/>
            <Missing/>
            <Failure/>
            <Show when=move || is_ready.get() fallback=|| view! { <DropPanel/> <Report/> <Promise/> }>
                <Report/>
                <div class="replay-stage">
                    <div class="replay-column">
                        <Controls/>
                        <Figures/>
                        <Differences/>
                        <Ranking/>
                        <FloorSection/>
                    </div>
                    <div class="replay-rail">
                        <Policies/>
                        <FilesPanel/>
                    </div>
                </div>
            </Show>
            <footer class="foot">
                <p>{move || text.t("replay.foot")}</p>
                <p>{move || text.t("replay.source")}</p>
            </footer>
        </main>
        <Show when=move || dragging.get()>
            <p class="let-go" data-testid="replay-let-go">{move || text.t("replay.let_go")}</p>
        </Show>
    }
}

/// How far the replay is.
fn state(replay: Replay) -> &'static str {
    let failed = replay.failed.with(Option::is_some);
    replay.files.with(|files| match files {
        _ if failed => "error",
        Files::Wanting => "empty",
        Files::Reading => "reading",
        Files::Refused(_) | Files::Lost(_) => "refused",
        Files::Ready => match replay.overall() {
            (_, false) => "running",
            (share, true) if share >= 1.0 => "done",
            _ => "stopped",
        },
    })
}

/// A policy, and what it has allocated when as much was asked for as there is.
struct Ended {
    entry: Entry,
    alloc: f64,
}

/// The policies that are done, the one that allocates most first.
fn ended(replay: Replay, random_ties: bool) -> Vec<Ended> {
    let mut ended: Vec<Ended> = replay
        .settings
        .with(|settings| settings.policies())
        .into_iter()
        .filter_map(|entry| {
            let curve = replay.finished(&entry.id(), random_ties)?;
            Some(Ended { entry, alloc: residua::stage::ranking::up_to(&curve, 100)?.alloc })
        })
        .collect();
    ended.sort_by(|a, b| b.alloc.total_cmp(&a.alloc));
    ended
}

/// FGD leads with fixed ties and does not with random ones.
struct Turned {
    fixed: f64,
    random: f64,
    best: Entry,
    best_alloc: f64,
}

/// Whether the tie-break turns the ranking; `None` also as long as not both kinds are done.
fn turned(replay: Replay) -> Option<Turned> {
    let is_both = replay.settings.with(|settings| settings.both);
    let (fixed, random) = (ended(replay, false), ended(replay, true));
    if !is_both || fixed.len() != random.len() {
        return None;
    }
    let leader = fixed.first().filter(|first| first.entry.id() == FGD)?;
    let best = random.first().filter(|first| first.entry.id() != FGD)?;
    let own = random.iter().find(|ended| ended.entry.id() == FGD)?;
    Some(Turned { fixed: leader.alloc, random: own.alloc, best: best.entry, best_alloc: best.alloc })
}

/// What this run shows, in a sentence with its numbers; before there is one, what this page is.
#[component]
fn Head() -> impl IntoView {
    let (replay, text, numbers) = (use_replay(), use_text(), use_numbers());
    let percent = move |value: f64| numbers.percent(value / 100.0, 1);
    let counted = move |key: &str, count: f64| text.count(key, count, &numbers.whole(count));
    let finding = move || {
        let loaded = replay.loaded()?;
        let (_, is_at_rest) = replay.overall();
        let random = replay.settings.with(|settings| settings.random_ties);
        let ended = ended(replay, random);
        let gpus = counted("count.gpus", loaded.gpus);
        let [best, second, ..] = ended.as_slice() else {
            return Some(text.tf("replay.filling", &[("gpus", &gpus)]));
        };
        if !is_at_rest {
            return Some(text.tf("replay.filling", &[("gpus", &gpus)]));
        }
        if let Some(turned) = turned(replay) {
            let [fixed, random, best_alloc] = [turned.fixed, turned.random, turned.best_alloc].map(percent);
            let best = title(&turned.best);
            let values = [("fixed", &fixed), ("random", &random), ("best", &best), ("best_alloc", &best_alloc)];
            return Some(text.tf("replay.finding.both", &values.map(|(name, value)| (name, value.as_str()))));
        }
        let key = if random { "replay.finding.random" } else { "replay.finding.fixed" };
        Some(text.tf(
            key,
            &[
                ("best", &title(&best.entry)),
                ("best_alloc", &percent(best.alloc)),
                ("second", &title(&second.entry)),
                ("second_alloc", &percent(second.alloc)),
            ],
        ))
    };
    let lead = move || match replay.loaded() {
        None => text.tf("replay.lead", &[("gpus", &numbers.whole(PUBLISHED_GPUS))]),
        Some(loaded) => text.tf(
            "replay.basis",
            &[
                ("workload", &loaded.workload),
                ("nodes", &counted("count.nodes", loaded.floor.nodes.len() as f64)),
                ("gpus", &counted("count.gpus", loaded.gpus)),
                ("pods", &counted("count.pods", loaded.pods as f64)),
                ("typical", &counted("replay.typical", loaded.typical as f64)),
                ("order", &order_name(replay, text, numbers)),
            ],
        ),
    };
    view! {
        <section class="headline" data-testid="replay-headline">
            <p class="eyebrow">{move || text.t("replay.eyebrow")}</p>
            <h1>{move || finding().unwrap_or_else(|| text.t("replay.heading"))}</h1>
            <p class="lead">{lead}</p>
        </section>
    }
}

/// Which orders of arrival are run, as part of a sentence.
fn order_name(replay: Replay, text: Text, numbers: Numbers) -> String {
    use residua::stage::packing::Order;
    match replay.orders().as_slice() {
        [Order::Given] => {
            let Some(loaded) = replay.loaded() else { return String::new() };
            match loaded.order_seed {
                Some(seed) if loaded.is_published_order => {
                    text.tf("replay.order.given", &[("seed", &numbers.plain(seed as f64, 0))])
                }
                _ => text.tf("replay.order.named", &[("file", loaded.order_file.as_deref().unwrap_or_default())]),
            }
        }
        [Order::Drawn(seed)] => text.tf("replay.order.drawn", &[("seed", &numbers.plain(*seed as f64, 0))]),
        orders => text.tf("replay.order.all", &[("n", &numbers.whole(orders.len() as f64))]),
    }
}

/// What will be seen, before there is anything to see.
#[component]
fn Promise() -> impl IntoView {
    let (text, numbers) = (use_text(), use_numbers());
    let item = move |key: &'static str| {
        let words =
            move || text.tf(&format!("replay.promise.{key}.text"), &[("nodes", &numbers.whole(PUBLISHED_NODES))]);
        view! {
            <li>
                <h3>{move || text.t(&format!("replay.promise.{key}"))}</h3>
                <p>{words}</p>
            </li>
        }
    };
    view! {
        <section class="promise" aria-labelledby="promise-title">
            <h2 id="promise-title">{move || text.t("replay.promise")}</h2>
            <ol>{["curves", "ties", "devices"].map(item).collect_view()}</ol>
        </section>
    }
}

/// Which files the link was made with, as long as they are not here.
#[component]
fn Missing() -> impl IntoView {
    let (replay, text) = (use_replay(), use_text());
    let missing = move || {
        let made = replay.missing.get()?;
        let other = replay.loaded();
        Some(match other {
            None => text.tf("replay.missing", &[("workload", &made.workload)]),
            Some(loaded) if loaded.workload == made.workload => {
                text.tf("replay.missing.other", &[("workload", &made.workload)])
            }
            Some(loaded) => {
                text.tf("replay.missing.instead", &[("workload", &made.workload), ("here", &loaded.workload)])
            }
        })
    };
    view! {
        {move || missing().map(|words| view! {
            <p class="replay-missing" role="status" data-testid="replay-missing">{words}</p>
        })}
    }
}

/// A trouble in words.
fn explained(text: Text, numbers: Numbers, trouble: &Trouble) -> String {
    let number = |value: u64| numbers.plain(value as f64, 0);
    match trouble {
        Trouble::OutOfRange { key, written, least, most, used } => text.tf(
            "replay.notice.range",
            &[
                ("key", key),
                ("value", &cut(written)),
                ("least", &number(*least)),
                ("most", &number(*most)),
                ("used", &number(*used)),
            ],
        ),
        Trouble::UnknownPolicy(name) => text.tf("replay.notice.policy", &[("value", &cut(name))]),
        Trouble::Unknown { key, written } => unknown(text, key, written),
        Trouble::Repeated(key) => text.tf("notice.repeated", &[("key", &cut(key))]),
        Trouble::OtherVersion(version) => text.tf("notice.version", &[("version", &cut(version))]),
    }
}

/// A worker is gone.
#[component]
fn Failure() -> impl IntoView {
    let (replay, text) = (use_replay(), use_text());
    view! {
        {move || replay.failed.get().map(|message| view! {
            <section class="failure" role="alert" data-testid="replay-failure">
                <p><b>{move || text.t("replay.failed")}</b></p>
                <Reason message=message/>
                <button
                    type="button"
                    class="button"
                    data-testid="replay-restart"
                    on:click=move |_| {
                        focus::to_main();
                        replay.resume();
                    }
                >
                    {move || text.t("replay.restart")}
                </button>
            </section>
        })}
    }
}
