//! A pod list replayed as it was recorded: each pod arrives at its creation time and runs as long as it did.
//!
//! The list is never held. It is read twice or more: [`survey`] checks every row and finds what the cluster's classes
//! are, and then each run reads its own [`Stream`], row by row, as simulated time passes. Both take the memory of a
//! row, however many there are. Hence two limits: rows must be in order of creation time, and a name is known to be
//! repeated only within [`NAMES_REMEMBERED`] rows.

use core::cmp::Reverse;
use core::fmt;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::io::{self, BufRead};
use std::sync::Arc;

use super::classes::{Class, Tally};
use super::finding::{Count, Finding, Findings, Kind, Severity, count};
use super::lines::Lines;
use super::nodes::Hardware;
use super::pods::{self, Pod};
use super::table::{Places, Table};
use super::{
    ASSUMED, Arrivals, Assumption, Busy, Completer, FileReport, Imported, OnFault, Options, Refused, Report,
};
use crate::resources::{Dim, DimMask};
use crate::units::{SimTime, Span};
use crate::workload::{Job, fewest_devices};

/// Findings of each kind that are listed; the others are counted.
pub const LISTED_A_KIND: usize = 200;

/// So many names back a repeated one is noticed. A row that is there twice has the same creation time twice, so both are
/// near each other.
pub const NAMES_REMEMBERED: usize = 10_000;

/// Opens the text of a pod list from its start, as often as it is wanted.
#[derive(Clone)]
pub struct Opener(Arc<Open>);

/// What opens it.
type Open = dyn Fn() -> io::Result<Box<dyn BufRead + Send + Sync>> + Send + Sync;

impl Opener {
    /// What opens the same text each time.
    pub fn new(open: impl Fn() -> io::Result<Box<dyn BufRead + Send + Sync>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(open))
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opener")
    }
}

/// A recording whose every row was checked.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The cluster, the classes, and what was found. It has no samples.
    pub trace: Imported,
    /// Jobs that will arrive.
    pub jobs: u64,
    /// From the first arrival to the last recorded end.
    pub length: Span,
    /// GPU time of all jobs ÷ GPUs of the cluster × length.
    pub load: f64,
    /// Most jobs that run at once if each starts when it arrives.
    pub at_once: usize,
    plan: Arc<Plan>,
}

/// Why a recording cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// What was found in its rows.
    Refused(Refused),
    /// The pod list cannot be read to its end; the text says why.
    Unreadable(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => refused.fmt(f),
            Self::Unreadable(reason) => f.write_str(reason),
        }
    }
}

impl core::error::Error for Trouble {}

/// What every reading of the same list needs.
#[derive(Debug)]
struct Plan {
    name: String,
    opener: Opener,
    kinds: Vec<Hardware>,
    options: Options,
    /// Set once the list was surveyed.
    present: Vec<Class>,
    jobs: u64,
    /// Creation time of the first job, in seconds: the start of the run.
    start: i64,
}

/// One reading of a list.
struct Reading {
    lines: Lines,
    table: Table,
    places: Places,
    names: BTreeMap<String, usize>,
    /// The same names, oldest first.
    remembered: VecDeque<String>,
    completer: Completer,
    /// Creation time and row of the last pod.
    last: Option<(i64, usize)>,
}

impl Reading {
    /// The next row, if there is one: its pod, if it can be replayed. What is wrong with it goes to `findings`.
    fn next(&mut self, kinds: &[Hardware], findings: &mut Findings<'_>) -> Result<Option<Option<Pod>>, String> {
        let Some((line, text)) = self.lines.next()? else { return Ok(None) };
        let Some(row) = self.table.row(line, text, findings) else { return Ok(Some(None)) };
        let known = self.names.len();
        let pod = pods::pod(&row, &self.places, kinds, &mut self.names, findings);
        if self.names.len() > known {
            self.remembered.extend(row.get(&self.places, pods::NAME).map(str::to_owned));
        }
        if self.remembered.len() > NAMES_REMEMBERED
            && let Some(oldest) = self.remembered.pop_front()
        {
            self.names.remove(&oldest);
        }
        let Some(pod) = pod else { return Ok(Some(None)) };
        let Some(created) = pod.created else {
            let reason = "without it there is no arrival to replay";
            findings.add(line, pods::COLUMNS[pods::CREATED].name, "", Kind::MissingValue, reason);
            return Ok(Some(None));
        };
        if let Some((last, row)) = self.last.replace((created, line)).filter(|(last, _)| created < *last) {
            let column = self.places.of(pods::CREATED).map_or(0, |place| place + 1);
            let reason = format!(
                "row {row} is later, at {last}: rows are replayed one by one; sort them by creation_time, which is \
                 column {column}"
            );
            let value = created.to_string();
            findings.add(line, pods::COLUMNS[pods::CREATED].name, &value, Kind::OutOfOrder, reason);
            return Ok(Some(None));
        }
        Ok(Some(Some(pod)))
    }
}

