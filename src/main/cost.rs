//! What a comparison will take: its time is said before it starts, and refused where nobody would live to see the end; its
//! memory is refused where there is not that much.

use residua::scenario::{Issue, Memory, Scenario};

/// Below so many seconds there is nothing to announce.
const WORTH_A_LINE: f64 = 20.0;

/// Thirty days: more is a slip of the pen.
const MOST: f64 = 30.0 * 86_400.0;

/// Seconds of one core that a run takes, to a factor of about three, with a scheduler that scores every node that fits,
/// or a sample of them; RAGP and first fit look at few nodes of a large cluster and take less. What waits is tried again
/// as far as the window reaches. Measured with optimised code at 64, 1000 and 4000 nodes, with
/// loads from 0.7 to 1.2 and windows of 64 and 10000.
pub fn seconds_a_run(scenario: &Scenario, nodes: usize, jobs: f64) -> f64 {
    // Above a load of 1 the rest stays in the queue, which so grows evenly.
    let waiting = jobs * (1.0 - 1.0 / scenario.load).max(0.0) / 2.0;
    let sample = scenario.scheduler.sample as usize;
    let scored = if sample == 0 { nodes } else { nodes.min(sample) };
    let microseconds = 2.0 + 0.045 * scored as f64 + 0.1 * waiting.min(f64::from(scenario.queue.window));
    jobs * microseconds / 1e6
}

/// What to tell before `runs` runs start on `threads` threads; a problem if it is out of all proportion.
pub fn announce(seconds_a_run: f64, runs: usize, threads: usize) -> Result<Option<String>, Issue> {
    let seconds = seconds_a_run * runs as f64 / threads as f64;
    let (count, thread) = (if runs == 1 { "run" } else { "runs" }, if threads == 1 { "thread" } else { "threads" });
    if seconds > MOST {
        return Err(Issue {
            path: "schedulers × seeds".to_owned(),
            value: format!("{runs} {count}"),
            allowed: format!("30 days of computing; these take about {} on {threads} {thread}", words(seconds)),
            remedy: "Take fewer seeds, schedulers or nodes, fewer hours, or a smaller queue.window".to_owned(),
        });
    }
    Ok((seconds > WORTH_A_LINE)
        .then(|| format!("{runs} {count} on {threads} {thread}: very roughly {} or less", words(seconds))))
}

/// A problem if so many runs at once take more than `most` megabytes.
pub fn fits(memory: Memory, at_once: usize, most: u64) -> Result<(), Issue> {
    let needed = memory.megabytes().saturating_mul(at_once as u64);
    if needed <= most {
        return Ok(());
    }
    let (nodes, jobs) = (memory.nodes, memory.most_jobs());
    let (each, remedy) = match at_once {
        1 => (String::new(), "Raise it if the machine has so much, or take fewer nodes or less load"),
        _ => (
            format!("{} MB for each of {at_once} runs at once, each ", memory.megabytes()),
            "Raise it if the machine has so much, or take fewer --threads, fewer nodes or less load",
        ),
    };
    Err(Issue {
        path: "--memory".to_owned(),
        value: format!("{most} MB"),
        allowed: format!("at least {needed} MB: {each}with {nodes} nodes and up to {jobs:.0} jobs at once"),
        remedy: remedy.to_owned(),
    })
}

/// `40 s`, `12 min`, `3.5 h`, `9 days`.
fn words(seconds: f64) -> String {
    match seconds {
        _ if seconds < 100.0 => format!("{seconds:.0} s"),
        _ if seconds < 6_000.0 => format!("{:.0} min", seconds / 60.0),
        _ if seconds < 172_800.0 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_the_figure_and_the_remedy() {
        // 12 MB + 100,000 × 1 kB + (497,178 + 4 √497,178) × 520 B.
        let memory = Memory { nodes: 100_000, jobs: 497_178.0 };
        assert_eq!(fits(memory, 2, 744), Ok(()));
        let refused = fits(memory, 2, 743).expect_err("a megabyte short");
        assert_eq!(
            refused.message(),
            "--memory = 743 MB – allowed: at least 744 MB: 372 MB for each of 2 runs at once, each with 100000 nodes and up \
             to 499998 jobs at once. Raise it if the machine has so much, or take fewer --threads, fewer nodes or less load"
        );
        assert!(!fits(memory, 1, 100).expect_err("too much").message().contains("--threads"));
    }

    #[test]
    fn small_is_silent_large_is_said_and_absurd_is_refused() {
        let scenario = |nodes: &str, load: &str, window: &str| {
            let set = [("nodes", nodes), ("load", load), ("queue.window", window), ("hours", "2000")];
            Scenario::preset("c", &set.map(|(key, value)| (key.to_owned(), value.to_owned()))).expect("right")
        };
        let cost = |scenario: &Scenario| seconds_a_run(scenario, scenario.nodes as usize, scenario.expected_jobs());
        let small = cost(&scenario("64", "0.7", "64"));
        assert!((3.0..30.0).contains(&small), "{small} s; measured: 9 s");
        assert_eq!(announce(small, 1, 1), Ok(None));
        let said = announce(small, 1000, 2).expect("long but finite").expect("worth a line");
        assert!(said.starts_with("1000 runs on 2 threads") && said.ends_with(" min or less"), "{said}");
        let many = |sample: &str| {
            let set = [("nodes", "10000"), ("scheduler.sample", sample)];
            cost(&Scenario::preset("c", &set.map(|(key, value)| (key.to_owned(), value.to_owned()))).expect("right"))
        };
        assert!(many("100") < many("0") / 10.0, "a sample is scored faster than all");
        assert!(cost(&scenario("64", "1.01", "10000")) > 10.0 * small, "a wide window is slow");
        let refused = announce(3600.0, 1000 * 20, 2).expect_err("417 days");
        assert!(refused.message().contains("417 days") && refused.remedy.contains("fewer seeds"), "{refused}");
    }
}
