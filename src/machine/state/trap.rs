//! The reasons for which a run stops.

use crate::base::Tick;
use crate::isa::Space;
use crate::machine::state::footprint::Footprint;
use crate::machine::state::issue_point::IssuePoint;
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::wait_reason::WaitReason;

/// The kind of a trap: an error of an instruction that traps on the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrapKind {
    /// No memory at the address.
    OutOfBounds,
    /// The address is no multiple of the access's size.
    Misaligned,
    /// The address is in the first page.
    Null,
    /// The address belongs to another state space.
    Space,
    /// The memory cannot be written.
    ReadOnly,
    /// Local memory for calls and `alloca` is used up.
    StackOverflow,
    /// `trap`.
    Trap,
    /// A failed assertion.
    Assert,
    /// `free` of an address that `malloc` did not return.
    Heap,
    /// `brx.idx` with an index past its table.
    BranchIndex,
    /// An indirect call to an address of no function, or of a function without a body.
    CallTarget,
    /// A barrier or its thread count is out of range.
    BarrierOperand,
    /// An mbarrier that was never initialized.
    MbarrierUninitialized,
    /// An mbarrier that `mbarrier.inval` has invalidated.
    MbarrierInvalidated,
    /// Arrivals or bytes that overflow the counts of an mbarrier.
    MbarrierOverflow,
    /// An mbarrier whose bytes were overwritten.
    MbarrierOverlap,
    /// An asynchronous copy with a misaligned address.
    CopyMisaligned,
    /// An asynchronous copy with an invalid size.
    CopySize,
    /// A tensor copy that the hardware rejects, or an invalid tensor map.
    TensorCopy,
    /// A matrix instruction that not all lanes of the warp execute, or whose operands differ among lanes that must agree.
    WarpDisagrees,
    /// A `wgmma` that not all lanes or warps of the warpgroup execute, or with different operands.
    WgmmaSequence,
    /// A matrix descriptor that is malformed or refers to bytes outside of shared memory.
    WgmmaDescriptor,
    /// A rank that the cluster does not have.
    ClusterRank,
    /// The shared memory of a block that has exited.
    ClusterExited,
    /// A second `barrier.cluster.arrive` without a wait between.
    ClusterOrder,
    /// A handle of no texture, sampler or surface of the launch.
    Handle,
    /// A read of a page that a capture has not stored.
    NotCaptured,
    /// An instruction that is decoded but not modelled.
    Unsupported,
}

/// The memory access that caused a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrapAccess {
    /// The space the instruction names.
    pub space: Space,
    /// Address of the lowest faulting lane, as the instruction computed it.
    pub address: u64,
    /// Bytes per lane.
    pub bytes: u32,
    /// True if it writes.
    pub write: bool,
}

/// A fault. The instruction has had no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The kind.
    pub kind: TrapKind,
    /// The instruction.
    pub point: IssuePoint,
    /// The lanes at fault.
    pub lanes: LaneMask,
    /// The access, for memory faults.
    pub access: Option<TrapAccess>,
    /// The message, one line, with the nearest allocation or variable.
    pub message: String,
}

/// Lanes that wait, in a run where no warp can make progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// The instruction at which they wait.
    pub point: IssuePoint,
    /// The lanes.
    pub lanes: LaneMask,
    /// The wait reason.
    pub reason: WaitReason,
}

/// A deadlock or a livelock: threads wait, and no thread makes progress. In a livelock, some spin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The tick.
    pub tick: Tick,
    /// The waiting lanes and what they wait for, in order of block and warp.
    pub waiters: Vec<Waiter>,
    /// The number of blocks that have not started, because others must finish before.
    pub unstarted: u64,
}

/// The reason for which [`Machine::run`](crate::machine::Machine::run) returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The budget is used up; the run can continue.
    Budget,
    /// The observer asked for a pause; the run can continue.
    Paused,
    /// All blocks have finished.
    Done,
    /// The simulated state exceeds its limit.
    OverLimit(Footprint),
    /// An instruction faulted.
    Trapped(Box<Trap>),
    /// No warp can make progress: a deadlock.
    Deadlock(Box<Deadlock>),
    /// All warps that can run are in a livelock.
    Livelocked(Box<Deadlock>),
}
