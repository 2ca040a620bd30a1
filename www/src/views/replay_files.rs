//! The files of a replay: where they are dropped, what they are, and what is wrong with them.

use leptos::prelude::*;
use residua::replay::files::FileKind;
use residua::workload::openb;
use wasm_bindgen::JsCast;

use super::focus;
use super::trace::{Counts, Findings};
use crate::i18n::{Text, use_text};
use crate::numbers::use_numbers;
use crate::replay::{Files, Replay, use_replay};

/// The button that opens the browser's choice of files.
#[component]
fn Choose(#[prop(into)] label: Signal<String>, #[prop(optional)] main: bool) -> impl IntoView {
    let replay = use_replay();
    view! {
        <label class="choose">
            <span class="button" class:button-main=main>{label}</span>
            <input
                type="file"
                class="sr"
                multiple
                accept=".csv,.tsv,.txt,text/csv,text/plain"
                data-testid="replay-input"
                on:change=move |event| {
                    let input = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok());
                    if let Some(list) = input.as_ref().and_then(web_sys::HtmlInputElement::files) {
                        replay.take(&list);
                    }
                    // Choosing the same file again must be a change again.
                    if let Some(input) = input {
                        input.set_value("");
                    }
                }
            />
        </label>
    }
}

/// What is still needed, or being done.
fn status(replay: Replay, text: Text) -> String {
    let has = |kind| replay.names.with(|names| names.contains_key(&kind));
    replay.files.with(|files| match files {
        Files::Reading => text.t("replay.reading"),
        Files::Lost(name) => text.tf("replay.lost", &[("file", name)]),
        Files::Refused(_) => text.t("replay.refused"),
        Files::Ready => String::new(),
        Files::Wanting => match (has(FileKind::Nodes), has(FileKind::Pods)) {
            (true, false) => text.t("replay.needs_pods"),
            (false, true) => text.t("replay.needs_nodes"),
            _ if replay.names.with(|names| !names.is_empty()) => text.t("replay.needs_both"),
            _ => String::new(),
        },
    })
}

/// The place to drop files, while there is nothing else to see.
#[component]
pub fn DropPanel() -> impl IntoView {
    let (replay, text) = (use_replay(), use_text());
    view! {
        <section class="drop-panel" aria-labelledby="drop-title">
            <div class="drop-target">
                <h2 id="drop-title">{move || text.t("replay.drop")}</h2>
                <Choose label=Signal::derive(move || text.t("replay.choose")) main=true/>
                <p class="note">{move || text.t("replay.private")}</p>
                <p class="drop-status" role="status" data-testid="replay-status">{move || status(replay, text)}</p>
                <LeftOuts/>
            </div>
            <div class="drop-list">
                <FileList is_full=true/>
                <p class="note">
                    {move || text.t("replay.where")}
                    " "
                    <code>"github.com/hkust-adsl/kubernetes-scheduler-simulator"</code>
                    {move || text.t("replay.where.folder")}
                    " "
                    <code>"github.com/alibaba/clusterdata"</code>
                    {move || text.t("replay.where.also")}
                </p>
            </div>
        </section>
    }
}

/// The kinds of files, each with the name of the one that is here.
#[component]
fn FileList(#[prop(optional)] is_full: bool) -> impl IntoView {
    let (replay, text) = (use_replay(), use_text());
    let row = move |kind: FileKind| {
        let name = move || replay.names.with(|names| names.get(&kind).cloned());
        let is_needed = matches!(kind, FileKind::Nodes | FileKind::Pods);
        // Where space is short, only what is here is listed.
        let is_listed = move || is_full || name().is_some();
        view! {
            <Show when=is_listed>
                <li class:is-here=move || name().is_some() data-kind=kind.name()>
                    <span class="tick" aria-hidden="true">{move || if name().is_some() { "✓" } else { "○" }}</span>
                    <div>
                        <p>
                            <b>{move || text.t(&format!("replay.file.{}", kind.name()))}</b>
                            <Show when=move || !is_needed && is_full>
                                <span class="term">{move || text.t("replay.file.optional")}</span>
                            </Show>
                        </p>
                        <p class="note">
                            {move || name().unwrap_or_else(|| text.t(&format!("replay.file.{}.example", kind.name())))}
                        </p>
                    </div>
                    <Show when=move || !is_needed && name().is_some()>
                        <button
                            type="button"
                            class="button button-quiet"
                            aria-label=move || {
                                text.tf("replay.remove_file", &[("file", &name().unwrap_or_default())])
                            }
                            on:click=move |_| {
                                focus::to("file-list");
                                replay.remove(kind);
                            }
                        >
                            {move || text.t("replay.remove")}
                        </button>
                    </Show>
                </li>
            </Show>
        }
    };
    view! {
        <ul class="file-list" id="file-list" tabindex="-1" aria-label=move || text.t("replay.files")>
            {FileKind::ALL.map(row).collect_view()}
        </ul>
    }
}

