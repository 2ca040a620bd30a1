//! What a task would cost on every node, at least: cheap enough to know for all of them.
//!
//! The cost of a task is a change of Φ. Of what Φ looks at, the mean, the length and the angle of a leftover follow from
//! sums kept for each node and *one* scalar product with the demand; only exhaustion needs a look at every dimension, and
//! exhaustion never shrinks when a task comes. So
//!
//! ```text
//! |u − a|² = |u|² − 2 u·a + |a|²      mean(u − a) = mean(u) − mean(a)      (u − a)·ŵ = u·ŵ − a·ŵ
//! exhaustion(u − a) ≥ (u − a)_gpu × emptiness(u)
//! ```
//!
//! give a lower bound with a fifth of the work, which compilers turn into vector instructions. Nodes whose bound exceeds
//! the best cost found so far cannot be better; the others, a few, are looked at exactly.
//!
//! Bounds are in single precision. They stay bounds because whatever rounding can do is subtracted: [`SLACK`].

use core::ops::Range;

use crate::cluster::NodeId;
use crate::resources::{DIMS, Dim};
use crate::workload::TypeMask;

/// Nodes of a block: two vectors of most processors, and of WASM.
pub(super) const LANES: usize = 8;

/// Blocks of a chunk, which is passed over at once if none of its bounds is low enough.
const CHUNK: usize = 8;

/// More than the rounding of |u − a|² and of (u − a)·ŵ: these are sums of at most 7 products of numbers up to 1, so of
/// numbers up to 14 in all, rounded to 2⁻²⁴ some twenty times.
const SLACK: f32 = 1e-5;

type Lanes = [f32; LANES];

/// What is kept of a node's leftover u, normalised.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub left: [f64; DIMS],
    /// |u|²
    pub squares: f64,
    /// u·ŵ
    pub along: f64,
    pub mean: f64,
    /// Sum of the squares of what is missing to τ.
    pub empty: f64,
    /// What is subtracted from Φ after: Φ before, or nothing.
    pub before: f64,
}

/// What a task asks, relative to a node of one type.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub asked: [f64; DIMS],
    /// a·ŵ
    pub along: f64,
    pub mean: f64,
}

/// Weights of the terms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factors {
    pub imbalance: f64,
    pub alignment: f64,
    pub exhaustion: f64,
    pub tightness: f64,
    /// 1 ÷ number of dimensions seen.
    pub per_dim: f64,
    /// Sum of all weights.
    pub total: f64,
}

/// [`Row`]s side by side.
#[derive(Clone, Debug)]
struct Block {
    left: [Lanes; DIMS],
    squares: Lanes,
    along: Lanes,
    mean: Lanes,
    empty: Lanes,
    before: Lanes,
}

impl Block {
    /// No nodes: nothing fits where less than nothing is left.
    const EMPTY: Self = {
        let mut left = [[0.0; LANES]; DIMS];
        left[Dim::Gpu.index()] = [f32::NEG_INFINITY; LANES];
        let none = [0.0; LANES];
        Self { left, squares: none, along: none, mean: none, empty: none, before: none }
    };
}

/// Lower bounds of all nodes, and what they are made from.
#[derive(Clone, Debug, Default)]
pub(super) struct Bounds {
    /// Nodes of one type stand together, in rising order.
    blocks: Vec<Block>,
    /// Place of each node among the lanes of the blocks.
    place: Vec<usize>,
    /// Node of each place; none in the last places of a type.
    node: Vec<Option<NodeId>>,
    /// Blocks of each chunk, and the type of their nodes.
    chunks: Vec<(Range<usize>, usize)>,
    /// The bounds of the last task.
    lowest: Vec<Lanes>,
    /// Least bound of each chunk not taken yet.
    least: Vec<f32>,
}

impl Bounds {
    /// For nodes of these types.
    pub fn new(types: &[u8], kinds: usize) -> Self {
        let mut bounds = Self { place: vec![0; types.len()], ..Self::default() };
        for kind in 0..kinds {
            let first = bounds.blocks.len();
            for (index, _) in types.iter().enumerate().filter(|(_, of)| usize::from(**of) == kind) {
                if bounds.node.len() == bounds.blocks.len() * LANES {
                    bounds.blocks.push(Block::EMPTY);
                }
                bounds.place[index] = bounds.node.len();
                bounds.node.push(Some(NodeId(index as u32)));
            }
            bounds.node.resize(bounds.blocks.len() * LANES, None);
            let blocks = first..bounds.blocks.len();
            let chunks = blocks.clone().step_by(CHUNK);
            bounds.chunks.extend(chunks.map(|from| (from..(from + CHUNK).min(blocks.end), kind)));
        }
        bounds.lowest = vec![[f32::INFINITY; LANES]; bounds.blocks.len()];
        bounds.least = vec![f32::INFINITY; bounds.chunks.len()];
        bounds
    }

