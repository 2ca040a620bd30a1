//! Events per second of the simulator in a browser's worker, where the page runs it: the twin of `benches/events.rs`.
//!
//! A benchmark, not a test: built only with the feature `speed` (`cargo xtask bench`), and it judges nothing.

use wasm_bindgen_test::{Instant, console_log, wasm_bindgen_test, wasm_bindgen_test_configure};

#[path = "../../../benches/work.rs"]
mod work;

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
fn events_per_second() {
    for (nodes, hours) in work::CASES {
        let simulation = work::prepare(nodes, hours);
        let start = Instant::now();
        let (events, digest) = work::run(simulation);
        console_log!("wasm {nodes} {events} {digest:016x} {:.4}", start.elapsed().as_secs_f64());
    }
}

/// The contents of [`work::FILES`], where `RESIDUA_OPENB` named their folder when this was built: a browser cannot read
/// them. See `build.rs`.
const OPENB: Option<[&str; 3]> = include!(concat!(env!("OUT_DIR"), "/openb.rs"));

#[wasm_bindgen_test]
fn experiment_of_the_fgd_paper() {
    let Some(files) = OPENB else { return };
    let experiment = work::experiment(files);
    let start = Instant::now();
    let (arrivals, digest, seconds) = work::fastest_packing(&experiment, || start.elapsed().as_secs_f64());
    console_log!("wasm FGD {arrivals} {digest:016x} {seconds:.4}");
}
