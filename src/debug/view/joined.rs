//! Multiplications and additions that are rounded once, as the vendor's assembler joins them: which belongs to which. It is said
//! wherever one of the two is looked at, because the register between them does not hold what the addition takes.

use crate::debug::names::scope;
use crate::debug::scene::Scene;
use crate::program::{Pc, Program, operands};

/// What an instruction is rounded once with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoundedOnce {
    /// An addition with the multiplication at this place.
    WithProduct(String),
    /// A multiplication with the additions at these places.
    WithSums(Vec<String>),
}

/// What the instruction at `pc` is rounded once with, if it is.
pub fn rounded_once(program: &Program, pc: Pc) -> Option<RoundedOnce> {
    if let Some(product) = program.joined_product(pc) {
        return Some(RoundedOnce::WithProduct(program.place(product)));
    }
    let sums: Vec<String> = program.joined_sums(pc).map(|sum| program.place(sum)).collect();
    (!sums.is_empty()).then_some(RoundedOnce::WithSums(sums))
}

/// The instructions that the one at `pc` is rounded once with.
pub(super) fn partners(program: &Program, pc: Pc) -> Vec<Pc> {
    program.joined_product(pc).into_iter().chain(program.joined_sums(pc)).collect()
}

/// If the register called `name` holds a product that additions still to come take before it is rounded: those additions.
pub fn unrounded_uses(scene: &Scene<'_>, name: &str) -> Option<RoundedOnce> {
    let frame = scene.frame().ok()?;
    let (program, function) = (scene.program(), scene.function(&frame));
    let register = scope::register(function, frame.pc, name)?;
    let holds = |pc: Pc| {
        operands::writes(&program.code[pc.index()], program)
            .iter()
            .any(|written| (written.bank, Some(written.slot)) == (register.bank, register.slot))
    };
    let coming = program
        .joined
        .iter()
        .filter(|joined| function.code.contains(&joined.product.0) && joined.product < frame.pc && frame.pc <= joined.sum);
    let product = coming.map(|joined| joined.product).filter(|product| holds(*product)).max()?;
    rounded_once(program, product)
}
