//! What was published beside what came out, and what the tie-break does to the ranking.

use leptos::prelude::*;
use residua::replay;
use residua::replay::published::greatest;
use residua::schedulers::Entry;
use residua::stage::ranking::{Standing, standings};

use super::replay_controls::PolicySign;
use crate::i18n::use_text;
use crate::numbers::{NOTHING, use_numbers};
use crate::replay::{title, use_replay};

/// The policy whose lead is in question.
pub const FGD: &str = "fgd-paper";

/// Points of allocation that it loses to random ties, on average of ten orders of the workload "default".
const FALL: f64 = 5.4;

/// How far a policy is from what was published.
#[derive(Clone, Debug, PartialEq)]
struct Compared {
    id: String,
    title: String,
    values: usize,
    alloc: f64,
    frag: f64,
    is_exact: bool,
}

/// The largest difference from what was published, policy by policy.
#[component]
pub fn Differences() -> impl IntoView {
    let (replay, text, numbers) = (use_replay(), use_text(), use_numbers());
    let has_published = move || replay.loaded().is_some_and(|loaded| !loaded.means.is_empty());
    let random = move || replay.settings.with(|settings| settings.random_ties);
    let rows = Memo::new(move |_| {
        let Some((loaded, order)) = replay.loaded().zip(replay.orders().first().copied()) else { return Vec::new() };
        let policies = replay.settings.with(|settings| settings.policies());
        // Policies of which nothing was published have no row.
        let compared = policies.into_iter().filter_map(|entry| {
            let curve = replay.finished(&entry.id(), false)?;
            let comparison = loaded.compare(&replay::name(&entry), order, &curve)?;
            let (alloc, frag) = greatest(&comparison.pairs);
            let values = comparison.pairs.len();
            Some(Compared {
                id: entry.id(),
                title: title(&entry),
                values,
                alloc,
                frag,
                is_exact: comparison.is_exact,
            })
        });
        compared.collect::<Vec<_>>()
    });
    view! {
        <Show when=has_published>
            <section class="differences" aria-labelledby="differences-title" data-testid="differences">
                <header class="section-header">
                    <h2 id="differences-title">{move || text.t("replay.differences")}</h2>
                </header>
                {move || if random() {
                    view! { <p>{text.t("replay.differences.random")}</p> }.into_any()
                } else {
                    let rows = rows.get();
                    if rows.is_empty() {
                        return view! { <p class="note">{text.t("replay.differences.wait")}</p> }.into_any();
                    }
                    let is_exact = rows.iter().all(|row| row.is_exact);
                    let kind = if is_exact { "replay.differences.exact" } else { "replay.differences.means" };
                    view! {
                        <p>{text.t(kind)}</p>
                        <div class="scroll difference-scroll" tabindex="0" role="region" aria-labelledby="differences-title">
                            <table>
                                <thead>
                                    <tr>
                                        {["policy", "values", "alloc", "frag"]
                                            .map(|name| view! {
                                                <th scope="col">{text.t(&format!("replay.column.{name}"))}</th>
                                            })
                                            .collect_view()}
                                    </tr>
                                </thead>
                                <tbody>
                                    {rows
                                        .into_iter()
                                        .map(|row| view! {
                                            <tr
                                                data-testid="difference"
                                                data-policy=row.id.clone()
                                                data-alloc=row.alloc.to_string()
                                                data-frag=row.frag.to_string()
                                            >
                                                <th scope="row">
                                                    <span><PolicySign policy=row.id.clone()/> {row.title}</span>
                                                </th>
                                                <td>{numbers.whole(row.values as f64)}</td>
                                                <td>{numbers.fixed(row.alloc, 4)}</td>
                                                <td>{numbers.fixed(row.frag, 4)}</td>
                                            </tr>
                                        })
                                        .collect_view()}
                                </tbody>
                            </table>
                        </div>
                        <p class="note">{text.t("replay.difference.random")}</p>
                    }.into_any()
                }}
            </section>
        </Show>
    }
}

/// A policy, where it stands with fixed ties, and where with random ones.
#[derive(Clone, Debug)]
struct Row {
    entry: Entry,
    fixed: Standing,
    random: Standing,
}

impl Row {
    /// Random − fixed, in percentage points at 100 %.
    fn change(&self) -> Option<f64> {
        Some(self.random.alloc_100? - self.fixed.alloc_100?)
    }
}

/// What stands in a cell.
enum Cell {
    Percent(Option<f64>),
    Rank(Option<u32>),
    Points(Option<f64>),
}

