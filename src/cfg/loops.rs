//! Loops: the strongly connected components of a control-flow graph.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use super::blocks::{BlockId, Graph};

/// A loop: blocks that can all reach each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Its entry; if there are several (irreducible control flow), the first in the text.
    pub header: BlockId,
    /// Its blocks, including those of inner loops, in the order of the text.
    pub blocks: Vec<BlockId>,
    /// The enclosing loop: an index into `ControlFlow::loops`.
    pub parent: Option<usize>,
    /// 1 for an outermost loop.
    pub depth: u32,
}

/// A subgraph: some blocks of a function, and some of the edges between them.
pub(super) struct Region<'g> {
    pub(super) graph: &'g Graph,
    /// The blocks, in the order of the text.
    pub(super) blocks: Vec<BlockId>,
    /// Edges inside the region, as pairs of indices into `blocks`.
    pub(super) edges: Vec<(usize, usize)>,
}

impl<'g> Region<'g> {
    /// The `blocks`, in the order of the text, with the edges between them, except the back edges to `header`: the blocks are the body
    /// of its loop.
    pub(super) fn new(graph: &'g Graph, blocks: Vec<BlockId>, header: Option<BlockId>) -> Self {
        Self::without_cut_edges(graph, blocks, |_, to| Some(to) == header)
    }

    /// The `blocks`, with the edges between them for which `is_cut` is false.
    pub(super) fn without_cut_edges(graph: &'g Graph, blocks: Vec<BlockId>, is_cut: impl Fn(BlockId, BlockId) -> bool) -> Self {
        let mut edges = Vec::with_capacity(2 * blocks.len());
        for (from, block) in blocks.iter().enumerate() {
            let uncut = graph.successors(*block).iter().filter(|next| !is_cut(*block, **next));
            edges.extend(uncut.filter_map(|next| Some((from, blocks.binary_search(next).ok()?))));
        }
        Self { graph, blocks, edges }
    }

    /// The strongly connected components: the number of each block's component, and for each component the indices of its blocks, sorted.
    pub(super) fn components(&self) -> (Vec<usize>, Vec<Vec<usize>>) {
        let mut graph = DiGraph::<(), (), usize>::with_capacity(self.blocks.len(), self.blocks.len());
        self.blocks.iter().for_each(|_| {
            graph.add_node(());
        });
        graph.extend_with_edges(&self.edges);
        let mut component_of = vec![0; self.blocks.len()];
        let mut components: Vec<Vec<usize>> = Vec::new();
        for component in kosaraju_scc(&graph) {
            let mut component: Vec<usize> = component.into_iter().map(petgraph::graph::NodeIndex::index).collect();
            component.sort_unstable();
            component.iter().for_each(|index| component_of[*index] = components.len());
            components.push(component);
        }
        (component_of, components)
    }

    /// True if a component is a loop: several blocks, or one with an edge to itself.
    pub(super) fn is_loop(&self, component: &[usize]) -> bool {
        component.len() > 1 || component.first().is_some_and(|block| self.edges.binary_search(&(*block, *block)).is_ok())
    }
}

/// The header of a loop: the first of its blocks, in the order of the text, that is the function's entry or has a predecessor
/// outside.
pub(super) fn header(graph: &Graph, blocks: &[BlockId]) -> Option<BlockId> {
    let is_inside = |block: &BlockId| blocks.binary_search(block).is_ok();
    let is_entry = |block: &BlockId| block.0 == 0 || !graph.predecessors(*block).iter().all(is_inside);
    blocks.iter().copied().find(is_entry).or_else(|| blocks.first().copied())
}
