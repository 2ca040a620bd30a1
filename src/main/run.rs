//! `residua run`: the same jobs under several schedulers.

use std::path::Path;

use residua::compare::{self, Run};
use residua::economics::Prices;
use residua::scenario::{Issue, Issues, Scenario, TRACE, find, unknown_scheduler};
use residua::schedulers;
use residua::workload::openb::Imported;

use crate::check::read;
use crate::options::RunOptions;
use crate::output::Failure;
use crate::report::{self, Experiment};
use crate::threads::{Progress, available, in_order};
use crate::trace;

/// Progress is told so many times a run.
const SLICES: u64 = 50;

/// No GPU costs more an hour, in dollars.
const MOST_PRICE: f64 = 1000.0;

/// Below so many jobs in all, everything is done in a few seconds.
const LONG: f64 = 300_000.0;

/// Runs what was asked for and reports it.
pub fn run(options: &RunOptions) -> Result<String, Failure> {
    let (name, scenario, ids) = settle(options)?;
    let trace = trace::import(&options.trace)?;
    let seeds: Vec<u64> = options.seed.map_or_else(|| (1..=options.seeds).collect(), |seed| vec![seed]);

    // Whatever is wrong is said before hours of running.
    let mut issues = Vec::new();
    for id in &ids {
        if let Err(found) = setup(&scenario, trace.as_ref(), id, seeds[0]) {
            issues.extend(found.0);
        }
    }
    issues.dedup();
    if !issues.is_empty() {
        return Err(Issues(issues).into());
    }

    let items: Vec<(&str, u64)> = ids.iter().flat_map(|id| seeds.iter().map(|seed| (id.as_str(), *seed))).collect();
    let jobs = trace
        .as_ref()
        .map_or_else(|| scenario.expected_jobs(), |trace| trace.rate_for_load(scenario.load) * scenario.hours);
    let progress = Progress::new(items.len() as u64 * SLICES, jobs * items.len() as f64 > LONG);
    let threads = options.threads.map_or_else(available, usize::from);
    let outcomes = in_order(items.len(), threads, |position| -> Result<Run, Failure> {
        let (id, seed) = items[position];
        let setup = setup(&scenario, trace.as_ref(), id, seed)?;
        Ok(compare::simulate(setup, SLICES, || progress.step())?)
    });
    let runs = outcomes.into_iter().collect::<Result<Vec<Run>, Failure>>()?;

    let experiment = Experiment {
        scenario: &name,
        settings: &scenario,
        seeds: &seeds,
        summary: compare::summarise(&runs),
        paired: compare::paired(&runs),
        runs: &runs,
        prices: Prices { gpu_hour: options.price },
        trace: trace.as_ref(),
    };
    if options.json { report::json(&experiment) } else { Ok(report::text(&experiment)) }
}

fn setup(
    scenario: &Scenario,
    trace: Option<&Imported>,
    id: &str,
    seed: u64,
) -> Result<residua::engine::setup::Setup, Issues> {
    match trace {
        Some(trace) => scenario.trace_setup(trace, id, seed),
        None => scenario.setup(id, seed),
    }
}

/// What the options name: the scenario's name, the scenario, and the schedulers' ids. All that is wrong at once.
fn settle(options: &RunOptions) -> Result<(String, Scenario, Vec<String>), Failure> {
    let mut issues = Vec::new();
    let overrides = overrides(options, &mut issues);
    let (name, outcome) = match &options.scenario {
        Some(name) if options.trace.trace_nodes.is_some() => named(name, &overrides, Scenario::for_trace),
        Some(name) => named(name, &overrides, Scenario::parse),
        None => ("trace".to_owned(), Scenario::for_trace(TRACE, &overrides)),
    };
    // NaN is in no range.
    if !(0.0..=MOST_PRICE).contains(&options.price) {
        issues.push(Issue {
            path: "--price".to_owned(),
            value: options.price.to_string(),
            allowed: format!("0 to {MOST_PRICE} (USD per GPU-hour)"),
            remedy: "Choose a value in this range".to_owned(),
        });
    }
    let scenario = outcome.map_err(|found| issues.extend(found.0)).ok();

    let mut ids: Vec<String> = Vec::new();
    for id in &options.schedulers {
        match (id.as_str(), schedulers::find(id)) {
            ("all", _) => ids.extend(schedulers::entries().map(|entry| entry.id())),
            (_, Some(entry)) => ids.push(entry.id()),
            (_, None) => issues.push(unknown_scheduler(id)),
        }
    }
    let mut seen = Vec::new();
    ids.retain(|id| {
        !seen.contains(id) && {
            seen.push(id.clone());
            true
        }
    });
    match scenario {
        Some(scenario) if issues.is_empty() => Ok((name, scenario, ids)),
        _ => Err(Issues(issues).into()),
    }
}

/// How a scenario is read: for its own cluster, or for a trace.
type Parse = fn(&str, &[(String, String)]) -> Result<Scenario, Issues>;

/// The scenario of that name: one that comes with the program, or a file.
fn named(name: &str, overrides: &[(String, String)], parse: Parse) -> (String, Result<Scenario, Issues>) {
    let is_path = name.contains(['/', '\\']) || name.ends_with(".toml");
    match find(name).filter(|_| !is_path) {
        Some(preset) => (preset.id.to_owned(), parse(preset.text, overrides)),
        None if is_path || Path::new(name).exists() => {
            let outcome = read(Path::new(name)).map_err(Issues::from);
            (name.to_owned(), outcome.and_then(|text| parse(&text, overrides)))
        }
        // Says which names there are.
        None => (
            name.to_owned(),
            Scenario::preset(name, overrides).map_err(|mut unknown| {
                // Without its file a preset cannot be judged, but every other setting can.
                let settings: Vec<_> = overrides.iter().filter(|(key, _)| key != "preset").cloned().collect();
                if let Err(found) = parse("", &settings) {
                    unknown.0.extend(found.0);
                }
                unknown
            }),
        ),
    }
}

/// Every option that sets a key, in the order in which the later wins.
fn overrides(options: &RunOptions, issues: &mut Vec<Issue>) -> Vec<(String, String)> {
    let shorts = [
        ("preset", &options.preset),
        ("load", &options.load),
        ("hours", &options.hours),
        ("warm_up_hours", &options.warm_up_hours),
    ];
    let mut overrides: Vec<(String, String)> = shorts
        .into_iter()
        .filter_map(|(key, value)| value.as_ref().map(|value| (key.to_owned(), value.clone())))
        .collect();
    for text in &options.set {
        match text.split_once('=') {
            Some((key, value)) => overrides.push((key.trim().to_owned(), value.to_owned())),
            None => issues.push(Issue {
                path: "--set".to_owned(),
                value: text.clone(),
                allowed: "KEY=VALUE".to_owned(),
                remedy: "Write e.g. --set load=0.85".to_owned(),
            }),
        }
    }
    overrides
}
