//! What one placement decision takes at 10,000 nodes when nothing of it is in a cache, beside a plain pass over the seven
//! columns of what is left. `cargo bench --bench decision`.
//!
//! Output: `<kind> <samples> <least> <median> <most>` in microseconds, then the ratio of the medians.

// A benchmark measures real time; the bans of clippy.toml are for the simulator.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use residua::cluster::NodeId;
use residua::engine::Simulation;
use residua::engine::port::{Ask, Open, Scheduler, Search, View};
use residua::probes::Standard;
use residua::resources::{DIMS, Dim};
use residua::scenario::Scenario;
use residua::schedulers::{self, Tuning};
use residua::units::{SimTime, Span};

const NODES: usize = 10_000;
const SAMPLES: usize = 101;

/// When the cluster is as full as this run gets and decisions are timed.
const FROM: SimTime = SimTime(3 * 3_600_000);

/// More than the last-level cache of most machines holds.
const OTHER: usize = 384 << 20;

/// What is timed, and what drives everything else out of the caches.
#[derive(Debug, Default)]
struct Watch {
    is_on: bool,
    other: Vec<u64>,
    decisions: Vec<f64>,
    passes: Vec<f64>,
}

impl Watch {
    fn forget(&mut self) {
        for (position, word) in self.other.iter_mut().enumerate().step_by(8) {
            *word = word.wrapping_add(position as u64);
        }
        black_box(&mut self.other);
    }
}

/// A scheduler of the roster, timed.
#[derive(Clone, Debug)]
struct Timed {
    inner: Box<dyn Scheduler>,
    watch: Arc<Mutex<Watch>>,
}

impl Scheduler for Timed {
    fn choose(&mut self, view: &View<'_>, ask: &Ask, candidates: &[NodeId]) -> Option<NodeId> {
        self.inner.choose(view, ask, candidates)
    }

    fn search(&mut self, view: &View<'_>, ask: &Ask, open: &Open<'_>) -> Search {
        let mut watch = self.watch.lock().expect("one thread");
        if !watch.is_on || watch.decisions.len() == SAMPLES {
            return self.inner.search(view, ask, open);
        }
        let columns: [Vec<i32>; DIMS] =
            Dim::ALL.map(|dim| (0..view.len() as u32).map(|node| view.available_in(NodeId(node), dim)).collect());
        watch.forget();
        let pass = microseconds(|| plain_pass(&columns));
        watch.passes.push(pass.0);
        watch.forget();
        let (decision, found) = microseconds(|| self.inner.search(view, ask, open));
        watch.decisions.push(decision);
        found
    }

    fn clone_box(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

fn microseconds<T>(run: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = black_box(run());
    (start.elapsed().as_secs_f64() * 1e6, result)
}

/// Nodes with something left in each dimension, counted column by column.
fn plain_pass(columns: &[Vec<i32>; DIMS]) -> usize {
    columns.iter().map(|column| column.iter().filter(|amount| **amount > 0).count()).sum()
}

fn report(kind: &str, times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    println!("{kind} {} {:.1} {median:.1} {:.1}", times.len(), times[0], times[times.len() - 1]);
    median
}

fn main() {
    let set = [("nodes", NODES.to_string()), ("hours", "6".to_owned()), ("warm_up_hours", "1".to_owned())];
    let set = set.map(|(key, value)| (key.to_owned(), value));
    let scenario = Scenario::preset("c-storage-stress", &set).expect("a good scenario");
    let setup = scenario.setup("ragp-io", 42).expect("a known scheduler");
    let entry = schedulers::find("ragp-io").expect("in the roster");
    let tuning =
        Tuning { score_dims: setup.scheduler.score_dims, knobs: setup.scheduler.knobs.clone(), seed: setup.seed };
    let watch = Arc::new(Mutex::new(Watch { other: vec![0; OTHER / 8], ..Watch::default() }));
    let timed = Timed { inner: (entry.card.build)(&tuning), watch: Arc::clone(&watch) };
    let probe = Standard::new(&setup);
    let mut simulation = Simulation::with_scheduler(setup, probe, Box::new(timed)).expect("a good setup");
    simulation.run_until(FROM);
    watch.lock().expect("one thread").is_on = true;
    simulation.run_until(FROM + Span::from_secs(60));
    let mut watch = watch.lock().expect("one thread");
    let decision = report("decision", &mut watch.decisions);
    let pass = report("plain-pass", &mut watch.passes);
    println!("ratio {:.2}", decision / pass);
}
