//! The node list: each row a machine, grouped into kinds.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Findings, Kind};
use super::number::MOST_GPUS;
use super::table::{Column, Table};

/// Columns of a node list.
pub(super) const COLUMNS: &[Column] = &[
    Column { name: "sn", required: true },
    Column { name: "cpu_milli", required: true },
    Column { name: "memory_mib", required: true },
    Column { name: "gpu", required: true },
    Column { name: "model", required: true },
];
const SN: usize = 0;
const CPU: usize = 1;
const MEMORY: usize = 2;
const GPU: usize = 3;
const MODEL: usize = 4;

/// Kinds of nodes that a [`crate::workload::TypeMask`] tells apart.
const MOST_KINDS: usize = 64;

/// What machines of one kind have, as far as the list says. The order of the fields is the order of kinds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hardware {
    pub(super) model: String,
    pub(super) gpus: i32,
    pub(super) cpu_milli: i32,
    pub(super) memory_mib: i32,
}

/// The machines.
#[derive(Debug)]
pub(super) struct Nodes {
    /// The kinds, in order.
    pub(super) kinds: Vec<Hardware>,
    /// The kind of each machine, in the order of the file.
    pub(super) nodes: Vec<u8>,
}

impl Hardware {
    /// `2×T4, 104 cores, 512 GiB`.
    pub(super) fn title(&self) -> String {
        let gpus = if self.gpus == 0 { "no GPU".to_owned() } else { format!("{}×{}", self.gpus, self.model) };
        format!("{gpus}, {} cores, {} GiB", thousandths(self.cpu_milli), rounded_gib(self.memory_mib))
    }
}

/// Short names that differ: `T4×2` where that is enough, else with cores (`P100×2-16c`), else also with memory.
pub(super) fn ids(kinds: &[Hardware]) -> Vec<String> {
    let short = |kind: &Hardware| match kind.gpus {
        0 => "CPU".to_owned(),
        gpus => format!("{}×{gpus}", kind.model),
    };
    let cores = |kind: &Hardware| format!("{}-{}c", short(kind), thousandths(kind.cpu_milli));
    let memory = |kind: &Hardware| format!("{}-{}m", cores(kind), kind.memory_mib);
    let alone = |name: &dyn Fn(&Hardware) -> String, kind: &Hardware| {
        kinds.iter().filter(|other| name(other) == name(kind)).count() == 1
    };
    kinds
        .iter()
        .map(|kind| {
            if alone(&short, kind) {
                short(kind)
            } else if alone(&cores, kind) {
                cores(kind)
            } else {
                memory(kind)
            }
        })
        .collect()
}

/// `104`, `8.5`.
fn thousandths(milli: i32) -> String {
    let (whole, part) = (milli / 1000, milli % 1000);
    if part == 0 { whole.to_string() } else { format!("{whole}.{part:03}").trim_end_matches('0').to_owned() }
}

fn rounded_gib(mib: i32) -> i64 {
    (i64::from(mib) + 512) / 1024
}

