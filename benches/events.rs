//! Events per second of the native simulator, one core. `cargo bench`; in a browser and as a ratio:
//! `cargo xtask bench`. With `RESIDUA_OPENB`, the folder of the published traces, also an experiment of the FGD paper;
//! more of those in `benches/replay.rs`.
//!
//! Output, one line a case: `native <nodes> <events> <digest> <seconds>`; for the experiment
//! `native FGD <arrivals> <digest> <fastest seconds>`.

// A benchmark measures real time; the bans of clippy.toml are for the simulator.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::path::Path;
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
    let Some(folder) = std::env::var_os("RESIDUA_OPENB") else { return };
    let files = work::FILES.map(|file| {
        let file = Path::new(&folder).join(file);
        std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    });
    let experiment = work::experiment(files.each_ref().map(String::as_str));
    let start = Instant::now();
    let (arrivals, digest, seconds) = work::fastest_packing(&experiment, || start.elapsed().as_secs_f64());
    println!("native FGD {arrivals} {digest:016x} {seconds:.4}");
}
