//! Reads the *openb* trace: a node list and a pod list of a real GPU cluster, as CSV text.
//!
//! Nodes become the cluster; pods become [`Sample`]s, from which [`super::bootstrap`] draws jobs. What is wrong with
//! the files is said in full, by file, row, column, value and reason ([`Finding`]); what they lack is assumed in the
//! open ([`Assumption`]) or left out ([`Options::assume`]).
//!
//! A list that is replayed as it was recorded is read as a stream ([`recorded`]).
//!
//! What it does not do: open files, guess units, or repair values.

use core::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cluster::NodeType;
use crate::resources::{Amounts, DIMS, Dim, DimMask};
use crate::units::Span;
use crate::workload::JobClass;
use crate::workload::bootstrap::{self, Generator, Sample};

mod assumed;
mod classes;
mod finding;
mod lines;
mod nodes;
mod number;
pub mod packing;
mod pods;
pub mod recorded;
mod table;

pub use assumed::Assumption;
pub use finding::{Count, Finding, Kind, Severity, count};
pub use pods::Ask;

use classes::{Class, Tally};
use finding::Findings;
use nodes::{Hardware, Nodes};
use pods::Pod;
use table::Table;

/// What to do with faulty rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFault {
    /// Any fault refuses the import; all faults are reported.
    #[default]
    Stop,
    /// Faulty rows are left out; all of them are reported.
    Drop,
}

/// How to import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// What to do with faulty rows.
    pub on_fault: OnFault,
    /// Whether dimensions that the trace lacks are filled from stated assumptions. If not, they do not exist: no
    /// capacity, no demand, and [`Imported::exists`] without them.
    pub assume: bool,
    /// Longer run times are cut to this; `None` keeps them.
    pub cap: Option<Span>,
}

impl Options {
    /// Run times are cut to a day unless somebody says otherwise.
    pub const DEFAULT_CAP: Span = Span::from_secs(86_400);
}

impl Default for Options {
    fn default() -> Self {
        Self { on_fault: OnFault::Stop, assume: true, cap: Some(Self::DEFAULT_CAP) }
    }
}

/// How the jobs of a trace arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Drawn from its pods, at random and at a wanted load.
    Bootstrap,
    /// As they were recorded.
    Recorded,
}

/// A trace, ready to simulate.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Kinds of nodes; at most 64.
    pub node_types: Vec<NodeType>,
    /// The kind of each node, in the order of the file.
    pub nodes: Vec<u8>,
    /// Dimensions that exist: all seven, or `cpu,ram,gpu` without assumptions. Schedulers' masks must be cut to it.
    pub exists: DimMask,
    /// Dimensions among them that are assumed.
    pub assumed: DimMask,
    /// Job classes that occur.
    pub classes: Vec<JobClass>,
    /// How jobs arrive.
    pub arrivals: Arrivals,
    /// Pods with a run time, in the order of the file; none where they are replayed as recorded, row by row.
    pub samples: Arc<[Sample]>,
    /// Everything assumed, in the order in which people read it.
    pub assumptions: Vec<Assumption>,
    /// What was read and what was found.
    pub report: Report,
}

/// What an import read, left out and found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The node list.
    pub nodes: FileReport,
    /// The pod list.
    pub pods: FileReport,
    /// Faulty rows that were left out, nodes first, by row. Empty with [`OnFault::Stop`]. Of a list that is replayed as
    /// recorded, the first [`recorded::LISTED_A_KIND`] of each kind.
    pub faults: Vec<Finding>,
    /// What is worth knowing, e.g. pods without a run time; likewise.
    pub notes: Vec<Finding>,
    /// Faults and notes by kind: all of them.
    pub counts: Vec<Count>,
    /// Run times that were cut to [`Options::cap`].
    pub capped: usize,
    /// GPUs that a literal replay of these pods would keep busy, on average over the time from the first start to the
    /// last end.
    pub literal_gpus_busy: f64,
}

/// How much of a file was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileReport {
    /// Its name, as given.
    pub name: String,
    /// Rows in the file, without the header and blank lines.
    pub rows: usize,
    /// Rows that became nodes or samples.
    pub used: usize,
}

