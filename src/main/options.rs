//! What can be asked for on the command line.

use std::path::PathBuf;

use clap::builder::RangedI64ValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

/// What competing GPU-cluster schedulers do to the same stream of jobs.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "\
Try:
  residua run c                             four schedulers on scenario C, 5 seeds
  residua run c --preset hot --seeds 20     a hotter cluster, and narrower intervals
  residua replay --nodes N.csv --pods P.csv --order replay.txt --policy all
                                            the FGD paper's experiment, exactly
  residua run d --schedulers ragp-5d,ragp-io --set scheduler.foresight=1
  residua run --trace-nodes N.csv --trace-pods P.csv --arrivals recorded
                                            a real cluster's jobs, when they came

Exit codes: 0 done, 1 a run failed, 2 bad input."
)]
pub struct Options {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List schedulers, scenarios, and every key that can be set.
    List(ListOptions),
    /// Check scenario files: every problem of every file at once. Exit code 2 if there is any.
    Check(CheckOptions),
    /// Run schedulers on a scenario or a real trace, all on the same jobs, and compare them.
    Run(Box<RunOptions>),
    /// Replay the packing experiment of the FGD paper (USENIX ATC 2023) on its published traces.
    Replay(Box<ReplayOptions>),
}

/// Options of `list`.
#[derive(Debug, Args)]
pub struct ListOptions {
    /// Print one JSON object instead of text for people.
    #[arg(long)]
    pub json: bool,
}

