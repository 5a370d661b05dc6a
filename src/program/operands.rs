//! Which registers an instruction reads and writes.
//!
//! An [`Op`] names slots only; their banks follow from its types and widths, as `machine::exec` reads them. Slots count from the base
//! of the frame that executes the instruction. A `call` reads its arguments; its results are written when the callee returns, into
//! the frame of the caller: [`call_results`]. A `ret` reads what [`result_registers`] names.
//!
//! [`Op`]: super::Op

use super::{Bank, Inst, Program};

pub(super) use super::walk::Walk;
pub use super::walk::{RegisterOperand, RegisterOperands, Use, argument_register, call_results, parameter_registers, result_registers};

/// Shows `visit` every register that `inst` uses, what it reads before what it writes. One that is used twice is shown twice.
pub fn registers_of(inst: &Inst, program: &Program, mut visit: impl FnMut(Use, RegisterOperand)) {
    let mut walk = Walk { program, visit: &mut visit };
    if let Some(guard) = inst.guard {
        walk.show(Use::Guard, Bank::Pred, guard.slot, 1);
    }
    inst.op.operands(&mut walk);
}

/// The registers that `inst` reads: its guard, the base of its address and its sources.
pub fn reads(inst: &Inst, program: &Program) -> RegisterOperands {
    collect(inst, program, |used| used != Use::Write)
}

/// The registers that `inst` writes when it is executed; none for a call, whose results come when it returns.
pub fn writes(inst: &Inst, program: &Program) -> RegisterOperands {
    collect(inst, program, |used| used == Use::Write)
}

/// The registers that the addresses of `inst` start from.
pub fn address_registers(inst: &Inst, program: &Program) -> RegisterOperands {
    collect(inst, program, |used| used == Use::Address)
}

fn collect(inst: &Inst, program: &Program, wanted: impl Fn(Use) -> bool) -> RegisterOperands {
    let mut registers = RegisterOperands::new();
    registers_of(inst, program, |used, register| {
        if wanted(used) && !registers.contains(&register) {
            registers.push(register);
        }
    });
    registers
}
