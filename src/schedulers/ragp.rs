//! Residual-aware GPU packing: ask not only "does it fit?" but "what will be left?".
//!
//! Each node has a penalty Φ for the shape of what is left on it. A task goes where it raises the cluster's total
//! penalty least – the *change* of Φ, not Φ itself, which would merely pick nodes that were already pretty.

use crate::cluster::NodeId;
use crate::engine::port::{Ask, Score, View};
use crate::engine::setup::NodeType;
use crate::resources::{Amounts, DIMS, Dim};
use crate::schedulers::{Card, Knob, Tuning};
use crate::workload::JobClass;

/// Roster entry.
pub const CARD: Card = Card {
    family: "ragp",
    title: "RAGP",
    idea: "Residual-aware packing: prefers the node where what is left keeps the most useful shape.",
    source: "Residual-aware GPU packing (RAGP, RAGP-I/O), the article this site explains; it gives no formula, so the \
             penalty is this project's reading: imbalance + misalignment with future demand + exhaustion + tightness",
    seven_id: Some("ragp-io"),
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

/// Weights of the terms of Φ.
#[derive(Clone, Copy, Debug)]
struct Weights {
    imbalance: f64,
    alignment: f64,
    exhaustion: f64,
    shortfall: f64,
    tightness: f64,
    tau: f64,
    is_absolute: bool,
}

#[derive(Clone, Debug)]
struct Ragp {
    dims: Vec<usize>,
    sees_gpu: bool,
    weights: Weights,
    /// Direction of typical demand by node type: a unit vector over the seen dimensions.
    direction: Vec<[f64; DIMS]>,
    /// Φ of each node as it is, with the version of the node it was computed for.
    before: Vec<Option<(u32, f64)>>,
}

impl Ragp {
    fn new(tuning: &Tuning) -> Self {
        let knob = |at: usize| tuning.knobs.get(at).copied().unwrap_or(CARD.knobs[at].default);
        Self {
            dims: tuning.score_dims.iter().map(Dim::index).collect(),
            sees_gpu: tuning.score_dims.has(Dim::Gpu),
            weights: Weights {
                imbalance: knob(0),
                alignment: knob(1),
                exhaustion: knob(2),
                shortfall: knob(3),
                tightness: knob(4),
                tau: knob(5),
                is_absolute: knob(6) >= 0.5,
            },
            direction: Vec::new(),
            before: Vec::new(),
        }
    }

    /// What is left ÷ nominal in every dimension, never below zero.
    fn normalise(view: &View<'_>, node: NodeId, left: &Amounts) -> [f64; DIMS] {
        let inverse = view.inverse_capacity(node);
        core::array::from_fn(|m| f64::from(left.0[m].max(0)) * inverse[m])
    }

    fn mean(&self, left: &[f64; DIMS]) -> f64 {
        self.dims.iter().map(|&m| left[m]).sum::<f64>() / self.dims.len().max(1) as f64
    }

    /// Φ: how bad the shape of a leftover is. Each term lies in 0..1.
    fn penalty(&self, left: &[f64; DIMS], direction: &[f64; DIMS]) -> f64 {
        let weights = &self.weights;
        let k = self.dims.len().max(1) as f64;
        let (mut sum, mut squares, mut dot, mut empty) = (0.0, 0.0, 0.0, 0.0);
        let mut multiple = f64::INFINITY;
        for &m in &self.dims {
            let part = left[m];
            sum += part;
            squares += part * part;
            dot += part * direction[m];
            let missing = (1.0 - part / weights.tau).max(0.0);
            empty += missing * missing;
            if direction[m] > 0.0 {
                multiple = multiple.min(part / direction[m]);
            }
        }
        let mean = sum / k;
        let variance = (squares / k - mean * mean).max(0.0);
        let length = libm::sqrt(squares);
        let cosine = if length > 0.0 { dot / length } else { 1.0 };
        let free_gpu = if self.sees_gpu { left[Dim::Gpu.index()] } else { 0.0 };
        let mut penalty = weights.imbalance * variance
            + weights.alignment * mean * (1.0 - cosine)
            + weights.exhaustion * free_gpu * empty / k;
        if weights.shortfall > 0.0 && multiple.is_finite() {
            let used: f64 = self.dims.iter().map(|&m| multiple * direction[m]).sum();
            penalty += weights.shortfall * (mean - used / k);
        }
        penalty
    }

    fn penalty_before(&mut self, view: &View<'_>, node: NodeId) -> f64 {
        let version = view.version(node);
        if let Some((known, penalty)) = self.before[node.index()]
            && known == version
        {
            return penalty;
        }
        let left = Self::normalise(view, node, &view.available(node));
        let penalty = self.penalty(&left, &self.direction[view.type_index(node)]);
        self.before[node.index()] = Some((version, penalty));
        penalty
    }
}

/// Direction of future demand: the typical tasks, each a GPU's worth, weighed by share, relative to a node of `kind`;
/// a unit vector over `dims`.
fn direction(kind: &NodeType, classes: &[JobClass], dims: &[usize]) -> [f64; DIMS] {
    let mut vector = [0.0; DIMS];
    for class in classes.iter().filter(|class| class.share_ppm > 0 && class.typical[Dim::Gpu] > 0) {
        let weight = f64::from(class.share_ppm) / f64::from(class.typical[Dim::Gpu]);
        for &m in dims {
            if kind.capacity.0[m] > 0 {
                vector[m] += weight * f64::from(class.typical.0[m]) / f64::from(kind.capacity.0[m]);
            }
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
            self.before = vec![None; view.len()];
            self.direction =
                view.node_types().iter().map(|kind| direction(kind, view.classes(), &self.dims)).collect();
        }
    }

    fn score(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> f64 {
        let left = view.available(node).map(|dim, amount| amount - ask.demand[dim]);
        let left = Self::normalise(view, node, &left);
        let after = self.penalty(&left, &self.direction[view.type_index(node)]);
        let before = if self.weights.is_absolute { 0.0 } else { self.penalty_before(view, node) };
        after - before + self.weights.tightness * self.mean(&left)
    }
}

