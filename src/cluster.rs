//! Nodes and what is left of them. [`books`] is the only code that allocates and frees.

use serde::{Deserialize, Serialize};

pub mod books;

pub use books::Cluster;

/// A node, by position. Lowest first is the order of ties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    /// As an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
