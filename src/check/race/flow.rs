//! Which instruction comes before which in the code.

use crate::cfg::{BlockId, ControlFlow};
use crate::program::{FuncId, Pc, Program};

/// Whether control can flow from `from` to `to` without going round a loop; false where they are in different functions.
pub(super) fn reaches(program: &Program, from: Pc, to: Pc) -> bool {
    let function = |pc: Pc| program.functions.iter().position(|function| function.code.contains(&pc.0));
    let Some(index) = function(from).filter(|index| function(to) == Some(*index)) else { return false };
    let flow = ControlFlow::new(program, FuncId::new(index));
    let (Some(first), Some(last)) = (flow.block_of(from), flow.block_of(to)) else { return false };
    if first == last {
        return from < to;
    }
    let dominates = |above: BlockId, mut below: BlockId| {
        while below != above {
            match flow.idom(below) {
                Some(next) => below = next,
                None => return false,
            }
        }
        true
    };
    let (mut open, mut seen) = (vec![first], vec![first]);
    while let Some(block) = open.pop() {
        for next in flow.successors(block).iter().filter(|next| !dominates(**next, block)) {
            if *next == last {
                return true;
            }
            if !seen.contains(next) {
                seen.push(*next);
                open.push(*next);
            }
        }
    }
    false
}
