//! The packing experiment for a screen: files to a bench, a run in slices, and what each slice has to tell.
//!
//! This is all that a worker of the replay does. A slice yields the points of the curves that changed and, where it is
//! wanted, where each pod went ([`Log`](crate::stage::board::Log)), from which any moment of the cluster can be put
//! together again.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::engine::Simulation;
use crate::replay::curve::percent_of;
use crate::replay::files::{self, FileKind};
use crate::replay::published::{Pair, means, pair, pair_with};
use crate::replay::{Experiment, Packing, Point, find, order};
use crate::schedulers::Ties;
use crate::stage::board::{Floor, Move};
use crate::units::SimTime;
use crate::workload::openb::packing::{Published, PublishedMean, Rows, read_means, read_order, read_published};
use crate::workload::openb::{Finding, Severity};

/// More arrivals than this are not kept one by one for a screen.
pub const MOST_KEPT: usize = 400_000;

/// A file: its name and what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Its name.
    pub name: String,
    /// Its contents.
    pub text: String,
}

/// The files of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// The node list.
    pub nodes: Text,
    /// The pod list.
    pub pods: Text,
    /// The orders of a published run.
    pub order: Option<Text>,
    /// Published results, run by run.
    pub runs: Option<Text>,
    /// Published results, means over seeds.
    pub means: Option<Text>,
}

/// What was found in the files of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    /// Workload, by the name of the pod list.
    pub workload: String,
    /// Stands for the contents of node list and pod list.
    pub hash: u64,
    /// The nodes.
    pub floor: Floor,
    /// GPUs of the cluster.
    pub gpus: f64,
    /// Pods of the workload.
    pub pods: usize,
    /// Kinds of pods that count as typical.
    pub typical: usize,
    /// Nodes without GPUs, which take no part.
    pub without_gpu: usize,
    /// What is worth knowing about the files.
    pub notes: Vec<Finding>,
    /// Seed of the published order, by the name of its file; 1 if it does not say. `None` without such a file.
    pub order_seed: Option<u64>,
    /// Name of the order's file.
    pub order_file: Option<String>,
    /// Whether that name is the one of a published order of this workload.
    pub is_published_order: bool,
    /// Workload that the name of the order's file says it is for, if it is another one.
    pub order_of_other: Option<String>,
    /// Published runs of this workload.
    pub runs: Vec<Published>,
    /// Published means of this workload; worked out from the runs where only those are given.
    pub means: Vec<PublishedMean>,
    /// Workloads that the published results are of, if this one is not among them.
    pub other_workloads: Vec<String>,
}

/// A policy's curve beside what was published.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Values side by side, by percent arrived.
    pub pairs: Vec<Pair>,
    /// Whether it is run against the very same run, and not means against means.
    pub is_exact: bool,
}

impl Loaded {
    /// Seed of the published run that this order is of; `None` where it may be any other.
    fn published_seed(&self, order: Order) -> Option<u64> {
        self.order_seed.filter(|_| order == Order::Given && self.is_published_order)
    }

    /// What was published for a policy, by its published name, beside a curve: the run of the given order where there is
    /// one, else the means. `None` if nothing was.
    #[must_use]
    pub fn compare(&self, policy: &str, order: Order, curve: &[Point]) -> Option<Comparison> {
        let seed = self.published_seed(order);
        let exact = seed.map_or_else(Vec::new, |seed| pair(curve, &self.runs, &self.workload, policy, seed));
        if !exact.is_empty() {
            return Some(Comparison { pairs: exact, is_exact: true });
        }
        let means: Vec<PublishedMean> = self.means.iter().filter(|mean| mean.policy == policy).cloned().collect();
        let pairs = pair_with(curve, &means);
        (!pairs.is_empty()).then_some(Comparison { pairs, is_exact: false })
    }

    /// What was published for a policy with this order, as [`compare`](Self::compare) takes it: percent arrived, GPU
    /// allocated, and the fragmented share.
    #[must_use]
    pub fn published(&self, policy: &str, order: Order) -> Vec<Point> {
        let point = |arrived_pct, alloc, frag_ratio| Point { arrived_pct, alloc, frag_ratio };
        let seed = self.published_seed(order);
        let is_run = |row: &&Published| Some(row.seed) == seed && row.policy == policy;
        let exact = self.runs.iter().filter(is_run).map(|row| point(row.arrived_pct, row.alloc, row.frag_ratio));
        let mut points: Vec<Point> = exact.collect();
        if points.is_empty() {
            let means = self.means.iter().filter(|mean| mean.policy == policy);
            points = means.map(|mean| point(mean.arrived_pct, mean.alloc, mean.frag_ratio)).collect();
        }
        points
    }
}

