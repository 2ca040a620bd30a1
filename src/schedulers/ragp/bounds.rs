//! What a task would cost on every node, at least: cheap enough to know for all of them.
//!
//! The cost is computed in single precision for eight nodes at a time, which compilers turn into vector instructions, and
//! whatever rounding can do is subtracted ([`Factors::margin`]). That makes it a lower bound: nodes whose bound exceeds the
//! best cost found so far cannot be better. The others, one or two, are looked at exactly.

use core::ops::Range;

use wide::f32x8;

use crate::resources::{DIMS, Dim};
use crate::schedulers::ragp::shelf::{LANES, Lanes, Shelf};

/// Places of a chunk, which is passed over at once if none of its bounds is low enough.
const CHUNK: usize = 8 * LANES;

/// More than what rounding does to the difference of two shares of capacity, each rounded to 2⁻²⁴.
const SLACK: f32 = 1e-6;

/// What is kept of a node's leftover u, normalised.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub left: [f64; DIMS],
    /// u·ŵ
    pub along: f64,
    pub mean: f64,
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
    /// Sum of all weights, also of terms that bounds leave out.
    pub total: f64,
    /// 1 ÷ τ.
    pub per_tau: f64,
    /// 1 for a dimension that is seen, else 0.
    pub is_seen: [f64; DIMS],
}

impl Factors {
    /// More than the rounding of a cost in single precision, and of the limit that it is compared with. What is left is a
    /// difference of shares, so known to 2·10⁻⁷. Means, angles and variances of seven of them are known to 3·10⁻⁶, what is
    /// missing to τ to 2·10⁻⁷ ÷ τ and its square to twice that.
    fn margin(&self) -> f64 {
        self.total * (1e-5 + 1e-6 * self.per_tau)
    }
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

    /// The bound at this position.
    #[cfg(test)]
    pub fn of(&self, position: usize) -> f64 {
        f64::from(self.lowest[position / LANES][position % LANES])
    }

    /// The chunk with the least bound.
    pub fn lowest_chunk(&self) -> Option<usize> {
        let least = |chunk: &usize| self.chunks[*chunk].least;
        (0..self.chunks.len()).reduce(|best, chunk| if least(&chunk) < least(&best) { chunk } else { best })
    }

    /// Tells `visit` each shelf and place of a chunk that may cost no more than `limit`; the limit becomes what it returns.
    pub fn visit(&mut self, chunk: usize, limit: f64, mut visit: impl FnMut(usize, usize) -> f64) {
        // Rounded to single precision, which the margin of bounds allows for.
        let mut limit = limit as f32;
        let Chunk { shelf, places, first, least } = &mut self.chunks[chunk];
        if *least > limit {
            return;
        }
        *least = f32::INFINITY;
        let skipped = places.start % LANES;
        for block in 0..(skipped + places.len()).div_ceil(LANES) {
            let lowest = &self.lowest[*first / LANES + block];
            if lowest.iter().all(|bound| *bound > limit) {
                continue;
            }
            for (lane, bound) in lowest.iter().enumerate() {
                let place = places.start - skipped + block * LANES + lane;
                if *bound <= limit && places.contains(&place) {
                    limit = visit(*shelf, place) as f32;
                }
            }
        }
    }
}

/// What does not differ among nodes of a type, in single precision.
struct Constants {
    asked: [f32; DIMS],
    is_seen: [f32; DIMS],
    along: f32,
    mean: f32,
    imbalance: f32,
    alignment: f32,
    exhaustion: f32,
    tightness: f32,
    per_dim: f32,
    per_tau: f32,
    margin: f32,
}

impl Constants {
    fn new(offer: &Offer, factors: &Factors) -> Self {
        Self {
            asked: offer.asked.map(|asked| asked as f32),
            is_seen: factors.is_seen.map(|is_seen| is_seen as f32),
            along: offer.along as f32,
            mean: offer.mean as f32,
            imbalance: factors.imbalance as f32,
            alignment: factors.alignment as f32,
            exhaustion: (factors.exhaustion * factors.per_dim) as f32,
            tightness: factors.tightness as f32,
            per_dim: factors.per_dim as f32,
            per_tau: factors.per_tau as f32,
            margin: factors.margin() as f32,
        }
    }

    /// Bounds of some blocks; returns the least.
    fn bound(&self, shelf: &Shelf, blocks: Range<usize>, lowest: &mut [Lanes]) -> f32 {
        let of = f32x8::splat;
        let (none, all) = (of(0.0), of(1.0));
        let mut least = of(f32::INFINITY);
        for (block, lowest) in shelf.blocks(blocks).iter().zip(lowest) {
            let (mut squares, mut empty, mut room) = (none, none, none);
            for ((left, asked), is_seen) in block.left().iter().zip(self.asked).zip(self.is_seen) {
                let left = f32x8::new(*left) - of(asked);
                room = room.fast_min(left);
                squares += left * left;
                let missing = (of(is_seen) - left * of(self.per_tau)).fast_max(none);
                empty += missing * missing;
            }
            let mean = f32x8::new(*block.mean()) - of(self.mean);
            let gpu = f32x8::new(*block.gpu()) - of(self.asked[Dim::Gpu.index()]);
            let variance = squares * of(self.per_dim) - mean * mean;
            // Next to nothing may point anywhere.
            let length = squares.fast_max(of(1e-30)).sqrt();
            let along = f32x8::new(*block.along()) - of(self.along);
            let cosine = (along / length).fast_min(all).fast_max(none);
            let bound = of(self.imbalance) * variance
                + of(self.alignment) * mean * (all - cosine)
                + of(self.exhaustion) * gpu * empty
                + of(self.tightness) * mean
                - f32x8::new(*block.before())
                - of(self.margin);
            // In some dimension too little is left: it does not fit.
            let bound = room.simd_lt(of(-SLACK)).bitselect(of(f32::INFINITY), bound);
            least = least.fast_min(bound);
            *lowest = bound.to_array();
        }
        least.to_array().into_iter().fold(f32::INFINITY, f32::min)
    }
}
