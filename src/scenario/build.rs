//! The only translator from what people write to what the engine runs.

use crate::cluster::NodeType;
use crate::engine::setup::{Queueing, Rebuilds, Setup, Telemetry};
use crate::resources::{Amounts, Dim, DimMask};
use crate::scenario::check::{self, MOST_JOBS};
use crate::scenario::{ClassSpec, Discipline, Issue, Issues, NodeTypeSpec, Scenario, unknown_scheduler};
use crate::schedulers::{self, Choice};
use crate::units::Span;
use crate::workload::openb::Imported;
use crate::workload::synthetic::{Bursts, ClassLaw, Generator};
use crate::workload::{ClassId, Growth, JobClass, Source};

/// Parts in a whole, for shares kept as whole numbers.
const MILLION: f64 = 1_000_000.0;

/// A share in millionths, to the nearest.
fn ppm(share: f64) -> u32 {
    libm::round(share * MILLION) as u32
}

impl NodeTypeSpec {
    /// Nominal capacity in stored units.
    #[must_use]
    pub fn capacity(&self) -> Amounts {
        Amounts::from_values(self.values())
    }
}

impl Scenario {
    /// Demand of a typical task of `class` at admission, storage intensity included.
    #[must_use]
    pub fn typical(&self, class: &ClassSpec) -> Amounts {
        let mut values = class.values();
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
                    let behind = i64::from(*share) * dealt - counts[position] * 1_000_000;
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
        self.deal_nodes().iter().map(|kind| self.node_types[usize::from(*kind)].gpu).sum()
    }

    /// Jobs of `class` that arrive an hour in a cluster of so many GPUs, on average.
    #[must_use]
    pub fn rate_per_hour(&self, class: &ClassSpec, gpus: f64) -> f64 {
        let gpu_hours = class.gpu * class.mean_tasks() * class.work_minutes / 60.0;
        self.load * gpus * class.share / gpu_hours
    }

    /// Jobs that arrive in the whole run, on average.
    #[must_use]
    pub fn expected_jobs(&self) -> f64 {
        let gpus = self.gpus();
        self.classes.iter().map(|class| self.rate_per_hour(class, gpus)).sum::<f64>() * self.hours
    }

    /// A run of this scenario under one scheduler of the roster. Same scenario, same seed: same jobs and rebuilds,
    /// whatever the scheduler.
    ///
    /// # Errors
    ///
    /// An unknown scheduler.
    pub fn setup(&self, scheduler: &str, seed: u64) -> Result<Setup, Issues> {
        let scheduler = self.choice(scheduler)?;
        let node_types = self.engine_node_types();
        let exists = existing_dims(
            node_types.iter().zip(&self.node_types).filter(|(_, item)| item.share > 0.0).map(|(kind, _)| kind),
        );
        Ok(Setup {
            node_types,
            nodes: self.deal_nodes(),
            exists,
            classes: self.engine_classes(),
            source: Source::Synthetic(Box::new(Generator::new(self.laws(), self.engine_bursts(), seed))),
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
        })
    }

    /// A run on a real cluster with jobs drawn from its trace: nodes, classes and jobs come from `trace`, all else
    /// (load, time, queue, telemetry, rebuilds, sharing, scheduler) from this scenario.
    ///
    /// # Errors
    ///
    /// An unknown scheduler; one that sees nothing that the trace has; a run with too many jobs.
    pub fn trace_setup(&self, trace: &Imported, scheduler: &str, seed: u64) -> Result<Setup, Issues> {
        let scheduler = self.choice(scheduler)?;
        for (key, dims) in [("fit_dims", scheduler.fit_dims), ("score_dims", scheduler.score_dims)] {
            if dims.and(trace.exists).is_empty() {
                return Err(Issue::new(
                    format!("scheduler.{key}"),
                    dims.to_string(),
                    format!("some of {}, which the trace has", trace.exists),
                    "Name one of these, or let the missing dimensions be assumed",
                )
                .into());
            }
        }
        let jobs = trace.rate_for_load(self.load) * self.hours;
        if jobs > MOST_JOBS {
            return Err(check::too_many_jobs(
                "load × hours",
                &format!("{} × {}", self.load, self.hours),
                jobs,
                self.hours,
            )
            .into());
        }
        Ok(Setup {
            node_types: trace.node_types.clone(),
            nodes: trace.nodes.clone(),
            exists: trace.exists,
            classes: trace.classes.clone(),
            source: Source::Bootstrap(Box::new(trace.generator(self.load, seed))),
            rebuilds: self.engine_rebuilds().filter(|_| trace.exists.has(Dim::Sto)),
            sharing: self.sharing,
            out_of_memory: self.out_of_memory,
            eviction_loss_ppm: ppm(self.eviction_loss),
            queueing: self.engine_queueing(),
            telemetry: self.engine_telemetry(),
            scheduler,
            warm_up: Span::from_hours_f64(self.warm_up_hours),
            horizon: Span::from_hours_f64(self.hours),
            seed,
        })
    }

    /// Whether the key at `path` has a say in a run on a trace. The others describe what the trace brings itself.
    #[must_use]
    pub fn applies_to_trace(path: &str) -> bool {
        const BROUGHT: [&str; 7] =
            ["nodes", "storage_intensity", "node_types", "classes", "bursts", "growth", "limits"];
        !BROUGHT.contains(&path.split('.').next().unwrap_or_default())
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
            knobs: entry.card.knobs.iter().map(knob).collect(),
            ..entry.choice()
        })
    }

    /// Shares of the node types in millionths; they sum to a million.
    fn node_type_shares_ppm(&self) -> Vec<u32> {
        whole_parts(&self.node_types.iter().map(|item| item.share).collect::<Vec<_>>())
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
        let shares = whole_parts(&self.classes.iter().map(|class| class.share).collect::<Vec<_>>());
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
    fn limit(&self, class: &ClassSpec) -> Amounts {
        let typical = self.typical(class);
        let limits = &self.limits;
        let hbm = (limits.hbm_per_gpu * class.gpu.max(1.0)).min(limits.hbm);
        let written =
            Amounts::from_values([limits.cpu, limits.ram, class.gpu, hbm, limits.net, limits.sto, limits.ioc]);
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

/// Shares that sum to about 1, as whole millionths that sum to exactly a million (largest remainder, ties to the
/// first).
fn whole_parts(shares: &[f64]) -> Vec<u32> {
    let mut parts: Vec<u32> = shares.iter().map(|share| libm::floor(share * MILLION) as u32).collect();
    let mut order: Vec<usize> = (0..shares.len()).filter(|position| shares[*position] > 0.0).collect();
    let rest = |position: &usize| shares[*position] * MILLION - libm::floor(shares[*position] * MILLION);
    order.sort_by(|a, b| rest(b).total_cmp(&rest(a)));
    let sum: u32 = parts.iter().sum();
    let short = 1_000_000u32.saturating_sub(sum) as usize;
    if !order.is_empty() {
        for turn in 0..short {
            parts[order[turn % order.len()]] += 1;
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::whole_parts;

    #[test]
    fn whole_parts_sum_to_a_million() {
        assert_eq!(whole_parts(&[0.6, 0.25, 0.15]), [600_000, 250_000, 150_000]);
        let thirds = whole_parts(&[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.0]);
        assert_eq!(thirds, [333_334, 333_333, 333_333, 0]);
    }
}
