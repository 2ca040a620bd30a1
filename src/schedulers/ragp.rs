//! Residual-aware GPU packing: ask not only "does it fit?" but "what will be left?".
//!
//! Each node has a penalty Φ for the shape of what is left on it. A task goes where it raises the cluster's total
//! penalty least – the *change* of Φ, not Φ itself, which would merely pick nodes that were already pretty.

use crate::cluster::{NodeId, NodeType};
use crate::engine::port::{Ask, Open, Score, Search, Term, View};
use crate::resources::{Amounts, DIMS, Dim, DimMask};
use crate::schedulers::{Arena, Card, Knob, Tuning};
use crate::workload::JobClass;

use bounds::{Bounds, Factors, Offer, Row};
use shelf::Shelf;

mod bounds;
mod shelf;

/// Roster entry.
pub const CARD: Card = Card {
    family: "ragp",
    title: "RAGP",
    idea: "Residual-aware packing: prefers the node where what is left keeps the most useful shape.",
    source: "Residual-aware GPU packing (RAGP, RAGP-I/O), the article this site explains; it gives no formula, so the \
             penalty is this project's reading: imbalance + misalignment with future demand + exhaustion + tightness",
    seven_id: Some("ragp-io"),
    arena: Arena::Both,
    knobs: &[
        Knob {
            key: "ragp_imbalance",
            help: "Weight of the variance of what is left (w_I). Higher: rounder leftovers.",
            default: 1.0,
            range: (0.0, 10.0),
        },
        Knob {
            key: "ragp_alignment",
            help: "Weight of the angle between what is left and typical demand (w_A).",
            default: 1.0,
            range: (0.0, 10.0),
        },
        Knob {
            key: "ragp_exhaustion",
            help: "Weight of free GPU behind a nearly empty dimension (w_E).",
            default: 1.0,
            range: (0.0, 10.0),
        },
        Knob {
            key: "ragp_shortfall",
            help: "Weight of the part of what is left that no multiple of typical demand uses (w_S). Off by default.",
            default: 0.0,
            range: (0.0, 10.0),
        },
        Knob {
            key: "ragp_tightness",
            help: "Weight of packing tightly (w_T). Without it big holes vanish and gangs wait; the one that matters.",
            default: 0.05,
            range: (0.0, 10.0),
        },
        Knob {
            key: "ragp_tau",
            help: "A dimension counts as nearly empty below this share of nominal (τ).",
            default: 0.15,
            range: (0.01, 1.0),
        },
        Knob {
            key: "ragp_absolute",
            help: "1: score by the leftover itself instead of its change. Costs more than double the stranded GPUs.",
            default: 0.0,
            range: (0.0, 1.0),
        },
    ],
    build: |tuning| Box::new(Ragp::new(tuning)),
};

/// The terms of Φ.
const PARTS: [&str; 4] = ["imbalance", "alignment", "exhaustion", "shortfall"];

/// Weights of the terms of Φ.
#[derive(Clone, Copy, Debug)]
struct Weights {
    imbalance: f64,
    alignment: f64,
    exhaustion: f64,
    shortfall: f64,
    tightness: f64,
    /// 1 ÷ τ.
    per_tau: f64,
    is_absolute: bool,
}

#[derive(Clone, Debug)]
struct Ragp {
    dims: DimMask,
    /// 1 for a dimension that is seen, 0 for one that is not: sums over all seven need no branches.
    is_seen: [f64; DIMS],
    /// 1 ÷ number of dimensions seen.
    per_dim: f64,
    weights: Weights,
    /// Direction of typical demand by node type: a unit vector over the seen dimensions.
    direction: Vec<[f64; DIMS]>,
    /// Φ of each node as it is, with the version of the node it was computed for.
    before: Vec<(u32, f64)>,
    /// Whether `before` is looked at. Only the slow twin in tests does without.
    remembers: bool,
    /// By type: its nodes, up to date with the view's changes up to `seen`. Empty until they are first asked for.
    shelves: Vec<Shelf>,
    /// The place of each node on its shelf.
    places: Vec<usize>,
    seen: u64,
    /// Room to work in.
    bounds: Bounds,
}

/// What Φ looks at.
struct Measures {
    /// |u|²
    squares: f64,
    /// u·ŵ
    along: f64,
    mean: f64,
    /// Sum of the squares of what is missing to τ.
    empty: f64,
}

