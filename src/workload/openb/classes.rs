//! Job classes of a trace: which pod belongs where, its share of the GPU-hours, its typical task.

use std::collections::BTreeMap;

use super::pods::{Pod, Qos};
use crate::resources::{Amounts, Dim};
use crate::units::Span;
use crate::workload::shares::millionths;
use crate::workload::{ClassId, JobClass};

/// A class, by what the trace says of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// One GPU or part of one, not best-effort.
    Inference,
    /// More than one GPU.
    Train,
    /// One GPU or part of one, best-effort.
    Batch,
    /// No GPU.
    Cpu,
}

impl Class {
    pub(super) const ALL: [Self; 4] = [Self::Inference, Self::Train, Self::Batch, Self::Cpu];

    pub(super) fn of(pod: &Pod) -> Self {
        match (pod.gpu_milli, pod.qos) {
            (..=0, _) => Self::Cpu,
            (1001.., _) => Self::Train,
            (_, Qos::BestEffort) => Self::Batch,
            (_, Qos::Prompt) => Self::Inference,
        }
    }

    pub(super) const fn id(self) -> &'static str {
        match self {
            Self::Inference => "inference",
            Self::Train => "train",
            Self::Batch => "batch",
            Self::Cpu => "cpu",
        }
    }
}

/// What is known of a class after any number of its pods, in bounded memory.
#[derive(Debug)]
pub(super) struct Tally {
    class: Class,
    /// How many pods.
    pub(super) count: usize,
    /// CPU, memory, GPU and GPU memory, each weighed.
    medians: [Weighed; MEDIANS.len()],
    /// Network, storage and I/O CPU × time.
    rates: [i128; RATES.len()],
    gpu_time: u128,
}

const MEDIANS: [Dim; 4] = [Dim::Cpu, Dim::Ram, Dim::Gpu, Dim::Hbm];
const RATES: [Dim; 3] = [Dim::Net, Dim::Sto, Dim::Ioc];

impl Tally {
    /// One for each class.
    pub(super) fn all() -> [Self; Class::ALL.len()] {
        Class::ALL.map(|class| Self {
            class,
            count: 0,
            medians: Default::default(),
            rates: Default::default(),
            gpu_time: 0,
        })
    }

    /// One more pod, of one task. It weighs by GPU × duration; where there is no GPU, by CPU × duration.
    pub(super) fn add(&mut self, demand: &Amounts, work: Span) {
        let time = |dim: Dim| u128::from(demand[dim].unsigned_abs()) * u128::from(work.as_ms());
        let weight = time(if self.class == Class::Cpu { Dim::Cpu } else { Dim::Gpu });
        for (median, dim) in self.medians.iter_mut().zip(MEDIANS) {
            median.add(demand[dim], weight);
        }
        for (sum, dim) in self.rates.iter_mut().zip(RATES) {
            *sum += i128::from(demand[dim]) * i128::from(work.as_ms());
        }
        self.gpu_time += time(Dim::Gpu);
        self.count += 1;
    }

    /// The typical task: in CPU, memory, GPU and GPU memory the weighted median, so half of the class's GPU-hours are in
    /// tasks that ask for no more; in the assumed rates the class's mean a GPU × the typical GPU share, because a class
    /// may mix two rates and the median would be one of them.
    fn typical(&self) -> Amounts {
        let mut typical = Amounts::ZERO;
        for (median, dim) in self.medians.iter().zip(MEDIANS) {
            typical[dim] = median.middle();
        }
        if self.gpu_time > 0 {
            for (sum, dim) in self.rates.iter().zip(RATES) {
                typical[dim] = (sum * i128::from(typical[Dim::Gpu]) / self.gpu_time as i128) as i32;
            }
        }
        typical
    }
}

/// Most amounts told apart: more than any published list has rows.
const MOST_AMOUNTS: usize = 16_384;

/// Amounts and how much each weighs. Where there are too many different ones, neighbours are taken together.
#[derive(Debug, Default)]
struct Weighed {
    weights: BTreeMap<i32, u128>,
    /// Amounts are told apart by their bits from this one on.
    coarseness: u32,
}

