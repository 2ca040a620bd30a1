//! The lists as the published packing experiment reads them: what pods ask for, without run times, and the nodes that
//! have GPUs. Also its two other files: the exact order of a published run, and the published results.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::finding::{Finding, Findings, Kind, Severity};
use super::number::whole;
use super::pods::{self, Ask};
use super::table::{Column, Table};
use super::{Options, check_kinds_of_files, node_types, nodes};
use crate::cluster::NodeType;

/// The nodes and pods of an experiment.
#[derive(Clone, Debug)]
pub struct Lists {
    /// Kinds of nodes with the three dimensions of the trace.
    pub node_types: Vec<NodeType>,
    /// Row (from 0) and kind of each node that has GPUs, in the order of the file.
    pub nodes: Vec<(u32, u8)>,
    /// Name of each row of the node list.
    pub node_names: Vec<String>,
    /// Rows of the node list that have no GPU; they take no part.
    pub without_gpu: usize,
    /// The pods, in the order of the file.
    pub pods: Vec<Pod>,
    /// What is worth knowing.
    pub notes: Vec<Finding>,
}

/// A pod's request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pod {
    /// Its name.
    pub name: String,
    /// What it asks for.
    pub ask: Ask,
}

/// Order of arrivals and of nodes, by rows (from 0) of the lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Every node with a GPU once; the first is preferred among equals.
    pub nodes: Vec<u32>,
    /// Pods in order of arrival. A row that comes again is a copy; a row may be missing.
    pub pods: Vec<u32>,
}

/// A published point of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// Workload, as in the name of its pod list.
    pub workload: String,
    /// Policy, by its published name.
    pub policy: String,
    /// Seed of the run.
    pub seed: u64,
    /// Demand arrived so far, in percent of the cluster's GPUs.
    pub arrived_pct: u32,
    /// GPU allocated, in percent.
    pub alloc: f64,
    /// Fragmented share of the idle GPU, in percent.
    pub frag_ratio: f64,
}

/// A published mean over the seeds of a workload and a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedMean {
    /// Workload, as in the name of its pod list.
    pub workload: String,
    /// Policy, by its published name.
    pub policy: String,
    /// Demand arrived so far, in percent of the cluster's GPUs.
    pub arrived_pct: u32,
    /// GPU allocated, in percent.
    pub alloc: f64,
    /// Fragmented share of the idle GPU, in percent.
    pub frag_ratio: f64,
}

/// As [`pods::COLUMNS`], without need of times.
const COLUMNS: &[Column] = &{
    let mut columns = [Column { name: "", required: false }; pods::COLUMNS.len()];
    let mut at = 0;
    while at < columns.len() {
        columns[at] = Column { name: pods::COLUMNS[at].name, required: at <= pods::GPU_MILLI };
        at += 1;
    }
    columns
};

const PUBLISHED: &[Column] = &[
    Column { name: "workload", required: true },
    Column { name: "policy", required: true },
    Column { name: "seed", required: true },
    Column { name: "arrived_pct", required: true },
    Column { name: "alloc", required: true },
    Column { name: "frag_ratio", required: true },
];

const MEANS: &[Column] = &[
    Column { name: "workload", required: true },
    Column { name: "policy", required: true },
    Column { name: "arrived_pct", required: true },
    Column { name: "alloc_mean", required: true },
    Column { name: "frag_ratio_mean", required: true },
    Column { name: "alloc_sd", required: false },
    Column { name: "frag_ratio_sd", required: false },
];

/// Reads a node list and a pod list, each as (name, CSV text).
///
/// # Errors
/// Every fault of both files; an experiment cannot be replayed without some of its rows.
pub fn read(nodes: (&str, &str), pods: (&str, &str)) -> Result<Lists, Vec<Finding>> {
    let (mut node_findings, mut pod_findings) = (Findings::new(nodes.0), Findings::new(pods.0));
    let node_table = Table::read(nodes.1, &mut node_findings);
    let pod_table = Table::read(pods.1, &mut pod_findings);
    check_kinds_of_files(node_table.as_ref(), pod_table.as_ref(), &mut node_findings, &mut pod_findings);
    let cluster = read_nodes(node_table.as_ref(), &mut node_findings);
    let mut list = Vec::new();
    if let Some(table) = pod_table.as_ref().filter(|_| !pod_findings.refuses()) {
        list = read_pods(table, &cluster.kinds, &mut pod_findings);
        if !list.iter().any(|pod| pod.ask.gpus > 0) && !cluster.kinds.is_empty() && !pod_findings.refuses() {
            pod_findings.add(
                table.header_line,
                "",
                "",
                Kind::NothingLeft,
                "there is no usable pod that asks for a GPU",
            );
        }
    }
    let mut findings = node_findings.by_row();
    findings.append(&mut pod_findings.by_row());
    if findings.iter().any(|finding| finding.kind.severity() != Severity::Note) {
        findings.retain(|finding| finding.kind.severity() != Severity::Note);
        return Err(findings);
    }
    let node_names = node_table.as_ref().map_or_else(Vec::new, nodes::names);
    let has_gpu = |kind: &u8| cluster.kinds[usize::from(*kind)].gpus > 0;
    let nodes: Vec<(u32, u8)> = (0..).zip(cluster.nodes.iter().copied()).filter(|(_, kind)| has_gpu(kind)).collect();
    Ok(Lists {
        node_types: node_types(&cluster.kinds, &Options { assume: false, ..Options::default() }),
        without_gpu: cluster.nodes.len() - nodes.len(),
        node_names,
        nodes,
        pods: list,
        notes: findings,
    })
}

