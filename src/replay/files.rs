//! What a file of the experiment is, told from its contents, and what its name says.

use serde::{Deserialize, Serialize};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// The node list.
    Nodes,
    /// A pod list: one workload.
    Pods,
    /// The orders of nodes and arrivals of one published run.
    Order,
    /// Published results, run by run.
    Runs,
    /// Published results, means over seeds.
    Means,
}

impl FileKind {
    /// All of them, in the order in which they are asked for.
    pub const ALL: [Self; 5] = [Self::Nodes, Self::Pods, Self::Order, Self::Runs, Self::Means];

    /// Name in keys of texts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Pods => "pods",
            Self::Order => "order",
            Self::Runs => "runs",
            Self::Means => "means",
        }
    }
}

/// Judged by the first line that is not blank; `None` if it is nothing of the kind. Whether it is in order is for those
/// who read it.
#[must_use]
pub fn recognise(text: &str) -> Option<FileKind> {
    let text = text.trim_start_matches('\u{feff}');
    let line = text.lines().find(|line| !line.trim().is_empty())?.to_lowercase();
    if matches!(line.split_whitespace().next(), Some("nodes" | "pods")) && !line.contains([',', ';']) {
        return Some(FileKind::Order);
    }
    let names: Vec<&str> = line.split([',', ';', '\t']).map(|name| name.trim().trim_matches('"')).collect();
    let has = |wanted: &[&str]| names.iter().any(|name| wanted.contains(name));
    if has(&["alloc_mean", "frag_ratio_mean"]) {
        Some(FileKind::Means)
    } else if has(&["arrived_pct", "frag_ratio", "alloc"]) {
        Some(FileKind::Runs)
    } else if has(&["num_gpu", "gpu_milli", "gpu_spec", "pod_phase", "creation_time"]) {
        Some(FileKind::Pods)
    } else if has(&["sn", "gpu", "model"]) {
        Some(FileKind::Nodes)
    } else {
        None
    }
}

/// `openb_pod_list_default.csv` → `default`; other names without their ending.
#[must_use]
pub fn workload(file_name: &str) -> String {
    let stem = stem(file_name);
    stem.strip_prefix("openb_pod_list_").unwrap_or(stem).to_owned()
}

/// `replay_default_42.txt` → 42.
#[must_use]
pub fn seed(file_name: &str) -> Option<u64> {
    stem(file_name).rsplit('_').next()?.parse().ok()
}

/// `replay_default_42.txt` → `default`; `None` for names of another form.
#[must_use]
pub fn workload_of_order(file_name: &str) -> Option<&str> {
    Some(stem(file_name).strip_prefix("replay_")?.rsplit_once('_')?.0)
}

fn stem(file_name: &str) -> &str {
    file_name.rsplit_once('.').map_or(file_name, |(stem, _)| stem)
}

/// Stands for the contents of files (FNV-1a).
#[must_use]
pub fn hash<'a>(texts: impl IntoIterator<Item = &'a str>) -> u64 {
    let bytes = texts.into_iter().flat_map(str::bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_first_line() {
        for (text, kind) in [
            ("sn,cpu_milli,memory_mib,gpu,model\na,1,1,1,T4\n", Some(FileKind::Nodes)),
            ("\u{feff}\n SN;CPU_MILLI;MEMORY_MIB;GPU;MODEL\n", Some(FileKind::Nodes)),
            ("name,cpu_milli,memory_mib,num_gpu,gpu_milli\n", Some(FileKind::Pods)),
            ("nodes 3 1 2\npods 0 0 1\n", Some(FileKind::Order)),
            ("workload,policy,seed,arrived_pct,alloc,frag_ratio\n", Some(FileKind::Runs)),
            (
                "workload,policy,arrived_pct,alloc_mean,alloc_sd,frag_ratio_mean,frag_ratio_sd\n",
                Some(FileKind::Means),
            ),
            ("Dear reader,\nnodes 1 2\n", None),
            ("", None),
        ] {
            assert_eq!(recognise(text), kind, "{text}");
        }
    }

    #[test]
    fn names_say_workload_and_seed() {
        assert_eq!(workload("openb_pod_list_gpuspec10.csv"), "gpuspec10");
        assert_eq!(workload("mine.v2.csv"), "mine.v2");
        assert_eq!(seed("replay_default_42.txt"), Some(42));
        assert_eq!(seed("order.txt"), None);
        assert_eq!(workload_of_order("replay_default_42.txt"), Some("default"));
        assert_eq!(workload_of_order("order_42.txt"), None);
    }

    #[test]
    fn the_hash_is_of_all_texts_in_their_order() {
        assert_eq!(hash(["a", "b"]), hash(["ab"]));
        assert_ne!(hash(["a", "b"]), hash(["b", "a"]));
        assert_eq!(hash([]), 0xcbf2_9ce4_8422_2325);
    }
}
