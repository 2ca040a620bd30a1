//! Jobs: what they ask for, and – sealed from schedulers – how long they really take.
//!
//! A [`Source`] hands out jobs one by one in order of arrival. It is drawn from named random streams before any
//! scheduler acts, so every scheduler gets the same jobs.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::resources::{Amounts, Dim};
use crate::units::{SimTime, Span};

pub mod bootstrap;
pub mod openb;
pub(crate) mod shares;
pub mod synthetic;
pub mod typical;

/// Position of a job class in [`crate::engine::setup::Setup::classes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClassId(pub u8);

impl ClassId {
    /// As an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Which node types a job may run on: bit *i* stands for the type at index *i*. At most 64 types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TypeMask(pub u64);

impl TypeMask {
    /// Any type.
    pub const ANY: Self = Self(u64::MAX);

    /// Whether type `index` is allowed.
    #[must_use]
    pub const fn allows(self, index: usize) -> bool {
        self.0 >> index & 1 == 1
    }
}

/// How a breathing job's demand grows: at progress *p* it asks for admission demand × (1 + factor × p).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Growth of GPU memory over the whole life, as a share of the demand at admission.
    pub hbm: f64,
    /// Growth of storage bandwidth.
    pub sto: f64,
    /// Growth of I/O CPU.
    pub ioc: f64,
    /// Number of equal steps; step *k* of *n* comes at progress k/(n+1). Between 1 and 64.
    pub steps: u8,
    /// GPU memory of a task never grows beyond this, in MiB.
    pub hbm_cap: i32,
}

impl Growth {
    /// What a task that asked for `admission` asks for after `step` of the steps.
    #[must_use]
    pub fn demand(&self, admission: &Amounts, step: u8) -> Amounts {
        let part = f64::from(step) / f64::from(self.steps.max(1));
        let grown = |dim: Dim, factor: f64| libm::round(f64::from(admission[dim]) * (1.0 + factor * part)) as i32;
        admission.map(|dim, now| match dim {
            Dim::Hbm => grown(dim, self.hbm).min(self.hbm_cap.max(now)),
            Dim::Sto => grown(dim, self.sto),
            Dim::Ioc => grown(dim, self.ioc),
            _ => now,
        })
    }
}

/// A class of jobs: the typical task, and what the metrics weigh it with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobClass {
    /// Short name, as in scenario files: `rag_rt`, `train`, …
    pub id: String,
    /// Demand of a typical task at admission.
    pub typical: Amounts,
    /// Share of the offered GPU-hours, in millionths; all classes sum to 1,000,000.
    pub share_ppm: u32,
    /// How its demand grows, if it does.
    pub growth: Option<Growth>,
    /// Whether waits of this class count as training waits.
    pub training: bool,
}

/// One job as it arrives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Position in order of arrival, from 0.
    pub index: u64,
    /// Its class.
    pub class: ClassId,
    /// When it arrives.
    pub arrival: SimTime,
    /// Number of identical tasks that start together (a gang if more than one).
    pub tasks: u16,
    /// Demand of each task at admission.
    pub demand: Amounts,
    /// Devices over which the GPU part of it is spread evenly; looked at only where nodes keep their GPUs one by one.
    pub gpus: u16,
    /// Time it takes at full speed. Never shown to a scheduler.
    pub work: Span,
    /// Node types it may run on.
    pub types: TypeMask,
}

impl Job {
    /// GPUs of all tasks together, in thousandths.
    #[must_use]
    pub fn gpu_milli(&self) -> i64 {
        i64::from(self.demand[crate::resources::Dim::Gpu]) * i64::from(self.tasks)
    }
}

/// The fewest devices that give `milli` thousandths of a GPU evenly and without a remainder: 1 up to a whole GPU,
/// 2 for 1500 (750 each), 3 for 3000.
#[must_use]
pub const fn fewest_devices(milli: i32) -> u16 {
    if milli <= 0 {
        return 0;
    }
    let mut count = (milli + 999) / 1000;
    // Ends at the latest when each gives one thousandth.
    while milli % count != 0 {
        count += 1;
    }
    if count > u16::MAX as i32 { u16::MAX } else { count as u16 }
}

/// Hands out jobs in order of arrival.
#[derive(Clone, Debug)]
pub enum Source {
    /// Drawn class by class from distributions.
    Synthetic(Box<synthetic::Generator>),
    /// Shapes and durations drawn from a recorded trace.
    Bootstrap(Box<bootstrap::Generator>),
    /// A recording, read as time passes.
    Recorded(Box<openb::recorded::Stream>),
    /// A list, already in order of arrival.
    Listed {
        /// The jobs.
        jobs: Arc<[Job]>,
        /// How many were handed out.
        next: usize,
    },
}

impl Source {
    /// Why no more jobs come although there are more: a recording that cannot be read on.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        match self {
            Self::Recorded(stream) => stream.failure(),
            _ => None,
        }
    }
}

impl Iterator for Source {
    type Item = Job;

    fn next(&mut self) -> Option<Job> {
        match self {
            Self::Synthetic(generator) => generator.next(),
            Self::Bootstrap(generator) => generator.next(),
            Self::Recorded(stream) => stream.next(),
            Self::Listed { jobs, next } => {
                let job = jobs.get(*next)?.clone();
                *next += 1;
                Some(job)
            }
        }
    }
}