/// Which order of nodes and arrivals a run follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Drawn from this seed.
    Drawn(u64),
    /// The one of the file.
    Given,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PackingRequest {
    /// Roster id of the policy.
    pub policy: String,
    /// Whether equal nodes are drawn among.
    pub random_ties: bool,
    /// The order.
    pub order: Order,
    /// Whether it is to be told where each pod went.
    pub wants_moves: bool,
}

/// What a slice of a run has to tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slice {
    /// Points from the first that is new or has changed; they take the place of what was known from there on.
    pub points: Vec<Point>,
    /// Where the pods of this slice went, if that is wanted: so many words a pod, as
    /// [`Log`](crate::stage::board::Log) reads them.
    pub moves: Vec<u32>,
}

/// An experiment that has been read, and the orders drawn for it so far.
#[derive(Debug)]
pub struct Bench {
    experiment: Arc<Experiment>,
    given: Option<(u64, Arc<Rows>)>,
    drawn: BTreeMap<u64, Arc<Rows>>,
}

impl Bench {
    /// Reads the files.
    ///
    /// # Errors
    /// Every fault of all of them, by file, row and column.
    pub fn load(texts: &Texts) -> Result<(Self, Loaded), Vec<Finding>> {
        fn pair(file: &Text) -> (&str, &str) {
            (&file.name, &file.text)
        }
        let mut faults = Vec::new();
        let experiment = Experiment::read(pair(&texts.nodes), pair(&texts.pods));
        let experiment = experiment.map_err(|mut found| faults.append(&mut found)).ok();
        let given = texts.order.as_ref().zip(experiment.as_ref()).and_then(|(file, experiment)| {
            let rows = read_order(pair(file), experiment.lists()).map_err(|mut found| faults.append(&mut found));
            Some((files::seed(&file.name).unwrap_or(1), Arc::new(rows.ok()?)))
        });
        let runs = texts.runs.as_ref().map(|file| read_published(pair(file)));
        let runs = runs.and_then(|read| read.map_err(|mut found| faults.append(&mut found)).ok());
        let all_means = texts.means.as_ref().map(|file| read_means(pair(file)));
        let all_means = all_means.and_then(|read| read.map_err(|mut found| faults.append(&mut found)).ok());
        let Some(experiment) = experiment.filter(|_| faults.is_empty()) else {
            return Err(faults);
        };
        let loaded = loaded(texts, &experiment, given.as_ref().map(|(seed, _)| *seed), runs, all_means);
        Ok((Self { experiment: Arc::new(experiment), given, drawn: BTreeMap::new() }, loaded))
    }

    /// Prepares a run.
    ///
    /// # Errors
    /// Why it cannot be run, in English.
    pub fn start(&mut self, request: &PackingRequest) -> Result<PackingSession, String> {
        let (seed, rows) = match request.order {
            Order::Given => self.given.clone().ok_or("no order of a published run was given")?,
            Order::Drawn(seed) => (seed, self.drawn(seed)?),
        };
        PackingSession::start(self.experiment.clone(), rows, request, seed)
    }

    fn drawn(&mut self, seed: u64) -> Result<Arc<Rows>, String> {
        if let Some(rows) = self.drawn.get(&seed) {
            return Ok(rows.clone());
        }
        let rows = Arc::new(order::draw(&self.experiment, seed).map_err(|error| error.to_string())?);
        self.drawn.insert(seed, rows.clone());
        Ok(rows)
    }
}

fn loaded(
    texts: &Texts,
    experiment: &Experiment,
    order_seed: Option<u64>,
    runs: Option<Vec<Published>>,
    all_means: Option<Vec<PublishedMean>>,
) -> Loaded {
    let workload = files::workload(&texts.pods.name);
    let mut known: Vec<String> = runs.iter().flatten().map(|row| row.workload.clone()).collect();
    known.extend(all_means.iter().flatten().map(|row| row.workload.clone()));
    known.sort_unstable();
    known.dedup();
    let runs: Vec<Published> = runs.into_iter().flatten().filter(|row| row.workload == workload).collect();
    let mut means_here: Vec<PublishedMean> =
        all_means.into_iter().flatten().filter(|row| row.workload == workload).collect();
    if means_here.is_empty() {
        let mut policies: Vec<&str> = runs.iter().map(|row| row.policy.as_str()).collect();
        policies.sort_unstable();
        policies.dedup();
        means_here = policies.into_iter().flat_map(|policy| means(&runs, &workload, policy)).collect();
    }
    let lists = experiment.lists();
    let order_name = texts.order.as_ref().and_then(|file| files::workload_of_order(&file.name));
    let is_known = known.contains(&workload);
    Loaded {
        hash: files::hash([texts.nodes.text.as_str(), texts.pods.text.as_str()]),
        floor: Floor::of(experiment),
        gpus: experiment.capacity_milli() as f64 / 1000.0,
        pods: lists.pods.len(),
        typical: experiment.typical().tasks.len(),
        without_gpu: lists.without_gpu,
        notes: lists.notes.iter().filter(|note| note.kind.severity() == Severity::Note).cloned().collect(),
        order_seed,
        order_file: texts.order.as_ref().map(|file| file.name.clone()),
        is_published_order: order_name == Some(workload.as_str())
            && texts.order.as_ref().is_some_and(|file| files::seed(&file.name).is_some()),
        order_of_other: order_name.filter(|name| *name != workload).map(str::to_owned),
        runs,
        means: means_here,
        other_workloads: if is_known { Vec::new() } else { known },
        workload,
    }
}

