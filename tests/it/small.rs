//! Small runs made by hand, and a probe that writes down what happened.

use std::sync::Arc;

use residua::cluster::{NodeId, NodeType};
use residua::engine::setup::{Gpus, OutOfMemory, Queueing, Setup, Sharing, Telemetry};
use residua::probes::{Fact, Probe, Stage, Totals};
use residua::resources::{Amounts, Dim, DimMask};
use residua::schedulers;
use residua::units::{SimTime, Span};
use residua::workload::{ClassId, Job, JobClass, Source, TypeMask, fewest_devices};

/// Amounts with everything else at zero.
pub fn amounts(parts: &[(Dim, i32)]) -> Amounts {
    let mut amounts = Amounts::ZERO;
    for (dim, amount) in parts {
        amounts[*dim] = *amount;
    }
    amounts
}

/// A job of one task for `seconds`, of the first class, arriving at `at` seconds.
pub fn job(at: u64, seconds: u64, demand: Amounts) -> Job {
    Job {
        index: 0,
        class: ClassId(0),
        arrival: SimTime(at * 1000),
        tasks: 1,
        demand,
        gpus: fewest_devices(demand[Dim::Gpu]),
        work: Span::from_secs(seconds),
        types: TypeMask::ANY,
    }
}

/// `nodes` equal nodes, these jobs, first fit over all dimensions, backfill without reservations, an hour.
pub fn setup(capacity: Amounts, nodes: usize, mut jobs: Vec<Job>) -> Setup {
    jobs.sort_by_key(|job| job.arrival);
    for (job, index) in jobs.iter_mut().zip(0..) {
        job.index = index;
    }
    let typical = jobs.first().map_or(Amounts::ZERO, |job| job.demand);
    let class = JobClass { id: "job".to_owned(), typical, share_ppm: 1_000_000, growth: None, training: false };
    Setup {
        node_types: vec![NodeType { id: "N".to_owned(), title: "node".to_owned(), capacity }],
        nodes: vec![0; nodes],
        gpus: Gpus::Pool,
        exists: DimMask::SEVEN,
        classes: vec![class],
        typical: Arc::default(),
        source: Source::Listed { jobs: jobs.into(), next: 0 },
        rebuilds: None,
        sharing: Sharing::MaxMin,
        out_of_memory: OutOfMemory::Requeue,
        eviction_loss_ppm: 250_000,
        queueing: Queueing { window: 64, reserve_after: None, reserve_ppm: 0, reserve_min: 0, rejects: false },
        telemetry: Telemetry::PERFECT,
        scheduler: schedulers::find("first-fit-5d").expect("in the roster").choice(),
        warm_up: Span::ZERO,
        horizon: Span::from_secs(3600),
        seed: 1,
    }
}

/// What happened, a line an event: `100.000 start 0 on 1`, `200.000 end 0`, `150.000 evict 2`.
#[derive(Clone, Debug, Default)]
pub struct Log {
    pub lines: Vec<String>,
}

impl Probe for Log {
    fn elapse(&mut self, _from: SimTime, _to: SimTime, _totals: &Totals) {}

    fn observe(&mut self, at: SimTime, fact: &Fact<'_>, _stage: &Stage<'_>) {
        let seconds = at.as_ms() as f64 / 1000.0;
        match fact {
            Fact::Started { job, nodes, .. } => {
                let nodes: Vec<String> = nodes.iter().map(|NodeId(node)| node.to_string()).collect();
                self.lines.push(format!("{seconds:.3} start {} on {}", job.index, nodes.join("+")));
            }
            Fact::Finished { state, .. } => self.lines.push(format!("{seconds:.3} end {}", state.job.index)),
            Fact::Evicted { job, .. } => self.lines.push(format!("{seconds:.3} evict {job}")),
            _ => {}
        }
    }
}

/// A list of jobs as a source.
pub fn listed(jobs: Vec<Job>) -> Source {
    Source::Listed { jobs: Arc::from(jobs), next: 0 }
}
