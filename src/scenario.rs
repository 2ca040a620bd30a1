//! A scenario: what people write, as plain data, every value with a key, a unit and a range.
//!
//! A value comes from the last of these layers that gives it: the shared model (`scenarios/model.toml`), the scenario
//! file, one of the file's `[presets]`, and overrides (`--set load=0.85`). All problems of all layers are found at
//! once ([`Issues`]). [`build`] alone turns a scenario into what the engine runs.
//!
//! A [`Scenario`] is made by reading only: it is written out ([`Serialize`]) but never read back unchecked.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::engine::setup::{OutOfMemory, Sharing};
use crate::resources::{DIMS, DimMask};
use crate::schedulers;

pub mod build;
mod check;
mod field;
mod issues;
mod memory;
mod presets;
mod read;
mod schema;
mod suggest;

pub use field::Form;
pub use issues::{Issue, Issues};
pub use memory::Memory;
pub use presets::{MODEL, PRESETS, Preset, TRACE, find};

/// A scenario with every value settled. Units are in the key table, [`knobs`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scenario {
    /// Name for people.
    pub title: String,
    /// What it is for.
    pub about: String,
    /// Which of the file's presets was applied; empty: none.
    pub preset: String,
    /// Offered GPU work as a share of the cluster's GPUs.
    pub load: f64,
    /// Number of nodes.
    pub nodes: u32,
    /// Length of the run, hours.
    pub hours: f64,
    /// Start of the run that is not measured, hours.
    pub warm_up_hours: f64,
    /// Multiplies every class's storage bandwidth.
    pub storage_intensity: f64,
    /// How soft resources are divided.
    pub sharing: Sharing,
    /// What happens when GPU memory cannot grow.
    pub out_of_memory: OutOfMemory,
    /// Share of the work done that an eviction throws away.
    pub eviction_loss: f64,
    /// Bursts of arrivals.
    pub bursts: BurstSpec,
    /// Storage rebuilds.
    pub rebuilds: RebuildSpec,
    /// How growing jobs grow.
    pub growth: GrowthSpec,
    /// Largest demand that a task is drawn with.
    pub limits: LimitSpec,
    /// Who is next.
    pub queue: QueueSpec,
    /// What schedulers learn of the storage state.
    pub telemetry: TelemetrySpec,
    /// Settings common to all schedulers, and their knobs.
    pub scheduler: SchedulerSpec,
    /// Kinds of nodes.
    pub node_types: Vec<NodeTypeSpec>,
    /// Job classes.
    pub classes: Vec<ClassSpec>,
    /// The file's presets: name and settings, as overrides.
    pub presets: Vec<(String, Vec<(String, String)>)>,
    /// Keys that the file gives, with the preset that was applied.
    #[serde(skip)]
    pub given: Vec<String>,
}

/// `[bursts]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BurstSpec {
    /// Arrival rate inside a burst × the mean rate; 1: no bursts.
    pub factor: f64,
    /// Mean length of a burst, minutes.
    pub on_minutes: f64,
    /// Mean time between bursts, minutes.
    pub off_minutes: f64,
}

/// `[rebuilds]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RebuildSpec {
    /// Share of nodes that are rebuilding on average.
    pub degraded_share: f64,
    /// Mean length of a rebuild, hours.
    pub mean_hours: f64,
    /// Least share of storage bandwidth left.
    pub factor_min: f64,
    /// Most share of storage bandwidth left.
    pub factor_max: f64,
    /// Share of I/O CPU left.
    pub ioc_factor: f64,
}

/// `[growth]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GrowthSpec {
    /// Number of steps.
    pub steps: u32,
    /// GPU memory gained, × demand at admission.
    pub hbm: f64,
    /// Storage bandwidth gained, × demand at admission.
    pub sto: f64,
    /// I/O CPU gained, × demand at admission.
    pub ioc: f64,
    /// GPU memory of a task never grows beyond this, GiB.
    pub hbm_cap: f64,
}

