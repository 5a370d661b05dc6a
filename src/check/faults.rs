//! Mistakes at which a run stops: traps of instructions, and failures of a launch.

use super::catalogue::FindingId;
use super::checker::CheckerRow;
use super::race::catalogue::CLUSTER_EXITED;
use super::sync::catalogue::{BARRIER_COUNT, BARRIER_DIVERGENCE, MBARRIER_OVERLAP, WGMMA_SEQUENCE};
use crate::machine::TrapKind;

/// No memory at the address.
pub const MEMORY_OUT_OF_BOUNDS: FindingId = FindingId::error("memory.out_of_bounds", "no memory at the address");
/// The address is not a multiple of the access's size.
pub const MEMORY_MISALIGNED: FindingId = FindingId::error("memory.misaligned", "the address is not a multiple of the access's size");
/// A null pointer.
pub const MEMORY_NULL: FindingId = FindingId::error("memory.null", "a null pointer");
/// The address belongs to another state space.
pub const MEMORY_SPACE: FindingId = FindingId::error("memory.space", "the address belongs to another state space");
/// The memory cannot be written.
pub const MEMORY_READ_ONLY: FindingId = FindingId::error("memory.read_only", "the memory cannot be written");
/// Local memory of a function that has returned.
pub const MEMORY_USE_AFTER_EXIT: FindingId = FindingId::error("memory.use_after_exit", "local memory of a function that has returned");

/// A page is read that the launch does not have: the run stops there without a verdict.
pub const MEMORY_NOT_CAPTURED: FindingId =
    FindingId::error("memory.not_captured", "a page is read that the launch does not give, so the run cannot go on");

/// Wrong addresses; always on, because the machine itself stops there.
pub(super) const MEMORY: CheckerRow = CheckerRow {
    word: "memory",
    about: "wrong addresses; always on, because a run cannot continue after one",
    findings: &[
        MEMORY_OUT_OF_BOUNDS,
        MEMORY_MISALIGNED,
        MEMORY_NULL,
        MEMORY_SPACE,
        MEMORY_READ_ONLY,
        MEMORY_USE_AFTER_EXIT,
        MEMORY_NOT_CAPTURED,
    ],
    make: None,
};

/// An mbarrier that was never made.
pub const MBARRIER_UNINITIALIZED: FindingId = FindingId::error("mbarrier.uninitialized", "an mbarrier that was never made");
/// An mbarrier is used after mbarrier.inval.
pub const MBARRIER_INVALIDATED: FindingId = FindingId::error("mbarrier.invalidated", "an mbarrier is used after mbarrier.inval");
/// More arrivals or bytes than the mbarrier can take.
pub const MBARRIER_OVERFLOW: FindingId = FindingId::error("mbarrier.overflow", "more arrivals or bytes than the mbarrier can take");
/// The address of a copy is not as aligned as the instruction wants.
pub const ASYNC_MISALIGNED: FindingId =
    FindingId::error("async.misaligned", "the address of a copy is not as aligned as the instruction wants");
/// The size of a copy is none that the instruction takes.
pub const ASYNC_SIZE: FindingId = FindingId::error("async.size", "the size of a copy is none that the instruction takes");
/// A tensor copy that the hardware rejects.
pub const TENSOR_COPY: FindingId = FindingId::error("tensor.copy", "a tensor copy that the hardware refuses");
/// A handle that denotes no texture, sampler or surface.
pub const IMAGE_HANDLE: FindingId = FindingId::error("image.handle", "a handle that stands for no texture, sampler or surface");
/// A malformed matrix descriptor.
pub const WGMMA_DESCRIPTOR: FindingId = FindingId::error("wgmma.descriptor", "a malformed matrix descriptor");
/// A rank that the cluster does not have.
pub const CLUSTER_RANK: FindingId = FindingId::error("cluster.rank", "a rank that the cluster does not have");
/// No thread can run.
pub const DEADLOCK: FindingId = FindingId::error("deadlock", "no thread can run");
/// Threads spin forever, or did when the step limit was reached.
pub const LIVELOCK: FindingId = FindingId::error("livelock", "threads spin forever, or did when the step limit was reached");
/// The kernel stopped itself.
pub const TRAP: FindingId = FindingId::error("trap", "the kernel stopped itself");
/// An assertion failed.
pub const ASSERT: FindingId = FindingId::error("assert", "an assertion failed");
/// Local memory for calls is used up.
pub const STACK_OVERFLOW: FindingId = FindingId::error("stack.overflow", "local memory for calls is used up");
/// The device rejects the launch.
pub const LAUNCH_BOUNDS: FindingId = FindingId::error("launch.bounds", "the device refuses the launch");
/// The run needs more simulated state than --memory-limit allows.
pub const MEMORY_LIMIT: FindingId = FindingId::error("memory.limit", "the run needs more simulated state than --memory-limit allows");
/// An instruction that is known but not modelled.
pub const UNSUPPORTED: FindingId = FindingId::error("unsupported", "an instruction that is known but not modelled");

