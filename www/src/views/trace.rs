//! A recorded cluster and its jobs, from two files that never leave the device.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use residua::resources::DimMask;
use residua::stage::session::TraceFiles;
use residua::workload::openb::{self, Assumption, Count, Finding, OnFault, Options, Refused, Report, Severity};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

use super::drop::on_files;
use super::field::NumberField;
use crate::i18n::{Said, Text, use_text};
use crate::lab::use_lab;
use crate::numbers::use_numbers;
use crate::settings::{Field, Trace};

/// Larger files are not read: a browser tab would not survive them.
const MOST_BYTES: f64 = 64.0 * 1024.0 * 1024.0;

/// Files that were not taken and are named one by one.
const UNREAD_LISTED: usize = 10;

/// Findings listed at first, and how many more whenever more are asked for: a table of all might hold the page up.
const LISTED: usize = 200;
const MORE: usize = 1000;

/// A file that has been read.
#[derive(Clone, Debug, PartialEq)]
struct Loaded {
    name: String,
    contents: Arc<str>,
}

/// A file that was not taken.
#[derive(Clone, Debug, PartialEq)]
struct Unread {
    name: String,
    /// It could be read and is neither a node list nor a pod list.
    of_no_kind: bool,
}

/// What an import gave.
#[derive(Clone, Debug, PartialEq)]
struct Summary {
    nodes: usize,
    samples: usize,
    exists: DimMask,
    assumed: DimMask,
    assumptions: Vec<Assumption>,
    report: Report,
}

/// What a file looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looks {
    Nodes,
    Pods,
    Neither,
}

impl Loaded {
    /// Judged by the first line that is not blank; the importer looks closer.
    fn looks(&self) -> Looks {
        let contents = self.contents.trim_start_matches('\u{feff}');
        let header = contents.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_lowercase();
        let names: Vec<&str> = header.split([',', ';', '\t']).map(|name| name.trim().trim_matches('"')).collect();
        let has = |wanted: &[&str]| names.iter().any(|name| wanted.contains(name));
        if has(&["num_gpu", "gpu_milli", "gpu_spec", "pod_phase", "creation_time", "deletion_time", "scheduled_time"])
        {
            Looks::Pods
        } else if has(&["sn", "gpu", "model", "cpu_milli", "memory_mib"]) {
            Looks::Nodes
        } else {
            Looks::Neither
        }
    }
}

/// Node list and pod list among the files, whichever order they came in.
fn pair(files: &[Loaded]) -> Option<(&Loaded, &Loaded)> {
    let [first, second] = files else {
        return None;
    };
    let swapped = first.looks() == Looks::Pods || second.looks() == Looks::Nodes;
    Some(if swapped { (second, first) } else { (first, second) })
}

/// Puts a file among those that are there, in place of one of the same kind. A file of no kind is given back.
fn put(files: &mut Vec<Loaded>, new: Loaded) -> Option<Loaded> {
    let looks = new.looks();
    if looks == Looks::Neither {
        return Some(new);
    }
    files.retain(|file| file.looks() != looks);
    files.push(new);
    None
}

fn import(files: &[Loaded], on_fault: OnFault, assume: bool) -> Option<Result<Summary, Refused>> {
    let (nodes, pods) = pair(files)?;
    let options = Options { on_fault, assume, cap: Some(Options::DEFAULT_CAP) };
    let imported = openb::import((&nodes.name, &nodes.contents), (&pods.name, &pods.contents), &options);
    Some(imported.map(|imported| Summary {
        nodes: imported.nodes.len(),
        samples: imported.samples.len(),
        exists: imported.exists,
        assumed: imported.assumed,
        assumptions: imported.assumptions,
        report: imported.report,
    }))
}

