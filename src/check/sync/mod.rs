//! Barriers, member masks, mbarriers and groups of copies: synchronization rules that a kernel can break without a trap, so that the
//! simulated GPU (the *machine*) runs on.
//!
//! | rule | file |
//! | --- | --- |
//! | the lanes of a warp agree on an aligned barrier; a phase has one count, which can be reached | `barrier` |
//! | member masks name the lanes that arrive | `mask` |
//! | mbarriers are initialized once, accessed by no other instruction, and receive the expected bytes; waits are used | `mbarrier` |
//! | copies in commit groups are waited for | `copies` |
//! | a wait at the barrier of the cluster comes after an arrival; shared memory of other blocks exists when it is accessed | `cluster` |
//! | `wgmma` is fenced, and waited for | `wgmma` |
//! | locks are acquired in one order | `locks` |
//!
//! Each rule has a small state that the events of a run update. It reports when an instruction breaks it, when a block has finished, or
//! in a deadlock. A finding at the end of a launch is dropped if the same instruction raced: the race is the cause. The machine reports a
//! deadlock; a broken rule that leads to it is reported here as well.
//!
//! What it can miss: lanes that diverge before a barrier inside a function which the others do not call; a barrier that lanes branch around
//! and then exit without another access; a wait by the wrong parity that happens only once.

mod barrier;
pub mod catalogue;
mod cluster;
mod copies;
mod locks;
mod mask;
mod mbarrier;
mod wgmma;

use std::any::Any;

use barrier::{Barriers, CLUSTER};
use cluster::Clusters;
use copies::Copies;
use locks::Locks;
use mask::Masks;
use mbarrier::Mbarriers;
use wgmma::Wgmmas;

use crate::check::catalogue::FindingId;
use crate::check::checker::{Checker, CheckerRow};
use crate::check::faults::{DEADLOCK, LIVELOCK};
use crate::check::reachability::Reachability;
use crate::check::reporter::Reporter;
use crate::isa::Space;
use crate::machine::{
    AccessEvent, CopyEvent, Event, EventKind, EventMask, LaunchEnd, LaunchStart, MbarrierChange, MbarrierEvent, PlainRead, SyncEvent,
    SyncKind,
};
use crate::program::{Op, Program};

/// The checker of synchronization.
#[derive(Clone, Default)]
struct SyncChecker {
    barriers: Barriers,
    masks: Masks,
    mbarriers: Mbarriers,
    copies: Copies,
    clusters: Clusters,
    reachability: Reachability,
    wgmmas: Wgmmas,
    locks: Locks,
    /// Whether the program initializes mbarriers.
    has_mbarriers: bool,
    /// Whether an access may concern an mbarrier, a lock, or another block of the cluster.
    observes_accesses: bool,
}

/// The checker of synchronization.
pub(super) const ROW: CheckerRow = CheckerRow {
    word: "sync",
    about: "barriers, masks, mbarriers, groups of copies",
    findings: catalogue::FINDINGS,
    make: Some(|program| Box::new(SyncChecker::new(program))),
};

impl Checker for SyncChecker {
    fn begin(&mut self, launch: &LaunchStart) {
        let config = &launch.prepared.config;
        self.barriers.begin(config.block.iter().product());
        self.masks.begin();
        self.mbarriers.begin();
        self.copies.begin();
        self.wgmmas = Wgmmas::default();
        self.clusters.begin(u64::from(config.blocks_of_cluster()));
        self.locks.begin();
        self.observes_accesses = self.has_mbarriers || self.locks.has_any() || config.blocks_of_cluster() > 1;
    }

    fn mask(&self) -> EventMask {
        const MASK: EventMask = EventMask::of(&[EventKind::Sync, EventKind::Copy, EventKind::Mbarrier, EventKind::Wgmma]);
        const ACCESSES: EventMask = MASK.with(EventMask::of(&[EventKind::Access]));
        if self.observes_accesses { ACCESSES } else { MASK }
    }

    fn event(&mut self, event: &Event<'_>, to: &mut Reporter<'_>) -> bool {
        match event {
            Event::Access(access) => self.access(access, to),
            Event::Sync(order) => self.order(order, to),
            Event::Copy(copy) => self.copy(copy, to),
            Event::Mbarrier(object) => self.mbarrier(object, to),
            Event::Wgmma(wgmma) => self.wgmmas.event(wgmma, to),
            Event::LocalStart(_)
            | Event::Collective(_)
            | Event::Before(..)
            | Event::After(..)
            | Event::Reconverged(..)
            | Event::Arrived(..) => false,
        }
    }

