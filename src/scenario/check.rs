//! What must hold between the values of a scenario, each being allowed by itself.

use crate::engine::setup::OutOfMemory;
use crate::resources::{Dim, DimMask};
use crate::scenario::read::SHARES_OFF;
use crate::scenario::{ClassSpec, Discipline, Issue, NodeTypeSpec, Scenario};

/// More jobs than this are refused: they take minutes, and at 64 nodes it is half a year of cluster time. Memory would not
/// stop them: waits are kept one by one up to 250,000 jobs, and beyond only counted in buckets.
const MOST_JOBS: f64 = 10_000_000.0;

/// As many as a scenario may have.
const MOST_NODES: usize = 200_000;

/// A minute: how often the cluster is sampled. Less is no measurement.
const LEAST_MEASURED_HOURS: f64 = 1.0 / 60.0;

/// Notes every contradiction. Where a value is missing or was refused, what depends on it is not judged.
pub(super) fn cross(scenario: &Scenario, has_own_cluster: bool, issues: &mut Vec<Issue>) {
    let own_issues = issues.len();
    let touched = |issues: &[Issue], part: &str| issues[..own_issues].iter().any(|issue| issue.path.contains(part));

    if !touched(issues, "hours") && scenario.hours - scenario.warm_up_hours < LEAST_MEASURED_HOURS {
        issues.push(Issue::new(
            "warm_up_hours",
            scenario.warm_up_hours.to_string(),
            format!("at least a minute less than hours, which is {}", scenario.hours),
            "Shorten the warm-up or lengthen the run: what comes after the warm-up is what is measured",
        ));
    }
    let rebuilds = &scenario.rebuilds;
    if !touched(issues, "rebuilds") && rebuilds.factor_min > rebuilds.factor_max {
        issues.push(Issue::new(
            "rebuilds.factor_min",
            rebuilds.factor_min.to_string(),
            format!("at most rebuilds.factor_max, which is {}", rebuilds.factor_max),
            "Swap the two",
        ));
    }
    let bursts = &scenario.bursts;
    let on_share = bursts.on_minutes / (bursts.on_minutes + bursts.off_minutes);
    if !touched(issues, "bursts") && bursts.factor * on_share > 1.0 {
        issues.push(Issue::new(
            "bursts.factor",
            bursts.factor.to_string(),
            format!("1 to {:.3} with bursts {:.1} % of the time", 1.0 / on_share, on_share * 100.0),
            "Lower it, or make bursts shorter or rarer: more would exceed the mean rate by itself",
        ));
    }
    let interval = scenario.telemetry.interval_seconds;
    if interval > 0.0 && interval < 1.0 {
        issues.push(Issue::new(
            "telemetry.interval_seconds",
            interval.to_string(),
            "0 (the truth at once) or 1 to 86400 s",
            "Shorter intervals cost run time and change nothing",
        ));
    }
    if interval == 0.0 && !touched(issues, "telemetry.interval_seconds") {
        let telemetry = &scenario.telemetry;
        for (key, value, without) in [
            ("noise", telemetry.noise, 0.0),
            ("smoothing", telemetry.smoothing, 1.0),
            ("dead_band", telemetry.dead_band, 0.0),
        ] {
            if value != without {
                issues.push(Issue::new(
                    format!("telemetry.{key}"),
                    value.to_string(),
                    format!(
                        "{without} while telemetry.interval_seconds is 0: the truth is known at once, and no readings \
                         are taken"
                    ),
                    "Set telemetry.interval_seconds to 1 or more, or leave it out",
                ));
            }
        }
    }
    let queue = &scenario.queue;
    if queue.discipline == Discipline::Backfill
        && queue.reserve_after_minutes > 0.0
        && queue.reserve_share == 0.0
        && queue.reserve_nodes == 0
    {
        issues.push(Issue::new(
            "queue.reserve_share",
            "0",
            "above 0, or queue.reserve_nodes above 0, while queue.reserve_after_minutes is above 0",
            "Set queue.reserve_after_minutes = 0 if jobs must not reserve nodes",
        ));
    }
    shares(scenario, issues, own_issues);
    types(scenario, issues);
    limits(scenario, issues);
    // These look at the cluster as a whole, which only a scenario without contradictions has.
    if issues.is_empty() && has_own_cluster {
        gangs(scenario, issues);
        growth(scenario, issues);
        soft_sums(scenario, issues);
        let (jobs, breathing) = scenario.expected_jobs_and_breathing();
        let size = format!("{} × {}", scenario.nodes, scenario.hours);
        issues.extend(too_large(scenario, scenario.nodes as usize, jobs, breathing, ("nodes × hours", &size)));
    }
}

