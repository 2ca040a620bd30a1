//! The seven dimensions of a node, and vectors and masks over them.

use core::fmt;
use core::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

/// Number of resource dimensions.
pub const DIMS: usize = 7;

/// A resource dimension, in the fixed order of every vector.
///
/// The first five are *hard*: they are owned, and never oversubscribed. Storage bandwidth and I/O CPU are *soft*:
/// they are shared, and when too much is asked of them the jobs on the node slow down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Dim {
    /// CPU, in thousandths of a core.
    Cpu,
    /// Memory, in MiB.
    Ram,
    /// Streaming multiprocessors, in thousandths of a whole GPU.
    Gpu,
    /// GPU memory, in MiB.
    Hbm,
    /// Network, in Mbit/s.
    Net,
    /// Storage bandwidth, in MB/s.
    Sto,
    /// CPU reserved for I/O (NVMe, RAID, loader threads), in thousandths of a core.
    Ioc,
}

impl Dim {
    /// All seven, in order.
    pub const ALL: [Self; DIMS] = [Self::Cpu, Self::Ram, Self::Gpu, Self::Hbm, Self::Net, Self::Sto, Self::Ioc];

    /// Position in every vector.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Whether jobs share it rather than own it.
    #[must_use]
    pub const fn is_soft(self) -> bool {
        matches!(self, Self::Sto | Self::Ioc)
    }

    /// The name used in files, options and output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Ram => "ram",
            Self::Gpu => "gpu",
            Self::Hbm => "hbm",
            Self::Net => "net",
            Self::Sto => "sto",
            Self::Ioc => "ioc",
        }
    }

    /// The dimension of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dim| dim.name() == name)
    }

    /// The unit in which files and people give it.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Cpu | Self::Ioc => "cores",
            Self::Ram | Self::Hbm => "GiB",
            Self::Gpu => "GPUs",
            Self::Net => "Gbit/s",
            Self::Sto => "GB/s",
        }
    }

    /// How many of the stored whole units make one [`unit`](Self::unit).
    #[must_use]
    pub const fn per_unit(self) -> i32 {
        match self {
            Self::Ram | Self::Hbm => 1024,
            _ => 1000,
        }
    }

    /// The stored amount nearest to `value` in [`unit`](Self::unit)s.
    #[must_use]
    pub fn amount(self, value: f64) -> i32 {
        libm::round(value * f64::from(self.per_unit())) as i32
    }

    /// A stored amount in [`unit`](Self::unit)s.
    #[must_use]
    pub fn value(self, amount: i32) -> f64 {
        f64::from(amount) / f64::from(self.per_unit())
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One whole number a dimension: a capacity, a demand, what is used or what is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Amounts(pub [i32; DIMS]);

impl Amounts {
    /// Nothing of anything.
    pub const ZERO: Self = Self([0; DIMS]);

    /// From values in the units people use ([`Dim::unit`]), in the order of [`Dim::ALL`].
    #[must_use]
    pub fn from_values(values: [f64; DIMS]) -> Self {
        Self(core::array::from_fn(|m| Dim::ALL[m].amount(values[m])))
    }

    /// `f` of each dimension's amount.
    #[must_use]
    pub fn map(self, mut f: impl FnMut(Dim, i32) -> i32) -> Self {
        Self(core::array::from_fn(|m| f(Dim::ALL[m], self.0[m])))
    }

    /// Whether it is at most `other` in every dimension of `mask`.
    #[must_use]
    pub fn fits_in(&self, other: &Self, mask: DimMask) -> bool {
        mask.iter().all(|dim| self[dim] <= other[dim])
    }
}

impl Index<Dim> for Amounts {
    type Output = i32;
    fn index(&self, dim: Dim) -> &i32 {
        &self.0[dim.index()]
    }
}

impl IndexMut<Dim> for Amounts {
    fn index_mut(&mut self, dim: Dim) -> &mut i32 {
        &mut self.0[dim.index()]
    }
}

/// A set of dimensions: what a scheduler sees, or what a node has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DimMask(u8);

impl DimMask {
    /// The five hard dimensions.
    pub const FIVE: Self = Self(0b001_1111);
    /// All seven.
    pub const SEVEN: Self = Self(0b111_1111);
    /// None.
    pub const EMPTY: Self = Self(0);

    /// The set of `dims`.
    #[must_use]
    pub fn of(dims: &[Dim]) -> Self {
        Self(dims.iter().fold(0, |bits, dim| bits | 1 << dim.index()))
    }

    /// Whether `dim` is in it.
    #[must_use]
    pub const fn has(self, dim: Dim) -> bool {
        self.0 >> dim.index() & 1 == 1
    }

    /// How many there are.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// All of it but `dim`.
    #[must_use]
    pub const fn without(self, dim: Dim) -> Self {
        Self(self.0 & !(1 << dim.index()))
    }

    /// Those in both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those in either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Its dimensions, in order.
    pub fn iter(self) -> impl Iterator<Item = Dim> {
        Dim::ALL.into_iter().filter(move |dim| self.has(*dim))
    }
}

impl fmt::Display for DimMask {
    /// `cpu,ram,gpu`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for dim in self.iter() {
            write!(f, "{separator}{dim}")?;
            separator = ",";
        }
        Ok(())
    }
}

impl fmt::Debug for DimMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}
