//! Every key of a scenario file, in one table: where it is kept, its unit, its range and what it does.
//!
//! Reading, "did you mean", `--set`, the list of knobs and the documentation are all derived from these tables.
//! Default values are in `scenarios/model.toml`, with their sources; the knobs of schedulers are on their cards.

use crate::scenario::field::{Bounds, Field};
use crate::scenario::{ClassSpec, NodeTypeSpec, Scenario};

/// A key of a scenario file, kept in an `S`.
pub(super) struct Key<S: 'static> {
    /// Dotted path below the table that an `S` stands for.
    pub path: &'static str,
    /// Unit and range.
    pub bounds: Bounds,
    /// What it does, in one line.
    pub help: &'static str,
    /// Where it is kept.
    pub read: fn(&S) -> &dyn Field,
    /// Where it is kept, to write.
    pub write: fn(&mut S) -> &mut dyn Field,
}

/// `key!(place, …)` is kept at the place that its path names; `key!("path" => place, …)` elsewhere.
macro_rules! key {
    ($first:ident $(. $next:ident)*, $unit:literal, $low:literal..$high:literal, $help:literal) => {
        key!(concat!(stringify!($first) $(, ".", stringify!($next))*) => $first $(. $next)*, $unit, $low..$high, $help)
    };
    ($path:expr => $($place:ident).+, $unit:literal, $low:literal..$high:literal, $help:literal) => {
        Key {
            path: $path,
            bounds: Bounds { range: ($low as f64, $high as f64), unit: $unit },
            help: $help,
            read: |owner| &owner.$($place).+,
            write: |owner| &mut owner.$($place).+,
        }
    };
}

/// Keys of the file itself and of its sections.
pub(super) const KEYS: &[Key<Scenario>] = &[
    key!(title, "", 0..0, "Name for people."),
    key!(about, "", 0..0, "What the scenario is for, in a sentence or two."),
    key!(preset, "", 0..0, "Which of the file's [presets] to apply; empty: none."),
    key!(
        load,
        "share of all GPUs",
        0.05..1.5,
        "Offered GPU work as a share of the cluster's GPUs; above 1 the queue grows for ever."
    ),
    key!(nodes, "nodes", 1..200000, "Size of the cluster. Arrivals scale with it, so the load stays."),
    key!(hours, "h", 0.1..8760, "Length of the run in simulated hours."),
    key!(warm_up_hours, "h", 0..8760, "Start of the run that is simulated but not measured."),
    key!(storage_intensity, "×", 0.5..1.5, "Multiplies the storage bandwidth that every class asks for."),
    key!(
        sharing,
        "",
        0..0,
        "How storage and I/O CPU are divided: max-min (small asks met in full) or proportional (an un-policed disk)."
    ),
    key!(out_of_memory, "", 0..0, "When GPU memory cannot grow: requeue (evict, lose work) or throttle (slow down)."),
    key!(eviction_loss, "share of the work done", 0..1, "What an eviction throws away of the work done so far."),
    key!(
        bursts.factor,
        "× the mean rate",
        1..20,
        "Arrival rate inside a burst; 1: no bursts. Outside it is lowered so that the mean stays."
    ),
    key!(bursts.on_minutes, "min", 0.1..1440, "Mean length of a burst (exponential)."),
    key!(bursts.off_minutes, "min", 0.1..1440, "Mean time between bursts (exponential)."),
    key!(
        rebuilds.degraded_share,
        "share of nodes",
        0..0.9,
        "Nodes that are rebuilding their storage at any time, on average; 0: none ever."
    ),
    key!(
        rebuilds.mean_hours,
        "h",
        0.05..1000,
        "Mean length of a rebuild (exponential). Time healthy follows from the share."
    ),
    key!(
        rebuilds.factor_min,
        "share of nominal",
        0.01..1,
        "Least storage bandwidth left while rebuilding; drawn evenly up to factor_max."
    ),
    key!(rebuilds.factor_max, "share of nominal", 0.01..1, "Most storage bandwidth left while rebuilding."),
    key!(rebuilds.ioc_factor, "share of nominal", 0.01..1, "I/O CPU left while rebuilding."),
    key!(growth.steps, "steps", 1..64, "Equal steps in which the demand of a growing job rises over its life."),
    key!(growth.hbm, "× demand at admission", 0..10, "GPU memory that a growing job gains over its life."),
    key!(growth.sto, "× demand at admission", 0..10, "Storage bandwidth that a growing job gains over its life."),
    key!(growth.ioc, "× demand at admission", 0..10, "I/O CPU that a growing job gains over its life."),
    key!(growth.hbm_cap, "GiB", 1..16384, "GPU memory of a task never grows beyond this."),
    key!(limits.cpu, "cores", 0.1..1024, "No drawn task asks for more CPU."),
    key!(limits.ram, "GiB", 0.1..65536, "No drawn task asks for more memory."),
    key!(
        limits.hbm_per_gpu,
        "GiB",
        0.1..16384,
        "No drawn task asks for more GPU memory a GPU (a task of less than a GPU counts as one)."
    ),
    key!(limits.hbm, "GiB", 0.1..16384, "No drawn task asks for more GPU memory in all."),
    key!(limits.net, "Gbit/s", 0.01..10000, "No drawn task asks for more network."),
    key!(limits.sto, "GB/s", 0.01..1000, "No drawn task asks for more storage bandwidth."),
    key!(limits.ioc, "cores", 0.01..1024, "No drawn task asks for more I/O CPU."),
    key!(
        queue.discipline,
        "",
        0..0,
        "backfill (later jobs may start while an earlier one does not fit) or strict (nobody overtakes)."
    ),
    key!(queue.window, "jobs", 2..10000, "Waiting jobs that a scheduling pass tries, with backfill."),
    key!(
        queue.reserve_after_minutes,
        "min",
        0..100000,
        "A job in the window that waited longer reserves nodes; 0: never. With backfill."
    ),
    key!(queue.reserve_share, "share of nodes", 0..1, "Most nodes reserved at once…"),
    key!(queue.reserve_nodes, "nodes", 0..200000, "…but at least this many may be."),
    key!(
        telemetry.interval_seconds,
        "s",
        0..86400,
        "Time between readings of the storage state; 0: schedulers that look know the truth at once."
    ),
    key!(telemetry.noise, "σ of ln", 0..2, "Error of a reading: standard deviation of its logarithm."),
    key!(
        telemetry.smoothing,
        "weight",
        0.001..1,
        "Weight of the newest reading in the moving average (EWMA α); 1: no smoothing."
    ),
    key!(
        telemetry.dead_band,
        "share of nominal",
        0..1,
        "The published estimate moves only when the average is further away than this."
    ),
    key!(
        scheduler.fit_dims,
        "dimensions",
        0..0,
        "Soft dimensions that decide whether a task fits, with the five hard ones, which always do; \"own\": those of the \
         scheduler's name."
    ),
    key!(
        scheduler.score_dims,
        "dimensions",
        0..0,
        "Dimensions that the score looks at; \"own\": those of the scheduler's name."
    ),
    key!(
        scheduler.safety,
        "share of the estimate",
        0.1..2,
        "Plan with this share of the estimated storage bandwidth and I/O CPU (θ)."
    ),
    key!(
        scheduler.cordon,
        "share of nominal",
        0..1,
        "Never place where the estimated storage bandwidth is below this; 0: no such rule."
    ),
    key!(
        scheduler.foresight,
        "share of the growth",
        0..1,
        "Part of a job's future growth that is planned for at admission."
    ),
    key!(
        scheduler.sample,
        "nodes",
        0..200000,
        "Feasible nodes that a decision scores, looking on from where the last one stopped as kube-scheduler does; 0: all. \
         Measured with RAGP-I/O on 1000 nodes: 100 lose 0.3 points of F_lost, 30 lose 1.1."
    ),
];