impl Plan {
    /// Opens the list and reads its header. `None` if it is empty or lacks columns, which then is a finding.
    fn open(&self, findings: &mut Findings<'_>) -> Result<Option<(Lines, Table)>, String> {
        let reader = (self.opener.0)().map_err(|error| format!("{}: it cannot be read: {error}", self.name))?;
        let mut lines = Lines::new(reader);
        let Some((line, text)) = lines.next().map_err(|why| self.unreadable(&why))? else {
            findings.add(1, "", "", Kind::EmptyFile, "there is nothing in this file");
            return Ok(None);
        };
        let table = Table::of_header(line, text, findings);
        Ok(Some((lines, table)))
    }

    fn read(lines: Lines, table: Table, findings: &mut Findings<'_>) -> Option<Reading> {
        let places = pods::places(&table, findings)?;
        if places.of(pods::CREATED).is_none() {
            let reason =
                "recorded arrivals are those of this column: use a list that has it, or draw arrivals at random";
            findings.add(table.header_line, pods::COLUMNS[pods::CREATED].name, "", Kind::MissingColumn, reason);
            return None;
        }
        let names = (BTreeMap::new(), VecDeque::new());
        let completer = Completer::default();
        Some(Reading { lines, table, places, names: names.0, remembered: names.1, completer, last: None })
    }

    fn unreadable(&self, why: &str) -> String {
        format!("{}: {why}", self.name)
    }
}

/// Findings by kind: the first of each are kept, all are counted.
#[derive(Default)]
struct Kept {
    list: Vec<Finding>,
    counts: BTreeMap<Kind, usize>,
}

impl Kept {
    fn take(&mut self, findings: &mut Vec<Finding>) {
        for finding in findings.drain(..) {
            let count = self.counts.entry(finding.kind).or_default();
            *count += 1;
            // One sorting puts all rows in order.
            let most = if finding.kind == Kind::OutOfOrder { 1 } else { LISTED_A_KIND };
            if *count <= most {
                self.list.push(finding);
            }
        }
    }

    fn worst(&self) -> Option<Severity> {
        self.counts.keys().map(|kind| kind.severity()).min()
    }

    fn counts(&self) -> Vec<Count> {
        self.counts.iter().map(|(kind, count)| Count { kind: *kind, count: *count }).collect()
    }
}

