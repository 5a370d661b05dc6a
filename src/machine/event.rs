//! What observers see of a run. The machine reports; all that an observer can do is ask for a pause.

use crate::isa::Space;
use crate::machine::in_flight::copy::AsyncCopy;
use crate::machine::in_flight::wgmma::Wgmma;
use crate::machine::state::block::Block;
use crate::machine::state::lanes::{LaneMask, PerLane};
use crate::machine::state::mbarrier::Contribution;
use crate::machine::state::place::{BlockId, Place, Tick};
use crate::machine::state::registers::FrameBase;
use crate::machine::state::warp::Warp;
use crate::program::operands::Use;

/// How an access touches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It reads and writes indivisibly.
    Atomic,
}

/// One access by the lanes of a warp, reported just before it happens.
#[derive(Clone, Copy, Debug)]
pub struct AccessEvent<'a> {
    /// Where and when.
    pub place: Place,
    /// The block.
    pub by: BlockId,
    /// The lanes.
    pub lanes: LaneMask,
    /// How.
    pub kind: AccessKind,
    /// The space the lanes' addresses are in, never `Generic`.
    pub space: Space,
    /// Of shared memory, the slot and the rank in its cluster of the block that it belongs to.
    pub home: (u32, u32),
    /// Address of each lane in that space; lanes outside `lanes` repeat one of them.
    pub addresses: &'a PerLane<u64>,
    /// Bytes a lane.
    pub bytes: u32,
}

/// What has become of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyStage {
    /// It is in flight.
    Issued,
    /// Its source has been read.
    Read,
    /// It has ended: its destination is written, and who waits for it may know.
    Ended,
}

/// Something happens to an asynchronous copy.
#[derive(Clone, Copy, Debug)]
pub struct CopyEvent<'a> {
    /// The copy.
    pub copy: &'a AsyncCopy,
    /// The lanes of it to which it happens.
    pub lanes: LaneMask,
    /// What happens.
    pub stage: CopyStage,
    /// When.
    pub tick: Tick,
}

/// What an instruction does to a barrier object in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierChange {
    /// It makes the object for so many arrivals a phase.
    Made(u32),
    /// It ends its use.
    Invalidated,
    /// It contributes to the present phase.
    Contributed(Contribution),
    /// What it contributed ended this phase.
    Ended(u64),
    /// It asks whether the phase of a parity has ended, and is told so or not.
    Asked {
        /// The parity.
        parity: u32,
        /// The answer.
        ended: bool,
    },
}

/// An instruction, or a copy that it issued, does something to a barrier object.
#[derive(Clone, Copy, Debug)]
pub struct MbarrierEvent {
    /// Where and when; of a copy, where and when it was issued.
    pub place: Place,
    /// The block that does it; of a phase that has ended, the block whose object it is.
    pub by: BlockId,
    /// The lanes.
    pub lanes: LaneMask,
    /// The block whose shared memory the object is in.
    pub block: [u32; 3],
    /// Its slot.
    pub slot: u32,
    /// Where in it.
    pub address: u32,
    /// The object's phase then; of lanes that contribute to several phases each is told for itself.
    pub phase: u64,
    /// What it does.
    pub change: MbarrierChange,
}

/// What happens to the asynchronous matrix multiplications of a warp.
#[derive(Clone, Copy, Debug)]
pub enum WgmmaChange<'a> {
    /// `wgmma.fence`: register accesses before it are ordered before the `wgmma` behind it.
    Fenced,
    /// One was issued, and is in flight.
    Issued {
        /// It. [`Wgmma::reads`] are the bytes of shared memory that it reads by the async proxy until it ends.
        wgmma: &'a Wgmma,
        /// Whether its warp has ever executed `wgmma.fence`.
        fenced: bool,
    },
    /// The open group was closed, and is group `group` of the warp.
    Committed {
        /// Its number, from 0.
        group: u32,
    },
    /// The warp has waited for groups: all below `done` have ended.
    Waited {
        /// The number of the first group that may still be in flight.
        done: u32,
    },
    /// One has ended: it has read its operands and written its accumulators. Under `lazy` this is told when a warp of the
    /// warpgroup waits for it; under `eager` and `random` it may come before, and orders nothing: only `Waited` does.
    Ended(&'a Wgmma),
    /// All lanes of the warp exited while it was in flight.
    Abandoned(&'a Wgmma),
    /// An instruction other than `wgmma` is about to use a register that some `wgmma` of its function has for A or D.
    Touched {
        /// How.
        used: Use,
        /// The register's slot in the warp's 32-bit registers.
        slot: u32,
        /// The latest `wgmma` in flight that writes it, or, if `used` is a write, reads it; none if there is none. Under `eager` it stays
        /// in flight for this purpose until its warp has waited for it.
        by: Option<&'a Wgmma>,
    },
}

/// Something happens to the asynchronous matrix multiplications of a warp.
#[derive(Clone, Copy, Debug)]
pub struct WgmmaEvent<'a> {
    /// The instruction that does it, and when; of what ends between two instructions, the one that issued it.
    pub place: Place,
    /// The block.
    pub by: BlockId,
    /// The lanes that execute it.
    pub lanes: LaneMask,
    /// What happens.
    pub change: WgmmaChange<'a>,
    /// When.
    pub tick: Tick,
}

