//! What a run holds in memory at most, estimated before it starts, so that one that does not fit is refused and not broken
//! off.
//!
//! Nothing that a run keeps grows with the jobs that came and went: it is so much a node, so much a job that runs or
//! waits, and a little for everything else. The amounts are from measurements (`cargo bench --bench memory`), and
//! above them.

use crate::scenario::{Issue, Scenario};
use crate::workload::openb::Imported;
use crate::workload::openb::recorded::Recorded;

/// Of jobs' times each is kept until there are too many of them, and sorted at the end.
const IN_ANY_CASE: f64 = 12e6;
const A_NODE: f64 = 1_000.0;
/// A job that runs or waits, with its place on a node and its next event. Where many wait, the most is just after their
/// slots have moved to a larger place: 480.
const A_JOB: f64 = 520.0;

/// Jobs run longer than their work where storage is short, and wait; measured in the storage-stress scenario: 1.1.
const LONGER: f64 = 1.25;

/// Jobs that wait at the end ÷ those that a load of 1 would have brought, by load; between these on straight lines. A
/// cluster is never full to the last GPU, so a queue grows from below 1 on; and it grows by fewer jobs than the load is
/// above 1, because small ones overtake large ones. The most of scenarios A, C and D under first-fit and RAGP-I/O
/// (`cargo bench --bench memory load`), rounded up.
const WAITING: [(f64, f64); 6] = [(0.8, 0.0), (0.85, 0.008), (0.95, 0.036), (1.0, 0.06), (1.2, 0.2), (1.5, 0.48)];

/// A load that clusters keep up with for the length of a burst.
const FULL: f64 = 0.9;

/// So many mean lengths longer than the longest of a run's bursts, as expected, bursts are taken to be: some follow so
/// closely that the queue of one is still there when the next begins.
const FOLLOWING: f64 = 4.0;

