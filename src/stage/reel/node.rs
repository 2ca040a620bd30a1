//! One node in a frame: what is left of it and how it is, in five words.

use serde::{Deserialize, Serialize};

use crate::resources::{DIMS, Dim, DimMask};

/// Words of one node in a frame.
pub const NODE_WORDS: usize = 5;

/// The state of a node, told apart by its glyph. If several hold, the last in this order is shown, except that
/// packed is only shown when nothing else is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum NodeState {
    /// Nothing to remark.
    Healthy,
    /// All axes below [`PACKED_BELOW`]: full, and that is good.
    Packed,
    /// One axis below [`PINCHED_BELOW`] while another is above [`PINCHED_ABOVE`].
    Pinched,
    /// Resident jobs will grow and take at least [`BREATHING_LOSS`] of an axis.
    Breathing,
    /// Its storage is rebuilding.
    Degraded,
    /// Its jobs are starved of at least [`STALLED_FROM`] of their GPU time.
    Stalled,
    /// GPUs are free and jobs that need GPUs wait, and not a task of them fits.
    Blocked,
    /// Switched off: no capacity at all.
    Offline,
}

/// All axes below this residual: packed.
pub const PACKED_BELOW: f64 = 0.15;
/// One axis below this residual and another above [`PINCHED_ABOVE`]: pinched.
pub const PINCHED_BELOW: f64 = 0.10;
/// See [`PINCHED_BELOW`].
pub const PINCHED_ABOVE: f64 = 0.25;
/// Growth that takes at least this share of nominal: breathing. Less cannot be told from noise in a small glyph.
pub const BREATHING_LOSS: f64 = 0.10;
/// Stall from this share on: stalled. A smaller piece of pie is under 1.5 px wide in a glyph of 24 px.
pub const STALLED_FROM: f64 = 0.05;

impl NodeState {
    /// All, in the order in which legends list them.
    pub const ALL: [Self; 8] = [
        Self::Healthy,
        Self::Pinched,
        Self::Degraded,
        Self::Stalled,
        Self::Breathing,
        Self::Blocked,
        Self::Packed,
        Self::Offline,
    ];

    /// The name in files and in keys of texts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Packed => "packed",
            Self::Pinched => "pinched",
            Self::Breathing => "breathing",
            Self::Degraded => "degraded",
            Self::Stalled => "stalled",
            Self::Blocked => "blocked",
            Self::Offline => "offline",
        }
    }

    fn from_bits(bits: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|state| *state as u8 == bits)
    }
}

/// One node in a frame. Vectors are in the order of [`Dim::ALL`], shares of *nominal* capacity, 0..=1; dimensions
/// that the node does not have are 0.
///
/// Shares are held in 255 steps: a share is off by at most 0.2 points. Empty is exactly 0 and full exactly 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeFrame {
    /// What is left.
    pub residual: [f32; DIMS],
    /// What the node can give now.
    pub effective: [f32; DIMS],
    /// What will be left once resident jobs have grown to their full size; `None` if none of them grows.
    pub forecast: Option<[f32; DIMS]>,
    /// Share of the GPU time of its jobs that is starved of data.
    pub stall: f32,
    /// Share of the job mix (by GPU-hours) whose typical task fits now.
    pub fits: f32,
    /// What the glyph shows.
    pub state: NodeState,
    /// GPUs that are free, in steps of 1/100; at most 655.35.
    pub gpus_free: f32,
    /// Jobs on it; 255 stands for 255 or more.
    pub jobs: u8,
    /// Whether it is kept for a job that has waited long.
    pub reserved: bool,
    /// Whether its storage is rebuilding.
    pub rebuilding: bool,
    /// The dimensions it has.
    pub dims: DimMask,
}

/// The dimensions that growth takes from; the others are forecast as they are.
const GROWING: [Dim; 3] = [Dim::Hbm, Dim::Sto, Dim::Ioc];

