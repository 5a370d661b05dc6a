//! Why a run stopped: ordinary answers, not errors of ours.

use crate::base::Tick;
use crate::isa::Space;
use crate::machine::state::footprint::Footprint;
use crate::machine::state::issue_point::IssuePoint;
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::wait_reason::WaitReason;

/// The kind of a trap: an error of an instruction that the hardware would not permit.
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
    /// `free` of what `malloc` did not give.
    Heap,
    /// `brx.idx` with an index past its table.
    BranchIndex,
    /// An indirect call to an address that is no function, or to one that is only declared.
    CallTarget,
    /// A barrier or its thread count is out of range.
    BarrierOperand,
    /// An mbarrier that was never made.
    MbarrierUninitialized,
    /// An mbarrier whose use has ended.
    MbarrierInvalidated,
    /// Arrivals or bytes that an mbarrier cannot take.
    MbarrierOverflow,
    /// An mbarrier whose bytes were overwritten.
    MbarrierOverlap,
    /// An asynchronous copy with a misaligned address.
    CopyMisaligned,
    /// An asynchronous copy with an impossible size.
    CopySize,
    /// A tensor copy that the hardware rejects, or bytes that are no tensor map.
    TensorCopy,
    /// A matrix instruction whose warp is not whole or does not agree.
    WarpDisagrees,
    /// `wgmma` where the warpgroup is not whole or does not agree.
    WgmmaSequence,
    /// A matrix descriptor that is malformed or leads outside of shared memory.
    WgmmaDescriptor,
    /// A rank that the cluster does not have.
    ClusterRank,
    /// The shared memory of a block that has exited.
    ClusterExited,
    /// `barrier.cluster` out of its order: a second arrival, or a wait without one.
    ClusterOrder,
    /// A handle that denotes no texture, sampler or surface where one is needed.
    Handle,
    /// A page that a capture has not kept is read.
    NotCaptured,
    /// An instruction that is known but not modelled.
    Unsupported,
}

/// The memory a trap is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrapAccess {
    /// The space the instruction names.
    pub space: Space,
    /// Address of the lowest faulting lane, as the instruction computed it.
    pub address: u64,
    /// Bytes a lane.
    pub bytes: u32,
    /// Whether it writes.
    pub write: bool,
}

/// A fault: the run is at the instruction, which has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The kind.
    pub kind: TrapKind,
    /// The instruction.
    pub place: IssuePoint,
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
    /// The place at which they wait.
    pub place: IssuePoint,
    /// The lanes.
    pub lanes: LaneMask,
    /// The wait reason.
    pub reason: WaitReason,
}

/// Threads that make no progress: in a deadlock all of them wait, in a livelock the others spin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// Time.
    pub tick: Tick,
    /// The waiting lanes and what they wait for, in order of block and warp.
    pub waiters: Vec<Waiter>,
    /// Blocks that have not started, because others must finish before.
    pub unstarted: u64,
}

/// Why [`Machine::run`](crate::machine::Machine::run) returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The budget is used up; the run can continue.
    Budget,
    /// The observer asked for a pause; the run can continue.
    Paused,
    /// All blocks have finished.
    Done,
    /// The run holds more simulated state than it may.
    OverLimit(Footprint),
    /// An instruction faulted.
    Trapped(Box<Trap>),
    /// No warp can make progress: a deadlock.
    Deadlock(Box<Deadlock>),
    /// All warps that can run are in a livelock.
    Livelocked(Box<Deadlock>),
}
