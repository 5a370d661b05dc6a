//! The accesses of a step of a warp to shared objects, and the dependency relation between them.

use crate::machine::LaneMask;
use crate::program::Pc;

/// A warp: the number of its block, and its own.
pub type WarpKey = (u64, u32);

/// An object that warps share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// Eight bytes of global memory, or of the shared memory of the block of number `owner - 1`.
    Memory { owner: u64, word: u64 },
    /// A barrier of a block.
    Barrier { block: u64, id: u32 },
    /// The barrier of a cluster.
    Cluster { number: u64 },
    /// An mbarrier in the shared memory of the block of this number.
    Mbarrier { block: u64, address: u32 },
}

/// The mode of an access to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessMode {
    /// It is read.
    Reads,
    /// It is changed.
    Writes,
    /// It is changed, and changes of the same number, such as that of a phase, commute.
    Commutes(u64),
    /// A wait that succeeds although this phase is not complete.
    Passes(u64),
    /// A wait that fails because this phase is not complete: it is repeated later.
    Fails(u64),
}

/// An access of a step to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectAccess {
    pub object: Object,
    pub mode: AccessMode,
    /// Of memory, a bit for each of the bytes.
    pub bytes: u8,
    pub pc: Pc,
}

/// The dependency between two accesses, in this order: none if they are independent, otherwise true if they could be reversed.
pub fn depends(earlier: &ObjectAccess, later: &ObjectAccess) -> Option<bool> {
    use AccessMode::{Commutes, Fails, Passes, Reads, Writes};
    if earlier.object != later.object || earlier.bytes & later.bytes == 0 {
        return None;
    }
    match (earlier.mode, later.mode) {
        (Fails(_), _) | (Reads | Passes(_), Reads | Passes(_) | Fails(_)) => None,
        (Commutes(one), Commutes(other)) => (one != other).then_some(true),
        (Commutes(done), Passes(open)) => (done < open).then_some(false),
        (Commutes(done), Fails(open)) => (done < open).then_some(true),
        (Writes, _) | (_, Writes) | (Reads | Passes(_), Commutes(_)) | (Commutes(_), Reads) => Some(true),
    }
}

/// True if two steps are independent: their order makes no difference.
pub fn are_independent(one: &[ObjectAccess], other: &[ObjectAccess]) -> bool {
    !one.iter().any(|one| other.iter().any(|other| depends(one, other).is_some() || depends(other, one).is_some()))
}

/// An event of a step.
#[derive(Clone, Debug)]
pub enum StepEvent {
    /// A synchronization operation, or an access that races.
    Synchronizes(ObjectAccess),
    /// A plain access.
    Accesses(ObjectAccess),
    /// The warp arrives at a barrier, and waits there if it `waits`.
    Arrives { at: Object, waits: bool },
    /// It waits for a barrier at which it has arrived before, if its phase is not complete.
    Waits { at: Object },
    /// A barrier completes its phase.
    Completes { at: Object },
}

/// The state of a warp at the beginning or the end of a step: its groups of lanes.
pub type WarpState = Vec<(Pc, LaneMask, crate::machine::GroupState)>;