fn shares(scenario: &Scenario, issues: &mut Vec<Issue>, own_issues: usize) {
    let mut sum = |section: &str, shares: Vec<f64>, of: &str| {
        let judged = !issues[..own_issues].iter().any(|issue| {
            issue.path.starts_with(section) && (issue.path.ends_with(".share") || issue.value.is_empty())
        });
        let sum: f64 = shares.iter().sum();
        let off = (sum - 1.0).abs();
        // Written so that NaN is off too.
        if judged && (off > SHARES_OFF || off.is_nan()) {
            let list: Vec<_> = shares.iter().map(f64::to_string).collect();
            issues.push(Issue::new(
                format!("{section}.*.share"),
                format!("{} (sum {sum:.4})", list.join(" + ")),
                format!("shares of {of} that sum to 1"),
                "Change one of them, or set one by --set: then the others are scaled to fit",
            ));
        }
    };
    sum("node_types", scenario.node_types.iter().map(|item| item.share).collect(), "nodes");
    sum("classes", scenario.classes.iter().map(|item| item.share).collect(), "GPU-hours");
}

/// Node types have GPUs and hold the classes.
fn types(scenario: &Scenario, issues: &mut Vec<Issue>) {
    if scenario.node_types.len() > 64 {
        issues.push(Issue::new(
            "node_types",
            format!("{} types", scenario.node_types.len()),
            "at most 64 types",
            "Leave some out",
        ));
    }
    let in_use = || scenario.node_types.iter().filter(|item| item.share > 0.0);
    if scenario.node_types.iter().all(|item| item.share.is_finite() && item.has.gpu.is_finite())
        && !in_use().any(|item| item.has.gpu > 0.0)
    {
        issues.push(Issue::new(
            "node_types.*.gpu",
            "0",
            "above 0 for some type whose share is above 0",
            "Give some node type GPUs: load is a share of them",
        ));
        return;
    }
    let comparable = in_use().all(|item| item.has.values().iter().all(|value| value.is_finite()));
    for class in scenario.classes.iter().filter(|class| class.share > 0.0) {
        let demand = scenario.typical(class);
        if !comparable || class.asks.values().iter().any(|value| value.is_nan()) {
            continue;
        }
        if in_use().any(|item| demand.fits_in(&item.capacity(), DimMask::SEVEN)) {
            continue;
        }
        // The type that is short in the fewest dimensions is the one to hold it against.
        let shortages = in_use().map(|item| {
            let capacity = item.capacity();
            let short: Vec<Dim> = Dim::ALL.into_iter().filter(|dim| demand[*dim] > capacity[*dim]).collect();
            (item, short)
        });
        let Some((nearest, short)) = shortages.min_by_key(|(_, short)| short.len()) else { continue };
        for dim in short {
            issues.push(Issue::new(
                format!("classes.{}.{dim}", class.id),
                format!("{} {}", dim.value(demand[dim]), dim.unit()),
                format!("at most {} {} (node type {})", dim.value(nearest.capacity()[dim]), dim.unit(), nearest.id),
                "No node type holds a typical task of this class: ask for less, or give nodes more",
            ));
        }
    }
}

/// A limit below what is typical would not be kept.
fn limits(scenario: &Scenario, issues: &mut Vec<Issue>) {
    let limits = &scenario.limits;
    for class in scenario.classes.iter().filter(|class| class.share > 0.0) {
        let per_gpu = limits.hbm_per_gpu * class.asks.gpu.max(1.0);
        let mut below = |path: &str, limit: f64, dim: Dim, unit: &str, of: &str| {
            let typical = scenario.typical(class)[dim];
            if Dim::amount(dim, limit) < typical {
                issues.push(Issue::new(
                    path,
                    format!("{limit} {unit}"),
                    format!("at least what a typical task of {of} asks for, {} {unit}", dim.value(typical)),
                    format!("Raise it, or lower classes.{}.{dim}", class.id),
                ));
            }
        };
        below("limits.cpu", limits.cpu, Dim::Cpu, "cores", &class.id);
        below("limits.ram", limits.ram, Dim::Ram, "GiB", &class.id);
        below("limits.hbm_per_gpu", per_gpu, Dim::Hbm, "GiB", &format!("{} with its GPUs", class.id));
        below("limits.hbm", limits.hbm, Dim::Hbm, "GiB", &class.id);
        below("limits.net", limits.net, Dim::Net, "Gbit/s", &class.id);
        below("limits.sto", limits.sto, Dim::Sto, "GB/s", &class.id);
        below("limits.ioc", limits.ioc, Dim::Ioc, "cores", &class.id);
        if class.grows {
            below("growth.hbm_cap", scenario.growth.hbm_cap, Dim::Hbm, "GiB", &class.id);
        }
    }
}

