//! The packing experiment of the FGD paper, replayed: exactly, where the published orders are at hand.
//!
//! Tests that need the published files say so where they are left out; the others run on lists made by hand.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use residua::cluster::NodeId;
use residua::engine::Simulation;
use residua::replay::published::{mean, pair};
use residua::replay::{self, Experiment, Packing, Placement, Point, order};
use residua::schedulers::{Arena, Entry, Ties, replay_entries};
use residua::workload::openb::packing::{Published, Rows, read_order, read_published};
use residua::workload::typical::Fragments;

use crate::published_files::{left_out, text as published_file};

/// The policies that do not draw random numbers, by their published names.
const EXACT: [&str; 5] = ["DotProd", "GpuClustering", "GpuPacking", "BestFit", "FGD"];

const WORKLOADS: [&str; 11] = [
    "default",
    "cpu050",
    "cpu100",
    "cpu250",
    "gpushare20",
    "gpushare60",
    "gpushare100",
    "gpuspec10",
    "gpuspec25",
    "multigpu20",
    "multigpu40",
];

/// What the published tables are rounded to, and a little.
const LIMIT: f64 = 0.011;

fn experiment(workload: &str) -> Option<Experiment> {
    let nodes = published_file("openb_node_list_gpu_node.csv")?;
    let pods = published_file(&format!("openb_pod_list_{workload}.csv"))?;
    Some(Experiment::read(("nodes.csv", &nodes), ("pods.csv", &pods)).expect("the published lists are in order"))
}

fn published_order(experiment: &Experiment, workload: &str, seed: u64) -> Option<Rows> {
    let name = format!("replay/replay_{workload}_{seed}.txt");
    let text = published_file(&name)?;
    Some(read_order((&name, &text), experiment.lists()).expect("the published orders are in order"))
}

fn policy(name: &str) -> Entry {
    replay::find(name).unwrap_or_else(|| panic!("no policy {name}"))
}

fn run(experiment: &Experiment, order: &Rows, policy: &Entry, ties: Ties, seed: u64) -> Simulation<Packing> {
    let mut simulation = experiment.start(order, policy, ties, seed).expect("a good setup");
    simulation.run_to_end();
    assert_eq!(simulation.fault(), None);
    assert_eq!(simulation.probe().placements().len(), order.pods.len(), "every pod is placed or turned away");
    simulation
}

/// Runs `work` for each of `items` on all cores.
fn on_all_cores<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(item);
                }
            });
        }
    });
}

// --- with the published files ------------------------------------------------------------------------------------

#[test]
fn every_placement_is_the_published_one() {
    let (Some(experiment), Some(listed)) =
        (experiment("default"), published_file("replay/placements_default_42.csv"))
    else {
        return left_out("every_placement_is_the_published_one");
    };
    let order = published_order(&experiment, "default", 42).expect("the order of seed 42");
    let mut lines = listed.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 10_866);
    for name in EXACT {
        let column = header.iter().position(|cell| *cell == name).expect("the policy's column");
        let simulation = run(&experiment, &order, &policy(name), Ties::Fixed, 42);
        for (step, (row, placement)) in rows.iter().zip(simulation.probe().placements()).enumerate() {
            let found = match placement {
                None => "-".to_owned(),
                Some(Placement { node, devices }) => {
                    let devices: Vec<String> = devices.iter().map(|device| device.to_string()).collect();
                    format!("{}:{}", order.nodes[node.index()], devices.join("-"))
                }
            };
            assert_eq!(found, row[column], "{name}, step {step}, pod {}", row[1]);
        }
    }
}

/// The greatest differences from the published points of this run, allocated and fragmented.
fn greatest_differences(
    curve: &[Point],
    published: &[Published],
    workload: &str,
    policy: &str,
    seed: u64,
) -> (f64, f64) {
    let pairs = pair(curve, published, workload, policy, seed);
    assert_eq!(pairs.len(), 7, "{workload}, {policy}, seed {seed}: published at 50, 80, 90 … 130 %");
    pairs
        .iter()
        .map(|pair| pair.differences())
        .fold((0.0, 0.0), |most: (f64, f64), (alloc, frag)| (most.0.max(alloc.abs()), most.1.max(frag.abs())))
}

