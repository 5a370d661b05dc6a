//! Registers that may be read before they are written: a forward analysis over the control flow of each function.
//!
//! Reads of registers that are not definitely assigned ([`crate::flow::definite`]) are candidates, which the run confirms or not. Nearly
//! all kernels have none.

use crate::cfg::ControlFlow;
use crate::flow::definite::DefiniteAssignment;
use crate::program::operands::{RegisterOperand, Use, registers_of};
use crate::program::{FuncId, Inst, IntegerOp, Op, Program};

/// The registers of `function` that some path reads before it writes them, each once.
pub(super) fn candidates(program: &Program, function: FuncId) -> Vec<RegisterOperand> {
    let body = &program.functions[function.index()];
    if body.code.is_empty() {
        return Vec::new();
    }
    let flow = ControlFlow::new(program, function);
    let assignment = DefiniteAssignment::new(program, body, &flow);
    let mut found = Vec::new();
    for ((_, code), mut written) in flow.blocks().zip(assignment.before_blocks()) {
        for inst in &program.code[code.start as usize..code.end as usize] {
            registers_of(inst, program, |used, register| {
                let is_written = || written.0.contains_all_in_range(assignment.cells.of(register));
                if used != Use::Write && !is_written() && !found.contains(&register) && !cancels(inst) {
                    found.push(register);
                }
            });
            assignment.execute(inst, &mut written);
        }
    }
    found
}

/// True if the result does not depend on the operands, as that of `xor d, a, a`.
fn cancels(inst: &Inst) -> bool {
    use crate::isa::IntBinary::{Sub, SubSat, Xor};
    matches!(inst.op, Op::Integer(IntegerOp::Binary { f: Xor | Sub | SubSat, a, b, .. }) if a == b)
}