/// [`WAITING`] at any load: beyond its ends as at the ends, and as steeply as between the last two.
fn waiting_share(load: f64) -> f64 {
    let mut lines = WAITING.windows(2).map(|pair| (pair[0], pair[1]));
    let last = (WAITING[WAITING.len() - 2], WAITING[WAITING.len() - 1]);
    let ((from, low), (to, high)) = lines.find(|(_, (to, _))| load <= *to).unwrap_or(last);
    (low + (high - low) * (load - from) / (to - from)).max(0.0)
}

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

    /// How many nodes take at most as many bytes as `most` says for them, with as many jobs a node; at most as many as
    /// these. `most` must not rise with the nodes.
    fn nodes_within(self, most: impl Fn(usize) -> f64) -> usize {
        let with = |nodes: usize| Self { nodes, jobs: self.jobs * nodes as f64 / self.nodes.max(1) as f64 };
        // Halving finds it: `low` fit, above `high` none do.
        let (mut low, mut high) = (0, self.nodes);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if with(middle).bytes() <= most(middle) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }

    /// Says that it does not fit in a browser beside `lanes` − 1 others of its size, where a cluster of so many nodes may
    /// take as many bytes as `most` says. `has_own_nodes`: whether their number can be chosen.
    pub(crate) fn too_much(self, lanes: u32, has_own_nodes: bool, most: impl Fn(usize) -> f64) -> Option<Issue> {
        let bytes = most(self.nodes);
        if self.bytes() <= bytes {
            return None;
        }
        // Rounded so that what is allowed is allowed, and never the same number twice.
        let (allowed, needed) = (libm::floor(bytes.max(0.0) / 1e6), self.megabytes());
        let allowed = match lanes {
            0 | 1 => {
                format!("what takes at most {allowed:.0} MB of memory in a browser; this takes about {needed} MB")
            }
            _ => format!(
                "what takes at most {allowed:.0} MB of memory in each of {lanes} lanes; this takes about {needed} MB"
            ),
        };
        // Rounded down, so that it can be taken as it is.
        let nodes = || {
            let nodes = self.nodes_within(&most);
            let step = if nodes < 100 { 1 } else { 100 };
            nodes / step * step
        };
        let remedy = match (has_own_nodes, lanes) {
            (true, 0 | 1) => format!(
                "Take at most {} nodes, or less load, or run it with the command, which may take more",
                nodes()
            ),
            (true, _) => format!(
                "Take at most {} nodes, fewer lanes or less load, or run it with the command, which may take more",
                nodes()
            ),
            (false, 0 | 1) => "Take less load, or run it with the command, which may take more".to_owned(),
            (false, _) => "Take fewer lanes or less load, or run it with the command, which may take more".to_owned(),
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
        let (rate, running) = jobs.fold((0.0, 0.0), |sum, (rate, hours)| (sum.0 + rate, sum.1 + rate * hours));
        let mut memory = self.memory_with(self.nodes as usize, (rate, running));
        memory.jobs += rate / self.load * self.burst_share() * self.longest_burst_hours();
        memory
    }

    /// By how much the load of a burst is above what the queue grows by anyway, and above what a cluster keeps up with.
    fn burst_share(&self) -> f64 {
        let bursty: f64 = self.classes.iter().filter(|class| class.bursty).map(|class| class.share).sum();
        let in_burst = self.load * (1.0 + (self.bursts.factor - 1.0) * bursty);
        if self.bursts.factor > 1.0 { (in_burst - self.load.max(FULL)).max(0.0) } else { 0.0 }
    }

    /// About how long bursts of this run last at most.
    fn longest_burst_hours(&self) -> f64 {
        let bursts = &self.bursts;
        let count = (self.hours * 60.0 / (bursts.on_minutes + bursts.off_minutes)).max(1.0);
        (bursts.on_minutes / 60.0 * (libm::log(count) + FOLLOWING)).min(self.hours)
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
        let waiting = recorded.jobs as f64 / recorded.load.max(f64::MIN_POSITIVE) * waiting_share(recorded.load);
        Memory { nodes: recorded.trace.nodes.len(), jobs: LONGER * recorded.at_once as f64 + waiting }
    }

    /// `rate` jobs come an hour, and `running` of them run at once, were none slowed down.
    fn memory_with(&self, nodes: usize, (rate, running): (f64, f64)) -> Memory {
        let waiting = rate / self.load * self.hours * waiting_share(self.load);
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

    /// Jobs at once and megabytes of the scenarios with 64 nodes and 100 hours, as `cargo bench --bench memory load`
    /// measured them: the most and the least of first-fit and RAGP-I/O.
    #[test]
    fn the_estimate_of_a_queue_is_above_what_was_measured_and_not_far() {
        let measured: &[(&str, &str, [f64; 2], f64)] = &[
            ("a", "0.85", [398.0, 436.0], 5.4),
            ("a", "0.95", [933.0, 1_066.0], 9.1),
            ("a", "1.2", [14_534.0, 16_040.0], 14.7),
            ("a", "1.5", [39_561.0, 41_964.0], 28.1),
            ("b", "0.85", [3_848.0, 4_153.0], 6.4),
            ("b", "0.95", [9_332.0, 10_989.0], 11.8),
            ("b", "1", [7_943.0, 11_349.0], 11.8),
            ("b", "1.2", [23_831.0, 26_974.0], 16.7),
            ("b", "1.5", [55_981.0, 62_382.0], 37.3),
            ("c", "0.85", [421.0, 809.0], 5.5),
            ("c", "0.95", [1_377.0, 2_228.0], 9.3),
            ("c", "1", [2_567.0, 5_682.0], 10.4),
            ("c", "1.2", [19_141.0, 25_202.0], 17.0),
            ("c", "1.5", [42_767.0, 58_706.0], 37.3),
            ("d", "0.85", [475.0, 1_322.0], 5.6),
            ("d", "0.95", [2_672.0, 5_276.0], 9.3),
            ("d", "1", [2_445.0, 7_886.0], 10.7),
            ("d", "1.2", [23_071.0, 27_929.0], 21.5),
            ("d", "1.5", [56_170.0, 67_277.0], 41.1),
        ];
        for (id, load, [least, most], megabytes) in measured {
            let set = [("load", *load), ("hours", "100"), ("warm_up_hours", "0")];
            let set = set.map(|(key, value)| (key.to_owned(), value.to_owned()));
            let memory = Scenario::preset(id, &set).expect("right").memory();
            let jobs = memory.most_jobs();
            assert!(jobs >= *most, "{id} at {load}: {jobs} jobs instead of {most}");
            // A few thousand jobs are a megabyte or two: no run is refused for these.
            assert!(jobs <= 2.1 * least + 6_000.0, "{id} at {load}: {jobs} jobs instead of {least}");
            assert!(memory.bytes() / 1e6 >= *megabytes, "{id} at {load}: {} MB", memory.bytes() / 1e6);
        }
    }

    #[test]
    fn a_queue_is_estimated_at_any_load() {
        let shares = [0.05, 0.8, 0.9, 1.0, 1.35, 1.5, 1.8].map(waiting_share);
        let expected = [0.0, 0.0, 0.022, 0.06, 0.34, 0.48, 0.76];
        for (share, expected) in shares.into_iter().zip(expected) {
            assert!((share - expected).abs() < 1e-9, "{share} instead of {expected}");
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
        let issue = large.too_much(1, true, |_| 80e6).expect("too much");
        assert_eq!((issue.path.as_str(), issue.value.as_str()), ("nodes", "100000"));
        let nodes =
            issue.remedy.strip_prefix("Take at most ").and_then(|rest| rest.split_once(" nodes")).expect("nodes").0;
        let smaller = memory(&[("nodes", nodes), ("hours", "1"), ("warm_up_hours", "0")]);
        assert_eq!(smaller.too_much(1, true, |_| 80e6), None);
        assert!(smaller.bytes() > 75e6, "{} MB would do", smaller.megabytes());
    }

    #[test]
    fn beside_others_fewer_lanes_are_advised_too() {
        let large = memory(&[("nodes", "100000"), ("hours", "1"), ("warm_up_hours", "0")]);
        let issue = large.too_much(3, true, |_| 80e6).expect("too much");
        assert!(issue.allowed.starts_with("what takes at most 80 MB of memory in each of 3 lanes; "), "{issue}");
        assert!(issue.remedy.contains(" nodes, fewer lanes or less load, or "), "{issue}");
        let issue = large.too_much(3, false, |_| 80e6).expect("too much");
        assert!(issue.remedy.starts_with("Take fewer lanes or less load, or "), "{issue}");
    }
}
