//! The pod list: each row a request with its run time.

use std::collections::BTreeMap;

use super::finding::{Findings, Kind};
use super::nodes::Hardware;
use super::number::MOST_GPUS;
use super::table::{Column, Places, Row, Table, nearest};
use crate::workload::TypeMask;

/// Columns of a pod list.
pub(super) const COLUMNS: &[Column] = &[
    Column { name: "name", required: true },
    Column { name: "cpu_milli", required: true },
    Column { name: "memory_mib", required: true },
    Column { name: "num_gpu", required: true },
    Column { name: "gpu_milli", required: true },
    Column { name: "gpu_spec", required: false },
    Column { name: "qos", required: false },
    Column { name: "creation_time", required: false },
    Column { name: "deletion_time", required: true },
    Column { name: "scheduled_time", required: true },
    Column { name: "pod_phase", required: false },
];
pub(super) const NAME: usize = 0;
const CPU: usize = 1;
const MEMORY: usize = 2;
const NUM_GPU: usize = 3;
pub(super) const GPU_MILLI: usize = 4;
const GPU_SPEC: usize = 5;
const QOS: usize = 6;
pub(super) const CREATED: usize = 7;
const DELETED: usize = 8;
const SCHEDULED: usize = 9;

/// Three centuries in seconds: above it, a time is in milliseconds or nonsense.
const LATEST: i64 = 10_000_000_000;

/// How the trace's platform ranks a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Qos {
    /// LS, Guaranteed, Burstable, and unknown ones.
    Prompt,
    /// BE.
    BestEffort,
}

/// A pod that can be sampled.
#[derive(Debug)]
pub(super) struct Pod {
    pub(super) cpu_milli: i32,
    pub(super) memory_mib: i32,
    /// GPUs × share of each.
    pub(super) gpu_milli: i32,
    pub(super) types: TypeMask,
    pub(super) qos: Qos,
    /// When it was asked for, if that is recorded.
    pub(super) created: Option<i64>,
    pub(super) scheduled: i64,
    pub(super) deleted: i64,
}

/// Reads the pods; faulty rows and those without a run time become findings and are left out.
pub(super) fn read(table: &Table, kinds: &[Hardware], findings: &mut Findings<'_>) -> Vec<Pod> {
    let Some(places) = places(table, findings) else { return Vec::new() };
    if kinds.is_empty() {
        // Without nodes every pod would be too large; the node list's findings say what is wrong.
        return Vec::new();
    }
    let mut names = BTreeMap::new();
    table.rows.iter().filter_map(|row| pod(row, &places, kinds, &mut names, findings)).collect()
}

/// Reads the pods of a list whose nodes are not known, for what is wrong with them by themselves.
pub(super) fn read_alone(table: &Table, findings: &mut Findings<'_>) {
    let Some(places) = places(table, findings) else { return };
    let mut names = BTreeMap::new();
    for row in &table.rows {
        pod(row, &places, &[], &mut names, findings);
    }
    findings.list.retain(|finding| ![Kind::UnknownModel, Kind::FitsNoNode].contains(&finding.kind));
}

/// Where the columns are, unless the list cannot be used.
pub(super) fn places(table: &Table, findings: &mut Findings<'_>) -> Option<Places> {
    if !table.header.iter().any(|name| name == "deletion_time" || name == "scheduled_time")
        && table.matches(&COLUMNS[NAME..=GPU_MILLI]) == GPU_MILLI + 1
    {
        // Name, requests, no times: the openb multigpu lists.
        let reason = "this list has requests but no run times (columns scheduled_time and deletion_time), and without \
                      them no job can be simulated; use a list that has them: openb_pod_list_default.csv or one of the \
                      cpu*, gpushare* and gpuspec* lists";
        findings.add(table.header_line, "", "", Kind::NoTimeColumns, reason);
        return None;
    }
    let places = table.places(COLUMNS, findings);
    if findings.refuses() {
        return None;
    }
    for (column, meaning) in
        [(GPU_SPEC, "every pod may run on any GPU model"), (QOS, "every pod counts as latency-sensitive (LS)")]
    {
        if !table.header.iter().any(|name| name == COLUMNS[column].name) {
            findings.add(table.header_line, COLUMNS[column].name, "", Kind::AbsentColumn, meaning);
        }
    }
    Some(places)
}

