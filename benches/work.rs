//! What the speed benchmarks run, natively and in a browser: RAGP-I/O on the storage-stress scenario, exact.

use residua::engine::Simulation;
use residua::probes::Standard;
use residua::scenario::Scenario;

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
