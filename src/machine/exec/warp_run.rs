//! One time slice of a warp: the state that instructions can access, and their effects on the control flow of their group.

use crate::machine::event::Observer;
use crate::machine::event_kind::{EventMask, Issues};
use crate::machine::exec::operands::Lanes;
use crate::machine::exec::other_warps::OtherWarps;
use crate::machine::exec::straight::pattern::Patterns;
use crate::machine::in_flight::copy::view::EndedPhases;
use crate::machine::in_flight::policy::CompletionPolicy;
use crate::machine::state::barrier::ClusterBarrier;
use crate::machine::state::block::Block;
use crate::machine::state::clocks::ClockJump;
use crate::machine::state::coverage::Coverage;
use crate::machine::state::in_flight::InFlight;
use crate::machine::state::in_flight::warpgroup::Warpgroups;
use crate::machine::state::issue_point::IssuePoint;
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::memory::Region;
use crate::machine::state::plain_groups::PlainGroups;
use crate::machine::state::prepared::{Immediates, PreparedLaunch};
use crate::machine::state::registers::FrameBase;
use crate::machine::state::runtime::Runtime;
use crate::machine::state::shared::Shared;
use crate::machine::state::tables::straight::StraightCode;
use crate::machine::state::trap::Trap;
use crate::machine::state::warp::Warp;
use crate::program::{Pc, Program};
use crate::weak::WeakMemory;
use triomphe::Arc;

/// The reason for which a warp's time slice ended.
pub enum SliceEnd {
    /// The warp has used up its ticks.
    UsedUp,
    /// All groups of the warp wait.
    Waits,
    /// Lanes arrived at a barrier of the block.
    Arrived {
        /// Barrier number.
        id: u32,
        /// The lanes.
        mask: LaneMask,
        /// The thread count, if the instruction has one.
        thread_count: Option<u32>,
        /// Lanes with a true predicate.
        votes: LaneMask,
    },
    /// Lanes arrived at the barrier of the cluster.
    ArrivedAtCluster {
        /// The lanes.
        mask: LaneMask,
    },
    /// A phase of an mbarrier completed, for which a group may wait.
    PhaseEnded,
    /// Lanes exited.
    LanesExited {
        /// The lanes that were live before.
        before: LaneMask,
    },
    /// An instruction faulted.
    Trapped(Box<Trap>),
}

/// The effect of an instruction on the control flow of its group.
pub enum Flow {
    /// Continue at the next instruction.
    Next,
    /// All lanes of the group continue at this pc.
    Jump(Pc),
    /// The groups have changed: choose the group that runs anew. Their program counters are up to date.
    Reselect,
    /// The time slice ends. The program counters are up to date.
    EndSlice(SliceEnd),
}

/// The result of an instruction.
pub type Executed = Result<Flow, Box<Trap>>;

/// The hot state of the running group: converged lanes at one pc in one frame, which execute their next instruction together.
#[derive(Clone, Copy)]
pub struct Group {
    /// Its index in the warp's groups.
    pub index: usize,
    /// The instruction.
    pub pc: Pc,
    /// Its lanes.
    pub mask: LaneMask,
    /// The frame of its registers.
    pub frame: FrameBase,
}

/// Counted progress of a time slice that livelock detection subtracts: stores that changed nothing, or only what the block itself sees.
#[derive(Clone, Copy, Debug, Default)]
pub struct NonProgress {
    /// The number of such counts.
    pub count: u64,
    /// True if there were stores to the shared memory of the block.
    pub changes_shared: bool,
    /// The number of stores that were compared with the bytes that they overwrite.
    pub compared: u64,
}

/// One time slice of a warp, with the state that it can access. `OBSERVED = false` compiles all observer checks out.
pub struct WarpRun<'a, const OBSERVED: bool> {
    /// The program.
    pub program: &'a Program,
    /// The tables of the launch.
    pub prepared: &'a PreparedLaunch,
    /// Global memory.
    pub global: &'a mut Region,
    /// Constant memory.
    pub constant_memory: &'a Region,
    /// The state of the device runtime.
    pub runtime: &'a mut Runtime,
    /// The block's shared memory.
    pub shared: &'a mut Shared,
    /// The block's number in order of launch.
    pub number: u64,
    /// The block slot of its block.
    pub block_slot: u32,
    /// The block's rank in its cluster.
    pub rank: u32,
    /// The start of its shared memory in the window of shared memory.
    pub shared_base: u64,
    /// The values of the program's immediate operands, for blocks of this rank.
    pub immediates: &'a Immediates,
    /// The blocks of its cluster with lower ranks.
    pub before: &'a mut [Option<Arc<Block>>],
    /// The blocks of its cluster with higher ranks.
    pub after: &'a mut [Option<Arc<Block>>],
    /// The block's state at the barrier of its cluster.
    pub cluster: &'a ClusterBarrier,
    /// The `wgmma` instructions that only some warps of a warpgroup have executed.
    pub warpgroups: &'a mut Warpgroups,
    /// The other warps of the block.
    pub other_warps: OtherWarps<'a>,
    /// Asynchronous operations in flight.
    pub in_flight: &'a mut InFlight,
    /// The completion policy.
    pub completion: &'a dyn CompletionPolicy,
    /// The mbarriers with a phase that completed in this time slice.
    pub ended: EndedPhases,
    /// The number of externally visible changes so far: memory, barriers, exits.
    pub progress: u64,
    /// What threads see of memory, if it is weak.
    pub weak: Option<&'a mut WeakMemory>,
    /// True if stores are compared with the bytes that they overwrite.
    pub compares_stores: bool,
    /// The part of `progress` that is no effect.
    pub non_progress: NonProgress,
    /// The warp.
    pub warp: &'a mut Warp,
    /// The observer of the run.
    pub observer: &'a mut dyn Observer,
    /// The kinds of events that the observer receives.
    pub wants: EventMask,
    /// The instructions of the warp that are reported to it.
    pub issues: Issues,
    /// The code of straight stretches, which end before those that are reported.
    pub straight: &'a StraightCode,
    /// The patterns of addresses.
    pub patterns: &'a mut Patterns,
    /// The memory for its groups while they part and meet.
    pub plain_groups: &'a mut PlainGroups,
    /// The coverage, if the launch records it.
    pub coverage: Option<&'a mut Coverage>,
    /// Lanes that wait at the running instruction for others, with which they will execute it.
    pub waiting: LaneMask,
    /// The offset of the clocks to the ticks.
    pub clock_jump: ClockJump,
    /// The issue point; `pc` and `tick` are those of the running instruction.
    pub point: IssuePoint,
    /// The index of the running group.
    pub running: usize,
    /// The remaining ticks of the time slice.
    pub ticks_left: u32,
    /// Thread-instructions executed in this time slice.
    pub thread_instructions: u64,
    /// True if the observer asks for a pause: the time slice ends as if it were used up.
    pub paused: bool,
}

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Asks the observer again what it receives.
    #[inline(always)]
    pub fn update_wants(&mut self) {
        self.observer.widen(&mut self.issues, (self.point.block, self.point.warp));
        self.wants = self.issues.of(self.observer.mask());
    }
}

/// A family of operations that only compute, per lane, from registers to registers.
pub trait LaneOperation {
    /// The operations of the family.
    type Op;

    /// Executes `op`.
    fn execute(lanes: &mut Lanes<'_>, op: &Self::Op);
}
