//! A reel: the frames of one run in flat 32-bit words, as they travel from a worker to the page.
//!
//! A frame is a moment of simulated time, `interval` after the one before. Every frame of a reel has the same number
//! of words, so that frame *i* is found without looking at the others:
//!
//! | words | what |
//! |---|---|
//! | 2 | time in ms, low half first |
//! | [`Stat::COUNT`] | the [`Stat`]s, `f32` bits; NaN: no such case yet |
//! | one a class | jobs waiting |
//! | [`NODE_WORDS`] a node | the [`NodeFrame`], see [`NodeFrame::encode`] |
//!
//! Words that come from outside are checked when they are pushed; a reel only holds sound frames.

mod node;

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::resources::{Amounts, Dim, DimMask};
use crate::units::SimTime;

pub use node::{
    BREATHING_LOSS, NODE_WORDS, NodeFrame, NodeState, PACKED_BELOW, PINCHED_ABOVE, PINCHED_BELOW, STALLED_FROM,
};

/// Most bytes that the frames of one lane may take; runs that would need more get a longer interval.
pub const LANE_BYTES: u64 = 48 * 1024 * 1024;

/// The interval between frames if the run is not too large for it, in ms.
pub const INTERVAL_MS: u64 = 60_000;

/// A kind of node, as the page shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeTypeInfo {
    /// Short name, e.g. `G8`.
    pub id: String,
    /// What it is, e.g. `8×H100-80`.
    pub title: String,
    /// Nominal capacity.
    pub capacity: Amounts,
}

/// What is the same in all frames of a reel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReelHeader {
    /// Number of nodes.
    pub nodes: u32,
    /// Kinds of nodes.
    pub node_types: Vec<NodeTypeInfo>,
    /// The kind of each node, by position in `node_types`.
    pub node_type: Vec<u8>,
    /// Dimensions that exist in this cluster.
    pub exists: DimMask,
    /// Ids of the job classes.
    pub classes: Vec<String>,
    /// Simulated time from one frame to the next in ms: [`INTERVAL_MS`], or more if all frames of the run would
    /// otherwise not fit [`LANE_BYTES`].
    pub interval_ms: u64,
    /// How many frames the whole run has: one at 0, one every interval, and one at the end.
    pub frames: u32,
    /// When the run ends, in ms.
    pub horizon_ms: u64,
    /// When measuring starts, in ms.
    pub warm_up_ms: u64,
    /// GPUs of the fleet.
    pub gpus: f64,
}

impl ReelHeader {
    /// Words of one frame.
    #[must_use]
    pub fn frame_words(&self) -> usize {
        frame_words(self.nodes as usize, self.classes.len())
    }

    /// When frame `index` is, were the run endless.
    #[must_use]
    pub fn time_of(&self, index: usize) -> SimTime {
        SimTime((index as u64).saturating_mul(self.interval_ms).min(self.horizon_ms))
    }

    /// The dimensions that node `index` has: a node without GPUs has no SM and no HBM.
    #[must_use]
    pub fn dims_of(&self, index: usize) -> DimMask {
        let info = self.node_type.get(index).and_then(|kind| self.node_types.get(usize::from(*kind)));
        let present: Vec<Dim> =
            self.exists.iter().filter(|dim| info.is_some_and(|info| info.capacity[*dim] > 0)).collect();
        DimMask::of(&present)
    }
}

/// Words of one frame of a cluster of `nodes` with `classes` job classes.
#[must_use]
pub fn frame_words(nodes: usize, classes: usize) -> usize {
    2 + Stat::COUNT + classes + NODE_WORDS * nodes
}

/// Most bytes that the frames of a run take: all of them at [`INTERVAL_MS`], or [`LANE_BYTES`]. Never less for more nodes.
#[must_use]
pub fn most_bytes(nodes: usize, classes: usize, horizon_ms: u64) -> u64 {
    let frames = horizon_ms.div_ceil(INTERVAL_MS) + 1;
    let frame = 4 * frame_words(nodes, classes) as u64;
    // Two frames there are in any case.
    (frames * frame).min(LANE_BYTES.max(2 * frame))
}