/// Reads a node list, as (name, CSV text), and checks every row of a pod list, as (name, how to open it).
/// [`Options::cap`] has no say: run times are replayed as they are. `progress` is called with the number of rows so far,
/// now and then.
///
/// # Errors
///
/// What [`import`](super::import) refuses, and a list that is not in order of creation time or cannot be read.
pub fn survey(
    nodes: (&str, &str),
    pods: (&str, &Opener),
    options: &Options,
    mut progress: impl FnMut(usize),
) -> Result<Recorded, Trouble> {
    let mut node_findings = Findings::new(nodes.0);
    let mut findings = Findings::new(pods.0);
    let mut plan = Plan {
        name: pods.0.to_owned(),
        opener: pods.1.clone(),
        kinds: Vec::new(),
        options: Options { cap: None, ..*options },
        present: Vec::new(),
        jobs: 0,
        start: 0,
    };
    let node_table = Table::read(nodes.1, &mut node_findings);
    let opened = plan.open(&mut findings).map_err(Trouble::Unreadable)?;
    let pod_table = opened.as_ref().map(|(_, table)| table);
    super::check_kinds_of_files(node_table.as_ref(), pod_table, &mut node_findings, &mut findings);
    let cluster = super::cluster(node_table.as_ref(), &mut node_findings);
    let reading = match opened {
        Some((lines, table)) if !findings.refuses() => Plan::read(lines, table, &mut findings),
        _ => None,
    };

    let mut kept = Kept::default();
    kept.take(&mut findings.list);
    let mut totals = Totals::default();
    let mut rows = 0;
    // Without nodes every pod would be too large; the node list's findings say what is wrong.
    if let Some(mut reading) = reading.filter(|_| !cluster.kinds.is_empty()) {
        while let Some(pod) = reading
            .next(&cluster.kinds, &mut findings)
            .map_err(|why| plan.unreadable(&why))
            .map_err(Trouble::Unreadable)?
        {
            kept.take(&mut findings.list);
            if let Some(pod) = pod {
                totals.add(&pod, reading.completer.complete(&pod, &cluster.kinds, &plan.options));
            }
            if reading.table.rows_in_file.is_multiple_of(ROWS_A_STEP) {
                progress(reading.table.rows_in_file);
            }
        }
        let has_gpus = totals.gpu_milli_ms > 0;
        super::check_what_is_left(&reading.table, &cluster, totals.jobs == 0, has_gpus, &mut findings);
        kept.take(&mut findings.list);
        rows = reading.table.rows_in_file;
    }

    let mut all = node_findings.by_row();
    let mut counts = count(&all);
    let worst = all.iter().map(|finding| finding.kind.severity()).min();
    let worst = [worst, kept.worst()].into_iter().flatten().min();
    merge(&mut counts, kept.counts());
    all.append(&mut kept.list);
    let refused =
        worst == Some(Severity::Refusal) || worst == Some(Severity::Fault) && options.on_fault == OnFault::Stop;
    let (Some(node_table), false) = (node_table, refused) else {
        return Err(Trouble::Refused(Refused { findings: all, counts }));
    };

    let present = super::classes::present(&totals.tallies);
    let (faults, notes) = all.into_iter().partition(|finding| finding.kind.severity() == Severity::Fault);
    let literal_gpus_busy = totals.busy.gpus();
    let arrivals = Assumption::new(
        "arrivals",
        "as recorded: each pod arrives at its creation_time; the first of them starts the clock",
        format!("the recording itself kept {literal_gpus_busy:.1} GPUs busy on average"),
    );
    let length = Span::from_secs((totals.end - totals.start).unsigned_abs());
    let trace = Imported {
        node_types: super::node_types(&cluster.kinds, &plan.options),
        exists: super::existing(options),
        assumed: if options.assume { DimMask::of(&ASSUMED) } else { DimMask::EMPTY },
        classes: super::classes::summarise(&totals.tallies),
        arrivals: Arrivals::Recorded,
        samples: Arc::default(),
        assumptions: super::assumptions(arrivals, &cluster.kinds, &present, &plan.options, 0),
        report: Report {
            nodes: FileReport { name: nodes.0.to_owned(), rows: node_table.rows_in_file, used: cluster.nodes.len() },
            pods: FileReport { name: pods.0.to_owned(), rows, used: totals.jobs as usize },
            faults,
            notes,
            counts,
            capped: 0,
            literal_gpus_busy,
        },
        nodes: cluster.nodes,
    };
    let gpu_milli = trace.capacity()[Dim::Gpu.index()] as f64;
    let load = totals.gpu_milli_ms as f64 / (gpu_milli * length.as_ms().max(1) as f64);
    (plan.kinds, plan.present, plan.jobs, plan.start) = (cluster.kinds, present, totals.jobs, totals.start);
    Ok(Recorded { trace, jobs: totals.jobs, length, load, at_once: totals.at_once, plan: Arc::new(plan) })
}

/// Rows between two calls of `progress`.
const ROWS_A_STEP: usize = 10_000;

/// Sums over all pods that can be replayed.
struct Totals {
    tallies: [Tally; Class::ALL.len()],
    busy: Busy,
    jobs: u64,
    gpu_milli_ms: u128,
    /// The first creation and the last end, in seconds.
    start: i64,
    end: i64,
    /// When those end that would run now, had each started when it arrived; and the most of them so far.
    ends: BinaryHeap<Reverse<u64>>,
    at_once: usize,
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            tallies: Tally::all(),
            busy: Busy::default(),
            jobs: 0,
            gpu_milli_ms: 0,
            start: 0,
            end: 0,
            ends: BinaryHeap::new(),
            at_once: 0,
        }
    }
}

