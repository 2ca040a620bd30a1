//! What the trace does not say and is assumed: GPU memory, network, storage bandwidth, I/O CPU. Each number has its
//! reason, and each becomes a line of the output.
//!
//! Capacities are so many of each a GPU of the node, demands so many a GPU of the pod. They follow the ratios of the
//! synthetic scenarios (`scenarios/`), so that a trace and a scenario can be compared.

use serde::{Deserialize, Serialize};

use super::classes::Class;
use super::nodes::Hardware;
use crate::resources::{Amounts, Dim};

/// One thing assumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assumption {
    /// What it is about, e.g. `GPU memory of T4`.
    pub what: String,
    /// The number with its unit, or the rule.
    pub value: String,
    /// Why, or from where.
    pub reason: String,
}

impl Assumption {
    pub(super) fn new(what: impl Into<String>, value: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { what: what.into(), value: value.into(), reason: reason.into() }
    }
}

/// GPU memory by model in GiB, from NVIDIA's public datasheets of these products (which say GB).
const GPU_MEMORY_GIB: &[(&str, i32, &str)] = &[
    ("A10", 24, "NVIDIA A10 datasheet: 24 GB GDDR6"),
    ("P100", 16, "NVIDIA Tesla P100 datasheet: 16 GB HBM2 (a 12 GB variant exists)"),
    ("T4", 16, "NVIDIA T4 datasheet: 16 GB GDDR6"),
    ("V100M16", 16, "NVIDIA V100 datasheet, the 16 GB HBM2 variant that the name says"),
    ("V100M32", 32, "NVIDIA V100 datasheet, the 32 GB HBM2 variant that the name says"),
];

/// For models the table does not have; the trace hides the names of some (G2, G3).
const GPU_MEMORY_GIB_UNNAMED: i32 = 32;

/// So many a GPU, in the whole units of [`Dim`]: Mbit/s, MB/s, thousandths of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PerGpu {
    net: i32,
    sto: i32,
    ioc: i32,
}

/// What a node has, a GPU: an eighth of the scenarios' G8 node (400 Gbit/s, 24 GB/s, 16 I/O cores).
const NODE: PerGpu = PerGpu { net: 50_000, sto: 3_000, ioc: 2_000 };
/// What plain inference asks for: the scenarios' `llm_rt`.
const INFERENCE_PLAIN: PerGpu = PerGpu { net: 25_000, sto: 800, ioc: 800 };
/// What inference with retrieval asks for: the scenarios' `rag_rt`.
const INFERENCE_RETRIEVAL: PerGpu = PerGpu { net: 30_000, sto: 4_200, ioc: 2_400 };
/// What training asks for: a quarter of the scenarios' 4-GPU `train` task.
const TRAIN: PerGpu = PerGpu { net: 45_000, sto: 1_250, ioc: 1_000 };
/// What best-effort work asks for: the scenarios' `batch`.
const BATCH: PerGpu = PerGpu { net: 20_000, sto: 2_800, ioc: 2_000 };
/// What a pod without GPUs asks for: nothing, as the scenarios have no such class to take numbers from.
const NOTHING: PerGpu = PerGpu { net: 0, sto: 0, ioc: 0 };

impl PerGpu {
    fn write(self, amounts: &mut Amounts, gpu_milli: i32) {
        for (dim, each) in [(Dim::Net, self.net), (Dim::Sto, self.sto), (Dim::Ioc, self.ioc)] {
            amounts[dim] = scaled(each, gpu_milli);
        }
    }

    fn in_words(self) -> String {
        format!(
            "network {} Gbit/s, storage {} GB/s, I/O CPU {} cores",
            Dim::Net.value(self.net),
            Dim::Sto.value(self.sto),
            Dim::Ioc.value(self.ioc)
        )
    }
}

/// `each` a GPU × so many thousandths of a GPU. At most 50,000 × 1,000 GPUs: inside 32 bits.
fn scaled(each: i32, gpu_milli: i32) -> i32 {
    (i64::from(each) * i64::from(gpu_milli) / 1000) as i32
}

/// Memory of one GPU of that model in MiB.
fn gpu_memory_mib(model: &str) -> i32 {
    let listed = GPU_MEMORY_GIB.iter().find(|(name, ..)| *name == model);
    listed.map_or(GPU_MEMORY_GIB_UNNAMED, |(_, gib, _)| *gib) * 1024
}

/// Adds the assumed dimensions to a node's capacity.
pub(super) fn complete_node(kind: &Hardware, capacity: &mut Amounts) {
    capacity[Dim::Hbm] = gpu_memory_mib(&kind.model) * kind.gpus;
    NODE.write(capacity, kind.gpus * 1000);
}

/// Adds the assumed dimensions to a pod's demand. `allowed` are the kinds of nodes it may run on and fits on;
/// `turn` counts the pods of its class before it.
pub(super) fn complete_pod<'a>(
    class: Class,
    turn: usize,
    allowed: impl Iterator<Item = &'a Hardware> + Clone,
    demand: &mut Amounts,
) {
    let gpu_milli = demand[Dim::Gpu];
    let each = match class {
        Class::Inference if turn % 2 == 1 => INFERENCE_RETRIEVAL,
        Class::Inference => INFERENCE_PLAIN,
        Class::Train => TRAIN,
        Class::Batch => BATCH,
        Class::Cpu => NOTHING,
    };
    each.write(demand, gpu_milli);
    // The least memory among the models it may get: where its GPU share fits, its memory fits as well.
    let memory = allowed.clone().map(|kind| gpu_memory_mib(&kind.model)).min().unwrap_or(0);
    demand[Dim::Hbm] = scaled(memory, gpu_milli);
    // Retrieval asks for more a GPU than a node has: on a node with one GPU it could never start. Capacities go with
    // the number of GPUs, so the node with the most of them has the most of everything assumed.
    let mut most = Amounts::ZERO;
    NODE.write(&mut most, allowed.map(|kind| kind.gpus * 1000).max().unwrap_or(0));
    for dim in [Dim::Net, Dim::Sto, Dim::Ioc] {
        demand[dim] = demand[dim].min(most[dim]);
    }
}