/// A row a policy: what it allocates with fixed ties and with random ones, and its rank.
#[component]
pub fn Ranking() -> impl IntoView {
    let (replay, text, numbers) = (use_replay(), use_text(), use_numbers());
    let found = move || {
        let policies = replay.settings.with(|settings| settings.policies());
        let of = |random| -> Vec<Standing> {
            standings(&policies.iter().map(|entry| replay.finished(&entry.id(), random)).collect::<Vec<_>>())
        };
        let (fixed, random) = (of(false), of(true));
        let rows = policies.iter().zip(fixed).zip(random);
        let mut rows: Vec<Row> = rows.map(|((entry, fixed), random)| Row { entry: *entry, fixed, random }).collect();
        let shown = replay.settings.with(|settings| settings.random_ties);
        rows.sort_by_key(|row| (if shown { row.random.rank } else { row.fixed.rank }).unwrap_or(u32::MAX));
        rows
    };
    let rows = RwSignal::new(Vec::<Row>::new());
    Effect::new(move |_| rows.set(found()));
    let order = Memo::new(move |_| rows.with(|rows| rows.iter().map(|row| row.entry.id()).collect::<Vec<_>>()));
    let both = Memo::new(move |_| replay.settings.with(|settings| settings.both));
    let percent = move |value: Option<f64>| numbers.percent(value.map_or(f64::NAN, |value| value / 100.0), 2);
    let rank =
        move |rank: Option<u32>| rank.map_or_else(|| NOTHING.to_owned(), |rank| numbers.whole(f64::from(rank)));
    let points = move |change: Option<f64>| {
        change.map_or_else(|| NOTHING.to_owned(), |change| numbers.signed(change, |size| numbers.fixed(size, 2)))
    };
    let said = move || {
        let fgd = rows.with(|rows| rows.iter().find(|row| row.entry.id() == FGD).cloned())?;
        let change = fgd.change()?;
        let (was, is) = (fgd.fixed.rank?, fgd.random.rank?);
        let key = if is > was { "replay.ranking.falls" } else { "replay.ranking.stays" };
        Some(text.tf(
            key,
            &[
                ("fixed", &percent(fgd.fixed.alloc_100)),
                ("random", &percent(fgd.random.alloc_100)),
                ("change", &points(Some(change))),
                ("was", &rank(Some(was))),
                ("is", &rank(Some(is))),
            ],
        ))
    };
    // A row stays while its numbers change.
    let cell = move |id: &str, of: Option<&'static str>, write: fn(&Row) -> Cell| {
        let id = id.to_owned();
        let written = move || {
            let cell = rows.with(|rows| rows.iter().find(|row| row.entry.id() == id).map(write));
            match cell {
                Some(Cell::Percent(value)) => percent(value),
                Some(Cell::Rank(value)) => rank(value),
                Some(Cell::Points(value)) => points(value),
                None => String::new(),
            }
        };
        view! { <td data-of=of>{written}</td> }
    };
    let row = move |id: String| {
        let title = residua::replay::find(&id).as_ref().map(title);
        view! {
            <tr data-testid="ranking-row" data-policy=id.clone()>
                <th scope="row"><span><PolicySign policy=id.clone()/> {title}</span></th>
                {cell(&id, Some("fixed-100"), |row| Cell::Percent(row.fixed.alloc_100))}
                {cell(&id, None, |row| Cell::Percent(row.fixed.alloc_130))}
                {cell(&id, None, |row| Cell::Percent(row.fixed.frag_80))}
                {cell(&id, Some("fixed-rank"), |row| Cell::Rank(row.fixed.rank))}
                {cell(&id, Some("random-100"), |row| Cell::Percent(row.random.alloc_100))}
                {cell(&id, None, |row| Cell::Percent(row.random.alloc_130))}
                {cell(&id, None, |row| Cell::Percent(row.random.frag_80))}
                {cell(&id, Some("random-rank"), |row| Cell::Rank(row.random.rank))}
                {cell(&id, Some("change"), |row| Cell::Points(row.change()))}
            </tr>
        }
    };
    view! {
        <section class="ranking" aria-labelledby="ranking-title" data-testid="ranking">
            <header class="section-header">
                <h2 id="ranking-title">{move || text.t("replay.ranking")}</h2>
            </header>
            <p>{move || text.tf("replay.ranking.why", &[("points", &numbers.fixed(FALL, 1))])}</p>
            <p><b role="status" data-testid="ranking-said">{said}</b></p>
            <label class="check">
                <input
                    type="checkbox"
                    data-testid="replay-both"
                    prop:checked=both
                    on:change=move |event| {
                        let both = event_target_checked(&event);
                        replay.settings.update(|settings| settings.both = both);
                    }
                />
                <span>{move || text.t("replay.both")}</span>
            </label>
            <div class="scroll ranking-scroll" tabindex="0" role="region" aria-labelledby="ranking-title">
                <table>
                    <thead>
                        <tr>
                            <th scope="col" rowspan="2">{move || text.t("replay.column.policy")}</th>
                            <th scope="colgroup" colspan="4">{move || text.t("replay.ties.fixed")}</th>
                            <th scope="colgroup" colspan="4">{move || text.t("replay.ties.random")}</th>
                            <th scope="col" rowspan="2">{move || text.t("replay.column.change")}</th>
                        </tr>
                        <tr>
                            {[(); 2]
                                .map(|()| view! {
                                    <th scope="col">{move || text.t("replay.column.alloc_100")}</th>
                                    <th scope="col">{move || text.t("replay.column.alloc_130")}</th>
                                    <th scope="col">{move || text.t("replay.column.frag_80")}</th>
                                    <th scope="col">{move || text.t("replay.column.rank")}</th>
                                })
                                .collect_view()}
                        </tr>
                    </thead>
                    <tbody>
                        <For each=move || order.get() key=Clone::clone let:id>
                            {row(id)}
                        </For>
                    </tbody>
                </table>
            </div>
            <p class="note">{move || text.t("replay.ranking.note")}</p>
        </section>
    }
}
