//! A recorded cluster and its jobs in place of a scenario's own.
//!
//! What the trace says of nodes and jobs replaces the scenario's; everything else – rebuilds, queueing, telemetry,
//! the length of the run – stays the scenario's.

use crate::engine::setup::Setup;
use crate::resources::Dim;
use crate::scenario::{Issue, Scenario};
use crate::stage::session::TraceFiles;
use crate::workload::Source;
use crate::workload::openb::{self, Imported, Options, Refused};

/// Most findings that are passed on one by one.
const MOST_FINDINGS: usize = 50;

/// The run of `files` under one scheduler of the roster with the settings of `scenario`.
///
/// # Errors
/// Everything that is wrong with the files, or an unknown scheduler.
pub fn setup(scenario: &Scenario, files: &TraceFiles, scheduler: &str, seed: u64) -> Result<Setup, Vec<Issue>> {
    let options = Options { on_fault: files.on_fault, assume: files.assume, cap: Some(Options::DEFAULT_CAP) };
    let nodes = (files.nodes_name.as_str(), files.nodes_csv.as_str());
    let pods = (files.pods_name.as_str(), files.pods_csv.as_str());
    let imported = openb::import(nodes, pods, &options).map_err(|refused| issues(&refused))?;
    setup_of(scenario, &imported, files.load, scheduler, seed)
}

/// The same of files already read: jobs are drawn from them at the rate that offers `load` × the GPUs of the cluster.
///
/// # Errors
/// An unknown scheduler, or a load that cannot be offered.
pub fn setup_of(
    scenario: &Scenario,
    imported: &Imported,
    load: f64,
    scheduler: &str,
    seed: u64,
) -> Result<Setup, Vec<Issue>> {
    let mut issues = Vec::new();
    if !(load > 0.0 && load <= 2.0) {
        issues.push(Issue::new("load", load.to_string(), "above 0, up to 2", "Choose a value in this range"));
    }
    let base = scenario.setup(scheduler, seed).map_err(|more| issues.extend(more.0));
    let (Ok(base), true) = (base, issues.is_empty()) else { return Err(issues) };
    let exists = imported.exists;
    let mut choice = base.scheduler;
    choice.fit_dims = choice.fit_dims.and(exists);
    choice.score_dims = choice.score_dims.and(exists);
    Ok(Setup {
        node_types: imported.node_types.clone(),
        nodes: imported.nodes.clone(),
        exists,
        classes: imported.classes.clone(),
        source: Source::Bootstrap(Box::new(imported.generator(load, seed))),
        // Without storage there is nothing to rebuild.
        rebuilds: base.rebuilds.filter(|_| exists.has(Dim::Sto)),
        scheduler: choice,
        ..base
    })
}

/// What was found in the files, as problems of a request.
fn issues(refused: &Refused) -> Vec<Issue> {
    let mut issues: Vec<Issue> = refused
        .findings
        .iter()
        .filter(|finding| finding.kind.severity() != openb::Severity::Note)
        .take(MOST_FINDINGS)
        .map(|finding| {
            let column =
                if finding.column.is_empty() { String::new() } else { format!(", column {}", finding.column) };
            let remedy = format!("{}: {}", finding.kind.title(), finding.reason);
            Issue::new(format!("{}, row {}{column}", finding.file, finding.row), &finding.value, "", remedy)
        })
        .collect();
    let all: usize = refused
        .counts
        .iter()
        .filter(|count| count.kind.severity() != openb::Severity::Note)
        .map(|count| count.count)
        .sum();
    if all > issues.len() {
        issues.push(Issue::new("", "", "", format!("{} more rows have problems", all - issues.len())));
    }
    issues
}
