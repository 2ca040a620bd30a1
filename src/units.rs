//! Time and progress in whole numbers.
//!
//! What is owned or elapsed is counted in integers, so that sums are exact and native and WASM agree to the bit:
//! time in milliseconds, GPUs in thousandths, a job's rate in millionths of full speed.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// Milliseconds in an hour.
pub const MS_PER_HOUR: u64 = 3_600_000;

/// A moment of simulated time: milliseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SimTime(pub u64);

/// A length of simulated time in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(pub u64);

impl SimTime {
    /// The start of a run.
    pub const ZERO: Self = Self(0);
    /// Later than any event.
    pub const NEVER: Self = Self(u64::MAX);

    /// Milliseconds since the start.
    #[must_use]
    pub const fn as_ms(self) -> u64 {
        self.0
    }

    /// Hours since the start.
    #[must_use]
    pub fn as_hours(self) -> f64 {
        self.0 as f64 / MS_PER_HOUR as f64
    }

    /// The time from `earlier` to this moment; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A span of whole seconds.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds * 1000)
    }

    /// The nearest whole millisecond to `seconds`; negative and NaN become zero.
    #[must_use]
    pub fn from_secs_f64(seconds: f64) -> Self {
        // `as` saturates and maps NaN to zero.
        Self(libm::round(seconds * 1000.0) as u64)
    }

    /// The nearest whole millisecond to `hours`.
    #[must_use]
    pub fn from_hours_f64(hours: f64) -> Self {
        Self::from_secs_f64(hours * 3600.0)
    }

    /// Milliseconds.
    #[must_use]
    pub const fn as_ms(self) -> u64 {
        self.0
    }

    /// Seconds.
    #[must_use]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    /// Hours.
    #[must_use]
    pub fn as_hours(self) -> f64 {
        self.0 as f64 / MS_PER_HOUR as f64
    }
}

impl Add<Span> for SimTime {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for SimTime {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub for SimTime {
    type Output = Span;
    fn sub(self, earlier: Self) -> Span {
        self.since(earlier)
    }
}

impl fmt::Display for SimTime {
    /// `12:04:30` – hours may exceed 24.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1000;
        write!(f, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SimTime(self.0).fmt(f)
    }
}

/// How fast a job advances: millionths of full speed, `1 ..= 1_000_000`.
///
/// The floor of one millionth keeps a starved job's next event at a finite time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rate(u32);

impl Rate {
    /// Full speed.
    pub const FULL: Self = Self(Self::SCALE);
    /// Parts that make up full speed.
    pub const SCALE: u32 = 1_000_000;

    /// Rounds a share of full speed down to whole millionths and holds it inside `1 ..= 1_000_000`.
    #[must_use]
    pub fn from_share(share: f64) -> Self {
        Self(((share * f64::from(Self::SCALE)) as u32).clamp(1, Self::SCALE))
    }

    /// Millionths of full speed.
    #[must_use]
    pub const fn ppm(self) -> u32 {
        self.0
    }

    /// Share of full speed, above 0 and at most 1.
    #[must_use]
    pub fn as_share(self) -> f64 {
        f64::from(self.0) / f64::from(Self::SCALE)
    }
}

/// An amount of work, done or to do: milliseconds at full speed × 1,000,000.
///
/// A job at rate *r* millionths does exactly *r* of these a millisecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Work(pub u64);

impl Work {
    /// What full speed does in `span`.
    #[must_use]
    pub const fn of(span: Span) -> Self {
        Self(span.0 * Rate::SCALE as u64)
    }

    /// What `rate` does in `span`.
    #[must_use]
    pub const fn done(rate: Rate, span: Span) -> Self {
        Self(rate.0 as u64 * span.0)
    }

    /// Whole milliseconds until this much is done at `rate`, rounded up.
    #[must_use]
    pub const fn time_at(self, rate: Rate) -> Span {
        Span(self.0.div_ceil(rate.0 as u64))
    }
}