/// A load returned an older write than the newest, and the result is none of a sequentially consistent run. `explore` finds it.
pub const MEMORY_STALE: FindingId = FindingId::error(
    "memory.stale",
    "a load returned an older write, or a store came before another, and no sequentially consistent run has the result",
);

/// The same, where the sequentially consistent runs that were tried are not all there are.
pub const MEMORY_STALE_UNDECIDED: FindingId = FindingId::note(
    "memory.stale_undecided",
    "a load returned an older write, or a store came before another, and no sequentially consistent run that was tried has the result",
);

/// Mistakes that no checker looks for.
pub(super) const OTHERS: &[FindingId] = &[
    MBARRIER_UNINITIALIZED,
    MBARRIER_INVALIDATED,
    MBARRIER_OVERFLOW,
    ASYNC_MISALIGNED,
    ASYNC_SIZE,
    TENSOR_COPY,
    IMAGE_HANDLE,
    WGMMA_DESCRIPTOR,
    CLUSTER_RANK,
    DEADLOCK,
    LIVELOCK,
    TRAP,
    ASSERT,
    STACK_OVERFLOW,
    LAUNCH_BOUNDS,
    MEMORY_LIMIT,
    UNSUPPORTED,
    MEMORY_STALE,
    MEMORY_STALE_UNDECIDED,
];

impl From<TrapKind> for FindingId {
    fn from(kind: TrapKind) -> Self {
        match kind {
            TrapKind::OutOfBounds => MEMORY_OUT_OF_BOUNDS,
            TrapKind::Misaligned => MEMORY_MISALIGNED,
            TrapKind::Null => MEMORY_NULL,
            TrapKind::Space => MEMORY_SPACE,
            TrapKind::ReadOnly => MEMORY_READ_ONLY,
            TrapKind::StackOverflow => STACK_OVERFLOW,
            TrapKind::Trap | TrapKind::BranchIndex | TrapKind::CallTarget | TrapKind::Heap => TRAP,
            TrapKind::Assert => ASSERT,
            TrapKind::BarrierOperand | TrapKind::ClusterOrder => BARRIER_COUNT,
            TrapKind::MbarrierUninitialized => MBARRIER_UNINITIALIZED,
            TrapKind::MbarrierInvalidated => MBARRIER_INVALIDATED,
            TrapKind::MbarrierOverflow => MBARRIER_OVERFLOW,
            TrapKind::MbarrierOverlap => MBARRIER_OVERLAP,
            TrapKind::CopyMisaligned => ASYNC_MISALIGNED,
            TrapKind::CopySize => ASYNC_SIZE,
            TrapKind::TensorCopy => TENSOR_COPY,
            TrapKind::WgmmaSequence => WGMMA_SEQUENCE,
            TrapKind::WgmmaDescriptor => WGMMA_DESCRIPTOR,
            TrapKind::ClusterRank => CLUSTER_RANK,
            TrapKind::ClusterExited => CLUSTER_EXITED,
            TrapKind::WarpDisagrees => BARRIER_DIVERGENCE,
            TrapKind::Handle => IMAGE_HANDLE,
            TrapKind::NotCaptured => MEMORY_NOT_CAPTURED,
            TrapKind::Unsupported => UNSUPPORTED,
        }
    }
}
