//! Independent work on all cores; results in order, whoever finished first.

#![expect(clippy::disallowed_types, reason = "how far a run is, is told by the wall clock; no result depends on it")]

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// More threads than this a core gain nothing and cost memory: each holds a simulation.
const MOST_A_CORE: usize = 4;

/// `work` of every position below `count`, in order of position, on at most so many threads: fewer where the machine
/// has no room for them, at least the one that calls.
pub fn in_order<R: Send>(count: usize, threads: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(count));
    let worker = || {
        loop {
            let position = next.fetch_add(1, Ordering::Relaxed);
            if position >= count {
                return;
            }
            let result = work(position);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((position, result));
        }
    };
    thread::scope(|scope| {
        for _ in 1..used(count, threads) {
            if thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                break;
            }
        }
        worker();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(position, _)| *position);
    results.into_iter().map(|(_, result)| result).collect()
}

/// How many of the threads asked for have something to do.
pub fn used(count: usize, threads: usize) -> usize {
    threads.min(count).min(available() * MOST_A_CORE).max(1)
}

/// How many threads run at once unless somebody says otherwise: one a core.
pub fn available() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// What takes less than this is not worth a line.
const LONG: Duration = Duration::from_secs(2);

/// Says on stderr how much of something is done whose end is not known: at most every two seconds.
pub struct Counter {
    what: &'static str,
    said: Cell<Instant>,
}

impl Counter {
    /// From now on; `what` follows the number.
    pub fn new(what: &'static str) -> Self {
        Self { what, said: Cell::new(Instant::now()) }
    }

    /// So many are done.
    pub fn at(&self, count: usize) {
        if self.said.get().elapsed() >= LONG {
            self.said.set(Instant::now());
            // Progress that cannot be shown is no failure.
            let _ = writeln!(io::stderr().lock(), "{count} {}", self.what);
        }
    }
}

/// Says on stderr how far a long job is: rewritten in place on a terminal, a line every tenth elsewhere.
pub struct Progress {
    steps: u64,
    done: AtomicU64,
    is_terminal: bool,
    start: Instant,
}

impl Progress {
    /// Of so many steps, from now on.
    pub fn new(steps: u64) -> Self {
        Self { steps, done: AtomicU64::new(0), is_terminal: io::stderr().is_terminal(), start: Instant::now() }
    }

    /// One more step is done.
    pub fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if self.start.elapsed() < LONG {
            return;
        }
        let parts = if self.is_terminal { 100 } else { 10 };
        let part = |done: u64| done * parts / self.steps;
        if part(done) == part(done - 1) {
            return;
        }
        let percent = done * 100 / self.steps;
        let mut stderr = io::stderr().lock();
        // Progress that cannot be shown is no failure.
        let _ = match (self.is_terminal, done == self.steps) {
            (true, false) => write!(stderr, "\r{percent:3} % simulated"),
            (true, true) => write!(stderr, "\r                \r"),
            (false, _) => writeln!(stderr, "{percent:3} % simulated"),
        };
        let _ = stderr.flush();
    }
}