/// What is wrong with a list, as (name, CSV text), where the other cannot be read: all but what it takes both to tell.
#[must_use]
pub fn examine(nodes: Option<(&str, &str)>, pods: Option<(&str, &str)>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some((name, text)) = nodes {
        let mut found = Findings::new(name);
        let table = Table::read(text, &mut found);
        check_kinds_of_files(table.as_ref(), None, &mut found, &mut Findings::new(""));
        read_nodes(table.as_ref(), &mut found);
        findings.append(&mut found.by_row());
    }
    if let Some((name, text)) = pods {
        let mut found = Findings::new(name);
        let table = Table::read(text, &mut found);
        check_kinds_of_files(None, table.as_ref(), &mut Findings::new(""), &mut found);
        if let Some(table) = table.filter(|_| !found.refuses()) {
            read_pods(&table, &[], &mut found);
        }
        findings.append(&mut found.by_row());
    }
    findings.retain(|finding| finding.kind.severity() != Severity::Note);
    findings
}

/// The machines of a node list; none if it cannot be used, which then is a finding.
fn read_nodes(table: Option<&Table>, findings: &mut Findings<'_>) -> nodes::Nodes {
    let Some(table) = table.filter(|_| !findings.refuses()) else {
        return nodes::Nodes { kinds: Vec::new(), nodes: Vec::new() };
    };
    let cluster = nodes::read(table, findings);
    if let Some((line, count)) = too_many_devices(table, &cluster) {
        findings.add(line, "gpu", &count.to_string(), Kind::TooLarge, "at most 64 GPUs a node here");
    }
    if !cluster.kinds.iter().any(|kind| kind.gpus > 0) && !findings.refuses() {
        findings.add(table.header_line, "", "", Kind::NothingLeft, "there is no usable node with a GPU");
    }
    cluster
}

/// The first row with more devices than are kept one by one, and their number.
fn too_many_devices(table: &Table, cluster: &nodes::Nodes) -> Option<(usize, i32)> {
    let count = |kind: &u8| cluster.kinds[usize::from(*kind)].gpus;
    let first = cluster.nodes.iter().position(|kind| count(kind) > crate::cluster::devices::MOST_DEVICES as i32)?;
    Some((table.rows.get(first)?.line, count(&cluster.nodes[first])))
}

fn read_pods(table: &Table, kinds: &[nodes::Hardware], findings: &mut Findings<'_>) -> Vec<Pod> {
    let places = table.places(COLUMNS, findings);
    let mut list = Vec::new();
    if findings.refuses() {
        return list;
    }
    let mut names = BTreeMap::new();
    for row in &table.rows {
        let field = |column: usize| row.get(&places, column).unwrap_or_default();
        let name = field(pods::NAME);
        let is_named = pods::has_own_name(row, name, &mut names, findings);
        if let Some(ask) = pods::ask(row, &field, kinds, findings).filter(|_| is_named) {
            list.push(Pod { name: name.to_owned(), ask });
        }
    }
    if kinds.is_empty() {
        // Without nodes every model is unknown; the node list's findings say what is wrong.
        findings.list.retain(|finding| finding.kind != Kind::UnknownModel);
    }
    list
}

/// Reads an order: a line `nodes` and a line `pods`, each with rows (from 0) of its list.
///
/// # Errors
/// Every number that is no such row, every node that is missing or comes twice, and lines that are not as they
/// should be.
pub fn read_order(file: (&str, &str), lists: &Lists) -> Result<Rows, Vec<Finding>> {
    let mut findings = Findings::new(file.0);
    let mut rows = Rows::default();
    let text = file.1.strip_prefix('\u{feff}').unwrap_or(file.1);
    let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let last_node = lists.nodes.iter().map(|(row, _)| *row).max().unwrap_or(0);
    for (word, most, into) in
        [("nodes", last_node as usize, &mut rows.nodes), ("pods", lists.pods.len().saturating_sub(1), &mut rows.pods)]
    {
        let Some((line, number)) = lines.next() else {
            let reason = format!("a line is missing: the word {word}, then rows of the {word} list, counted from 0");
            findings.add(text.lines().count().max(1), "", "", Kind::MissingValue, reason);
            continue;
        };
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        if first != word {
            let reason = format!("this line must start with the word {word}; is it an order file at all?");
            findings.add(number, "word 1", first, Kind::WrongFile, reason);
            continue;
        }
        for (text, position) in words.zip(2..) {
            match whole(text, most as i64, "") {
                Ok(row) => into.push(row as u32),
                Err((kind, _)) => {
                    let reason = format!("rows of this {word} list are whole numbers from 0 to {most}");
                    findings.add(number, &format!("word {position}"), text, kind, reason);
                }
            }
        }
        if into.is_empty() && !findings.refuses() {
            findings.add(number, "", "", Kind::MissingValue, format!("no rows follow the word {word}"));
        }
    }
    if let Some((line, number)) = lines.next() {
        findings.add(number, "", line, Kind::FieldCount, "only two lines belong here: nodes, and pods");
    }
    if findings.list.is_empty() {
        check_nodes(&rows.nodes, lists, &mut findings);
    }
    if findings.list.is_empty() { Ok(rows) } else { Err(findings.by_row()) }
}