impl Ragp {
    fn new(tuning: &Tuning) -> Self {
        let knob = |at: usize| tuning.knobs.get(at).copied().unwrap_or(CARD.knobs[at].default);
        let dims = tuning.score_dims;
        Self {
            dims,
            is_seen: Dim::ALL.map(|dim| if dims.has(dim) { 1.0 } else { 0.0 }),
            per_dim: 1.0 / dims.len().max(1) as f64,
            weights: Weights {
                imbalance: knob(0),
                alignment: knob(1),
                exhaustion: knob(2),
                shortfall: knob(3),
                tightness: knob(4),
                per_tau: 1.0 / knob(5),
                is_absolute: knob(6) >= 0.5,
            },
            direction: Vec::new(),
            before: Vec::new(),
            remembers: true,
            shelves: Vec::new(),
            places: Vec::new(),
            seen: 0,
            bounds: Bounds::default(),
        }
    }

    /// What is left ÷ nominal in every seen dimension, never below zero; 0 in the others.
    fn normalise(&self, view: &View<'_>, node: NodeId, left: &Amounts) -> [f64; DIMS] {
        let inverse = view.inverse_capacity(node);
        core::array::from_fn(|m| f64::from(left.0[m].max(0)) * inverse[m] * self.is_seen[m])
    }

    fn mean(&self, left: &[f64; DIMS]) -> f64 {
        left.iter().sum::<f64>() * self.per_dim
    }

    fn measure(&self, left: &[f64; DIMS], direction: &[f64; DIMS]) -> Measures {
        let (mut squares, mut along, mut empty) = (0.0, 0.0, 0.0);
        for m in 0..DIMS {
            squares += left[m] * left[m];
            along += left[m] * direction[m];
            let missing = above_zero(1.0 - left[m] * self.weights.per_tau) * self.is_seen[m];
            empty += missing * missing;
        }
        Measures { squares, along, mean: self.mean(left), empty }
    }

    /// Φ: how bad the shape of a leftover is. Each term lies in 0..1.
    fn penalty(&self, left: &[f64; DIMS], direction: &[f64; DIMS]) -> f64 {
        self.penalty_of(left, direction, &self.measure(left, direction))
    }

    fn penalty_of(&self, left: &[f64; DIMS], direction: &[f64; DIMS], measures: &Measures) -> f64 {
        let [imbalance, alignment, exhaustion, shortfall] = self.parts(left, direction, measures);
        imbalance + alignment + exhaustion + shortfall
    }

    /// The weighed terms of Φ, as [`PARTS`] names them.
    fn parts(&self, left: &[f64; DIMS], direction: &[f64; DIMS], measures: &Measures) -> [f64; PARTS.len()] {
        let weights = &self.weights;
        let Measures { squares, along, mean, empty } = *measures;
        let variance = above_zero(squares * self.per_dim - mean * mean);
        // Nothing left points nowhere in particular: no penalty.
        let cosine = if squares > 0.0 { along / squares.sqrt() } else { 1.0 };
        let free_gpu = left[Dim::Gpu.index()];
        let shortfall =
            if weights.shortfall > 0.0 { weights.shortfall * self.shortfall(left, direction, mean) } else { 0.0 };
        [
            weights.imbalance * variance,
            weights.alignment * mean * (1.0 - cosine),
            weights.exhaustion * free_gpu * empty * self.per_dim,
            shortfall,
        ]
    }

    /// Mean of what no multiple of typical demand uses.
    fn shortfall(&self, left: &[f64; DIMS], direction: &[f64; DIMS], mean: f64) -> f64 {
        let ratios = (0..DIMS).filter(|&m| direction[m] > 0.0).map(|m| left[m] / direction[m]);
        let multiple = ratios.fold(f64::INFINITY, f64::min);
        if multiple.is_infinite() {
            return 0.0;
        }
        mean - multiple * direction.iter().sum::<f64>() * self.per_dim
    }

    fn penalty_before(&mut self, view: &View<'_>, node: NodeId) -> f64 {
        let version = view.version(node);
        let (known, penalty) = self.before[node.index()];
        if known == version && self.remembers {
            return penalty;
        }
        let left = self.normalise(view, node, &view.available(node));
        let penalty = self.penalty(&left, &self.direction[view.type_index(node)]);
        self.before[node.index()] = (version, penalty);
        penalty
    }

    /// Brings the shelves up to date.
    fn catch_up(&mut self, view: &View<'_>) {
        let (changed, end) = view.changes_since(self.seen);
        self.seen = end;
        match changed {
            Some(changed) if !self.shelves.is_empty() => {
                for &node in changed {
                    self.look_at(view, node);
                }
            }
            _ => {
                if self.shelves.is_empty() {
                    self.stock(view);
                }
                for node in 0..view.len() as u32 {
                    self.look_at(view, NodeId(node));
                }
            }
        }
    }