/// The pod of a row, unless it is faulty or has no run time.
pub(super) fn pod(
    row: &Row,
    places: &Places,
    kinds: &[Hardware],
    names: &mut BTreeMap<String, usize>,
    findings: &mut Findings<'_>,
) -> Option<Pod> {
    let before = findings.list.len();
    let field = |column: usize| row.get(places, column).unwrap_or_default();
    has_own_name(row, field(NAME), names, findings);
    let request = request(row, &field, kinds, findings);
    let times = times(row, &field, findings);
    let faulty = findings.list[before..].iter().any(|finding| is_fault(finding.kind));
    let qos = match field(QOS) {
        "LS" | "Guaranteed" | "Burstable" | "" => Qos::Prompt,
        "BE" => Qos::BestEffort,
        other => {
            let reason = "LS, Guaranteed, Burstable and BE are known; counted as LS";
            findings.add(row.line, "qos", other, Kind::UnknownQos, reason);
            Qos::Prompt
        }
    };
    let (false, Some(request), Some(times)) = (faulty, request, times) else { return None };
    let Request { cpu_milli, memory_mib, gpu_milli, types } = request;
    let Times { created, scheduled, deleted } = times;
    Some(Pod { cpu_milli, memory_mib, gpu_milli, types, qos, created, scheduled, deleted })
}

fn is_fault(kind: Kind) -> bool {
    kind.severity() == super::finding::Severity::Fault
}

/// Whether the pod has a name of its own.
pub(super) fn has_own_name(
    row: &Row,
    name: &str,
    names: &mut BTreeMap<String, usize>,
    findings: &mut Findings<'_>,
) -> bool {
    findings.has_own_name(row.line, "name", name, names, "every pod needs a name")
}

struct Request {
    cpu_milli: i32,
    memory_mib: i32,
    gpu_milli: i32,
    types: TypeMask,
}

/// What a pod asks for, device by device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Thousandths of a core.
    pub cpu_milli: i32,
    /// MiB.
    pub memory_mib: i32,
    /// Devices.
    pub gpus: u16,
    /// Thousandths of each device.
    pub share: i32,
    /// Kinds of nodes it may run on.
    pub types: TypeMask,
    /// The models it names, as written; empty for a pod without GPUs.
    pub models: String,
}

/// What the pod asks for, also if it fits no node. `None` if any part of it is faulty.
pub(super) fn ask<'a>(
    row: &Row,
    field: &impl Fn(usize) -> &'a str,
    kinds: &[Hardware],
    findings: &mut Findings<'_>,
) -> Option<Ask> {
    let mut number = |column: usize, most: i64, unit: &str| {
        let value = findings.number(row.line, COLUMNS[column].name, field(column), most, unit);
        value.map(|value| value as i32)
    };
    let cpu_milli = number(CPU, i32::MAX.into(), "thousandths of a core");
    let memory_mib = number(MEMORY, i32::MAX.into(), "MiB");
    let gpus = number(NUM_GPU, MOST_GPUS, "GPUs");
    let share = number(GPU_MILLI, 1000, "thousandths of a GPU");
    let (gpus, share) = (gpus?, share?);
    let contradiction = match (gpus, share) {
        (0, 1..) => Some("num_gpu is 0: a pod without GPUs has no share of one"),
        (1.., 0) => Some("num_gpu is not 0: the share of each GPU must be 1 to 1000"),
        (2.., 1..1000) => Some("only a pod with one GPU may ask for a part of it"),
        _ => None,
    };
    if let Some(reason) = contradiction {
        findings.add(row.line, "gpu_milli", field(GPU_MILLI), Kind::GpuMismatch, reason);
    }
    let types = allowed(row, field(GPU_SPEC), gpus, kinds, findings);
    let (cpu_milli, memory_mib, types) = (cpu_milli?, memory_mib?, types?);
    if contradiction.is_some() {
        return None;
    }
    let models = if gpus == 0 { String::new() } else { field(GPU_SPEC).to_owned() };
    Some(Ask { cpu_milli, memory_mib, gpus: gpus as u16, share, types, models })
}

/// What the pod asks for. `None` if any part of it is faulty, or it fits no node.
fn request<'a>(
    row: &Row,
    field: &impl Fn(usize) -> &'a str,
    kinds: &[Hardware],
    findings: &mut Findings<'_>,
) -> Option<Request> {
    let Ask { cpu_milli, memory_mib, gpus, share, types, .. } = ask(row, field, kinds, findings)?;
    let request = Request { cpu_milli, memory_mib, gpu_milli: i32::from(gpus) * share, types };
    match too_large(&request, kinds) {
        None => Some(request),
        Some((column, reason)) => {
            findings.add(row.line, COLUMNS[column].name, field(column), Kind::FitsNoNode, reason);
            None
        }
    }
}

