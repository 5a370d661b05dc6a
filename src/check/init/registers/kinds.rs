//! What an instruction does with the registers that it reads.

use crate::program::operands::writes;
use crate::program::{Effect, Effects, Inst, Op, Program};

/// What gives results that are not made of the registers that are read.
const OTHER_SOURCES: Effects =
    Effects::of(&[Effect::DependsOnPlace, Effect::ReadsMemory, Effect::WritesMemory, Effect::Blocks, Effect::Branches]);

/// Whether what an operation writes is made of the registers it reads. A multiplication that reads its operands from memory adds to
/// registers.
pub(super) fn passes_on(op: &Op, program: &Program) -> bool {
    op.accumulates() || !op.effects(program).has_any(OTHER_SOURCES)
}

/// Whether an instruction is a warp collective: each lane gets what certain lanes contribute.
pub(super) fn is_collective(op: &Op, program: &Program) -> bool {
    op.effects(program).has(Effect::Gathers)
}

/// Whether an instruction does nothing but write registers: where it is undefined which lanes execute it, so is what these hold then, as
/// with `selp`.
pub(super) fn only_computes(inst: &Inst, program: &Program) -> bool {
    inst.op.effects(program).only_computes() && !writes(inst, program).is_empty()
}
