//! The tables of an independent prototype of the model, reproduced: means over 20 seeds.
//!
//! A mean agrees when it lies within twice the printed half-interval, and half a unit of the last printed digit.
//! `RESIDUA_REPORT=FILE cargo test published` writes ours beside theirs.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use residua::engine::Simulation;
use residua::probes::Metrics;
use residua::scenario::Scenario;

const SEEDS: u64 = 20;

struct Expected {
    metric: String,
    mean: f64,
    half: f64,
    unit: f64,
}

impl Expected {
    fn agrees_with(&self, mean: f64) -> bool {
        (mean - self.mean).abs() <= 2.0 * self.half + self.unit / 2.0
    }

    /// Digits after the point that were printed.
    fn digits(&self) -> usize {
        let units = [1.0, 0.1, 0.01, 0.001, 1e-4, 1e-5];
        units.iter().position(|unit| self.unit >= 0.5 * unit).unwrap_or(units.len())
    }
}

/// What is expected of one scheduler on one scenario at one load.
type Table = BTreeMap<(String, String, String), Vec<Expected>>;

fn tables() -> Table {
    let text = include_str!("../golden/model-tables.csv");
    let mut tables = Table::new();
    for line in text.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells[at].parse::<f64>().expect("a number");
        let key = (cells[0].to_owned(), cells[1].to_owned(), cells[2].to_owned());
        let (mean, half, unit) = (number(4), number(5), number(6));
        let expected = Expected { metric: cells[3].to_owned(), mean, half, unit };
        tables.entry(key).or_default().push(expected);
    }
    tables
}

fn run(scenario: &str, load: &str, scheduler: &str, seed: u64) -> Metrics {
    let set = [("load".to_owned(), load.to_owned())];
    let scenario = Scenario::preset(scenario, &set).expect("a good scenario");
    let setup = scenario.setup(scheduler, seed).expect("a known scheduler");
    let mut simulation = Simulation::new(setup).expect("a good setup");
    simulation.run_to_end();
    assert_eq!(simulation.fault(), None);
    simulation.metrics()
}

/// Runs every (row, seed) on all cores; returns each row's runs.
fn run_all(rows: &[&(String, String, String)]) -> Vec<Vec<Metrics>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(vec![Vec::new(); rows.len()]);
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let item = next.fetch_add(1, Ordering::Relaxed);
                    let (row, seed) = (item / SEEDS as usize, item as u64 % SEEDS + 1);
                    let Some((scenario, load, scheduler)) = rows.get(row) else { break };
                    let metrics = run(scenario, load, scheduler, seed);
                    done.lock().expect("no run panicked")[row].push(metrics);
                }
            });
        }
    });
    done.into_inner().expect("no run panicked")
}

#[test]
fn the_tables_of_the_model_are_reproduced() {
    let report_file = std::env::var_os("RESIDUA_REPORT");
    let mut tables = tables();
    assert_eq!(tables.len(), 4 * 12 + 2 * 7, "the tables are complete");
    if report_file.is_none() {
        // The two without an idea of their own are left to the report: a sixth of the time.
        tables.retain(|(_, _, scheduler), _| !scheduler.starts_with("first-fit") && !scheduler.starts_with("random"));
    }
    let rows: Vec<_> = tables.keys().collect();
    let runs = run_all(&rows);
    let mut deviations = Vec::new();
    let mut report = String::new();
    let mut last = None;
    for ((key, expected), runs) in tables.iter().zip(&runs) {
        let (scenario, load, scheduler) = key;
        if last != Some((scenario, load)) {
            let names: Vec<&str> = expected.iter().map(|expected| expected.metric.as_str()).collect();
            report += &format!("\n### {scenario}, load {load}\n\n| scheduler | {} |\n", names.join(" | "));
            report += &format!("|---|{}\n", "---|".repeat(names.len()));
            last = Some((scenario, load));
        }
        report += &format!("| {scheduler} |");
        for expected in expected {
            let value = |metrics: &Metrics| {
                let named = metrics.named();
                named.iter().find(|(name, _)| *name == expected.metric).and_then(|(_, value)| *value)
            };
            let mean = runs.iter().filter_map(value).sum::<f64>() / runs.len() as f64;
            let Expected { metric, mean: printed, half, .. } = expected;
            let digits = expected.digits();
            report += &format!(" {mean:.digits$} ({printed:.digits$} ± {half:.digits$}) |");
            if !expected.agrees_with(mean) {
                deviations.push(format!("{key:?} {metric}: {mean:.5}, expected {printed} ± 2 × {half}"));
            }
        }
        report += "\n";
        for metrics in runs {
            assert_eq!(metrics.ledger.difference, 0);
        }
    }
    if let Some(file) = report_file {
        std::fs::write(file, report).expect("the report can be written");
    }
    assert!(deviations.is_empty(), "{}", deviations.join("\n"));
}
