//! `info target`: what the module was made for, and what it runs on here.

use super::statement;
use crate::debug::scene::Scene;
use crate::machine::DivergencePolicy;
use crate::program::{Op, Pc, Program};

/// The target that the special-function unit and the tensor cores were recorded on.
const RECORDED: u32 = 90;

/// A module's target, and the machine that executes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetView {
    /// The target that the module names: `sm_90a`.
    pub target: String,
    /// Version of PTX.
    pub version: (u8, u8),
    /// Bits of an address.
    pub address_bits: u32,
    /// How the lanes of a warp are scheduled.
    pub divergence: DivergencePolicy,
    /// Instructions that are not modelled.
    pub not_modelled: usize,
    /// The first of them, and where it is.
    pub first_not_modelled: Option<(String, String)>,
    /// The target's special functions and tensor cores are those that were recorded.
    pub is_recorded: bool,
    /// The module multiplies matrices.
    pub has_matrices: bool,
}

/// The module's target, what of the module is not modelled, and whose special functions and matrix products it gets.
pub fn target(scene: &Scene<'_>) -> TargetView {
    let program = scene.program();
    let unsupported = not_modelled(program);
    let (number, letter) = program.target;
    TargetView {
        target: format!("sm_{number}{}", letter.map(String::from).unwrap_or_default()),
        version: program.version,
        address_bits: program.address_bits,
        divergence: scene.machine.config().divergence,
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