/// Files that were not taken.
#[component]
fn LeftOuts() -> impl IntoView {
    let (replay, text) = (use_replay(), use_text());
    view! {
        {move || {
            let list = replay.left_out.get();
            (!list.is_empty()).then(|| view! {
                <div class="field-error" role="alert" data-testid="replay-left-out"><ul>
                    {list
                        .iter()
                        .map(|file| {
                            let values = [("file", file.name.as_str())];
                            view! {
                                <li>{if file.is_read {
                                    text.tf("replay.left_out", &values)
                                } else {
                                    text.tf("trace.unread", &values)
                                }}</li>
                            }
                        })
                        .collect_view()}
                </ul></div>
            })
        }}
    }
}

/// What is wrong with the files: by file, row, column, value and reason. What came of the files before them stays.
#[component]
pub fn Report() -> impl IntoView {
    let (replay, text) = (use_replay(), use_text());
    let still = move || {
        replay.loaded().map(|_| {
            view! {
                <p>{text.t("replay.still")}</p>
                <button
                    type="button"
                    class="button"
                    data-testid="replay-back"
                    on:click=move |_| {
                        focus::to_main();
                        replay.go_back();
                    }
                >
                    {text.t("replay.back")}
                </button>
            }
        })
    };
    view! {
        {move || match replay.files.get() {
            Files::Refused(findings) => view! {
                <section class="panel report" data-testid="replay-report">
                    <h2>{text.t("trace.refused")}</h2>
                    <p>{text.t("replay.correct")}</p>
                    <Counts counts=openb::count(&findings)/>
                    <Findings findings=findings open=true/>
                    {still()}
                </section>
            }.into_any(),
            // Where there is nothing else to see, it stands beside the place to drop files.
            Files::Lost(name) if replay.loaded().is_some() => view! {
                <section class="panel report" data-testid="replay-report">
                    <p>{text.tf("replay.lost", &[("file", &name)])}</p>
                    {still()}
                </section>
            }.into_any(),
            _ => ().into_any(),
        }}
    }
}

/// The files that are in use, beside what they give.
#[component]
pub fn FilesPanel() -> impl IntoView {
    let (replay, text, numbers) = (use_replay(), use_text(), use_numbers());
    let notes = move || {
        let loaded = replay.loaded()?;
        let mut lines = Vec::new();
        if loaded.without_gpu > 0 {
            let count = loaded.without_gpu as f64;
            lines.push(text.count("replay.without_gpu", count, &numbers.whole(count)));
        }
        if let Some(other) = &loaded.order_of_other {
            lines.push(text.tf("replay.order_of_other", &[("other", other), ("workload", &loaded.workload)]));
        }
        if !loaded.other_workloads.is_empty() {
            lines.push(text.tf(
                "replay.other_workloads",
                &[("workload", &loaded.workload), ("known", &loaded.other_workloads.join(", "))],
            ));
        }
        Some(lines)
    };
    view! {
        <section class="panel files-panel" aria-labelledby="files-title" data-testid="replay-files">
            <h2 id="files-title">{move || text.t("replay.files")}</h2>
            <p class="drop-status" role="status">
                {move || replay.files.with(|files| *files == Files::Reading).then(|| text.t("replay.reading"))}
            </p>
            <FileList/>
            {move || notes().map(|lines| {
                lines.into_iter().map(|line| view! { <p class="note" data-testid="replay-note">{line}</p> }).collect_view()
            })}
            <LeftOuts/>
            {move || replay.loaded().map(|loaded| view! { <Findings findings=loaded.notes.clone()/> })}
            <div>
                <Choose label=Signal::derive(move || text.t("replay.more_files"))/>
                <p class="note">{move || text.t("replay.more_files.help")}</p>
            </div>
        </section>
    }
}
