//! The cluster of a packing run at any of its moments, device by device, put together from where each pod went.

use serde::{Deserialize, Serialize};

use crate::cluster::DeviceMask;
use crate::cluster::devices::WHOLE;
use crate::replay::Experiment;
use crate::resources::Dim;
use crate::workload::TypeMask;

/// A kind of node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FloorKind {
    /// What it is, e.g. `2×T4, 104 cores, 512 GiB`.
    pub title: String,
    /// Model of its GPUs.
    pub model: String,
    /// Its GPUs.
    pub gpus: u16,
    /// Its CPU in thousandths of a core.
    pub cpu_milli: i32,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FloorNode {
    /// Its name in the node list.
    pub name: String,
    /// Its kind.
    pub kind: u8,
}

/// The pod by which it is told what is stranded: the most frequent one that asks for one whole GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// CPU it asks for, in thousandths of a core.
    pub cpu_milli: i32,
    /// Kinds of nodes it may run on.
    pub types: TypeMask,
}

/// What is the same at all moments: the nodes, in the order of their list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Floor {
    /// Kinds of nodes.
    pub kinds: Vec<FloorKind>,
    /// The nodes that have GPUs.
    pub nodes: Vec<FloorNode>,
    /// The pod by which it is told what is stranded; `None` if no typical pod asks for one whole GPU.
    pub probe: Option<Probe>,
}

impl Floor {
    /// The nodes of an experiment.
    #[must_use]
    pub fn of(experiment: &Experiment) -> Self {
        let lists = experiment.lists();
        let kinds = lists.node_types.iter().map(|kind| FloorKind {
            title: kind.title.clone(),
            // The id is the model, ×, and what else tells kinds apart.
            model: kind.id.split('×').next().unwrap_or_default().to_owned(),
            gpus: (kind.capacity[Dim::Gpu] / i32::from(WHOLE)) as u16,
            cpu_milli: kind.capacity[Dim::Cpu],
        });
        let name = |row: u32| lists.node_names.get(row as usize).cloned().unwrap_or_default();
        let tasks = &experiment.typical().tasks;
        let whole = tasks.iter().find(|task| task.gpus == 1 && task.milli == i32::from(WHOLE));
        Self {
            kinds: kinds.collect(),
            nodes: lists.nodes.iter().map(|(row, kind)| FloorNode { name: name(*row), kind: *kind }).collect(),
            probe: whole.map(|task| Probe { cpu_milli: task.cpu_milli, types: task.types }),
        }
    }

    /// The kind of a node; kinds and nodes come from the same lists.
    #[must_use]
    pub fn kind(&self, node: usize) -> &FloorKind {
        &self.kinds[usize::from(self.nodes[node].kind)]
    }
}

/// Where a pod went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Position of its node on the floor; `None`: turned away.
    pub place: Option<u32>,
    /// Its devices, as in [`DeviceMask`].
    pub devices: u64,
    /// Its CPU, in thousandths of a core.
    pub cpu_milli: i32,
    /// Its share of each device, in thousandths.
    pub milli: i32,
    /// Demand that had arrived with it, in percent of the cluster's GPUs.
    pub arrived_pct: u32,
}

impl Move {
    /// Words that one takes.
    pub const WORDS: usize = 6;

    /// Appends it as words.
    pub fn write(self, words: &mut Vec<u32>) {
        words.extend([
            self.place.unwrap_or(u32::MAX),
            self.devices as u32,
            (self.devices >> 32) as u32,
            self.cpu_milli as u32,
            self.milli as u32,
            self.arrived_pct,
        ]);
    }

    fn read(words: &[u32]) -> Self {
        Self {
            place: (words[0] != u32::MAX).then_some(words[0]),
            devices: u64::from(words[1]) | u64::from(words[2]) << 32,
            cpu_milli: words[3] as i32,
            milli: words[4] as i32,
            arrived_pct: words[5],
        }
    }
}

/// Where the pods of a run went, in order of arrival.
#[derive(Clone, Debug, Default)]
pub struct Log {
    words: Vec<u32>,
}

impl Log {
    /// Takes over what a slice has told.
    pub fn push(&mut self, words: &[u32]) {
        self.words.extend_from_slice(words);
    }

