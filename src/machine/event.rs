//! What observers see of a run. The machine reports; all that an observer can do is ask for a pause.

use super::block::Block;
use super::lanes::{LaneMask, PerLane};
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
    /// Address of each lane in that space; only those of `lanes` mean something.
    pub addresses: &'a PerLane<u64>,
    /// Bytes a lane.
    pub bytes: u32,
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
