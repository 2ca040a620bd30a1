//! Jobs drawn class by class: Poisson arrivals, perhaps in bursts; log-normal work and demand.
//!
//! Arrivals of each class, and the attributes of each job by its number within the class, have streams of their
//! own: changing one class leaves all others as they were. Generation is lazy, so a long run costs no memory.

use serde::{Deserialize, Serialize};

use crate::resources::{Amounts, DIMS, Dim};
use crate::rng::{Purpose, Stream};
use crate::units::{SimTime, Span};
use crate::workload::{ClassId, Job, TypeMask, fewest_devices};

/// A job's work stays within these multiples of its class's mean.
pub const WORK_CLIP: (f64, f64) = (0.1, 6.0);

/// How jobs of one class are drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassLaw {
    /// The class.
    pub class: ClassId,
    /// Mean demand of a task.
    pub demand: Amounts,
    /// No task asks for more than this.
    pub limit: Amounts,
    /// Standard deviation of the logarithm of a job's demand in hard dimensions (GPUs do not vary).
    pub jitter_hard: f64,
    /// The same in soft dimensions.
    pub jitter_soft: f64,
    /// Mean time at full speed.
    pub mean_work: Span,
    /// Standard deviation of the logarithm of that time.
    pub work_sigma: f64,
    /// Numbers of tasks and their probabilities, which sum to 1.
    pub gang: Vec<(u16, f64)>,
    /// Mean arrivals an hour.
    pub rate_per_hour: f64,
    /// Whether bursts modulate its arrivals.
    pub bursty: bool,
}

/// One on/off process that modulates the arrivals of all bursty classes together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bursts {
    /// Mean time on (exponential).
    pub on_mean: Span,
    /// Mean time off (exponential).
    pub off_mean: Span,
    /// Arrival rate while on, as a multiple of the mean rate.
    pub on_factor: f64,
    /// Arrival rate while off.
    pub off_factor: f64,
}

/// Endless stream of jobs in order of arrival.
#[derive(Clone, Debug)]
pub struct Generator {
    seed: u64,
    laws: Vec<ClassLaw>,
    clocks: Vec<Clock>,
    next_index: u64,
}

/// Arrivals of one class.
#[derive(Clone, Debug)]
struct Clock {
    stream: Stream,
    bursts: Option<BurstClock>,
    /// Mean gap at peak rate, in ms.
    gap_ms: f64,
    /// Exact time of the last candidate, in ms.
    exact_ms: f64,
    /// When the next job arrives.
    next: SimTime,
    /// Its number within the class.
    number: u64,
}

/// The on/off process, replayed by each class from the same stream.
#[derive(Clone, Debug)]
struct BurstClock {
    law: Bursts,
    stream: Stream,
    on: bool,
    until_ms: f64,
}

impl BurstClock {
    fn new(law: Bursts, seed: u64) -> Self {
        let mut stream = Stream::new(seed, Purpose::Bursts, 0, 0);
        let on_share = law.on_mean.as_secs() / (law.on_mean.as_secs() + law.off_mean.as_secs());
        let on = stream.unit() < on_share;
        let mut clock = Self { law, stream, on, until_ms: 0.0 };
        clock.until_ms = clock.draw_length();
        clock
    }

    fn draw_length(&mut self) -> f64 {
        let mean = if self.on { self.law.on_mean } else { self.law.off_mean };
        self.stream.exponential(mean.as_ms() as f64)
    }

    /// Rate at `at_ms` as a share of the peak rate. Times must not go backwards.
    fn share_of_peak(&mut self, at_ms: f64) -> f64 {
        while at_ms >= self.until_ms {
            self.on = !self.on;
            let length = self.draw_length();
            // A burst lasts at least a millisecond, so the loop ends.
            self.until_ms += length.max(1.0);
        }
        let factor = if self.on { self.law.on_factor } else { self.law.off_factor };
        factor / self.law.on_factor.max(self.law.off_factor)
    }
}

