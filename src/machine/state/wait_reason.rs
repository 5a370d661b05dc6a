//! Why lanes wait, as data.

use crate::machine::state::issue_point::IssuePoint;
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::mbarrier::Mbarrier;
use crate::program::Pc;

/// Lanes of a warp of a block.
pub type WarpLanes = (u32, LaneMask);

/// The wait reason of lanes in a run that cannot continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// They do not wait, and the run was cut off.
    Runs,
    /// They return to the same state forever.
    Spins,
    /// A barrier of the block.
    Barrier {
        /// Its number.
        id: u32,
        /// Threads that have arrived.
        count: u32,
        /// Threads it wants; none if it wants every thread that has not exited.
        wanted: Option<u32>,
        /// Lanes that have not arrived, by warp.
        missing: Vec<WarpLanes>,
    },
    /// A phase of an mbarrier.
    Mbarrier(Box<MbarrierWait>),
    /// Their copies, which only the user ends.
    Copies,
    /// The matrix multiplications of their warpgroup, which only the user ends.
    Wgmmas,
    /// Other warps of the warpgroup.
    Warpgroup {
        /// The number of the group of multiplications.
        group: u32,
        /// Warps that have not committed it.
        missing: Vec<u32>,
    },
    /// The barrier of the cluster: the lanes of its blocks that have not arrived, by index of the block.
    Cluster(Vec<([u32; 3], Vec<WarpLanes>)>),
    /// Lanes of their warp that must execute the same.
    Lanes {
        /// The member mask of the instruction, if it has one.
        mask: Option<LaneMask>,
        /// Lanes that have exited.
        exited: LaneMask,
        /// Lanes that are elsewhere.
        elsewhere: LaneMask,
    },
    /// These lanes, on their way to the reconvergence point of a branch; under the stack policy only.
    Reconvergence(LaneMask),
    /// These lanes, another side of a branch, which runs first; under the stack policy only.
    Turn(LaneMask),
}

/// A wait for the present phase of an mbarrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MbarrierWait {
    /// The name of the mbarrier.
    pub name: String,
    /// The object; none if there is none at its address any more.
    pub barrier: Option<Mbarrier>,
    /// If nothing has arrived in this phase: where the arrivals of the phase before came from, and what their warps do now.
    pub before: Vec<(IssuePoint, Activity)>,
    /// Copies in flight that will bring something to it: their numbers and instructions.
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
    /// Anything else.
    At(Pc),
}