/// The kinds of nodes that the listed models allow; any if none is listed.
fn allowed(row: &Row, spec: &str, gpus: i32, kinds: &[Hardware], findings: &mut Findings<'_>) -> Option<TypeMask> {
    if spec.is_empty() {
        return Some(TypeMask::ANY);
    }
    if gpus == 0 {
        let reason = "this pod asks for no GPU, so it may run on any node";
        findings.add(row.line, "gpu_spec", spec, Kind::ModelsIgnored, reason);
        return Some(TypeMask::ANY);
    }
    let models = || kinds.iter().filter(|kind| kind.gpus > 0).map(|kind| kind.model.as_str());
    let mut mask = 0u64;
    let mut known = true;
    for model in spec.split('|').map(str::trim) {
        let bits = kinds.iter().enumerate().filter(|(_, kind)| kind.gpus > 0 && kind.model == model);
        let bits = bits.fold(0u64, |bits, (index, _)| bits | 1 << index);
        if bits == 0 {
            known = false;
            let mut list: Vec<&str> = models().collect();
            list.dedup();
            let reason = match nearest(model, models()) {
                Some(near) => format!("no node has GPU model \"{model}\"; did you mean {near}?"),
                None => format!("no node has GPU model \"{model}\"; the node list has {}", list.join(", ")),
            };
            findings.add(row.line, "gpu_spec", spec, Kind::UnknownModel, reason);
        }
        mask |= bits;
    }
    known.then_some(TypeMask(mask))
}

/// Why no allowed node holds it even when empty, and the column to blame.
fn too_large(request: &Request, kinds: &[Hardware]) -> Option<(usize, String)> {
    let allowed = || kinds.iter().enumerate().filter(|(index, _)| request.types.allows(*index)).map(|(_, kind)| kind);
    let asks = |kind: &Hardware| {
        [
            (CPU, request.cpu_milli, kind.cpu_milli, "thousandths of a core"),
            (MEMORY, request.memory_mib, kind.memory_mib, "MiB"),
            (NUM_GPU, request.gpu_milli, kind.gpus * 1000, "thousandths of a GPU"),
        ]
    };
    if allowed().any(|kind| asks(kind).iter().all(|(_, asked, has, _)| asked <= has)) {
        return None;
    }
    let largest = |part: usize| allowed().map(|kind| asks(kind)[part]).max_by_key(|ask| ask.2);
    for part in 0..3 {
        if let Some((column, asked, has, unit)) = largest(part).filter(|ask| ask.1 > ask.2) {
            return Some((column, format!("asks for {asked} {unit}; the largest node it may run on has {has}")));
        }
    }
    let reason = format!(
        "no single node it may run on has {} thousandths of a core, {} MiB and {} thousandths of a GPU together",
        request.cpu_milli, request.memory_mib, request.gpu_milli
    );
    Some((NUM_GPU, reason))
}

/// When a pod was asked for, started and ended, in seconds.
struct Times {
    created: Option<i64>,
    scheduled: i64,
    deleted: i64,
}

/// Its times. `None` if it has no run time or a faulty one.
fn times<'a>(row: &Row, field: &impl Fn(usize) -> &'a str, findings: &mut Findings<'_>) -> Option<Times> {
    let mut time = |column: usize| {
        let text = field(column);
        if text.is_empty() {
            return Some(None);
        }
        findings.number(row.line, COLUMNS[column].name, text, LATEST, "seconds").map(Some)
    };
    let (created, scheduled, deleted) = (time(CREATED), time(SCHEDULED), time(DELETED));
    if let (Some(Some(created)), Some(Some(scheduled))) = (created, scheduled)
        && scheduled < created
    {
        let reason = format!("scheduled before it was created, at {created}");
        findings.add(row.line, "scheduled_time", field(SCHEDULED), Kind::EndBeforeStart, reason);
    }
    match (scheduled?, deleted?) {
        (Some(scheduled), Some(deleted)) if deleted < scheduled => {
            let reason = format!("ends before it was scheduled, at {scheduled}");
            findings.add(row.line, "deletion_time", field(DELETED), Kind::EndBeforeStart, reason);
            None
        }
        (Some(scheduled), Some(deleted)) => {
            if scheduled == deleted {
                let reason = "scheduled and deleted in the same second; taken as one second";
                findings.add(row.line, "deletion_time", field(DELETED), Kind::ZeroRunTime, reason);
            }
            Some(Times { created: created.flatten(), scheduled, deleted })
        }
        (None, _) => {
            let reason = "it was never scheduled, so it has no run time";
            findings.add(row.line, "scheduled_time", "", Kind::NoRunTime, reason);
            None
        }
        (_, None) => {
            let reason = "its end is not recorded, so it has no run time";
            findings.add(row.line, "deletion_time", "", Kind::NoRunTime, reason);
            None
        }
    }
}
