//! `residua replay`: the published packing experiment, with the published orders or with our own.

use std::path::{Path, PathBuf};

use residua::replay::published::{Pair, greatest, mean, pair, pair_means};
use residua::replay::{self, Experiment, Point, files, order};
use residua::scenario::{Issue, Issues};
use residua::schedulers::{Arena, Entry, Ties, replay_entries};
use residua::workload::openb::packing::{Published, Rows, examine, read_order, read_published};
use residua::workload::openb::{Count, Finding, count};
use serde::Serialize;

use crate::check::read;
use crate::options::{ReplayOptions, TiesOption};
use crate::output::{Failure, indented, problems};
use crate::table::Table;
use crate::threads::{available, in_order};

/// Most bytes of a file: the published ones have less than two million.
const MOST_BYTES: u64 = 512 << 20;

/// An order of arrivals and what to call it.
struct Order {
    seed: u64,
    rows: Rows,
}

/// One run's result.
struct Run {
    policy: Entry,
    seed: u64,
    curve: Vec<Point>,
    /// Pods of its order; several orders may have the same seed.
    arrivals: usize,
    rejected: u64,
}

/// What was asked for, read and checked.
struct Request {
    workload: String,
    experiment: Experiment,
    orders: Vec<Order>,
    policies: Vec<Entry>,
    ties: Ties,
    published: Option<Vec<Published>>,
    has_published_orders: bool,
}

/// A run in `--json`.
#[derive(Serialize)]
struct RunJson<'a> {
    workload: &'a str,
    policy: String,
    id: String,
    seed: u64,
    ties: &'static str,
    curve: Vec<Point>,
    arrivals: usize,
    rejected: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<ComparedJson>,
}

/// A comparison with published results in `--json`.
#[derive(Serialize)]
struct ComparedJson {
    compared: &'static str,
    greatest_difference: Greatest,
    points: Vec<Pair>,
}

#[derive(Clone, Copy, Serialize)]
struct Greatest {
    alloc: f64,
    frag_ratio: f64,
}

impl Greatest {
    fn of(pairs: &[Pair]) -> Self {
        let (alloc, frag_ratio) = greatest(pairs);
        Self { alloc, frag_ratio }
    }
}

/// Runs what was asked for and reports it.
pub fn replay(options: &ReplayOptions) -> Result<String, Failure> {
    let request = settle(options)?;
    let items: Vec<(&Entry, &Order)> =
        request.policies.iter().flat_map(|policy| request.orders.iter().map(move |order| (policy, order))).collect();
    let threads = options.threads.map_or_else(available, usize::from);
    let outcomes = in_order(items.len(), threads, |position| -> Result<Run, Failure> {
        let (policy, order) = items[position];
        let mut simulation = request.experiment.start(&order.rows, policy, request.ties, order.seed)?;
        simulation.run_to_end();
        if let Some(fault) = simulation.fault() {
            return Err(fault.clone().into());
        }
        let probe = simulation.probe();
        Ok(Run {
            policy: *policy,
            seed: order.seed,
            curve: probe.curve(),
            arrivals: order.rows.pods.len(),
            rejected: probe.rejected(),
        })
    });
    let runs = outcomes.into_iter().collect::<Result<Vec<Run>, Failure>>()?;
    if options.json { json(&request, &runs) } else { Ok(text(&request, &runs)) }
}

