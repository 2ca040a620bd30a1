//! The packing experiment of *Beware of Fragmentation* (Weng et al., USENIX ATC 2023), replayed.
//!
//! An empty cluster, pods that arrive one by one and never leave, until 130 % of its GPUs have been asked for; a pod
//! that fits nowhere is turned away for good. It is an ordinary run of the engine ([`Experiment::setup`]) on a cluster
//! that keeps its GPUs one by one, with an ordinary scheduler of the roster and a probe of its own ([`Packing`]).
//!
//! What it does not do: departures, waiting, sharing of storage – the experiment has none.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::Simulation;
use crate::engine::setup::{Gpus, OutOfMemory, Queueing, Setup, Sharing, Telemetry};
use crate::error::Error;
use crate::resources::{Amounts, Dim, DimMask};
use crate::schedulers::{Arena, Entry, Ties, replay_entries};
use crate::units::{SimTime, Span};
use crate::workload::openb::Finding;
use crate::workload::openb::packing::{self, Lists, Pod, Rows};
use crate::workload::shares::millionths;
use crate::workload::typical::{Typical, TypicalTasks};
use crate::workload::{ClassId, Job, JobClass, Source};

pub mod curve;
pub mod files;
pub mod order;
pub mod published;

pub use curve::{Packing, Placement, Point};

/// So much of the pods is covered by the typical ones, in percent.
const TYPICAL_PCT: u64 = 95;

/// Job classes that a run tells apart; the last one is for whatever is not typical.
const MOST_CLASSES: usize = 255;

/// A cluster and a workload.
#[derive(Clone, Debug)]
pub struct Experiment {
    lists: Lists,
    typical: Arc<TypicalTasks>,
    classes: Vec<JobClass>,
    /// Class of each pod.
    class_of: Vec<ClassId>,
}

/// What makes two pods the same kind, in the order in which equally frequent kinds are taken, largest first.
type Kind<'a> = (i32, i32, u16, &'a str);

fn kind_of(pod: &Pod) -> Kind<'_> {
    (pod.ask.cpu_milli, pod.ask.share, pod.ask.gpus, &pod.ask.models)
}

impl Experiment {
    /// Reads a node list and a pod list, each as (name, CSV text).
    ///
    /// # Errors
    /// Every fault of both files, by row and column.
    pub fn read(nodes: (&str, &str), pods: (&str, &str)) -> Result<Self, Vec<Finding>> {
        packing::read(nodes, pods).map(Self::new)
    }

