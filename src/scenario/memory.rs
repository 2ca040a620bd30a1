//! What a run holds in memory at most, estimated before it starts, so that one that does not fit is refused and not broken
//! off.
//!
//! Nothing that a run keeps grows with the jobs that came and went: it is so much a node, so much a job that runs or
//! waits, and a little for everything else. The amounts are from measurements (`cargo bench --bench memory`), a third
//! above them.

use crate::scenario::{Issue, Scenario};
use crate::workload::openb::Imported;
use crate::workload::openb::recorded::Recorded;

/// Of jobs' times each is kept until there are too many of them, and sorted at the end.
const IN_ANY_CASE: f64 = 12e6;
const A_NODE: f64 = 1_000.0;
/// A job that runs or waits, with its place on a node and its next event.
const A_JOB: f64 = 600.0;

/// Jobs run longer than their work where storage is short, and wait; measured in the storage-stress scenario: 1.1.
const LONGER: f64 = 1.25;

/// The size of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// Nodes of the cluster.
    pub nodes: usize,
    /// Jobs that run and wait at once, on average.
    pub jobs: f64,
}

impl Memory {
    /// Bytes that it takes, estimated from above.
    #[must_use]
    pub fn bytes(self) -> f64 {
        IN_ANY_CASE + A_NODE * self.nodes as f64 + A_JOB * self.most_jobs()
    }

    /// Jobs that run and wait at once, at most: their number varies, and four standard deviations are rarely exceeded.
    #[must_use]
    pub fn most_jobs(self) -> f64 {
        self.jobs + 4.0 * libm::sqrt(self.jobs)
    }

    /// The same in megabytes, rounded up.
    #[must_use]
    pub fn megabytes(self) -> u64 {
        libm::ceil(self.bytes() / 1e6) as u64
    }

    /// How many nodes take at most so many bytes, with as many jobs a node; at most as many as these.
    #[must_use]
    pub fn nodes_within(self, bytes: f64) -> usize {
        let with = |nodes: usize| Self { nodes, jobs: self.jobs * nodes as f64 / self.nodes.max(1) as f64 };
        // Halving finds it: `low` fit, above `high` none do.
        let (mut low, mut high) = (0, self.nodes);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if with(middle).bytes() <= bytes {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }

    /// Says that it does not fit where at most so many bytes do, as in a browser. `has_own_nodes`: whether their number
    /// can be chosen.
    pub(crate) fn too_much(self, most: u64, has_own_nodes: bool) -> Option<Issue> {
        let most = most as f64;
        if self.bytes() <= most {
            return None;
        }
        let allowed = format!(
            "what takes at most {:.0} MB of memory in a browser; this takes about {} MB",
            most / 1e6,
            self.megabytes()
        );
        let remedy = if has_own_nodes {
            // Rounded down, so that it can be taken as it is.
            let nodes = self.nodes_within(most);
            let step = if nodes < 100 { 1 } else { 100 };
            format!(
                "Take at most {} nodes, or less load, or run it with the command, which may take more",
                nodes / step * step
            )
        } else {
            "Take less load, or run it with the command, which may take more".to_owned()
        };
        Some(Issue::new("nodes", self.nodes.to_string(), allowed, remedy))
    }
}

impl Scenario {
    /// What a run of this scenario takes.
    #[must_use]
    pub fn memory(&self) -> Memory {
        let gpus = self.gpus();
        let jobs = self.classes.iter().map(|class| (self.rate_per_hour(class, gpus), class.work_minutes / 60.0));
        self.memory_with(
            self.nodes as usize,
            jobs.fold((0.0, 0.0), |sum, (rate, hours)| (sum.0 + rate, sum.1 + rate * hours)),
        )
    }

    /// What a run on a trace takes whose jobs are drawn.
    #[must_use]
    pub fn memory_on(&self, trace: &Imported) -> Memory {
        let rate = trace.rate_for_load(self.load);
        let hours: f64 = trace.samples.iter().map(|sample| sample.work.as_hours()).sum();
        self.memory_with(trace.nodes.len(), (rate, rate * hours / trace.samples.len().max(1) as f64))
    }

    /// What a run on a recording takes.
    #[must_use]
    pub fn memory_of(&self, recorded: &Recorded) -> Memory {
        // More than all GPUs can do waits, in the end.
        let waiting = recorded.jobs as f64 * (1.0 - 1.0 / recorded.load).max(0.0);
        Memory { nodes: recorded.trace.nodes.len(), jobs: LONGER * recorded.at_once as f64 + waiting }
    }

    /// `rate` jobs come an hour, and `running` of them run at once, were none slowed down.
    fn memory_with(&self, nodes: usize, (rate, running): (f64, f64)) -> Memory {
        // Above a load of 1 the rest stays in the queue.
        let waiting = rate * self.hours * (1.0 - 1.0 / self.load).max(0.0);
        Memory { nodes, jobs: LONGER * running + waiting }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(set: &[(&str, &str)]) -> Memory {
        let set: Vec<_> = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Scenario::preset("c", &set).expect("right").memory()
    }

    /// Jobs at once and megabytes as `cargo bench --bench memory` measured them.
    #[test]
    fn the_estimate_is_above_what_was_measured_and_not_far() {
        for (nodes, hours, jobs, megabytes) in
            [("64", "3000", 387.0, 7.6), ("1000", "4", 4664.0, 6.0), ("10000", "4", 47_439.0, 37.3)]
        {
            let memory = memory(&[("nodes", nodes), ("hours", hours), ("warm_up_hours", "0")]);
            let most = memory.most_jobs();
            assert!((jobs..jobs * 1.4).contains(&most), "{nodes}: {most} jobs instead of {jobs}");
            let estimate = memory.bytes() / 1e6;
            assert!((megabytes..megabytes * 1.6 + 12.0).contains(&estimate), "{nodes}: {estimate} MB");
        }
    }

    #[test]
    fn a_queue_that_grows_for_ever_takes_memory_for_ever() {
        let jobs = |hours| memory(&[("load", "1.5"), ("hours", hours), ("warm_up_hours", "0")]).jobs;
        assert!(jobs("200") > 1.8 * jobs("100"));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_a_size_that_does() {
        let large = memory(&[("nodes", "100000"), ("hours", "1"), ("warm_up_hours", "0")]);
        let issue = large.too_much(80_000_000, true).expect("too much");
        assert_eq!((issue.path.as_str(), issue.value.as_str()), ("nodes", "100000"));
        let nodes =
            issue.remedy.strip_prefix("Take at most ").and_then(|rest| rest.split_once(" nodes")).expect("nodes").0;
        let smaller = memory(&[("nodes", nodes), ("hours", "1"), ("warm_up_hours", "0")]);
        assert_eq!(smaller.too_much(80_000_000, true), None);
        assert!(smaller.bytes() > 75e6, "{} MB would do", smaller.megabytes());
    }
}