/// Stands for the contents of the files in links (FNV-1a).
fn hash(files: &TraceFiles) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in files.nodes_csv.bytes().chain(files.pods_csv.bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

/// The button and the dialog in which a trace is chosen, checked and run.
#[component]
pub fn TraceDrop() -> impl IntoView {
    let (lab, text, numbers) = (use_lab(), use_text(), use_numbers());
    let counted = move |key: &str, count: usize| text.count(key, count as f64, &numbers.whole(count as f64));
    let dialog = NodeRef::<html::Dialog>::new();
    let files = RwSignal::new(Vec::<Loaded>::new());
    let unread = RwSignal::new(Vec::<Unread>::new());
    let on_fault = RwSignal::new(OnFault::Stop);
    let assume = RwSignal::new(true);
    // A link says how its trace was read.
    Effect::new(move |_| {
        if let Some(linked) = lab.missing_trace.get() {
            assume.set(linked.assume);
        }
    });
    let outcome = Memo::new(move |_| files.with(|files| import(files, on_fault.get(), assume.get())));

    let open = move || {
        if let Some(dialog) = dialog.get_untracked()
            && !dialog.open()
        {
            _ = dialog.show_modal();
        }
    };
    let close = move || {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    let take = move |list: web_sys::FileList| {
        open();
        unread.set(Vec::new());
        on_fault.set(OnFault::Stop);
        for index in 0..list.length() {
            if let Some(file) = list.get(index) {
                read(&file, files, unread);
            }
        }
    };
    // Files may be dropped anywhere on the page.
    let dragging = RwSignal::new(false);
    on_files(dragging, take);

    // Not that of the run behind the dialog, which is still the one before.
    let load_wanted = RwSignal::new(None::<f64>);
    let run = move |_| {
        let chosen = files.with_untracked(|files| {
            let (nodes, pods) = pair(files)?;
            Some(TraceFiles {
                nodes_name: nodes.name.clone(),
                nodes_csv: nodes.contents.clone(),
                pods_name: pods.name.clone(),
                pods_csv: pods.contents.clone(),
                on_fault: on_fault.get_untracked(),
                assume: assume.get_untracked(),
            })
        });
        if let Some(chosen) = chosen {
            let hash = hash(&chosen);
            lab.set_trace(Some(Trace { files: chosen, hash }));
            if let Some(load) = load_wanted.try_update(Option::take).flatten() {
                lab.settings.update(|settings| settings.load = load);
            }
            close();
        }
    };
    let running = Memo::new(move |_| {
        lab.settings.with(|settings| {
            settings.trace.as_ref().map(|trace| format!("{} + {}", trace.files.nodes_name, trace.files.pods_name))
        })
    });
    let load =
        Signal::derive(move || load_wanted.get().unwrap_or_else(|| lab.settings.with(|settings| settings.load)));

    view! {
        <button type="button" class="button button-quiet" data-testid="trace-open" on:click=move |_| open()>
            {move || text.t("trace.open")}
        </button>
        <Show when=move || running.with(Option::is_some)>
            <span class="trace-running">
                {move || text.tf("trace.running", &[("files", &running.get().unwrap_or_default())])}
                <button type="button" class="button button-quiet" on:click=move |_| lab.set_trace(None)>
                    {move || text.t("trace.leave")}
                </button>
            </span>
        </Show>
        <Show when=move || dragging.get()>
            <div class="let-go" data-testid="trace-let-go"><p>{move || text.t("trace.let_go")}</p></div>
        </Show>
        <dialog class="trace" node_ref=dialog aria-labelledby="trace-title">
            <header class="section-header">
                <h2 id="trace-title">{move || text.t("trace.title")}</h2>
                <button type="button" class="button" on:click=move |_| close()>{move || text.t("trace.close")}</button>
            </header>
            <p>{move || text.t("trace.what")}</p>
            <p class="note">{move || text.t("trace.private")}</p>
            <label class="drop">
                <span class="button">{move || text.t("trace.choose")}</span>
                <input
                    type="file"
                    class="sr"
                    multiple
                    accept=".csv,.tsv,.txt,text/csv"
                    data-testid="trace-input"
                    on:change=move |event| {
                        let input = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok());
                        if let Some(list) = input.as_ref().and_then(web_sys::HtmlInputElement::files) {
                            take(list);
                        }
                        // Choosing the same file again must be a change again.
                        if let Some(input) = input {
                            input.set_value("");
                        }
                    }
                />
            </label>
            <p role="status">
                {move || files.with(|files| match files.as_slice() {
                    [] => String::new(),
                    [file] => {
                        let values = [("file", file.name.as_str())];
                        match file.looks() {
                            Looks::Nodes => text.tf("trace.needs_pods", &values),
                            Looks::Pods | Looks::Neither => text.tf("trace.needs_nodes", &values),
                        }
                    }
                    _ => {
                        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
                        text.tf("trace.both", &[("files", &names.join(", "))])
                    }
                })}
            </p>
            {move || {
                let list = unread.get();
                let more = list.len().saturating_sub(UNREAD_LISTED);
                let said = list.into_iter().take(UNREAD_LISTED).map(|Unread { name, of_no_kind }| {
                    let most = numbers.whole(MOST_BYTES / 1024.0 / 1024.0);
                    let values = [("file", name.as_str()), ("most", most.as_str())];
                    let key = if of_no_kind { "trace.left_out" } else { "trace.unread" };
                    view! { <p class="field-error" role="alert">{text.tf(key, &values)}</p> }
                });
                let more = (more > 0).then(|| view! {
                    <p class="field-error">
                        {text.count("trace.more_left_out", more as f64, &numbers.whole(more as f64))}
                    </p>
                });
                (said.collect_view(), more)
            }}
            {move || outcome.get().map(|outcome| match outcome {
                Err(refused) => {
                    let can_drop = refused.can_drop();
                    view! {
                        <section class="report" data-testid="trace-report" data-state="refused">
                            <h3>{text.t("trace.refused")}</h3>
                            <Counts counts=refused.counts.clone()/>
                            <Findings findings=refused.findings/>
                            {if can_drop {
                                view! {
                                    <p>{text.t("trace.choice")}</p>
                                    <div class="row">
                                        <button
                                            type="button"
                                            class="button button-main"
                                            data-testid="trace-drop"
                                            on:click=move |_| on_fault.set(OnFault::Drop)
                                        >
                                            {text.t("trace.drop")}
                                        </button>
                                        <button type="button" class="button" on:click=move |_| files.set(Vec::new())>
                                            {text.t("trace.stop")}
                                        </button>
                                    </div>
                                }.into_any()
                            } else {
                                view! { <p>{text.t("trace.unusable")}</p> }.into_any()
                            }}
                        </section>
                    }.into_any()
                }
                Ok(summary) => view! {
                    <section class="report" data-testid="trace-report" data-state="ready">
                        <h3>{text.t("trace.ready")}</h3>
                        <p>
                            {text.tf("trace.summary", &[
                                ("nodes", &counted("count.nodes", summary.nodes)),
                                ("jobs", &numbers.whole(summary.samples as f64)),
                                ("rows", &counted("count.pods", summary.report.pods.rows)),
                            ])}
                        </p>
                        <Counts counts=summary.report.counts.clone()/>
                        <Findings findings=summary.report.faults.iter().chain(&summary.report.notes).cloned().collect()/>
                        <label class="check">
                            <input
                                type="checkbox"
                                data-testid="trace-assume"
                                prop:checked=move || assume.get()
                                on:change=move |event| assume.set(event_target_checked(&event))
                            />
                            <span>
                                {text.tf("trace.assume", &[
                                    ("assumed", &summary.assumed.len().to_string()),
                                    ("all", &summary.exists.len().to_string()),
                                ])}
                            </span>
                        </label>
                        <Assumptions assumptions=summary.assumptions/>
                        <div class="row">
                            <NumberField
                                field=Field::Load
                                value=load
                                on_set=move |value| load_wanted.set(Some(value))
                                slider=true
                                place="trace"
                            />
                            <button type="button" class="button button-main" data-testid="trace-run" on:click=run>
                                {text.t("trace.run")}
                            </button>
                        </div>
                    </section>
                }.into_any(),
            })}
        </dialog>
    }
}

/// Reads a file as text and puts it among `files`, in place of one of the same kind.
fn read(file: &web_sys::File, files: RwSignal<Vec<Loaded>>, unread: RwSignal<Vec<Unread>>) {
    let name = file.name();
    let Some(reader) = web_sys::FileReader::new().ok().filter(|_| file.size() <= MOST_BYTES) else {
        unread.update(|list| list.push(Unread { name, of_no_kind: false }));
        return;
    };
    let source = reader.clone();
    let failed = name.clone();
    let on_end = Closure::once_into_js(move || {
        let Some(contents) = source.result().ok().and_then(|result| result.as_string()) else {
            unread.update(|list| list.push(Unread { name, of_no_kind: false }));
            return;
        };
        let refused = files.try_update(|files| put(files, Loaded { name, contents: contents.into() })).flatten();
        if let Some(file) = refused {
            unread.update(|list| list.push(Unread { name: file.name, of_no_kind: true }));
        }
    });
    reader.set_onloadend(Some(on_end.unchecked_ref()));
    if reader.read_as_text(file).is_err() {
        unread.update(|list| list.push(Unread { name: failed, of_no_kind: false }));
    }
}

/// How many findings there are of each kind.
#[component]
pub fn Counts(counts: Vec<Count>) -> impl IntoView {
    let (text, numbers) = (use_text(), use_numbers());
    view! {
        <ul class="counts">
            {counts
                .into_iter()
                .map(|Count { kind, count }| view! {
                    <li
                        class:fault=kind.severity() != Severity::Note
                        data-testid="trace-count"
                        data-kind=format!("{kind:?}")
                        data-count=count.to_string()
                    >
                        <b>{numbers.whole(count as f64)}</b>
                        " "
                        {finding_name(text, &format!("{kind:?}"), kind.title())}
                    </li>
                })
                .collect_view()}
        </ul>
    }
}

/// What a kind of finding is called: translated if there is a translation, else in its own words.
fn finding_name(text: Text, kind: &str, own: &str) -> String {
    text.maybe(&format!("finding.{kind}")).unwrap_or_else(|| own.to_owned())
}

/// Findings one by one: by file, row, column, value and reason.
#[component]
pub fn Findings(findings: Vec<Finding>, #[prop(optional)] open: bool) -> impl IntoView {
    let (text, numbers) = (use_text(), use_numbers());
    let count = findings.len();
    let listed = RwSignal::new(LISTED);
    let findings = StoredValue::new(findings);
    let left = move || count.saturating_sub(listed.get());
    (count > 0).then(|| view! {
        <details class="findings" open=open>
            <summary>{text.count("trace.findings", count as f64, &numbers.whole(count as f64))}</summary>
            <div class="scroll" tabindex="0" role="region" aria-label=text.t("trace.findings_table")>
                <table>
                    <thead>
                        <tr>
                            <th scope="col">{text.t("trace.file")}</th>
                            <th scope="col" class="figure">{text.t("trace.row")}</th>
                            <th scope="col">{text.t("trace.column")}</th>
                            <th scope="col">{text.t("trace.value")}</th>
                            <th scope="col">{text.t("trace.reason")}</th>
                        </tr>
                    </thead>
                    <tbody>
                        {move || findings.with_value(|findings| {
                            findings
                                .iter()
                                .take(listed.get())
                                .map(|finding| {
                                    let kind = finding_name(text, &format!("{:?}", finding.kind), finding.kind.title());
                                    view! {
                                        <tr>
                                            <td>{finding.file.clone()}</td>
                                            <td class="figure">{numbers.plain(finding.row as f64, 0)}</td>
                                            <td><code>{finding.column.clone()}</code></td>
                                            <td><code class="written">{finding.value.clone()}</code></td>
                                            <td>{kind} ": " <span class="note"><Said english=finding.reason.clone()/></span></td>
                                        </tr>
                                    }
                                })
                                .collect_view()
                        })}
                    </tbody>
                </table>
            </div>
            <Show when=move || left() != 0>
                <p class="note">
                    {move || text.tf("trace.more", &[("n", &numbers.whole(left() as f64))])}
                    " "
                    <button
                        type="button"
                        class="button"
                        data-testid="trace-more"
                        on:click=move |_| listed.update(|listed| *listed += MORE)
                    >
                        {move || text.tf("trace.show_more", &[("n", &numbers.whole(left().min(MORE) as f64))])}
                    </button>
                </p>
            </Show>
        </details>
    })
}

/// Everything that the trace does not say and is assumed.
#[component]
fn Assumptions(assumptions: Vec<Assumption>) -> impl IntoView {
    let (text, numbers) = (use_text(), use_numbers());
    let count = assumptions.len();
    (count > 0).then(|| {
        view! {
            <details class="findings">
                <summary>{text.count("trace.assumptions", count as f64, &numbers.whole(count as f64))}</summary>
                <div class="scroll" tabindex="0" role="region" aria-label=text.t("trace.assumptions_table")>
                    <table>
                        <tbody>
                            {assumptions
                                .into_iter()
                                .map(|assumption| view! {
                                    <tr>
                                        <th scope="row"><Said english=assumption.what/></th>
                                        <td><Said english=assumption.value/></td>
                                        <td class="note"><Said english=assumption.reason/></td>
                                    </tr>
                                })
                                .collect_view()}
                        </tbody>
                    </table>
                </div>
            </details>
        }
    })
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    fn file(contents: &str) -> Loaded {
        Loaded { name: contents.len().to_string(), contents: contents.into() }
    }

    #[wasm_bindgen_test]
    fn the_files_may_come_in_either_order() {
        let nodes = file("sn,cpu_milli,memory_mib,gpu,model\n");
        let pods = file("name,cpu_milli,memory_mib,num_gpu,gpu_milli\n");
        let there = [nodes.clone(), pods.clone()];
        let back = [pods.clone(), nodes.clone()];
        assert_eq!(pair(&there), Some((&nodes, &pods)));
        assert_eq!(pair(&back), Some((&nodes, &pods)));
        assert_eq!(pair(&there[..1]), None);
    }

    #[wasm_bindgen_test]
    fn a_file_takes_the_place_of_one_of_its_kind() {
        let nodes = file("sn,cpu_milli,memory_mib,gpu,model\n");
        let pods = file("\u{feff}\nname;cpu_milli;memory_mib;num_gpu;gpu_milli\n");
        let others = file("\"name\",\"cpu_milli\",\"num_gpu\"\n");
        let letter = file("Dear reader,\nmodel behaviour!\n");
        assert_eq!(
            [&nodes, &pods, &others, &letter].map(Loaded::looks),
            [Looks::Nodes, Looks::Pods, Looks::Pods, Looks::Neither]
        );
        let mut files = Vec::new();
        for (new, left) in [(&pods, 1), (&others, 1), (&nodes, 2), (&pods, 2)] {
            assert_eq!(put(&mut files, new.clone()), None);
            assert_eq!(files.len(), left);
        }
        assert_eq!(pair(&files), Some((&nodes, &pods)));
        assert_eq!(put(&mut files, letter.clone()), Some(letter), "a stray is given back");
        assert_eq!(pair(&files), Some((&nodes, &pods)));
    }

    #[wasm_bindgen_test]
    fn files_without_sense_are_refused_and_nothing_panics() {
        for (a, b) in [("", ""), ("\u{feff}", "x"), ("a,b\n1,2\n", "num_gpu\n\"\n")] {
            let outcome = import(&[file(a), file(b)], OnFault::Drop, true).expect("two files");
            assert!(outcome.is_err());
        }
    }
}
