//! Fragmentation gradient descent: place where the least GPU becomes stranded.

use crate::cluster::NodeId;
use crate::engine::port::{Ask, Score, Term, View};
use crate::resources::{Amounts, Dim, DimMask};
use crate::schedulers::{Arena, Card};

/// Roster entry.
pub const CARD: Card = Card {
    family: "fgd",
    title: "FGD",
    idea: "Steepest descent on strandedness: prefers the node where the least free GPU becomes unusable for typical tasks.",
    source: "After Weng et al., Beware of Fragmentation, USENIX ATC 2023 – the idea, with this model's typical tasks \
             and dimensions",
    seven_id: None,
    arena: Arena::Lab,
    knobs: &[],
    build: |tuning| Box::new(Fgd { dims: tuning.score_dims, stranded: Vec::new(), remembers: true }),
};

/// Breaks ties between nodes that strand nothing: the fuller one.
const TIE: f64 = 1e-6;

#[derive(Clone, Debug)]
struct Fgd {
    dims: DimMask,
    /// Stranded GPUs of each node as it is, with the version of the node it was computed for.
    stranded: Vec<Option<(u32, f64)>>,
    /// Whether `stranded` is looked at. Only the slow twin in tests does without.
    remembers: bool,
}

impl Fgd {
    /// Free GPUs on which the typical task of a class does not fit, classes weighed by share; in whole GPUs.
    fn strandedness(&self, view: &View<'_>, left: &Amounts) -> f64 {
        let free = Dim::Gpu.value(left[Dim::Gpu].max(0));
        let classes = view.classes().iter().filter(|class| class.share_ppm > 0);
        let unfit = classes.filter(|class| !class.typical.fits_in(left, self.dims));
        unfit.map(|class| f64::from(class.share_ppm) / 1e6 * free).sum()
    }

    fn before(&mut self, view: &View<'_>, node: NodeId) -> f64 {
        self.stranded.resize(view.len(), None);
        let version = view.version(node);
        if let Some((known, stranded)) = self.stranded[node.index()]
            && known == version
            && self.remembers
        {
            return stranded;
        }
        let stranded = self.strandedness(view, &view.available(node));
        self.stranded[node.index()] = Some((version, stranded));
        stranded
    }
}

impl Score for Fgd {
    fn score(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> f64 {
        let after = view.available(node).map(|dim, amount| amount - ask.demand[dim]);
        let gain = self.strandedness(view, &after) - self.before(view, node);
        gain + TIE * Dim::Gpu.value(after[Dim::Gpu])
    }

    fn terms(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> Vec<Term> {
        let after = view.available(node).map(|dim, amount| amount - ask.demand[dim]);
        let gain = self.strandedness(view, &after) - self.before(view, node);
        vec![
            Term { name: "stranded", value: gain },
            Term { name: "tie", value: TIE * Dim::Gpu.value(after[Dim::Gpu]) },
        ]
    }

    fn forget(&mut self) {
        self.remembers = false;
    }
}