    /// Puts every node on its shelf.
    fn stock(&mut self, view: &View<'_>) {
        let mut nodes = vec![Vec::new(); view.node_types().len()];
        self.places = (0..view.len() as u32)
            .map(|node| {
                let shelf: &mut Vec<NodeId> = &mut nodes[view.type_index(NodeId(node))];
                shelf.push(NodeId(node));
                shelf.len() - 1
            })
            .collect();
        self.shelves = nodes.into_iter().map(Shelf::new).collect();
    }

    fn look_at(&mut self, view: &View<'_>, node: NodeId) {
        let available = view.available(node);
        let left = self.normalise(view, node, &available);
        let kind = view.type_index(node);
        let direction = &self.direction[kind];
        let measures = self.measure(&left, direction);
        let penalty = self.penalty_of(&left, direction, &measures);
        self.before[node.index()] = (view.version(node), penalty);
        let Measures { along, mean, .. } = measures;
        let before = if self.weights.is_absolute { 0.0 } else { penalty };
        let row = Row { left, along, mean, before };
        let is_unused = available == view.node_types()[kind].capacity;
        self.shelves[kind].set(node, available[Dim::Gpu], is_unused, &row, &mut self.places);
    }

    fn factors(&self) -> Factors {
        let Weights { imbalance, alignment, exhaustion, shortfall, tightness, .. } = self.weights;
        let total = imbalance + alignment + exhaustion + shortfall + tightness;
        Factors {
            imbalance,
            alignment,
            exhaustion,
            tightness,
            total,
            per_dim: self.per_dim,
            per_tau: self.weights.per_tau,
            is_seen: self.is_seen,
        }
    }

    /// Bounds of what one task of `ask` costs on the nodes of allowed types that have GPUs enough.
    fn bound(&mut self, view: &View<'_>, ask: &Ask) {
        let factors = self.factors();
        self.bounds.clear();
        for (kind, shelf) in self.shelves.iter().enumerate().filter(|(kind, _)| ask.types.allows(*kind)) {
            let inverse = view.inverse_capacity_of_type(kind);
            let asked = core::array::from_fn(|m| f64::from(ask.demand.0[m]) * inverse[m] * self.is_seen[m]);
            let Measures { along, mean, .. } = self.measure(&asked, &self.direction[kind]);
            let places = shelf.places(ask.demand[Dim::Gpu]);
            self.bounds.add(kind, shelf, places, &Offer { asked, along, mean }, &factors);
        }
    }
}

/// The best node found so far: lowest cost, then lowest node.
struct Best {
    cost: f64,
    node: Option<NodeId>,
}

impl Best {
    fn offer(&mut self, cost: f64, node: NodeId) {
        #[expect(clippy::float_cmp, reason = "equal costs are equal bits")]
        let is_better = cost < self.cost || (cost == self.cost && self.node.is_none_or(|best| node < best));
        if is_better {
            *self = Self { cost, node: Some(node) };
        }
    }
}

/// `f64::max` cares for NaN, which costs; there are none.
fn above_zero(value: f64) -> f64 {
    if value > 0.0 { value } else { 0.0 }
}

/// Direction of future demand: the typical tasks, each a GPU's worth, weighed by share, relative to a node of `kind`;
/// a unit vector over `dims`.
fn direction(kind: &NodeType, classes: &[JobClass], dims: DimMask) -> [f64; DIMS] {
    let mut vector = [0.0; DIMS];
    for class in classes.iter().filter(|class| class.share_ppm > 0 && class.typical[Dim::Gpu] > 0) {
        let weight = f64::from(class.share_ppm) / f64::from(class.typical[Dim::Gpu]);
        for dim in dims.iter().filter(|dim| kind.capacity[*dim] > 0) {
            vector[dim.index()] += weight * f64::from(class.typical[dim]) / f64::from(kind.capacity[dim]);
        }
    }
    let length = libm::sqrt(vector.iter().map(|part| part * part).sum::<f64>());
    if length > 0.0 {
        for part in &mut vector {
            *part /= length;
        }
    }
    vector
}

impl Score for Ragp {
    fn prepare(&mut self, view: &View<'_>, _ask: &Ask) {
        if self.before.len() != view.len() {
            // Versions of nodes start at 1.
            self.before = vec![(0, 0.0); view.len()];
            self.direction =
                view.node_types().iter().map(|kind| direction(kind, view.classes(), self.dims)).collect();
        }
    }

