//! Typical tasks of a workload, and how much of a node's free GPU they could not use: the expected fragment of *Beware
//! of Fragmentation* (Weng et al., USENIX ATC 2023), to the bit.
//!
//! Memory does not enter it; for a task without GPUs all idle GPU is a fragment.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::rng::scatter;
use crate::workload::TypeMask;

/// A kind of task that occurs often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typical {
    /// CPU it asks for, in thousandths of a core.
    pub cpu_milli: i32,
    /// GPU devices it asks for; 0: none.
    pub gpus: u16,
    /// Thousandths it asks of each device.
    pub milli: i32,
    /// Node types it may run on.
    pub types: TypeMask,
    /// How often it occurs.
    pub count: u32,
}

/// The typical tasks of a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypicalTasks {
    /// Most frequent first.
    pub tasks: Vec<Typical>,
    /// Tasks of the whole workload, typical or not.
    pub of: u32,
}

impl TypicalTasks {
    /// The share of each typical task among the typical ones.
    #[must_use]
    pub fn weights(&self) -> Vec<f64> {
        // A share of all tasks over the share of the typical ones, as in the published simulator. Dividing once would
        // differ in the last bit, and where nothing changes on a node that bit decides between 49 points and 50.
        let all = f64::from(self.of.max(1));
        let typical: u32 = self.tasks.iter().map(|task| task.count).sum();
        let covered = f64::from(typical) / all;
        self.tasks.iter().map(|task| f64::from(task.count) / all / covered).collect()
    }
}

/// Where the free GPU of a node goes, seen from one typical task. Sums are kept apart and added in this order, as the
/// published simulator does: another order would differ in the last bit, and scores are truncated to whole numbers.
#[derive(Clone, Copy)]
enum Part {
    LacksBoth,
    LacksGpu,
    Satisfied,
    LacksCpu,
    CpuOnlyFits,
    CpuOnlyDoesNot,
    NoAccess,
}

const PARTS: usize = 7;

/// Most devices of a node whose measure is remembered.
const KEY_DEVICES: usize = 8;

/// Measures nodes against the typical tasks of one workload. Remembers what it found for each state of a node, where
/// states that no typical task tells apart are one.
#[derive(Clone, Debug)]
pub struct Fragments {
    typical: Arc<TypicalTasks>,
    /// Share of each task among all.
    weights: Vec<f64>,
    /// The different amounts of CPU that tasks ask for, rising.
    cpu_steps: Vec<i32>,
    /// Node types that the same tasks may use have the same number.
    groups: Vec<u8>,
    memo: Memo,
    remembers: bool,
}

impl Fragments {
    /// The measure by these tasks, in the order in which they are added up.
    #[must_use]
    pub fn new(typical: Arc<TypicalTasks>) -> Self {
        let tasks = &typical.tasks;
        let mut cpu_steps: Vec<i32> = tasks.iter().map(|task| task.cpu_milli).collect();
        cpu_steps.sort_unstable();
        cpu_steps.dedup();
        let access =
            |index: usize| -> Vec<bool> { tasks.iter().map(|task| task.types.allows(index)).collect::<Vec<bool>>() };
        let mut known: Vec<Vec<bool>> = Vec::new();
        let mut groups = Vec::with_capacity(64);
        for index in 0..64 {
            let access = access(index);
            let group = known.iter().position(|other| *other == access).unwrap_or_else(|| {
                known.push(access);
                known.len() - 1
            });
            groups.push(group as u8);
        }
        Self { weights: typical.weights(), cpu_steps, groups, memo: Memo::default(), remembers: true, typical }
    }

    /// Computes everything anew each time. For the slow twin in tests: results are the same.
    #[doc(hidden)]
    pub fn forget(&mut self) {
        self.remembers = false;
    }

    /// Expected fragment of a node of the type at `type_index` with so much free CPU (thousandths of a core) and these
    /// free thousandths of each device; in thousandths of a GPU. The order of the devices does not matter.
    pub fn of(&mut self, type_index: usize, cpu_milli: i32, devices: &[u16]) -> f64 {
        if !self.remembers || devices.len() > KEY_DEVICES {
            return self.compute(type_index, cpu_milli, devices);
        }
        let key = self.key(type_index, cpu_milli, devices);
        if let Some(known) = self.memo.get(key) {
            return known;
        }
        let fragment = self.compute(type_index, cpu_milli, devices);
        self.memo.insert(key, fragment);
        fragment
    }

    /// What decides the measure: which tasks may come, which of them find their CPU, and the sorted devices. A device
    /// with nothing free is as good as none, so the number of devices need not be in it.
    fn key(&self, type_index: usize, cpu_milli: i32, devices: &[u16]) -> u128 {
        let mut sorted = [0u16; KEY_DEVICES];
        for (count, &free) in devices.iter().enumerate() {
            let mut at = count;
            while at > 0 && sorted[at - 1] < free {
                sorted[at] = sorted[at - 1];
                at -= 1;
            }
            sorted[at] = free;
        }
        let step = self.cpu_steps.partition_point(|asked| *asked <= cpu_milli);
        let head = u128::from(self.groups[type_index]) << 16 | step as u128;
        sorted.iter().fold(head, |key, free| key << 10 | u128::from(*free))
    }

