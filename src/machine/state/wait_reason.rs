//! The reasons for which lanes wait.

use crate::machine::state::issue_point::IssuePoint;
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::mbarrier::Mbarrier;
use crate::program::Pc;

/// Lanes of a warp of a block.
pub type WarpLanes = (u32, LaneMask);

/// The wait reason of lanes in a run that cannot continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// The lanes do not wait; the step limit ended the run.
    Runs,
    /// The lanes return to the same state forever.
    Spins,
    /// A barrier of the block.
    Barrier {
        /// Its number.
        id: u32,
        /// Threads that have arrived.
        count: u32,
        /// The thread count; none if the barrier waits for every thread that has not exited.
        thread_count: Option<u32>,
        /// Lanes that have not arrived, by warp.
        missing: Vec<WarpLanes>,
    },
    /// A phase of an mbarrier.
    Mbarrier(Box<MbarrierWait>),
    /// Their copies, which only the user completes.
    Copies,
    /// The matrix multiplications of their warpgroup, which only the user completes.
    Wgmmas,
    /// Other warps of the warpgroup.
    Warpgroup {
        /// The number of the wgmma-group.
        group: u32,
        /// Warps that have not committed it.
        missing: Vec<u32>,
    },
    /// The barrier of the cluster: the lanes of its blocks that have not arrived, by index of the block.
    Cluster(Vec<([u32; 3], Vec<WarpLanes>)>),
    /// Other lanes of their warp that must execute the instruction too.
    Lanes {
        /// The member mask of the instruction, if it has one.
        mask: Option<LaneMask>,
        /// Lanes that have exited.
        exited: LaneMask,
        /// Lanes that are at other instructions.
        elsewhere: LaneMask,
    },
    /// These lanes, which have not reached the reconvergence point of a branch; under the stack policy only.
    Reconvergence(LaneMask),
    /// These lanes, on another side of a branch, which runs first; under the stack policy only.
    OtherSide(LaneMask),
}

/// A wait for the current phase of an mbarrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MbarrierWait {
    /// The name of the mbarrier.
    pub name: String,
    /// The mbarrier; none if there is none at its address any more.
    pub barrier: Option<Mbarrier>,
    /// If no thread has arrived in this phase: the arrivals of the phase before, each with the present activity of its warp.
    pub before: Vec<(IssuePoint, Activity)>,
    /// The copies in flight that complete on the mbarrier: their numbers and instructions.
    pub copies: Vec<(u64, Pc)>,
}

/// The activity of a warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity {
    /// All its lanes have exited.
    Exited,
    /// It waits for the mbarrier of this name.
    AtMbarrier(String, Pc),
    /// It waits at the barrier of this number.
    AtBarrier(u32, Pc),
    /// It waits at the barrier of the cluster.
    AtCluster(Pc),
    /// It is at this instruction.
    At(Pc),
}
