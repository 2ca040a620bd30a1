//! The numbers of a run, as people and programs read them.

use serde::{Deserialize, Serialize};

/// Every measure of one run over the measured window, from the end of the warm-up to the end of the run.
///
/// Fractions are 0..1, times are seconds, GPU-hours are hours of one whole GPU. A measure without a single case
/// (no job of that kind finished) is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Fragmentation: mean over nodes and time of the variance of the residual shape, ÷ its maximum.
    pub f_shape: f64,
    /// Share of free GPU-hours on which the typical task of a class does not fit, classes weighed by GPU-hours.
    pub f_strand: f64,
    /// The same stranded GPU-hours as a share of the whole fleet.
    pub strand_total: f64,
    /// Share of the fleet that is stranded or stalled: bought, and of no use.
    pub f_lost: f64,
    /// Share of allocated GPU-hours that is starved of data.
    pub stall: f64,
    /// Share of the fleet's GPU-hours that is allocated.
    pub allocated: f64,
    /// Share of the fleet's GPU-hours that advances work.
    pub productive: f64,
    /// The same in GPU-hours.
    pub productive_gpu_h: f64,
    /// Nominal GPU-hours of jobs completed ÷ nominal GPU-hours of jobs arrived; above 1 when a backlog is worked off.
    pub throughput_rel: Option<f64>,
    /// Jobs completed an hour.
    pub jobs_per_hour: f64,
    /// Residual health: share of nodes on which the typical task fits, classes weighed by GPU-hours.
    pub health: f64,
    /// Share of node-time with storage or I/O CPU oversubscribed.
    pub over_nodes: f64,
    /// Share of task placements that left their node oversubscribed.
    pub misadmitted: f64,
    /// Median wait until the first start, seconds.
    pub wait_p50: Option<f64>,
    /// Mean wait, seconds.
    pub wait_mean: Option<f64>,
    /// 99th percentile of waits, seconds.
    pub wait_p99: Option<f64>,
    /// Mean wait of training jobs, seconds.
    pub wait_train_mean: Option<f64>,
    /// Median of (finish − arrival) ÷ work.
    pub slowdown_p50: Option<f64>,
    /// 99th percentile of (finish − arrival) ÷ work.
    pub slowdown_p99: Option<f64>,
    /// Mean of (finish − first start) ÷ work.
    pub inflation_mean: Option<f64>,
    /// 99th percentile of (finish − first start) ÷ work.
    pub inflation_p99: Option<f64>,
    /// Most that a median or percentile of jobs is off, as a share of itself: 0 where each job's value was kept, above
    /// where there were too many of them ([`crate::probes::quantiles`]).
    pub percentile_error: f64,
    /// Mean number of waiting jobs.
    pub queue_mean: f64,
    /// GPU-hours of work still waiting at the end.
    pub pending_gpu_h: f64,
    /// Jobs requeued because their GPU memory could not grow.
    pub evictions: f64,
    /// Change of placements a node from one ten-minute window to the next ÷ their sum.
    pub oscillation: f64,
    /// Share of waiting jobs (sampled each minute) that the cluster's total residual would hold.
    pub mismatch: f64,
    /// Share of telemetry readings at which the verdict "the typical first class fits by storage" changed without
    /// cause.
    pub flip: f64,
    /// Where every GPU-hour of the fleet went.
    pub ledger: LedgerHours,
}

/// Each GPU-hour of the fleet in exactly one use. The uses sum to `capacity`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LedgerHours {
    /// GPUs of the fleet × measured hours.
    pub capacity: f64,
    /// Where they went, in GPU-hours.
    #[serde(flatten)]
    pub uses: Uses,
    /// `capacity` − the sum of the uses, in the ledger's own whole units: zero, always.
    pub difference: i64,
}

/// What GPU-hours can be used for: in hours, or in what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Uses {
    /// Advanced work that was kept.
    pub productive: f64,
    /// Allocated, but starved of data.
    pub stalled: f64,
    /// Advanced work that an eviction threw away.
    pub redone: f64,
    /// Free where the typical task does not fit.
    pub stranded: f64,
    /// Free and usable, but kept for a job that has waited long.
    pub held: f64,
    /// Free and usable.
    pub spare: f64,
}

impl Uses {
    /// The uses by name, in the order in which they are read: what is lost first, what is left last.
    #[must_use]
    pub const fn parts(&self) -> [(&'static str, f64); 6] {
        [
            ("spare", self.spare),
            ("held", self.held),
            ("stranded", self.stranded),
            ("stalled", self.stalled),
            ("redone", self.redone),
            ("productive", self.productive),
        ]
    }

    /// The same uses, each amount changed.
    #[must_use]
    pub fn map(&self, change: impl Fn(f64) -> f64) -> Self {
        Self {
            productive: change(self.productive),
            stalled: change(self.stalled),
            redone: change(self.redone),
            stranded: change(self.stranded),
            held: change(self.held),
            spare: change(self.spare),
        }
    }
}

impl Metrics {
    /// Names and values of all scalar measures, in a fixed order.
    #[must_use]
    pub fn named(&self) -> Vec<(&'static str, Option<f64>)> {
        vec![
            ("f_shape", Some(self.f_shape)),
            ("f_strand", Some(self.f_strand)),
            ("strand_total", Some(self.strand_total)),
            ("f_lost", Some(self.f_lost)),
            ("stall", Some(self.stall)),
            ("allocated", Some(self.allocated)),
            ("productive", Some(self.productive)),
            ("productive_gpu_h", Some(self.productive_gpu_h)),
            ("throughput_rel", self.throughput_rel),
            ("jobs_per_hour", Some(self.jobs_per_hour)),
            ("health", Some(self.health)),
            ("over_nodes", Some(self.over_nodes)),
            ("misadmitted", Some(self.misadmitted)),
            ("wait_p50", self.wait_p50),
            ("wait_mean", self.wait_mean),
            ("wait_p99", self.wait_p99),
            ("wait_train_mean", self.wait_train_mean),
            ("slowdown_p50", self.slowdown_p50),
            ("slowdown_p99", self.slowdown_p99),
            ("inflation_mean", self.inflation_mean),
            ("inflation_p99", self.inflation_p99),
            ("queue_mean", Some(self.queue_mean)),
            ("pending_gpu_h", Some(self.pending_gpu_h)),
            ("evictions", Some(self.evictions)),
            ("oscillation", Some(self.oscillation)),
            ("mismatch", Some(self.mismatch)),
            ("flip", Some(self.flip)),
        ]
    }
}
