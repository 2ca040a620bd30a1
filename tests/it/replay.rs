//! The packing experiment of the FGD paper, replayed: exactly, where the published orders are at hand.
//!
//! The published files are not part of this repository. Tests that need them look for `../shared/data/openb` and say
//! so where they are left out; the others run on lists made by hand.

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

fn published_file(name: &str) -> Option<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data/openb");
    let folder = if folder.exists() { folder } else { PathBuf::from(std::env::var_os("RESIDUA_OPENB")?) };
    fs::read_to_string(folder.join(name)).ok()
}

fn left_out(test: &str) {
    println!("{test}: left out, because ../shared/data/openb is not here");
}

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
    let (Some(experiment), Some(listed)) = (experiment("default"), published_file("replay/placements_default_42.csv"))
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
