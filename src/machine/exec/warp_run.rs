//! One scheduling turn of one warp: what an instruction can reach, and what it does to the control flow of its group.

use crate::machine::event::{EventMask, Observer};
use crate::machine::exec::operands::Lanes;
use crate::machine::exec::other_warps::OtherWarps;
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
use crate::machine::state::prepared::{Immediates, PreparedLaunch};
use crate::machine::state::registers::FrameBase;
use crate::machine::state::runtime::Runtime;
use crate::machine::state::shared::Shared;
use crate::machine::state::trap::Trap;
use crate::machine::state::warp::Warp;
use crate::program::{Pc, Program};
use triomphe::Arc;

/// Why a warp's turn ended.
pub enum Pause {
    /// It has used up its ticks.
    TurnOver,
    /// All its groups wait.
    Waits,
    /// Lanes arrived at a barrier of the block.
    Arrived {
        /// Barrier number.
        id: u32,
        /// The lanes.
        mask: LaneMask,
        /// Threads the barrier wants, if the instruction says.
        wanted: Option<u32>,
        /// Lanes with a true predicate.
        votes: LaneMask,
    },
    /// Lanes arrived at the barrier of the cluster.
    ArrivedAtCluster {
        /// The lanes.
        mask: LaneMask,
    },
    /// A phase of an mbarrier ended, for which a group may wait.
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
    /// On to the next instruction.
    Next,
    /// The whole group goes there.
    Jump(Pc),
    /// The groups have changed: choose again which one runs. Their program counters are up to date.
    Reselect,
    /// The turn ends. The program counters are up to date.
    Pause(Pause),
}

/// The result of an instruction.
pub type Executed = Result<Flow, Box<Trap>>;

/// The hot part of the running group: converged lanes, which stand at one pc in one frame and execute their next instruction together.
#[derive(Clone, Copy)]
pub struct Group {
    /// Its place among the warp's groups.
    pub index: usize,
    /// The instruction.
    pub pc: Pc,
    /// Its lanes.
    pub mask: LaneMask,
    /// The frame of its registers.
    pub frame: FrameBase,
}

/// Counted effects of a turn that are none, or that the block alone sees.
#[derive(Clone, Copy, Debug, Default)]
pub struct Excused {
    /// Their number.
    pub count: u64,
    /// Some of them were stores to the shared memory of the block.
    pub rewrites_shared: bool,
    /// Stores that were compared with what they overwrite.
    pub compared: u64,
}

/// One scheduling turn of one warp, with all it can reach. Monomorphized: `OBSERVED = false` compiles all observer checks out.
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
    /// The values of the program's immediate operands, as blocks of this rank see them.
    pub immediates: &'a Immediates,
    /// The blocks of its cluster with lower ranks.
    pub before: &'a mut [Option<Arc<Block>>],
    /// The blocks of its cluster with higher ranks.
    pub after: &'a mut [Option<Arc<Block>>],
    /// The block's part of the barrier of its cluster.
    pub cluster: &'a ClusterBarrier,
    /// Whether the warps of the block's warpgroups multiply together.
    pub warpgroups: &'a mut Warpgroups,
    /// The other warps of the block.
    pub other_warps: OtherWarps<'a>,
    /// Asynchronous operations in flight.
    pub in_flight: &'a mut InFlight,
    /// When what is in flight ends.
    pub completion: &'a dyn CompletionPolicy,
    /// Mbarriers a phase of which has ended in this turn.
    pub ended: EndedPhases,
    /// The number of externally visible changes so far: memory, barriers, exits.
    pub progress: u64,
    /// Whether stores are compared with what they overwrite.
    pub compares: bool,
    /// What of the progress so far has turned out to be none.
    pub excused: Excused,
    /// The warp.
    pub warp: &'a mut Warp,
    /// The observer of the run.
    pub observer: &'a mut dyn Observer,
    /// The kinds of events that are wanted.
    pub wants: EventMask,
    /// The coverage, if the launch records it.
    pub coverage: Option<&'a mut Coverage>,
    /// Lanes that the running instruction has made wait for others, which will execute it with them.
    pub waiting: LaneMask,
    /// The offset of the clocks to the ticks.
    pub clock_jump: ClockJump,
    /// The place of issue; `pc` and `tick` are those of the running instruction.
    pub place: IssuePoint,
    /// The group that runs, of those of the warp.
    pub running: usize,
    /// Ticks left of the turn.
    pub left: u32,
    /// Thread-instructions executed in this turn.
    pub thread_instructions: u64,
    /// The observer wants a pause: the turn ends as if it were used up.
    pub paused: bool,
}

/// Operations that only compute: each lane for itself, from registers to registers.
pub trait LaneOperation {
    /// The operations of the family.
    type Op;

    /// Executes `op`.
    fn execute(lanes: &mut Lanes<'_>, op: &Self::Op);
}
