//! Named random streams: one independent generator a purpose, so that changing one thing leaves all else alone.
//!
//! The generator is xoshiro256++ (value-stable by definition), seeded by SplitMix64 from (seed, purpose, position).
//! Distributions go through `libm`, because the platform's own `ln`, `exp` and `cos` may differ in the last bit
//! between native and WASM.

use rand::Rng;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// What a stream of random numbers is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Gaps between arrivals of a class; position: class.
    Arrivals = 1,
    /// Size and demand of a job; position: class and number of the job within it.
    Attributes = 2,
    /// The on/off process of bursts.
    Bursts = 3,
    /// Rebuilds of a node; position: node.
    Rebuilds = 4,
    /// Errors of telemetry readings; position: node and number of the reading.
    Telemetry = 5,
    /// The scheduler's own draws.
    Scheduler = 6,
    /// Draws among equals, where ties are broken at random.
    Ties = 7,
    /// Order of arrivals in a replay; position: 0 the shuffle, 1 what is added or left out, 2 the order of nodes.
    Order = 8,
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

/// SplitMix64's output function: a bijection of 64 bits that scatters neighbours.
#[must_use]
pub const fn scatter(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// An even draw among things that are looked at one by one, in whatever order: each has a random rank, and the lowest
/// wins.
#[derive(Clone, Debug)]
pub struct Lots {
    stream: Stream,
    salt: u64,
}

impl Lots {
    /// Nothing is drawn from `stream` before the first [`shuffle`](Self::shuffle).
    #[must_use]
    pub const fn new(stream: Stream) -> Self {
        Self { stream, salt: 0 }
    }

    /// Gives everything a fresh rank.
    pub fn shuffle(&mut self) {
        self.salt = self.stream.bits();
    }

    /// The rank of the thing at `position`, a whole number below 2⁵³.
    #[must_use]
    pub fn rank(&self, position: u64) -> f64 {
        (scatter(self.salt ^ position) >> 11) as f64
    }

    /// The stream, for other draws in between.
    pub fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }
}

impl Stream {
    /// The stream of `seed` for `purpose` at `position` (and `second` position, where there are two).
    #[must_use]
    pub fn new(seed: u64, purpose: Purpose, position: u64, second: u64) -> Self {
        let key = scatter(scatter(scatter(seed) ^ purpose as u64) ^ position);
        Self(Xoshiro256PlusPlus::seed_from_u64(scatter(key ^ second)))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Even on `[0, 1)`, a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Even on `[low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Even on `0 .. count`; `count` is at least 1 and below 2³².
    pub fn below(&mut self, count: usize) -> usize {
        // The bias of the multiply-shift is below count / 2⁶⁴.
        ((u128::from(self.bits()) * count as u128) >> 64) as usize
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }

    /// Standard normal (Box–Muller, one of the pair).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.unit())).sqrt();
        radius * libm::cos(core::f64::consts::TAU * self.unit())
    }

    /// Log-normal with mean 1 and standard deviation `sigma` of the logarithm.
    pub fn lognormal(&mut self, sigma: f64) -> f64 {
        libm::exp(sigma * self.normal() - sigma * sigma / 2.0)
    }
}
