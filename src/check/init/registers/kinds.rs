//! The kinds of instructions by their use of the registers that they read.

use crate::program::operands::writes;
use crate::program::{Effect, Effects, Inst, Op, Program};

/// Effects of instructions whose results are not computed from registers alone.
const OTHER_SOURCES: Effects =
    Effects::of(&[Effect::DependsOnContext, Effect::ReadsMemory, Effect::WritesMemory, Effect::Blocks, Effect::Branches]);

/// True if an operation computes its results from the registers it reads. A multiplication with operands in memory accumulates in
/// registers.
pub(super) fn computes_from_registers(op: &Op, program: &Program) -> bool {
    op.accumulates() || !op.effects(program).has_any(OTHER_SOURCES)
}

/// True if an instruction is a warp collective: each lane receives values that other lanes contribute.
pub(super) fn is_collective(op: &Op, program: &Program) -> bool {
    op.effects(program).has(Effect::Gathers)
}

/// True if an instruction does nothing but write registers: then an undefined guard makes these registers undefined, as with `selp`.
pub(super) fn only_computes(inst: &Inst, program: &Program) -> bool {
    inst.op.effects(program).only_computes() && !writes(inst, program).is_empty()
}