/// A job that is evicted when its memory cannot grow ends only if some node holds it full-grown: else it comes back for
/// ever.
fn growth(scenario: &Scenario, issues: &mut Vec<Issue>) {
    if scenario.out_of_memory != OutOfMemory::Requeue {
        return;
    }
    for class in scenario.classes.iter().filter(|class| class.share > 0.0 && class.grows) {
        let typical = scenario.typical(class);
        let drawn = if class.jitter_hard > 0.0 { scenario.limit(class)[Dim::Hbm] } else { typical[Dim::Hbm] };
        let drawn = Dim::Hbm.value(drawn);
        let grown = (drawn * (1.0 + scenario.growth.hbm)).min(scenario.growth.hbm_cap.max(drawn));
        let holders = scenario.node_types.iter().filter(|item| item.share > 0.0);
        let largest = holders
            .filter(|item| typical.fits_in(&item.capacity(), DimMask::SEVEN))
            .max_by(|a, b| a.has.hbm.total_cmp(&b.has.hbm));
        let Some(largest) = largest.filter(|item| item.has.hbm < grown) else { continue };
        issues.push(Issue::new(
            "growth.hbm",
            scenario.growth.hbm.to_string(),
            format!(
                "what a node holds: a task of {} may start with {drawn} GiB and grows to {grown} GiB; a {} has {} GiB",
                class.id, largest.id, largest.has.hbm
            ),
            format!(
                "Set growth.hbm_cap to {} or less, lower growth.hbm or classes.{}.hbm, or take out_of_memory = \
                 \"throttle\": evicted again and again it would never end",
                largest.has.hbm, class.id
            ),
        ));
    }
}

/// An empty cluster holds the largest gang of every class: else it would wait for ever.
fn gangs(scenario: &Scenario, issues: &mut Vec<Issue>) {
    let dealt = scenario.deal_nodes();
    for class in scenario.classes.iter().filter(|class| class.share > 0.0) {
        let demand = scenario.typical(class);
        let tasks_on = |item: &NodeTypeSpec| {
            let capacity = item.capacity();
            let parts = Dim::ALL.into_iter().filter(|dim| demand[*dim] > 0);
            u64::try_from(parts.map(|dim| capacity[dim] / demand[dim]).min().unwrap_or(0)).unwrap_or(0)
        };
        let by_type: Vec<u64> = scenario.node_types.iter().map(tasks_on).collect();
        let holds: u64 = dealt.iter().map(|kind| by_type[usize::from(*kind)]).sum();
        let possible =
            class.gang.iter().filter(|(_, probability)| *probability > 0.0).map(|(tasks, _)| u64::from(*tasks));
        let largest = possible.max().unwrap_or(1);
        if largest > holds {
            issues.push(Issue::new(
                "nodes",
                scenario.nodes.to_string(),
                format!("enough to hold {largest} tasks of {} when empty; these hold {holds}", class.id),
                format!("Take more nodes, or lower classes.{}.gang or .share", class.id),
            ));
        }
    }
}

/// What the tasks of a node ask of storage and I/O CPU is added up as `i32`. GPUs bound how many tasks there are:
/// their number does not vary among the jobs of a class.
fn soft_sums(scenario: &Scenario, issues: &mut Vec<Issue>) {
    for dim in [Dim::Sto, Dim::Ioc] {
        let growth = if dim == Dim::Sto { scenario.growth.sto } else { scenario.growth.ioc };
        let asked = |class: &ClassSpec, item: &NodeTypeSpec| {
            let tasks = f64::from(item.capacity()[Dim::Gpu]) / f64::from(scenario.typical(class)[Dim::Gpu].max(1));
            let grown = if class.grows { 1.0 + growth } else { 1.0 };
            (tasks, grown, tasks * grown * f64::from(scenario.limit(class)[dim]))
        };
        let classes = scenario.classes.iter().filter(|class| class.share > 0.0);
        let most = classes
            .flat_map(|class| scenario.node_types.iter().map(move |item| (class, item)))
            .filter(|(_, item)| item.share > 0.0)
            .map(|(class, item)| (class, item, asked(class, item)))
            .max_by(|a, b| a.2.2.total_cmp(&b.2.2));
        let Some((class, item, (tasks, grown, sum))) = most.filter(|(.., asked)| asked.2 > f64::from(i32::MAX))
        else {
            continue;
        };
        let unit = dim.unit();
        let limit = dim.value(scenario.limit(class)[dim]);
        issues.push(Issue::new(
            format!("limits.{dim}"),
            format!("{:.0} {unit} on one {}", dim.value(1) * sum, item.id),
            format!(
                "at most {:.0} {unit} on one node; here {tasks:.0} tasks of {} × {limit} {unit} × {grown} (growth)",
                dim.value(i32::MAX),
                class.id
            ),
            format!(
                "Lower limits.{dim}, classes.{}.{dim} or growth.{dim}, or raise classes.{}.gpu",
                class.id, class.id
            ),
        ));
    }
}

