//! The page around the Lab: bar at the top, notices, help.

use leptos::html;
use leptos::prelude::*;

use super::calculator::Calculator;
use super::curves::Curves;
use super::field::{allowed, label, written};
use super::headline::Headline;
use super::lane::Lanes;
use super::legend::{Legend, StatesLine, UsesLine};
use super::notices::{NoDrawing, Notices, cut, unknown};
use super::setup::{LaneTools, Setup};
use super::topbar::TopBar;
use super::transport::Transport;
use super::why::WhyDialog;
use crate::clock::hours_minutes;
use crate::i18n::{Text, use_text};
use crate::lab::{Lab, Progress, use_lab};
use crate::link::Trouble;
use crate::numbers::Numbers;
use crate::route::{self, Place};

/// Everything.
#[component]
pub fn Page() -> impl IntoView {
    let (lab, text) = (use_lab(), use_text());
    let main = NodeRef::<html::Main>::new();
    view! {
        <a
            class="skip"
            href=move || format!("{}#main", route::path(Place::Lab, text.lang.get()))
            on:click=move |event| {
                // A real jump would replace the fragment, which is the run.
                event.prevent_default();
                if let Some(main) = main.get() {
                    _ = main.focus();
                }
            }
        >
            {move || text.t("page.skip")}
        </a>
        <TopBar/>
        <WhyDialog/>
        <main id="main" tabindex="-1" node_ref=main data-testid="lab" data-state=move || state(lab)>
            <Headline/>
            <Transport/>
            <NoDrawing/>
            <Notices troubles=lab.troubles explained=explained testid="notice"/>
            <div class="stage">
                <div class="column">
                    <section class="compare" aria-labelledby="compare-title">
                        <header class="section-header">
                            <h2 id="compare-title">{move || text.t("lanes.title")}</h2>
                            <p class="note">{move || since(lab, text)}</p>
                        </header>
                        <div class="keys-line"><UsesLine/><StatesLine/></div>
                        <Lanes/>
                        <LaneTools/>
                        <Legend/>
                    </section>
                    <Curves/>
                </div>
                <div class="rail">
                    <Setup/>
                    <Calculator/>
                </div>
            </div>
            <footer class="foot">
                <p>{move || text.t("page.foot")}</p>
                <p>{move || text.t("page.article")}</p>
            </footer>
        </main>
        <Help/>
    }
}

/// How far the Lab is: an error counts only once nothing else is going on.
fn state(lab: Lab) -> &'static str {
    let lanes = lab.lanes();
    let progress: Vec<Progress> = (0..lanes).map(|slot| lab.watches[slot].progress.get()).collect();
    let any = |wanted: fn(&Progress) -> bool| progress.iter().any(wanted);
    if any(|progress| *progress == Progress::Starting) {
        "loading"
    } else if any(|progress| *progress == Progress::Running) {
        "running"
    } else if any(|progress| matches!(progress, Progress::Failed(_) | Progress::Refused(_))) {
        "error"
    } else {
        "done"
    }
}

/// Which window the numbers of the lanes are of.
fn since(lab: Lab, text: Text) -> String {
    let time = lab.clock.shown.get();
    match lab.with_any_header(|header| header.warm_up_ms) {
        Some(warm_up) if time > warm_up => {
            text.tf("lanes.since", &[("from", &hours_minutes(warm_up)), ("to", &hours_minutes(time))])
        }
        Some(warm_up) => text.tf("lanes.not_yet", &[("from", &hours_minutes(warm_up))]),
        None => String::new(),
    }
}

/// A trouble in words: what stood in the link, what is allowed, what is used instead.
fn explained(text: Text, numbers: Numbers, trouble: &Trouble) -> String {
    match trouble {
        Trouble::OutOfRange { field, written: value, used } => {
            let used = if field.is_share() {
                numbers.percent_short(*used, field.digits())
            } else {
                written(numbers, *field, *used)
            };
            text.tf(
                "notice.outside",
                &[
                    ("field", &label(text, *field)),
                    ("key", field.key()),
                    ("value", &cut(value)),
                    ("allowed", &allowed(text, numbers, *field)),
                    ("used", &used),
                ],
            )
        }
        Trouble::Unreadable { field, written } => text.tf(
            "notice.unreadable",
            &[
                ("field", &label(text, *field)),
                ("key", field.key()),
                ("value", &cut(written)),
                ("allowed", &allowed(text, numbers, *field)),
            ],
        ),
        Trouble::UnknownScenario(value) => text.tf("notice.scenario", &[("value", &cut(value))]),
        Trouble::UnknownScheduler(value) => text.tf("notice.scheduler", &[("value", &cut(value))]),
        Trouble::TooManyLanes(count) => text.tf("notice.lanes", &[("n", &count.to_string())]),
        Trouble::Unknown { key, written } => unknown(text, key, written),
        Trouble::Repeated(key) => text.tf("notice.repeated", &[("key", &cut(key))]),
        Trouble::OtherVersion(version) => text.tf("notice.version", &[("version", &cut(version))]),
        Trouble::PastTheEnd { written, end } => {
            text.tf("notice.past", &[("value", &hours_minutes(*written)), ("end", &hours_minutes(*end))])
        }
        Trouble::WithoutTrace => text.t("notice.trace"),
    }
}

/// Keyboard shortcuts, and the switch that turns them off.
#[component]
fn Help() -> impl IntoView {
    let (lab, text) = (use_lab(), use_text());
    let dialog = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        let open = lab.help.get();
        let Some(dialog) = dialog.get() else {
            return;
        };
        if open && !dialog.open() {
            _ = dialog.show_modal();
        } else if !open && dialog.open() {
            dialog.close();
        }
    });
    // Names of keys are texts, too; what is printed on a key is not.
    const KEYS: [(&[&str], &str); 7] = [
        (&["help.key_space"], "help.space"),
        (&["←", "→"], "help.arrows"),
        (&["help.key_shift_left", "help.key_shift_right"], "help.shift_arrows"),
        (&["[", "]"], "help.brackets"),
        (&["help.key_home", "help.key_end"], "help.home_end"),
        (&["T"], "help.table"),
        (&["?"], "help.question"),
    ];
    view! {
        <dialog node_ref=dialog class="help" aria-labelledby="help-title" on:close=move |_| lab.help.set(false)>
            <h2 id="help-title">{move || text.t("help.title")}</h2>
            <dl>
                {KEYS
                    .into_iter()
                    .map(|(keys, key)| view! {
                        <div>
                            <dt>{keys
                                .iter()
                                .map(|key| view! { <kbd>{move || text.maybe(key).unwrap_or_else(|| (*key).to_owned())}</kbd> })
                                .collect_view()}</dt>
                            <dd>{move || text.t(key)}</dd>
                        </div>
                    })
                    .collect_view()}
            </dl>
            <p class="note">{move || text.t("help.grid")}</p>
            <label class="check">
                <input
                    type="checkbox"
                    prop:checked=move || lab.shortcuts.get()
                    on:change=move |event| lab.shortcuts.set(event_target_checked(&event))
                />
                <span>{move || text.t("help.shortcuts")}</span>
            </label>
            <button type="button" class="button" autofocus on:click=move |_| lab.help.set(false)>
                {move || text.t("help.close")}
            </button>
        </dialog>
    }
}