    /// Pods in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len() / Move::WORDS
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn get(&self, index: usize) -> Move {
        Move::read(&self.words[index * Move::WORDS..(index + 1) * Move::WORDS])
    }

    /// Pods that had arrived when the demand first exceeded so many percent.
    #[must_use]
    pub fn arrivals_at(&self, percent: u32) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.get(middle).arrived_pct <= percent { low = middle + 1 } else { high = middle }
        }
        low
    }
}

/// The state of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeNow<'a> {
    /// Free thousandths of each device.
    pub free: &'a [u16],
    /// Free CPU, in thousandths of a core.
    pub cpu_milli: i32,
    /// Pods on it.
    pub pods: u32,
}

/// The cluster at a moment.
#[derive(Clone, Debug, Default)]
pub struct Board {
    start: Vec<usize>,
    free: Vec<u16>,
    cpu: Vec<i32>,
    pods: Vec<u32>,
    arrived: usize,
}

impl Board {
    /// An empty cluster.
    #[must_use]
    pub fn new(floor: &Floor) -> Self {
        let mut board = Self::default();
        for node in 0..floor.nodes.len() {
            let kind = floor.kind(node);
            board.start.push(board.free.len());
            board.free.resize(board.free.len() + usize::from(kind.gpus), WHOLE);
            board.cpu.push(kind.cpu_milli);
            board.pods.push(0);
        }
        board.start.push(board.free.len());
        board
    }

    /// Goes to the moment after so many arrivals of a log, forward or back. It must have been that log's before.
    pub fn go_to(&mut self, log: &Log, arrived: usize) {
        let arrived = arrived.min(log.len());
        while self.arrived < arrived {
            self.apply(log.get(self.arrived), 1);
            self.arrived += 1;
        }
        while self.arrived > arrived {
            self.arrived -= 1;
            self.apply(log.get(self.arrived), -1);
        }
    }

    fn apply(&mut self, step: Move, sign: i32) {
        let Some(place) = step.place.map(|place| place as usize).filter(|place| *place < self.cpu.len()) else {
            return;
        };
        self.cpu[place] -= sign * step.cpu_milli;
        self.pods[place] = self.pods[place].saturating_add_signed(sign);
        let devices = &mut self.free[self.start[place]..self.start[place + 1]];
        for device in DeviceMask(step.devices).iter() {
            if let Some(free) = devices.get_mut(device) {
                *free = (i32::from(*free) - sign * step.milli).clamp(0, i32::from(WHOLE)) as u16;
            }
        }
    }

    /// Pods that have arrived.
    #[must_use]
    pub fn arrived(&self) -> usize {
        self.arrived
    }

    /// Nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cpu.len()
    }

    /// Whether there is no node.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cpu.is_empty()
    }

    /// The state of a node.
    #[must_use]
    pub fn node(&self, node: usize) -> NodeNow<'_> {
        NodeNow {
            free: &self.free[self.start[node]..self.start[node + 1]],
            cpu_milli: self.cpu[node],
            pods: self.pods[node],
        }
    }

    /// The stock of each model of GPU, by name.
    #[must_use]
    pub fn stocks(&self, floor: &Floor) -> Vec<Stock> {
        let mut stocks: Vec<Stock> = Vec::new();
        for node in 0..self.len() {
            let kind = floor.kind(node);
            let at = stocks.iter().position(|stock| stock.model == kind.model).unwrap_or_else(|| {
                stocks.push(Stock { model: kind.model.clone(), ..Stock::default() });
                stocks.len() - 1
            });
            let stock = &mut stocks[at];
            let now = self.node(node);
            let whole = now.free.iter().filter(|free| **free == WHOLE).count() as u32;
            let full = now.free.iter().filter(|free| **free == 0).count() as u32;
            let free: u64 = now.free.iter().map(|free| u64::from(*free)).sum();
            stock.nodes += 1;
            stock.free += whole;
            stock.full += full;
            stock.partly += now.free.len() as u32 - whole - full;
            stock.free_milli += free;
            let fits = floor.probe.map_or(0, |probe| {
                let enough_cpu = if probe.cpu_milli > 0 { now.cpu_milli.max(0) / probe.cpu_milli } else { i32::MAX };
                let is_allowed = probe.types.allows(usize::from(floor.nodes[node].kind));
                if is_allowed { whole.min(enough_cpu as u32) } else { 0 }
            });
            stock.stranded_milli += free - u64::from(fits) * u64::from(WHOLE);
        }
        stocks.sort_by(|a, b| a.model.cmp(&b.model));
        stocks
    }
}

