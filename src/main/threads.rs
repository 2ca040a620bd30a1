//! Independent work on all cores; results in order, whoever finished first.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// `work` of every position below `count`, in order of position.
pub fn in_order<R: Send>(count: usize, threads: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(count));
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, count.max(1)) {
            scope.spawn(|| {
                loop {
                    let position = next.fetch_add(1, Ordering::Relaxed);
                    if position >= count {
                        return;
                    }
                    let result = work(position);
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((position, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(position, _)| *position);
    results.into_iter().map(|(_, result)| result).collect()
}

/// How many threads run at once unless somebody says otherwise: one a core.
pub fn available() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Says on stderr how far a long job is: rewritten in place on a terminal, a line every tenth elsewhere.
pub struct Progress {
    steps: u64,
    done: AtomicU64,
    is_terminal: bool,
    is_shown: bool,
}

impl Progress {
    /// Of so many steps. A short job is not worth a line.
    pub fn new(steps: u64, is_long: bool) -> Self {
        Self { steps, done: AtomicU64::new(0), is_terminal: io::stderr().is_terminal(), is_shown: is_long }
    }

    /// One more step is done.
    pub fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if !self.is_shown {
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
