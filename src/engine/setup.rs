//! Everything a run needs, as plain data in the engine's own units.
//!
//! [`crate::scenario`] makes it from what people write; tests may make it by hand.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cluster::NodeType;
use crate::cluster::devices::{MOST_DEVICES, WHOLE};
use crate::resources::{Dim, DimMask};
use crate::units::Span;
use crate::workload::typical::TypicalTasks;
use crate::workload::{JobClass, Source};

pub use crate::cluster::devices::Gpus;

/// How soft resources are divided among the tasks of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// Water-filling: small asks are met in full, the rest share equally.
    MaxMin,
    /// Every task gets the same fraction of what it asks: an un-policed disk.
    Proportional,
}

/// What happens when a growing job finds no GPU memory for its next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutOfMemory {
    /// Evicted, loses part of its work, and goes to the front of the queue.
    Requeue,
    /// Keeps what is free and slows down to held ÷ needed.
    Throttle,
}

/// Storage rebuilds: every node alternates between healthy and rebuilding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rebuilds {
    /// Mean time healthy (exponential).
    pub healthy_mean: Span,
    /// Mean time rebuilding (exponential).
    pub rebuild_mean: Span,
    /// Storage bandwidth left while rebuilding, drawn evenly between these, in millionths of nominal.
    pub factor_ppm: (u32, u32),
    /// I/O CPU left while rebuilding, in millionths of nominal.
    pub ioc_ppm: u32,
}

/// Who is next, and what happens when the head of the queue does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queueing {
    /// Waiting jobs that a pass tries before it gives up; 1 is strict first-in-first-out.
    pub window: u32,
    /// A job in the window that waited longer reserves nodes. `None`: never.
    pub reserve_after: Option<Span>,
    /// Most nodes reserved at once, in millionths of all…
    pub reserve_ppm: u32,
    /// …but at least this many may be.
    pub reserve_min: u32,
    /// Nobody waits: what does not fit when it arrives is turned away for good.
    pub rejects: bool,
}

impl Queueing {
    /// Strict first-in-first-out: nobody overtakes.
    pub const STRICT: Self = Self { window: 1, reserve_after: None, reserve_ppm: 0, reserve_min: 0, rejects: false };

    /// Nobody waits.
    pub const REJECT: Self = Self { rejects: true, ..Self::STRICT };

    /// Whether nobody may overtake the head of the queue.
    #[must_use]
    pub const fn is_strict(&self) -> bool {
        self.window == 1
    }
}

/// What the scheduler learns of the true storage state, and when.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Telemetry {
    /// Time between readings; zero: the scheduler knows the truth at once.
    pub interval: Span,
    /// Standard deviation of the logarithm of a reading's error.
    pub noise: f64,
    /// Weight of the newest reading in the moving average, above 0 and at most 1.
    pub smoothing: f64,
    /// The published estimate moves only when the average is further away than this share of nominal.
    pub dead_band: f64,
}

impl Telemetry {
    /// The truth, at once.
    pub const PERFECT: Self = Self { interval: Span::ZERO, noise: 0.0, smoothing: 1.0, dead_band: 0.0 };
}

/// What happens among equally good nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// The first in the order of nodes.
    #[default]
    Fixed,
    /// Any of them, each as likely as the others: what stock Kubernetes does.
    Drawn,
}

/// A scheduler and what it sees, with everything settled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Roster id, e.g. `ragp-io`.
    pub id: String,
    /// Dimensions that decide whether a task fits.
    pub fit_dims: DimMask,
    /// Dimensions that the score looks at.
    pub score_dims: DimMask,
    /// Plan with this share of the estimated soft capacity, in millionths (θ).
    pub safety_ppm: u32,
    /// Never place on a node whose estimated storage bandwidth is below this share of nominal, in millionths;
    /// 0: no such rule.
    pub cordon_ppm: u32,
    /// Share of the remaining growth that is planned for at admission, in millionths.
    pub foresight_ppm: u32,
    /// Values of the card's knobs, in their order.
    pub knobs: Vec<f64>,
    /// A decision scores no more feasible nodes than it needs and this many, looking round the cluster from where the
    /// last one stopped; 0: it scores all.
    #[serde(default)]
    pub sample: u32,
    /// What happens among equally good nodes.
    #[serde(default)]
    pub ties: Ties,
}

/// A complete run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Kinds of nodes; at most 64.
    pub node_types: Vec<NodeType>,
    /// The kind of each node, by position in `node_types`.
    pub nodes: Vec<u8>,
    /// How nodes keep their GPUs.
    pub gpus: Gpus,
    /// Dimensions that exist in this cluster; shape metrics look at these only.
    pub exists: DimMask,
    /// Job classes; at most 255.
    pub classes: Vec<JobClass>,
    /// Tasks by which a policy of the replay judges what a node is still good for; empty elsewhere.
    pub typical: Arc<TypicalTasks>,
    /// Where jobs come from.
    pub source: Source,
    /// Storage rebuilds, if there are any.
    pub rebuilds: Option<Rebuilds>,
    /// How soft resources are shared.
    pub sharing: Sharing,
    /// What happens when GPU memory runs out under a growing job.
    pub out_of_memory: OutOfMemory,
    /// Share of the work done that an eviction throws away, in millionths.
    pub eviction_loss_ppm: u32,
    /// Queue discipline.
    pub queueing: Queueing,
    /// What the scheduler sees of the storage state.
    pub telemetry: Telemetry,
    /// The scheduler and what it sees.
    pub scheduler: Choice,
    /// Measuring starts here.
    pub warm_up: Span,
    /// The run ends here.
    pub horizon: Span,
    /// Seed of every random stream.
    pub seed: u64,
}

impl Setup {
    /// Whether the parts agree. The scenario layer has said all this before, with paths; this guards setups made by
    /// hand.
    ///
    /// # Errors
    /// The first contradiction, as a sentence.
    pub fn check(&self) -> Result<(), String> {
        let checks: [(bool, &str); 9] = [
            (self.nodes.is_empty(), "there are no nodes; give at least one"),
            (self.node_types.len() > 64, "there are more than 64 node types; merge some"),
            (
                self.nodes.iter().any(|kind| usize::from(*kind) >= self.node_types.len()),
                "a node has a type that is not in the list",
            ),
            (self.classes.is_empty() || self.classes.len() > 255, "there must be 1 to 255 job classes"),
            (
                self.node_types.iter().any(|kind| kind.capacity.0.iter().any(|amount| *amount < 0)),
                "a node type has a negative capacity",
            ),
            (
                self.gpus == Gpus::Devices
                    && self.node_types.iter().any(|kind| {
                        let milli = kind.capacity[Dim::Gpu];
                        milli % i32::from(WHOLE) != 0 || milli as usize / usize::from(WHOLE) > MOST_DEVICES
                    }),
                "a node whose GPUs are kept one by one must have whole ones, at most 64",
            ),
            (self.warm_up >= self.horizon, "the warm-up must end before the run does"),
            (self.queueing.window == 0, "the queue window must be at least 1"),
            (
                self.rebuilds.is_some_and(|rebuilds| {
                    rebuilds.factor_ppm.0 > rebuilds.factor_ppm.1 || rebuilds.factor_ppm.1 > 1_000_000
                }),
                "the storage left by a rebuild must be between 0 and 1, the lower bound first",
            ),
        ];
        match checks.iter().find(|(is_wrong, _)| *is_wrong) {
            Some((_, text)) => Err((*text).to_owned()),
            None => Ok(()),
        }
    }
}