    fn compute(&self, type_index: usize, cpu_milli: i32, devices: &[u16]) -> f64 {
        let total: i32 = devices.iter().map(|free| i32::from(*free)).sum();
        let mut parts = [0.0; PARTS];
        for (task, weight) in self.typical.tasks.iter().zip(&self.weights) {
            let has_cpu = task.cpu_milli <= cpu_milli;
            let mut add = |part: Part, milli: i32| parts[part as usize] += weight * f64::from(milli);
            if task.gpus == 0 {
                add(if has_cpu { Part::CpuOnlyFits } else { Part::CpuOnlyDoesNot }, total);
                continue;
            }
            if !task.types.allows(type_index) {
                add(Part::NoAccess, total);
                continue;
            }
            let (mut enough, mut leftover) = (0, 0);
            for &free in devices {
                if i32::from(free) >= task.milli {
                    enough += 1;
                } else {
                    leftover += i32::from(free);
                }
            }
            match (has_cpu, enough >= task.gpus) {
                (false, false) => add(Part::LacksBoth, total),
                (true, false) => add(Part::LacksGpu, total),
                (false, true) => add(Part::LacksCpu, total),
                (true, true) => {
                    add(Part::Satisfied, total - leftover);
                    add(Part::LacksGpu, leftover);
                }
            }
        }
        let wasted = [
            Part::LacksBoth,
            Part::LacksGpu,
            Part::LacksCpu,
            Part::CpuOnlyFits,
            Part::CpuOnlyDoesNot,
            Part::NoAccess,
        ];
        wasted.iter().map(|part| parts[*part as usize]).fold(0.0, |sum, part| sum + part)
    }
}

/// A hash table that is looked up and never walked, so that its order cannot matter. Open addressing, at most half
/// full, a power of two long.
#[derive(Clone, Debug, Default)]
struct Memo {
    keys: Vec<u128>,
    values: Vec<f64>,
    used: usize,
}

/// Not a key: a step of CPU this high does not exist.
const VACANT: u128 = u128::MAX;

impl Memo {
    fn slot(&self, key: u128) -> usize {
        let mask = self.keys.len() - 1;
        let mut slot = scatter(key as u64 ^ scatter((key >> 64) as u64)) as usize & mask;
        while self.keys[slot] != key && self.keys[slot] != VACANT {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn get(&self, key: u128) -> Option<f64> {
        if self.keys.is_empty() {
            return None;
        }
        let slot = self.slot(key);
        (self.keys[slot] == key).then(|| self.values[slot])
    }

    fn insert(&mut self, key: u128, value: f64) {
        if self.used * 2 >= self.keys.len() {
            let length = (self.keys.len() * 2).max(1 << 12);
            let keys = core::mem::replace(&mut self.keys, vec![VACANT; length]);
            let values = core::mem::replace(&mut self.values, vec![0.0; length]);
            for (key, value) in keys.into_iter().zip(values).filter(|(key, _)| *key != VACANT) {
                let slot = self.slot(key);
                self.keys[slot] = key;
                self.values[slot] = value;
            }
        }
        let slot = self.slot(key);
        self.used += usize::from(self.keys[slot] == VACANT);
        self.keys[slot] = key;
        self.values[slot] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(cpu_milli: i32, gpus: u16, milli: i32, count: u32) -> Typical {
        Typical { cpu_milli, gpus, milli, types: TypeMask(1), count }
    }

    #[test]
    fn worked_by_hand() {
        let tasks = [task(4000, 1, 500, 2), task(8000, 2, 1000, 1), task(1000, 0, 0, 1)];
        let mut fragments = Fragments::new(Arc::new(TypicalTasks { tasks: tasks.into(), of: 4 }));
        // Half shares leave 300 (weight 1/2); pairs do not fit: all 1700 (1/4); CPU-only: all 1700 (1/4).
        assert_eq!(fragments.of(0, 10_000, &[1000, 300, 400]), 0.5 * 700.0 + 0.25 * 1700.0 + 0.25 * 1700.0);
        // Pairs fit now: what they cannot use is 400.
        assert_eq!(fragments.of(0, 10_000, &[1000, 1000, 400]), 0.5 * 400.0 + 0.25 * 400.0 + 0.25 * 2400.0);
        // Another type of node, and no CPU: nothing is of use.
        assert_eq!(fragments.of(1, 10_000, &[1000]), 1000.0);
        assert_eq!(fragments.of(0, 3999, &[1000]), 1000.0);
        assert_eq!(fragments.of(0, 10_000, &[]), 0.0);
    }

    proptest::proptest! {
        #[test]
        fn what_is_remembered_is_what_is_computed(
            tasks in proptest::collection::vec((0..20i32, 0..3u16, 1..=4i32, 0..4u64, 1..9u32), 1..6),
            nodes in proptest::collection::vec((0..3usize, 0..20_000i32, proptest::collection::vec(0..=4u16, 0..10)), 1..60),
        ) {
            let tasks: Vec<Typical> = tasks.into_iter().map(|(cpu, gpus, milli, types, count)| Typical {
                cpu_milli: cpu * 1000, gpus, milli: milli * 250, types: TypeMask(types), count,
            }).collect();
            let of = tasks.iter().map(|task| task.count).sum();
            let mut fast = Fragments::new(Arc::new(TypicalTasks { tasks, of }));
            let mut slow = fast.clone();
            slow.forget();
            for (kind, cpu, devices) in nodes {
                let devices: Vec<u16> = devices.into_iter().map(|part| part * 250).collect();
                let (fast, slow) = (fast.of(kind, cpu, &devices), slow.of(kind, cpu, &devices));
                proptest::prop_assert_eq!(fast.to_bits(), slow.to_bits());
            }
        }
    }
}