impl Weighed {
    fn add(&mut self, amount: i32, weight: u128) {
        let rounded = |amount: i32, coarseness: u32| amount >> coarseness << coarseness;
        *self.weights.entry(rounded(amount, self.coarseness)).or_default() += weight;
        while self.weights.len() > MOST_AMOUNTS {
            self.coarseness += 1;
            for (amount, weight) in core::mem::take(&mut self.weights) {
                *self.weights.entry(rounded(amount, self.coarseness)).or_default() += weight;
            }
        }
    }

    /// The least amount such that half of the weight is at or below it.
    fn middle(&self) -> i32 {
        let total: u128 = self.weights.values().sum();
        let mut below = 0;
        let mut reaches = |weight: &u128| {
            below += weight;
            below * 2 >= total
        };
        self.weights.iter().find(|(_, weight)| reaches(weight)).map_or(0, |(amount, _)| *amount)
    }
}

/// The classes of which there are pods, in order: `present[i]` is what [`ClassId`] *i* stands for.
pub(super) fn present(tallies: &[Tally]) -> Vec<Class> {
    tallies.iter().filter(|tally| tally.count > 0).map(|tally| tally.class).collect()
}

/// These as the simulator wants them.
pub(super) fn summarise(tallies: &[Tally]) -> Vec<JobClass> {
    let present: Vec<&Tally> = tallies.iter().filter(|tally| tally.count > 0).collect();
    let shares = millionths(&present.iter().map(|tally| tally.gpu_time).collect::<Vec<_>>());
    present
        .into_iter()
        .zip(shares)
        .map(|(tally, share_ppm)| JobClass {
            id: tally.class.id().to_owned(),
            typical: tally.typical(),
            share_ppm,
            growth: None,
            training: tally.class == Class::Train,
        })
        .collect()
}

/// Where `class` stands in `present`.
pub(super) fn id_of(present: &[Class], class: Class) -> ClassId {
    // At most four classes, and every class of a pod is present.
    ClassId(present.iter().position(|other| *other == class).unwrap_or(0) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typical(class: Class, pods: &[([i32; 7], u64)]) -> Amounts {
        let mut tallies = Tally::all();
        for (values, seconds) in pods {
            tallies[class as usize].add(&Amounts(*values), Span::from_secs(*seconds));
        }
        assert_eq!(present(&tallies), [class]);
        tallies[class as usize].typical()
    }

    #[test]
    fn the_typical_task_is_the_one_in_the_middle_of_the_gpu_hours() {
        // GPU time 30, 40 and 40 of 110: the middle is in the second.
        let pods = [
            ([1000, 90, 1000, 16, 20, 8, 8], 30),
            ([2000, 20, 2000, 32, 40, 4, 8], 20),
            ([9000, 10, 8000, 128, 400, 32, 64], 5),
        ];
        let typical = typical(Class::Train, &pods);
        // Each dimension has its own order: of memory the first holds the most.
        assert_eq!(&typical.0[..4], [2000, 20, 2000, 32]);
        // Network: (20×30 + 40×20 + 400×5) / 110 a GPU-second × 2 GPUs; thousandths cancel.
        assert_eq!(typical[Dim::Net], 3400 * 2 / 110);
    }

    #[test]
    fn without_gpus_cpu_time_weighs() {
        let pods = [([1000, 1, 0, 0, 0, 0, 0], 10), ([2000, 5, 0, 0, 0, 0, 0], 100)];
        assert_eq!(typical(Class::Cpu, &pods).0, [2000, 5, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn many_different_amounts_are_told_apart_less_finely_in_the_same_memory() {
        let mut weighed = Weighed::default();
        for amount in 0..100_000 {
            weighed.add(amount * 16, 1);
        }
        assert!(weighed.weights.len() <= MOST_AMOUNTS);
        // The middle is 49,999 × 16; seven bits are no longer told apart.
        assert_eq!(weighed.coarseness, 7);
        let (middle, exact) = (weighed.middle(), 49_999 * 16);
        assert!((exact - 128..=exact).contains(&middle), "{middle}");
    }
}