/// What threads did, or what came about, that orders some of them after others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order<'a> {
    /// They executed a fence, which the instruction describes.
    Fence,
    /// They arrived at a barrier of the block, and wait there if it `waits`.
    Arrived {
        /// Which.
        id: u32,
        /// Threads wanted, if the instruction names a number.
        wanted: Option<u32>,
        /// Whether they wait.
        waits: bool,
    },
    /// A barrier of the block ended its phase. The lanes are none; those that had arrived are told by warp.
    Released {
        /// Which.
        id: u32,
        /// The lanes that arrived.
        arrived: &'a [LaneMask],
    },
    /// They came to a `bar.warp.sync`, which the other lanes of `members` must execute too.
    WarpSync {
        /// Who meets.
        members: LaneMask,
    },
    /// They came to an instruction that exchanges values with the other lanes of `members`, and orders nothing. Told again when they
    /// had to wait for those.
    Exchange {
        /// Who exchanges.
        members: LaneMask,
    },
    /// They are about to exchange values. Wanted along with the instructions; a `shfl` by which some of them take a value from a lane
    /// that does not take part is told even without those, and what the observer wants is asked again behind it.
    Exchanged(&'a Exchange),
    /// They arrived at the barrier of the cluster.
    ClusterArrived,
    /// They wait for the barrier of the cluster, or go on if it has ended.
    ClusterWaits,
    /// The barrier of the cluster ended its phase, for the blocks in this many slots from `first` on.
    ClusterReleased {
        /// The first slot.
        first: u32,
        /// How many.
        slots: u32,
    },
    /// They closed their groups of copies, of which kind the instruction says.
    Committed,
    /// They have waited for groups of copies, which the instruction describes.
    Awaited,
    /// They exit.
    Exited,
}

/// An exchange of values between lanes, as those who execute it at one place see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The lanes that take part, at this place and at others.
    pub among: LaneMask,
    /// Those that the member mask names.
    pub members: LaneMask,
    /// The lanes of the warp that have not exited.
    pub live: LaneMask,
    /// Calls in progress.
    pub depth: u32,
    /// Of a `shfl`, the lane from which each takes its value: its own where that it asks for is out of range.
    pub sources: Option<PerLane<u32>>,
}

/// Something that orders threads.
#[derive(Clone, Copy, Debug)]
pub struct OrderEvent<'a> {
    /// Where and when; of what came about, the instruction that brought it about.
    pub place: Place,
    /// The block.
    pub by: BlockId,
    /// The lanes.
    pub lanes: LaneMask,
    /// What.
    pub order: Order<'a>,
}

/// One instruction of one group of lanes.
#[derive(Clone, Copy, Debug)]
pub struct Issue {
    /// Where and when.
    pub place: Place,
    /// The lanes of the group.
    pub lanes: LaneMask,
    /// Those that execute it: the guard holds for them.
    pub active: LaneMask,
    /// Where their registers are.
    pub frame: FrameBase,
    /// Calls in progress.
    pub depth: u32,
}

/// What an observer wants to be told. What it does not want costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// Accesses to memory, what orders threads, and what becomes of asynchronous work.
    pub accesses: bool,
    /// The issue of every instruction, groups that meet, and arrivals.
    pub instructions: bool,
}

impl Wants {
    /// Nothing at all.
    pub const NOTHING: Self = Self { accesses: false, instructions: false };
    /// Only accesses.
    pub const ACCESSES: Self = Self { accesses: true, instructions: false };
    /// Only instructions.
    pub const INSTRUCTIONS: Self = Self { accesses: false, instructions: true };
    /// All that there is.
    pub const ALL: Self = Self { accesses: true, instructions: true };
}

/// Something that watches a run.
///
/// Where a method returns true the run pauses there with [`Step::Paused`](super::Step::Paused), in the state in which a budget that
/// ends at the same tick would leave it.
pub trait Observer {
    /// What it wants to be told, asked at every turn of a warp, and behind [`Order::Exchanged`].
    fn wants(&self) -> Wants;

    /// Memory is about to be accessed. The pause comes when the instruction has been executed.
    fn access(&mut self, _event: &AccessEvent<'_>) -> bool {
        false
    }

    /// Threads did something that orders them. Wanted along with the accesses.
    fn order(&mut self, _event: &OrderEvent<'_>) -> bool {
        false
    }

    /// Something has happened to an asynchronous copy; not reported while looking away. Wanted along with the accesses.
    fn copy(&mut self, _event: &CopyEvent<'_>) -> bool {
        false
    }

    /// Something is done to a barrier object, just before it happens; that a phase has ended is told afterwards. Wanted along with
    /// the accesses.
    fn mbarrier(&mut self, _event: &MbarrierEvent) -> bool {
        false
    }

    /// Something happens to the asynchronous matrix multiplications of a warp. Wanted along with the accesses.
    fn wgmma(&mut self, _event: &WgmmaEvent<'_>) -> bool {
        false
    }

    /// An instruction is about to be issued; after a pause it is reported again.
    fn before(&mut self, _issue: &Issue, _warp: &Warp) -> bool {
        false
    }

    /// An instruction was issued and executed. Where the group stands now is not yet written into `warp`.
    fn after(&mut self, _issue: &Issue, _warp: &Warp) -> bool {
        false
    }

    /// Groups of a warp met between two instructions, and `lanes` now stand together at `place`.
    fn merged(&mut self, _place: Place, _lanes: LaneMask) -> bool {
        false
    }

    /// The instruction at `place` made threads arrive at a barrier or exit, which may have set others going and, if they wait for the
    /// result of a reduction, written their registers.
    fn arrived(&mut self, _place: Place, _block: &Block) -> bool {
        false
    }
}

/// The observer that looks away.
pub struct Unobserved;

impl Observer for Unobserved {
    fn wants(&self) -> Wants {
        Wants::NOTHING
    }
}