/// Options of `check`.
#[derive(Debug, Args)]
pub struct CheckOptions {
    /// Scenario files (TOML).
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Options of `run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Every scheduler gets the same jobs and the same storage rebuilds for a seed. Differences are taken within a seed,
so most of the luck cancels; an interval that excludes 0 is marked *.

Fractions in --json are 0 to 1, times are seconds. The output does not depend on the number of threads.

The object of --json has:
  scenario, settings   flat dotted keys, each as --set takes it
  prices               of a GPU-hour, in dollars
  runs                 scheduler, seed, digest, metrics (with the ledger, in GPU-hours) and bill (in dollars) of each
  summary              of each scheduler: mean over the seeds, and ci95, half of its 95 % t-interval
  paired               the same of differences from the first scheduler, seed by seed
  trace                with a real trace: how jobs arrive, what was read, left out, assumed and ignored
A mean is null where no seed has the measure, ci95 where fewer than two have. throughput_rel, GPU work done ÷ arrived in
the measured hours, may exceed 1: work that arrived before them may be done in them.")]
pub struct RunOptions {
    /// A scenario: a-balanced, b-bursty, c-storage-stress, d-breathing, its letter, or a file.
    #[arg(value_name = "SCENARIO", required_unless_present = "trace_nodes")]
    pub scenario: Option<String>,

    /// Schedulers to compare, the first is the baseline; `all` for the whole roster.
    #[arg(long, value_delimiter = ',', value_name = "ID,…", default_value = "scalar-5d,tetris-5d,ragp-5d,ragp-io")]
    pub schedulers: Vec<String>,

    /// Run seeds 1 to N; by default 5, and 1 with recorded arrivals, which do not depend on it.
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = RangedI64ValueParser::<u64>::new().range(1..=1000))]
    pub seeds: Option<u64>,

    /// Run this one seed.
    #[arg(long, allow_negative_numbers = true, value_name = "S", value_parser = seed, conflicts_with = "seeds")]
    pub seed: Option<u64>,

    /// Apply one of the file's presets, e.g. hot.
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,

    /// Set a key; may be repeated. `residua list` names all keys.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,

    /// Offered GPU work as a share of the cluster's GPUs (short for --set load=X).
    #[arg(long, allow_negative_numbers = true, value_name = "X")]
    pub load: Option<String>,

    /// Length of the run in simulated hours (short for --set hours=H).
    #[arg(long, allow_negative_numbers = true, value_name = "H")]
    pub hours: Option<String>,

    /// Hours at the start that are not measured (short for --set warm_up_hours=H).
    #[arg(long, allow_negative_numbers = true, value_name = "H")]
    pub warm_up_hours: Option<String>,

    /// Price of one GPU for one hour, in dollars: 0 to 1000.
    #[arg(long, allow_negative_numbers = true, value_name = "USD", default_value_t = 3.0)]
    pub price: f64,

    /// Print one JSON object instead of tables for people.
    #[arg(long)]
    pub json: bool,

    /// Threads to use, at most four a core; by default one a core.
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,

    /// Memory that the runs which go on at once may take together, in MB. What is estimated to need more is refused.
    #[arg(long, allow_negative_numbers = true, value_name = "MB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=16_777_216))]
    pub memory: u64,

    /// A real trace instead of synthetic jobs.
    #[command(flatten)]
    pub trace: TraceOptions,
}

/// Any seed; the parser of the type itself does not say what is allowed.
fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a whole number from 0 to {} is needed", u64::MAX))
}

/// Options of a run on a trace.
#[derive(Debug, Args)]
#[command(next_help_heading = "Real trace (openb)")]
pub struct TraceOptions {
    /// Node list (CSV: sn, cpu_milli, memory_mib, gpu, model).
    #[arg(long, value_name = "FILE", requires = "trace_pods")]
    pub trace_nodes: Option<PathBuf>,

    /// Pod list (CSV), from which jobs are drawn with replacement or, with --arrivals recorded, replayed.
    #[arg(long, value_name = "FILE", requires = "trace_nodes")]
    pub trace_pods: Option<PathBuf>,

    /// How jobs arrive.
    #[arg(long, value_enum, default_value_t = ArrivalsOption::Bootstrap, requires = "trace_nodes")]
    pub arrivals: ArrivalsOption,

    /// What to do with faulty rows.
    #[arg(long, value_enum, default_value_t = OnFault::Stop, requires = "trace_nodes")]
    pub on_fault: OnFault,

    /// Whether to fill what the trace lacks (GPU memory, network, storage) with stated assumptions.
    #[arg(long, value_enum, default_value_t = Switch::On, requires = "trace_nodes")]
    pub assume: Switch,

    /// Cut longer run times to this many hours, by default 24; 0: keep them as they are. Recorded arrivals keep theirs.
    #[arg(long, allow_negative_numbers = true, value_name = "H", requires = "trace_nodes")]
    pub cap_hours: Option<f64>,
}

/// How the jobs of a trace arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ArrivalsOption {
    /// Drawn from the pods at random, at the load that is wanted.
    Bootstrap,
    /// As recorded: each pod at its creation_time, for as long as it ran. The list is read row by row as time passes, so
    /// it may have any length; its rows must be in order of creation_time.
    Recorded,
}

/// What to do with faulty rows of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnFault {
    /// Report all of them and run nothing.
    Stop,
    /// Report all of them, leave them out, and run.
    Drop,
}

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// Fill it; every assumption is listed with the result.
    On,
    /// Do without: dimensions that the trace lacks do not exist.
    Off,
}

/// Options of `replay`.
#[derive(Debug, Args)]
#[command(after_help = "\
Pods arrive one by one and never leave, until 130 % of the GPUs have been asked for; what fits nowhere is turned away.
Policies of the paper: Random, DotProd, GpuClustering, GpuPacking, BestFit, FGD; ours: scalar-3d, tetris-3d, first-fit-3d,
ragp-3d. Lower case and hyphens do not matter: fgd, best-fit.

With the published orders all but Random end exactly as published; see docs/replay.md. --json prints one object for one
run, else an array of them; the order is that of the policies, then of the seeds.")]
pub struct ReplayOptions {
    /// Node list (CSV: sn, cpu_milli, memory_mib, gpu, model).
    #[arg(long, value_name = "FILE")]
    pub nodes: PathBuf,

    /// Pod list (CSV: name, cpu_milli, memory_mib, num_gpu, gpu_milli, and gpu_spec if there is one).
    #[arg(long, value_name = "FILE")]
    pub pods: PathBuf,

    /// The order of a published run: a line of node rows and a line of pod rows. May be repeated; without it orders are
    /// drawn anew.
    #[arg(long, value_name = "FILE")]
    pub order: Vec<PathBuf>,

    /// Policies, with commas between; `paper` for the six published ones, `all` for these and ours.
    #[arg(long, value_delimiter = ',', value_name = "ID,…", default_value = "paper")]
    pub policy: Vec<String>,

    /// Draw orders with seeds 1 to K.
    #[arg(long, value_name = "K", default_value_t = 1, conflicts_with = "order",
          value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,

    /// The one seed to use; with an order file, the seed it is the order of (by default the number at the end of its
    /// name).
    #[arg(long, value_name = "S", conflicts_with = "seeds")]
    pub seed: Option<u64>,

    /// What happens among equally good nodes.
    #[arg(long, value_enum, default_value_t = TiesOption::Fixed)]
    pub ties: TiesOption,

    /// Published results (CSV: workload, policy, seed, arrived_pct, alloc, frag_ratio) to compare with.
    #[arg(long, value_name = "FILE")]
    pub expected: Option<PathBuf>,

    /// Workload by which --expected and the output name these pods; by default taken from the name of the pod list.
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,

    /// Print JSON instead of tables for people.
    #[arg(long)]
    pub json: bool,

    /// Threads to use; by default one a core.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
}

/// What happens among equally good nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TiesOption {
    /// The first in a fixed random order of nodes: as published.
    Fixed,
    /// Any of them: as stock Kubernetes does.
    Random,
}