/// The lines that say all of the above, for the kinds and classes that are there.
pub(super) fn lines(kinds: &[Hardware], classes: &[Class]) -> Vec<Assumption> {
    let mut models: Vec<&str> = kinds.iter().filter(|kind| kind.gpus > 0).map(|kind| kind.model.as_str()).collect();
    models.dedup();
    let mut lines: Vec<Assumption> = models
        .into_iter()
        .map(|model| {
            let listed = GPU_MEMORY_GIB.iter().find(|(name, ..)| *name == model);
            let reason = listed.map_or(
                "the trace does not say what this model is; as much as the largest model it names (V100M32)",
                |(.., source)| source,
            );
            Assumption::new(
                format!("GPU memory of {model}"),
                format!("{} GiB a GPU", gpu_memory_mib(model) / 1024),
                reason,
            )
        })
        .collect();
    lines.push(Assumption::new(
        "GPU memory a pod asks for",
        "its GPU share × the least memory among the models it may run on",
        "the trace has no GPU memory; so chosen, it never forbids a node that the trace's own columns allow",
    ));
    lines.push(Assumption::new(
        "what a node has, each GPU",
        NODE.in_words(),
        "an eighth of the scenarios' G8 node; the trace has none of the three",
    ));
    for class in classes {
        let (value, reason) = match class {
            Class::Inference => (
                format!(
                    "the 1st, 3rd, 5th … pod: {}; the 2nd, 4th, 6th … pod: {}",
                    INFERENCE_PLAIN.in_words(),
                    INFERENCE_RETRIEVAL.in_words()
                ),
                "the scenarios' llm_rt and rag_rt in equal parts, taken in turn in the order of the file; the trace \
                 does not say which pods read from storage",
            ),
            Class::Train => (TRAIN.in_words(), "a quarter of the scenarios' 4-GPU train task"),
            Class::Batch => (BATCH.in_words(), "the scenarios' batch class"),
            Class::Cpu => (
                "no network, storage or I/O CPU".to_owned(),
                "the scenarios have no class without GPUs to take numbers from",
            ),
        };
        let what = match class {
            Class::Cpu => format!("what {} pods ask for", class.id()),
            _ => format!("what {} pods ask for, each GPU", class.id()),
        };
        lines.push(Assumption::new(what, value, reason));
    }
    lines.push(Assumption::new(
        "most that a pod asks for",
        "what the largest node it may run on has when healthy",
        "else a retrieval pod that fits only nodes with one GPU could never start",
    ));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(model: &str, gpus: i32) -> Hardware {
        Hardware { model: model.to_owned(), gpus, cpu_milli: 64_000, memory_mib: 262_144 }
    }

    fn demand(class: Class, turn: usize, gpu_milli: i32, allowed: &[Hardware]) -> [i32; 4] {
        let mut demand = Amounts::ZERO;
        demand[Dim::Gpu] = gpu_milli;
        complete_pod(class, turn, allowed.iter(), &mut demand);
        [Dim::Hbm, Dim::Net, Dim::Sto, Dim::Ioc].map(|dim| demand[dim])
    }

    #[test]
    fn a_node_has_so_much_a_gpu() {
        let mut capacity = Amounts::ZERO;
        complete_node(&kind("V100M32", 8), &mut capacity);
        assert_eq!(capacity.0, [0, 0, 0, 8 * 32 * 1024, 400_000, 24_000, 16_000]);
    }

    #[test]
    fn a_pod_asks_for_its_share() {
        let nodes = [kind("T4", 2), kind("V100M32", 8)];
        assert_eq!(demand(Class::Inference, 0, 460, &nodes), [7536, 11_500, 368, 368]);
        assert_eq!(demand(Class::Inference, 1, 1000, &nodes), [16_384, 30_000, 4_200, 2_400]);
        assert_eq!(demand(Class::Inference, 1, 1000, &nodes[1..]), [32_768, 30_000, 4_200, 2_400]);
        assert_eq!(demand(Class::Train, 0, 8000, &nodes), [131_072, 360_000, 10_000, 8_000]);
        assert_eq!(demand(Class::Cpu, 0, 0, &nodes), [0; 4]);
    }

    #[test]
    fn nobody_asks_for_more_than_the_largest_node_has() {
        assert_eq!(demand(Class::Inference, 1, 1000, &[kind("A10", 1)]), [24_576, 30_000, 3_000, 2_000]);
    }

    #[test]
    fn unnamed_models_have_as_much_memory_as_the_largest_named() {
        assert_eq!(GPU_MEMORY_GIB.iter().map(|(_, gib, _)| *gib).max(), Some(GPU_MEMORY_GIB_UNNAMED));
        assert_eq!(gpu_memory_mib("G2"), 32 * 1024);
    }
}
