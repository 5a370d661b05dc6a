//! `info target`: what the module was made for, and what it runs on here.

use super::{Table, statement};
use crate::debug::scene::Scene;
use crate::machine::DivergencePolicy;
use crate::program::{Op, Pc, Program};

/// The target that the special-function unit and the tensor cores were recorded on.
const RECORDED: u32 = 90;

/// The module's target, what of the module is not modelled, and whose special functions and matrix products it gets.
pub fn target(scene: &Scene<'_>) -> Table {
    let program = scene.program();
    let mut table = Table::new(&["", ""]);
    let mut row = |name: &str, value: String| table.push(false, [name.to_string(), value]);
    let (major, minor) = program.version;
    let target = target_name(program);
    row("target", format!("{target}, PTX {major}.{minor}, {}-bit addresses", program.address_bits));
    row("machine", "an H200 (sm_90a), whatever the target: one instruction of one warp at a time".to_string());
    row("warps", warps(scene.machine.config().divergence));
    row("not modelled", not_modelled(program));
    row("special functions", special_functions(program, &target));
    if !program.matrices.is_empty() || !program.wgmmas.is_empty() {
        row("matrix products", matrix_products(program, &target));
    }
    table
}

/// `sm_90a`
fn target_name(program: &Program) -> String {
    let (number, letter) = program.target;
    format!("sm_{number}{}", letter.map(String::from).unwrap_or_default())
}

/// Which lanes of a warp run when they stand at different places.
fn warps(policy: DivergencePolicy) -> String {
    match policy {
        DivergencePolicy::Independent => "schedule their threads independently, as on sm_70 and later (--divergence independent)",
        DivergencePolicy::Stack => {
            "have a stack: the sides of a branch run one after the other, as on sm_60 and earlier (--divergence stack)"
        }
    }
    .to_string()
}

fn not_modelled(program: &Program) -> String {
    let is_unsupported = |pc: &Pc| matches!(program.code[pc.index()].op, Op::Unsupported { .. });
    let unsupported: Vec<Pc> = (0..program.code.len() as u32).map(Pc).filter(is_unsupported).collect();
    match unsupported.as_slice() {
        [] => "nothing: every instruction of the module can be executed".to_string(),
        [only] => format!("{} ({}): a run stops there", statement(program, *only), program.place(*only)),
        [first, ..] => {
            let count = unsupported.len();
            format!("{count} instructions, the first {} ({}): a run stops there", statement(program, *first), program.place(*first))
        }
    }
}

fn special_functions(program: &Program, target: &str) -> String {
    let here = "rcp, rsqrt, sqrt, sin, cos, lg2, ex2, tanh and div with .approx or .full: those of sm_90, to the last bit";
    if program.target.0 == RECORDED { here.to_string() } else { format!("{here}; those of {target} may differ there") }
}

/// Tensor cores add in their own way, which is not the same on every target.
fn matrix_products(program: &Program, target: &str) -> String {
    let here = "matrix results follow sm_90 arithmetic, to the last bit";
    if program.target.0 == RECORDED { here.to_string() } else { format!("{here}; those of {target} may differ there") }
}
