//! Blocks of a cluster: each thread arrives at its barrier once before each wait (PTX ISA, "barrier.cluster"), and shared memory of other
//! blocks exists only while they run (PTX ISA, "Cluster of Cooperative Thread Arrays"; CUDA C++ Programming Guide, "Distributed Shared
//! Memory").
//!
//! An access by a block that has waited for no barrier of the cluster and for no mbarrier may come before the start of the other block. The
//! race checker checks whether it may come too late.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::deferred::DeferredFindings;
use crate::check::finding::{Finding, MemoryRange, Pair, Side, SideAction};
use crate::check::lane_text::lanes_do;
use crate::check::race::{Construct, Language};
use crate::check::remedy::{BarrierLevel, Position, Remedy};
use crate::check::reporter::Reporter;
use crate::check::sync::catalogue::{BARRIER_COUNT, CLUSTER_LATE};
use crate::isa::Space;
use crate::machine::{AccessEvent, AccessKind, BlockId, IssuePoint, LaneMask, SyncEvent};
use crate::program::Program;

/// The blocks of clusters.
#[derive(Clone, Default)]
pub(super) struct Clusters {
    /// The blocks, by number, that have waited for the start of the other blocks of their cluster.
    started: BTreeSet<u64>,
    /// The arrivals of lanes that have not waited for the barrier since, by block and warp.
    arrived: BTreeMap<(u64, u32), Vec<(IssuePoint, LaneMask)>>,
    /// Blocks of a cluster.
    size: u64,
    deferred: DeferredFindings,
}

impl Clusters {
    /// A launch begins.
    pub fn begin(&mut self, size: u64) {
        self.started.clear();
        self.arrived.clear();
        self.size = size;
    }

    /// Memory is about to be accessed.
    #[inline]
    pub fn access(&mut self, event: &AccessEvent<'_>, program: &Program) {
        if self.size > 1 && event.space == Space::SharedCluster && event.kind != AccessKind::Atomic {
            self.check_started(event, program);
        }
    }

    fn check_started(&mut self, event: &AccessEvent<'_>, program: &Program) {
        let pair = Pair::single(CLUSTER_LATE, 0, (event.point.pc, action(event)));
        if !self.started.contains(&event.block_id.number) && !self.deferred.count_again(pair) {
            self.deferred.defer(early_access(Language::of(program, event.point.pc), event));
        }
    }

    /// Lanes arrive at the barrier of the cluster.
    pub fn arrives(&mut self, event: &SyncEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let arrived = self.arrived.entry((event.block_id.number, event.point.warp.number())).or_default();
        let before = arrived.iter().find(|(_, lanes)| lanes.intersects(event.lanes)).copied();
        arrived.push((event.point, event.lanes));
        before.is_some_and(|before| to.report(repeated_arrival(Language::of(to.program, event.point.pc), before, event)))
    }

    /// Lanes wait for the barrier of the cluster.
    pub fn waits(&mut self, event: &SyncEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let arrived = self.arrived.entry((event.block_id.number, event.point.warp.number())).or_default();
        let missing = arrived.iter().fold(event.lanes, |missing, (_, lanes)| missing.without(*lanes));
        arrived.iter_mut().for_each(|(_, lanes)| *lanes &= !event.lanes);
        arrived.retain(|(_, lanes)| !lanes.is_empty());
        assert!(!arrived.iter().any(|(_, lanes)| lanes.intersects(event.lanes)), "lanes that have waited have no arrival left");
        !missing.is_empty() && to.report(wait_without_arrival(Language::of(to.program, event.point.pc), missing, event))
    }

    /// The phase of the barrier of the cluster of the block has completed.
    pub fn released(&mut self, block_id: BlockId) {
        assert!(self.size > 0, "a cluster has blocks");
        let first = block_id.number - block_id.number % self.size;
        self.started.extend(first..first + self.size);
    }

    /// A thread of a block has waited for a phase of an mbarrier.
    pub fn waited(&mut self, number: u64) {
        if self.size > 1 {
            self.started.insert(number);
        }
    }

    /// The launch has ended.
    pub fn end(&mut self, to: &mut Reporter<'_>) {
        self.deferred.release(to);
    }
}

fn repeated_arrival(language: Language, (point, lanes): (IssuePoint, LaneMask), event: &SyncEvent<'_>) -> Finding {
    let again = lanes & event.lanes;
    let why = format!(
        "{} at the barrier of the cluster again without having waited since: which phase this counts for is chance",
        lanes_do(again, "arrive")
    );
    let fix = match language {
        Language::Cuda => "have each thread execute cluster.barrier_wait() between two cluster.barrier_arrive(), or cluster.sync()",
        Language::Triton | Language::Ptx => "have each thread execute barrier.cluster.wait between two barrier.cluster.arrive",
    };
    let side = |point| Side::new(point, again, SideAction::Synchronize);
    let candidates = [Position::After(point.pc), Position::Before(event.point.pc)].map(|at| vec![Remedy::ClusterWait(at)]).into();
    Finding { first: Some(side(point)), candidates, ..Finding::new(BARRIER_COUNT, side(event.point), why, fix.to_string()) }
}

fn wait_without_arrival(language: Language, lanes: LaneMask, event: &SyncEvent<'_>) -> Finding {
    let why =
        format!("{} for the barrier of the cluster without having arrived at it: the wait ends at once, or never", lanes_do(lanes, "wait"));
    let fix = match language {
        Language::Cuda => "have each thread execute cluster.barrier_arrive() before it waits, or cluster.sync() for both",
        Language::Triton | Language::Ptx => "have each thread execute barrier.cluster.arrive before it waits",
    };
    let candidates = vec![vec![Remedy::ClusterArrive(Position::Before(event.point.pc))]];
    Finding { candidates, ..Finding::new(BARRIER_COUNT, Side::new(event.point, lanes, SideAction::Synchronize), why, fix.to_string()) }
}

fn action(event: &AccessEvent<'_>) -> SideAction {
    if event.kind == AccessKind::Write { SideAction::Write } else { SideAction::Read }
}

fn early_access(language: Language, event: &AccessEvent<'_>) -> Finding {
    let why = "no barrier of the cluster lies before this access to the shared memory of another block, which may not have started";
    let fix = format!("have all threads of the cluster execute {} before it", language.name(Construct::ClusterBarrier));
    let IssuePoint { block, .. } = event.point;
    let address = event.addresses[event.lanes.first()];
    let memory = MemoryRange { space: event.space, block, address, bytes: event.bytes };
    let side = Side { bytes: event.bytes, ..Side::new(event.point, event.lanes, action(event)) };
    // The threads may have arrived, and not waited.
    let before = Position::Before(event.point.pc);
    let candidates = vec![vec![Remedy::ClusterWait(before)], vec![Remedy::BarrierAt(BarrierLevel::Cluster, before)]];
    Finding { memory: Some(memory), candidates, ..Finding::new(CLUSTER_LATE, side, why.to_string(), fix) }
}
