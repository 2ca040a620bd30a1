//! Schedulers that give each node a whole number of points.
//!
//! The points of a node depend on the node's state and on part of the ask, so they are kept until the node changes:
//! a row a distinct ask, a cell a node.

use std::collections::BTreeMap;

use crate::cluster::NodeId;
use crate::engine::port::{Ask, Cost, Scheduler, Term, View};
use crate::resources::{DIMS, Dim};

/// A scheduler that is a whole number of points for one node, more is better. Implement this, wrap it in [`Graded`],
/// and [`Scheduler`] follows.
pub trait Grade: Clone + core::fmt::Debug + Send + Sync + 'static {
    /// Points of `node` for one task of `ask`. They may depend on the ask's demand in the dimensions of
    /// [`DIMS`](Self::DIMS), on its number of devices, and on what the view says of this node and its type – on
    /// nothing else.
    fn grade(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> i32;

    /// Dimensions of the demand that it looks at.
    const DIMS: &'static [Dim];

    /// As [`Scheduler::device`].
    fn device(&mut self, _view: &View<'_>, _ask: &Ask, _node: NodeId) -> Option<usize> {
        None
    }

    /// As [`Scheduler::forget`].
    fn forget(&mut self) {}
}

/// The scheduler that a [`Grade`] makes.
#[derive(Clone, Debug)]
pub struct Graded<G> {
    policy: G,
    /// The row of each distinct ask: demand in the dimensions looked at, and number of devices.
    rows: BTreeMap<([i32; DIMS], u16), usize>,
    /// By row and node: the version of the node for which the points are, and the points. Versions start at 1.
    points: Vec<Vec<(u32, i32)>>,
    remembers: bool,
}

impl<G: Grade> Graded<G> {
    /// Of a policy.
    pub fn new(policy: G) -> Self {
        Self { policy, rows: BTreeMap::new(), points: Vec::new(), remembers: true }
    }

    fn row(&mut self, view: &View<'_>, ask: &Ask) -> usize {
        let looked_at = ask.demand.map(|dim: Dim, amount| if G::DIMS.contains(&dim) { amount } else { 0 });
        let rows = self.rows.len();
        let row = *self.rows.entry((looked_at.0, ask.gpus)).or_insert(rows);
        if row == self.points.len() {
            self.points.push(vec![(0, 0); view.len()]);
        }
        row
    }

    /// Tells `visit` each candidate's points.
    fn visit(&mut self, view: &View<'_>, ask: &Ask, nodes: &[NodeId], mut visit: impl FnMut(NodeId, i32)) {
        if !self.remembers {
            for &node in nodes {
                visit(node, self.policy.grade(view, ask, node));
            }
            return;
        }
        let row = self.row(view, ask);
        for &node in nodes {
            let version = view.version(node);
            let (known, points) = self.points[row][node.index()];
            let points = if known == version {
                points
            } else {
                let points = self.policy.grade(view, ask, node);
                self.points[row][node.index()] = (version, points);
                points
            };
            visit(node, points);
        }
    }
}

impl<G: Grade> Scheduler for Graded<G> {
    fn choose(&mut self, view: &View<'_>, ask: &Ask, candidates: &[NodeId]) -> Option<NodeId> {
        let mut best: Option<(i32, NodeId)> = None;
        self.visit(view, ask, candidates, |node, points| {
            if best.is_none_or(|(most, _)| points > most) {
                best = Some((points, node));
            }
        });
        best.map(|(_, node)| node)
    }

    fn equals(&mut self, view: &View<'_>, ask: &Ask, candidates: &[NodeId], equals: &mut Vec<NodeId>) {
        equals.clear();
        let mut most = i32::MIN;
        self.visit(view, ask, candidates, |node, points| {
            if points > most {
                most = points;
                equals.clear();
            }
            if points == most {
                equals.push(node);
            }
        });
    }

    fn device(&mut self, view: &View<'_>, ask: &Ask, node: NodeId) -> Option<usize> {
        self.policy.device(view, ask, node)
    }

    fn costs(&mut self, view: &View<'_>, ask: &Ask, candidates: &[NodeId]) -> Option<Vec<Cost>> {
        let mut costs = Vec::with_capacity(candidates.len());
        self.visit(view, ask, candidates, |_, points| {
            let value = -f64::from(points);
            costs.push(Cost { total: value, terms: vec![Term { name: "points", value }] });
        });
        Some(costs)
    }

    fn forget(&mut self) {
        self.remembers = false;
        self.policy.forget();
    }

    fn clone_box(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}