/// The files cannot be used, or hold faults and the user chose to stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Everything found, notes too; nodes first, by row. Of a list that is replayed as recorded, the first
    /// [`recorded::LISTED_A_KIND`] of each kind.
    pub findings: Vec<Finding>,
    /// By kind: all of them.
    pub counts: Vec<Count>,
}

impl Refused {
    fn new(findings: Vec<Finding>) -> Self {
        Self { counts: count(&findings), findings }
    }

    /// Whether leaving out the faulty rows ([`OnFault::Drop`]) might help: nothing is wrong with the files as such.
    #[must_use]
    pub fn can_drop(&self) -> bool {
        self.findings.iter().all(|finding| finding.kind.severity() != Severity::Refusal)
    }
}

impl fmt::Display for Refused {
    /// Counts by kind, then every refusal and fault on a line of its own. Notes are counted only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the trace was not imported:")?;
        for Count { kind, count } in &self.counts {
            write!(f, "\n  {count} × {}", kind.title())?;
        }
        for finding in self.findings.iter().filter(|finding| finding.kind.severity() != Severity::Note) {
            write!(f, "\n{finding}")?;
        }
        for Count { kind, count } in unlisted(&self.findings, &self.counts) {
            if kind.severity() != Severity::Note {
                write!(f, "\n… and {count} more × {}", kind.title())?;
            }
        }
        if self.can_drop() {
            write!(f, "\ncorrect these rows, or choose to drop them")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refused {}

/// How many findings of each kind are counted and not listed.
#[must_use]
pub fn unlisted(listed: &[Finding], counts: &[Count]) -> Vec<Count> {
    let left = |Count { kind, count }: Count| {
        let listed = listed.iter().filter(|finding| finding.kind == kind).count();
        Count { kind, count: count.saturating_sub(listed) }
    };
    counts.iter().copied().map(left).filter(|left| left.count > 0).collect()
}

impl Imported {
    /// Capacity of the whole cluster by dimension.
    #[must_use]
    pub fn capacity(&self) -> [i64; DIMS] {
        let of = |node: &u8, dim: Dim| i64::from(self.node_types[usize::from(*node)].capacity[dim]);
        Dim::ALL.map(|dim| self.nodes.iter().map(|node| of(node, dim)).sum())
    }

    /// Jobs an hour that offer `load` × the GPUs of the cluster.
    #[must_use]
    pub fn rate_for_load(&self, load: f64) -> f64 {
        bootstrap::rate_for_load(&self.samples, self.capacity()[Dim::Gpu.index()], load)
    }

    /// An endless stream of jobs that offers `load` × the GPUs of the cluster.
    #[must_use]
    pub fn generator(&self, load: f64, seed: u64) -> Generator {
        Generator::new(self.samples.clone(), self.rate_for_load(load), seed)
    }
}

/// Reads a node list and a pod list, each as (name, CSV text).
///
/// # Errors
///
/// [`Refused`] with everything found if a file cannot be used as a whole, if nothing is left without the faulty rows,
/// or if there is any fault and [`Options::on_fault`] says to stop.
pub fn import(nodes: (&str, &str), pods: (&str, &str), options: &Options) -> Result<Imported, Refused> {
    let mut node_findings = Findings::new(nodes.0);
    let mut pod_findings = Findings::new(pods.0);
    let node_table = Table::read(nodes.1, &mut node_findings);
    let pod_table = Table::read(pods.1, &mut pod_findings);
    check_kinds_of_files(node_table.as_ref(), pod_table.as_ref(), &mut node_findings, &mut pod_findings);

    let cluster = cluster(node_table.as_ref(), &mut node_findings);
    let mut list = Vec::new();
    if let Some(table) = pod_table.as_ref().filter(|_| !pod_findings.refuses()) {
        list = pods::read(table, &cluster.kinds, &mut pod_findings);
        let has_gpus = list.iter().any(|pod| pod.gpu_milli > 0);
        check_what_is_left(table, &cluster, list.is_empty(), has_gpus, &mut pod_findings);
    }

    let mut findings = node_findings.by_row();
    findings.append(&mut pod_findings.by_row());
    let refused = refuse(&findings, options.on_fault);
    let (Some(node_table), Some(pod_table), false) = (node_table, pod_table, refused) else {
        return Err(Refused::new(findings));
    };

    let present: Vec<Class> =
        Class::ALL.into_iter().filter(|class| list.iter().any(|pod| Class::of(pod) == *class)).collect();
    let mut completer = Completer::default();
    let mut tallies = Tally::all();
    let mut busy = Busy::default();
    let samples: Arc<[Sample]> = list
        .iter()
        .map(|pod| {
            let (class, demand, work) = completer.complete(pod, &cluster.kinds, options);
            tallies[class as usize].add(&demand, work);
            busy.add(pod);
            Sample { class: classes::id_of(&present, class), demand, tasks: 1, work, types: pod.types }
        })
        .collect();
    let literal_gpus_busy = busy.gpus();
    let arrivals = Assumption::new(
        "arrivals",
        "Poisson, at the rate that offers the wanted GPU load; each job is one pod of the trace, drawn evenly, its \
         shape and its run time together",
        format!("replayed literally these pods keep {literal_gpus_busy:.1} GPUs busy on average"),
    );
    let counts = count(&findings);
    let (faults, notes) = findings.into_iter().partition(|finding| finding.kind.severity() == Severity::Fault);
    Ok(Imported {
        node_types: node_types(&cluster.kinds, options),
        exists: existing(options),
        assumed: if options.assume { DimMask::of(&ASSUMED) } else { DimMask::EMPTY },
        classes: classes::summarise(&tallies),
        arrivals: Arrivals::Bootstrap,
        assumptions: assumptions(arrivals, &cluster.kinds, &present, options, completer.capped),
        report: Report {
            nodes: FileReport { name: nodes.0.to_owned(), rows: node_table.rows_in_file, used: cluster.nodes.len() },
            pods: FileReport { name: pods.0.to_owned(), rows: pod_table.rows_in_file, used: samples.len() },
            faults,
            notes,
            counts,
            capped: completer.capped,
            literal_gpus_busy,
        },
        nodes: cluster.nodes,
        samples,
    })
}

/// Whether lists of which that was found are refused.
fn refuse(findings: &[Finding], on_fault: OnFault) -> bool {
    let worst = findings.iter().map(|finding| finding.kind.severity()).min();
    worst == Some(Severity::Refusal) || worst == Some(Severity::Fault) && on_fault == OnFault::Stop
}

/// What is wrong with a list, as (name, CSV text), where the other cannot be read: all but what it takes both to tell.
/// `None` if it would not be refused.
#[must_use]
pub fn examine(nodes: Option<(&str, &str)>, pods: Option<(&str, &str)>, on_fault: OnFault) -> Option<Refused> {
    let mut findings = Vec::new();
    if let Some((name, text)) = nodes {
        let mut found = Findings::new(name);
        let table = Table::read(text, &mut found);
        check_kinds_of_files(table.as_ref(), None, &mut found, &mut Findings::new(""));
        cluster(table.as_ref(), &mut found);
        findings.append(&mut found.by_row());
    }
    if let Some((name, text)) = pods {
        let mut found = Findings::new(name);
        let table = Table::read(text, &mut found);
        check_kinds_of_files(None, table.as_ref(), &mut Findings::new(""), &mut found);
        if let Some(table) = table.filter(|_| !found.refuses()) {
            pods::read_alone(&table, &mut found);
        }
        findings.append(&mut found.by_row());
    }
    refuse(&findings, on_fault).then(|| Refused::new(findings))
}

/// The dimensions that exist.
fn existing(options: &Options) -> DimMask {
    if options.assume { DimMask::SEVEN } else { DimMask::of(&[Dim::Cpu, Dim::Ram, Dim::Gpu]) }
}

/// The machines of a node list; none if it cannot be used, which then is a finding.
fn cluster(table: Option<&Table>, findings: &mut Findings<'_>) -> Nodes {
    let none = || Nodes { kinds: Vec::new(), nodes: Vec::new() };
    let Some(table) = table.filter(|_| !findings.refuses()) else { return none() };
    let cluster = nodes::read(table, findings);
    if findings.refuses() {
        return cluster;
    }
    if cluster.nodes.is_empty() {
        let reason = format!("there is no usable node in this file: {}", remedy(table));
        findings.add(table.header_line, "", "", nothing_left(table), reason);
    } else if cluster.kinds.iter().all(|kind| kind.gpus == 0) {
        let reason = "no node has a GPU, and load is a share of GPUs: choose a list with nodes that have some";
        findings.add(table.header_line, "gpu", "0", Kind::NothingLeft, reason);
        // What the pods ask for is not held against a list that is the wrong one.
        return none();
    }
    cluster
}

/// Says so if no pod is left that could offer a load.
fn check_what_is_left(table: &Table, cluster: &Nodes, is_empty: bool, has_gpus: bool, findings: &mut Findings<'_>) {
    if has_gpus || cluster.kinds.is_empty() || findings.refuses() {
        return;
    }
    let reason = if is_empty { "no pod with a run time" } else { "no pod with a run time asks for a GPU" };
    let reason = format!("{reason}, so no load can be offered: {}", remedy(table));
    findings.add(table.header_line, "", "", nothing_left(table), reason);
}

/// Dimensions that the trace does not have.
const ASSUMED: [Dim; 4] = [Dim::Hbm, Dim::Net, Dim::Sto, Dim::Ioc];

/// Says so if a file is the other one, or both are the same kind.
fn check_kinds_of_files(
    nodes: Option<&Table>,
    pods: Option<&Table>,
    node_findings: &mut Findings<'_>,
    pod_findings: &mut Findings<'_>,
) {
    let is =
        |table: &Table, own: &[table::Column], other: &[table::Column]| table.matches(own) > table.matches(other);
    let is_pods = |table: &Table| is(table, pods::COLUMNS, nodes::COLUMNS);
    let is_nodes = |table: &Table| is(table, nodes::COLUMNS, pods::COLUMNS);
    let swapped = nodes.is_some_and(is_pods) && pods.is_some_and(is_nodes);
    let advice = if swapped { "exchange the two files, they are swapped" } else { "choose the other file" };
    if let Some(table) = nodes.filter(|table| is_pods(table)) {
        let reason = format!("this is a pod list, and a node list belongs here: {advice}");
        node_findings.add(table.header_line, "", "", Kind::WrongFile, reason);
    }
    if let Some(table) = pods.filter(|table| is_nodes(table)) {
        let reason = format!("this is a node list, and a pod list belongs here: {advice}");
        pod_findings.add(table.header_line, "", "", Kind::WrongFile, reason);
    }
}

/// Why a file gives nothing: it has no rows, or none of them can be used.
fn nothing_left(table: &Table) -> Kind {
    if table.rows_in_file == 0 { Kind::EmptyFile } else { Kind::NothingLeft }
}

/// What to do about it.
fn remedy(table: &Table) -> &'static str {
    if table.rows_in_file == 0 {
        "choose one with rows below its header"
    } else {
        "correct its rows, or choose another file"
    }
}

fn node_types(kinds: &[Hardware], options: &Options) -> Vec<NodeType> {
    let ids = nodes::ids(kinds);
    kinds
        .iter()
        .zip(ids)
        .map(|(kind, id)| {
            let mut capacity = traced(kind.cpu_milli, kind.memory_mib, kind.gpus * 1000);
            if options.assume {
                assumed::complete_node(kind, &mut capacity);
            }
            NodeType { id, title: kind.title(), capacity }
        })
        .collect()
}

/// The three dimensions that the trace has.
fn traced(cpu_milli: i32, memory_mib: i32, gpu_milli: i32) -> Amounts {
    let mut amounts = Amounts::ZERO;
    amounts[Dim::Cpu] = cpu_milli;
    amounts[Dim::Ram] = memory_mib;
    amounts[Dim::Gpu] = gpu_milli;
    amounts
}

/// Gives pods, one by one, what the trace does not say of them.
#[derive(Clone, Copy, Debug, Default)]
struct Completer {
    /// Pods of each class so far.
    turns: [usize; Class::ALL.len()],
    /// Run times that were cut.
    capped: usize,
}

impl Completer {
    /// The pod's class, what it asks for, and how long it runs.
    fn complete(&mut self, pod: &Pod, kinds: &[Hardware], options: &Options) -> (Class, Amounts, Span) {
        let class = Class::of(pod);
        let mut demand = traced(pod.cpu_milli, pod.memory_mib, pod.gpu_milli);
        if options.assume {
            let turn = &mut self.turns[class as usize];
            let holds = kinds.iter().enumerate().filter(|(index, kind)| {
                pod.types.allows(*index)
                    && pod.cpu_milli <= kind.cpu_milli
                    && pod.memory_mib <= kind.memory_mib
                    && pod.gpu_milli <= kind.gpus * 1000
            });
            assumed::complete_pod(class, *turn, holds.map(|(_, kind)| kind), &mut demand);
            *turn += 1;
        }
        let mut work = Span::from_secs((pod.deleted - pod.scheduled).unsigned_abs().max(1));
        if let Some(cap) = options.cap.filter(|cap| *cap < work) {
            // A cap of nothing would make jobs that take no time at all.
            work = Span(cap.as_ms().max(1));
            self.capped += 1;
        }
        (class, demand, work)
    }
}

/// How busy a literal replay keeps GPUs: GPU time ÷ time from the first start to the last end.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    /// The first start and the last end, in seconds.
    bounds: Option<(i64, i64)>,
    gpu_milli_seconds: i128,
}

