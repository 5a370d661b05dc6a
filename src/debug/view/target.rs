//! `info target`: the target of the module, and the properties of the simulated machine.

use super::statement;
use crate::debug::eval_context::EvalContext;
use crate::machine::DivergencePolicy;
use crate::program::{Op, Pc, Program};

/// The target on which results of the special-function unit and the tensor cores were recorded.
const RECORDED: u32 = 90;

/// A module's target, and the properties of the machine that executes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetView {
    /// The `.target` of the module: `sm_90a`.
    pub target: String,
    /// Version of PTX.
    pub version: (u8, u8),
    /// Bits of an address.
    pub address_bits: u32,
    /// The scheduling of diverged lanes.
    pub divergence: DivergencePolicy,
    /// Number of instructions that are not modelled.
    pub not_modelled: usize,
    /// The first of them, with its file and line.
    pub first_not_modelled: Option<(String, String)>,
    /// True if results of special functions and tensor cores were recorded on this target.
    pub is_recorded: bool,
    /// True if the module multiplies matrices.
    pub has_matrices: bool,
}

/// The module's target, the instructions that are not modelled, and the properties of the machine.
pub fn target(context: &EvalContext<'_>) -> TargetView {
    let program = context.program();
    let unsupported = not_modelled(program);
    let (number, letter) = program.target;
    TargetView {
        target: format!("sm_{number}{}", letter.map(String::from).unwrap_or_default()),
        version: program.version,
        address_bits: program.address_bits,
        divergence: context.machine.config().divergence,
        not_modelled: unsupported.len(),
        first_not_modelled: unsupported.first().map(|pc| (statement(program, *pc), program.place(*pc))),
        is_recorded: number == RECORDED,
        has_matrices: !program.matrices.is_empty() || !program.wgmmas.is_empty(),
    }
}

fn not_modelled(program: &Program) -> Vec<Pc> {
    let is_unsupported = |pc: &Pc| matches!(program.code[pc.index()].op, Op::Unsupported { .. });
    (0..program.code.len() as u32).map(Pc).filter(is_unsupported).collect()
}