    fn plain_read(&mut self, read: &PlainRead<'_>) -> bool {
        read.space == Space::Shared && !self.mbarriers.may_touch(read.block_id.block_slot, read.low, read.span)
    }

    fn end(&mut self, end: &LaunchEnd, fault: Option<FindingId>, to: &mut Reporter<'_>) {
        if end.is_deadlocked {
            self.barriers.deadlock(end, &mut self.reachability, to);
            end.blocks.iter().for_each(|block| mask::deadlock(block, end.tick, to));
            self.mbarriers.deadlock(end, to);
        } else {
            self.masks.report_spinning(end, to);
        }
        let is_aborted = fault.is_some_and(|id| id != DEADLOCK && id != LIVELOCK);
        self.mbarriers.end(end, is_aborted, to);
        self.copies.end(to);
        self.clusters.end(to);
        self.locks.end(fault.is_some(), to);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn boxed_clone(&self) -> Box<dyn Checker> {
        Box::new(self.clone())
    }
}

impl SyncChecker {
    fn new(program: &Program) -> Self {
        let has_mbarriers = program.code.iter().any(|inst| matches!(inst.op, Op::Mbarrier(_)));
        Self { locks: Locks::new(program), has_mbarriers, ..Self::default() }
    }

    /// Memory is about to be accessed. True if that is a new finding, as for all handlers below.
    #[inline]
    fn access(&mut self, event: &AccessEvent<'_>, to: &mut Reporter<'_>) -> bool {
        self.clusters.access(event, to.program);
        self.locks.access(event);
        matches!(event.space, Space::Shared | Space::SharedCluster) && self.mbarriers.access(event, to)
    }

    /// A synchronization operation orders threads.
    fn order(&mut self, event: &SyncEvent<'_>, to: &mut Reporter<'_>) -> bool {
        match event.kind {
            SyncKind::Arrived { id, thread_count, aligned, .. } => {
                self.arrives(event);
                self.barriers.of(event.block_id).arrived(event, (id, aligned), thread_count, to)
            }
            SyncKind::BarrierCompleted { id, .. } => {
                self.locks.barrier_completed(event.block_id.number);
                self.barriers.of(event.block_id).released(id, &mut self.reachability, to)
            }
            SyncKind::WarpSync { members } | SyncKind::Collective { members } => {
                let live = self.barriers.of(event.block_id).live(event.point.warp.number());
                self.masks.uses_mask(event, members, matches!(event.kind, SyncKind::WarpSync { .. }), live, to)
            }
            SyncKind::ClusterArrived { aligned, .. } => {
                self.arrives(event);
                self.barriers.of(event.block_id).arrived(event, (CLUSTER, aligned), None, to) | self.clusters.arrives(event, to)
            }
            SyncKind::ClusterWaits => self.clusters.waits(event, to),
            SyncKind::ClusterBarrierCompleted { first, blocks } => {
                self.clusters.released(event.block_id);
                self.barriers.cluster_released(first..first + blocks, &mut self.reachability, to)
            }
            SyncKind::Committed { bulk } => {
                self.copies.committed(event, bulk);
                false
            }
            SyncKind::Awaited(wait) => {
                self.copies.awaited(event, wait).into_iter().for_each(|arrival| self.mbarriers.mark_waited(arrival));
                false
            }
            SyncKind::Exited => self.exited(event, to),
            SyncKind::Fence { .. } => false,
        }
    }

    /// A warp arrives at a barrier, which matters to what waits for an mbarrier.
    fn arrives(&mut self, event: &SyncEvent<'_>) {
        if self.has_mbarriers {
            self.mbarriers.arrives(&event.point);
        }
    }

    fn exited(&mut self, event: &SyncEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let barriers = self.barriers.of(event.block_id);
        let live = barriers.live(event.point.warp.number());
        barriers.exited(event);
        self.copies.exited(event, live, to.program);
        self.masks.exited(event, live, &mut self.reachability, to)
    }

    /// A copy is issued, reads, or ends.
    fn copy(&mut self, event: &CopyEvent<'_>, to: &mut Reporter<'_>) -> bool {
        self.copies.copy(event).into_iter().for_each(|arrival| self.mbarriers.mark_waited(arrival));
        self.mbarriers.copy(event, to)
    }

    /// An operation on an mbarrier.
    fn mbarrier(&mut self, event: &MbarrierEvent, to: &mut Reporter<'_>) -> bool {
        if matches!(event.change, MbarrierChange::Tested { completed: true, .. }) {
            self.clusters.waited(event.block_id.number);
        }
        self.mbarriers.event(event, to)
    }
}
