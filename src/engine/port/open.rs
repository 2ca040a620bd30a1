//! The nodes that may take a task, for schedulers that look for themselves.

use crate::cluster::NodeId;
use crate::engine::belief::Belief;
use crate::engine::port::Ask;
use crate::engine::queue::Queue;
use crate::engine::setup::Setup;
use crate::resources::DimMask;

/// Says of any node whether it may take one task of an ask: it fits there, and no rule keeps it off.
#[derive(Debug)]
pub struct Open<'a> {
    pub(in crate::engine) belief: &'a Belief,
    pub(in crate::engine) setup: &'a Setup,
    pub(in crate::engine) queue: &'a Queue,
    pub(in crate::engine) slot: u32,
    pub(in crate::engine) ask: &'a Ask,
    pub(in crate::engine) dims: DimMask,
}

impl Open<'_> {
    /// Whether the node may take the task.
    #[must_use]
    pub fn has(&self, node: NodeId) -> bool {
        self.fits(node) && self.is_allowed(node)
    }

    /// Whether the task fits on the node, whatever rules say.
    #[must_use]
    pub fn fits(&self, node: NodeId) -> bool {
        self.belief.fits(node, self.ask, self.dims)
    }

    /// Whether no rule keeps the job off the node, whatever room there is.
    #[must_use]
    pub fn is_allowed(&self, node: NodeId) -> bool {
        !self.queue.is_kept_from(node, self.slot)
            && !self.belief.is_cordoned(node)
            && Belief::allows(self.setup, node, self.ask)
    }

    /// Dimensions in which a node must have room: in these, what is left after the task is not negative.
    #[must_use]
    pub fn dims(&self) -> DimMask {
        self.dims
    }
}

/// What a scheduler found that looked for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// The best node.
    Found(NodeId),
    /// The task may go nowhere.
    Nothing,
    /// It cannot look for itself and wants a list of candidates.
    NeedsList,
}
