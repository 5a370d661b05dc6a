//! Multiplications and additions that are rounded once, as the vendor's assembler joins them: which belongs to which. It is said
//! wherever one of the two is looked at, because the register between them does not hold what the addition takes.

use crate::debug::names::scope;
use crate::debug::scene::Scene;
use crate::isa::{Factored, FloatBinary, FloatUnary};
use crate::program::{Contraction, ContractionKind, FloatOp, Op, Pc, Program, operands};

/// What an instruction is rounded once with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContractionNote {
    /// An addition, a scaling or a reciprocal.
    WithGiven {
        /// How the two are joined.
        how: ContractionKind,
        /// What it takes the operands of.
        given: Given,
        /// Where that is.
        place: String,
    },
    /// A product, quotient or the like.
    WithTakers {
        /// How they are joined.
        how: ContractionKind,
        /// The operation that is joined.
        given: Given,
        /// Where its operands are taken.
        places: Vec<String>,
    },
}

/// What is not rounded by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// `mul`.
    Product,
    /// `div`.
    Quotient,
    /// `rcp`.
    Reciprocal,
    /// `ex2`.
    Power,
}

/// What the instruction at `pc` is rounded once with, if it is.
pub fn rounded_once(program: &Program, pc: Pc) -> Option<ContractionNote> {
    if let Some(Contraction { how, given, .. }) = program.contracted_given(pc) {
        return Some(ContractionNote::WithGiven { how, given: given_of(&program.code[given.index()].op), place: program.place(given) });
    }
    let how = program.contracted_takers(pc).next()?.how;
    let places = program.contracted_takers(pc).map(|contracted| program.place(contracted.taker)).collect();
    Some(ContractionNote::WithTakers { how, given: given_of(&program.code[pc.index()].op), places })
}

/// What the result of `op`, which is joined with others, is called.
fn given_of(op: &Op) -> Given {
    let Op::Float(op) = op else { return Given::Product };
    match op {
        FloatOp::Unary { f: FloatUnary::Ex2Approx, .. } | FloatOp::KeepingProduct { f: Factored::Ex2Operand, .. } => Given::Power,
        FloatOp::Unary { .. } | FloatOp::KeepingProduct { f: Factored::Reciprocal | Factored::RcpOperand, .. } => Given::Reciprocal,
        FloatOp::Binary { f: FloatBinary::Mul, .. } | FloatOp::KeepingProduct { f: Factored::Mul, .. } => Given::Product,
        FloatOp::Binary { .. } | FloatOp::KeepingProduct { .. } => Given::Quotient,
        FloatOp::Ternary { .. } | FloatOp::TestProperty { .. } => Given::Product,
    }
}

/// The instructions that the one at `pc` is rounded once with.
pub(super) fn partners(program: &Program, pc: Pc) -> Vec<(ContractionKind, Pc)> {
    let given = program.contracted_given(pc).map(|contracted| (contracted.how, contracted.given));
    given.into_iter().chain(program.contracted_takers(pc).map(|contracted| (contracted.how, contracted.taker))).collect()
}

/// If the register called `name` holds a product that additions still to come take before it is rounded: those additions.
pub fn unrounded_uses(scene: &Scene<'_>, name: &str) -> Option<ContractionNote> {
    let frame = scene.frame().ok()?;
    let (program, function) = (scene.program(), scene.function(&frame));
    let register = scope::register(function, frame.pc, name)?;
    let holds = |pc: Pc| {
        operands::writes(&program.code[pc.index()], program)
            .iter()
            .any(|written| (written.bank, Some(written.slot)) == (register.bank, register.slot))
    };
    let coming = program
        .contracted
        .iter()
        .filter(|contracted| function.code.contains(&contracted.given.0) && contracted.given < frame.pc && frame.pc <= contracted.taker);
    let product = coming.map(|contracted| contracted.given).filter(|product| holds(*product)).max()?;
    rounded_once(program, product)
}
