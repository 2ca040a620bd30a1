//! What a comparison found: one JSON object for programs, tables for people.

use std::collections::BTreeMap;

use residua::compare::{Estimate, Paired, Run, Summary};
use residua::economics::{self, Bill, Prices};
use residua::probes::Uses;
use residua::resources::{Dim, DimMask};
use residua::scenario::{Scenario, build};
use serde::Serialize;

use crate::output::Failure;
use crate::table::Table;
use crate::trace::{self, Trace, TraceJson};

/// Everything about a comparison that was run.
pub struct Experiment<'a> {
    /// Id or file of the scenario.
    pub scenario: &'a str,
    /// The scenario with every value settled.
    pub settings: &'a Scenario,
    /// Seeds that were run.
    pub seeds: &'a [u64],
    /// Every run, scheduler by scheduler.
    pub runs: &'a [Run],
    /// Means over the seeds.
    pub summary: Vec<Summary>,
    /// Differences from the first scheduler.
    pub paired: Vec<Paired>,
    /// What a GPU-hour costs, in dollars.
    pub prices: Prices,
    /// Jobs that arrive in the measured hours of a run, on average.
    pub expected_jobs: f64,
    /// The trace that jobs are from, if there is one.
    pub trace: Option<&'a Trace>,
    /// Keys that the scenario sets and that have no say with this trace.
    pub ignored: Vec<String>,
}

/// Whether the key at `path` has a say with that trace, or in a scenario's own cluster.
pub fn has_say(path: &str, trace: Option<&Trace>) -> bool {
    trace.is_none_or(|trace| {
        build::has_say(path, trace.imported().exists.has(Dim::Sto))
            // A recording brings its own load.
            && (path != "load" || trace.recorded().is_none())
    })
}

impl Experiment<'_> {
    /// The settings that had a say.
    fn settings(&self) -> impl Iterator<Item = (String, toml::Value)> {
        let exists = self.trace.map_or(DimMask::SEVEN, |trace| trace.imported().exists);
        let silent: Vec<_> = self.settings.silent_dims(exists).collect();
        let settings = self.settings.settings().into_iter().filter(|(path, _)| has_say(path, self.trace));
        settings.filter_map(move |(path, mut value)| {
            // Of a list of dimensions, those that the trace has.
            if let (Some((_, missing)), Some(names)) =
                (silent.iter().find(|(key, _)| *key == path), value.as_array_mut())
            {
                names.retain(|name| !name.as_str().and_then(Dim::from_name).is_some_and(|dim| missing.has(dim)));
                if names.is_empty() {
                    return None;
                }
            }
            Some((path, value))
        })
    }
}

#[derive(Serialize)]
struct Json<'a> {
    scenario: &'a str,
    settings: BTreeMap<String, toml::Value>,
    prices: Prices,
    runs: Vec<BilledRun<'a>>,
    summary: &'a [Summary],
    paired: &'a [Paired],
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<TraceJson<'a>>,
}

/// A run and where its money went, in dollars of the measured hours.
#[derive(Serialize)]
struct BilledRun<'a> {
    #[serde(flatten)]
    run: &'a Run,
    bill: Bill,
}

/// One JSON object.
pub fn json(experiment: &Experiment<'_>) -> Result<String, Failure> {
    let json = Json {
        scenario: experiment.scenario,
        settings: experiment.settings().collect(),
        prices: experiment.prices,
        runs: experiment
            .runs
            .iter()
            .map(|run| BilledRun { run, bill: economics::bill(&run.metrics.ledger, experiment.prices) })
            .collect(),
        summary: &experiment.summary,
        paired: &experiment.paired,
        trace: experiment.trace.map(|trace| TraceJson::new(trace, &experiment.ignored)),
    };
    let text = serde_json::to_string_pretty(&json).map_err(|error| Failure::Run(error.to_string()))?;
    Ok(text + "\n")
}

/// A column of a table for people: measure, heading, unit, factor to that unit, decimals, which way is better.
type Column = (&'static str, &'static str, &'static str, f64, usize, &'static str);