impl Totals {
    fn add(&mut self, pod: &Pod, (class, demand, work): (Class, crate::resources::Amounts, Span)) {
        let created = pod.created.unwrap_or_default();
        if self.jobs == 0 {
            self.start = created;
        }
        self.end = self.end.max(pod.deleted);
        self.jobs += 1;
        self.gpu_milli_ms += u128::from(demand[Dim::Gpu].unsigned_abs()) * u128::from(work.as_ms());
        self.tallies[class as usize].add(&demand, work);
        self.busy.add(pod);
        let now = created.unsigned_abs() * 1000;
        while self.ends.peek().is_some_and(|end| end.0 <= now) {
            self.ends.pop();
        }
        self.ends.push(Reverse(now + work.as_ms()));
        self.at_once = self.at_once.max(self.ends.len());
    }
}

/// Adds up counts, in the order of [`Kind::ALL`].
fn merge(counts: &mut Vec<Count>, others: Vec<Count>) {
    for other in others {
        match counts.iter_mut().find(|count| count.kind == other.kind) {
            Some(count) => count.count += other.count,
            None => counts.push(other),
        }
    }
    counts.sort_by_key(|count| count.kind);
}

impl Recorded {
    /// The jobs, from the first on.
    #[must_use]
    pub fn stream(&self) -> Stream {
        Stream { plan: self.plan.clone(), reading: None, given: 0, failure: None }
    }
}

/// The jobs of a recording in order of arrival, read as they are asked for. A copy opens the list anew and goes on where
/// the original was.
pub struct Stream {
    plan: Arc<Plan>,
    /// Opened when the first job is asked for.
    reading: Option<Reading>,
    given: u64,
    failure: Option<String>,
}

impl Clone for Stream {
    fn clone(&self) -> Self {
        Self { plan: self.plan.clone(), reading: None, given: self.given, failure: self.failure.clone() }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("plan", &self.plan).field("given", &self.given).finish_non_exhaustive()
    }
}

impl Stream {
    /// Why no more jobs come although there are more.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    fn read(&mut self) -> Result<Option<Job>, String> {
        let changed = || format!("{}: it changed after it was checked; start again", self.plan.name);
        let mut reading = match self.reading.take() {
            Some(reading) => reading,
            None => {
                let mut findings = Findings::new(&self.plan.name);
                let opened = self.plan.open(&mut findings)?;
                let reading = opened.and_then(|(lines, table)| Plan::read(lines, table, &mut findings));
                let mut reading = reading.ok_or_else(changed)?;
                for _ in 0..self.given {
                    next_job(&self.plan, &mut reading)?.ok_or_else(changed)?;
                }
                reading
            }
        };
        let job = next_job(&self.plan, &mut reading)?;
        self.reading = Some(reading);
        match job {
            Some((job, true)) => {
                self.given += 1;
                Ok(Some(Job { index: self.given - 1, ..job }))
            }
            None if self.given == self.plan.jobs => Ok(None),
            _ => Err(changed()),
        }
    }
}

/// The next job, not numbered yet, and whether it is of a class that the survey found.
fn next_job(plan: &Plan, reading: &mut Reading) -> Result<Option<(Job, bool)>, String> {
    let mut findings = Findings::new(&plan.name);
    while let Some(pod) = reading.next(&plan.kinds, &mut findings).map_err(|why| plan.unreadable(&why))? {
        findings.list.clear();
        let Some(pod) = pod else { continue };
        let (class, demand, work) = reading.completer.complete(&pod, &plan.kinds, &plan.options);
        let job = Job {
            index: 0,
            class: super::classes::id_of(&plan.present, class),
            arrival: SimTime::ZERO + Span::from_secs((pod.created.unwrap_or_default() - plan.start).unsigned_abs()),
            tasks: 1,
            demand,
            gpus: fewest_devices(demand[Dim::Gpu]),
            work,
            types: pod.types,
        };
        return Ok(Some((job, plan.present.contains(&class))));
    }
    Ok(None)
}

impl Iterator for Stream {
    type Item = Job;

    fn next(&mut self) -> Option<Job> {
        if self.failure.is_some() {
            return None;
        }
        self.read().unwrap_or_else(|why| {
            self.failure = Some(why);
            None
        })
    }
}
