//! What an instruction does with the registers that it reads.

use crate::program::operands::writes;
use crate::program::{Inst, Op, Program};

/// Whether what an operation writes is made of the registers it reads, and not of memory.
pub(super) fn passes_on(op: &Op) -> bool {
    !matches!(
        op,
        Op::Load { .. }
            | Op::LoadVector { .. }
            | Op::Store { .. }
            | Op::StoreVector { .. }
            | Op::Atomic { .. }
            | Op::AtomicVector { .. }
            | Op::Image { .. }
            | Op::AsyncCopy { .. }
            | Op::Mbarrier { .. }
            | Op::MbarrierWait { .. }
            | Op::Barrier { .. }
            | Op::Elect { .. }
            | Op::Call { .. }
            | Op::SystemCall { .. }
    )
}

/// Whether an instruction exchanges values between lanes.
pub(super) fn is_exchange(op: &Op) -> bool {
    matches!(op, Op::Shuffle { .. } | Op::Vote { .. } | Op::Match { .. } | Op::Redux { .. })
}

/// Whether an instruction does nothing but write registers: where it is undefined which lanes execute it, so is what these hold then, as
/// with `selp`.
pub(super) fn only_computes(inst: &Inst, program: &Program) -> bool {
    let together = matches!(inst.op, Op::Matrix { .. } | Op::Wgmma { .. } | Op::Alloca { .. }) || is_exchange(&inst.op);
    passes_on(&inst.op) && !together && !writes(inst, program).is_empty()
}