/// What is left of one model of GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stock {
    /// The model.
    pub model: String,
    /// Nodes that have it.
    pub nodes: u32,
    /// Devices that are wholly free.
    pub free: u32,
    /// Devices of which a part is in use.
    pub partly: u32,
    /// Devices of which nothing is left.
    pub full: u32,
    /// Thousandths of a GPU that are free.
    pub free_milli: u64,
    /// Of these, what [`Floor::probe`]'s pods cannot use, however many of them come: rests of devices, and whole devices
    /// whose node has too little CPU left or is not for them. Meaningless without such a pod.
    pub stranded_milli: u64,
}

impl Stock {
    /// All of them together.
    #[must_use]
    pub fn total(stocks: &[Self]) -> Self {
        stocks.iter().fold(Self::default(), |sum, stock| Self {
            model: String::new(),
            nodes: sum.nodes + stock.nodes,
            free: sum.free + stock.free,
            partly: sum.partly + stock.partly,
            full: sum.full + stock.full,
            free_milli: sum.free_milli + stock.free_milli,
            stranded_milli: sum.stranded_milli + stock.stranded_milli,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floor() -> Floor {
        let kind =
            |model: &str, gpus| FloorKind { title: String::new(), model: model.to_owned(), gpus, cpu_milli: 8000 };
        let node = |name: &str, kind| FloorNode { name: name.to_owned(), kind };
        Floor {
            kinds: vec![kind("T4", 2), kind("A10", 1)],
            nodes: vec![node("a", 0), node("b", 0), node("c", 1)],
            probe: Some(Probe { cpu_milli: 4000, types: TypeMask(0b01) }),
        }
    }

    fn log() -> Log {
        let mut log = Log::default();
        let step = |place, devices, cpu_milli, milli, arrived_pct| {
            let mut words = Vec::new();
            Move { place, devices, cpu_milli, milli, arrived_pct }.write(&mut words);
            words
        };
        log.push(&step(Some(0), 0b01, 5000, 400, 8));
        log.push(&step(Some(1), 0b11, 1000, 1000, 48));
        log.push(&step(None, 0, 9000, 1000, 68));
        log.push(&step(Some(2), 0, 8000, 0, 68));
        log
    }

    #[test]
    fn stocks_are_counted_by_model() {
        let (floor, log) = (floor(), log());
        let mut board = Board::new(&floor);
        // Empty: two pods fit a T4 node by CPU and by GPU; an A10 is not for them.
        let total = Stock::total(&board.stocks(&floor));
        assert_eq!((total.nodes, total.free, total.partly, total.full), (3, 5, 0, 0));
        assert_eq!((total.free_milli, total.stranded_milli), (5000, 1000));
        board.go_to(&log, 4);
        let stocks = board.stocks(&floor);
        assert_eq!(stocks[0].model, "A10");
        assert_eq!((stocks[0].free, stocks[0].stranded_milli), (1, 1000));
        // a: a rest of 600 and a whole device, but 3 cores, where a pod wants 4; b: nothing.
        assert_eq!((stocks[1].free, stocks[1].partly, stocks[1].full), (1, 1, 2));
        assert_eq!((stocks[1].free_milli, stocks[1].stranded_milli), (1600, 1600));
    }

    #[test]
    fn going_back_is_going_there_anew() {
        let (floor, log) = (floor(), log());
        let mut wandering = Board::new(&floor);
        for arrived in [4, 1, 3, 0, 2, 99] {
            wandering.go_to(&log, arrived);
            let mut straight = Board::new(&floor);
            straight.go_to(&log, arrived);
            assert_eq!(wandering.arrived(), straight.arrived());
            assert!((0..3).all(|node| wandering.node(node) == straight.node(node)), "{arrived}");
        }
    }

    #[test]
    fn a_moment_is_after_the_last_arrival_of_its_percent() {
        let log = log();
        assert_eq!([0, 8, 47, 48, 67, 68, 130].map(|percent| log.arrivals_at(percent)), [0, 1, 1, 2, 2, 4, 4]);
        assert_eq!(Log::default().arrivals_at(100), 0);
    }
}