/// Keys of a node type, below `node_types.ID`.
pub(super) const NODE_TYPE_KEYS: &[Key<NodeTypeSpec>] = &[
    key!(title, "", 0..0, "What the machine is."),
    key!(share, "share of nodes", 0..1, "Part of the nodes that are of this type; all types sum to 1."),
    key!("cpu" => has.cpu, "cores", 0..1024, "CPU of a node."),
    key!("ram" => has.ram, "GiB", 0..65536, "Memory of a node."),
    key!("gpu" => has.gpu, "GPUs", 0..64, "GPUs of a node."),
    key!("hbm" => has.hbm, "GiB", 0..16384, "GPU memory of a node, all GPUs together."),
    key!("net" => has.net, "Gbit/s", 0..10000, "Network of a node."),
    key!("sto" => has.sto, "GB/s", 0..1000, "Storage bandwidth of a healthy node."),
    key!("ioc" => has.ioc, "cores", 0..1024, "CPU reserved for I/O, apart from `cpu`."),
];

/// Keys of a job class, below `classes.ID`.
pub(super) const CLASS_KEYS: &[Key<ClassSpec>] = &[
    key!(title, "", 0..0, "What the jobs are."),
    key!(share, "share of GPU-hours", 0..1, "Part of the offered GPU-hours; all classes sum to 1."),
    key!("cpu" => asks.cpu, "cores", 0..1024, "CPU of a typical task."),
    key!("ram" => asks.ram, "GiB", 0..65536, "Memory of a typical task."),
    key!("gpu" => asks.gpu, "GPUs", 0.05..64, "GPUs of every task; half GPUs are allowed."),
    key!("hbm" => asks.hbm, "GiB", 0..16384, "GPU memory of a typical task at admission."),
    key!("net" => asks.net, "Gbit/s", 0..10000, "Network of a typical task."),
    key!("sto" => asks.sto, "GB/s", 0..1000, "Storage bandwidth of a typical task at admission, before storage_intensity."),
    key!("ioc" => asks.ioc, "cores", 0..1024, "I/O CPU of a typical task at admission."),
    key!(work_minutes, "min", 0.1..100000, "Mean time a job takes at full speed."),
    key!(
        work_sigma,
        "σ of ln",
        0..1,
        "Spread of that time (log-normal, cut to 0.1 to 6 times the mean; above 1 the cut would take much of the load)."
    ),
    key!(gang, "[tasks, probability]", 0..0, "How many identical tasks start together, and how often."),
    key!(jitter_hard, "σ of ln", 0..1, "Spread of CPU, memory, GPU memory and network among jobs (log-normal)."),
    key!(jitter_soft, "σ of ln", 0..1, "Spread of storage bandwidth and I/O CPU among jobs (log-normal)."),
    key!(grows, "", 0..0, "Whether the demand grows over the job's life, as [growth] says."),
    key!(training, "", 0..0, "Whether its waits count as training waits."),
    key!(bursty, "", 0..0, "Whether its arrivals follow [bursts]."),
];