/// The interval between frames and their number for a run of `horizon_ms`: [`INTERVAL_MS`], or the smallest whole
/// multiple of it with which all frames take at most [`LANE_BYTES`].
#[must_use]
pub fn interval(nodes: usize, classes: usize, horizon_ms: u64) -> (u64, u32) {
    let most = (LANE_BYTES / (4 * frame_words(nodes, classes) as u64)).max(2);
    // One frame at 0 and one at the end beside those on whole intervals.
    let multiple = horizon_ms.div_ceil(INTERVAL_MS * (most - 1)).max(1);
    let interval_ms = INTERVAL_MS * multiple;
    (interval_ms, (horizon_ms.div_ceil(interval_ms) + 1) as u32)
}

/// A number of the whole cluster in a frame. Shares are 0..=1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(usize)]
pub enum Stat {
    /// Fragmentation now: mean over nodes of the variance of the residual shape, ÷ its maximum.
    FShape,
    /// Share of the fleet's GPUs that is free where the typical task does not fit, now.
    Stranded,
    /// Share of the allocated GPUs that is starved of data, now.
    Stall,
    /// Share of the fleet's GPUs that is allocated, now.
    Allocated,
    /// Share of the fleet's GPUs that advances work, now.
    Productive,
    /// Jobs waiting now.
    Waiting,
    /// GPUs that waiting jobs ask for, now.
    WaitingGpus,
    /// Jobs running now.
    Running,
    /// Nodes rebuilding now.
    Rebuilding,
    /// Waiting jobs of which no task fits on any node now, by what is truly left in all dimensions.
    FitsNowhere,
    /// Mean of [`FShape`](Self::FShape) since the warm-up, as are all that follow.
    FShapeMean,
    /// Share of the fleet's GPU-hours stranded or stalled.
    FLostMean,
    /// Share of allocated GPU-hours stalled.
    StallMean,
    /// Share of the fleet's GPU-hours allocated.
    AllocatedMean,
    /// Share of the fleet's GPU-hours that advanced work.
    ProductiveMean,
    /// The same in GPU-hours.
    ProductiveGpuHours,
    /// GPU-hours stranded or stalled. NaN before the warm-up ends.
    WastedGpuHours,
    /// GPU-hours bought.
    CapacityGpuHours,
    /// Residual health: share of nodes on which the typical task fits.
    HealthMean,
    /// Median wait in seconds; NaN before the first job that counts has started.
    WaitP50,
    /// 99th percentile of waits in seconds; NaN likewise.
    WaitP99,
    /// Mean wait of training jobs in seconds; NaN likewise.
    WaitTrainMean,
    /// Jobs completed an hour.
    JobsPerHour,
    /// Jobs requeued because their GPU memory could not grow.
    Evictions,
}

impl Stat {
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// All, in the order of a frame.
    pub const ALL: [Self; 24] = [
        Self::FShape,
        Self::Stranded,
        Self::Stall,
        Self::Allocated,
        Self::Productive,
        Self::Waiting,
        Self::WaitingGpus,
        Self::Running,
        Self::Rebuilding,
        Self::FitsNowhere,
        Self::FShapeMean,
        Self::FLostMean,
        Self::StallMean,
        Self::AllocatedMean,
        Self::ProductiveMean,
        Self::ProductiveGpuHours,
        Self::WastedGpuHours,
        Self::CapacityGpuHours,
        Self::HealthMean,
        Self::WaitP50,
        Self::WaitP99,
        Self::WaitTrainMean,
        Self::JobsPerHour,
        Self::Evictions,
    ];
}

