//! The nodes of one type, those with most free GPUs first, so that a task looks only at the first so many.
//!
//! Nodes that nobody uses stand before all others. They are alike, so one of them speaks for all.

use core::ops::Range;
use std::collections::BTreeSet;

use crate::cluster::NodeId;
use crate::resources::{DIMS, Dim};
use crate::schedulers::ragp::bounds::Row;

/// Nodes of a block: two vectors of most processors, and of WASM.
pub(super) const LANES: usize = 8;

/// One number of each node of a block.
pub(super) type Lanes = [f32; LANES];

/// GPU thousandths to a level: tasks ask for halves.
const STEP: i32 = 500;

/// Levels of free GPUs: up to eight, and all that are more.
const FREE: usize = 17;

/// The level of nodes that nobody uses.
const UNUSED: usize = FREE;

/// Numbers of a [`Row`].
const COLUMNS: usize = DIMS + 3;

/// [`Row`]s side by side, in single precision.
#[derive(Clone, Debug)]
pub(super) struct Block([Lanes; COLUMNS]);

impl Block {
    /// No nodes: nothing fits where less than nothing is left.
    const EMPTY: Self = {
        let mut columns = [[0.0; LANES]; COLUMNS];
        columns[Dim::Gpu.index()] = [f32::NEG_INFINITY; LANES];
        Self(columns)
    };

    /// What is left, by dimension.
    pub fn left(&self) -> &[Lanes] {
        &self.0[..DIMS]
    }

    pub fn gpu(&self) -> &Lanes {
        &self.0[Dim::Gpu.index()]
    }

    pub fn along(&self) -> &Lanes {
        &self.0[DIMS]
    }

    pub fn mean(&self) -> &Lanes {
        &self.0[DIMS + 1]
    }

    pub fn before(&self) -> &Lanes {
        &self.0[DIMS + 2]
    }

    fn set(&mut self, lane: usize, row: &Row) {
        let numbers = row.left.into_iter().chain([row.along, row.mean, row.before]);
        for (column, number) in self.0.iter_mut().zip(numbers) {
            column[lane] = number as f32;
        }
    }
}

/// The nodes of one type.
#[derive(Clone, Debug)]
pub(super) struct Shelf {
    blocks: Vec<Block>,
    nodes: Vec<NodeId>,
    /// Level *n* stands at the places from `ends[n + 1]` to `ends[n]`.
    ends: [usize; UNUSED + 2],
    unused: BTreeSet<NodeId>,
}

impl Shelf {
    /// Of these nodes, in rising order; none is known to be unused yet.
    pub fn new(nodes: Vec<NodeId>) -> Self {
        let mut ends = [0; UNUSED + 2];
        ends[0] = nodes.len();
        Self { blocks: vec![Block::EMPTY; nodes.len().div_ceil(LANES)], nodes, ends, unused: BTreeSet::new() }
    }

    /// The level of a node with so much free GPU.
    fn level(free_milli: i32) -> usize {
        ((free_milli / STEP).max(0) as usize).min(FREE - 1)
    }

    /// The nodes that stand at `place` or are like it, in rising order: all unused ones are alike.
    pub fn nodes(&self, place: usize) -> impl Iterator<Item = NodeId> {
        let is_unused = place < self.ends[UNUSED];
        let alike = is_unused.then(|| self.unused.iter().copied()).into_iter().flatten();
        alike.chain((!is_unused).then(|| self.nodes[place]))
    }

    pub fn blocks(&self, range: Range<usize>) -> &[Block] {
        &self.blocks[range]
    }

    /// Places of nodes with at least so much free GPU, and some with less; one for all that are unused.
    pub fn places(&self, free_milli: i32) -> Range<usize> {
        self.ends[UNUSED].saturating_sub(1)..self.ends[Self::level(free_milli)]
    }

    /// Notes what is left of the node at `place`; `places` are those of all nodes.
    pub fn set(&mut self, node: NodeId, free_milli: i32, is_unused: bool, row: &Row, places: &mut [usize]) {
        let mut place = places[node.index()];
        let level = if is_unused { UNUSED } else { Self::level(free_milli) };
        // The last level that does not end before it.
        let mut now = self.ends.iter().rposition(|end| *end > place).unwrap_or(0);
        if (now == UNUSED) != is_unused {
            if is_unused {
                self.unused.insert(node)
            } else {
                self.unused.remove(&node)
            };
        }
        while now > level {
            // Last of its level, then first of the next lower one.
            let last = self.ends[now] - 1;
            self.swap(place, last, places);
            self.ends[now] = last;
            place = last;
            now -= 1;
        }
        while now < level {
            let first = self.ends[now + 1];
            self.swap(place, first, places);
            self.ends[now + 1] = first + 1;
            place = first;
            now += 1;
        }
        self.blocks[place / LANES].set(place % LANES, row);
    }

    fn swap(&mut self, a: usize, b: usize, places: &mut [usize]) {
        if a == b {
            return;
        }
        for column in 0..COLUMNS {
            let of_a = self.blocks[a / LANES].0[column][a % LANES];
            let of_b = core::mem::replace(&mut self.blocks[b / LANES].0[column][b % LANES], of_a);
            self.blocks[a / LANES].0[column][a % LANES] = of_b;
        }
        self.nodes.swap(a, b);
        places[self.nodes[a].index()] = a;
        places[self.nodes[b].index()] = b;
    }
}