const SHARES: &[Column] = &[
    ("f_shape", "F_shape", "0 to 1", 1.0, 4, "↓"),
    ("f_lost", "F_lost", "% fleet", 100.0, 2, "↓"),
    ("strand_total", "stranded", "% fleet", 100.0, 2, "↓"),
    ("stall", "stall", "% allocated", 100.0, 2, "↓"),
    ("allocated", "allocated", "% fleet", 100.0, 1, ""),
    ("productive", "productive", "% fleet", 100.0, 1, "↑"),
    ("throughput_rel", "throughput", "done ÷ arrived", 1.0, 3, "↑"),
    ("health", "health", "0 to 1", 1.0, 3, "↑"),
];

const TIMES: &[Column] = &[
    ("wait_p50", "wait p50", "min", 1.0 / 60.0, 2, "↓"),
    ("wait_p99", "wait p99", "min", 1.0 / 60.0, 1, "↓"),
    ("wait_train_mean", "training wait", "min, mean", 1.0 / 60.0, 1, "↓"),
    ("slowdown_p99", "slowdown p99", "× work", 1.0, 2, "↓"),
    ("inflation_mean", "inflation", "× work, mean", 1.0, 3, "↓"),
    ("pending_gpu_h", "pending", "GPU-h at end", 1.0, 0, "↓"),
    ("evictions", "evictions", "jobs", 1.0, 0, "↓"),
];

/// Tables for people.
pub fn text(experiment: &Experiment<'_>) -> String {
    let mut text = heading(experiment);
    let several = experiment.seeds.len() > 1;

    text.push_str("\nWhat becomes of the GPUs\n");
    text.push_str(&means(&experiment.summary, SHARES));
    text.push_str("\nWhat becomes of the jobs (of those that arrived after the warm-up and ended in time)\n");
    text.push_str(&means(&experiment.summary, TIMES));

    if let Some(first) = experiment.paired.first() {
        text.push_str(&format!("\nDifference from {}, seed by seed", first.baseline));
        text.push_str(if several { "; * where the 95 % interval excludes 0\n" } else { "\n" });
        text.push_str(&differences(&experiment.paired, &SHARES[..6]));
        text.push('\n');
        text.push_str(&differences(&experiment.paired, TIMES));
    }
    text.push_str(&ledger(experiment));
    text.push_str(&bill(experiment));
    text.push_str(NOTES);
    let error = experiment.runs.iter().map(|run| run.metrics.percentile_error).fold(0.0, f64::max);
    if error > 0.0 {
        text.push_str(&format!(
            "  Medians and percentiles of jobs are off by at most {:.1} % of themselves: there were too many to keep each.\n",
            error * 100.0
        ));
    }
    match experiment.trace {
        Some(trace) => {
            text.push_str(&trace::text(trace, &experiment.ignored));
            if trace.imported().exists.has(Dim::Sto) {
                text.push_str(&storage_assumptions(experiment.settings));
            }
        }
        None => text.push_str(&assumptions(experiment.settings)),
    }
    text
}

/// With fewer jobs than this a percentile of waits is one or two jobs.
const FEW_JOBS: f64 = 100.0;

fn heading(experiment: &Experiment<'_>) -> String {
    let settings = experiment.settings;
    let (nodes, gpus) = match experiment.trace {
        Some(trace) => {
            let trace = trace.imported();
            (trace.nodes.len(), Dim::Gpu.value(1) * trace.capacity()[Dim::Gpu.index()] as f64)
        }
        None => (settings.nodes as usize, settings.gpus()),
    };
    let seeds = match experiment.seeds {
        [seed] => format!("seed {seed}"),
        [first, .., last] => format!("seeds {first} to {last}"),
        [] => String::new(),
    };
    let preset = if settings.preset.is_empty() { String::new() } else { format!(", preset {}", settings.preset) };
    // A scenario's own words are of its own cluster and jobs.
    let what = match experiment.trace {
        Some(_) if experiment.scenario != "trace" => {
            format!("A real trace, with the settings of {}{preset}", experiment.scenario)
        }
        Some(trace) if trace.recorded().is_some() => {
            "A real trace – the nodes of a real cluster and its jobs, when they came.".to_owned()
        }
        _ => format!("{}{preset} – {}", settings.title, settings.about),
    };
    let of_nodes = if nodes == 1 { "node" } else { "nodes" };
    let few = if experiment.expected_jobs < FEW_JOBS {
        format!(
            "Only about {:.0} jobs arrive in the measured hours of a run: measures of jobs are mostly luck, or empty (–).\n",
            experiment.expected_jobs
        )
    } else {
        String::new()
    };
    let sampled = sampled(settings.scheduler.sample, nodes);
    let load = match experiment.trace.and_then(Trace::recorded) {
        Some(recorded) => format!(
            "{} jobs as recorded in {:.1} h, which offer a load of {:.4}",
            recorded.jobs,
            recorded.length.as_hours(),
            recorded.load
        ),
        None => format!("load {}", settings.load),
    };
    format!(
        "{what}\n{load}, {nodes} {of_nodes}, {gpus} GPUs, {} h of which the first {} h are not measured, {seeds}\n{sampled}{few}",
        settings.hours, settings.warm_up_hours
    )
}

