//! The findings there are: stable ids, severities, and what each means.

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is wrong yet.
    Warning,
    /// The kernel is wrong.
    Error,
}

impl Severity {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Which mistake: a row of [`FINDINGS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the rows of the table say what they mean")]
#[rustfmt::skip]
pub enum FindingId {
    RaceSharedRaw, RaceSharedWar, RaceSharedWaw, RaceGlobal, RaceScope, RaceMixedAtomic, RaceAsyncCopy, RaceProxy, RaceWgmma,
    MemoryOutOfBounds, MemoryMisaligned, MemoryNull, MemorySpace, MemoryReadOnly, MemoryUseAfterExit, MemoryUninitialized,
    RegisterUninitialized,
    BarrierDivergence, BarrierCount, BarrierExited, SyncMembermask,
    MbarrierUninitialized, MbarrierReinit, MbarrierInvalidated, MbarrierOverflow, MbarrierTxMismatch, MbarrierPhase, MbarrierOverlap,
    AsyncUnwaitedAtExit, AsyncMisaligned, AsyncSize, TensorCopy, ImageHandle, WgmmaSequence, WgmmaDescriptor,
    ClusterExited, ClusterRank, ClusterLate, Deadlock, Livelock, Trap, Assert, StackOverflow, LaunchBounds, MemoryLimit, Unsupported,
}

/// The checkers that can be switched on and off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Checker {
    /// Unordered accesses.
    Race,
    /// Addresses; always on: the machine itself stops there.
    Memory,
    /// Reads before any write.
    Init,
    /// Barriers, masks, barrier objects, groups of copies.
    Sync,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Which mistake.
    pub id: FindingId,
    /// The stable id users see.
    pub word: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Who finds it; nobody in particular if the run stops there by itself.
    pub checker: Option<Checker>,
    /// What is wrong, in one line.
    pub meaning: &'static str,
}

const fn row(id: FindingId, word: &'static str, severity: Severity, checker: Option<Checker>, meaning: &'static str) -> Row {
    Row { id, word, severity, checker, meaning }
}

use Checker::{Init, Memory, Race, Sync};
use FindingId::*;
use Severity::Error;

/// All findings, in the order of [`FindingId`].
#[rustfmt::skip]
pub const FINDINGS: &[Row] = &[
    row(RaceSharedRaw, "race.shared.raw", Error, Some(Race),
        "a thread reads shared memory that another one wrote, and nothing orders the two"),
    row(RaceSharedWar, "race.shared.war", Error, Some(Race),
        "a thread writes shared memory that another one read, and nothing orders the two"),
    row(RaceSharedWaw, "race.shared.waw", Error, Some(Race), "two threads write the same shared memory, and nothing orders them"),
    row(RaceGlobal, "race.global", Error, Some(Race), "two threads touch the same global memory, one writes, and nothing orders them"),
    row(RaceScope, "race.scope", Error, Some(Race), "two accesses are ordered only by an operation whose scope does not hold both threads"),
    row(RaceMixedAtomic, "race.mixed_atomic", Error, Some(Race),
        "an atomic and a plain access to the same memory, and nothing orders them"),
    row(RaceAsyncCopy, "race.async_copy", Error, Some(Race), "an asynchronous copy and an access that its wait does not order"),
    row(RaceProxy, "race.proxy", Error, Some(Race), "ordered, but through different proxies without a proxy fence"),
    row(RaceWgmma, "race.wgmma", Error, Some(Race), "registers or shared memory of a wgmma in flight are touched"),
    row(MemoryOutOfBounds, "memory.out_of_bounds", Error, Some(Memory), "no memory at the address"),
    row(MemoryMisaligned, "memory.misaligned", Error, Some(Memory), "the address is not a multiple of the access's size"),
    row(MemoryNull, "memory.null", Error, Some(Memory), "a null pointer"),
    row(MemorySpace, "memory.space", Error, Some(Memory), "the address belongs to another state space"),
    row(MemoryReadOnly, "memory.read_only", Error, Some(Memory), "the memory cannot be written"),
    row(MemoryUseAfterExit, "memory.use_after_exit", Error, Some(Memory), "local memory of a function that has returned"),
    row(MemoryUninitialized, "memory.uninitialized", Error, Some(Init), "memory is read before it is written"),
    row(RegisterUninitialized, "register.uninitialized", Error, Some(Init),
        "a register that was never written affects a result, an address or a branch"),
    row(BarrierDivergence, "barrier.divergence", Error, Some(Sync),
        "lanes of a warp disagree about a barrier that all of them must execute"),
    row(BarrierCount, "barrier.count", Error, Some(Sync), "the number of threads that a barrier wants cannot come"),
    row(BarrierExited, "barrier.exited", Error, Some(Sync), "a thread that a barrier needs has exited"),
    row(SyncMembermask, "sync.membermask", Error, Some(Sync), "a mask names lanes that do not take part, or leaves out one that does"),
    row(MbarrierUninitialized, "mbarrier.uninitialized", Error, None, "a barrier object that was never made"),
    row(MbarrierReinit, "mbarrier.reinit", Error, Some(Sync), "a barrier object is made again while it is in use"),
    row(MbarrierInvalidated, "mbarrier.invalidated", Error, None, "a barrier object is used after mbarrier.inval"),
    row(MbarrierOverflow, "mbarrier.overflow", Error, None, "more arrivals or bytes than the barrier object can take"),
    row(MbarrierTxMismatch, "mbarrier.tx_mismatch", Error, Some(Sync), "the bytes that a phase expects are not those that come"),
    row(MbarrierPhase, "mbarrier.phase", Error, Some(Sync), "a wait passes at once on a phase that was already over"),
    row(MbarrierOverlap, "mbarrier.overlap", Error, Some(Sync), "a plain access to a live barrier object"),
    row(AsyncUnwaitedAtExit, "async.unwaited_at_exit", Error, Some(Sync), "a thread exits without waiting for a copy it issued"),
    row(AsyncMisaligned, "async.misaligned", Error, None, "the address of a copy is not as aligned as the instruction wants"),
    row(AsyncSize, "async.size", Error, None, "the size of a copy is none that the instruction takes"),
    row(TensorCopy, "tensor.copy", Error, None, "a tensor copy that the hardware refuses"),
    row(ImageHandle, "image.handle", Error, None, "a handle that stands for no texture, sampler or surface"),
    row(WgmmaSequence, "wgmma.sequence", Error, Some(Sync), "the rules of wgmma.fence, commit_group and wait_group are broken"),
    row(WgmmaDescriptor, "wgmma.descriptor", Error, None, "a malformed matrix descriptor"),
    row(ClusterExited, "cluster.exited", Error, Some(Race), "the shared memory of a block that has exited, or may have"),
    row(ClusterRank, "cluster.rank", Error, None, "a rank that the cluster does not have"),
    row(ClusterLate, "cluster.late", Error, Some(Sync), "the shared memory of a block that may not have started"),
    row(Deadlock, "deadlock", Error, None, "no thread can run"),
    row(Livelock, "livelock", Error, None, "threads spin forever, or did when the step limit was reached"),
    row(Trap, "trap", Error, None, "the kernel stopped itself"),
    row(Assert, "assert", Error, None, "an assertion failed"),
    row(StackOverflow, "stack.overflow", Error, None, "local memory for calls is used up"),
    row(LaunchBounds, "launch.bounds", Error, None, "the device refuses the launch"),
    row(MemoryLimit, "memory.limit", Error, None, "the run needs more simulated state than --memory-limit allows"),
    row(Unsupported, "unsupported", Error, None, "an instruction that is known but not modelled"),
];

impl FindingId {
    /// Its row.
    pub fn row(self) -> &'static Row {
        // The table is in the order of the enum, which a test holds.
        &FINDINGS[self as usize]
    }

    /// The stable id users see.
    pub fn word(self) -> &'static str {
        self.row().word
    }

    /// Whether it is about two accesses that nothing orders.
    pub fn is_race(self) -> bool {
        self.word().starts_with("race.")
    }

    /// The finding with this stable id.
    pub fn of_word(word: &str) -> Option<Self> {
        FINDINGS.iter().find(|row| row.word == word).map(|row| row.id)
    }
}

#[cfg(test)]
mod tests {
    use super::FINDINGS;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (index, row) in FINDINGS.iter().enumerate() {
            assert_eq!(row.id as usize, index, "{}", row.word);
        }
    }
}
