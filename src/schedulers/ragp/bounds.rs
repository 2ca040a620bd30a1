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
use crate::schedulers::ragp::shelf::{LANES, Lanes, Shelf};

/// Places of a chunk, which is passed over at once if none of its bounds is low enough.
const CHUNK: usize = 8 * LANES;

/// More than the rounding of |u − a|² and of (u − a)·ŵ in single precision: sums of at most 7 products of numbers up to 1
/// and twice that, rounded to 2⁻²⁴ of their size some twenty times, make 7·10⁻⁶ at most.
const SLACK: f32 = 1e-5;

/// What is kept of a node's leftover u, normalised.
#[derive(Clone, Debug, Default)]
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

/// The bounds of one task.
#[derive(Clone, Debug, Default)]
pub(super) struct Bounds {
    lowest: Vec<Lanes>,
    chunks: Vec<Chunk>,
}

#[derive(Clone, Debug)]
struct Chunk {
    shelf: usize,
    /// Places on the shelf.
    places: Range<usize>,
    /// Where their bounds begin.
    first: usize,
    least: f32,
}

impl Bounds {
    pub fn clear(&mut self) {
        self.lowest.clear();
        self.chunks.clear();
    }

    /// Adds the bounds of some places of a shelf.
    pub fn add(&mut self, at: usize, shelf: &Shelf, places: Range<usize>, offer: &Offer, factors: &Factors) {
        let constants = Constants::new(offer, factors);
        let blocks = places.start / LANES..places.end.div_ceil(LANES);
        for from in blocks.clone().step_by(CHUNK / LANES) {
            let chunk = from..(from + CHUNK / LANES).min(blocks.end);
            let first = self.lowest.len();
            self.lowest.resize(first + chunk.len(), [0.0; LANES]);
            let least = constants.bound(shelf, chunk.clone(), &mut self.lowest[first..]);
            let places = (chunk.start * LANES).max(places.start)..(chunk.end * LANES).min(places.end);
            self.chunks.push(Chunk { shelf: at, places, first: first * LANES, least });
        }
    }

    /// Number of chunks.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// The chunk with the least bound.
    pub fn lowest_chunk(&self) -> Option<usize> {
        let least = |chunk: &usize| self.chunks[*chunk].least;
        (0..self.chunks.len()).reduce(|best, chunk| if least(&chunk) < least(&best) { chunk } else { best })
    }

    /// Tells `visit` each node of a chunk that may cost no more than `limit`; the limit becomes what it returns.
    pub fn visit(&mut self, chunk: usize, shelves: &[Shelf], limit: f64, mut visit: impl FnMut(NodeId) -> f64) {
        // Rounded to single precision, which the margin of bounds allows for.
        let mut limit = limit as f32;
        let Chunk { shelf, places, first, least } = &mut self.chunks[chunk];
        if *least > limit {
            return;
        }
        *least = f32::INFINITY;
        let (shelf, skipped) = (&shelves[*shelf], places.start % LANES);
        for block in 0..(skipped + places.len()).div_ceil(LANES) {
            let lowest = &self.lowest[*first / LANES + block];
            if lowest.iter().all(|bound| *bound > limit) {
                continue;
            }
            for (lane, bound) in lowest.iter().enumerate() {
                let place = places.start - skipped + block * LANES + lane;
                if *bound <= limit && places.contains(&place) {
                    limit = visit(shelf.node(place)) as f32;
                }
            }
        }
    }
}

/// What does not differ among nodes of a type, in single precision.
struct Constants {
    /// −2 a
    twice: [f32; DIMS],
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
        Self {
            twice: offer.asked.map(|asked| (-2.0 * asked) as f32),
            squares: offer.asked.iter().map(|asked| asked * asked).sum::<f64>() as f32,
            along: offer.along as f32 - SLACK,
            mean: offer.mean as f32,
            gpu: offer.asked[Dim::Gpu.index()] as f32,
            imbalance: factors.imbalance as f32,
            alignment: factors.alignment as f32,
            exhaustion: (factors.exhaustion * factors.per_dim) as f32,
            tightness: factors.tightness as f32,
            per_dim: factors.per_dim as f32,
            margin: 2.0 * SLACK * factors.total as f32,
        }
    }

    /// Bounds of some blocks; returns the least.
    fn bound(&self, shelf: &Shelf, blocks: Range<usize>, lowest: &mut [Lanes]) -> f32 {
        let mut least = [f32::INFINITY; LANES];
        for (block, lowest) in shelf.blocks(blocks).iter().zip(lowest) {
            let mut squares = [self.squares; LANES];
            for (column, twice) in block.left().iter().zip(self.twice) {
                for lane in 0..LANES {
                    squares[lane] += column[lane] * twice;
                }
            }
            let (before, empty) = (block.before(), block.empty());
            let (length2, along, means, gpus) = (block.squares(), block.along(), block.mean(), block.gpu());
            for lane in 0..LANES {
                let squares = squares[lane] + length2[lane];
                let mean = means[lane] - self.mean;
                let gpu = gpus[lane] - self.gpu;
                let variance = squares * self.per_dim - mean * mean;
                let length = sqrt(at_least(squares - SLACK, 1e-12));
                let cosine = at_most((along[lane] - self.along) / length, 1.0);
                let bound = self.imbalance * variance
                    + self.alignment * mean * (1.0 - cosine)
                    + self.exhaustion * gpu * empty[lane]
                    + self.tightness * mean
                    - before[lane]
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