/// Why words are not frames of a reel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReelError {
    /// The header contradicts itself.
    Header(&'static str),
    /// The number of words is not a whole number of frames.
    Length {
        /// How many words came.
        words: usize,
        /// How many a frame has.
        frame_words: usize,
    },
    /// More frames than the header announced.
    TooMany {
        /// How many it announced.
        frames: u32,
    },
    /// A frame is not at its time.
    Time {
        /// Position of the frame.
        frame: usize,
        /// Its time in ms.
        found: u64,
        /// What it should be.
        expected: u64,
    },
    /// Words that no node encodes to.
    Node {
        /// Position of the frame.
        frame: usize,
        /// Position of the node.
        node: usize,
    },
}

impl fmt::Display for ReelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(what) => write!(f, "the header of the recording contradicts itself: {what}"),
            Self::Length { words, frame_words } => {
                write!(f, "{words} words are not a whole number of frames of {frame_words} words")
            }
            Self::TooMany { frames } => write!(f, "more than the {frames} frames that were announced"),
            Self::Time { frame, found, expected } => {
                write!(f, "frame {frame} is at {found} ms instead of {expected} ms")
            }
            Self::Node { frame, node } => write!(f, "frame {frame}, node {node}: words that stand for no node"),
        }
    }
}

impl core::error::Error for ReelError {}

/// The frames of one run that have arrived so far.
#[derive(Clone, Debug)]
pub struct Reel {
    header: ReelHeader,
    dims: Vec<DimMask>,
    frame_words: usize,
    words: Vec<u32>,
}

impl Reel {
    /// A reel without frames.
    ///
    /// # Errors
    /// If the header contradicts itself.
    pub fn new(header: ReelHeader) -> Result<Self, ReelError> {
        if header.node_type.len() != header.nodes as usize {
            return Err(ReelError::Header("there is not one kind for each node"));
        }
        if header.node_type.iter().any(|kind| usize::from(*kind) >= header.node_types.len()) {
            return Err(ReelError::Header("a node is of a kind that is not described"));
        }
        if header.interval_ms == 0 {
            return Err(ReelError::Header("no time passes between frames"));
        }
        let dims = (0..header.node_type.len()).map(|node| header.dims_of(node)).collect();
        let frame_words = header.frame_words();
        Ok(Self { header, dims, frame_words, words: Vec::new() })
    }

    /// What is the same in all frames.
    #[must_use]
    pub fn header(&self) -> &ReelHeader {
        &self.header
    }

    /// Adds whole frames that follow those already here.
    ///
    /// # Errors
    /// If they are not; then nothing is added.
    pub fn push(&mut self, words: &[u32]) -> Result<(), ReelError> {
        if !words.len().is_multiple_of(self.frame_words) {
            return Err(ReelError::Length { words: words.len(), frame_words: self.frame_words });
        }
        let first = self.len();
        if first + words.len() / self.frame_words > self.header.frames as usize {
            return Err(ReelError::TooMany { frames: self.header.frames });
        }
        for (i, frame) in words.chunks_exact(self.frame_words).enumerate() {
            let expected = self.header.time_of(first + i).as_ms();
            let found = u64::from(frame[0]) | u64::from(frame[1]) << 32;
            if found != expected {
                return Err(ReelError::Time { frame: first + i, found, expected });
            }
            let nodes = &frame[frame_words(0, self.header.classes.len())..];
            for (node, words) in nodes.chunks_exact(NODE_WORDS).enumerate() {
                if !NodeFrame::is_sound(words) {
                    return Err(ReelError::Node { frame: first + i, node });
                }
            }
        }
        if self.words.is_empty() {
            // Once and for all: doubling would take up to twice the memory. A header may lie, hence the bound.
            let all = self.frame_words.saturating_mul(self.header.frames as usize);
            self.words.reserve_exact(all.min(LANE_BYTES as usize / 4));
        }
        self.words.extend_from_slice(words);
        Ok(())
    }

