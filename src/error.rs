//! What can go wrong in a run, in one type.

use core::fmt;

/// Why a run cannot start, or had to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The setup contradicts itself; the text says where and what to do.
    Setup(String),
    /// A scheduler answered with a node that was not among the candidates. The books are untouched.
    BrokenRule {
        /// Id of the scheduler.
        scheduler: String,
        /// Position of the node it named.
        node: u32,
        /// Position of the job in order of arrival.
        job: u64,
    },
    /// The jobs of a recording cannot be read on; the text says where and why.
    Source(String),
    /// The books refused a placement that had passed as feasible: a fault of the simulator.
    Refused {
        /// Position of the node.
        node: u32,
        /// Position of the job in order of arrival.
        job: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setup(text) => write!(f, "this run cannot start: {text}"),
            Self::Source(text) => write!(f, "the run stops here, because its jobs cannot be read: {text}"),
            Self::BrokenRule { scheduler, node, job } => write!(
                f,
                "scheduler {scheduler} put job {job} on node {node}, which was not among its candidates; the run stops here"
            ),
            Self::Refused { node, job } => {
                write!(
                    f,
                    "node {node} does not hold job {job}, which seemed to fit; the run stops here: please report it"
                )
            }
        }
    }
}

impl core::error::Error for Error {}
