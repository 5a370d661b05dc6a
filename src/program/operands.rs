//! The registers that an instruction reads and writes.
//!
//! The operands of an [`Op`] are slots; their banks follow from its types and widths. Slots are relative to the base of the frame that
//! executes the instruction. A `call` reads its arguments; its results are written to the caller's frame when the callee returns:
//! [`call_results`]. A `ret` reads the [`result_registers`].
//!
//! [`Op`]: super::Op

use super::{Bank, Inst, Program};

pub(super) use super::visitor::OperandVisitor;
pub use super::visitor::{RegisterOperand, RegisterOperands, Use, argument_register, call_results, parameter_registers, result_registers};

/// Calls `visit` for every register that `inst` uses, first those that it reads, then those that it writes. A register that is used twice
/// is visited twice.
pub fn registers_of(inst: &Inst, program: &Program, mut visit: impl FnMut(Use, RegisterOperand)) {
    let mut visitor = OperandVisitor { program, visit: &mut visit };
    if let Some(guard) = inst.guard {
        visitor.visit_slot(Use::Guard, Bank::Pred, guard.slot, 1);
    }
    inst.op.operands(&mut visitor);
}

/// The registers that `inst` reads: its guard, the base of its address and its sources.
pub fn reads(inst: &Inst, program: &Program) -> RegisterOperands {
    collect(inst, program, |used| used != Use::Write)
}

/// The registers that `inst` writes when it is executed; none for a call, whose results are written when it returns.
pub fn writes(inst: &Inst, program: &Program) -> RegisterOperands {
    collect(inst, program, |used| used == Use::Write)
}

/// The base registers of the addresses of `inst`.
pub fn address_registers(inst: &Inst, program: &Program) -> RegisterOperands {
    collect(inst, program, |used| used == Use::Address)
}

fn collect(inst: &Inst, program: &Program, matches: impl Fn(Use) -> bool) -> RegisterOperands {
    let mut registers = RegisterOperands::new();
    registers_of(inst, program, |used, register| {
        if matches(used) && !registers.contains(&register) {
            registers.push(register);
        }
    });
    registers
}