/// Every node with a GPU must come exactly once.
fn check_nodes(rows: &[u32], lists: &Lists, findings: &mut Findings<'_>) {
    let mut count: BTreeMap<u32, u32> = lists.nodes.iter().map(|(row, _)| (*row, 0)).collect();
    for (&row, position) in rows.iter().zip(2..) {
        let column = format!("word {position}");
        match count.get_mut(&row) {
            Some(0) => {
                count.insert(row, 1);
            }
            Some(_) => findings.add(1, &column, &row.to_string(), Kind::RepeatedName, "this node came before"),
            None => findings.add(1, &column, &row.to_string(), Kind::GpuMismatch, "this node has no GPU"),
        }
    }
    for (row, _) in count.iter().filter(|(_, count)| **count == 0) {
        findings.add(1, "nodes", &row.to_string(), Kind::MissingValue, "this node of the list does not occur");
    }
}

/// Reads published results, one row a workload, policy, seed and percent arrived.
///
/// # Errors
/// Everything wrong with the file.
pub fn read_published(file: (&str, &str)) -> Result<Vec<Published>, Vec<Finding>> {
    let mut findings = Findings::new(file.0);
    let mut published = Vec::new();
    if let Some(table) = Table::read(file.1, &mut findings) {
        let places = table.places(PUBLISHED, &mut findings);
        if !findings.refuses() {
            for row in &table.rows {
                let field = |column: usize| row.get(&places, column).unwrap_or_default();
                let mut number = |column: usize, most: i64, unit: &str| {
                    let value = findings.number(row.line, PUBLISHED[column].name, field(column), most, unit);
                    value.map(|value| value as u64)
                };
                let (seed, arrived) = (number(2, i64::MAX, "seed"), number(3, 100_000, "percent"));
                let mut share = |column: usize| {
                    let value = percent(field(column));
                    if value.is_none() {
                        let name = PUBLISHED[column].name;
                        findings.add(row.line, name, field(column), Kind::NotANumber, NOT_A_PERCENTAGE);
                    }
                    value
                };
                let (alloc, frag_ratio) = (share(4), share(5));
                if let (Some(seed), Some(arrived), Some(alloc), Some(frag_ratio)) = (seed, arrived, alloc, frag_ratio)
                {
                    published.push(Published {
                        workload: field(0).to_owned(),
                        policy: field(1).to_owned(),
                        seed,
                        arrived_pct: arrived as u32,
                        alloc,
                        frag_ratio,
                    });
                }
            }
        }
    }
    let mut found = findings.by_row();
    found.retain(|finding| finding.kind.severity() != Severity::Note);
    if found.is_empty() { Ok(published) } else { Err(found) }
}

/// Reads published means over seeds, one row a workload, policy and percent arrived.
///
/// # Errors
/// Everything wrong with the file.
pub fn read_means(file: (&str, &str)) -> Result<Vec<PublishedMean>, Vec<Finding>> {
    let mut findings = Findings::new(file.0);
    let mut means = Vec::new();
    if let Some(table) = Table::read(file.1, &mut findings) {
        let places = table.places(MEANS, &mut findings);
        let rows = if findings.refuses() { &[] } else { table.rows.as_slice() };
        for row in rows {
            let field = |column: usize| row.get(&places, column).unwrap_or_default();
            let arrived = whole(field(2), 100_000, "percent").map_err(|(kind, reason)| {
                findings.add(row.line, MEANS[2].name, field(2), kind, reason);
            });
            let mut share = |column: usize| {
                let value = percent(field(column));
                if value.is_none() {
                    findings.add(row.line, MEANS[column].name, field(column), Kind::NotANumber, NOT_A_PERCENTAGE);
                }
                value
            };
            if let (Ok(arrived), Some(alloc), Some(frag_ratio)) = (arrived, share(3), share(4)) {
                means.push(PublishedMean {
                    workload: field(0).to_owned(),
                    policy: field(1).to_owned(),
                    arrived_pct: arrived as u32,
                    alloc,
                    frag_ratio,
                });
            }
        }
    }
    let mut found = findings.by_row();
    found.retain(|finding| finding.kind.severity() != Severity::Note);
    if found.is_empty() { Ok(means) } else { Err(found) }
}

const NOT_A_PERCENTAGE: &str = "a number of percent from 0 to 100 is needed";

fn percent(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| (0.0..=100.0).contains(value))
}
