//! Contraction: two operations without a rounding modifier become one, which rounds once.
//!
//! PTX leaves it open whether they do (PTX ISA, "add", "sub", "mul": "may be contracted"); the assembler does it, and so what a GPU
//! computes follows. Its rules, as seen in what ptxas 13.0 makes of all pairs of floating-point operations for sm_75, sm_80 and sm_90:
//!
//! - A *product* is `mul`, a fast quotient (`div.full`, `div.approx`: the scaled dividend by the reciprocal of the scaled divisor) or
//!   `rcp.approx.f32` without `.ftz` (the scale by the reciprocal), without a guard and `.sat`. It is joined with every addition and
//!   subtraction that uses it, or with none: one other use, a use in another block or after a call, and none is joined; types and `.ftz`
//!   agree ([`sums`]).
//! - A product with a factor that needs no register (a constant, a parameter of the kernel, a number in the constant bank) goes to its uses
//!   in any block.
//! - What `mov`, `neg`, multiplication by 1 or -1 and conversions that convert nothing make of the product, without a guard, counts as the
//!   product.
//! - Of the sum of two products the one with a single use is joined, the first operand's if both have.
//! - A product whose only use is a multiplication by 2, 4, 8 or the inverse of these is scaled before it is rounded, unless that
//!   multiplication goes into a sum; one whose only use is a flushing conversion to 64 bits flushes instead ([`scaled`]).
//! - The reciprocal of `rcp.approx.ftz.f32` is its operand, that of `ex2.approx.ftz.f32` the power of the negative one ([`inverse`]).
//! - What is computed of constants alone is computed by the assembler, which rounds reciprocals to nearest ([`known`]).
//! - Modules for the debugger (`.target .., debug`) are left as they are.
//!
//! The first operation itself stays where it is, so that its register can be looked at. Where its operands or factors are in no register
//! any more, it becomes [`FloatOp::KeepingProduct`], which keeps them in registers without a name. What was joined is listed in
//! [`Program::contracted`].

mod flow;
mod inverse;
mod kept;
mod known;
mod scaled;
mod sums;

use crate::isa::{FloatBinary, FloatType, FloatUnary};
use crate::program::{Bank, FloatOp, Op, Program};
use flow::Function;

/// Joins operations in all functions of `program`, and marks the quotients whose divisor the assembler knows.
pub(super) fn contract(program: &mut Program) {
    for index in 0..program.functions.len() {
        let code = program.functions[index].code.start as usize..program.functions[index].code.end as usize;
        if !program.code[code.clone()].iter().any(|inst| may_join(&inst.op)) {
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
    program.contracted.sort_unstable_by_key(|contracted| (contracted.taker, contracted.given));
}

/// Whether `op` may be joined with another one, or folded.
fn may_join(op: &Op) -> bool {
    sums::open_product(op).is_some() || divides(op) || matches!(op, Op::Float(FloatOp::Unary { f: FloatUnary::Neg, .. }))
}

/// Whether `op` takes a reciprocal from the special-function unit, unless the assembler knows the operand.
fn divides(op: &Op) -> bool {
    matches!(
        op,
        Op::Float(
            FloatOp::Binary { f: FloatBinary::DivApprox | FloatBinary::DivFull, .. }
                | FloatOp::Unary { f: FloatUnary::RcpApprox, ty: FloatType::F32, .. }
        )
    )
}

impl Function {
    /// Marks the division or reciprocal at `at` if the assembler knows its divisor.
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
            | FloatOp::KeepingProduct { .. }
            | FloatOp::TestProperty { .. } => return,
        };
        if self.known(program, divisor, Bank::B32, at).is_some() {
            program.code[at].op = Op::Float(folded);
        }
    }
}
