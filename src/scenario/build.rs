//! The only translator from what people write to what the engine runs.

use std::sync::Arc;

use crate::cluster::NodeType;
use crate::engine::setup::{Gpus, OutOfMemory, Queueing, Rebuilds, Setup, Telemetry};
use crate::resources::{Amounts, Dim, DimMask};
use crate::scenario::check;
use crate::scenario::{ClassSpec, Discipline, Issue, Issues, NodeTypeSpec, Scenario, read, unknown_scheduler};
use crate::schedulers::{self, Choice};
use crate::units::Span;
use crate::workload::openb::Imported;
use crate::workload::openb::recorded::Recorded;
use crate::workload::shares::{MILLION, millionths_of};
use crate::workload::synthetic::{Bursts, ClassLaw, Generator};
use crate::workload::{ClassId, Growth, JobClass, Source};

/// Keys that describe what a trace brings itself.
const BROUGHT: [&str; 7] = ["nodes", "storage_intensity", "node_types", "classes", "bursts", "growth", "limits"];

/// Keys that act on jobs that grow. Those of a trace do not: it does not record growth.
const OF_GROWTH: [&str; 3] = ["out_of_memory", "eviction_loss", "scheduler.foresight"];

/// Keys that act on storage and I/O CPU.
const OF_STORAGE: [&str; 5] = ["rebuilds", "telemetry", "sharing", "scheduler.safety", "scheduler.cordon"];

/// Keys whose values are names of dimensions.
const FIT_DIMS: &str = "scheduler.fit_dims";
const SCORE_DIMS: &str = "scheduler.score_dims";

/// What such a key may name on a trace that has these.
fn some_of(exists: DimMask) -> String {
    format!("some of {exists}, which the trace has")
}

/// Whether the key at `path` has a say in a run on a trace in which storage is assumed (`has_storage`) or does not
/// exist.
#[must_use]
pub fn has_say(path: &str, has_storage: bool) -> bool {
    !is_below(path, &BROUGHT) && !is_below(path, &OF_GROWTH) && (has_storage || !is_below(path, &OF_STORAGE))
}

