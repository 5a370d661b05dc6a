//! Directed graphs: the interface that the solver uses.

use std::ops::Range;

/// A directed graph. Nodes are the numbers below [`Graph::nodes`].
pub trait Graph {
    /// The number of nodes.
    fn nodes(&self) -> usize;
    /// The successors of `node`.
    fn successor_nodes(&self, node: usize) -> impl Iterator<Item = usize>;
    /// The predecessors of `node`.
    fn predecessor_nodes(&self, node: usize) -> impl Iterator<Item = usize>;
}

/// A control-flow graph: nodes are basic blocks, in the order of the text.
pub trait Blocks: Graph {
    /// The instructions of a block, as indices into `Program::code`.
    fn code(&self, block: usize) -> Range<usize>;

    /// The block that holds the instruction at `at`, which must be one of the function.
    fn block_at(&self, at: usize) -> usize {
        let (mut first, mut end) = (0, self.nodes());
        while first < end {
            let middle = first.midpoint(end);
            if self.code(middle).end <= at { first = middle + 1 } else { end = middle }
        }
        first
    }
}

/// A graph by its list of edges.
#[derive(Clone, Debug, Default)]
pub struct Edges {
    successors: Lists,
    predecessors: Lists,
}

/// Adjacency lists, one after the other.
#[derive(Clone, Debug, Default)]
struct Lists {
    /// The start of each node's list in `nodes`, and the end.
    starts: Vec<usize>,
    nodes: Vec<u32>,
}

impl Lists {
    /// The list of each node has the second nodes of its pairs, in the order of the pairs.
    fn new(nodes: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0; nodes + 1];
        pairs.clone().for_each(|(from, _)| starts[from as usize + 1] += 1);
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut lists = vec![0; starts[nodes]];
        for (from, to) in pairs {
            lists[next[from as usize]] = to;
            next[from as usize] += 1;
        }
        Self { starts, nodes: lists }
    }

    fn of(&self, node: usize) -> impl Iterator<Item = usize> {
        self.nodes[self.starts[node]..self.starts[node + 1]].iter().map(|other| *other as usize)
    }
}

impl Edges {
    /// A graph of `nodes` nodes with the edges `pairs` (from, to); successors and predecessors keep the order of the pairs.
    ///
    /// # Panics
    /// If an edge has a node that is not below `nodes`.
    pub fn new(nodes: usize, pairs: &[(u32, u32)]) -> Self {
        let successors = Lists::new(nodes, pairs.iter().copied());
        let predecessors = Lists::new(nodes, pairs.iter().map(|(from, to)| (*to, *from)));
        Self { successors, predecessors }
    }
}

impl Graph for Edges {
    fn nodes(&self) -> usize {
        self.successors.starts.len().saturating_sub(1)
    }

    fn successor_nodes(&self, node: usize) -> impl Iterator<Item = usize> {
        self.successors.of(node)
    }

    fn predecessor_nodes(&self, node: usize) -> impl Iterator<Item = usize> {
        self.predecessors.of(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successors_keep_the_order_of_the_edges() {
        let graph = Edges::new(4, &[(2, 1), (0, 3), (2, 0), (0, 1), (2, 2)]);
        assert_eq!(graph.nodes(), 4);
        assert_eq!(graph.successor_nodes(0).collect::<Vec<_>>(), [3, 1]);
        assert_eq!(graph.successor_nodes(2).collect::<Vec<_>>(), [1, 0, 2]);
        assert_eq!(graph.predecessor_nodes(1).collect::<Vec<_>>(), [2, 0]);
        assert_eq!(graph.predecessor_nodes(2).collect::<Vec<_>>(), [2]);
        assert_eq!(graph.successor_nodes(1).count() + graph.successor_nodes(3).count(), 0);
        assert_eq!(Edges::new(0, &[]).nodes(), 0);
    }
}
