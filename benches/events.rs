//! Events per second of the native simulator, one core. `cargo bench`; in a browser and as a ratio:
//! `cargo xtask bench`.
//!
//! Output, one line a case: `native <nodes> <events> <digest> <seconds>`.

// A benchmark measures real time; the bans of clippy.toml are for the simulator.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::time::Instant;

mod work;

fn main() {
    for (nodes, hours) in work::CASES {
        let simulation = work::prepare(nodes, hours);
        let start = Instant::now();
        let (events, digest) = work::run(simulation);
        let seconds = start.elapsed().as_secs_f64();
        println!("native {nodes} {events} {digest:016x} {seconds:.4}");
    }
}
