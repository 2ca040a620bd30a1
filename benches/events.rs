//! Events per second of the native simulator, one core. `cargo bench`; in a browser and as a ratio:
//! `cargo xtask bench`.
//!
//! Output, one line a case: `native <nodes> <events> <digest> <seconds of each round …>`.

// A benchmark measures real time; the bans of clippy.toml are for the simulator.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::time::Instant;

mod work;

fn main() {
    let rounds = std::env::args().find_map(|argument| argument.strip_prefix("--rounds=")?.parse().ok()).unwrap_or(5);
    for (nodes, hours) in work::CASES {
        let mut result = (0, 0);
        let seconds: Vec<String> = (0..rounds)
            .map(|_: u32| {
                let simulation = work::prepare(nodes, hours);
                let start = Instant::now();
                result = work::run(simulation);
                format!("{:.4}", start.elapsed().as_secs_f64())
            })
            .collect();
        let (events, digest) = result;
        println!("native {nodes} {events} {digest:016x} {}", seconds.join(" "));
    }
}
