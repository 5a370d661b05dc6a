//! Misused synchronization: the mistakes that this checker finds.

use crate::check::catalogue::FindingId;

/// Lanes of a warp disagree about a barrier that all of them must execute.
pub const BARRIER_DIVERGENCE: FindingId =
    FindingId::error("barrier.divergence", "lanes of a warp disagree about a barrier that all of them must execute");
/// The number of threads that a barrier wants cannot come.
pub const BARRIER_COUNT: FindingId = FindingId::error("barrier.count", "the number of threads that a barrier wants cannot come");
/// A thread that a barrier needs has exited.
pub const BARRIER_EXITED: FindingId = FindingId::error("barrier.exited", "a thread that a barrier needs has exited");
/// A mask names lanes that do not take part, or leaves out one that does.
pub const SYNC_MEMBERMASK: FindingId =
    FindingId::error("sync.membermask", "a mask names lanes that do not take part, or leaves out one that does");
/// An mbarrier is made again while it is in use.
pub const MBARRIER_REINIT: FindingId = FindingId::error("mbarrier.reinit", "an mbarrier is made again while it is in use");
/// The bytes that a phase expects are not those that come.
pub const MBARRIER_TX_MISMATCH: FindingId =
    FindingId::error("mbarrier.tx_mismatch", "the bytes that a phase expects are not those that come");
/// A wait passes at once on a phase that was already over.
pub const MBARRIER_PHASE: FindingId = FindingId::error("mbarrier.phase", "a wait passes at once on a phase that was already over");
/// A plain access to a live mbarrier.
pub const MBARRIER_OVERLAP: FindingId = FindingId::error("mbarrier.overlap", "a plain access to a live mbarrier");
/// A thread exits without waiting for a copy it issued.
pub const ASYNC_UNWAITED_AT_EXIT: FindingId =
    FindingId::error("async.unwaited_at_exit", "a thread exits without waiting for a copy it issued");
/// The rules of wgmma.fence, commit_group and wait_group are broken.
pub const WGMMA_SEQUENCE: FindingId =
    FindingId::error("wgmma.sequence", "the rules of wgmma.fence, commit_group and wait_group are broken");
/// The shared memory of a block that may not have started.
pub const CLUSTER_LATE: FindingId = FindingId::error("cluster.late", "the shared memory of a block that may not have started");

/// Two locks are taken in two orders, and the run came through.
pub const DEADLOCK_LOCK_ORDER: FindingId = FindingId::warning(
    "deadlock.lock_order",
    "two threads take two locks in opposite orders: no deadlock in this run, but in another order of the threads",
);

/// All of them.
pub(super) const FINDINGS: &[FindingId] = &[
    BARRIER_DIVERGENCE,
    BARRIER_COUNT,
    BARRIER_EXITED,
    SYNC_MEMBERMASK,
    MBARRIER_REINIT,
    MBARRIER_TX_MISMATCH,
    MBARRIER_PHASE,
    MBARRIER_OVERLAP,
    ASYNC_UNWAITED_AT_EXIT,
    WGMMA_SEQUENCE,
    CLUSTER_LATE,
    DEADLOCK_LOCK_ORDER,
];
