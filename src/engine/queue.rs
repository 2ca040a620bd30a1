//! Who waits, in which order; which nodes are kept for whom; and where capacity came back.

use std::collections::VecDeque;

use crate::cluster::NodeId;
use crate::engine::log::NodeLog;

/// No job.
const NOBODY: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(crate) struct Queue {
    slots: VecDeque<u32>,
    /// For whom each node is kept.
    kept_for: Vec<u32>,
    kept: usize,
    /// Nodes on which more became available. A waiting job that failed needs to look only at those that came after
    /// its attempt.
    gains: NodeLog,
    /// End of the log when the queue was last walked.
    walked: u64,
}

impl Queue {
    pub fn new(nodes: usize) -> Self {
        Self { slots: VecDeque::new(), kept_for: vec![NOBODY; nodes], kept: 0, gains: NodeLog::new(nodes), walked: 0 }
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.slots.iter().copied()
    }

    pub fn get(&self, position: usize) -> Option<u32> {
        self.slots.get(position).copied()
    }

    pub fn push_back(&mut self, slot: u32) {
        self.slots.push_back(slot);
    }

    pub fn push_front(&mut self, slot: u32) {
        self.slots.push_front(slot);
    }

    pub fn remove(&mut self, position: usize) {
        self.slots.remove(position);
    }

    /// Notes that more is available on a node.
    pub fn gain(&mut self, node: NodeId) {
        self.gains.push(node);
    }

    /// Whether capacity came back since the queue was last walked.
    pub fn has_new_gains(&self) -> bool {
        self.end_of_log() > self.walked
    }

    pub fn mark_walked(&mut self) {
        self.walked = self.end_of_log();
    }

    pub fn end_of_log(&self) -> u64 {
        self.gains.end()
    }

    /// Gains since `seen`; `None` if they are no longer known and every node must be looked at.
    pub fn gains_since(&self, seen: Option<u64>) -> Option<&[NodeId]> {
        self.gains.since(seen?)
    }

    pub fn is_reserved(&self, node: NodeId) -> bool {
        self.kept_for[node.index()] != NOBODY
    }

    /// Whether the node is kept for a job other than this one.
    pub fn is_kept_from(&self, node: NodeId, slot: u32) -> bool {
        let owner = self.kept_for[node.index()];
        owner != NOBODY && owner != slot
    }

    /// Number of nodes kept for anyone.
    pub fn kept(&self) -> usize {
        self.kept
    }

    pub fn keep(&mut self, node: NodeId, slot: u32) {
        self.kept_for[node.index()] = slot;
        self.kept += 1;
    }

    /// Gives a kept node back to everybody, who gain it.
    pub fn give_back(&mut self, node: NodeId) {
        self.kept_for[node.index()] = NOBODY;
        self.kept -= 1;
        self.gain(node);
    }
}