/// That schedulers did not see all there was, where it is so.
fn sampled(sample: u32, nodes: usize) -> String {
    if sample == 0 || sample as usize >= nodes {
        return String::new();
    }
    format!(
        "Sampled: a decision scores the first {sample} feasible nodes it comes to, of {nodes}, and goes on from there the \
         next time. docs/performance.md says what is lost; scheduler.sample=0 scores all.\n"
    )
}

fn headings(columns: &[Column]) -> [Vec<String>; 2] {
    let names = columns.iter().map(|(_, name, _, _, _, better)| format!("{name} {better}").trim().to_owned());
    let units = columns.iter().map(|(_, _, unit, ..)| (*unit).to_owned());
    let first = |text: &str| core::iter::once(text.to_owned()).collect::<Vec<_>>().into_iter();
    [first("scheduler").chain(names).collect(), first("").chain(units).collect()]
}

fn means(summary: &[Summary], columns: &[Column]) -> String {
    let mut table = Table::default();
    for heading in headings(columns) {
        table.row(heading);
    }
    for line in summary {
        let cells = columns.iter().map(|column| cell(line.metrics.get(column.0), column, false));
        table.row(core::iter::once(line.scheduler.clone()).chain(cells));
    }
    table.text()
}

fn differences(paired: &[Paired], columns: &[Column]) -> String {
    let mut table = Table::default();
    for heading in headings(columns) {
        table.row(heading);
    }
    for line in paired {
        let cells = columns.iter().map(|column| cell(line.metrics.get(column.0), column, true));
        table.row(core::iter::once(line.scheduler.clone()).chain(cells));
    }
    table.text()
}

/// `12.3 ± 0.4`, or for a difference `+12.3 ± 0.4*`.
fn cell(estimate: Estimate, column: &Column, is_difference: bool) -> String {
    let (_, _, _, factor, decimals, _) = *column;
    let Some(mean) = estimate.mean else { return "–".to_owned() };
    let mean = if is_difference {
        format!("{:+.decimals$}", mean * factor)
    } else {
        format!("{:.decimals$}", mean * factor)
    };
    let interval = estimate.ci95.map_or_else(String::new, |ci95| format!(" ± {:.decimals$}", ci95 * factor));
    // A blank where there is no mark keeps the numbers aligned.
    let mark = match (is_difference, estimate.excludes_zero()) {
        (false, _) => "",
        (true, true) => "*",
        (true, false) => " ",
    };
    format!("{mean}{interval}{mark}")
}

/// Columns of the two tables of uses: the whole, then its parts.
const USES: [&str; 7] = ["bill", "productive", "stalled", "redone", "stranded", "held", "spare"];

/// The cells of a row below [`USES`]: means over bills or ledgers, each its total and its uses.
fn mean_uses(each: &[(f64, Uses)]) -> [f64; USES.len()] {
    let mean = |part: fn(&(f64, Uses)) -> f64| each.iter().map(part).sum::<f64>() / each.len() as f64;
    [
        mean(|(total, _)| *total),
        mean(|(_, uses)| uses.productive),
        mean(|(_, uses)| uses.stalled),
        mean(|(_, uses)| uses.redone),
        mean(|(_, uses)| uses.stranded),
        mean(|(_, uses)| uses.held),
        mean(|(_, uses)| uses.spare),
    ]
}

