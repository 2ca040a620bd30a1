//! A real trace on the command line: reading its files, and saying what was found and assumed.

use std::io::BufReader;
use std::path::Path;

use residua::engine::setup::Setup;
use residua::resources::Dim;
use residua::scenario::{Issue, Issues, Memory, Scenario};
use residua::units::Span;
use residua::workload::openb::recorded::{self, Opener, Recorded, Trouble};
use residua::workload::openb::{self, Arrivals, Assumption, Finding, Imported, OnFault, Options, Refused};
use serde::Serialize;

use crate::check::{inspect, read};
use crate::options::{self, ArrivalsOption, Switch, TraceOptions};
use crate::output::Failure;
use crate::threads::Counter;

/// Most bytes of a file of a trace: the published ones have less than two million.
const MOST_TRACE_BYTES: u64 = 512 << 20;

/// A trace whose jobs are drawn from it or replayed.
pub enum Trace {
    /// Drawn at a wanted load.
    Drawn(Imported),
    /// Replayed as recorded.
    Recorded(Recorded),
}

impl Trace {
    /// The cluster, and what was found and assumed.
    pub fn imported(&self) -> &Imported {
        match self {
            Self::Drawn(imported) => imported,
            Self::Recorded(recorded) => &recorded.trace,
        }
    }

    /// The recording, if it is one.
    pub fn recorded(&self) -> Option<&Recorded> {
        match self {
            Self::Drawn(_) => None,
            Self::Recorded(recorded) => Some(recorded),
        }
    }

    /// Jobs that come in a run of that scenario, on average.
    pub fn jobs(&self, scenario: &Scenario) -> f64 {
        match self {
            Self::Drawn(imported) => imported.rate_for_load(scenario.load) * scenario.hours,
            Self::Recorded(recorded) => {
                recorded.jobs as f64 * (scenario.hours / recorded.length.as_hours().max(f64::MIN_POSITIVE)).min(1.0)
            }
        }
    }

    /// What a run of that scenario takes.
    pub fn memory(&self, scenario: &Scenario) -> Memory {
        match self {
            Self::Drawn(imported) => scenario.memory_on(imported),
            Self::Recorded(recorded) => scenario.memory_of(recorded),
        }
    }

    /// A run on it.
    pub fn setup(&self, scenario: &Scenario, scheduler: &str, seed: u64) -> Result<Setup, Issues> {
        match self {
            Self::Drawn(imported) => scenario.trace_setup(imported, scheduler, seed),
            Self::Recorded(recorded) => scenario.recorded_setup(recorded, scheduler, seed),
        }
    }
}

/// The trace that the options name, if they name one. A list that jobs are drawn from is held as a whole, in at most so
/// many megabytes.
pub fn import(options: &TraceOptions, memory: u64) -> Result<Option<Trace>, Failure> {
    let (Some(nodes), Some(pods)) = (&options.trace_nodes, &options.trace_pods) else { return Ok(None) };
    let mut issues = Vec::new();
    let mut cap = options.cap_hours.unwrap_or(Options::DEFAULT_CAP.as_hours());
    // Recorded run times are never cut; that the option has no say there is for the caller to tell.
    if options.arrivals == ArrivalsOption::Bootstrap && !(cap == 0.0 || (0.01..=100_000.0).contains(&cap)) {
        issues.push(Issue {
            path: "--cap-hours".to_owned(),
            value: cap.to_string(),
            allowed: "0.01 to 100000 (h), or 0 to keep run times as they are".to_owned(),
            remedy: "Choose one of these, or leave it out".to_owned(),
        });
        cap = 0.0;
    }
    let settings = Options {
        on_fault: match options.on_fault {
            options::OnFault::Stop => OnFault::Stop,
            options::OnFault::Drop => OnFault::Drop,
        },
        assume: options.assume == Switch::On,
        cap: (cap > 0.0).then(|| Span::from_hours_f64(cap)),
    };
    let outcome = match options.arrivals {
        ArrivalsOption::Bootstrap => {
            drawn(nodes, pods, &settings, memory, &mut issues).map(|imported| imported.map(Trace::Drawn))
        }
        ArrivalsOption::Recorded => {
            recorded(nodes, pods, &settings, memory, &mut issues).map(|recorded| recorded.map(Trace::Recorded))
        }
    };
    match outcome {
        Ok(trace) if issues.is_empty() => Ok(trace),
        Ok(_) => Err(Issues(issues).into()),
        Err(found) if issues.is_empty() => Err(found),
        Err(found) => Err(Failure::from(Issues(issues)).and(found)),
    }
}

/// Bytes that a list takes while it is imported, for each byte of its file; measured with a million pods: 17.
const HELD_A_BYTE: u64 = 20;

/// Megabytes that a list of so many bytes takes while it is imported.
fn held(bytes: u64) -> u64 {
    bytes.saturating_mul(HELD_A_BYTE) / 1_000_000
}

/// Nothing if a file cannot be read, which then is one of `issues`; so is a list that does not fit into memory.
fn drawn(
    nodes: &Path,
    pods: &Path,
    settings: &Options,
    memory: u64,
    issues: &mut Vec<Issue>,
) -> Result<Option<Imported>, Failure> {
    let nodes_text = kept(read(nodes, MOST_TRACE_BYTES), issues);
    let needed = kept(inspect(pods, MOST_TRACE_BYTES), issues).map(held);
    if let Some(needed) = needed.filter(|needed| *needed > memory) {
        issues.push(Issue {
            path: "--memory".to_owned(),
            value: format!("{memory} MB"),
            allowed: format!("at least {needed} MB: jobs are drawn from all rows of {}, which are held", name(pods)),
            remedy: "Raise it if the machine has so much, shorten the list, or replay it row by row: --arrivals \
                     recorded"
                .to_owned(),
        });
    }
    let fits = needed.filter(|needed| *needed <= memory);
    let pods_text = fits.and_then(|_| kept(read(pods, MOST_TRACE_BYTES), issues));
    match (&nodes_text, &pods_text) {
        (Some(nodes_text), Some(pods_text)) => {
            openb::import((&name(nodes), nodes_text), (&name(pods), pods_text), settings).map(Some).map_err(refused)
        }
        _ => examined((nodes, nodes_text.as_deref()), (pods, pods_text.as_deref()), settings).map(|()| None),
    }
}

