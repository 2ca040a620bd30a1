//! The runs whose results are pinned in `digests.txt`, for every target: small ones, of each scenario under three
//! schedulers that take different ways through the code; and two whose decisions see a sample of the nodes.
//!
//! One file for the native tests and for those in a browser, so that both run the same.

use residua::compare::simulate;
use residua::scenario::Scenario;

const SCENARIOS: [&str; 4] = ["a-balanced", "b-bursty", "c-storage-stress", "d-breathing"];
const SCHEDULERS: [&str; 3] = ["tetris-5d", "fgd-7d", "ragp-io"];
/// Scenario, scheduler, and to how many feasible nodes a decision is held.
const SAMPLED: [(&str, &str, u32); 2] = [("c-storage-stress", "ragp-io", 4), ("d-breathing", "fgd-7d", 2)];
const SEED: u64 = 42;

/// What differs from the scenarios: less of everything. Hot, because schedulers differ where something must wait.
const SMALLER: [(&str, &str); 4] = [("nodes", "16"), ("hours", "4"), ("warm_up_hours", "1"), ("load", "0.95")];

/// Runs everything: a line a run, as in `digests.txt`.
pub fn lines() -> Vec<String> {
    let pairs = SCENARIOS.iter().flat_map(|scenario| SCHEDULERS.map(|scheduler| (*scenario, scheduler)));
    let sampled = SAMPLED.iter().map(|(scenario, scheduler, sample)| line(scenario, scheduler, *sample));
    pairs.map(|(scenario, scheduler)| line(scenario, scheduler, 0)).chain(sampled).collect()
}

fn line(scenario: &str, scheduler: &str, sample: u32) -> String {
    let mut smaller: Vec<_> = SMALLER.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let mut name = scheduler.to_owned();
    if sample > 0 {
        smaller.push(("scheduler.sample".to_owned(), sample.to_string()));
        name += &format!(" sample={sample}");
    }
    let setup = Scenario::preset(scenario, &smaller).expect("a preset").setup(scheduler, SEED).expect("a setup");
    let run = simulate(setup, 1, || {}).expect("a run without a fault");
    // The digest is of what happened; the measures come from floats that could still differ.
    let measures = run.metrics.named().into_iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, (_, value)| {
        let bits = value.map_or(u64::MAX, f64::to_bits);
        (hash ^ bits).wrapping_mul(0x0100_0000_01b3).rotate_left(29)
    });
    format!("{scenario} {name} {} {measures:016x}", run.digest)
}

/// Compares the runs with the lines of `digests.txt`: what is different, in words.
pub fn differences(pinned: &str, found: &[String]) -> Vec<String> {
    let pinned: Vec<_> = pinned.lines().filter(|line| !line.starts_with('#')).collect();
    let mut differences: Vec<_> = found
        .iter()
        .zip(&pinned)
        .filter(|(found, pinned)| found != pinned)
        .map(|(found, pinned)| format!("pinned {pinned}, found {found}"))
        .collect();
    if pinned.len() != found.len() {
        differences.push(format!("{} runs are pinned, {} were run", pinned.len(), found.len()));
    }
    differences
}
