//! PTX ISA, "Parallel Synchronization and Communication Instructions": barriers, fences and mbarriers.

use super::super::form::{Row, row};
use crate::isa::BarrierFn::{Arrive, RedAnd, RedOr, RedPopc, Sync};
use crate::isa::Decode::{Barrier, Fence, MemBar, Nop, Unsupported, WarpSync};

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("bar[-cta{7.8,0}].sync                               a:u32[, b:u32]", (1, 0), 0, Barrier(Sync), "waits for the threads of the block"),
    row("bar[-cta{7.8,0}]-arrive                             a:u32, b:u32", (2, 0), 20, Barrier(Arrive), "counts as arrived without waiting"),
    row("bar[-cta{7.8,0}]-red.popc.u32                       d, a:u32[, b:u32], [!]c:pred", (2, 0), 20, Barrier(RedPopc), "waits; how many threads had the predicate"),
    row("bar[-cta{7.8,0}]-red.and.pred                       p, a:u32[, b:u32], [!]c:pred", (2, 0), 20, Barrier(RedAnd), "waits; whether all threads had the predicate"),
    row("bar[-cta{7.8,0}]-red.or.pred                        p, a:u32[, b:u32], [!]c:pred", (2, 0), 20, Barrier(RedOr), "waits; whether any thread had the predicate"),
    row("barrier[-cta{7.8,0}].sync[.aligned]                 a:u32[, b:u32]", (6, 0), 30, Barrier(Sync), "waits for the threads of the block"),
    row("barrier[-cta{7.8,0}]-arrive[.aligned]               a:u32, b:u32", (6, 0), 30, Barrier(Arrive), "counts as arrived without waiting"),
    row("barrier[-cta{7.8,0}]-red.popc[.aligned].u32         d, a:u32[, b:u32], [!]c:pred", (6, 0), 30, Barrier(RedPopc), "waits; how many threads had the predicate"),
    row("barrier[-cta{7.8,0}]-red.and[.aligned].pred         p, a:u32[, b:u32], [!]c:pred", (6, 0), 30, Barrier(RedAnd), "waits; whether all threads had the predicate"),
    row("barrier[-cta{7.8,0}]-red.or[.aligned].pred          p, a:u32[, b:u32], [!]c:pred", (6, 0), 30, Barrier(RedOr), "waits; whether any thread had the predicate"),
    row("barrier-cluster-arrive[.release|.relaxed{8.0,90}][.aligned]  ", (7, 8), 90, Unsupported, "counts as arrived at the barrier of the cluster"),
    row("barrier-cluster-wait[.acquire][.aligned]                    ", (7, 8), 90, Unsupported, "waits for the threads of the cluster"),
    row("bar-warp-sync                                       a:u32", (6, 0), 30, WarpSync, "waits for lanes of the warp"),

    row("membar(.cta|.gl|.sys{2.0,20})                           ", (1, 4), 0, MemBar, "orders memory accesses"),
    row("membar-proxy.alias ", (7, 5), 70, Nop, "orders accesses through different paths"),
    row("fence[.sc|.acq_rel](<scope>)                            ", (6, 0), 70, Fence, "orders memory accesses"),
    row("fence(.acquire|.release)(<scope>)                       ", (6, 0), 70, Fence, "orders memory accesses in one direction"),
    row("fence.acquire.sync_restrict::shared::cluster.cluster    ", (8, 6), 90, Nop, "orders accesses to the shared memory of the cluster"),
    row("fence.release.sync_restrict::shared::cta.cluster        ", (8, 6), 90, Nop, "orders accesses to shared memory"),
    row("fence.mbarrier_init.release.cluster                     ", (8, 0), 90, Nop, "orders the initialization of mbarriers"),
    row("fence-proxy.alias                                       ", (7, 5), 70, Nop, "orders accesses through different addresses"),
    row("fence-proxy.async[.global|.shared::cta|.shared::cluster]", (8, 0), 90, Nop, "orders accesses and asynchronous ones"),
    row("fence-proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", (8, 6), 90, Nop, "orders accesses and asynchronous ones"),
    row("fence-proxy.async::generic.release.sync_restrict::shared::cta.cluster", (8, 6), 90, Nop, "orders accesses and asynchronous ones"),
    row("fence-proxy.tensormap::generic.release(<scope>)         ", (8, 3), 90, Nop, "orders changes of a tensor map and its use"),
    row("fence-proxy.tensormap::generic.acquire(<scope>)         [a], b:b32:=128", (8, 3), 90, Nop, "orders changes of a tensor map and its use"),

    row("mbarrier.*                                          ...", (7, 0), 80, Unsupported, "barrier object in memory"),
    row("clusterlaunchcontrol.*                              ...", (8, 6), 100, Unsupported, "asks for the work of a block that was not launched"),
    row("griddepcontrol(.launch_dependents|.wait)                ", (7, 8), 90, Nop, "lets the next grid start, or waits for the one before"),
];
