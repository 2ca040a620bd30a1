//! A recorded cluster and its jobs in place of a scenario's own: the experiment that `residua run --trace-nodes …
//! --trace-pods …` makes of the same files and settings.

use crate::engine::setup::Setup;
use crate::scenario::{Issue, Scenario, TRACE};
use crate::stage::session::{self, RunRequest, TraceFiles};
use crate::workload::openb::{self, Options, Refused};

/// The run on `files` that is asked for.
///
/// # Errors
/// Everything that is wrong with settings and files.
pub fn setup(request: &RunRequest, files: &TraceFiles) -> Result<Setup, Vec<Issue>> {
    let RunRequest { set, scheduler, seed, lanes, .. } = request;
    let scenario = Scenario::for_trace(TRACE, set);
    let options = Options { on_fault: files.on_fault, assume: files.assume, cap: Some(Options::DEFAULT_CAP) };
    let nodes = (files.nodes_name.as_str(), &*files.nodes_csv);
    let pods = (files.pods_name.as_str(), &*files.pods_csv);
    let imported = openb::import(nodes, pods, &options);
    match (scenario, imported) {
        (Ok(scenario), Ok(imported)) => {
            let mut all = scenario.silent_overrides(set, &imported);
            let size = (imported.classes.len(), scenario.hours);
            all.extend(session::too_much(scenario.memory_on(&imported), *lanes, size, false));
            match scenario.trace_setup(&imported, scheduler, *seed) {
                Ok(setup) if all.is_empty() => Ok(setup),
                outcome => {
                    all.extend(outcome.err().map_or_else(Vec::new, |issues| issues.0));
                    Err(all)
                }
            }
        }
        (scenario, imported) => {
            let mut all = scenario.err().map_or_else(Vec::new, |issues| issues.0);
            all.extend(imported.err().iter().flat_map(issues));
            Err(all)
        }
    }
}

/// What was found in the files, as problems of a request: all of it but notes.
fn issues(refused: &Refused) -> Vec<Issue> {
    refused
        .findings
        .iter()
        .filter(|finding| finding.kind.severity() != openb::Severity::Note)
        .map(|finding| {
            // As compilers write places: it reads the same in every language.
            let column = if finding.column.is_empty() { String::new() } else { format!(":{}", finding.column) };
            Issue::new(format!("{}:{}{column}", finding.file, finding.row), &finding.value, "", &finding.reason)
        })
        .collect()
}
