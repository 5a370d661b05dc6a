//! Reachability in a graph.

use fixedbitset::FixedBitSet;

use super::graph::Graph;

/// The nodes that were reached.
#[derive(Clone, Debug)]
pub struct Reached {
    set: FixedBitSet,
    order: Vec<usize>,
}

impl Reached {
    /// True if `node` was reached.
    pub fn contains(&self, node: usize) -> bool {
        self.set.contains(node)
    }

    /// The nodes in breadth-first order, the starts first.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The nodes as a set.
    pub fn into_set(self) -> FixedBitSet {
        self.set
    }
}

/// The starts and all nodes reachable from them by the edges that `next` returns. `next` is called once for each node.
pub fn closure<I: IntoIterator<Item = usize>>(
    nodes: usize,
    starts: impl IntoIterator<Item = usize>,
    mut next: impl FnMut(usize) -> I,
) -> Reached {
    let mut set = FixedBitSet::with_capacity(nodes);
    let mut order: Vec<usize> = starts.into_iter().filter(|start| !set.put(*start)).collect();
    let mut at = 0;
    while let Some(node) = order.get(at).copied() {
        order.extend(next(node).into_iter().filter(|next| !set.put(*next)));
        at += 1;
    }
    Reached { set, order }
}

/// The starts and all nodes that are reachable from them.
pub fn forward(graph: &impl Graph, starts: impl IntoIterator<Item = usize>) -> Reached {
    closure(graph.nodes(), starts, |node| graph.successor_nodes(node))
}

/// The starts and all nodes from which they are reachable.
pub fn backward(graph: &impl Graph, starts: impl IntoIterator<Item = usize>) -> Reached {
    closure(graph.nodes(), starts, |node| graph.predecessor_nodes(node))
}

#[cfg(test)]
mod tests {
    use super::super::graph::Edges;
    use super::*;

    const EDGES: &[(u32, u32)] = &[(0, 2), (0, 1), (1, 3), (2, 3), (3, 1), (4, 3)];

    #[test]
    fn nodes_are_reached_in_order_of_distance() {
        let graph = Edges::new(6, EDGES);
        assert_eq!(forward(&graph, [0]).order(), [0, 2, 1, 3]);
        assert_eq!(forward(&graph, [3, 3]).order(), [3, 1]);
        assert_eq!(backward(&graph, [1]).order(), [1, 0, 3, 2, 4]);
        assert!(forward(&graph, []).order().is_empty());
        assert!(!forward(&graph, [0]).contains(4) && forward(&graph, [0]).into_set().contains(3));
    }

    #[test]
    fn a_closure_follows_only_the_edges_that_next_returns() {
        let graph = Edges::new(6, EDGES);
        let without_3 = |node: usize| graph.successor_nodes(node).filter(|next| *next != 3).collect::<Vec<_>>();
        assert_eq!(closure(6, [0], without_3).order(), [0, 2, 1]);
    }
}
