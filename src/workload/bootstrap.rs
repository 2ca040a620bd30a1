//! Jobs drawn with replacement from a recorded sample, arriving at random at a wanted load.
//!
//! Shape and duration are drawn *together*, because in real traces they depend on each other. Arrivals are Poisson:
//! the trace's own arrival times are not used. What it does not do: invent shapes that the trace does not have, or
//! keep the trace's daily rhythm.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::resources::{Amounts, DIMS, Dim};
use crate::rng::{Purpose, Stream};
use crate::units::{MS_PER_HOUR, SimTime, Span};
use crate::workload::{ClassId, Job, TypeMask, fewest_devices};

/// One recorded job: what it asked for and how long it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Its class.
    pub class: ClassId,
    /// Demand of each task.
    pub demand: Amounts,
    /// Number of identical tasks that start together; at least 1.
    pub tasks: u16,
    /// Time it takes at full speed; at least 1 ms.
    pub work: Span,
    /// Node types it may run on.
    pub types: TypeMask,
}

impl Sample {
    /// GPU time of all tasks together: milli-GPU × milliseconds.
    #[must_use]
    pub fn gpu_milli_ms(&self) -> u128 {
        self.amount_ms(Dim::Gpu, self.work)
    }

    /// Amount of `dim` over all tasks × `time`.
    fn amount_ms(&self, dim: Dim, time: Span) -> u128 {
        // A negative demand means nothing; it counts as none rather than wrapping.
        u128::from(self.demand[dim].max(0).unsigned_abs()) * u128::from(self.tasks) * u128::from(time.as_ms())
    }
}

/// An endless stream of [`Job`]s drawn from samples.
///
/// The *n*-th job is the same whatever happens to the jobs before it: its gap comes from one stream of the seed, its
/// sample from a stream of its own.
#[derive(Clone, Debug)]
pub struct Generator {
    samples: Arc<[Sample]>,
    mean_gap_ms: f64,
    seed: u64,
    gaps: Stream,
    clock_ms: f64,
    index: u64,
}

impl Generator {
    /// Jobs at `rate_per_hour` (jobs an hour, above 0 and finite), each an independent draw from `samples`.
    ///
    /// Without samples, or at a rate that is not above zero, no job ever comes.
    #[must_use]
    pub fn new(samples: Arc<[Sample]>, rate_per_hour: f64, seed: u64) -> Self {
        let usable = !samples.is_empty() && rate_per_hour > 0.0 && rate_per_hour.is_finite();
        let mean_gap_ms = if usable { MS_PER_HOUR as f64 / rate_per_hour } else { f64::INFINITY };
        Self { samples, mean_gap_ms, seed, gaps: Stream::new(seed, Purpose::Arrivals, 0, 0), clock_ms: 0.0, index: 0 }
    }

    /// What it draws from.
    #[must_use]
    pub fn samples(&self) -> &Arc<[Sample]> {
        &self.samples
    }
}

impl Iterator for Generator {
    type Item = Job;

    fn next(&mut self) -> Option<Job> {
        if !self.mean_gap_ms.is_finite() {
            return None;
        }
        self.clock_ms += self.gaps.exponential(self.mean_gap_ms);
        let mut draw = Stream::new(self.seed, Purpose::Attributes, 0, self.index);
        let sample = &self.samples[draw.below(self.samples.len())];
        let job = Job {
            index: self.index,
            class: sample.class,
            // Truncation keeps the order; `as` saturates.
            arrival: SimTime(self.clock_ms as u64),
            tasks: sample.tasks,
            demand: sample.demand,
            gpus: fewest_devices(sample.demand[Dim::Gpu]),
            work: sample.work,
            types: sample.types,
        };
        self.index += 1;
        Some(job)
    }
}

/// Jobs an hour at which the drawn jobs offer `load` × the GPUs: mean(GPU × duration) × rate = load × capacity.
///
/// `gpu_capacity_milli` is the whole cluster's, in thousandths of a GPU. Zero if the samples hold no GPU time.
#[must_use]
pub fn rate_for_load(samples: &[Sample], gpu_capacity_milli: i64, load: f64) -> f64 {
    let gpu_milli_ms: u128 = samples.iter().map(Sample::gpu_milli_ms).sum();
    if gpu_milli_ms == 0 {
        return 0.0;
    }
    let mean_gpu_milli_hours = gpu_milli_ms as f64 / samples.len() as f64 / MS_PER_HOUR as f64;
    load * gpu_capacity_milli as f64 / mean_gpu_milli_hours
}

/// Offered load by dimension at `rate_per_hour`: mean(amount × duration) × rate ÷ `capacity` (of the whole cluster).
///
/// Zero where there is no capacity. More than 1 in any dimension means that the queue grows without end.
#[must_use]
pub fn offered(samples: &[Sample], rate_per_hour: f64, capacity: &[i64; DIMS]) -> [f64; DIMS] {
    Dim::ALL.map(|dim| {
        let room = capacity[dim.index()];
        if samples.is_empty() || room <= 0 {
            return 0.0;
        }
        let total: u128 = samples.iter().map(|sample| sample.amount_ms(dim, sample.work)).sum();
        total as f64 / samples.len() as f64 / MS_PER_HOUR as f64 * rate_per_hour / room as f64
    })
}

/// Share of the wanted GPU load that an unlimited cluster, empty at the start, has reached after `time`:
/// mean(GPU × min(duration, time)) ÷ mean(GPU × duration), from 0 to 1.
///
/// Measuring before this is near 1 measures the filling of the cluster.
#[must_use]
pub fn filled_after(samples: &[Sample], time: Span) -> f64 {
    let all: u128 = samples.iter().map(Sample::gpu_milli_ms).sum();
    if all == 0 {
        return 1.0;
    }
    let so_far: u128 = samples.iter().map(|sample| sample.amount_ms(Dim::Gpu, sample.work.min(time))).sum();
    so_far as f64 / all as f64
}