/// Reads the machines; faulty rows become findings and are left out.
pub(super) fn read(table: &Table, findings: &mut Findings<'_>) -> Nodes {
    let places = table.places(COLUMNS, findings);
    let mut names = BTreeMap::new();
    let mut machines: Vec<Hardware> = Vec::new();
    if findings.refuses() {
        return Nodes { kinds: Vec::new(), nodes: Vec::new() };
    }
    for row in &table.rows {
        let before = findings.list.len();
        let field = |column: usize| row.get(&places, column).unwrap_or_default();
        let mut number = |column: usize, most: i64, unit: &str| {
            let value = findings.number(row.line, COLUMNS[column].name, field(column), most, unit);
            value.map_or(-1, |value| value as i32)
        };
        let cpu_milli = number(CPU, i32::MAX.into(), "thousandths of a core");
        let memory_mib = number(MEMORY, i32::MAX.into(), "MiB");
        let gpus = number(GPU, MOST_GPUS, "GPUs");
        for (column, value) in [(CPU, cpu_milli), (MEMORY, memory_mib)] {
            if value == 0 {
                let reason = "a node without it holds no pod";
                findings.add(row.line, COLUMNS[column].name, field(column), Kind::MissingValue, reason);
            }
        }
        let model = field(MODEL);
        if gpus > 0 && model.is_empty() {
            findings.add(row.line, "model", model, Kind::MissingValue, "a node with GPUs needs their model");
        } else if gpus > 0 && model.contains('|') {
            // Pods list models with this sign between them; a model that contains it could never be named.
            findings.add(row.line, "model", model, Kind::GpuMismatch, "all GPUs of a node are of one model");
        }
        findings.has_own_name(row.line, "sn", field(SN), &mut names, "every node needs a name");
        if findings.list.len() == before {
            // Whatever stands in the model column of a node without GPUs makes no kind of its own.
            let model = if gpus == 0 { String::new() } else { model.to_owned() };
            machines.push(Hardware { model, gpus, cpu_milli, memory_mib });
        }
    }
    let kinds: BTreeSet<&Hardware> = machines.iter().collect();
    if kinds.len() > MOST_KINDS {
        let reason = format!("{} kinds of nodes (cpu, memory, gpu, model); at most {MOST_KINDS}", kinds.len());
        findings.add(table.header_line, "", "", Kind::TooManyKinds, reason);
        return Nodes { kinds: Vec::new(), nodes: Vec::new() };
    }
    let kinds: Vec<Hardware> = kinds.into_iter().cloned().collect();
    // Every machine's kind is in the sorted list, so the search always finds it.
    let nodes =
        machines.iter().filter_map(|machine| kinds.binary_search(machine).ok()).map(|kind| kind as u8).collect();
    Nodes { kinds, nodes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(model: &str, gpus: i32, cpu_milli: i32, memory_mib: i32) -> Hardware {
        Hardware { model: model.to_owned(), gpus, cpu_milli, memory_mib }
    }

    #[test]
    fn ids_say_no_more_than_they_must() {
        let kinds = [
            kind("", 0, 64_000, 1024),
            kind("P100", 2, 8_500, 1024),
            kind("P100", 2, 16_000, 1024),
            kind("T4", 2, 104_000, 524_288),
            kind("V", 4, 96_000, 1024),
            kind("V", 4, 96_000, 2048),
        ];
        assert_eq!(ids(&kinds), ["CPU", "P100×2-8.5c", "P100×2-16c", "T4×2", "V×4-96c-1024m", "V×4-96c-2048m"]);
        assert_eq!(kinds[3].title(), "2×T4, 104 cores, 512 GiB");
        assert_eq!(kinds[0].title(), "no GPU, 64 cores, 1 GiB");
    }

    fn read_text(text: &str) -> (Nodes, Vec<(usize, String, Kind)>) {
        let mut findings = Findings::new("nodes.csv");
        let table = Table::read(text, &mut findings).unwrap();
        let nodes = read(&table, &mut findings);
        (nodes, findings.list.into_iter().map(|finding| (finding.row, finding.column, finding.kind)).collect())
    }

    #[test]
    fn equal_machines_are_one_kind_and_nodes_keep_the_order_of_the_file() {
        let (nodes, found) = read_text(
            "sn,cpu_milli,memory_mib,gpu,model\nb,96000,1024,8,G2\na,64000,1024,2,P100\nc,96000,1024,8,G2\nd,1000,1,0,whatever\n",
        );
        assert_eq!(found, []);
        assert_eq!(nodes.kinds, [kind("", 0, 1000, 1), kind("G2", 8, 96_000, 1024), kind("P100", 2, 64_000, 1024)]);
        assert_eq!(nodes.nodes, [1, 2, 1, 0]);
    }

    #[test]
    fn every_fault_of_a_row_is_said() {
        let (nodes, found) = read_text(
            "sn,cpu_milli,memory_mib,gpu,model\n\
             a,64000,1024,2,P100\n\
             a,-1,99999999999,x,\n\
             ,0,1024,2,\n\
             c,1000,1024,1001,A|B\n\
             d,1000,1024,1,A|B\n",
        );
        assert_eq!(nodes.nodes, [0]);
        let expected = [
            (3, "cpu_milli", Kind::Negative),
            (3, "memory_mib", Kind::TooLarge),
            (3, "gpu", Kind::NotANumber),
            (3, "sn", Kind::RepeatedName),
            (4, "cpu_milli", Kind::MissingValue),
            (4, "model", Kind::MissingValue),
            (4, "sn", Kind::MissingValue),
            (5, "gpu", Kind::TooLarge),
            (6, "model", Kind::GpuMismatch),
        ];
        assert_eq!(found, expected.map(|(row, column, kind)| (row, column.to_owned(), kind)));
    }

    #[test]
    fn sixty_five_kinds_are_refused_and_sixty_four_are_not() {
        let list = |count: usize| {
            let rows: String = (1..=count).map(|n| format!("n{n},{}000,1024,1,T4\n", n)).collect();
            read_text(&format!("sn,cpu_milli,memory_mib,gpu,model\n{rows}"))
        };
        assert_eq!(list(64).0.kinds.len(), 64);
        assert_eq!(list(65).1, [(1, String::new(), Kind::TooManyKinds)]);
    }
}
