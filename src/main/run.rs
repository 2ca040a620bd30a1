//! `residua run`: the same jobs under several schedulers.

use std::path::Path;

use residua::compare::{self, Run};
use residua::economics::Prices;
use residua::scenario::{Issue, Issues, Scenario, TRACE, find, unknown_scheduler};
use residua::schedulers;
use residua::workload::openb::recorded::Recorded;

use crate::check::{MOST_SCENARIO_BYTES, read};
use crate::cost;
use crate::options::{ArrivalsOption, RunOptions};
use crate::output::{Failure, tell};
use crate::report::{self, Experiment};
use crate::threads::{Progress, available, in_order, used};
use crate::trace::{self, Trace};

/// So many seeds unless somebody says otherwise.
const SEEDS: u64 = 5;

/// Progress is told so many times a run.
const SLICES: u64 = 200;

/// No GPU costs more an hour, in dollars.
const MOST_PRICE: f64 = 1000.0;

/// Runs what was asked for and reports it.
pub fn run(options: &RunOptions) -> Result<String, Failure> {
    // Settings and files are both judged before giving up on either.
    let trace = trace::import(&options.trace, options.memory);
    let recorded = trace.as_ref().ok().and_then(|trace| trace.as_ref()?.recorded());
    let (Settled { name, mut scenario, ids, overrides }, trace) = match (settle(options, recorded), trace) {
        (Ok(settled), Ok(trace)) => (settled, trace),
        (Err(settings), Err(files)) => return Err(settings.and(files)),
        (Err(failure), _) | (_, Err(failure)) => return Err(failure),
    };
    let recorded = trace.as_ref().and_then(Trace::recorded);
    if let Some(recorded) = recorded {
        scenario.load = recorded.load;
        say_what_is_cut(recorded, &scenario);
    }
    let several = options.seeds.unwrap_or(if recorded.is_some() { 1 } else { SEEDS });
    let seeds: Vec<u64> = options.seed.map_or_else(|| (1..=several).collect(), |seed| vec![seed]);

    // Whatever is wrong is said before hours of running.
    let mut issues =
        trace.as_ref().map_or_else(Vec::new, |trace| scenario.silent_overrides(&overrides, trace.imported()));
    for id in &ids {
        if let Err(found) = setup(&scenario, trace.as_ref(), id, seeds[0]) {
            issues.extend(found.0);
        }
    }
    let mut seen = Vec::new();
    issues.retain(|issue| {
        let is_new = !seen.contains(issue);
        seen.push(issue.clone());
        is_new
    });

    let items: Vec<(&str, u64)> = ids.iter().flat_map(|id| seeds.iter().map(|seed| (id.as_str(), *seed))).collect();
    let (nodes, jobs) = match &trace {
        Some(trace) => (trace.imported().nodes.len(), trace.jobs(&scenario)),
        None => (scenario.nodes as usize, scenario.expected_jobs()),
    };
    let threads = used(items.len(), options.threads.map_or_else(available, usize::from));
    let memory = trace.as_ref().map_or_else(|| scenario.memory(), |trace| trace.memory(&scenario));
    issues.extend(cost::fits(memory, threads, options.memory).err());
    let seconds = cost::seconds_a_run(&scenario, nodes, jobs);
    let told = cost::announce(seconds, items.len(), threads.min(available()));
    let told = told.map_err(|issue| issues.push(issue)).ok().flatten();
    if !issues.is_empty() {
        return Err(Issues(issues).into());
    }
    if let Some(words) = told {
        tell(&words);
    }
    let progress = Progress::new(items.len() as u64 * SLICES);
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
        expected_jobs: jobs * (scenario.hours - scenario.warm_up_hours) / scenario.hours,
        // What the program's own file for traces says is written for every trace.
        ignored: match &trace {
            Some(trace) if options.scenario.is_some() => {
                let keys = scenario.given.iter().filter(|path| !report::has_say(path, Some(trace))).cloned();
                let dims = scenario.silent_dims(trace.imported().exists);
                keys.chain(dims.map(|(path, missing)| format!("{path}: {missing}"))).collect()
            }
            _ => Vec::new(),
        },
        trace: trace.as_ref(),
    };
    if options.json { report::json(&experiment) } else { Ok(report::text(&experiment)) }
}

fn setup(
    scenario: &Scenario,
    trace: Option<&Trace>,
    id: &str,
    seed: u64,
) -> Result<residua::engine::setup::Setup, Issues> {
    match trace {
        Some(trace) => trace.setup(scenario, id, seed),
        None => scenario.setup(id, seed),
    }
}

/// What the options name.
struct Settled {
    /// Name of the scenario.
    name: String,
    scenario: Scenario,
    /// Ids of the schedulers.
    ids: Vec<String>,
    /// Keys that the options set.
    overrides: Vec<(String, String)>,
}

