//! Whether what a load brings is used, or only copied: a structure is copied with the padding in it, which is never written.

use crate::program::operands::{RegisterOperand, reads, writes};
use crate::program::{MemoryOp, Op, Pc, Program};

/// Whether the bytes of `lacks`, as bits, that the load at `pc` brings reach a register that anything but a store reads. Of what is no
/// load it is taken to be so.
pub(super) fn uses(program: &Program, pc: Pc, lacks: u64) -> bool {
    let inst = &program.code[pc.index()];
    let Op::Memory(MemoryOp::Load { bits, .. } | MemoryOp::LoadVector { bits, .. }) = inst.op else { return true };
    let element = u32::from(bits).div_ceil(8);
    let dests = writes(inst, program);
    let mut index = 0_u32;
    // A component that is dropped has no register, which shifts the others: then any of them may be the one.
    let exact = dests.len() as u32 * element >= 64 - lacks.leading_zeros();
    let brings = |_: &&RegisterOperand| {
        let start = index * element;
        index += 1;
        !exact || lacks >> start.min(63) & ((1 << element.min(63)) - 1) != 0
    };
    let lacking: Vec<RegisterOperand> = dests.iter().filter(brings).copied().collect();
    lacking.iter().any(|register| is_computed_with(program, pc, *register))
}

/// Whether any instruction of the function reads the register for anything but to store it.
fn is_computed_with(program: &Program, pc: Pc, register: RegisterOperand) -> bool {
    let Some(function) = program.function_at(pc).map(|id| &program.functions[id.index()]) else { return true };
    let code = program.code.get(function.code.start as usize..function.code.end as usize).unwrap_or(&[]);
    code.iter().any(|inst| {
        reads(inst, program).contains(&register) && !matches!(inst.op, Op::Memory(MemoryOp::Store { .. } | MemoryOp::StoreVector { .. }))
    })
}