/// The least whole number of minutes after which [`filled_after`] is at least `share`: a warm-up worth having.
#[must_use]
pub fn time_to_fill(samples: &[Sample], share: f64) -> Span {
    const MINUTE: u64 = 60_000;
    let longest = samples.iter().map(|sample| sample.work.as_ms()).max().unwrap_or(0);
    // `filled_after` never falls, so halving finds it: not yet full at `low` − 1, full at `high`.
    let (mut low, mut high) = (0, longest.div_ceil(MINUTE));
    while low < high {
        let middle = low + (high - low) / 2;
        if filled_after(samples, Span(middle * MINUTE)) >= share {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Span(high * MINUTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(gpu_milli: i32, seconds: u64) -> Sample {
        let mut demand = Amounts::ZERO;
        demand[Dim::Gpu] = gpu_milli;
        Sample { class: ClassId(0), demand, tasks: 1, work: Span::from_secs(seconds), types: TypeMask::ANY }
    }

    #[test]
    fn the_rate_brings_exactly_the_wanted_load() {
        // Mean GPU time: (1 GPU × 1 h + 3 GPUs × 1 h) / 2 = 2 GPU-hours a job; 10 GPUs at 0.8 need 4 jobs an hour.
        let samples = [sample(1000, 3600), sample(3000, 3600)];
        assert_eq!(rate_for_load(&samples, 10_000, 0.8), 4.0);
        let mut capacity = [0; DIMS];
        capacity[Dim::Gpu.index()] = 10_000;
        assert_eq!(offered(&samples, 4.0, &capacity)[Dim::Gpu.index()], 0.8);
    }

    #[test]
    fn no_gpu_time_or_no_samples_means_no_rate_and_no_jobs() {
        assert_eq!(rate_for_load(&[], 10_000, 0.8), 0.0);
        assert_eq!(rate_for_load(&[sample(0, 3600)], 10_000, 0.8), 0.0);
        assert!(Generator::new(Arc::new([]), 5.0, 1).next().is_none());
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Generator::new(Arc::new([sample(1000, 1)]), rate, 1).next().is_none(), "{rate}");
        }
    }

    #[test]
    fn a_cluster_fills_as_durations_say() {
        // One of two equal GPU shares lasts 1 h, the other 3 h: after 1 h (1 + 1) of (1 + 3) is there.
        let samples = [sample(1000, 3600), sample(1000, 3 * 3600)];
        assert_eq!(filled_after(&samples, Span::ZERO), 0.0);
        assert_eq!(filled_after(&samples, Span::from_secs(3600)), 0.5);
        assert_eq!(filled_after(&samples, Span::from_secs(3 * 3600)), 1.0);
        // From 1 h on, one of four GPU-hours comes an hour: 0.75 is there after 2 h.
        assert_eq!(time_to_fill(&samples, 0.75), Span::from_secs(2 * 3600));
        assert_eq!(time_to_fill(&samples, 0.0), Span::ZERO);
        assert_eq!(time_to_fill(&samples, 1.0), Span::from_secs(3 * 3600));
        assert_eq!(time_to_fill(&[], 0.9), Span::ZERO);
    }

    #[test]
    fn arrivals_come_at_the_rate_in_order_and_draw_every_sample_evenly() {
        let samples: Arc<[Sample]> = (1..=4).map(|n| sample(n * 1000, n as u64)).collect();
        let jobs: Vec<Job> = Generator::new(samples, 3600.0, 7).take(40_000).collect();
        assert!(jobs.windows(2).all(|pair| pair[0].arrival <= pair[1].arrival && pair[0].index + 1 == pair[1].index));
        // 40,000 arrivals at one a second: standard deviation of the time is √40,000 = 200 s.
        let seconds = jobs[39_999].arrival.as_ms() as f64 / 1000.0;
        assert!((seconds - 40_000.0).abs() < 4.0 * 200.0, "{seconds} s");
        // Exponential gaps: the standard deviation equals the mean.
        let gaps: Vec<f64> = jobs.windows(2).map(|pair| (pair[1].arrival - pair[0].arrival).as_secs()).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / gaps.len() as f64;
        assert!(
            (libm::sqrt(variance) / mean - 1.0).abs() < 0.05,
            "deviation ÷ mean is {}",
            libm::sqrt(variance) / mean
        );
        for n in 1..=4 {
            // Shape and duration stay together.
            let drawn =
                jobs.iter().filter(|job| job.gpu_milli() == n * 1000 && job.work == Span::from_secs(n as u64));
            let count = drawn.count() as f64;
            // Binomial: standard deviation √(40,000 × ¼ × ¾) = 87.
            assert!((count - 10_000.0).abs() < 4.0 * 87.0, "sample {n} came {count} times");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_jobs_and_the_rate_does_not_change_what_is_drawn() {
        let samples: Arc<[Sample]> = (1..=9).map(|n| sample(n * 1000, n as u64)).collect();
        let run = |rate, seed| Generator::new(samples.clone(), rate, seed).take(50).collect::<Vec<_>>();
        assert_eq!(run(100.0, 1), run(100.0, 1));
        assert_ne!(run(100.0, 1), run(100.0, 2));
        let shapes = |jobs: Vec<Job>| jobs.into_iter().map(|job| job.gpu_milli()).collect::<Vec<_>>();
        assert_eq!(shapes(run(100.0, 1)), shapes(run(500.0, 1)), "what arrives does not depend on how often");
    }
}
