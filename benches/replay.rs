//! One packing experiment of the FGD paper, native, one core: with what is kept, and the same code keeping nothing.
//! `cargo bench --bench replay`, with the published files at `../shared/data/openb` or in `RESIDUA_OPENB`.
//!
//! Output, one line a case: `replay <workload> <policy> <arrivals> <fastest seconds> <median seconds>`; for the slow
//! twin `replay-slow …`. Reading files and drawing orders are not in it.

// A benchmark measures real time and reads files; the bans of clippy.toml are for the simulator.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::path::PathBuf;
use std::time::Instant;

use residua::engine::Simulation;
use residua::replay::{self, Experiment, Packing};
use residua::schedulers::Ties;
use residua::workload::openb::packing::{Rows, read_order};

const POLICIES: [&str; 9] =
    ["FGD", "BestFit", "DotProd", "GpuClustering", "GpuPacking", "Random", "ragp-3d", "scalar-3d", "tetris-3d"];

fn file(name: &str) -> Option<String> {
    let folder =
        std::env::var_os("RESIDUA_OPENB").map_or_else(|| PathBuf::from("../shared/data/openb"), PathBuf::from);
    std::fs::read_to_string(folder.join(name)).ok()
}

fn load(workload: &str) -> Option<(Experiment, Rows)> {
    let nodes = file("openb_node_list_gpu_node.csv")?;
    let pods = file(&format!("openb_pod_list_{workload}.csv"))?;
    let experiment = Experiment::read(("nodes.csv", &nodes), ("pods.csv", &pods)).ok()?;
    let order = file(&format!("replay/replay_{workload}_42.txt"))?;
    let order = read_order(("order.txt", &order), experiment.lists()).ok()?;
    Some((experiment, order))
}

/// Seconds of one run; the setup is not in it.
fn seconds(experiment: &Experiment, order: &Rows, policy: &str, is_slow: bool) -> f64 {
    let entry = replay::find(policy).expect("in the roster");
    let setup = experiment.setup(order, &entry, Ties::Fixed, 42);
    let probe = Packing::new(&setup);
    let mut simulation = if is_slow {
        Simulation::with_probe(setup, probe.forgetful()).expect("a good setup").looking_everywhere()
    } else {
        Simulation::with_probe(setup, probe).expect("a good setup")
    };
    let start = Instant::now();
    simulation.run_to_end();
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(simulation.probe().placements().len(), order.pods.len());
    seconds
}

fn report(kind: &str, workload: &str, policy: &str, arrivals: usize, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    println!("{kind} {workload} {policy} {arrivals} {:.4} {:.4}", times[0], times[times.len() / 2]);
}

fn main() {
    let Some((experiment, order)) = load("default") else {
        println!("replay: left out, because the published files are not here");
        return;
    };
    for policy in POLICIES {
        let times = (0..9).map(|_| seconds(&experiment, &order, policy, false)).collect();
        report("replay", "default", policy, order.pods.len(), times);
    }
    for policy in ["FGD", "BestFit"] {
        report("replay-slow", "default", policy, order.pods.len(), vec![seconds(&experiment, &order, policy, true)]);
    }
    for workload in ["gpuspec25", "cpu250", "gpushare100"] {
        if let Some((experiment, order)) = load(workload) {
            let times = (0..5).map(|_| seconds(&experiment, &order, "FGD", false)).collect();
            report("replay", workload, "FGD", order.pods.len(), times);
        }
    }
}
