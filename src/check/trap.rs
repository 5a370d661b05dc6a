//! What an instruction does that the machine itself cannot let it, as a finding.

use super::catalogue::FindingId;
use crate::machine::TrapKind;

impl From<TrapKind> for FindingId {
    fn from(kind: TrapKind) -> Self {
        match kind {
            TrapKind::OutOfBounds => Self::MemoryOutOfBounds,
            TrapKind::Misaligned => Self::MemoryMisaligned,
            TrapKind::Null => Self::MemoryNull,
            TrapKind::Space => Self::MemorySpace,
            TrapKind::ReadOnly => Self::MemoryReadOnly,
            TrapKind::StackOverflow => Self::StackOverflow,
            TrapKind::Trap | TrapKind::BranchIndex | TrapKind::CallTarget | TrapKind::Heap => Self::Trap,
            TrapKind::Assert => Self::Assert,
            TrapKind::BarrierOperand | TrapKind::ClusterOrder => Self::BarrierCount,
            TrapKind::MbarrierUninitialized => Self::MbarrierUninitialized,
            TrapKind::MbarrierInvalidated => Self::MbarrierInvalidated,
            TrapKind::MbarrierOverflow => Self::MbarrierOverflow,
            TrapKind::MbarrierOverlap => Self::MbarrierOverlap,
            TrapKind::CopyMisaligned => Self::AsyncMisaligned,
            TrapKind::CopySize => Self::AsyncSize,
            TrapKind::TensorCopy => Self::TensorCopy,
            TrapKind::WgmmaSequence => Self::WgmmaSequence,
            TrapKind::WgmmaDescriptor => Self::WgmmaDescriptor,
            TrapKind::ClusterRank => Self::ClusterRank,
            TrapKind::ClusterExited => Self::ClusterExited,
            TrapKind::WarpDisagrees => Self::BarrierDivergence,
            TrapKind::Handle => Self::ImageHandle,
            TrapKind::Unsupported => Self::Unsupported,
        }
    }
}
