//! Distinguishes loaded values that are used from those that are only copied: structures are copied with their padding, which is never
//! written.

use crate::program::operands::{RegisterOperand, reads, writes};
use crate::program::{MemoryOp, Op, Pc, Program};

/// True if a register that receives bytes of `undefined_bytes`, a bit mask, from the load at `pc` is read by anything but a store. True if
/// the instruction is no load.
pub(super) fn are_used(program: &Program, pc: Pc, undefined_bytes: u64) -> bool {
    let inst = &program.code[pc.index()];
    let Op::Memory(MemoryOp::Load { bits, .. } | MemoryOp::LoadVector { bits, .. }) = inst.op else { return true };
    let element = u32::from(bits).div_ceil(8);
    let dests = writes(inst, program);
    let mut index = 0_u32;
    // A discarded component has no register, which shifts the others: then any of them may receive the bytes.
    let is_exact = dests.len() as u32 * element >= 64 - undefined_bytes.leading_zeros();
    let is_undefined = |_: &&RegisterOperand| {
        let start = index * element;
        index += 1;
        !is_exact || undefined_bytes >> start.min(63) & ((1 << element.min(63)) - 1) != 0
    };
    let undefined_registers: Vec<RegisterOperand> = dests.iter().filter(is_undefined).copied().collect();
    undefined_registers.iter().any(|register| is_computed_with(program, pc, *register))
}

/// True if any instruction of the function reads the register for anything but to store it.
fn is_computed_with(program: &Program, pc: Pc, register: RegisterOperand) -> bool {
    let Some(function) = program.function_at(pc).map(|id| &program.functions[id.index()]) else { return true };
    let code = program.code.get(function.code.start as usize..function.code.end as usize).unwrap_or(&[]);
    code.iter().any(|inst| {
        reads(inst, program).contains(&register) && !matches!(inst.op, Op::Memory(MemoryOp::Store { .. } | MemoryOp::StoreVector { .. }))
    })
}