/// `[limits]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitSpec {
    /// Cores.
    pub cpu: f64,
    /// GiB.
    pub ram: f64,
    /// GiB of GPU memory a GPU.
    pub hbm_per_gpu: f64,
    /// GiB of GPU memory in all.
    pub hbm: f64,
    /// Gbit/s.
    pub net: f64,
    /// GB/s.
    pub sto: f64,
    /// Cores for I/O.
    pub ioc: f64,
}

/// What happens when the head of the queue does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Discipline {
    /// Later jobs may start.
    Backfill,
    /// Nobody overtakes.
    Strict,
}

/// `[queue]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueueSpec {
    /// Backfill or strict.
    pub discipline: Discipline,
    /// Waiting jobs that a pass tries.
    pub window: u32,
    /// Wait after which a job reserves nodes, minutes; 0: never.
    pub reserve_after_minutes: f64,
    /// Most nodes reserved at once, as a share of all…
    pub reserve_share: f64,
    /// …but at least this many may be.
    pub reserve_nodes: u32,
}

/// `[telemetry]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TelemetrySpec {
    /// Seconds between readings; 0: the truth at once.
    pub interval_seconds: f64,
    /// Standard deviation of the logarithm of a reading's error.
    pub noise: f64,
    /// Weight of the newest reading.
    pub smoothing: f64,
    /// Share of nominal.
    pub dead_band: f64,
}

/// `[scheduler]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SchedulerSpec {
    /// Dimensions that decide whether a task fits; `None`: those of the scheduler's name.
    pub fit_dims: Option<DimMask>,
    /// Dimensions that the score looks at; `None`: those of the scheduler's name.
    pub score_dims: Option<DimMask>,
    /// Share of the estimated soft capacity that is planned with.
    pub safety: f64,
    /// Share of nominal storage bandwidth below which a node is left alone; 0: no such rule.
    pub cordon: f64,
    /// Share of future growth that is planned for.
    pub foresight: f64,
    /// Feasible nodes that a decision scores; 0: all.
    pub sample: u32,
    /// Values of the cards' knobs by key, where they differ from the card's default.
    pub knobs: BTreeMap<String, f64>,
}

/// So much of each dimension, in the units that people write.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantities {
    /// Cores.
    pub cpu: f64,
    /// GiB.
    pub ram: f64,
    /// GPUs.
    pub gpu: f64,
    /// GiB.
    pub hbm: f64,
    /// Gbit/s.
    pub net: f64,
    /// GB/s.
    pub sto: f64,
    /// Cores for I/O.
    pub ioc: f64,
}

impl Quantities {
    /// Nothing is given yet: NaN stands for "missing".
    const MISSING: Self = {
        let missing = f64::NAN;
        Self { cpu: missing, ram: missing, gpu: missing, hbm: missing, net: missing, sto: missing, ioc: missing }
    };

    /// In the order of [`crate::resources::Dim::ALL`].
    #[must_use]
    pub const fn values(&self) -> [f64; DIMS] {
        [self.cpu, self.ram, self.gpu, self.hbm, self.net, self.sto, self.ioc]
    }
}

/// `[node_types.ID]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeTypeSpec {
    /// Short name.
    pub id: String,
    /// What it is.
    pub title: String,
    /// Share of the nodes.
    pub share: f64,
    /// Nominal capacity of a node.
    #[serde(flatten)]
    pub has: Quantities,
}

impl NodeTypeSpec {
    /// A type of which nothing is given yet: NaN stands for "missing".
    fn blank(id: &str) -> Self {
        Self { id: id.to_owned(), title: id.to_owned(), share: f64::NAN, has: Quantities::MISSING }
    }
}

