//! What a step of a warp does that others may depend on.

use crate::machine::LaneMask;
use crate::program::Pc;

/// A warp: the number of its block, and its own.
pub type WarpKey = (u64, u32);

/// What warps have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// Eight bytes of global memory, or of the shared memory of the block of number `owner - 1`.
    Memory { owner: u64, word: u64 },
    /// A barrier of a block.
    Barrier { block: u64, id: u32 },
    /// The barrier of a cluster.
    Cluster { number: u64 },
    /// A barrier object in the shared memory of the block of this number.
    Mbarrier { block: u64, address: u32 },
}

/// What is done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// It is read.
    Reads,
    /// It is changed.
    Writes,
    /// It is changed so that the order makes no difference among changes of the same number, such as that of a phase.
    Together(u64),
    /// A wait passes while this phase is not complete.
    Passes(u64),
    /// A wait does not pass while this phase is not complete: it goes on later.
    Fails(u64),
}

/// Something that a step does to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Touch {
    pub object: Object,
    pub mode: Mode,
    /// Of memory, a bit for each of the bytes.
    pub bytes: u8,
    pub pc: Pc,
}

/// Whether two things done to an object depend on each other, the second of which comes later; and if so, whether they could have come the
/// other way round.
pub fn depends(earlier: &Touch, later: &Touch) -> Option<bool> {
    use Mode::{Fails, Passes, Reads, Together, Writes};
    if earlier.object != later.object || earlier.bytes & later.bytes == 0 {
        return None;
    }
    match (earlier.mode, later.mode) {
        (Fails(_), _) | (Reads | Passes(_), Reads | Passes(_) | Fails(_)) => None,
        (Together(one), Together(other)) => (one != other).then_some(true),
        (Together(done), Passes(open)) => (done < open).then_some(false),
        (Together(done), Fails(open)) => (done < open).then_some(true),
        (Writes, _) | (_, Writes) | (Reads | Passes(_), Together(_)) | (Together(_), Reads) => Some(true),
    }
}

/// Whether no order of two steps makes a difference.
pub fn are_independent(one: &[Touch], other: &[Touch]) -> bool {
    !one.iter().any(|one| other.iter().any(|other| depends(one, other).is_some() || depends(other, one).is_some()))
}

/// What happens in a step, in order.
#[derive(Clone, Debug)]
pub enum Happening {
    /// A synchronization operation, or an access that races, touches something.
    Touches(Touch),
    /// A plain access does.
    Accesses(Touch),
    /// The warp arrives at a barrier, and waits there if it `waits`.
    Arrives { at: Object, waits: bool },
    /// It waits for a barrier at which it has arrived before, if that has not ended meanwhile.
    Waits { at: Object },
    /// A barrier ends its phase.
    Ends { at: Object },
}

/// A warp at the place where a step began or ended.
pub type Stand = Vec<(Pc, LaneMask, crate::machine::GroupState)>;