    /// How many frames have arrived.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len() / self.frame_words
    }

    /// Whether none has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether all have.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.len() == self.header.frames as usize
    }

    /// Frame `index`, or `None` if it has not arrived.
    #[must_use]
    pub fn frame(&self, index: usize) -> Option<Frame<'_>> {
        let start = index.checked_mul(self.frame_words)?;
        Some(Frame { reel: self, words: self.words.get(start..start + self.frame_words)? })
    }

    /// Position of the last frame at or before `time` that has arrived; 0 if none has.
    #[must_use]
    pub fn index_at(&self, time: SimTime) -> usize {
        let index =
            if time.as_ms() >= self.header.horizon_ms { u64::MAX } else { time.as_ms() / self.header.interval_ms };
        (index.min(self.len().saturating_sub(1) as u64)) as usize
    }

    /// One number of every frame that has arrived, in order.
    pub fn series(&self, stat: Stat) -> impl Iterator<Item = f64> + '_ {
        self.words
            .chunks_exact(self.frame_words)
            .map(move |frame| f64::from(f32::from_bits(frame[2 + stat as usize])))
    }
}

/// One frame of a reel.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    reel: &'a Reel,
    words: &'a [u32],
}

impl<'a> Frame<'a> {
    /// Its simulated time.
    #[must_use]
    pub fn time(&self) -> SimTime {
        SimTime(u64::from(self.words[0]) | u64::from(self.words[1]) << 32)
    }

    /// A number of the whole cluster; NaN if there is no such case yet.
    #[must_use]
    pub fn stat(&self, stat: Stat) -> f64 {
        f64::from(f32::from_bits(self.words[2 + stat as usize]))
    }

    /// Waiting jobs of the class at `class`; 0 if there is no such class.
    #[must_use]
    pub fn waiting(&self, class: usize) -> u32 {
        if class < self.reel.header.classes.len() { self.words[2 + Stat::COUNT + class] } else { 0 }
    }

    /// The words of node `index`: if they are those of another frame, the node looks the same. Empty if there is no
    /// such node.
    #[must_use]
    pub fn node_words(&self, index: usize) -> &'a [u32] {
        let start = frame_words(0, self.reel.header.classes.len()) + NODE_WORDS * index;
        self.words.get(start..start + NODE_WORDS).unwrap_or(&[])
    }

    /// Node `index`, or `None` if there is no such node.
    #[must_use]
    pub fn node(&self, index: usize) -> Option<NodeFrame> {
        NodeFrame::decode(self.node_words(index), *self.reel.dims.get(index)?)
    }

    /// All nodes, in order.
    pub fn nodes(&self) -> impl Iterator<Item = NodeFrame> + use<'a, '_> {
        (0..self.reel.dims.len()).filter_map(|index| self.node(index))
    }
}