impl Clock {
    fn new(law: &ClassLaw, bursts: Option<Bursts>, seed: u64) -> Self {
        let bursts = bursts.filter(|_| law.bursty);
        let peak = bursts.map_or(1.0, |bursts| bursts.on_factor.max(bursts.off_factor));
        let rate = law.rate_per_hour * peak;
        let mut clock = Self {
            stream: Stream::new(seed, Purpose::Arrivals, u64::from(law.class.0), 0),
            bursts: bursts.map(|bursts| BurstClock::new(bursts, seed)),
            gap_ms: if rate > 0.0 { crate::units::MS_PER_HOUR as f64 / rate } else { f64::INFINITY },
            exact_ms: 0.0,
            next: SimTime::NEVER,
            number: 0,
        };
        clock.advance();
        clock
    }

    /// Draws candidates at the peak rate until one is kept (thinning).
    fn advance(&mut self) {
        if self.gap_ms.is_infinite() {
            return;
        }
        loop {
            self.exact_ms += self.stream.exponential(self.gap_ms);
            let keep = match &mut self.bursts {
                Some(bursts) => {
                    let share = bursts.share_of_peak(self.exact_ms);
                    self.stream.unit() < share
                }
                None => true,
            };
            if keep {
                self.next = SimTime(libm::round(self.exact_ms) as u64);
                return;
            }
        }
    }
}

impl Generator {
    /// A generator; `laws` may name each class once.
    #[must_use]
    pub fn new(laws: Vec<ClassLaw>, bursts: Option<Bursts>, seed: u64) -> Self {
        let clocks = laws.iter().map(|law| Clock::new(law, bursts, seed)).collect();
        Self { seed, laws, clocks, next_index: 0 }
    }
}

impl Iterator for Generator {
    type Item = Job;

    fn next(&mut self) -> Option<Job> {
        let which = (0..self.clocks.len()).min_by_key(|&c| self.clocks[c].next)?;
        let clock = &mut self.clocks[which];
        let (arrival, number) = (clock.next, clock.number);
        if arrival == SimTime::NEVER {
            return None;
        }
        clock.number += 1;
        clock.advance();
        let job = self.laws[which].draw(self.seed, self.next_index, number, arrival);
        self.next_index += 1;
        Some(job)
    }
}

impl ClassLaw {
    /// The `number`-th job of the class.
    fn draw(&self, seed: u64, index: u64, number: u64, arrival: SimTime) -> Job {
        let mut stream = Stream::new(seed, Purpose::Attributes, u64::from(self.class.0), number);
        let tasks = self.draw_tasks(&mut stream);
        let stretch = stream.lognormal(self.work_sigma).clamp(WORK_CLIP.0, WORK_CLIP.1);
        let work = Span((libm::round(self.mean_work.as_ms() as f64 * stretch) as u64).max(1));
        let demand = Amounts(core::array::from_fn(|m| self.draw_demand(Dim::ALL[m], &mut stream)));
        const { assert!(DIMS == 7) };
        let gpus = fewest_devices(demand[Dim::Gpu]);
        Job { index, class: self.class, arrival, tasks, demand, gpus, work, types: TypeMask::ANY }
    }

    fn draw_tasks(&self, stream: &mut Stream) -> u16 {
        let mut point = stream.unit();
        for &(tasks, probability) in &self.gang {
            if point < probability {
                return tasks;
            }
            point -= probability;
        }
        self.gang.last().map_or(1, |&(tasks, _)| tasks)
    }

    fn draw_demand(&self, dim: Dim, stream: &mut Stream) -> i32 {
        if dim == Dim::Gpu {
            return self.demand[dim];
        }
        let sigma = if dim.is_soft() { self.jitter_soft } else { self.jitter_hard };
        let amount = f64::from(self.demand[dim]) * stream.lognormal(sigma);
        (libm::round(amount) as i32).min(self.limit[dim])
    }
}
