//! Nodes to which something happened, in order, for readers who come back later and want to know what they missed.

use crate::cluster::NodeId;

/// A log of nodes. Its beginning is forgotten when it is no shorter work to look at every node.
#[derive(Clone, Debug)]
pub(crate) struct NodeLog {
    entries: Vec<NodeId>,
    /// Number of entries forgotten before the first of `entries`.
    forgotten: u64,
    most: usize,
}

impl NodeLog {
    /// For a cluster of so many nodes.
    pub fn new(nodes: usize) -> Self {
        Self { entries: Vec::new(), forgotten: 0, most: 2 * nodes + 256 }
    }

    pub fn push(&mut self, node: NodeId) {
        if self.entries.len() > self.most {
            self.forgotten += self.entries.len() as u64;
            self.entries.clear();
        }
        self.entries.push(node);
    }

    /// Where the next entry goes.
    pub fn end(&self) -> u64 {
        self.forgotten + self.entries.len() as u64
    }

    /// Entries from position `seen` on; `None` if they are no longer known and every node must be looked at.
    pub fn since(&self, seen: u64) -> Option<&[NodeId]> {
        self.entries.get(seen.checked_sub(self.forgotten)? as usize..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_gets_what_it_missed_or_is_told_that_it_is_gone() {
        let mut log = NodeLog::new(1);
        log.push(NodeId(0));
        let seen = log.end();
        log.push(NodeId(7));
        assert_eq!(log.since(seen), Some([NodeId(7)].as_slice()));
        assert_eq!(log.since(log.end()), Some([].as_slice()));
        for _ in 0..600 {
            log.push(NodeId(0));
        }
        assert_eq!(log.since(seen), None);
        assert_eq!(log.end(), 602);
    }
}
