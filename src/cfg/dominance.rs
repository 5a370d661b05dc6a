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
    immediate(graph.len(), edges, 0)
}

/// The immediate post-dominator of every block: its dominator when every edge is reversed and an end after all ends of the function is the
/// entry. Blocks that cannot reach an end have none.
pub(super) fn post_dominators(graph: &Graph) -> Vec<Option<BlockId>> {
    let end = graph.len() as u32;
    let turned = blocks(graph).flat_map(|block| graph.successors(block).iter().map(move |next| (next.0, block.0)));
    let ends = blocks(graph).filter(|block| graph.successors(*block).is_empty()).map(|block| (end, block.0));
    let mut found = immediate(graph.len() + 1, turned.chain(ends), end);
    found.truncate(graph.len());
    found.into_iter().map(|block| block.filter(|block| block.0 != end)).collect()
}

fn blocks(graph: &Graph) -> impl Iterator<Item = BlockId> + Clone + use<> {
    (0..graph.len()).map(BlockId::new)
}

/// The immediate dominator of each of `nodes` nodes from `root` on.
fn immediate(nodes: usize, edges: impl Iterator<Item = (u32, u32)>, root: u32) -> Vec<Option<BlockId>> {
    let mut graph = DiGraph::<(), ()>::with_capacity(nodes, 0);
    (0..nodes).for_each(|_| {
        graph.add_node(());
    });
    graph.extend_with_edges(edges);
    let found = simple_fast(&graph, NodeIndex::new(root as usize));
    (0..nodes).map(|node| found.immediate_dominator(NodeIndex::new(node)).map(|node| BlockId::new(node.index()))).collect()
}
