//! Contraction: two operations without a rounding modifier become one, which rounds once.
//!
//! PTX allows it (PTX ISA, "add", "sub", "mul": "may be contracted"); ptxas does it, so the results of a GPU depend on it. The rules are
//! those observed in the code of ptxas 13.0 for all pairs of floating-point operations on sm_75, sm_80 and sm_90:
//!
//! - A *product* is `mul`, a fast quotient (`div.full`, `div.approx`: the scaled dividend times the reciprocal of the scaled divisor) or
//!   `rcp.approx.f32` without `.ftz` (the scale times the reciprocal), without a guard and `.sat`. It is contracted with all additions and
//!   subtractions that use it, or with none: not if it has any other use, or one in another block, after a call, after a rounded
//!   quotient, reciprocal or root, for which ptxas calls a subroutine, or after a guarded access to memory, barrier, fence or collective,
//!   around which it branches (ptxas 12.8 and 13.0). Types and `.ftz` must agree ([`sums`]).
//! - A product with a factor that needs no register (a constant, a parameter of the kernel, a number in the constant bank) is
//!   rematerialized at its uses in any block.
//! - Results of unguarded `mov`, `neg`, multiplication by 1 or -1 and no-op conversions of a product are aliases of the product.
//! - In a sum of two products the one with a single use is contracted; if both have one, the first operand.
//! - A product whose only use is a multiplication by 2, 4, 8 or the inverse of these is scaled before it is rounded, unless the result of
//!   that multiplication is contracted with a sum; one whose only use is a flushing conversion to 64 bits flushes instead ([`scaled`]).
//! - The reciprocal of `rcp.approx.ftz.f32` is its operand, that of `ex2.approx.ftz.f32` the power of the negated operand ([`inverse`]).
//! - Operations on constants are folded by ptxas, which rounds reciprocals to nearest ([`folding`]).
//! - Modules for the debugger (`.target .., debug`) are not changed.
//!
//! The first operation remains in the code, so that its register can be inspected. If its operands or factors are overwritten before the
//! second one, it becomes [`FloatOp::ProductWithFactors`], which saves them in unnamed registers. [`Program::contractions`] lists the
//! contractions.

mod flow;
mod folding;
mod inverse;
mod saved_registers;
mod scaled;
mod sums;

use crate::isa::{FloatBinary, FloatType, FloatUnary};
use crate::program::{Bank, FloatOp, Op, Program};
use flow::Function;

/// Contracts operations in all functions of `program`, and marks quotients whose divisor is constant.
pub(super) fn contract(program: &mut Program) {
    for index in 0..program.functions.len() {
        let code = program.functions[index].code.start as usize..program.functions[index].code.end as usize;
        if !program.code[code.clone()].iter().any(|inst| may_contract(&inst.op)) {
            continue;
        }
        let function = Function::new(program, index);
        for at in code {
            function.fold_divisor(program, at);
        }
        let function = if inverse::contract_inverses(program, index, &function) { Function::new(program, index) } else { function };
        sums::contract_sums(program, index, &function);
        scaled::contract_scaled(program, index, &function);
    }
    program.contractions.sort_unstable_by_key(|contraction| (contraction.second, contraction.first));
}

/// True if `op` may be contracted with another one, or folded.
fn may_contract(op: &Op) -> bool {
    sums::fusible_product(op).is_some() || is_approximate_division(op) || matches!(op, Op::Float(FloatOp::Unary { f: FloatUnary::Neg, .. }))
}

/// True if `op` uses a reciprocal of the special-function unit, unless its operand is constant.
fn is_approximate_division(op: &Op) -> bool {
    matches!(
        op,
        Op::Float(
            FloatOp::Binary { f: FloatBinary::DivApprox | FloatBinary::DivFull, .. }
                | FloatOp::Unary { f: FloatUnary::RcpApprox, ty: FloatType::F32, .. }
        )
    )
}

impl Function {
    /// Marks the division or reciprocal at `at` if its divisor is constant.
    fn fold_divisor(&self, program: &mut Program, at: usize) {
        let Op::Float(op) = program.code[at].op else { return };
        let (divisor, folded) = match op {
            FloatOp::Binary { f: FloatBinary::DivFull, ty, mode, d, a, b } => {
                (b, FloatOp::Binary { f: FloatBinary::DivFullKnown, ty, mode, d, a, b })
            }
            FloatOp::Binary { f: FloatBinary::DivApprox, ty, mode, d, a, b } => {
                (b, FloatOp::Binary { f: FloatBinary::DivApproxKnown, ty, mode, d, a, b })
            }
            FloatOp::Unary { f: FloatUnary::RcpApprox, ty: ty @ FloatType::F32, mode, d, a } => {
                (a, FloatOp::Unary { f: FloatUnary::RcpApproxKnown, ty, mode, d, a })
            }
            FloatOp::Unary { .. }
            | FloatOp::Binary { .. }
            | FloatOp::Ternary { .. }
            | FloatOp::ProductWithFactors { .. }
            | FloatOp::TestProperty { .. } => return,
        };
        if self.folded_value(program, divisor, Bank::B32, at).is_some() {
            program.code[at].op = Op::Float(folded);
        }
    }
}