fn ledger(experiment: &Experiment<'_>) -> String {
    let mut table = Table::default();
    table.row(core::iter::once("scheduler").chain(USES));
    for line in &experiment.summary {
        let runs = experiment.runs.iter().filter(|run| run.scheduler == line.scheduler);
        let ledgers: Vec<_> =
            runs.map(|run| &run.metrics.ledger).map(|ledger| (ledger.capacity, ledger.uses)).collect();
        let cells = mean_uses(&ledgers).map(|hours| format!("{hours:.1}"));
        table.row(core::iter::once(line.scheduler.clone()).chain(cells));
    }
    let differences = experiment.runs.iter().map(|run| run.metrics.ledger.difference.unsigned_abs());
    let largest = differences.max().unwrap_or(0);
    format!(
        "\nWhere every GPU-hour went (GPU-h, mean over seeds)\n{}The parts sum to the bill: difference {largest}\n",
        table.text()
    )
}

fn bill(experiment: &Experiment<'_>) -> String {
    let hours = experiment.settings.hours - experiment.settings.warm_up_hours;
    let mut table = Table::default();
    table.row(core::iter::once("scheduler").chain(USES).chain(["wasted an hour"]));
    for line in &experiment.summary {
        let runs = experiment.runs.iter().filter(|run| run.scheduler == line.scheduler);
        let bills: Vec<_> = runs
            .map(|run| economics::bill(&run.metrics.ledger, experiment.prices))
            .map(|bill| (bill.total, bill.uses))
            .collect();
        let means = mean_uses(&bills);
        let [_, _, stalled, _, stranded, ..] = means;
        let cells = means.map(dollars).into_iter().chain([dollars((stranded + stalled) / hours)]);
        table.row(core::iter::once(line.scheduler.clone()).chain(cells));
    }
    format!(
        "\nWhere the money went ({} $ a GPU-hour, {hours} h, mean over seeds)\n{}Wasted: stranded or stalled, as F_lost.\n",
        experiment.prices.gpu_hour,
        table.text()
    )
}

/// `$1,234.56`.
fn dollars(amount: f64) -> String {
    let text = format!("{amount:.2}");
    let (whole, cents) = text.split_once('.').unwrap_or((&text, "00"));
    let mut grouped = String::new();
    for (position, digit) in whole.chars().enumerate() {
        if position > 0 && (whole.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("${grouped}.{cents}")
}

const NOTES: &str = "
How to read this
  a ± b: mean over the seeds and half of its 95 % t-interval. ↓ lower is better, ↑ higher is better.
  F_shape: how uneven what is left on a node is; 0 when every dimension is left in equal part. An empty cluster has 0.
  F_lost: GPUs bought and of no use: stranded (free where the typical task does not fit) or stalled (starved of data).
  Waits leave out jobs that still wait at the end: read them together with pending.
";

fn assumptions(scenario: &Scenario) -> String {
    let mut text = String::from("\nAssumed\n");
    let mut line = |words: String| text.push_str(&format!("  {words}\n"));
    line("Synthetic jobs of the shared model (scenarios/model.toml says where each number is from).".to_owned());
    line("A GPU is a GPU: node types differ in size, not in speed. Demands are declared exactly.".to_owned());
    line("Storage has no queueing delay below saturation. Nothing is migrated or preempted.".to_owned());
    text.push_str(&storage_assumptions(scenario));
    text.push_str("  `--json` has every setting.\n");
    text
}

/// What is assumed of storage beside its size.
fn storage_assumptions(scenario: &Scenario) -> String {
    let mut text = String::new();
    let mut line = |words: String| text.push_str(&format!("  {words}\n"));
    let rebuilds = &scenario.rebuilds;
    if rebuilds.degraded_share > 0.0 {
        line(format!(
            "{:.0} % of nodes are rebuilding at any time, {} h each on average, with {:.0} to {:.0} % of their storage \
             bandwidth: far above real failure rates, on purpose.",
            rebuilds.degraded_share * 100.0,
            rebuilds.mean_hours,
            rebuilds.factor_min * 100.0,
            rebuilds.factor_max * 100.0
        ));
    }
    if scenario.telemetry.interval_seconds == 0.0 {
        line("Schedulers that look at storage know its true state at once.".to_owned());
    } else {
        let telemetry = &scenario.telemetry;
        line(format!(
            "Schedulers that look at storage read its state every {} s, with errors of σ {} (of ln).",
            telemetry.interval_seconds, telemetry.noise
        ));
    }
    text
}