const RESERVED: u8 = 1 << 3;
const REBUILDING: u8 = 1 << 4;
const FORECAST: u8 = 1 << 5;
const UNUSED: u8 = 0b1100_0000;

/// A share in 255 steps; anything above nothing is at least one step, anything below everything at most 254.
fn quantise(share: f32) -> u8 {
    let step = (share.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    if share > 0.0 && share < 1.0 { step.clamp(1, 254) } else { step }
}

fn restore(step: u8) -> f32 {
    f32::from(step) / 255.0
}

impl NodeFrame {
    /// The lowest residual and its dimension; `None` for a node without dimensions.
    #[must_use]
    pub fn shortest(&self) -> Option<(Dim, f32)> {
        self.dims
            .iter()
            .map(|dim| (dim, self.residual[dim.index()]))
            .reduce(|least, axis| if axis.1 < least.1 { axis } else { least })
    }

    /// The highest residual; 0 for a node without dimensions.
    #[must_use]
    pub fn longest(&self) -> f32 {
        self.dims.iter().map(|dim| self.residual[dim.index()]).fold(0.0, f32::max)
    }

    /// GPUs that are free where the typical task does not fit, classes weighed by GPU-hours.
    #[must_use]
    pub fn gpus_stranded(&self) -> f32 {
        self.gpus_free * (1.0 - self.fits)
    }

    /// Writes it as [`NODE_WORDS`] words, in bytes from the lowest:
    ///
    /// | bytes | what |
    /// |---|---|
    /// | 0–6 | residual, 255ths, in the order of [`Dim::ALL`] |
    /// | 7 | stall, 255ths |
    /// | 8–9 | effective storage and I/O CPU, 255ths; the hard dimensions are 1, or 0 when offline |
    /// | 10–12 | forecast of HBM, storage and I/O CPU, 255ths |
    /// | 13 | fits, 255ths |
    /// | 14 | jobs |
    /// | 15 | bits 0–2 state, 3 reserved, 4 rebuilding, 5 there is a forecast, 6–7 zero |
    /// | 16–17 | free GPUs, 100ths |
    /// | 18–19 | zero |
    #[must_use]
    pub fn encode(&self) -> [u32; NODE_WORDS] {
        let mut bytes = [0_u8; NODE_WORDS * 4];
        for (byte, share) in bytes.iter_mut().zip(self.residual) {
            *byte = quantise(share);
        }
        bytes[7] = quantise(self.stall);
        bytes[8] = quantise(self.effective[Dim::Sto.index()]);
        bytes[9] = quantise(self.effective[Dim::Ioc.index()]);
        if let Some(forecast) = &self.forecast {
            for (byte, dim) in bytes[10..13].iter_mut().zip(GROWING) {
                *byte = quantise(forecast[dim.index()]);
            }
        }
        bytes[13] = quantise(self.fits);
        bytes[14] = self.jobs;
        bytes[15] = self.state as u8
            | if self.reserved { RESERVED } else { 0 }
            | if self.rebuilding { REBUILDING } else { 0 }
            | if self.forecast.is_some() { FORECAST } else { 0 };
        let free = (self.gpus_free.clamp(0.0, 655.35) * 100.0 + 0.5) as u16;
        bytes[16..18].copy_from_slice(&free.to_le_bytes());
        core::array::from_fn(|i| {
            u32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]])
        })
    }

    /// Whether words are ones that [`encode`](Self::encode) writes, told without reading them.
    pub(super) fn is_sound(words: &[u32]) -> bool {
        let &[_, _, third, fourth, fifth] = words else { return false };
        let flags = (fourth >> 24) as u8;
        let is_forecast_empty = third >> 16 == 0 && fourth & 0xff == 0;
        flags & UNUSED == 0 && fifth >> 16 == 0 && (flags & FORECAST != 0 || is_forecast_empty)
    }

    /// Reads what [`encode`](Self::encode) wrote of a node that has `dims`; `None` if a bit is set that no encoding
    /// sets. More than [`NODE_WORDS`] words or fewer are not a node either.
    #[must_use]
    pub fn decode(words: &[u32], dims: DimMask) -> Option<Self> {
        if !Self::is_sound(words) {
            return None;
        }
        let mut bytes = [0_u8; NODE_WORDS * 4];
        for (chunk, word) in bytes.chunks_exact_mut(4).zip(words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        let flags = bytes[15];
        let state = NodeState::from_bits(flags & 0b111)?;
        let residual = core::array::from_fn(|m| restore(bytes[m]));
        let there = if state == NodeState::Offline { 0.0 } else { 1.0 };
        let effective = core::array::from_fn(|m| match Dim::ALL[m] {
            dim if !dims.has(dim) => 0.0,
            Dim::Sto => restore(bytes[8]),
            Dim::Ioc => restore(bytes[9]),
            _ => there,
        });
        let forecast = (flags & FORECAST != 0).then(|| {
            let mut forecast: [f32; DIMS] = residual;
            for (byte, dim) in bytes[10..13].iter().zip(GROWING) {
                forecast[dim.index()] = restore(*byte);
            }
            forecast
        });
        Some(Self {
            residual,
            effective,
            forecast,
            stall: restore(bytes[7]),
            fits: restore(bytes[13]),
            state,
            gpus_free: f32::from(u16::from_le_bytes([bytes[16], bytes[17]])) / 100.0,
            jobs: bytes[14],
            reserved: flags & RESERVED != 0,
            rebuilding: flags & REBUILDING != 0,
            dims,
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        pub fn any_node()(
            bytes in any::<[u8; 14]>(),
            state in 0_usize..8,
            flags in any::<[bool; 3]>(),
            free in any::<u16>(),
            jobs in any::<u8>(),
        ) -> NodeFrame {
            let state = NodeState::ALL[state];
            let residual: [f32; DIMS] = core::array::from_fn(|m| restore(bytes[m]));
            let mut effective = [if state == NodeState::Offline { 0.0 } else { 1.0 }; DIMS];
            effective[Dim::Sto.index()] = restore(bytes[7]);
            effective[Dim::Ioc.index()] = restore(bytes[8]);
            let mut forecast = residual;
            forecast[Dim::Hbm.index()] = restore(bytes[9]);
            forecast[Dim::Sto.index()] = restore(bytes[10]);
            forecast[Dim::Ioc.index()] = restore(bytes[11]);
            NodeFrame {
                residual,
                effective,
                forecast: flags[0].then_some(forecast),
                stall: restore(bytes[12]),
                fits: restore(bytes[13]),
                state,
                gpus_free: f32::from(free) / 100.0,
                jobs,
                reserved: flags[1],
                rebuilding: flags[2],
                dims: DimMask::SEVEN,
            }
        }
    }

    proptest! {
        #[test]
        fn a_single_wrong_bit_where_none_may_be_is_refused(node in any_node(), bit in 0_u32..18) {
            let mut words = node.encode();
            // Bits 6–7 of byte 15, and bytes 18–19.
            let (word, bit) = if bit < 2 { (3, 30 + bit) } else { (4, 16 + bit - 2) };
            words[word] |= 1 << bit;
            prop_assert!(NodeFrame::decode(&words, DimMask::SEVEN).is_none());
        }

        #[test]
        fn shares_are_off_by_half_a_step_and_exact_at_both_ends(share in 0.0_f32..=1.0) {
            // Next to the ends a whole step: nothing but empty looks empty.
            let error = (restore(quantise(share)) - share).abs();
            prop_assert!(error <= 1.0 / 255.0);
            if (0.002..0.998).contains(&share) {
                prop_assert!(error <= 0.5001 / 255.0);
            }
            prop_assert_eq!(quantise(share) == 0, share == 0.0);
            prop_assert_eq!(quantise(share) == 255, share == 1.0);
        }
    }
}