/// What a run costs its reader in time and memory.
struct Cost {
    /// How many there are of it.
    count: f64,
    /// How many there may be.
    most: f64,
    /// What it is.
    what: &'static str,
    /// How to have less of it, other than by a shorter run.
    remedy: &'static str,
    /// Hours with so many.
    hours: f64,
}

/// A run must end before the reader loses patience and the machine its memory: each of these bounds stands for a minute
/// or a few.
///
/// `nodes` and `jobs` are what the run has of them, `breathing` are those of the jobs that grow; `path` and `value` name
/// what makes it large.
pub(super) fn too_large(
    scenario: &Scenario,
    nodes: usize,
    jobs: f64,
    breathing: f64,
    (path, value): (&str, &str),
) -> Option<Issue> {
    let hours = scenario.hours;
    if nodes > MOST_NODES {
        return Some(Issue::new(
            "nodes",
            nodes.to_string(),
            format!("at most {MOST_NODES} nodes"),
            "Leave some of them out",
        ));
    }
    let node_hours = nodes as f64 * hours;
    let interval = scenario.telemetry.interval_seconds;
    let readings = if interval > 0.0 { node_hours * 3600.0 / interval } else { 0.0 };
    let rebuilds = &scenario.rebuilds;
    // Once in rebuild ÷ share hours a node starts to rebuild, and ends.
    let changes = 2.0 * node_hours * rebuilds.degraded_share / rebuilds.mean_hours;
    let minutes = hours * 60.0;
    // Above a load of 1 the rest stays in the queue, which so grows evenly.
    let looks = jobs * (1.0 - 1.0 / scenario.load).max(0.0) / 2.0 * minutes;
    let linear =
        |count: f64, most: f64, what, remedy| Cost { count, most, what, remedy, hours: hours * most / count };
    let costs = [
        linear(jobs, MOST_JOBS, "jobs", "fewer nodes, less load or longer jobs"),
        linear(breathing * f64::from(scenario.growth.steps), 20e6, "growth steps", "fewer growth.steps"),
        linear(
            changes,
            20e6,
            "starts and ends of rebuilds",
            "fewer nodes, a smaller rebuilds.degraded_share or a longer rebuilds.mean_hours",
        ),
        linear(readings, 500e6, "readings", "fewer nodes or a longer telemetry.interval_seconds"),
        linear(node_hours * 60.0, 500e6, "samples of nodes, one a minute", "fewer nodes"),
        Cost {
            hours: hours * libm::sqrt(5e9 / looks),
            ..linear(looks, 5e9, "samples of waiting jobs, one a minute", "fewer nodes or a load below 1")
        },
    ];
    let over: Vec<&Cost> = costs.iter().filter(|cost| cost.count > cost.most).collect();
    let shortest = over.iter().map(|cost| cost.hours).min_by(f64::total_cmp)?;
    let list = |word: &dyn Fn(&Cost) -> String| over.iter().map(|cost| word(cost)).collect::<Vec<_>>().join("; ");
    let instead = list(&|cost| cost.remedy.to_owned());
    // Rounded down, so that it can be taken as it is; less is no run.
    let shortest = libm::floor(shortest * 10.0) / 10.0;
    let remedy = if shortest >= 0.1 {
        format!("Run at most {shortest:.1} h at this size, or take {instead}")
    } else {
        format!("Take {instead}")
    };
    Some(Issue::new(
        path,
        value,
        list(&|cost| {
            let (most, count) = (cost.most / 1e6, cost.count / 1e6);
            format!("at most {most:.0} million {}, and this has about {count:.1} million", cost.what)
        }),
        remedy,
    ))
}
