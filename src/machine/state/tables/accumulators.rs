//! The instructions that use operand registers (A or D) of a `wgmma` of their function. Only their registers are checked while a `wgmma` is
//! in flight.

use std::collections::BTreeSet;

use crate::program::operands::registers_of;
use crate::program::{Bank, Inst, Op, Program, Slot, SrcKind, WarpgroupOp, WgmmaA, WgmmaOp};

/// For each instruction of `program`, true if it uses such registers and is no `wgmma`; empty for a program without `wgmma`.
pub fn operand_uses(program: &Program) -> Vec<bool> {
    if program.wgmmas.is_empty() {
        return Vec::new();
    }
    let mut uses = vec![false; program.code.len()];
    for function in &program.functions {
        let code = function.code.start as usize..function.code.end as usize;
        let slots: BTreeSet<Slot> = program.code[code.clone()].iter().flat_map(|inst| slots_of(program, inst)).collect();
        for at in code.filter(|_| !slots.is_empty()) {
            let inst = &program.code[at];
            if !matches!(inst.op, Op::Wgmma(WarpgroupOp::Multiply { .. })) {
                registers_of(inst, program, |_, register| uses[at] |= register.bank == Bank::B32 && slots.contains(&register.slot));
            }
        }
    }
    uses
}

/// The slots of A and D of `inst`, if it is a `wgmma`.
fn slots_of(program: &Program, inst: &Inst) -> Vec<Slot> {
    let Op::Wgmma(WarpgroupOp::Multiply { wgmma }) = inst.op else { return Vec::new() };
    let op = &program.wgmmas[wgmma];
    op.d.iter().map(|d| d.0).chain(fragments(op)).collect()
}

/// The slots of A, if A is in registers.
pub fn fragments(op: &WgmmaOp) -> impl Iterator<Item = Slot> {
    let fragments = if let WgmmaA::Registers(fragments) = &op.a { &fragments[..] } else { &[] };
    fragments.iter().filter_map(|fragment| if let SrcKind::Reg(slot) = fragment.kind() { Some(slot) } else { None })
}
