//! Notes on contractions: two operations that ptxas fuses and that are rounded once. The note is shown with both operations, because the
//! register between them does not have the value that the second operation uses.

use crate::debug::eval_context::EvalContext;
use crate::debug::names::scope;
use crate::isa::{Factored, FloatBinary, FloatUnary};
use crate::program::{Contraction, ContractionKind, FloatOp, Op, Pc, Program, operands};

/// The other operations of a contraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContractionNote {
    /// The note for the second operation: an addition, a scaling or a reciprocal.
    WithFirst {
        /// The kind of contraction.
        kind: ContractionKind,
        /// The first operation.
        first: FirstOp,
        /// Its file and line.
        place: String,
    },
    /// The note for the first operation: a product or a quotient.
    WithSeconds {
        /// The kind of contraction.
        kind: ContractionKind,
        /// The first operation.
        first: FirstOp,
        /// Files and lines of the second operations.
        places: Vec<String>,
    },
}

/// The first operation of a contraction, whose result is not rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstOp {
    /// `mul`.
    Product,
    /// `div`.
    Quotient,
    /// `rcp`.
    Reciprocal,
    /// `ex2`.
    Power,
}

/// The note for the instruction at `pc`, if it is part of a contraction.
pub fn contraction_note(program: &Program, pc: Pc) -> Option<ContractionNote> {
    if let Some(Contraction { kind, first, .. }) = program.contraction_into(pc) {
        return Some(ContractionNote::WithFirst { kind, first: first_op(&program.code[first.index()].op), place: program.place(first) });
    }
    let kind = program.contractions_from(pc).next()?.kind;
    let places = program.contractions_from(pc).map(|contraction| program.place(contraction.second)).collect();
    Some(ContractionNote::WithSeconds { kind, first: first_op(&program.code[pc.index()].op), places })
}

/// The kind of a contraction's first operation.
fn first_op(op: &Op) -> FirstOp {
    let Op::Float(op) = op else { return FirstOp::Product };
    match op {
        FloatOp::Unary { f: FloatUnary::Ex2Approx, .. } | FloatOp::ProductWithFactors { f: Factored::Ex2Operand, .. } => FirstOp::Power,
        FloatOp::Unary { .. } | FloatOp::ProductWithFactors { f: Factored::Reciprocal | Factored::RcpOperand, .. } => FirstOp::Reciprocal,
        FloatOp::Binary { f: FloatBinary::Mul, .. } | FloatOp::ProductWithFactors { f: Factored::Mul, .. } => FirstOp::Product,
        FloatOp::Binary { .. } | FloatOp::ProductWithFactors { .. } => FirstOp::Quotient,
        FloatOp::Ternary { .. } | FloatOp::TestProperty { .. } => FirstOp::Product,
    }
}

/// The other instructions of the contraction of the one at `pc`.
pub(super) fn partners(program: &Program, pc: Pc) -> Vec<(ContractionKind, Pc)> {
    let first = program.contraction_into(pc).map(|contraction| (contraction.kind, contraction.first));
    first.into_iter().chain(program.contractions_from(pc).map(|contraction| (contraction.kind, contraction.second))).collect()
}

/// The note for the register called `name`, if later additions will use the product in it before rounding.
pub fn unrounded_uses(context: &EvalContext<'_>, name: &str) -> Option<ContractionNote> {
    let frame = context.frame().ok()?;
    let (program, function) = (context.program(), context.function(&frame));
    let register = scope::register(function, frame.pc, name)?;
    let holds = |pc: Pc| {
        operands::writes(&program.code[pc.index()], program)
            .iter()
            .any(|written| (written.bank, Some(written.slot)) == (register.bank, register.slot))
    };
    let coming = program.contractions.iter().filter(|contraction| {
        function.code.contains(&contraction.first.0) && contraction.first < frame.pc && frame.pc <= contraction.second
    });
    let product = coming.map(|contraction| contraction.first).filter(|product| holds(*product)).max()?;
    contraction_note(program, product)
}
