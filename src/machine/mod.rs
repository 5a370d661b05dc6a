//! The deterministic interpreter: a grid of blocks, warps of 32 lanes, and the memory they share.
//!
//! Time is a number: a tick is one warp-instruction issued, and all of a launch is a total order of ticks. Everything a run can change is
//! the value [`Machine`]; cloning it is a snapshot, cheap because registers, memory pages and blocks are copied on write. Everything a run
//! cannot change is the [`Program`](crate::program::Program). Two runs of the same machine are the same, whatever their budgets: the next
//! warp and the lanes of it that run follow from the machine's state alone ([`run::schedule`]).
//!
//! The interpreter knows nothing of breakpoints, source text, or that time can go backwards.
//!
//! | module | contents |
//! | --- | --- |
//! | [`state`] | the data: the machine, its blocks, warps, registers and memory, a launch |
//! | [`in_flight`] | asynchronous operations in flight: copies, tensor copies, matrix multiplications |
//! | [`exec`] | one instruction for the lanes of one group; one file per family |
//! | [`run`] | many instructions: the scheduler, waits, livelocks, snapshots |
//! | [`event`] | the events that observers receive |
//! | [`event_kind`] | their kinds |

#![warn(clippy::wildcard_enum_match_arm)]

mod event;
mod event_kind;
mod exec;
mod in_flight;
mod numeric;
mod run;
mod state;

pub use event::{
    AccessEvent, AccessKind, Collective, CopyEvent, CopyStage, CopyWait, Event, Issue, LocalStart, MbarrierChange, MbarrierEvent, Memories,
    NullObserver, Observer, PlainRead, Proxy, StoreData, SyncEvent, SyncKind, WgmmaChange, WgmmaEvent,
};
pub use event_kind::{EventKind, EventMask, Issues, Places};
pub use exec::scratch_warp::ScratchWarp;
pub use exec::warp_level::shuffle_source;
pub use in_flight::policy::{CompletionChoice, CompletionPolicyKind, POLICIES, PolicyRow};
pub use in_flight::tensor;
pub use run::deadlock::stack_wait;
pub use run::ends::{LaunchEnd, LaunchStart, UnfinishedBlock, UnfinishedGroup, UnfinishedWarp};
pub use state::barrier::{BARRIERS, Barrier, BarrierReduction, ClusterBarrier};
pub use state::block::Block;
pub use state::coverage::{Coverage, Tally};
pub use state::cursor::Cursor;
pub use state::definedness::Definedness;
pub use state::device::{Device, NotFree, NotMapped};
pub use state::digest::Digest;
pub use state::footprint::{Footprint, MemoryLimit};
pub use state::in_flight::InFlight;
pub use state::in_flight::copy::{AsyncCopy, CopyCompletion, CopyKind, LaneCopies, MemoryAddress, MemoryOwner, POISON};
pub use state::in_flight::queue::WgmmaQueue;
pub use state::in_flight::warpgroup::WARPS;
pub use state::in_flight::wgmma::Wgmma;
pub use state::inspect::BlockLife;
pub use state::issue_point::{BlockId, IssuePoint, Tick, WarpId};
pub use state::lanes::{LANES, LaneMask, LaneShape, PerLane, ROW, UNEVEN};
pub use state::launch::{
    ContextSwitch, DEPTH_MAX, Delay, DivergencePolicy, FastPath, FastPaths, Instrumentation, LaunchConfig, LaunchError, MemoryModel,
    Schedule,
};
pub use state::machine::Machine;
pub use state::mbarrier::{Contribution, Mbarrier, MbarrierOperation, Phase};
pub use state::memory::{Allocation, ORIGIN_ALIGN, OutOfMemory, PAGE_BYTES, Region};
pub use state::page_source::{HOST_MEMORY, PageSource};
pub use state::prepared::PreparedLaunch;
pub use state::registers::{FrameBase, Registers};
pub use state::runtime::{Printed, printf};
pub use state::shared::Shared;
pub use state::special::thread_index;
pub use state::tables::matrix::ElementTable;
pub use state::trap::{Deadlock, Step, Trap, TrapAccess, TrapKind, Waiter};
pub use state::wait_reason::{Activity, MbarrierWait, WaitReason, WarpLanes};
pub use state::warp::{CallFrame, CallStack, CopyGroups, GroupState, LaneGroup, Polled, Warp, frames};
