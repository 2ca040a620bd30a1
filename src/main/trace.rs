//! A real trace on the command line: reading its files, and saying what was found and assumed.

use residua::resources::Dim;
use residua::units::Span;
use residua::workload::openb::{self, Assumption, Finding, Imported, OnFault, Options};
use serde::Serialize;

use crate::check::read;
use crate::options::{self, Switch, TraceOptions};
use crate::output::Failure;

/// Most bytes of a file of a trace: the published ones have less than two million.
const MOST_TRACE_BYTES: u64 = 512 << 20;

/// The trace that the options name, if they name one.
pub fn import(options: &TraceOptions) -> Result<Option<Imported>, Failure> {
    let (Some(nodes), Some(pods)) = (&options.trace_nodes, &options.trace_pods) else { return Ok(None) };
    let cap = options.cap_hours;
    if !(cap == 0.0 || (0.01..=100_000.0).contains(&cap)) {
        return Err(Failure::Input(format!(
            "--cap-hours = {cap} – allowed: 0.01 to 100000 (h), or 0 to keep run times as they are"
        )));
    }
    let settings = Options {
        on_fault: match options.on_fault {
            options::OnFault::Stop => OnFault::Stop,
            options::OnFault::Drop => OnFault::Drop,
        },
        assume: options.assume == Switch::On,
        cap: (cap > 0.0).then(|| Span::from_hours_f64(cap)),
    };
    let unreadable = |issue: residua::scenario::Issue| Failure::Input(issue.to_string());
    // Both files are tried before giving up on either.
    let (nodes_text, pods_text) = match (read(nodes, MOST_TRACE_BYTES), read(pods, MOST_TRACE_BYTES)) {
        (Ok(nodes), Ok(pods)) => (nodes, pods),
        (Err(a), Err(b)) => return Err(Failure::Input(format!("{a}\n{b}"))),
        (Err(issue), _) | (_, Err(issue)) => return Err(unreadable(issue)),
    };
    let name = |path: &std::path::Path| {
        path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
    };
    openb::import((&name(nodes), &nodes_text), (&name(pods), &pods_text), &settings).map(Some).map_err(|refused| {
        let mut text = refused.to_string();
        if refused.can_drop() {
            text.push_str("\nTo run without these rows: --on-fault drop");
        }
        Failure::Input(text)
    })
}

/// A trace in `--json`.
#[derive(Serialize)]
pub struct TraceJson<'a> {
    nodes: usize,
    gpus: f64,
    samples: usize,
    files: [&'a openb::FileReport; 2],
    faults: &'a [Finding],
    notes: &'a [Finding],
    counts: &'a [openb::Count],
    assumed: &'a [Assumption],
    /// Keys of the scenario file that have no say here.
    ignored: &'a [String],
}

impl<'a> TraceJson<'a> {
    /// What `--json` says of a trace.
    pub fn new(trace: &'a Imported, ignored: &'a [String]) -> Self {
        Self {
            nodes: trace.nodes.len(),
            gpus: Dim::Gpu.value(1) * trace.capacity()[Dim::Gpu.index()] as f64,
            samples: trace.samples.len(),
            files: [&trace.report.nodes, &trace.report.pods],
            faults: &trace.report.faults,
            notes: &trace.report.notes,
            counts: &trace.report.counts,
            assumed: &trace.assumptions,
            ignored,
        }
    }
}

/// What people should know of a trace.
pub fn text(trace: &Imported, ignored: &[String]) -> String {
    let report = &trace.report;
    let mut text = String::from("\nTrace\n");
    for file in [&report.nodes, &report.pods] {
        text.push_str(&format!("  {}: {} of {} rows used\n", file.name, file.used, file.rows));
    }
    for count in &report.counts {
        text.push_str(&format!("  {} × {}\n", count.count, count.kind.title()));
    }
    // Every fault is a row that was left out: however many there are, each is named.
    for fault in &report.faults {
        text.push_str(&format!("  left out: {fault}\n"));
    }
    if !ignored.is_empty() {
        text.push_str(&format!("  without a say here, though the scenario sets them: {}\n", ignored.join(", ")));
    }
    text.push_str("\nAssumed, because the trace does not say it\n");
    for assumption in &trace.assumptions {
        text.push_str(&format!("  {}: {} ({})\n", assumption.what, assumption.value, assumption.reason));
    }
    text
}