impl Busy {
    fn add(&mut self, pod: &Pod) {
        let (first, last) = self.bounds.unwrap_or((pod.scheduled, pod.deleted));
        self.bounds = Some((first.min(pod.scheduled), last.max(pod.deleted)));
        self.gpu_milli_seconds += i128::from(pod.gpu_milli) * i128::from(pod.deleted - pod.scheduled);
    }

    fn gpus(&self) -> f64 {
        match self.bounds {
            Some((first, last)) if last > first => self.gpu_milli_seconds as f64 / 1000.0 / (last - first) as f64,
            _ => 0.0,
        }
    }
}

/// Everything assumed about this trace, in the order in which people read it.
fn assumptions(
    arrivals: Assumption,
    kinds: &[Hardware],
    present: &[Class],
    options: &Options,
    capped: usize,
) -> Vec<Assumption> {
    let mut lines = vec![
        arrivals,
        Assumption::new(
            "run time",
            "scheduled_time to deletion_time, taken as the time at full speed",
            "the trace does not say how much of it a pod was starved",
        ),
    ];
    if let Some(cap) = options.cap {
        lines.push(Assumption::new(
            "longest run time",
            format!("{} h; run times cut to it: {capped}", cap.as_hours()),
            "the few longest run times hold most of the GPU-hours; uncut, no run is long enough to reach its load",
        ));
    }
    lines.push(Assumption::new(
        "a pod",
        "one task on one node",
        "pods of this trace never span nodes; which of them belong together is not recorded",
    ));
    lines.push(Assumption::new(
        "GPUs of a node",
        "one pool: 460 milli-GPU are 460 thousandths of the node's GPUs together",
        "a run on a trace keeps no list of devices, so fragments on different devices of a node count as one",
    ));
    lines.push(Assumption::new(
        "classes",
        "cpu: no GPU; train: more than one GPU; batch: the other pods with qos BE; inference: all other pods",
        "the trace does not say what a pod does",
    ));
    if options.assume {
        lines.append(&mut assumed::lines(kinds, present));
    } else {
        lines.push(Assumption::new(
            "GPU memory, network, storage bandwidth, I/O CPU",
            "do not exist",
            "the trace has none of them and assumptions are switched off; schedulers see cpu, ram and gpu",
        ));
    }
    lines
}
