//! Nodes and what is left of them. [`books`] is the only code that allocates and frees.

use serde::{Deserialize, Serialize};

use crate::resources::Amounts;

pub mod books;
pub mod devices;

pub use books::Cluster;
pub use devices::DeviceMask;

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

/// A kind of node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeType {
    /// Short name, e.g. `G8`.
    pub id: String,
    /// What it is, e.g. `8×H100-80`.
    pub title: String,
    /// Nominal capacity.
    pub capacity: Amounts,
}