    fn score(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> f64 {
        let left = view.available(node).map(|dim, amount| amount - ask.demand[dim]);
        let left = self.normalise(view, node, &left);
        let after = self.penalty(&left, &self.direction[view.type_index(node)]);
        let before = if self.weights.is_absolute { 0.0 } else { self.penalty_before(view, node) };
        after - before + self.weights.tightness * self.mean(&left)
    }

    fn terms(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> Vec<Term> {
        let direction = &self.direction[view.type_index(node)];
        let left = view.available(node).map(|dim, amount| amount - ask.demand[dim]);
        let left = self.normalise(view, node, &left);
        let after = self.parts(&left, direction, &self.measure(&left, direction));
        let before = if self.weights.is_absolute {
            [0.0; PARTS.len()]
        } else {
            let left = self.normalise(view, node, &view.available(node));
            self.parts(&left, direction, &self.measure(&left, direction))
        };
        let tightness = Term { name: "tightness", value: self.weights.tightness * self.mean(&left) };
        let changes = PARTS.iter().zip(after.into_iter().zip(before));
        changes.map(|(name, (after, before))| Term { name, value: after - before }).chain([tightness]).collect()
    }

    fn search(&mut self, view: &View<'_>, ask: &Ask, open: &Open<'_>) -> Search {
        // Bounds know no leftover below zero. Where all dimensions that count must fit, there is none.
        if self.dims.and(open.dims()) != self.dims {
            return Search::NeedsList;
        }
        self.prepare(view, ask);
        self.catch_up(view);
        self.bound(view, ask);
        let mut best = Best { cost: f64::INFINITY, node: None };
        let (lowest, chunks) = (self.bounds.lowest_chunk(), self.bounds.len());
        let (shelves, mut bounds) = (core::mem::take(&mut self.shelves), core::mem::take(&mut self.bounds));
        let mut look = |chunk: usize, best: &mut Best| {
            bounds.visit(chunk, best.cost, |shelf, place| {
                // Where one does not fit, those like it do not either.
                let mut alike = shelves[shelf].nodes(place).take_while(|node| open.fits(*node));
                if let Some(node) = alike.find(|node| open.is_allowed(*node)) {
                    best.offer(self.score(view, ask, node), node);
                }
                best.cost
            });
        };
        // Where the lowest bound is, the best node often is too; then few others need a look.
        if let Some(chunk) = lowest {
            look(chunk, &mut best);
        }
        for chunk in 0..chunks {
            look(chunk, &mut best);
        }
        (self.shelves, self.bounds) = (shelves, bounds);
        best.node.map_or(Search::Nothing, Search::Found)
    }

    fn forget(&mut self) {
        self.remembers = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedulers;

    fn ragp(dims: DimMask, knobs: &[(usize, f64)]) -> Ragp {
        let mut values: Vec<f64> = CARD.knobs.iter().map(|knob| knob.default).collect();
        for (at, value) in knobs {
            values[*at] = *value;
        }
        Ragp::new(&Tuning { score_dims: dims, knobs: values, seed: 0 })
    }

    /// Φ by the text of docs/model.md, term by term.
    fn by_the_book(left: &[f64], direction: &[f64], tau: f64, gpu: f64) -> f64 {
        let k = left.len() as f64;
        let mean = left.iter().sum::<f64>() / k;
        let variance = left.iter().map(|u| (u - mean) * (u - mean)).sum::<f64>() / k;
        let length = libm::sqrt(left.iter().map(|u| u * u).sum());
        let dot: f64 = left.iter().zip(direction).map(|(u, w)| u * w).sum();
        let cosine = if length > 0.0 { dot / length } else { 1.0 };
        let empty = left.iter().map(|u| (1.0 - u / tau).max(0.0)).map(|missing| missing * missing).sum::<f64>() / k;
        variance + mean * (1.0 - cosine) + gpu * empty
    }

    proptest::proptest! {
        #[test]
        fn the_penalty_is_that_of_the_model(left in proptest::array::uniform7(0.0..1.0f64),
                                                    direction in proptest::array::uniform7(0.01..1.0f64)) {
            let length = libm::sqrt(direction.iter().map(|w| w * w).sum());
            let unit = direction.map(|w| w / length);
            let ragp = ragp(DimMask::SEVEN, &[]);
            let expected = by_the_book(&left, &unit, 0.15, left[Dim::Gpu.index()]);
            proptest::prop_assert!((ragp.penalty(&left, &unit) - expected).abs() < 1e-12);
        }
    }

    proptest::proptest! {
        #[test]
        fn bounds_are_below_the_cost_and_close_to_it(left in proptest::array::uniform7(0..=20_000i32),
                                                     part in proptest::array::uniform7(0.0..=1.0f64),
                                                     direction in proptest::array::uniform7(0.01..1.0f64),
                                                     weights in proptest::array::uniform5(0.0..=10.0f64),
                                                     tau in 0.01..=1.0f64,
                                                     dims in proptest::sample::select(vec![DimMask::FIVE, DimMask::SEVEN])) {
            let [imbalance, alignment, exhaustion, shortfall, tightness] = weights;
            let knobs = [(0, imbalance), (1, alignment), (2, exhaustion), (3, shortfall), (4, tightness), (5, tau)];
            let mut ragp = ragp(dims, &knobs);
            let share = |m: usize, amount: i32| f64::from(amount) / 20_000.0 * ragp.is_seen[m];
            let asked: [i32; DIMS] = core::array::from_fn(|m| libm::round(f64::from(left[m]) * part[m]) as i32);
            let before: [f64; DIMS] = core::array::from_fn(|m| share(m, left[m]));
            let after: [f64; DIMS] = core::array::from_fn(|m| share(m, left[m] - asked[m]));
            let asked: [f64; DIMS] = core::array::from_fn(|m| share(m, asked[m]));
            let length = libm::sqrt(direction.iter().zip(ragp.is_seen).map(|(w, seen)| w * w * seen).sum());
            let unit: [f64; DIMS] = core::array::from_fn(|m| direction[m] * ragp.is_seen[m] / length);
            let penalty = ragp.penalty(&before, &unit);
            let rest = ragp.penalty(&after, &unit) - penalty + tightness * ragp.mean(&after);
            let cost = rest - shortfall * ragp.shortfall(&after, &unit, ragp.mean(&after));

            let Measures { along, mean, .. } = ragp.measure(&before, &unit);
            let mut shelf = Shelf::new(vec![NodeId(0)]);
            let row = Row { left: before, along, mean, before: penalty };
            shelf.set(NodeId(0), 0, false, &row, &mut [0]);
            let Measures { along, mean, .. } = ragp.measure(&asked, &unit);
            let mut bounds = core::mem::take(&mut ragp.bounds);
            bounds.add(0, &shelf, shelf.places(0), &Offer { asked, along, mean }, &ragp.factors());
            let bound = bounds.of(0);
            let total: f64 = weights.iter().sum();
            proptest::prop_assert!(bound <= cost, "{bound} is not below {cost}");
            proptest::prop_assert!(cost - bound <= total * (3e-5 + 3e-6 / tau), "{bound} is far below {cost}");
        }
    }

    #[test]
    fn a_cube_parallel_to_demand_is_no_penalty_and_a_bite_is() {
        let ragp = ragp(DimMask::SEVEN, &[]);
        let along = [1.0 / libm::sqrt(7.0); DIMS];
        assert!(ragp.penalty(&[0.5; DIMS], &along) < 1e-12);
        let mut bitten = [0.5; DIMS];
        bitten[Dim::Sto.index()] = 0.02;
        assert!(ragp.penalty(&bitten, &along) > 0.03);
    }

    #[test]
    fn what_is_not_seen_does_not_count() {
        let ragp = ragp(DimMask::FIVE, &[]);
        let along = Dim::ALL.map(|dim| if DimMask::FIVE.has(dim) { 1.0 / libm::sqrt(5.0) } else { 0.0 });
        let seen = Dim::ALL.map(|dim| if DimMask::FIVE.has(dim) { 0.5 } else { 0.0 });
        assert!(ragp.penalty(&seen, &along) < 1e-12);
    }

    #[test]
    fn shortfall_is_what_the_thinnest_axis_leaves_unused() {
        let ragp = ragp(DimMask::SEVEN, &[(3, 1.0)]);
        let along = [1.0 / libm::sqrt(7.0); DIMS];
        let mut left = [0.5; DIMS];
        left[0] = 0.2;
        // 0.2 of each is used; six axes leave 0.3 each.
        assert!((ragp.shortfall(&left, &along, ragp.mean(&left)) - 6.0 * 0.3 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn its_io_variant_is_the_same_scheduler_with_seven_dimensions() {
        let (five, seven) = (schedulers::find("ragp-5d"), schedulers::find("ragp-io"));
        assert_eq!(five.map(|entry| entry.sees), Some(DimMask::FIVE));
        assert_eq!(seven.map(|entry| entry.sees), Some(DimMask::SEVEN));
    }
}