    pub fn set(&mut self, node: NodeId, row: &Row) {
        let place = self.place[node.index()];
        let (block, lane) = (&mut self.blocks[place / LANES], place % LANES);
        for (column, left) in block.left.iter_mut().zip(row.left) {
            column[lane] = left as f32;
        }
        block.squares[lane] = row.squares as f32;
        block.along[lane] = row.along as f32;
        block.mean[lane] = row.mean as f32;
        block.empty[lane] = row.empty as f32;
        block.before[lane] = row.before as f32;
    }

    /// Computes the bound of every node whose type is allowed, for `offers` by type.
    pub fn compute(&mut self, offers: &[Offer], types: TypeMask, factors: &Factors) {
        for ((chunk, kind), least) in self.chunks.iter().zip(&mut self.least) {
            *least = if types.allows(*kind) {
                let constants = Constants::new(&offers[*kind], factors);
                constants.bound(&self.blocks[chunk.clone()], &mut self.lowest[chunk.clone()])
            } else {
                f32::INFINITY
            };
        }
    }

    /// Takes the chunk with the least bound, unless that is above `limit`: its places.
    pub fn take(&mut self, limit: f64) -> Option<Range<usize>> {
        let (mut first, mut least) = (0, f32::INFINITY);
        for (chunk, bound) in self.least.iter().enumerate() {
            if *bound < least {
                (first, least) = (chunk, *bound);
            }
        }
        if least.is_infinite() || f64::from(least) > limit {
            return None;
        }
        self.least[first] = f32::INFINITY;
        let blocks = &self.chunks[first].0;
        Some(blocks.start * LANES..blocks.end * LANES)
    }

    /// The node at this place, if it can cost no more than `limit`.
    pub fn within(&self, place: usize, limit: f64) -> Option<NodeId> {
        let bound = self.lowest[place / LANES][place % LANES];
        if f64::from(bound) <= limit { self.node[place] } else { None }
    }
}

/// What does not differ among nodes of a type, in single precision.
struct Constants {
    /// −2 a
    twice: Lanes,
    squares: f32,
    along: f32,
    mean: f32,
    gpu: f32,
    imbalance: f32,
    alignment: f32,
    exhaustion: f32,
    tightness: f32,
    per_dim: f32,
    margin: f32,
}

impl Constants {
    fn new(offer: &Offer, factors: &Factors) -> Self {
        let mut twice = [0.0; LANES];
        for (twice, asked) in twice.iter_mut().zip(offer.asked) {
            *twice = (-2.0 * asked) as f32;
        }
        Self {
            twice,
            squares: offer.asked.iter().map(|asked| asked * asked).sum::<f64>() as f32,
            along: offer.along as f32 - SLACK,
            mean: offer.mean as f32,
            gpu: offer.asked[Dim::Gpu.index()] as f32,
            imbalance: factors.imbalance as f32,
            alignment: factors.alignment as f32,
            exhaustion: (factors.exhaustion * factors.per_dim) as f32,
            tightness: factors.tightness as f32,
            per_dim: factors.per_dim as f32,
            margin: factors.total as f32 * 2.0 * SLACK,
        }
    }

    /// Bounds of some blocks; returns the least.
    fn bound(&self, blocks: &[Block], lowest: &mut [Lanes]) -> f32 {
        let mut least = [f32::INFINITY; LANES];
        for (block, lowest) in blocks.iter().zip(lowest) {
            let mut squares = [self.squares; LANES];
            for (column, twice) in block.left.iter().zip(self.twice) {
                for lane in 0..LANES {
                    squares[lane] += column[lane] * twice;
                }
            }
            let gpus = &block.left[Dim::Gpu.index()];
            for lane in 0..LANES {
                let squares = squares[lane] + block.squares[lane];
                let mean = block.mean[lane] - self.mean;
                let gpu = gpus[lane] - self.gpu;
                let variance = squares * self.per_dim - mean * mean;
                let length = sqrt(at_least(squares - SLACK, 1e-12));
                let cosine = at_most((block.along[lane] - self.along) / length, 1.0);
                let bound = self.imbalance * variance
                    + self.alignment * mean * (1.0 - cosine)
                    + self.exhaustion * gpu * block.empty[lane]
                    + self.tightness * mean
                    - block.before[lane]
                    - self.margin;
                // Without the GPUs it asks for, it does not fit.
                lowest[lane] = if gpu < -SLACK { f32::INFINITY } else { bound };
                least[lane] = at_most(lowest[lane], least[lane]);
            }
        }
        least.into_iter().fold(f32::INFINITY, at_most)
    }
}

/// IEEE 754 demands the nearest number, so this is the same everywhere.
fn sqrt(value: f32) -> f32 {
    value.sqrt()
}

// `f32::min` and `max` care for NaN, which costs; there are none.
fn at_most(value: f32, limit: f32) -> f32 {
    if value < limit { value } else { limit }
}

fn at_least(value: f32, limit: f32) -> f32 {
    if value > limit { value } else { limit }
}
