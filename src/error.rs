//! What can go wrong in a run, in one type.

use core::fmt;

use crate::cluster::NodeId;

/// Why a run cannot start, or had to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The setup contradicts itself; the text says where and what to do.
    Setup(String),
    /// A scheduler answered with a node that was not among the candidates. The books are untouched.
    BrokenRule {
        /// Id of the scheduler.
        scheduler: String,
        /// The node it named.
        node: NodeId,
        /// Position of the job in order of arrival.
        job: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setup(text) => write!(f, "this run cannot start: {text}"),
            Self::BrokenRule { scheduler, node, job } => write!(
                f,
                "scheduler {scheduler} put job {job} on node {}, which was not among its candidates; the run stops here",
                node.0
            ),
        }
    }
}

impl core::error::Error for Error {}
