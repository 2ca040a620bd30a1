//! What a run holds in memory at most, native: a recording by its length, a scenario by its length and by its nodes.
//! `cargo bench --bench memory`, or with the names of some cases after `--`: `recorded`, `hours`, `nodes`, `load`.
//!
//! Output, one line a case: `memory <case> <size> <jobs> <peak of jobs at once> <slots> <peak of events> <peak heap, MB> <seconds>`.
//! The heap is counted by the allocator, so that neither the program itself nor what the system keeps is in it.

// A benchmark measures real time, and counting what is allocated needs an allocator of one's own.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{self, BufReader, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use residua::engine::Simulation;
use residua::engine::setup::Setup;
use residua::scenario::{Scenario, TRACE};
use residua::units::{SimTime, Span};
use residua::workload::openb::Options;
use residua::workload::openb::recorded::{self, Opener};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is handed to the system's allocator as it came; beside it only two numbers change.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Nodes of the recorded cluster, each with eight GPUs.
const NODES: u64 = 64;

/// Seconds between two pods of a recording; with 40 minutes a pod of one GPU, 70 % of the GPUs are busy.
const GAP: f64 = 2400.0 / (0.7 * 8.0 * NODES as f64);

/// The rows of a recording, written as they are read: one pod after the other, each for 10 to 70 minutes.
struct Rows {
    pods: u64,
    next: u64,
    written: Vec<u8>,
    at: usize,
}

impl Read for Rows {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.at == self.written.len() && self.next < self.pods {
            let pod = self.next;
            // Any scattered numbers will do.
            let luck = pod.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
            let created = (pod as f64 * GAP) as u64;
            let (scheduled, seconds) = (created + luck % 60, 600 + luck % 3600);
            let (cores, gib) = (2 + luck % 8, 8 + luck % 32);
            self.written = format!(
                "pod-{pod},{cores}000,{},1,1000,LS,{created},{},{scheduled}\n",
                gib * 1024,
                scheduled + seconds
            )
            .into_bytes();
            if pod == 0 {
                let mut all =
                    b"name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,creation_time,deletion_time,scheduled_time\n"
                        .to_vec();
                all.append(&mut self.written);
                self.written = all;
            }
            (self.next, self.at) = (pod + 1, 0);
        }
        let count = (self.written.len() - self.at).min(room.len());
        room[..count].copy_from_slice(&self.written[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

fn recording(pods: u64) -> Setup {
    let nodes: String = (0..NODES).map(|node| format!("n{node},96000,1048576,8,V100M32\n")).collect();
    let nodes = format!("sn,cpu_milli,memory_mib,gpu,model\n{nodes}");
    let opener = Opener::new(move || {
        Ok(Box::new(BufReader::with_capacity(1 << 16, Rows { pods, next: 0, written: Vec::new(), at: 0 })))
    });
    let recorded =
        recorded::survey(("nodes", &nodes), ("pods", &opener), &Options::default(), |_| {}).expect("good rows");
    assert_eq!(recorded.jobs, pods);
    let hours = (recorded.length.as_hours() * 1000.0).ceil() / 1000.0;
    let set = [("hours", hours.to_string()), ("warm_up_hours", "0".to_owned())];
    let scenario =
        Scenario::for_trace(TRACE, &set.map(|(key, value)| (key.to_owned(), value))).expect("good settings");
    scenario.recorded_setup(&recorded, "ragp-io", 1).expect("a known scheduler")
}

fn preset(id: &str, load: Option<f64>, nodes: u32, hours: f64) -> Scenario {
    let set = [("nodes", nodes.to_string()), ("hours", hours.to_string()), ("warm_up_hours", "0".to_owned())];
    let load = load.map(|load| ("load", load.to_string()));
    let set: Vec<_> = set.into_iter().chain(load).map(|(key, value)| (key.to_owned(), value)).collect();
    Scenario::preset(id, &set).expect("a good scenario")
}

fn scenario(nodes: u32, hours: f64) -> Setup {
    preset("c-storage-stress", None, nodes, hours).setup("first-fit-5d", 42).expect("in the roster")
}

fn measure(case: &str, size: u64, setup: impl FnOnce() -> Setup) {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let start = Instant::now();
    let mut simulation = Simulation::new(setup()).expect("a good setup");
    let (mut at_once, mut events) = (0, 0);
    let mut time = SimTime::ZERO;
    while !simulation.is_finished() {
        time += Span::from_secs(10);
        simulation.run_until(time);
        let totals = simulation.totals();
        at_once = at_once.max(totals.waiting + totals.running);
        events = events.max(simulation.held().events);
    }
    assert_eq!(simulation.fault(), None);
    let metrics = simulation.metrics();
    let jobs = metrics.jobs_per_hour * simulation.horizon().as_hours();
    let (slots, seconds) = (simulation.held().slots, start.elapsed().as_secs_f64());
    let peak = (PEAK.load(Ordering::Relaxed) - before) as f64 / 1e6;
    println!("memory {case} {size} {jobs:.0} {at_once} {slots} {events} {peak:.1} {seconds:.1}");
}

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_chosen = |case: &str| chosen.is_empty() || chosen.iter().any(|word| word == case);
    if is_chosen("recorded") {
        for pods in [100_000, 300_000, 1_000_000] {
            measure("recorded", pods, || recording(pods));
        }
    }
    if is_chosen("hours") {
        for hours in [30, 300, 3000] {
            measure("hours", hours, || scenario(64, hours as f64));
        }
    }
    if is_chosen("nodes") {
        for (nodes, hours) in [(1_000, 4.0), (10_000, 4.0), (100_000, 0.1)] {
            measure("nodes", u64::from(nodes), || scenario(nodes, hours));
        }
    }
    if is_chosen("load") {
        for id in ["a-balanced", "b-bursty", "c-storage-stress", "d-breathing"] {
            for scheduler in ["first-fit-5d", "ragp-io"] {
                for percent in [85_u32, 95, 100, 120, 150] {
                    let scenario = preset(id, Some(f64::from(percent) / 100.0), 64, 100.0);
                    let memory = scenario.memory();
                    println!("estimate {id} {scheduler} {:.0} {:.1}", memory.most_jobs(), memory.bytes() / 1e6);
                    measure("load", percent.into(), || scenario.setup(scheduler, 42).expect("in the roster"));
                }
            }
        }
    }
}
