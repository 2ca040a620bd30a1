//! What the speed benchmarks run, natively and in a browser: RAGP-I/O on the storage-stress scenario, exact; and one
//! packing experiment of the FGD paper.

use residua::engine::Simulation;
use residua::probes::Standard;
use residua::replay::{self, Experiment, Packing};
use residua::scenario::Scenario;
use residua::schedulers::Ties;
use residua::workload::openb::packing::{Rows, read_order};

/// Nodes and simulated hours: some 250,000 to 500,000 events each. Shorter runs would measure a browser that compiles.
pub const CASES: [(u32, f64); 3] = [(64, 240.0), (1_000, 8.0), (10_000, 1.0)];

/// A run that has not begun.
pub fn prepare(nodes: u32, hours: f64) -> Simulation<Standard> {
    let set =
        [("nodes", nodes.to_string()), ("hours", hours.to_string()), ("warm_up_hours", (hours / 2.0).to_string())];
    let set = set.map(|(key, value)| (key.to_owned(), value));
    let scenario = Scenario::preset("c-storage-stress", &set).expect("a good scenario");
    Simulation::new(scenario.setup("ragp-io", 42).expect("a known scheduler")).expect("a good setup")
}

/// Runs to the end; returns the number of events and the digest, which must be the same everywhere.
pub fn run(mut simulation: Simulation<Standard>) -> (u64, u64) {
    simulation.run_to_end();
    (simulation.events(), simulation.digest())
}

/// Runs of the experiment: it is short, so that each side shows the fastest of some.
const PACKINGS: usize = 9;

/// The published files that the experiment reads: nodes, pods, and the order of their arrivals.
pub const FILES: [&str; 3] =
    ["openb_node_list_gpu_node.csv", "openb_pod_list_default.csv", "replay/replay_default_42.txt"];

/// The experiment, from the contents of [`FILES`].
pub fn experiment([nodes, pods, order]: [&str; 3]) -> (Experiment, Rows) {
    let [nodes_file, pods_file, order_file] = FILES;
    let experiment = Experiment::read((nodes_file, nodes), (pods_file, pods)).expect("the published lists");
    let order = read_order((order_file, order), experiment.lists()).expect("the published order");
    (experiment, order)
}

/// The experiment under FGD, not begun.
fn prepare_packing((experiment, order): &(Experiment, Rows)) -> Simulation<Packing> {
    let fgd = replay::find("FGD").expect("in the roster");
    let setup = experiment.setup(order, &fgd, Ties::Fixed, 42);
    let probe = Packing::new(&setup);
    Simulation::with_probe(setup, probe).expect("a good setup")
}

/// Arrivals, digest and seconds of the fastest of several runs, by a clock that reads seconds; the setup is not in it.
pub fn fastest_packing(experiment: &(Experiment, Rows), seconds: impl Fn() -> f64) -> (usize, u64, f64) {
    let runs = (0..PACKINGS).map(|_| {
        let simulation = prepare_packing(experiment);
        let start = seconds();
        let (arrivals, digest) = pack(simulation);
        (arrivals, digest, seconds() - start)
    });
    runs.min_by(|a, b| a.2.total_cmp(&b.2)).expect("some runs")
}

/// Runs to the end; returns the number of arrivals and a digest of where each went.
fn pack(mut simulation: Simulation<Packing>) -> (usize, u64) {
    simulation.run_to_end();
    let placements = simulation.probe().placements();
    let digest = placements.iter().fold(0xcbf2_9ce4_8422_2325_u64, |digest, placement| {
        let words = placement.map_or([u64::MAX; 2], |placement| [u64::from(placement.node.0), placement.devices.0]);
        words.iter().fold(digest, |digest, word| (digest ^ word).wrapping_mul(0x0100_0000_01b3))
    });
    (placements.len(), digest)
}
