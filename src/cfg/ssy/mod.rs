//! The reconvergence points of warps with a reconvergence stack: the targets that ptxas for sm_6x and earlier pushes with SSY and PBK.
//!
//! The hardware computes no post-dominators: lanes reconverge at the target of an SSY or PBK that they have executed. This module models
//! where ptxas puts these instructions. A target is pushed
//!
//! - for a block that several paths lead to, before the branch at which these paths diverge, or before the loop they leave;
//! - for the exit of a loop, before the loop;
//! - for the header of a loop with several back edges, in every iteration. A back edge whose natural loop has a single exit target,
//!   inside the outer loop, is treated as a nested loop.
//!
//! Candidates are chosen for outer loops before inner ones; within a loop, first the blocks that all paths lead to, then the exit at a
//! latch, then the others, each from last to first. A candidate is skipped if it cannot be pushed together with those chosen before
//! ([`nesting`]): only one entry of a stack can be reached by skipping inner ones. A block that only leads to an exit is no candidate.

mod candidates;
mod nesting;
mod shape;

use super::blocks::{BlockId, Graph};
use crate::program::Program;
use candidates::candidates;
use nesting::Nesting;
use shape::{Ending, Shape};

/// For each block, the targets that are pushed before the branch at its end, the outermost first.
pub(super) fn pushed(program: &Program, graph: &Graph) -> Vec<Vec<BlockId>> {
    if graph.len() == 0 {
        return Vec::new();
    }
    let shape = Shape::new(program, graph);
    let mut nesting = Nesting::new(&shape);
    candidates(&shape).into_iter().for_each(|candidate| nesting.choose(candidate));
    let mut pushed = nesting.targets();
    for (block, targets) in pushed.iter_mut().enumerate() {
        let block = BlockId::new(block);
        if shape.endings[block.index()] != Ending::Plain {
            targets.extend(only_successor(program, graph, block).filter(|next| !targets.contains(next)));
        }
    }
    pushed
}

/// The target of the branch that ends `block` if all its paths are the same: ptxas removes the branch.
fn only_successor(program: &Program, graph: &Graph, block: BlockId) -> Option<BlockId> {
    if let [next] = graph.successors(block) {
        return Some(*next);
    }
    let mut threaded_targets = graph.threaded_targets(program, block);
    let first = threaded_targets.next()??;
    threaded_targets.all(|other| other == Some(first)).then_some(first)
}
