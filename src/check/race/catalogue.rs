//! Unordered accesses: the mistakes that this checker finds.

use crate::check::catalogue::FindingId;

/// A thread reads shared memory that another one wrote, and nothing orders the two.
pub const RACE_SHARED_RAW: FindingId =
    FindingId::race("race.shared.raw", "a thread reads shared memory that another one wrote, and nothing orders the two");
/// A thread writes shared memory that another one read, and nothing orders the two.
pub const RACE_SHARED_WAR: FindingId =
    FindingId::race("race.shared.war", "a thread writes shared memory that another one read, and nothing orders the two");
/// Two threads write the same shared memory, and nothing orders them.
pub const RACE_SHARED_WAW: FindingId =
    FindingId::race("race.shared.waw", "two threads write the same shared memory, and nothing orders them");
/// Two threads touch the same global memory, one writes, and nothing orders them.
pub const RACE_GLOBAL: FindingId =
    FindingId::race("race.global", "two threads touch the same global memory, one writes, and nothing orders them");
/// Two accesses are ordered only by an operation whose scope does not hold both threads.
pub const RACE_SCOPE: FindingId =
    FindingId::race("race.scope", "two accesses are ordered only by an operation whose scope does not hold both threads");
/// An atomic and a plain access to the same memory, and nothing orders them.
pub const RACE_MIXED_ATOMIC: FindingId =
    FindingId::race("race.mixed_atomic", "an atomic and a plain access to the same memory, and nothing orders them");
/// An asynchronous copy and an access that its wait does not order.
pub const RACE_ASYNC_COPY: FindingId =
    FindingId::race("race.async_copy", "an asynchronous copy and an access that its wait does not order");
/// Ordered, but through different proxies without a proxy fence.
pub const RACE_PROXY: FindingId = FindingId::race("race.proxy", "ordered, but through different proxies without a proxy fence");
/// Registers or shared memory of a wgmma in flight are touched.
pub const RACE_WGMMA: FindingId = FindingId::race("race.wgmma", "registers or shared memory of a wgmma in flight are touched");
/// Plain stores of one instruction by threads that nothing orders, which write the same bytes.
pub const RACE_SAME_VALUE: FindingId =
    FindingId::race_note("race.same_value", "threads that nothing orders write the same bytes: the result is the same whichever is last");
/// A volatile or relaxed load and such a store of shared memory, which nothing orders, and a value that the kernel keeps.
pub const RACE_UNORDERED: FindingId = FindingId::race_warning(
    "race.unordered",
    "a volatile or relaxed load and a store of another thread: nothing orders them, and the value that is read is kept",
);
/// Lanes of a warp that only running in lockstep orders.
pub const RACE_LOCKSTEP: FindingId = FindingId::race_note("race.lockstep", "relies on lockstep: nothing else orders lanes of a warp");
/// The shared memory of a block that has exited, or may have.
pub const CLUSTER_EXITED: FindingId = FindingId::error("cluster.exited", "the shared memory of a block that has exited, or may have");

/// All of them.
pub(super) const FINDINGS: &[FindingId] = &[
    RACE_SHARED_RAW,
    RACE_SHARED_WAR,
    RACE_SHARED_WAW,
    RACE_GLOBAL,
    RACE_SCOPE,
    RACE_MIXED_ATOMIC,
    RACE_ASYNC_COPY,
    RACE_PROXY,
    RACE_WGMMA,
    RACE_SAME_VALUE,
    RACE_UNORDERED,
    RACE_LOCKSTEP,
    CLUSTER_EXITED,
];