/// `[classes.ID]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassSpec {
    /// Short name.
    pub id: String,
    /// What it is.
    pub title: String,
    /// Share of the offered GPU-hours.
    pub share: f64,
    /// Demand of a typical task at admission, its storage bandwidth before [`Scenario::storage_intensity`].
    #[serde(flatten)]
    pub asks: Quantities,
    /// Mean work, minutes.
    pub work_minutes: f64,
    /// Spread of work.
    pub work_sigma: f64,
    /// Number of tasks, and how often.
    pub gang: Vec<(u16, f64)>,
    /// Spread of hard demand.
    pub jitter_hard: f64,
    /// Spread of soft demand.
    pub jitter_soft: f64,
    /// Whether its demand grows.
    pub grows: bool,
    /// Whether its waits count as training waits.
    pub training: bool,
    /// Whether its arrivals follow the bursts.
    pub bursty: bool,
}

impl ClassSpec {
    /// Mean number of tasks.
    #[must_use]
    pub fn mean_tasks(&self) -> f64 {
        self.gang.iter().map(|(tasks, probability)| f64::from(*tasks) * probability).sum()
    }

    /// A class of which only what is optional is settled: NaN stands for "missing".
    fn blank(id: &str) -> Self {
        let missing = f64::NAN;
        Self {
            id: id.to_owned(),
            title: id.to_owned(),
            share: missing,
            asks: Quantities::MISSING,
            work_minutes: missing,
            work_sigma: missing,
            gang: vec![(1, 1.0)],
            // The spread that model.toml gives to every class but training.
            jitter_hard: 0.2,
            jitter_soft: 0.3,
            grows: false,
            training: false,
            bursty: true,
        }
    }
}

impl Scenario {
    /// Reads a scenario file and then `overrides`, pairs of dotted path and value as written after `--set`. A bare
    /// word as a value is text.
    ///
    /// # Errors
    ///
    /// All problems of file and overrides at once.
    pub fn parse(text: &str, overrides: &[(String, String)]) -> Result<Self, Issues> {
        read::scenario(text, overrides, true)
    }

    /// The scenario that comes with the program under that name ([`find`]), with `overrides`.
    ///
    /// # Errors
    ///
    /// An unknown name, and all problems of the overrides.
    pub fn preset(name: &str, overrides: &[(String, String)]) -> Result<Self, Issues> {
        match find(name) {
            Some(preset) => Self::parse(preset.text, overrides),
            None => Err(unknown_scenario(name).into()),
        }
    }

    /// The value at a dotted path, as it would be written in a file: `value("classes.train.share")` is `0.25`.
    #[must_use]
    pub fn value(&self, path: &str) -> Option<String> {
        self.settings().into_iter().find(|(key, _)| key == path).map(|(_, value)| value.to_string())
    }

    /// Every key with its value, in the order of the schema; each can be given to `--set` as it is.
    #[must_use]
    pub fn settings(&self) -> Vec<(String, toml::Value)> {
        let mut all = Vec::new();
        for key in schema::KEYS {
            all.push((key.path.to_owned(), (key.read)(self).show()));
        }
        for knob in schedulers::ROSTER.iter().flat_map(|card| card.knobs) {
            let value = self.scheduler.knobs.get(knob.key).copied().unwrap_or(knob.default);
            all.push((format!("scheduler.{}", knob.key), toml::Value::Float(value)));
        }
        for node_type in &self.node_types {
            for key in schema::NODE_TYPE_KEYS {
                all.push((format!("node_types.{}.{}", node_type.id, key.path), (key.read)(node_type).show()));
            }
        }
        for class in &self.classes {
            for key in schema::CLASS_KEYS {
                all.push((format!("classes.{}.{}", class.id, key.path), (key.read)(class).show()));
            }
        }
        all
    }