/// What a file looks like, and a number that stands for its contents.
#[must_use]
pub fn look(text: &str) -> (Option<FileKind>, u64) {
    (files::recognise(text), files::hash([text]))
}

/// A run that is being simulated in slices.
#[derive(Clone, Debug)]
pub struct PackingSession {
    simulation: Simulation<Packing>,
    experiment: Arc<Experiment>,
    rows: Arc<Rows>,
    /// Position of each node, in the order of ties, on the floor. Empty if nobody wants to know where pods go.
    place_of: Vec<u32>,
    arrived: usize,
    arrived_milli: i64,
    /// Percentage of the last point that was told.
    told: u32,
    /// Pods of which it was told where they went.
    told_moves: usize,
}

impl PackingSession {
    fn start(
        experiment: Arc<Experiment>,
        rows: Arc<Rows>,
        request: &PackingRequest,
        seed: u64,
    ) -> Result<Self, String> {
        let entry = find(&request.policy).ok_or_else(|| format!("there is no policy {:?}", request.policy))?;
        let ties = if request.random_ties { Ties::Drawn } else { Ties::Fixed };
        let simulation = experiment.start(&rows, &entry, ties, seed).map_err(|error| error.to_string())?;
        let mut place_of = Vec::new();
        if request.wants_moves && rows.pods.len() <= MOST_KEPT {
            let places: BTreeMap<u32, u32> = experiment.lists().nodes.iter().map(|(row, _)| *row).zip(0..).collect();
            place_of = rows.nodes.iter().filter_map(|row| places.get(row).copied()).collect();
        }
        Ok(Self { simulation, experiment, rows, place_of, arrived: 0, arrived_milli: 0, told: 0, told_moves: 0 })
    }

    /// Pods that arrive in all.
    #[must_use]
    pub fn arrivals(&self) -> usize {
        self.rows.pods.len()
    }

    /// Pods that have arrived.
    #[must_use]
    pub fn arrived(&self) -> usize {
        self.arrived
    }

    /// Pods turned away so far.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.simulation.probe().rejected()
    }

    /// Whether there is nothing left to do: the end, or a fault.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.arrived == self.arrivals() || self.simulation.fault().is_some()
    }

    /// What stopped it before its end.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        self.simulation.fault().map(ToString::to_string)
    }

    /// The curves so far.
    #[must_use]
    pub fn curve(&self) -> Vec<Point> {
        self.simulation.probe().curve()
    }

    /// Lets the next pods arrive, at most `most`, without telling anything. [`tell`](Self::tell) makes up for it.
    pub fn advance(&mut self, most: usize) {
        self.arrived = self.arrived.saturating_add(most).min(self.arrivals());
        // Pod i arrives at i + 1 ms, and is placed or turned away at once.
        self.simulation.run_until(SimTime(self.arrived as u64));
    }

    /// What has come since this was asked last.
    pub fn tell(&mut self) -> Slice {
        let curve = self.curve();
        let known = curve.partition_point(|point| point.arrived_pct < self.told);
        let points = curve[known..].to_vec();
        self.told = points.last().map_or(self.told, |point| point.arrived_pct);
        Slice { points, moves: self.moves() }
    }

    fn moves(&mut self) -> Vec<u32> {
        let placements = self.simulation.probe().placements();
        let from = core::mem::replace(&mut self.told_moves, placements.len());
        let mut words = Vec::new();
        if self.place_of.is_empty() {
            return words;
        }
        let capacity = self.experiment.capacity_milli();
        for (row, placement) in self.rows.pods.iter().zip(placements).skip(from) {
            let ask = &self.experiment.lists().pods[*row as usize].ask;
            self.arrived_milli += i64::from(ask.gpus) * i64::from(ask.share);
            Move {
                place: placement.map(|placement| self.place_of[placement.node.index()]),
                devices: placement.map_or(0, |placement| placement.devices.0),
                cpu_milli: ask.cpu_milli,
                milli: ask.share,
                arrived_pct: percent_of(self.arrived_milli, capacity),
            }
            .write(&mut words);
        }
        words
    }
}
