//! Job classes of a trace: which pod belongs where, its share of the GPU-hours, its typical task.

use super::pods::{Pod, Qos};
use crate::resources::{Amounts, Dim};
use crate::workload::shares::millionths;
use crate::workload::{ClassId, JobClass, bootstrap::Sample};

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

/// The classes as the simulator wants them; `present[i]` is what [`ClassId`] *i* stands for.
pub(super) fn summarise(present: &[Class], samples: &[Sample]) -> Vec<JobClass> {
    let of = |index: usize| samples.iter().filter(move |sample| sample.class.index() == index);
    let gpu_time: Vec<u128> = (0..present.len()).map(|index| of(index).map(Sample::gpu_milli_ms).sum()).collect();
    let shares = millionths(&gpu_time);
    present
        .iter()
        .enumerate()
        .map(|(index, class)| JobClass {
            id: class.id().to_owned(),
            typical: typical(&of(index).collect::<Vec<_>>()),
            share_ppm: shares[index],
            growth: None,
            training: *class == Class::Train,
        })
        .collect()
}

/// The typical task: in CPU, memory, GPU and GPU memory the weighted median, so half of the class's GPU-hours are in
/// tasks that ask for no more; in the assumed rates the class's mean a GPU × the typical GPU share, because a class
/// may mix two rates and the median would be one of them.
///
/// Tasks weigh by GPU × duration; where there is no GPU, by CPU × duration.
fn typical(samples: &[&Sample]) -> Amounts {
    let on_gpus = samples.iter().any(|sample| sample.demand[Dim::Gpu] > 0);
    let weight_dim = if on_gpus { Dim::Gpu } else { Dim::Cpu };
    let weight = |sample: &Sample| sample.demand[weight_dim].unsigned_abs() as u128 * u128::from(sample.work.as_ms());
    let median = |dim: Dim| {
        let mut weighed: Vec<(i32, u128)> =
            samples.iter().map(|sample| (sample.demand[dim], weight(sample))).collect();
        weighed.sort_unstable();
        let total: u128 = weighed.iter().map(|(_, weight)| weight).sum();
        let mut below = 0;
        weighed
            .into_iter()
            .find(|(_, weight)| {
                below += weight;
                below * 2 >= total
            })
            .map_or(0, |(amount, _)| amount)
    };
    let mut typical = Amounts::ZERO;
    for dim in [Dim::Cpu, Dim::Ram, Dim::Gpu, Dim::Hbm] {
        typical[dim] = median(dim);
    }
    let time = |dim: Dim| -> i128 {
        samples.iter().map(|sample| i128::from(sample.demand[dim]) * i128::from(sample.work.as_ms())).sum()
    };
    let gpu_time = time(Dim::Gpu);
    if gpu_time > 0 {
        for dim in [Dim::Net, Dim::Sto, Dim::Ioc] {
            typical[dim] = (time(dim) * i128::from(typical[Dim::Gpu]) / gpu_time) as i32;
        }
    }
    typical
}

/// Where `class` stands in `present`.
pub(super) fn id_of(present: &[Class], class: Class) -> ClassId {
    // At most four classes, and every class of a pod is present.
    ClassId(present.iter().position(|other| *other == class).unwrap_or(0) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;
    use crate::workload::TypeMask;

    fn sample(values: [i32; 7], seconds: u64) -> Sample {
        Sample {
            class: ClassId(0),
            demand: Amounts(values),
            tasks: 1,
            work: Span::from_secs(seconds),
            types: TypeMask::ANY,
        }
    }

    #[test]
    fn the_typical_task_is_the_one_in_the_middle_of_the_gpu_hours() {
        // GPU time 30, 40 and 40 of 110: the middle is in the second.
        let samples = [
            sample([1000, 90, 1000, 16, 20, 8, 8], 30),
            sample([2000, 20, 2000, 32, 40, 4, 8], 20),
            sample([9000, 10, 8000, 128, 400, 32, 64], 5),
        ];
        let typical = typical(&samples.iter().collect::<Vec<_>>());
        // Each dimension has its own order: of memory the first holds the most.
        assert_eq!(&typical.0[..4], [2000, 20, 2000, 32]);
        // Network: (20×30 + 40×20 + 400×5) / 110 a GPU-second × 2 GPUs; thousandths cancel.
        assert_eq!(typical[Dim::Net], 3400 * 2 / 110);
    }

    #[test]
    fn without_gpus_cpu_time_weighs() {
        let samples = [sample([1000, 1, 0, 0, 0, 0, 0], 10), sample([2000, 5, 0, 0, 0, 0, 0], 100)];
        assert_eq!(typical(&samples.iter().collect::<Vec<_>>()).0, [2000, 5, 0, 0, 0, 0, 0]);
    }
}