    /// Where nothing is given yet.
    fn blank() -> Self {
        let missing = f64::NAN;
        Self {
            title: String::new(),
            about: String::new(),
            preset: String::new(),
            load: missing,
            nodes: 0,
            hours: missing,
            warm_up_hours: missing,
            storage_intensity: missing,
            sharing: Sharing::MaxMin,
            out_of_memory: OutOfMemory::Requeue,
            eviction_loss: missing,
            bursts: BurstSpec { factor: missing, on_minutes: missing, off_minutes: missing },
            rebuilds: RebuildSpec {
                degraded_share: missing,
                mean_hours: missing,
                factor_min: missing,
                factor_max: missing,
                ioc_factor: missing,
            },
            growth: GrowthSpec { steps: 0, hbm: missing, sto: missing, ioc: missing, hbm_cap: missing },
            limits: LimitSpec {
                cpu: missing,
                ram: missing,
                hbm_per_gpu: missing,
                hbm: missing,
                net: missing,
                sto: missing,
                ioc: missing,
            },
            queue: QueueSpec {
                discipline: Discipline::Backfill,
                window: 0,
                reserve_after_minutes: missing,
                reserve_share: missing,
                reserve_nodes: 0,
            },
            telemetry: TelemetrySpec {
                interval_seconds: missing,
                noise: missing,
                smoothing: missing,
                dead_band: missing,
            },
            scheduler: SchedulerSpec {
                fit_dims: None,
                score_dims: None,
                safety: missing,
                cordon: missing,
                foresight: missing,
                sample: 0,
                knobs: BTreeMap::new(),
            },
            node_types: Vec::new(),
            classes: Vec::new(),
            presets: Vec::new(),
            given: Vec::new(),
        }
    }
}

/// Says that no scenario has that name.
pub(crate) fn unknown_scenario(name: &str) -> Issue {
    let ids = || PRESETS.iter().map(|preset| preset.id);
    Issue::new(
        "scenario",
        name,
        format!("{}, or a file", ids().collect::<Vec<_>>().join(", ")),
        suggest::hint(name, ids(), "Choose one of these"),
    )
}

/// Says that no scheduler has that id.
#[must_use]
pub fn unknown_scheduler(id: &str) -> Issue {
    let ids: Vec<String> = schedulers::entries().map(|entry| entry.id()).collect();
    let hint = suggest::hint(id, ids.iter().map(String::as_str), "Choose one of these");
    Issue::new("scheduler", id, ids.join(", "), hint)
}

/// What people need to know of a key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KnobInfo {
    /// Dotted path, as in files and after `--set`. `classes.ID.share` stands for every class.
    pub path: String,
    /// Unit of the value; empty where it has none.
    pub unit: String,
    /// What it does, in one line.
    pub help: String,
    /// What is allowed.
    pub range: String,
    /// Value in the shared model; empty where each type or class has its own.
    pub default: String,
    /// What kind of value it is.
    pub form: Form,
    /// Smallest and largest number, where it is a number.
    pub limits: Option<(f64, f64)>,
}

/// Every key of a scenario file, in the order of the schema.
#[must_use]
pub fn knobs() -> Vec<KnobInfo> {
    fn info<S>(prefix: &str, key: &schema::Key<S>, owner: &S, has_default: bool) -> KnobInfo {
        let field = (key.read)(owner);
        let form = field.form();
        KnobInfo {
            path: format!("{prefix}{}", key.path),
            unit: key.bounds.unit.to_owned(),
            help: key.help.to_owned(),
            range: field.allowed(&key.bounds),
            default: if has_default { field.show().to_string() } else { String::new() },
            limits: matches!(form, Form::Number | Form::Count).then_some(key.bounds.range),
            form,
        }
    }
    let model = read::model();
    let mut all: Vec<_> = schema::KEYS.iter().map(|key| info("", key, &model, true)).collect();
    for knob in schedulers::ROSTER.iter().flat_map(|card| card.knobs) {
        all.push(KnobInfo {
            path: format!("scheduler.{}", knob.key),
            unit: String::new(),
            help: knob.help.to_owned(),
            range: format!("{} to {}", knob.range.0, knob.range.1),
            default: knob.default.to_string(),
            form: Form::Number,
            limits: Some(knob.range),
        });
    }
    let node_type = NodeTypeSpec::blank("ID");
    all.extend(schema::NODE_TYPE_KEYS.iter().map(|key| info("node_types.ID.", key, &node_type, false)));
    let class = ClassSpec::blank("ID");
    all.extend(schema::CLASS_KEYS.iter().map(|key| info("classes.ID.", key, &class, false)));
    all
}

#[cfg(test)]
mod tests;
