//! Dominators and post-dominators.

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};

use super::blocks::{BlockId, Graph};

/// The immediate dominator of every block.
pub(super) fn dominators(graph: &Graph) -> Vec<Option<BlockId>> {
    if graph.len() == 0 {
        return Vec::new();
    }
    let edges = blocks(graph).flat_map(|block| graph.successors(block).iter().map(move |next| (block.0, next.0)));
    immediate_dominators(graph.len(), edges, 0)
}

/// The immediate post-dominator of every block: its immediate dominator in the reversed graph, whose entry is a virtual exit that
/// follows all exits of the function. Blocks that cannot reach an exit have none.
pub(super) fn post_dominators(graph: &Graph) -> Vec<Option<BlockId>> {
    let exit = graph.len() as u32;
    let reversed = blocks(graph).flat_map(|block| graph.successors(block).iter().map(move |next| (next.0, block.0)));
    let exits = blocks(graph).filter(|block| graph.successors(*block).is_empty()).map(|block| (exit, block.0));
    let mut idoms = immediate_dominators(graph.len() + 1, reversed.chain(exits), exit);
    idoms.truncate(graph.len());
    idoms.into_iter().map(|block| block.filter(|block| block.0 != exit)).collect()
}

fn blocks(graph: &Graph) -> impl Iterator<Item = BlockId> + Clone + use<> {
    (0..graph.len()).map(BlockId::new)
}

/// The immediate dominator of each node of a graph whose entry is `root`.
fn immediate_dominators(nodes: usize, edges: impl Iterator<Item = (u32, u32)>, root: u32) -> Vec<Option<BlockId>> {
    let mut graph = DiGraph::<(), ()>::with_capacity(nodes, 0);
    (0..nodes).for_each(|_| {
        graph.add_node(());
    });
    graph.extend_with_edges(edges);
    let tree = simple_fast(&graph, NodeIndex::new(root as usize));
    (0..nodes).map(|node| tree.immediate_dominator(NodeIndex::new(node)).map(|node| BlockId::new(node.index()))).collect()
}