fn all_published() -> Option<Vec<Published>> {
    let read = |name: &str| {
        published_file(name).map(|text| read_published((name, &text)).expect("the published results are in order"))
    };
    let mut all = read("expected_per_seed.csv")?;
    all.extend(read("reference_unpublished_per_seed.csv")?);
    Some(all)
}

#[test]
fn every_published_curve_is_met_in_every_point() {
    let Some(published) = all_published() else {
        return left_out("every_published_curve_is_met_in_every_point");
    };
    let experiments: Vec<(&str, Experiment)> =
        WORKLOADS.iter().filter_map(|workload| Some((*workload, experiment(workload)?))).collect();
    let mut runs = Vec::new();
    for (workload, experiment) in &experiments {
        for seed in 42..=51 {
            if let Some(order) = published_order(experiment, workload, seed) {
                runs.extend(EXACT.map(|name| (*workload, experiment, seed, order.clone(), name)));
            }
        }
    }
    // Eleven workloads with three orders each.
    assert_eq!(runs.len(), 11 * 3 * EXACT.len());
    let faults = std::sync::Mutex::new(Vec::new());
    let greatest = std::sync::Mutex::new((0.0f64, 0.0f64));
    on_all_cores(&runs, |(workload, experiment, seed, order, name)| {
        let simulation = run(experiment, order, &policy(name), Ties::Fixed, *seed);
        let curve = simulation.probe().curve();
        let percents: Vec<u32> = curve.iter().map(|point| point.arrived_pct).collect();
        let (alloc, frag) = greatest_differences(&curve, &published, workload, name, *seed);
        if alloc > LIMIT || frag > LIMIT || percents != (0..=130).collect::<Vec<u32>>() {
            faults.lock().unwrap().push(format!("{workload}, {name}, seed {seed}: {alloc:.4}, {frag:.4}"));
        }
        let mut most = greatest.lock().unwrap();
        *most = (most.0.max(alloc), most.1.max(frag));
    });
    let greatest = greatest.into_inner().unwrap();
    println!("{} runs; greatest difference: allocated {:.4}, fragmented {:.4}", runs.len(), greatest.0, greatest.1);
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Mean over `orders` at a percentage: allocated and fragmented.
fn mean_at(curves: &[Vec<Point>], percent: u32) -> (f64, f64) {
    let curves: Vec<&[Point]> = curves.iter().map(Vec::as_slice).collect();
    let point = mean(&curves).into_iter().find(|point| point.arrived_pct == percent);
    let point = point.expect("every percentage is reached");
    (point.alloc, point.frag_ratio)
}

/// Curves of these policies with ten orders of our own: by policy, then by seed.
fn own_curves(experiment: &Experiment, policies: &[&str], ties: Ties) -> Vec<Vec<Vec<Point>>> {
    let items: Vec<(usize, u64)> = (0..policies.len()).flat_map(|at| (1..=10).map(move |seed| (at, seed))).collect();
    let found = std::sync::Mutex::new(Vec::new());
    on_all_cores(&items, |&(at, seed)| {
        let order = order::draw(experiment, seed).expect("an order");
        let curve = run(experiment, &order, &policy(policies[at]), ties, seed).probe().curve();
        found.lock().unwrap().push((at, seed, curve));
    });
    let mut found = found.into_inner().unwrap();
    found.sort_by_key(|(at, seed, _)| (*at, *seed));
    let mut curves = vec![Vec::new(); policies.len()];
    for (at, _, curve) in found {
        curves[at].push(curve);
    }
    curves
}

/// How far means over ten orders of our own may be from the published ones, in percentage points: of any cell, and on
/// average over a policy's cells; allocated, then fragmented. Twice what blocks of ten orders differ by among
/// themselves, roughly; the bins at 80 and 90 % are steep.
struct Noise {
    policy: &'static str,
    most: [f64; 2],
    mean: [f64; 2],
}

const NOISE: [Noise; 6] = [
    Noise { policy: "Random", most: [0.9, 4.0], mean: [0.2, 0.4] },
    Noise { policy: "DotProd", most: [0.9, 4.0], mean: [0.2, 0.4] },
    Noise { policy: "GpuClustering", most: [0.9, 5.5], mean: [0.2, 0.7] },
    Noise { policy: "GpuPacking", most: [0.9, 5.5], mean: [0.2, 0.7] },
    Noise { policy: "BestFit", most: [0.6, 4.0], mean: [0.1, 0.35] },
    Noise { policy: "FGD", most: [0.6, 4.0], mean: [0.1, 0.25] },
];

/// Mean and variance.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (mean, values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0))
}