/// Nothing if a file cannot be read, which then is one of `issues`.
fn recorded(
    nodes: &Path,
    pods: &Path,
    settings: &Options,
    memory: u64,
    issues: &mut Vec<Issue>,
) -> Result<Option<Recorded>, Failure> {
    let nodes_text = kept(read(nodes, MOST_TRACE_BYTES), issues);
    let bytes = kept(inspect(pods, u64::MAX), issues);
    let (Some(nodes_text), Some(_)) = (&nodes_text, bytes) else {
        // A recording is checked row by row beside its nodes; without them, as a whole where it can be held.
        let fits = bytes.filter(|bytes| *bytes <= MOST_TRACE_BYTES && held(*bytes) <= memory);
        let pods_text = fits.and_then(|_| kept(read(pods, MOST_TRACE_BYTES), issues));
        return examined((nodes, nodes_text.as_deref()), (pods, pods_text.as_deref()), settings).map(|()| None);
    };
    let path = pods.to_owned();
    let opener = Opener::new(move || {
        let file = std::fs::File::open(&path)?;
        Ok(Box::new(BufReader::with_capacity(READ_AT_ONCE, file)))
    });
    let counter = Counter::new("rows checked");
    let outcome =
        recorded::survey((&name(nodes), nodes_text), (&name(pods), &opener), settings, |rows| counter.at(rows));
    outcome.map(Some).map_err(|trouble| match trouble {
        Trouble::Refused(found) => refused(found),
        Trouble::Unreadable(why) => {
            let why = Failure::Input(why);
            match examined((nodes, Some(nodes_text)), (pods, None), settings) {
                Ok(()) => why,
                Err(found) => why.and(found),
            }
        }
    })
}

/// What is wrong with the list that could be read, where the other could not.
fn examined(nodes: (&Path, Option<&str>), pods: (&Path, Option<&str>), settings: &Options) -> Result<(), Failure> {
    let (nodes_name, pods_name) = (name(nodes.0), name(pods.0));
    let nodes = nodes.1.map(|text| (nodes_name.as_str(), text));
    let pods = pods.1.map(|text| (pods_name.as_str(), text));
    openb::examine(nodes, pods, settings.on_fault).map_or(Ok(()), |found| Err(refused(found)))
}

/// Bytes of a recording that are read at once.
const READ_AT_ONCE: usize = 64 << 10;

/// What was read; else its problem is kept, so that what comes after it is looked at, too.
fn kept<T>(outcome: Result<T, Issue>, issues: &mut Vec<Issue>) -> Option<T> {
    outcome.map_err(|issue| issues.push(issue)).ok()
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn refused(refused: Refused) -> Failure {
    let mut text = refused.to_string();
    if refused.can_drop() {
        text.push_str("\nTo run without these rows: --on-fault drop");
    }
    Failure::Input(text)
}

/// A trace in `--json`.
#[derive(Serialize)]
pub struct TraceJson<'a> {
    arrivals: Arrivals,
    /// What a recording brings: jobs, hours from the first arrival to the last end, and GPU time ÷ GPUs × hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<RecordedJson>,
    nodes: usize,
    gpus: f64,
    samples: usize,
    files: [&'a openb::FileReport; 2],
    faults: &'a [Finding],
    notes: &'a [Finding],
    counts: &'a [openb::Count],
    assumed: &'a [Assumption],
    /// Keys of the scenario file that have no say here; behind a colon, what of a key's value has none.
    ignored: &'a [String],
}

#[derive(Serialize)]
struct RecordedJson {
    jobs: u64,
    hours: f64,
    load: f64,
    /// Findings of each kind that are listed at most; `counts` has all.
    listed_a_kind: usize,
}

impl RecordedJson {
    fn new(recorded: &Recorded) -> Self {
        let (jobs, hours, load) = (recorded.jobs, recorded.length.as_hours(), recorded.load);
        Self { jobs, hours, load, listed_a_kind: recorded::LISTED_A_KIND }
    }
}

impl<'a> TraceJson<'a> {
    /// What `--json` says of a trace.
    pub fn new(trace: &'a Trace, ignored: &'a [String]) -> Self {
        let recorded = trace.recorded().map(RecordedJson::new);
        let trace = trace.imported();
        Self {
            arrivals: trace.arrivals,
            recorded,
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
pub fn text(trace: &Trace, ignored: &[String]) -> String {
    let trace = trace.imported();
    let report = &trace.report;
    let mut text = String::from("\nTrace\n");
    for file in [&report.nodes, &report.pods] {
        text.push_str(&format!("  {}: {} of {} rows used\n", file.name, file.used, file.rows));
    }
    for count in &report.counts {
        text.push_str(&format!("  {} × {}\n", count.count, count.kind.title()));
    }
    // Every fault is a row that was left out: each is named, or counted where a recording has too many.
    for fault in &report.faults {
        text.push_str(&format!("  left out: {fault}\n"));
    }
    for left in openb::unlisted(&report.faults, &report.counts) {
        if left.kind.severity() == openb::Severity::Fault {
            text.push_str(&format!("  left out: {} more × {}\n", left.count, left.kind.title()));
        }
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