    /// Of lists already read.
    #[must_use]
    pub fn new(lists: Lists) -> Self {
        let mut kinds: BTreeMap<Kind<'_>, Vec<usize>> = BTreeMap::new();
        for (pod, at) in lists.pods.iter().zip(0..) {
            kinds.entry(kind_of(pod)).or_default().push(at);
        }
        let mut groups: Vec<(Kind<'_>, Vec<usize>)> = kinds.into_iter().rev().collect();
        // Stable: among equally frequent kinds the larger stays first.
        groups.sort_by_key(|(_, members)| core::cmp::Reverse(members.len()));
        let enough = lists.pods.len() as u64 * TYPICAL_PCT;
        let mut taken = 0;
        let typical_groups = groups.iter().take_while(|(_, members)| {
            let is_wanted = taken * 100 < enough;
            taken += members.len() as u64;
            is_wanted
        });
        let count = typical_groups.count();
        let typical: Vec<Typical> = groups[..count]
            .iter()
            .map(|(_, members)| {
                let ask = &lists.pods[members[0]].ask;
                Typical {
                    cpu_milli: ask.cpu_milli,
                    gpus: ask.gpus,
                    milli: ask.share,
                    types: ask.types,
                    count: members.len() as u32,
                }
            })
            .collect();
        let (classes, class_of) = classes(&lists, &groups, count);
        let typical = TypicalTasks { tasks: typical, of: lists.pods.len() as u32 };
        Self { typical: Arc::new(typical), classes, class_of, lists }
    }

    /// Its nodes and pods.
    #[must_use]
    pub fn lists(&self) -> &Lists {
        &self.lists
    }

    /// Typical pods, most frequent first: the fewest kinds that make up 95 % of the workload.
    #[must_use]
    pub fn typical(&self) -> &Arc<TypicalTasks> {
        &self.typical
    }

    /// GPUs of the cluster, in thousandths.
    #[must_use]
    pub fn capacity_milli(&self) -> i64 {
        let of = |kind: u8| i64::from(self.lists.node_types[usize::from(kind)].capacity[Dim::Gpu]);
        self.lists.nodes.iter().map(|(_, kind)| of(*kind)).sum()
    }

    /// The run of a scheduler on these arrivals. Nodes stand in the order of ties, so node 0 is the preferred one.
    #[must_use]
    pub fn setup(&self, order: &Rows, scheduler: &Entry, ties: Ties, seed: u64) -> Setup {
        let kind_of: BTreeMap<u32, u8> = self.lists.nodes.iter().copied().collect();
        let jobs: Vec<Job> = order.pods.iter().zip(0..).map(|(&row, index)| self.job(row, index)).collect();
        // A millisecond between arrivals, and nobody leaves before the end.
        let horizon = Span(jobs.len() as u64 + 2);
        Setup {
            node_types: self.lists.node_types.clone(),
            nodes: order.nodes.iter().filter_map(|row| kind_of.get(row).copied()).collect(),
            gpus: Gpus::Devices,
            exists: DimMask::of(&[Dim::Cpu, Dim::Ram, Dim::Gpu]),
            classes: self.classes.clone(),
            typical: self.typical.clone(),
            source: Source::Listed { jobs: jobs.into(), next: 0 },
            rebuilds: None,
            sharing: Sharing::MaxMin,
            out_of_memory: OutOfMemory::Requeue,
            eviction_loss_ppm: 0,
            queueing: Queueing::REJECT,
            telemetry: Telemetry::PERFECT,
            scheduler: crate::schedulers::Choice { ties, ..scheduler.choice() },
            warm_up: Span::ZERO,
            horizon,
            seed,
        }
    }

    fn job(&self, row: u32, index: u64) -> Job {
        let ask = &self.lists.pods[row as usize].ask;
        let mut demand = Amounts::ZERO;
        demand[Dim::Cpu] = ask.cpu_milli;
        demand[Dim::Ram] = ask.memory_mib;
        demand[Dim::Gpu] = i32::from(ask.gpus) * ask.share;
        Job {
            index,
            class: self.class_of[row as usize],
            arrival: SimTime(index + 1),
            tasks: 1,
            demand,
            gpus: ask.gpus,
            work: Span::from_secs(1_000_000),
            types: ask.types,
        }
    }

    /// A run that has not begun, with its probe.
    ///
    /// # Errors
    /// [`Error::Setup`] if the order is empty or lacks nodes.
    pub fn start(
        &self,
        order: &Rows,
        scheduler: &Entry,
        ties: Ties,
        seed: u64,
    ) -> Result<Simulation<Packing>, Error> {
        let setup = self.setup(order, scheduler, ties, seed);
        let probe = Packing::new(&setup);
        Simulation::with_probe(setup, probe)
    }
}

/// Job classes for policies that look at them: a typical kind each, with its share of the demand for GPUs.
fn classes(lists: &Lists, groups: &[(Kind<'_>, Vec<usize>)], typical: usize) -> (Vec<JobClass>, Vec<ClassId>) {
    let named = typical.min(MOST_CLASSES - 1);
    let gpu_of = |members: &[usize]| -> u64 {
        members.iter().map(|at| u64::from(lists.pods[*at].ask.gpus) * lists.pods[*at].ask.share as u64).sum()
    };
    let mut class_of = vec![ClassId(named as u8); lists.pods.len()];
    let mut list = Vec::with_capacity(named + 1);
    for ((kind, members), class) in groups[..named].iter().zip(0u8..) {
        let memory: u64 = members.iter().map(|at| lists.pods[*at].ask.memory_mib as u64).sum();
        let mut demand = Amounts::ZERO;
        demand[Dim::Cpu] = kind.0;
        demand[Dim::Ram] = (memory / members.len() as u64) as i32;
        demand[Dim::Gpu] = i32::from(kind.2) * kind.1;
        for at in members {
            class_of[*at] = ClassId(class);
        }
        list.push(JobClass {
            id: format!("typical-{class}"),
            typical: demand,
            share_ppm: 0,
            growth: None,
            training: false,
        });
    }
    list.push(JobClass {
        id: "other".to_owned(),
        typical: Amounts::ZERO,
        share_ppm: 0,
        growth: None,
        training: false,
    });
    let demand: Vec<u128> = groups[..named].iter().map(|(_, members)| gpu_of(members).into()).collect();
    for (class, share) in list.iter_mut().zip(millionths(&demand)) {
        class.share_ppm = share;
    }
    (list, class_of)
}

/// The scheduler of that name in a replay: a roster id (`fgd-paper`, `ragp-3d`) or, in any case and with or without
/// hyphens, the name in the paper (`FGD`, `best-fit`).
#[must_use]
pub fn find(name: &str) -> Option<Entry> {
    let plain = |text: &str| text.chars().filter(|c| *c != '-' && *c != '_').collect::<String>().to_lowercase();
    let paper = || replay_entries().filter(|entry| entry.card.arena == Arena::Replay);
    replay_entries()
        .find(|entry| entry.id() == name)
        .or_else(|| paper().find(|entry| plain(entry.card.title) == plain(name)))
        .or_else(|| replay_entries().find(|entry| plain(entry.card.family) == plain(name)))
}

/// What results are named by: the published name for the paper's policies, the roster id for the others.
#[must_use]
pub fn name(entry: &Entry) -> String {
    if entry.card.arena == Arena::Replay { entry.card.title.to_owned() } else { entry.id() }
}