/// Writes one frame at the end of `words`.
pub(crate) fn write_frame(
    words: &mut Vec<u32>,
    time: SimTime,
    stats: &[f32; Stat::COUNT],
    waiting: &[u32],
    nodes: impl Iterator<Item = NodeFrame>,
) {
    words.push(time.as_ms() as u32);
    words.push((time.as_ms() >> 32) as u32);
    words.extend(stats.iter().map(|stat| stat.to_bits()));
    words.extend_from_slice(waiting);
    words.extend(nodes.flat_map(|node| node.encode()));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::node::tests::any_node;
    use super::*;

    fn header(nodes: usize, frames: u32) -> ReelHeader {
        ReelHeader {
            nodes: nodes as u32,
            node_types: vec![NodeTypeInfo {
                id: "G8".into(),
                title: "8×H100-80".into(),
                capacity: Amounts([96_000, 1_572_864, 8000, 655_360, 400_000, 24_000, 16_000]),
            }],
            node_type: vec![0; nodes],
            exists: DimMask::SEVEN,
            classes: vec!["a".into(), "b".into()],
            interval_ms: 60_000,
            frames,
            horizon_ms: u64::from(frames - 1) * 60_000,
            warm_up_ms: 0,
            gpus: 8.0 * nodes as f64,
        }
    }

    proptest! {
        #[test]
        fn frames_come_back_as_they_were(
            frames in prop::collection::vec(
                (prop::collection::vec(any_node(), 3), any::<[u32; 2]>(), prop::array::uniform24(-1e6_f32..1e6)), 1..5),
        ) {
            let mut reel = Reel::new(header(3, frames.len() as u32)).unwrap();
            for (i, (nodes, waiting, stats)) in frames.iter().enumerate() {
                let mut words = Vec::new();
                write_frame(&mut words, SimTime(i as u64 * 60_000), stats, waiting, nodes.iter().cloned());
                prop_assert_eq!(words.len(), reel.header().frame_words());
                reel.push(&words).unwrap();
            }
            prop_assert!(reel.is_complete());
            for (i, (nodes, waiting, stats)) in frames.iter().enumerate() {
                let frame = reel.frame(i).unwrap();
                prop_assert_eq!(frame.time(), SimTime(i as u64 * 60_000));
                prop_assert_eq!([frame.waiting(0), frame.waiting(1)], *waiting);
                for stat in Stat::ALL {
                    prop_assert_eq!(frame.stat(stat), f64::from(stats[stat as usize]));
                }
                prop_assert_eq!(&frame.nodes().collect::<Vec<_>>(), nodes);
            }
        }

        #[test]
        fn no_words_make_it_panic(words in prop::collection::vec(any::<u32>(), 0..200), nodes in 0_usize..4) {
            let mut reel = Reel::new(header(nodes, 3)).unwrap();
            let before = reel.len();
            if reel.push(&words).is_err() {
                prop_assert_eq!(reel.len(), before);
            }
            for index in 0..reel.len() + 2 {
                if let Some(frame) = reel.frame(index) {
                    prop_assert_eq!(frame.nodes().count(), nodes);
                    prop_assert!(frame.node(nodes).is_none());
                    prop_assert_eq!(frame.waiting(99), 0);
                }
            }
        }

        #[test]
        fn a_lane_never_takes_more_than_its_share_of_memory(nodes in 1_usize..20_000, hours in 1_u64..2000) {
            let (interval_ms, frames) = interval(nodes, 6, hours * 3_600_000);
            let bytes = u64::from(frames) * 4 * frame_words(nodes, 6) as u64;
            prop_assert!(bytes <= LANE_BYTES, "{bytes}");
            prop_assert!(interval_ms * u64::from(frames - 1) >= hours * 3_600_000);
        }
    }

    #[test]
    fn thirty_hours_of_64_nodes_are_one_frame_a_minute() {
        assert_eq!(interval(64, 6, 30 * 3_600_000), (60_000, 1801));
    }

    #[test]
    fn frames_that_do_not_follow_are_refused() {
        let mut words = Vec::new();
        write_frame(&mut words, SimTime(60_000), &[0.0; Stat::COUNT], &[0, 0], core::iter::empty());
        let mut reel = Reel::new(header(0, 2)).unwrap();
        assert_eq!(reel.push(&words), Err(ReelError::Time { frame: 0, found: 60_000, expected: 0 }));
        words[0] = 0;
        reel.push(&words).unwrap();
        assert!(matches!(reel.push(&words[1..]), Err(ReelError::Length { .. })));
        words[0] = 60_000;
        reel.push(&words).unwrap();
        assert_eq!(reel.push(&words), Err(ReelError::TooMany { frames: 2 }));
    }

    #[test]
    fn a_header_that_contradicts_itself_is_refused() {
        let good = header(2, 3);
        assert!(Reel::new(ReelHeader { node_type: vec![0], ..good.clone() }).is_err());
        assert!(Reel::new(ReelHeader { node_type: vec![0, 1], ..good.clone() }).is_err());
        assert!(Reel::new(ReelHeader { interval_ms: 0, ..good }).is_err());
    }

    #[test]
    fn stats_are_listed_in_the_order_of_a_frame() {
        for (i, stat) in Stat::ALL.into_iter().enumerate() {
            assert_eq!(stat as usize, i);
        }
    }
}
