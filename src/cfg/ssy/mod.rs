//! Where lanes of a warp with a reconvergence stack reconverge: the targets that ptxas for sm_6x and earlier pushes on it.
//!
//! The hardware does not look for post-dominators: lanes reconverge at the target of an SSY or PBK that they executed before. This is where
//! ptxas puts these instructions. A target is pushed
//!
//! - for a block that several paths lead to, before the branch at which these paths diverge, or before the loop they leave;
//! - for the exit of a loop, before the loop;
//! - for the header of a loop with several back edges, in every iteration. A back edge whose loop can be left for one place only,
//!   inside of the others, is a loop of its own.
//!
//! Outer loops are decided on before inner ones; in a loop first what all paths lead to, then the exit after a latch, then the rest,
//! the last first. A target is left out that cannot be pushed together with those before it ([`nesting`]): only one entry of a stack can be
//! reached by skipping inner ones. A block whose only path is to an end is no reason to wait.

mod candidates;
mod nesting;
mod shape;

use super::blocks::{BlockId, Graph};
use crate::program::Program;
use candidates::candidates;
use nesting::Nesting;
use shape::{Ending, Shape};

/// By block: the targets that are pushed when lanes diverge at a branch at its end, the outermost first.
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

/// Where the branch that ends `block` leads if all its paths are the same: ptxas leaves it out.
fn only_successor(program: &Program, graph: &Graph, block: BlockId) -> Option<BlockId> {
    if let [next] = graph.successors(block) {
        return Some(*next);
    }
    let mut threaded_targets = graph.threaded_targets(program, block);
    let first = threaded_targets.next()??;
    threaded_targets.all(|other| other == Some(first)).then_some(first)
}