/// Whether `path` is one of `keys` or in one of their tables.
fn is_below(path: &str, keys: &[&str]) -> bool {
    keys.iter().any(|key| path.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

/// A share in millionths, to the nearest.
fn ppm(share: f64) -> u32 {
    libm::round(share * f64::from(MILLION)) as u32
}

/// Where a run takes place: what a scenario describes and a trace brings.
struct Ground {
    node_types: Vec<NodeType>,
    nodes: Vec<u8>,
    exists: DimMask,
    classes: Vec<JobClass>,
    source: Source,
}

impl NodeTypeSpec {
    /// Nominal capacity in stored units.
    #[must_use]
    pub fn capacity(&self) -> Amounts {
        Amounts::from_values(self.has.values())
    }
}

impl Scenario {
    /// Demand of a typical task of `class` at admission, storage intensity included.
    #[must_use]
    pub fn typical(&self, class: &ClassSpec) -> Amounts {
        let mut values = class.asks.values();
        values[Dim::Sto.index()] *= self.storage_intensity;
        Amounts::from_values(values)
    }

    /// The kind of every node: dealt so that any prefix of the cluster has the same mix. Node *i* gets the type
    /// that is furthest behind its share; ties go to the first type.
    #[must_use]
    pub fn deal_nodes(&self) -> Vec<u8> {
        let shares = self.node_type_shares_ppm();
        let mut counts = vec![0i64; shares.len()];
        (1..=i64::from(self.nodes))
            .map(|dealt| {
                let mut most = (i64::MIN, 0);
                for (position, share) in shares.iter().enumerate() {
                    let behind = i64::from(*share) * dealt - counts[position] * i64::from(MILLION);
                    if behind > most.0 {
                        most = (behind, position);
                    }
                }
                counts[most.1] += 1;
                most.1 as u8
            })
            .collect()
    }

    /// GPUs of the whole cluster.
    #[must_use]
    pub fn gpus(&self) -> f64 {
        self.deal_nodes().iter().map(|kind| self.node_types[usize::from(*kind)].has.gpu).sum()
    }

    /// Jobs of `class` that arrive an hour in a cluster of so many GPUs, on average.
    #[must_use]
    pub fn rate_per_hour(&self, class: &ClassSpec, gpus: f64) -> f64 {
        let gpu_hours = class.asks.gpu * class.mean_tasks() * class.work_minutes / 60.0;
        self.load * gpus * class.share / gpu_hours
    }

    /// Jobs that arrive in the whole run, on average.
    #[must_use]
    pub fn expected_jobs(&self) -> f64 {
        self.expected_jobs_and_breathing().0
    }

    /// The same, and how many of them grow.
    pub(super) fn expected_jobs_and_breathing(&self) -> (f64, f64) {
        let gpus = self.gpus();
        let jobs = |class: &ClassSpec| self.rate_per_hour(class, gpus) * self.hours;
        let breathing = self.classes.iter().filter(|class| class.grows).map(jobs).sum();
        (self.classes.iter().map(jobs).sum(), breathing)
    }

    /// A run of this scenario under one scheduler of the roster. Same scenario, same seed: same jobs and rebuilds,
    /// whatever the scheduler.
    ///
    /// # Errors
    ///
    /// An unknown scheduler; one that may plan with so little that a class would never start.
    pub fn setup(&self, scheduler: &str, seed: u64) -> Result<Setup, Issues> {
        let scheduler = self.choice(scheduler)?;
        let node_types = self.engine_node_types();
        let exists = existing_dims(
            node_types.iter().zip(&self.node_types).filter(|(_, item)| item.share > 0.0).map(|(kind, _)| kind),
        );
        let (nodes, classes) = (self.deal_nodes(), self.engine_classes());
        let issues = self.never_planned(&scheduler, &node_types, &nodes, &classes);
        if !issues.is_empty() {
            return Err(Issues(issues));
        }
        let source = Source::Synthetic(Box::new(Generator::new(self.laws(), self.engine_bursts(), seed)));
        Ok(self.setup_of(Ground { node_types, nodes, exists, classes, source }, scheduler, seed))
    }

    /// A run on a real cluster with jobs drawn from its trace: nodes, classes and jobs come from `trace`, all else
    /// (load, time, queue, telemetry, rebuilds, sharing, scheduler) from this scenario.
    ///
    /// # Errors
    ///
    /// An unknown scheduler; one whose score sees nothing that the trace has; a run that is too large.
    pub fn trace_setup(&self, trace: &Imported, scheduler: &str, seed: u64) -> Result<Setup, Issues> {
        let source = Source::Bootstrap(Box::new(trace.generator(self.load, seed)));
        let jobs = trace.rate_for_load(self.load) * self.hours;
        let size = format!("{} × {}", self.load, self.hours);
        self.on_trace(trace, source, jobs, ("load × hours", &size), scheduler, seed)
    }

    /// A run on a real cluster with the jobs that it had, when it had them: as [`trace_setup`](Self::trace_setup), but the
    /// load has no say.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn recorded_setup(&self, recorded: &Recorded, scheduler: &str, seed: u64) -> Result<Setup, Issues> {
        let source = Source::Recorded(Box::new(recorded.stream()));
        // Jobs that are read as time passes cost no memory, however many come.
        self.on_trace(&recorded.trace, source, 0.0, ("hours", &self.hours.to_string()), scheduler, seed)
    }

    /// A run on the cluster of `trace` with the jobs of `source`, so many on average; `size` names what makes it large.
    fn on_trace(
        &self,
        trace: &Imported,
        source: Source,
        jobs: f64,
        size: (&str, &str),
        scheduler: &str,
        seed: u64,
    ) -> Result<Setup, Issues> {
        let mut scheduler = self.choice(scheduler)?;
        let mut issues = Vec::new();
        // The hard dimensions that the trace has decide what fits in any case.
        scheduler.fit_dims = scheduler.fit_dims.and(trace.exists);
        let wanted = scheduler.score_dims;
        scheduler.score_dims = wanted.and(trace.exists);
        if scheduler.score_dims.is_empty() {
            issues.push(Issue::new(
                SCORE_DIMS,
                wanted.to_string(),
                some_of(trace.exists),
                "Name one of these, or let the missing dimensions be assumed",
            ));
        }
        issues.extend(self.never_planned(&scheduler, &trace.node_types, &trace.nodes, &trace.classes));
        issues.extend(check::too_large(self, trace.nodes.len(), jobs, 0.0, size));
        if !issues.is_empty() {
            return Err(Issues(issues));
        }
        let ground = Ground {
            node_types: trace.node_types.clone(),
            nodes: trace.nodes.clone(),
            exists: trace.exists,
            classes: trace.classes.clone(),
            source,
        };
        let mut setup = self.setup_of(ground, scheduler, seed);
        setup.rebuilds = setup.rebuilds.filter(|_| trace.exists.has(Dim::Sto));
        Ok(setup)
    }

    /// A run on `ground`: all else is from this scenario.
    fn setup_of(&self, ground: Ground, scheduler: Choice, seed: u64) -> Setup {
        let Ground { node_types, nodes, exists, classes, source } = ground;
        Setup {
            node_types,
            nodes,
            gpus: Gpus::Pool,
            exists,
            classes,
            typical: Arc::default(),
            source,
            rebuilds: self.engine_rebuilds(),
            sharing: self.sharing,
            out_of_memory: self.out_of_memory,
            eviction_loss_ppm: ppm(self.eviction_loss),
            queueing: self.engine_queueing(),
            telemetry: self.engine_telemetry(),
            scheduler,
            warm_up: Span::from_hours_f64(self.warm_up_hours),
            horizon: Span::from_hours_f64(self.hours),
            seed,
        }
    }

    /// Reads a scenario file for a run on a trace, with `overrides`. How large the run is, is judged with the trace:
    /// [`trace_setup`](Self::trace_setup). Where no file is named, it is [`TRACE`](crate::scenario::TRACE).
    ///
    /// # Errors
    ///
    /// All problems of file and overrides at once, overrides without a say in such a run among them.
    pub fn for_trace(text: &str, overrides: &[(String, String)]) -> Result<Self, Issues> {
        let silent = overrides.iter().filter(|(path, _)| !has_say(path, true));
        let mut issues: Vec<Issue> = silent
            .map(|(path, value)| {
                let remedy = if is_below(path, &OF_GROWTH) {
                    "Leave it out: the jobs of a trace do not grow"
                } else {
                    "Leave it out: the trace itself brings nodes, classes and jobs"
                };
                Issue::new(path, value, "a key that has a say in a run on a trace", remedy)
            })
            .collect();
        match read::scenario(text, overrides, false) {
            Ok(scenario) if issues.is_empty() => Ok(scenario),
            outcome => {
                issues.extend(outcome.err().into_iter().flat_map(|found| found.0));
                Err(Issues(issues))
            }
        }
    }

    /// Dimensions that this scenario names for a scheduler and that do not exist in a run on a trace which has but
    /// those of `exists`: each key that names some, with these.
    pub fn silent_dims(&self, exists: DimMask) -> impl Iterator<Item = (&'static str, DimMask)> {
        let settings = &self.scheduler;
        let named = [(FIT_DIMS, settings.fit_dims), (SCORE_DIMS, settings.score_dims)];
        named.into_iter().filter_map(move |(path, dims)| {
            let missing = dims?.iter().fold(DimMask::EMPTY, |missing, dim| match exists.has(dim) {
                true => missing,
                false => missing.or(DimMask::of(&[dim])),
            });
            (!missing.is_empty()).then_some((path, missing))
        })
    }

    /// Problems with `overrides` that have a say in other runs on a trace, but not on this one: settings of storage
    /// where no storage is assumed, and names of dimensions that the trace does not have. `self` is the scenario that has
    /// these overrides.
    #[must_use]
    pub fn silent_overrides(&self, overrides: &[(String, String)], trace: &Imported) -> Vec<Issue> {
        let dims = self.silent_dims(trace.exists).filter_map(|(path, missing)| {
            let (_, value) = overrides.iter().rev().find(|(key, _)| key == path)?;
            // A score of nothing is refused in any case.
            let is_refused = path == SCORE_DIMS && self.scheduler.score_dims == Some(missing);
            (!is_refused).then(|| {
                let remedy = format!("Leave out {missing}, or let the missing dimensions be assumed");
                Issue::new(path, value, some_of(trace.exists), remedy)
            })
        });
        overrides
            .iter()
            .filter(|(path, _)| has_say(path, true) && !has_say(path, trace.exists.has(Dim::Sto)))
            .map(|(path, value)| {
                Issue::new(
                    path,
                    value,
                    "a key that has a say: without assumptions there is no storage",
                    "Leave it out, or let storage be assumed",
                )
            })
            .chain(dims)
            .collect()
    }

    /// The scheduler of that id with this scenario's settings.
    ///
    /// # Errors
    ///
    /// An unknown scheduler.
    pub fn choice(&self, id: &str) -> Result<Choice, Issues> {
        let Some(entry) = schedulers::find(id) else {
            return Err(unknown_scheduler(id).into());
        };
        let settings = &self.scheduler;
        let knob = |knob: &schedulers::Knob| settings.knobs.get(knob.key).copied().unwrap_or(knob.default);
        Ok(Choice {
            fit_dims: settings.fit_dims.unwrap_or(entry.sees),
            score_dims: settings.score_dims.unwrap_or(entry.sees),
            safety_ppm: ppm(settings.safety),
            cordon_ppm: ppm(settings.cordon),
            foresight_ppm: ppm(settings.foresight),
            sample: settings.sample,
            knobs: entry.card.knobs.iter().map(knob).collect(),
            ..entry.choice()
        })
    }

    /// Classes whose typical task is never started, on no empty node: because a scheduler plans with too small a part of
    /// storage and I/O CPU, or for more growth than any node has room for, or because it would have to start again a task
    /// that was evicted when it had grown.
    fn never_planned(&self, choice: &Choice, kinds: &[NodeType], nodes: &[u8], classes: &[JobClass]) -> Vec<Issue> {
        let safety = self.scheduler.safety;
        let soft: Vec<Dim> = [Dim::Sto, Dim::Ioc].into_iter().filter(|dim| choice.fit_dims.has(*dim)).collect();
        let planned = |kind: &NodeType, dim: Dim| {
            let part = if soft.contains(&dim) { safety } else { 1.0 };
            f64::from(kind.capacity[dim]) * part
        };
        let mut issues = Vec::new();
        for class in classes.iter().filter(|class| class.share_ppm > 0) {
            let held: Vec<&NodeType> = (0u8..)
                .zip(kinds)
                .filter(|(position, kind)| {
                    nodes.contains(position) && class.typical.fits_in(&kind.capacity, DimMask::SEVEN)
                })
                .map(|(_, kind)| kind)
                .collect();
            let fits = |kind: &NodeType| soft.iter().all(|dim| f64::from(class.typical[*dim]) <= planned(kind, *dim));
            if !held.iter().any(|kind| fits(kind)) {
                let needed = |kind: &&NodeType| {
                    let part = |dim: &Dim| f64::from(class.typical[*dim]) / f64::from(kind.capacity[*dim].max(1));
                    soft.iter().map(part).fold(0.0, f64::max)
                };
                let Some(least) = held.iter().map(needed).min_by(f64::total_cmp) else { continue };
                // Rounded up, so that it can be taken as it is.
                let least = libm::ceil(least * 1000.0) / 1000.0;
                issues.push(Issue::new(
                    "scheduler.safety",
                    safety.to_string(),
                    format!("at least {least}: with less, {} never starts a typical task of {}", choice.id, class.id),
                    "Raise it, or compare schedulers that do not see storage",
                ));
                continue;
            }
            let Some(growth) = class.growth else { continue };
            let full = growth.demand(&class.typical, growth.steps);
            // The largest part of the growth that some node has room for, and the dimension that is short there.
            let room = |kind: &NodeType| {
                let grows = [Dim::Hbm, Dim::Sto, Dim::Ioc]
                    .into_iter()
                    .filter(|dim| full[*dim] > class.typical[*dim] && (*dim == Dim::Hbm || soft.contains(dim)));
                let part = |dim: Dim| {
                    let (now, full) = (f64::from(class.typical[dim]), f64::from(full[dim]));
                    ((planned(kind, dim) - now) / (full - now), dim)
                };
                grows.map(part).min_by(|a, b| a.0.total_cmp(&b.0))
            };
            let rooms = held.iter().filter(|kind| fits(kind)).map(|kind| room(kind)).collect::<Option<Vec<_>>>();
            let Some((room, dim)) = rooms.into_iter().flatten().max_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
            // Rounded down, so that it can be taken as it is.
            let most = |value: f64| libm::floor(value * 1000.0) / 1000.0;
            if self.scheduler.foresight > room {
                issues.push(Issue::new(
                    "scheduler.foresight",
                    self.scheduler.foresight.to_string(),
                    format!(
                        "at most {}: with more, {} never starts a typical task of {}",
                        most(room),
                        choice.id,
                        class.id
                    ),
                    if soft.contains(&dim) {
                        format!("Lower it or growth.{dim}, or compare schedulers that do not see storage")
                    } else {
                        format!("Lower it or growth.{dim}")
                    },
                ));
            }
            // Only memory that does not suffice evicts; what is evicted comes back with the demand that it had grown to.
            let is_evicted = self.out_of_memory == OutOfMemory::Requeue && full[Dim::Hbm] > class.typical[Dim::Hbm];
            if is_evicted && room < 1.0 && soft.contains(&dim) {
                let factor = if dim == Dim::Sto { growth.sto } else { growth.ioc };
                issues.push(Issue::new(
                    format!("growth.{dim}"),
                    factor.to_string(),
                    format!(
                        "at most {}: with more, {} never starts a typical task of {} again that was evicted full-grown",
                        most(room * factor),
                        choice.id,
                        class.id
                    ),
                    format!(
                        "Lower it or classes.{}.{dim}, take out_of_memory = \"throttle\", or compare schedulers that do \
                         not see storage",
                        class.id
                    ),
                ));
            }
        }
        issues
    }

    /// Shares of the node types in millionths; they sum to a million.
    fn node_type_shares_ppm(&self) -> Vec<u32> {
        millionths_of(&self.node_types.iter().map(|item| item.share).collect::<Vec<_>>())
    }

    fn engine_node_types(&self) -> Vec<NodeType> {
        let kind = |item: &NodeTypeSpec| NodeType {
            id: item.id.clone(),
            title: item.title.clone(),
            capacity: item.capacity(),
        };
        self.node_types.iter().map(kind).collect()
    }

    /// All classes, those without jobs too: so a class keeps its position, and with it its random streams, when
    /// only shares change.
    fn engine_classes(&self) -> Vec<JobClass> {
        let shares = millionths_of(&self.classes.iter().map(|class| class.share).collect::<Vec<_>>());
        self.classes
            .iter()
            .zip(shares)
            .map(|(class, share_ppm)| JobClass {
                id: class.id.clone(),
                typical: self.typical(class),
                share_ppm,
                growth: class.grows.then(|| self.engine_growth()),
                training: class.training,
            })
            .collect()
    }

    fn engine_growth(&self) -> Growth {
        Growth {
            hbm: self.growth.hbm,
            sto: self.growth.sto,
            ioc: self.growth.ioc,
            steps: self.growth.steps as u8,
            hbm_cap: Dim::Hbm.amount(self.growth.hbm_cap),
        }
    }

    /// How the jobs of each class that has any are drawn.
    fn laws(&self) -> Vec<ClassLaw> {
        let gpus = self.gpus();
        self.classes
            .iter()
            .enumerate()
            .filter(|(_, class)| class.share > 0.0)
            .map(|(position, class)| ClassLaw {
                class: ClassId(position as u8),
                demand: self.typical(class),
                limit: self.limit(class),
                jitter_hard: class.jitter_hard,
                jitter_soft: class.jitter_soft,
                mean_work: Span::from_secs_f64(class.work_minutes * 60.0),
                work_sigma: class.work_sigma,
                gang: class.gang.clone(),
                rate_per_hour: self.rate_per_hour(class, gpus),
                bursty: class.bursty,
            })
            .collect()
    }

    /// The most that a task of `class` is drawn with. It never excludes the typical task, and some node type in use
    /// always holds it: else jobs would come that can never run.
    pub(super) fn limit(&self, class: &ClassSpec) -> Amounts {
        let typical = self.typical(class);
        let limits = &self.limits;
        let hbm = (limits.hbm_per_gpu * class.asks.gpu.max(1.0)).min(limits.hbm);
        let written =
            Amounts::from_values([limits.cpu, limits.ram, class.asks.gpu, hbm, limits.net, limits.sto, limits.ioc]);
        let limit = written.map(|dim, most| most.max(typical[dim]));
        let holders = || {
            let in_use = self.node_types.iter().filter(|item| item.share > 0.0).map(NodeTypeSpec::capacity);
            in_use.filter(|capacity| typical.fits_in(capacity, DimMask::SEVEN))
        };
        if holders().any(|capacity| limit.fits_in(&capacity, DimMask::SEVEN)) {
            return limit;
        }
        match holders().next() {
            Some(capacity) => limit.map(|dim, most| most.min(capacity[dim])),
            None => limit,
        }
    }

    fn engine_bursts(&self) -> Option<Bursts> {
        let bursts = &self.bursts;
        if bursts.factor <= 1.0 {
            return None;
        }
        // What is left for the time outside bursts, so that the mean rate stays:
        // on × factor + off × x = on + off.
        let off_factor =
            (bursts.on_minutes + bursts.off_minutes - bursts.on_minutes * bursts.factor) / bursts.off_minutes;
        Some(Bursts {
            on_mean: Span::from_secs_f64(bursts.on_minutes * 60.0),
            off_mean: Span::from_secs_f64(bursts.off_minutes * 60.0),
            on_factor: bursts.factor,
            off_factor: off_factor.max(0.0),
        })
    }

    fn engine_rebuilds(&self) -> Option<Rebuilds> {
        let rebuilds = &self.rebuilds;
        let share = rebuilds.degraded_share;
        if share <= 0.0 {
            return None;
        }
        // In the long run a node rebuilds for rebuild ÷ (rebuild + healthy) of its time.
        let healthy_hours = rebuilds.mean_hours * (1.0 - share) / share;
        Some(Rebuilds {
            healthy_mean: Span::from_hours_f64(healthy_hours),
            rebuild_mean: Span::from_hours_f64(rebuilds.mean_hours),
            factor_ppm: (ppm(rebuilds.factor_min), ppm(rebuilds.factor_max)),
            ioc_ppm: ppm(rebuilds.ioc_factor),
        })
    }

    fn engine_queueing(&self) -> Queueing {
        let queue = &self.queue;
        match queue.discipline {
            Discipline::Strict => Queueing::STRICT,
            Discipline::Backfill => Queueing {
                window: queue.window,
                reserve_after: (queue.reserve_after_minutes > 0.0)
                    .then(|| Span::from_secs_f64(queue.reserve_after_minutes * 60.0)),
                reserve_ppm: ppm(queue.reserve_share),
                reserve_min: queue.reserve_nodes,
                rejects: false,
            },
        }
    }

    fn engine_telemetry(&self) -> Telemetry {
        let telemetry = &self.telemetry;
        Telemetry {
            interval: Span::from_secs_f64(telemetry.interval_seconds),
            noise: telemetry.noise,
            smoothing: telemetry.smoothing,
            dead_band: telemetry.dead_band,
        }
    }
}

/// Dimensions of which some node type in use has any.
fn existing_dims<'a>(kinds: impl Iterator<Item = &'a NodeType>) -> DimMask {
    let mut dims = Vec::new();
    for kind in kinds {
        dims.extend(Dim::ALL.into_iter().filter(|dim| kind.capacity[*dim] > 0));
    }
    DimMask::of(&dims)
}
