//! What an instruction does with the registers that it reads.

use crate::program::operands::writes;
use crate::program::{AsyncOp, ControlOp, Inst, MbarrierOp, Op, Program, StackOp, SyncOp, WarpOp, WarpgroupOp};

/// Whether what an operation writes is made of the registers it reads, and not of memory.
pub(super) fn passes_on(op: &Op) -> bool {
    !matches!(
        op,
        Op::Memory(_)
            | Op::Atomic(_)
            | Op::Image { .. }
            | Op::Async(AsyncOp::Copy { .. })
            | Op::Mbarrier(MbarrierOp::Update { .. } | MbarrierOp::Wait { .. })
            | Op::Sync(SyncOp::Barrier { .. })
            | Op::Warp(WarpOp::Elect { .. })
            | Op::Control(ControlOp::Call { .. } | ControlOp::SystemCall { .. })
    )
}

/// Whether an instruction exchanges values between lanes.
pub(super) fn is_exchange(op: &Op) -> bool {
    matches!(op, Op::Warp(WarpOp::Shuffle { .. } | WarpOp::Vote { .. } | WarpOp::Match { .. } | WarpOp::Redux { .. }))
}

/// Whether an instruction does nothing but write registers: where it is undefined which lanes execute it, so is what these hold then, as
/// with `selp`.
pub(super) fn only_computes(inst: &Inst, program: &Program) -> bool {
    let together = matches!(inst.op, Op::Matrix { .. } | Op::Wgmma(WarpgroupOp::Multiply { .. }) | Op::Stack(StackOp::Alloca { .. }))
        || is_exchange(&inst.op);
    passes_on(&inst.op) && !together && !writes(inst, program).is_empty()
}