#[test]
fn orders_of_our_own_agree_within_sampling_noise() {
    let Some(published) = all_published() else {
        return left_out("orders_of_our_own_agree_within_sampling_noise");
    };
    let names = NOISE.each_ref().map(|noise| noise.policy);
    let mut faults = Vec::new();
    // By policy: the differences of its cells, allocated and fragmented.
    let mut differences = vec![[Vec::new(), Vec::new()]; NOISE.len()];
    let (mut far, mut cells) = (0, 0);
    for workload in WORKLOADS {
        let experiment = experiment(workload).expect("a published list");
        let curves = own_curves(&experiment, &names, Ties::Fixed);
        for ((noise, curves), differences) in NOISE.iter().zip(&curves).zip(&mut differences) {
            for percent in [50, 80, 90, 100, 110, 120, 130] {
                let rows: Vec<&Published> = published
                    .iter()
                    .filter(|row| {
                        row.workload == workload && row.policy == noise.policy && row.arrived_pct == percent
                    })
                    .collect();
                assert_eq!(rows.len(), 10);
                let own: Vec<&Point> = curves
                    .iter()
                    .map(|curve| curve.iter().find(|point| point.arrived_pct == percent).expect("reached"))
                    .collect();
                let pairs: [(Vec<f64>, Vec<f64>); 2] = [
                    (own.iter().map(|point| point.alloc).collect(), rows.iter().map(|row| row.alloc).collect()),
                    (
                        own.iter().map(|point| point.frag_ratio).collect(),
                        rows.iter().map(|row| row.frag_ratio).collect(),
                    ),
                ];
                for (at, (own, published)) in pairs.iter().enumerate() {
                    let ((own, own_variance), (published, variance)) = (moments(own), moments(published));
                    let difference = own - published;
                    differences[at].push(difference.abs());
                    cells += 1;
                    far += usize::from(difference.abs() > 3.0 * ((own_variance + variance) / 10.0).sqrt());
                    if difference.abs() > noise.most[at] {
                        faults.push(format!("{workload}, {}, {percent} %: {difference:.3}", noise.policy));
                    }
                }
            }
        }
        for percent in [100, 130] {
            let allocated: Vec<f64> = curves.iter().map(|curves| mean_at(curves, percent).0).collect();
            if !allocated[..5].iter().all(|other| *other < allocated[5]) {
                faults.push(format!("{workload}, {percent} %: FGD is not first: {allocated:?}"));
            }
        }
    }
    for (noise, differences) in NOISE.iter().zip(&differences) {
        let mean = differences.each_ref().map(|all| all.iter().sum::<f64>() / all.len() as f64);
        let most = differences.each_ref().map(|all| all.iter().copied().fold(0.0, f64::max));
        println!(
            "{}: allocated {:.3} on average, {:.3} at most; fragmented {:.3}, {:.3}",
            noise.policy, mean[0], most[0], mean[1], most[1]
        );
        if mean[0] > noise.mean[0] || mean[1] > noise.mean[1] {
            faults.push(format!("{}: on average {mean:?}", noise.policy));
        }
    }
    println!("{far} of {cells} cells differ by more than three standard errors");
    assert!(far * 50 <= cells, "{far} of {cells} cells differ by more than three standard errors");
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn random_with_the_published_orders_agrees_on_average() {
    let Some(published) = all_published() else {
        return left_out("random_with_the_published_orders_agrees_on_average");
    };
    let experiment = experiment("default").expect("a published list");
    let curves: Vec<Vec<Point>> = (42..=44)
        .filter_map(|seed| published_order(&experiment, "default", seed).map(|order| (seed, order)))
        .map(|(seed, order)| run(&experiment, &order, &policy("Random"), Ties::Fixed, seed).probe().curve())
        .collect();
    assert_eq!(curves.len(), 3);
    for percent in [50, 80, 90, 100, 110, 120, 130] {
        let rows: Vec<&Published> = published
            .iter()
            .filter(|row| row.workload == "default" && row.policy == "Random" && row.arrived_pct == percent)
            .filter(|row| (42..=44).contains(&row.seed))
            .collect();
        let (alloc, frag) = mean_at(&curves, percent);
        let count = rows.len() as f64;
        let alloc = alloc - rows.iter().map(|row| row.alloc).sum::<f64>() / count;
        let frag = frag - rows.iter().map(|row| row.frag_ratio).sum::<f64>() / count;
        // Three orders instead of ten: limits × √(10/3).
        assert!(alloc.abs() <= 0.92 && frag.abs() <= 2.8, "at {percent} %: {alloc:.3}, {frag:.3}");
    }
}

#[test]
fn random_ties_cost_fgd_its_lead() {
    // Allocated at 100 %: what random ties change for FGD, and by how much it then leads, means over seeds in points. The
    // authors' simulator was not written for random ties; an independent reimplementation gave these.
    for (workload, loss, lead) in [("default", -5.3, -3.0), ("cpu250", -8.6, -6.5)] {
        let Some(experiment) = experiment(workload) else { return left_out("random_ties_cost_fgd_its_lead") };
        let policies = ["BestFit", "FGD"];
        let at_100 = |ties: Ties| -> Vec<f64> {
            let curves = own_curves(&experiment, &policies, ties);
            curves.iter().map(|curves| mean_at(curves, 100).0).collect()
        };
        let (fixed, random) = (at_100(Ties::Fixed), at_100(Ties::Drawn));
        let (best_fit, fgd) = (random[0] - fixed[0], random[1] - fixed[1]);
        println!(
            "{workload}: random ties change FGD by {fgd:.2} and BestFit by {best_fit:.2}; FGD − BestFit is {:.2} instead of {:.2}",
            random[1] - random[0],
            fixed[1] - fixed[0]
        );
        assert!((fgd - loss).abs() <= 0.6, "{workload}: FGD changed by {fgd}");
        assert!(best_fit.abs() <= 0.6, "{workload}: BestFit changed by {best_fit}");
        assert!(fixed[1] > fixed[0], "{workload}: FGD leads as published");
        assert!((random[1] - random[0] - lead).abs() <= 0.7, "{workload}: FGD trails by {}", random[1] - random[0]);
    }
}

#[test]
fn typical_pods_and_the_measure_are_as_the_authors_define_them() {
    let Some(experiment) = experiment("default") else {
        return left_out("typical_pods_and_the_measure_are_as_the_authors_define_them");
    };
    let lists = experiment.lists();
    assert_eq!((lists.nodes.len(), experiment.capacity_milli(), lists.pods.len()), (1213, 6_212_000, 8152));
    let typical = experiment.typical();
    let of = |at: usize| {
        let task = &typical.tasks[at];
        (task.cpu_milli, task.milli, task.gpus, task.count)
    };
    assert_eq!((typical.tasks.len(), typical.tasks.iter().map(|task| task.count).sum::<u32>()), (35, 7766));
    assert_eq!([of(0), of(1), of(34)], [(3152, 810, 1, 1047), (11_300, 1000, 1, 874), (4152, 810, 1, 31)]);
    let weights = typical.weights();
    assert!((weights[0] - 0.134_818).abs() < 1e-6 && (weights[1] - 0.112_542).abs() < 1e-6);
    let cpu_only = typical.tasks.iter().zip(&weights).filter(|(task, _)| task.gpus == 0).map(|(_, weight)| weight);
    assert!((cpu_only.sum::<f64>() - 0.1360).abs() < 1e-4);

    let mut fragments = Fragments::new(typical.clone());
    let kind = |id: &str| {
        let at = lists.node_types.iter().position(|kind| kind.id.starts_with(id));
        at.unwrap_or_else(|| panic!("no {id} among the nodes"))
    };
    let [g2, t4, p100, v100] = ["G2×8", "T4×2", "P100×2", "V100M16×1"].map(kind);
    let mut near = |kind: usize, cpu: i32, devices: &[u16], expected: f64| {
        let found = fragments.of(kind, cpu, devices);
        assert!((found - expected).abs() < 5e-5, "{found} instead of {expected}");
        found
    };
    let empty = near(g2, 96_000, &[1000; 8], 1087.8187);
    near(t4, 104_000, &[1000; 2], 271.9547);
    near(p100, 16_000, &[1000; 2], 359.2583);
    near(v100, 8_000, &[1000], 605.2022);
    let after = near(g2, 90_000, &[540, 1000, 1000, 1000, 1000, 1000, 1000, 1000], 1391.9907);
    near(g2, 8_000, &[0; 8], 0.0);
    near(t4, 50_000, &[540, 300, 1000, 1000], 1003.6441);
    let points = |gain: f64| (100.0 / (1.0 + libm::exp(-gain / 1000.0))) as i32;
    assert_eq!((points(empty - after), points(empty), points(0.0)), (42, 74, 50));
    // 4 cores and 220 thousandths on each device in turn; the second wins.
    let before = fragments.of(t4, 50_000, &[540, 300, 1000, 1000]);
    let scores = [[320, 300, 1000, 1000], [540, 80, 1000, 1000], [540, 300, 780, 1000], [540, 300, 1000, 780]]
        .map(|devices| points(before - fragments.of(t4, 46_000, &devices)));
    assert_eq!(scores, [53, 55, 38, 38]);
    let all: f64 = lists
        .nodes
        .iter()
        .map(|(_, kind)| {
            let capacity = lists.node_types[usize::from(*kind)].capacity;
            let devices = vec![1000; (capacity[residua::resources::Dim::Gpu] / 1000) as usize];
            fragments.of(usize::from(*kind), capacity[residua::resources::Dim::Cpu], &devices)
        })
        .sum();
    assert!((100.0 * all / 6_212_000.0 - 13.9445).abs() < 5e-5);
}

#[test]
fn every_workload_has_the_published_number_of_typical_pods() {
    let counts = [35, 35, 35, 34, 34, 33, 21, 74, 113, 38, 42];
    for (workload, count) in WORKLOADS.iter().zip(counts) {
        let Some(experiment) = experiment(workload) else {
            return left_out("every_workload_has_the_published_number_of_typical_pods");
        };
        assert_eq!(experiment.typical().tasks.len(), count, "{workload}");
    }
}

// --- of our own making -------------------------------------------------------------------------------------------

/// A cluster of three models, and pods of every kind: shared, whole, several, bound to models, without GPUs.
fn small_lists() -> (String, String) {
    let mut nodes = "sn,cpu_milli,memory_mib,gpu,model\n".to_owned();
    for at in 0..24 {
        let (cpu, gpus, model) =
            [(96_000, 8, "G2"), (64_000, 2, "T4"), (32_000, 4, "P100"), (16_000, 1, "T4")][at % 4];
        nodes.push_str(&format!("n{at:02},{cpu},262144,{gpus},{model}\n"));
    }
    let mut pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n".to_owned();
    for at in 0..160u32 {
        let (cpu, gpus, share, models) = [
            (3152, 1, 810, ""),
            (6000, 1, 460, ""),
            (12_000, 1, 1000, "G2|T4"),
            (8000, 0, 0, ""),
            (1000, 1, 220, "P100"),
            (24_000, 2, 1000, ""),
            (4000, 1, 130, "T4"),
            (88_000, 8, 1000, ""),
        ][(at.wrapping_mul(2_654_435_761) >> 29) as usize];
        pods.push_str(&format!(
            "p{at:03},{},{},{gpus},{share},{models}\n",
            cpu + 500 * (at % 3),
            4096 * (1 + at % 5)
        ));
    }
    (nodes, pods)
}

fn small() -> Experiment {
    let (nodes, pods) = small_lists();
    Experiment::read(("nodes.csv", &nodes), ("pods.csv", &pods)).expect("lists in order")
}

#[test]
fn an_empty_board_is_worked_out_by_hand() {
    // Two nodes; one has two devices. Half a GPU, then 0.6, then a whole one, then two pods that fit nowhere any more.
    let nodes = "sn,cpu_milli,memory_mib,gpu,model\na,8000,1024,1,T4\nb,8000,1024,2,G2\n";
    let pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n\
                p0,1000,1,1,500,\np1,1000,1,1,600,G2\np2,1000,1,1,1000,\np3,1000,1,1,600,\np4,1000,1,2,1000,\n";
    let experiment = Experiment::read(("nodes.csv", nodes), ("pods.csv", pods)).expect("lists in order");
    let order = read_order(("order.txt", "nodes 0 1\npods 0 1 2 3 4\n"), experiment.lists()).expect("an order");
    let simulation = run(&experiment, &order, &policy("best-fit"), Ties::Fixed, 1);
    let placed = |node: u32, device: u64| {
        Some(Placement { node: NodeId(node), devices: residua::cluster::DeviceMask(1 << device) })
    };
    // p0 to the smaller node; p1 must have a G2; p2 takes its other device; p3 and p4 find nothing.
    assert_eq!(simulation.probe().placements(), [placed(0, 0), placed(1, 0), placed(1, 1), None, None]);
    assert_eq!(simulation.probe().rejected(), 2);
    let curve = simulation.probe().curve();
    let points: Vec<(u32, f64)> = curve.iter().map(|point| (point.arrived_pct, point.alloc)).collect();
    // 0.5, 1.1, 2.1, 2.7 and 4.7 of 3 GPUs.
    assert_eq!(points, [(17, 16.67), (37, 36.67), (70, 70.0), (90, 70.0), (157, 70.0)]);
}

#[test]
fn kept_results_change_no_decision() {
    let experiment = small();
    let entries: Vec<Entry> = replay_entries().collect();
    for entry in &entries {
        for (seed, ties) in [(1, Ties::Fixed), (2, Ties::Drawn), (3, Ties::Fixed), (4, Ties::Drawn)] {
            let order = order::draw(&experiment, seed).expect("an order");
            let fast = run(&experiment, &order, entry, ties, seed);
            let setup = experiment.setup(&order, entry, ties, seed);
            let probe = Packing::new(&setup).forgetful();
            let mut slow = Simulation::with_probe(setup, probe).expect("a good setup").looking_everywhere();
            slow.run_to_end();
            assert_eq!(fast.probe().placements(), slow.probe().placements(), "{}, seed {seed}", entry.id());
            assert_eq!(fast.probe().curve(), slow.probe().curve(), "{}, seed {seed}", entry.id());
            assert!(fast.probe().rejected() > 0, "{}: the cluster is asked for more than it has", entry.id());
        }
    }
}

#[test]
fn a_copy_goes_on_as_the_original_does() {
    let experiment = small();
    let order = order::draw(&experiment, 5).expect("an order");
    for entry in replay_entries() {
        let mut whole = experiment.start(&order, &entry, Ties::Drawn, 5).expect("a good setup");
        for _ in 0..70 {
            whole.step();
        }
        let mut copy = whole.clone();
        whole.run_to_end();
        copy.run_to_end();
        assert_eq!(whole.probe().placements(), copy.probe().placements(), "{}", entry.id());
    }
}

#[test]
fn an_order_of_our_own_brings_demand_to_its_mark() {
    let experiment = small();
    let gpu = |row: u32| {
        let ask = &experiment.lists().pods[row as usize].ask;
        i64::from(ask.gpus) * i64::from(ask.share)
    };
    let capacity = experiment.capacity_milli();
    for seed in 0..20 {
        let order = order::draw(&experiment, seed).expect("an order");
        assert_eq!(order, order::draw(&experiment, seed).expect("an order"));
        let demand: i64 = order.pods.iter().map(|row| gpu(*row)).sum();
        // The list alone asks for more: pods are left out until it does not, at most one of eight GPUs too many.
        assert!(demand <= capacity * 130 / 100 && demand > capacity * 130 / 100 - 8000, "{demand} of {capacity}");
        let mut nodes = order.nodes.clone();
        nodes.sort_unstable();
        assert_eq!(nodes, (0..24).collect::<Vec<u32>>());
    }
    assert_ne!(order::draw(&experiment, 1), order::draw(&experiment, 2));
    // A pod of a thousandth among a thousand without GPUs: a cluster of 64 is not filled with these.
    let nodes = "sn,cpu_milli,memory_mib,gpu,model\na,8000,1024,64,T4\n";
    let rows: String = (0..1000).map(|at| format!("q{at},1,1,0,0\n")).collect();
    let pods = format!("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,1\n{rows}");
    let endless = Experiment::read(("nodes.csv", nodes), ("pods.csv", &pods)).expect("lists in order");
    let error = order::draw(&endless, 1).expect_err("too many").to_string();
    assert!(error.contains("about 83282199 pods would have to arrive"), "{error}");
}

#[test]
fn the_papers_policies_stay_out_of_scenarios() {
    let paper: Vec<Entry> = replay_entries().filter(|entry| entry.card.arena == Arena::Replay).collect();
    assert_eq!(
        paper.iter().map(replay::name).collect::<Vec<_>>(),
        ["Random", "DotProd", "GpuClustering", "GpuPacking", "BestFit", "FGD"]
    );
    for entry in &paper {
        assert!(residua::schedulers::find(&entry.id()).is_none(), "{}", entry.id());
        assert!(residua::scenario::Scenario::preset("c", &[]).expect("a preset").setup(&entry.id(), 1).is_err());
    }
    let others: Vec<String> = replay_entries().map(|entry| entry.id()).skip(6).collect();
    assert_eq!(others, ["scalar-3d", "tetris-3d", "first-fit-3d", "ragp-3d"]);
    assert!(residua::schedulers::entries().all(|entry| entry.card.arena != Arena::Replay));
}

// --- the command -------------------------------------------------------------------------------------------------

/// Runs `residua replay` on files of these contents, by option; returns exit code, output and errors.
fn command(files: &[(&str, &str)], arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("replay-{}", files.len() * 100 + arguments.len()));
    let folder = folder.join(files.iter().map(|(_, text)| text.len().to_string()).collect::<Vec<_>>().join("-"));
    fs::create_dir_all(&folder).expect("writable");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_residua"));
    command.arg("replay");
    for (option, text) in files {
        // An order's seed is the number at the end of its name.
        let path = folder.join(if *option == "order" { "order_7.txt".to_owned() } else { format!("{option}.csv") });
        fs::write(&path, text).expect("writable");
        command.arg(format!("--{option}")).arg(&path);
    }
    let output = command.args(arguments).output().expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

const TWO_NODES: &str = "sn,cpu_milli,memory_mib,gpu,model\na,8000,1024,1,T4\nb,8000,1024,2,G2\n";
const FIVE_PODS: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n\
    p0,1000,1,1,500,\np1,1000,1,1,600,G2\np2,1000,1,1,1000,\np3,1000,1,1,600,\np4,1000,1,2,1000,\n";
const FIVE_IN_ORDER: &str = "nodes 0 1\npods 0 1 2 3 4\n";

#[test]
fn the_command_prints_one_object_for_one_run() {
    let expected = "workload,policy,seed,arrived_pct,alloc,frag_ratio\npods,BestFit,7,70,70.00,1.0\n";
    let files = [("nodes", TWO_NODES), ("pods", FIVE_PODS), ("order", FIVE_IN_ORDER), ("expected", expected)];
    let (code, output, errors) = command(&files, &["--policy", "best-fit", "--json"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let run: serde_json::Value = serde_json::from_str(&output).expect("one JSON value");
    assert_eq!(
        (&run["workload"], &run["policy"], &run["id"]),
        (&"pods".into(), &"BestFit".into(), &"best-fit-paper".into())
    );
    assert_eq!(
        (&run["seed"], &run["ties"], &run["rejected"], &run["arrivals"]),
        (&7.into(), &"fixed".into(), &2.into(), &5.into())
    );
    let curve = run["curve"].as_array().expect("a curve");
    assert_eq!(curve.len(), 5);
    assert_eq!(curve[2]["arrived_pct"], 70);
    assert_eq!(curve[2]["alloc"], 70.0);
    assert!(curve.iter().all(|point| (0.0..=100.0).contains(&point["frag_ratio"].as_f64().expect("a number"))));
    assert_eq!(run["published"]["compared"], "this run");
    assert_eq!(run["published"]["greatest_difference"]["alloc"], 0.0);
    assert_eq!(run["published"]["points"][0]["frag_ratio_published"], 1.0);

    let (_, table, _) = command(&files, &["--policy", "BestFit,scalar-3d"]);
    assert!(
        table.contains("GPU ALLOCATED") && table.contains("TURNED AWAY") && table.contains("OURS − PUBLISHED"),
        "{table}"
    );
    assert!(table.contains("scalar-3d") && table.contains("not published"), "{table}");
}

#[test]
fn the_command_prints_a_list_for_several_runs_and_the_same_twice() {
    let (nodes, pods) = small_lists();
    let files = [("nodes", nodes.as_str()), ("pods", pods.as_str())];
    let (code, output, _) = command(&files, &["--policy", "all", "--seeds", "2", "--ties", "random", "--json"]);
    assert_eq!(code, Some(0));
    let runs: serde_json::Value = serde_json::from_str(&output).expect("one JSON value");
    let runs = runs.as_array().expect("a list");
    assert_eq!(runs.len(), replay_entries().count() * 2);
    assert!(runs.iter().all(|run| run["ties"] == "random" && run.get("published").is_none()));
    let again = command(&files, &["--policy", "all", "--seeds", "2", "--ties", "random", "--json", "--threads", "1"]);
    assert_eq!(output, again.1, "the number of threads changes nothing");
}

#[test]
fn every_problem_of_every_file_is_said_at_once() {
    let nodes = "sn,cpu_milli,memory_mib,gpu,model\na,-8,1024,1,T4\n";
    let pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np0,1000,1,2,500\np1,x,1,1,1000\n";
    let expected = "workload,policy,seed,arrived_pct,alloc,frag_ratio\nw,FGD,42,fifty,101,1\n";
    let files = [("nodes", nodes), ("pods", pods), ("expected", expected)];
    let (code, output, errors) = command(&files, &["--policy", "fgd,worst-fit"]);
    assert_eq!((code, output.as_str()), (Some(2), ""));
    for said in [
        "--policy = worst-fit – allowed: all, paper, Random, DotProd",
        "nodes.csv, row 2, column cpu_milli, value \"-8\": negative number",
        "pods.csv, row 3, column cpu_milli, value \"x\": not a whole number",
        "expected.csv, row 2, column arrived_pct, value \"fifty\"",
        "expected.csv, row 2, column alloc, value \"101\"",
    ] {
        assert!(errors.contains(said), "{said} is not in:\n{errors}");
    }
    let orders = [
        (
            "nodes 0 1 1\npods 0 5\n",
            "order_7.txt, row 2, column word 3, value \"5\": number too large: rows of this pods list are whole numbers from 0 to 4",
        ),
        (
            "nodes 0 1 1\npods 0\n",
            "order_7.txt, row 1, column word 4, value \"1\": repeated name: this node came before",
        ),
        (
            "nodes 1\npods 0\n",
            "order_7.txt, row 1, column nodes, value \"0\": missing value: this node of the list does not occur",
        ),
        ("name,cpu\n", "order_7.txt, row 1, column word 1, value \"name,cpu\": wrong file"),
        ("nodes 0 1\n", "a line is missing: the word pods"),
        ("nodes 0 1\npods 0\nmore\n", "order_7.txt, row 3, value \"more\": wrong number of fields"),
        ("", "a line is missing: the word nodes"),
    ];
    for (order, said) in orders {
        let (code, _, errors) = command(&[("nodes", TWO_NODES), ("pods", FIVE_PODS), ("order", order)], &[]);
        assert_eq!(code, Some(2), "{order}");
        assert!(errors.contains(said), "{said} is not in:\n{errors}");
    }
    let (code, _, errors) = command(&[("nodes", TWO_NODES), ("pods", FIVE_PODS)], &["--expected", "/nowhere/x.csv"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("/nowhere/x.csv") && errors.contains("cannot be read"), "{errors}");
}