/// What the options name; or all that is wrong with them. A recording, if its rows are right, says how long it is.
fn settle(options: &RunOptions, recorded: Option<&Recorded>) -> Result<Settled, Failure> {
    let mut issues = Vec::new();
    let mut overrides = overrides(options, &mut issues);
    if options.trace.arrivals == ArrivalsOption::Recorded {
        issues.extend(without_recording(options, &overrides));
        if let Some(recorded) = recorded.filter(|_| options.scenario.is_none()) {
            overrides.splice(0..0, whole(recorded));
        }
    }
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
    let written = options.schedulers.iter().map(|id| id.trim()).filter(|id| !id.is_empty());
    for id in written {
        match (id, schedulers::find(id)) {
            ("all", _) => ids.extend(schedulers::entries().map(|entry| entry.id())),
            (_, Some(entry)) => ids.push(entry.id()),
            (_, None) => {
                let issue = unknown_scheduler(id);
                let allowed = format!("all, {}", issue.allowed);
                issues.push(Issue { path: "--schedulers".to_owned(), allowed, ..issue });
            }
        }
    }
    if options.schedulers.iter().all(|id| id.trim().is_empty()) {
        issues.push(Issue {
            path: "--schedulers".to_owned(),
            value: String::new(),
            allowed: "all, or ids with commas between them".to_owned(),
            remedy: "Name one, or leave the option out; `residua list` has them".to_owned(),
        });
    }
    let mut seen = Vec::new();
    ids.retain(|id| {
        !seen.contains(id) && {
            seen.push(id.clone());
            true
        }
    });
    match scenario {
        Some(scenario) if issues.is_empty() => Ok(Settled { name, scenario, ids, overrides }),
        _ => Err(Issues(issues).into()),
    }
}

/// Longest run that a scenario allows, in hours.
const MOST_HOURS: f64 = 8760.0;

/// Settings by which a run is as long as the recording and all of it is measured.
fn whole(recorded: &Recorded) -> [(String, String); 2] {
    // Rounded up to what people like to read; a run of less than a tenth is no measurement.
    let hours = ((recorded.length.as_hours() * 1000.0).ceil() / 1000.0).clamp(0.1, MOST_HOURS);
    [("hours".to_owned(), hours.to_string()), ("warm_up_hours".to_owned(), "0".to_owned())]
}

/// Says on stderr if a run ends before the recording does.
fn say_what_is_cut(recorded: &Recorded, scenario: &Scenario) {
    let hours = recorded.length.as_hours();
    if scenario.hours < hours {
        tell(&format!("the recording is {hours:.1} h long; its first {} h are replayed", scenario.hours));
    }
}

/// Settings that a recording brings itself.
fn without_recording(options: &RunOptions, overrides: &[(String, String)]) -> Vec<Issue> {
    let issue = |path: &str, value: &str, remedy: &str| Issue {
        path: path.to_owned(),
        value: value.to_owned(),
        allowed: "nothing with --arrivals recorded".to_owned(),
        remedy: remedy.to_owned(),
    };
    let load = overrides.iter().filter(|(key, _)| key == "load").map(|(key, value)| {
        issue(key, value, "Leave it out: a recording brings its own load. To choose one: --arrivals bootstrap")
    });
    let cap = options.trace.cap_hours.map(|hours| {
        let remedy = "Leave it out: run times are replayed as recorded. To cut them: --arrivals bootstrap";
        issue("--cap-hours", &hours.to_string(), remedy)
    });
    load.chain(cap).collect()
}

/// How a scenario is read: for its own cluster, or for a trace.
type Parse = fn(&str, &[(String, String)]) -> Result<Scenario, Issues>;

/// The scenario of that name: one that comes with the program, or a file.
fn named(name: &str, overrides: &[(String, String)], parse: Parse) -> (String, Result<Scenario, Issues>) {
    let is_path = name.contains(['/', '\\']) || name.ends_with(".toml");
    match find(name).filter(|_| !is_path) {
        Some(preset) => (preset.id.to_owned(), parse(preset.text, overrides)),
        None if is_path || Path::new(name).exists() => {
            let outcome = read(Path::new(name), MOST_SCENARIO_BYTES).map_err(Issues::from);
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
            Some((key, value)) if !key.trim().is_empty() => overrides.push((key.trim().to_owned(), value.to_owned())),
            _ => issues.push(Issue {
                path: "--set".to_owned(),
                value: text.clone(),
                allowed: "KEY=VALUE".to_owned(),
                remedy: "Write e.g. --set load=0.85".to_owned(),
            }),
        }
    }
    overrides
}