/// Reads every file and resolves every name. All that is wrong at once.
fn settle(options: &ReplayOptions) -> Result<Request, Failure> {
    let mut issues: Vec<Issue> = Vec::new();
    let mut findings: Vec<Finding> = Vec::new();
    let mut file = |path: &Path| match read(path, MOST_BYTES) {
        Ok(text) => Some((name(path), text)),
        Err(issue) => {
            issues.push(issue);
            None
        }
    };
    let (nodes, pods) = (file(&options.nodes), file(&options.pods));
    let order_files: Vec<(PathBuf, Option<(String, String)>)> =
        options.order.iter().map(|path| (path.clone(), file(path))).collect();
    let expected = options.expected.as_deref().map(&mut file);

    let mut take = |outcome: Result<_, Vec<Finding>>| outcome.map_err(|mut found| findings.append(&mut found)).ok();
    let experiment = match (&nodes, &pods) {
        (Some(nodes), Some(pods)) => take(Experiment::read((&nodes.0, &nodes.1), (&pods.0, &pods.1))),
        // What can be read is looked at all the same.
        _ => {
            let [nodes, pods] =
                [&nodes, &pods].map(|file| file.as_ref().map(|(name, text)| (name.as_str(), text.as_str())));
            findings.append(&mut examine(nodes, pods));
            None
        }
    };
    let mut orders = Vec::new();
    if let Some(experiment) = &experiment {
        for (path, content) in &order_files {
            let Some((name, text)) = content else { continue };
            match read_order((name, text), experiment.lists()) {
                Ok(rows) => orders.push(Order { seed: options.seed.or(seed_in(path)).unwrap_or(1), rows }),
                Err(mut found) => findings.append(&mut found),
            }
        }
        if options.order.is_empty()
            && let Some(count) = order::too_many(experiment)
        {
            issues.push(issue(
                &name(&options.pods),
                &format!("about {count:.0} arrivals"),
                &format!(
                    "at most {} until {} % of the GPUs are asked for",
                    order::MOST_ARRIVALS,
                    order::INFLATION_PCT
                ),
                "Use fewer nodes, or pods that ask for more GPU",
            ));
        } else if options.order.is_empty() {
            let seeds = options.seed.map_or_else(|| (1..=options.seeds).collect(), |seed| vec![seed]);
            let drawn = in_order(seeds.len(), available(), |at| order::draw(experiment, seeds[at]));
            for (seed, drawn) in seeds.into_iter().zip(drawn) {
                orders.push(Order { seed, rows: drawn? });
            }
        }
    }
    let published = expected.flatten().and_then(|(name, text)| {
        read_published((&name, &text)).map_err(|mut found| findings.append(&mut found)).ok()
    });
    let policies = policies(&options.policy, &mut issues);
    let workload = options.workload.clone().unwrap_or_else(|| workload_in(&options.pods));
    if let Some(published) = &published
        && !published.iter().any(|row| row.workload == workload)
    {
        let mut known: Vec<&str> = published.iter().map(|row| row.workload.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        let remedy = "Say with --workload which rows of --expected these pods belong to";
        issues.push(issue("--workload", &workload, &known.join(", "), remedy));
    }
    match experiment {
        Some(experiment) if issues.is_empty() && findings.is_empty() => Ok(Request {
            workload,
            experiment,
            orders,
            policies,
            ties: match options.ties {
                TiesOption::Fixed => Ties::Fixed,
                TiesOption::Random => Ties::Drawn,
            },
            published,
            has_published_orders: !options.order.is_empty(),
        }),
        _ if findings.is_empty() => Err(Issues(issues).into()),
        _ => {
            let count = problems(issues.len() + findings.len());
            let found: String = findings.iter().map(|finding| format!("  {finding}\n")).collect();
            Err(Failure::Input(format!("{count} found:\n{}{found}", indented(&issues))))
        }
    }
}

fn issue(path: &str, value: &str, allowed: &str, remedy: &str) -> Issue {
    Issue { path: path.to_owned(), value: value.to_owned(), allowed: allowed.to_owned(), remedy: remedy.to_owned() }
}

/// The policies of these names, each once; `all` and `paper` stand for several.
fn policies(names: &[String], issues: &mut Vec<Issue>) -> Vec<Entry> {
    let allowed = || {
        let known: Vec<String> = replay_entries().map(|entry| replay::name(&entry)).collect();
        format!("all, paper, {}", known.join(", "))
    };
    let mut policies: Vec<Entry> = Vec::new();
    let written = names.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
    for name in written.clone() {
        let named: Vec<Entry> = match name {
            "all" => replay_entries().collect(),
            "paper" => replay_entries().filter(|entry| entry.card.arena == Arena::Replay).collect(),
            _ => replay::find(name).into_iter().collect(),
        };
        if named.is_empty() {
            issues.push(issue("--policy", name, &allowed(), "Choose from these, with commas between"));
        }
        for entry in named {
            if !policies.iter().any(|known| known.id() == entry.id()) {
                policies.push(entry);
            }
        }
    }
    if written.count() == 0 {
        issues.push(issue("--policy", "", &allowed(), "Name one, or leave the option out"));
    }
    policies
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// `replay_default_42.txt` → 42.
fn seed_in(path: &Path) -> Option<u64> {
    files::seed(&name(path))
}

/// `openb_pod_list_default.csv` → `default`; other names as they are.
fn workload_in(path: &Path) -> String {
    files::workload(&name(path))
}

/// The runs of a policy beside what was published: run by run where the orders are the published ones, else means.
fn compare(request: &Request, runs: &[&Run], policy: &Entry) -> Vec<Vec<Pair>> {
    let Some(published) = &request.published else { return Vec::new() };
    let (workload, name) = (&request.workload, replay::name(policy));
    let pairs: Vec<Vec<Pair>> = if request.has_published_orders {
        runs.iter().map(|run| pair(&run.curve, published, workload, &name, run.seed)).collect()
    } else {
        let curves: Vec<&[Point]> = runs.iter().map(|run| run.curve.as_slice()).collect();
        vec![pair_means(&curves, published, workload, &name)]
    };
    pairs.into_iter().filter(|pairs| !pairs.is_empty()).collect()
}

/// To four decimals, as published.
fn rounded(value: f64) -> f64 {
    libm::round(value * 1e4) / 1e4
}

fn json(request: &Request, runs: &[Run]) -> Result<String, Failure> {
    let mut list = Vec::new();
    for run in runs {
        let of_policy: Vec<&Run> = if request.has_published_orders {
            vec![run]
        } else {
            runs.iter().filter(|other| other.policy.id() == run.policy.id()).collect()
        };
        let published = compare(request, &of_policy, &run.policy).into_iter().next().map(|points| ComparedJson {
            compared: if request.has_published_orders { "this run" } else { "means over seeds" },
            greatest_difference: Greatest::of(&points),
            points,
        });
        list.push(RunJson {
            workload: &request.workload,
            policy: replay::name(&run.policy),
            id: run.policy.id(),
            seed: run.seed,
            ties: if request.ties == Ties::Fixed { "fixed" } else { "random" },
            curve: run.curve.iter().map(|point| Point { frag_ratio: rounded(point.frag_ratio), ..*point }).collect(),
            arrivals: run.arrivals,
            rejected: run.rejected,
            published,
        });
    }
    let text = match list.as_slice() {
        [only] => serde_json::to_string(only),
        several => serde_json::to_string(several),
    };
    text.map(|text| text + "\n").map_err(|error| Failure::Run(format!("cannot write JSON: {error}")))
}

fn text(request: &Request, runs: &[Run]) -> String {
    let lists = request.experiment.lists();
    let typical = request.experiment.typical();
    let seeds: Vec<String> = request.orders.iter().map(|order| order.seed.to_string()).collect();
    let mut text = format!(
        "{}: {} nodes, {} GPUs, {} pods, {} typical kinds. Ties: {}. {}: seed {}\n",
        request.workload,
        lists.nodes.len(),
        request.experiment.capacity_milli() / 1000,
        lists.pods.len(),
        typical.tasks.len(),
        if request.ties == Ties::Fixed { "the first in a fixed order of nodes" } else { "at random" },
        if request.has_published_orders { "Orders from files" } else { "Orders of our own" },
        seeds.join(", "),
    );
    let counts = count(&lists.notes);
    if !counts.is_empty() {
        let noted: Vec<String> =
            counts.iter().map(|Count { kind, count }| format!("{count} × {}", kind.title())).collect();
        text.push_str(&format!("Worth knowing of the lists: {}.\n", noted.join(", ")));
    }
    if lists.without_gpu > 0 {
        text.push_str(&format!("{} nodes have no GPU and take no part.\n", lists.without_gpu));
    }
    let of = |policy: &Entry| -> Vec<&Run> { runs.iter().filter(|run| run.policy.id() == policy.id()).collect() };
    let curves: Vec<Vec<Point>> = request
        .policies
        .iter()
        .map(|policy| mean(&of(policy).iter().map(|run| run.curve.as_slice()).collect::<Vec<_>>()))
        .collect();
    let most = curves.iter().flatten().map(|point| point.arrived_pct).max().unwrap_or(0);
    let headings = || request.policies.iter().map(replay::name);
    for (title, value) in [
        ("GPU ALLOCATED, % of the cluster", (|point: &Point| point.alloc) as fn(&Point) -> f64),
        ("FRAGMENTED SHARE OF THE IDLE GPU, %", |point| point.frag_ratio),
    ] {
        text.push_str(&format!(
            "\n{title}, by demand arrived, %{}\n\n",
            if seeds.len() > 1 { "; means over seeds" } else { "" }
        ));
        let mut table = Table::default();
        table.row(["arrived".to_owned()].into_iter().chain(headings()));
        for percent in 0..=most {
            let cell = |curve: &Vec<Point>| match curve.binary_search_by_key(&percent, |point| point.arrived_pct) {
                Ok(at) => format!("{:.2}", value(&curve[at])),
                Err(_) => "–".to_owned(),
            };
            table.row([percent.to_string()].into_iter().chain(curves.iter().map(cell)));
        }
        text.push_str(&table.text());
    }
    text.push_str("\nTURNED AWAY, pods\n\n");
    let mut table = Table::default();
    table.row(["seed".to_owned()].into_iter().chain(headings()));
    for (at, order) in request.orders.iter().enumerate() {
        let cell = |policy: &Entry| of(policy).get(at).map_or_else(String::new, |run| run.rejected.to_string());
        table.row([order.seed.to_string()].into_iter().chain(request.policies.iter().map(cell)));
    }
    text.push_str(&table.text());
    if request.published.is_some() {
        text.push_str(&differences(request, &of));
    }
    text
}

fn differences<'a>(request: &Request, of: &dyn Fn(&Entry) -> Vec<&'a Run>) -> String {
    let mut text = format!(
        "\nOURS − PUBLISHED, percentage points; {}\n\n",
        if request.has_published_orders { "run by run" } else { "means over seeds, other orders than the published" }
    );
    let mut table = Table::default();
    table.row(["policy", "run", "arrived", "allocated", "published", "ours −", "fragmented", "published", "ours −"]);
    let mut summary = Table::default();
    summary.row(["policy", "points", "greatest, allocated", "greatest, fragmented"]);
    for policy in &request.policies {
        let runs = of(policy);
        let compared = compare(request, &runs, policy);
        let name = replay::name(policy);
        for (at, pairs) in compared.iter().enumerate() {
            let run = match runs.get(at) {
                Some(run) if request.has_published_orders => run.seed.to_string(),
                _ => "mean".to_owned(),
            };
            for pair in pairs {
                // Zero without a sign: what is 0 to four decimals is no difference.
                let (alloc, frag) = pair.differences();
                let (alloc, frag) = (rounded(alloc) + 0.0, rounded(frag) + 0.0);
                table.row([
                    name.clone(),
                    run.clone(),
                    pair.arrived_pct.to_string(),
                    format!("{:.2}", pair.alloc),
                    format!("{:.2}", pair.alloc_published),
                    format!("{alloc:+.4}"),
                    format!("{:.4}", pair.frag_ratio),
                    format!("{:.4}", pair.frag_ratio_published),
                    format!("{frag:+.4}"),
                ]);
            }
        }
        let all: Vec<Pair> = compared.into_iter().flatten().collect();
        if all.is_empty() {
            summary.row([name.as_str(), "0", "not published", "not published"]);
        } else {
            let Greatest { alloc, frag_ratio } = Greatest::of(&all);
            summary.row([name, all.len().to_string(), format!("{alloc:.4}"), format!("{frag_ratio:.4}")]);
        }
    }
    text.push_str(&table.text());
    text.push('\n');
    text.push_str(&summary.text());
    text
}
