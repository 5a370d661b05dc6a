//! What observers see of a run. The machine reports; all that an observer can do is ask for a pause.

use super::Tick;
use super::async_copy::AsyncCopy;
use super::block::Block;
use super::lanes::{LaneMask, PerLane};
use super::mbarrier::Contribution;
use super::registers::FrameBase;
use super::trap::Place;
use super::warp::Warp;
use crate::isa::Space;

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
    /// The lanes.
    pub lanes: LaneMask,
    /// How.
    pub kind: AccessKind,
    /// The space the lanes' addresses are in, never `Generic`.
    pub space: Space,
    /// Of shared memory, the rank of the block in its cluster.
    pub rank: u32,
    /// Address of each lane in that space; only those of `lanes` mean something.
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
    /// The lanes.
    pub lanes: LaneMask,
    /// The block whose shared memory the object is in.
    pub block: [u32; 3],
    /// Where in it.
    pub address: u32,
    /// What it does.
    pub change: MbarrierChange,
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

/// Something that watches a run. What it does not want costs nothing.
///
/// Where a method returns true the run pauses there with [`Step::Paused`](super::Step::Paused), in the state in which a budget that
/// ends at the same tick would leave it.
pub trait Observer {
    /// Whether [`Self::access`] is wanted.
    const ACCESSES: bool = true;

    /// Whether the other events are wanted.
    const INSTRUCTIONS: bool = false;

    /// Memory is about to be accessed.
    fn access(&mut self, event: &AccessEvent<'_>);

    /// Something has happened to an asynchronous copy; not reported while looking away. Wanted along with the accesses.
    fn copy(&mut self, _event: &CopyEvent<'_>) -> bool {
        false
    }

    /// Something is done to a barrier object, just before it happens; that a phase has ended is told afterwards. Wanted along with
    /// the accesses.
    fn mbarrier(&mut self, _event: &MbarrierEvent) -> bool {
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
    const ACCESSES: bool = false;

    fn access(&mut self, _event: &AccessEvent<'_>) {}
}
