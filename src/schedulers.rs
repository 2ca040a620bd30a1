//! The roster of schedulers: one line each. Everything that lists schedulers is derived from it.

use crate::engine::Simulation;
use crate::engine::facts::Probe;
use crate::engine::port::Scheduler;
use crate::engine::setup::Setup;
use crate::error::Error;
use crate::resources::{Dim, DimMask};

pub use crate::engine::setup::{Choice, Ties};

pub mod best_fit;
pub mod best_fit_paper;
pub mod dot_product;
pub mod fgd;
pub mod fgd_paper;
pub mod first_fit;
pub mod gpu_clustering;
pub mod gpu_packing;
pub mod ragp;
pub mod random;
pub mod random_paper;
pub mod scalar;
pub mod tetris;

/// The roster, in the order in which people read it: adding a scheduler is its file and a line here.
pub const ROSTER: &[Card] = &[
    scalar::CARD,
    tetris::CARD,
    best_fit::CARD,
    first_fit::CARD,
    random::CARD,
    fgd::CARD,
    ragp::CARD,
    // As published in ATC'23, for its replay.
    random_paper::CARD,
    dot_product::CARD,
    gpu_clustering::CARD,
    gpu_packing::CARD,
    best_fit_paper::CARD,
    fgd_paper::CARD,
];

/// What a scheduler says of itself.
#[derive(Debug)]
pub struct Card {
    /// Family name; ids are made from it: `tetris` → `tetris-5d`, `tetris-7d`.
    pub family: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Its idea in one sentence.
    pub idea: &'static str,
    /// Where it was published, or what it stands for.
    pub source: &'static str,
    /// Another id for the family when it sees all seven dimensions, e.g. `ragp-io`.
    pub seven_id: Option<&'static str>,
    /// Where it can be chosen.
    pub arena: Arena,
    /// Numbers that can be tuned.
    pub knobs: &'static [Knob],
    /// Makes one.
    pub build: fn(&Tuning) -> Box<dyn Scheduler>,
}

/// Where a scheduler can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arena {
    /// In scenarios and on traces.
    Lab,
    /// In a replay only: it needs what only that experiment has, or is bound to that cluster's sizes.
    Replay,
    /// In both.
    Both,
}

/// A number of a scheduler that can be tuned.
#[derive(Debug)]
pub struct Knob {
    /// Key under `[scheduler]` in scenario files, e.g. `ragp_imbalance`.
    pub key: &'static str,
    /// What it does and what it costs, in one line.
    pub help: &'static str,
    /// Value if nobody says otherwise.
    pub default: f64,
    /// Smallest and largest value.
    pub range: (f64, f64),
}

/// What [`Card::build`] gets.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// Dimensions that the score looks at.
    pub score_dims: DimMask,
    /// Values of the card's knobs, in their order.
    pub knobs: Vec<f64>,
    /// Seed of the scheduler's own random stream.
    pub seed: u64,
}

/// One selectable scheduler: a card and the dimensions it sees.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its card.
    pub card: &'static Card,
    /// Dimensions it sees by default, for fit and score.
    pub sees: DimMask,
}

impl Entry {
    /// `tetris-5d`, `ragp-io`, …; a scheduler that is for a replay only goes by its family.
    #[must_use]
    pub fn id(&self) -> String {
        match self.card.seven_id {
            Some(id) if self.sees == DimMask::SEVEN => id.to_owned(),
            _ if self.card.arena == Arena::Replay => self.card.family.to_owned(),
            _ => format!("{}-{}d", self.card.family, self.sees.len()),
        }
    }

    /// `Tetris, 5 dimensions`, …
    #[must_use]
    pub fn title(&self) -> String {
        if self.card.arena == Arena::Replay {
            self.card.title.to_owned()
        } else if self.card.seven_id.is_some() && self.sees == DimMask::SEVEN {
            format!("{}-I/O", self.card.title)
        } else {
            format!("{}-{}D", self.card.title, self.sees.len())
        }
    }

    /// The choice with every setting at its default.
    #[must_use]
    pub fn choice(&self) -> Choice {
        Choice {
            id: self.id(),
            fit_dims: self.sees,
            score_dims: self.sees,
            safety_ppm: 1_000_000,
            cordon_ppm: 0,
            foresight_ppm: 0,
            knobs: self.card.knobs.iter().map(|knob| knob.default).collect(),
            sample: 0,
            ties: Ties::Fixed,
        }
    }
}

/// Every scheduler that can be chosen in scenarios and on traces: each card with five and with seven dimensions.
pub fn entries() -> impl Iterator<Item = Entry> {
    let cards = ROSTER.iter().filter(|card| card.arena != Arena::Replay);
    cards.flat_map(|card| [DimMask::FIVE, DimMask::SEVEN].map(|sees| Entry { card, sees }))
}

/// Every scheduler that can be chosen in a replay: each card once, with the dimensions that exist there (CPU, memory,
/// GPU). Those of the published experiment come first.
pub fn replay_entries() -> impl Iterator<Item = Entry> {
    let sees = DimMask::of(&[Dim::Cpu, Dim::Ram, Dim::Gpu]);
    [Arena::Replay, Arena::Both]
        .into_iter()
        .flat_map(|arena| ROSTER.iter().filter(move |card| card.arena == arena))
        .map(move |card| Entry { card, sees })
}

/// The scheduler of that id, wherever it can be chosen.
#[must_use]
pub fn find_anywhere(id: &str) -> Option<Entry> {
    find(id).or_else(|| replay_entries().find(|entry| entry.id() == id))
}

/// The scheduler of that id among [`entries`]; `ragp-7d` is another name for `ragp-io`.
#[must_use]
pub fn find(id: &str) -> Option<Entry> {
    entries().find(|entry| entry.id() == id || format!("{}-{}d", entry.card.family, entry.sees.len()) == id)
}

impl<P: Probe> Simulation<P> {
    /// A run with the scheduler of the roster that `setup` names; `probe` is told what happens.
    ///
    /// # Errors
    /// [`Error::Setup`] if there is no such scheduler, or the setup contradicts itself.
    pub fn with_probe(setup: Setup, probe: P) -> Result<Self, Error> {
        let choice = &setup.scheduler;
        let entry = find_anywhere(&choice.id)
            .ok_or_else(|| Error::Setup(format!("there is no scheduler {:?}", choice.id)))?;
        let (wanted, given) = (entry.card.knobs.len(), choice.knobs.len());
        if wanted != given {
            return Err(Error::Setup(format!("{} has {wanted} knobs, but {given} values are given", choice.id)));
        }
        let scheduler = (entry.card.build)(&Tuning {
            score_dims: choice.score_dims.and(setup.exists),
            knobs: choice.knobs.clone(),
            seed: setup.seed,
        });
        Self::with_scheduler(setup, probe, scheduler)
    }
}
