//! Blocks of a cluster: each thread arrives at its barrier once before each wait (PTX ISA, "barrier.cluster"), and shared memory of other
//! blocks is there only while they run (PTX ISA, "Cluster of Cooperative Thread Arrays"; CUDA C++ Programming Guide, "Distributed Shared
//! Memory").
//!
//! A block that has passed no barrier of the cluster, and has waited for no mbarrier, cannot know that another one has started:
//! its access may come too early. Whether it may come too late is the race checker's question.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::deferred::DeferredFindings;
use crate::check::finding::{Finding, MemoryRange, Pair, Side, SideAction};
use crate::check::lane_text::lanes_do;
use crate::check::race::{Language, Term};
use crate::check::reporter::Reporter;
use crate::check::sync::catalogue::{BARRIER_COUNT, CLUSTER_LATE};
use crate::isa::Space;
use crate::machine::{AccessEvent, AccessKind, BlockId, IssuePoint, LaneMask, OrderEvent};
use crate::program::Program;

/// The blocks of clusters.
#[derive(Clone, Default)]
pub(super) struct Clusters {
    /// The blocks whose threads know that the other blocks have started, by number.
    started: BTreeSet<u64>,
    /// By block and warp, where lanes arrived at the barrier for which they have not waited.
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
            self.distance(event, program);
        }
    }

    fn distance(&mut self, event: &AccessEvent<'_>, program: &Program) {
        let pair = Pair::lone(CLUSTER_LATE, 0, (event.place.pc, action(event)));
        if !self.started.contains(&event.block_id.number) && !self.deferred.repeats(pair) {
            self.deferred.defer(early(Language::of(program, event.place.pc), event));
        }
    }

    /// Lanes arrive at the barrier of the cluster.
    pub fn arrives(&mut self, event: &OrderEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let arrived = self.arrived.entry((event.block_id.number, event.place.warp.number())).or_default();
        let before = arrived.iter().find(|(_, lanes)| lanes.intersects(event.lanes)).copied();
        arrived.push((event.place, event.lanes));
        before.is_some_and(|before| to.report(arrives_again(Language::of(to.program, event.place.pc), before, event)))
    }

    /// Lanes wait for the barrier of the cluster.
    pub fn waits(&mut self, event: &OrderEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let arrived = self.arrived.entry((event.block_id.number, event.place.warp.number())).or_default();
        let missing = arrived.iter().fold(event.lanes, |missing, (_, lanes)| missing.without(*lanes));
        arrived.iter_mut().for_each(|(_, lanes)| *lanes &= !event.lanes);
        arrived.retain(|(_, lanes)| !lanes.is_empty());
        assert!(!arrived.iter().any(|(_, lanes)| lanes.intersects(event.lanes)), "lanes that have waited have no arrival left");
        !missing.is_empty() && to.report(waits_for_nothing(Language::of(to.program, event.place.pc), missing, event))
    }

    /// A barrier of the cluster around the block has ended.
    pub fn released(&mut self, block_id: BlockId) {
        assert!(self.size > 0, "a cluster has blocks");
        let first = block_id.number - block_id.number % self.size;
        self.started.extend(first..first + self.size);
    }

    /// A thread of a block waits for an mbarrier, and learns that its phase has ended.
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

fn arrives_again(language: Language, (place, lanes): (IssuePoint, LaneMask), event: &OrderEvent<'_>) -> Finding {
    let again = lanes & event.lanes;
    let why = format!(
        "{} at the barrier of the cluster again without having waited since: which phase this counts for is chance",
        lanes_do(again, "arrive")
    );
    let fix = match language {
        Language::Cuda => "have each thread execute cluster.barrier_wait() between two cluster.barrier_arrive(), or cluster.sync()",
        Language::Triton | Language::Ptx => "have each thread execute barrier.cluster.wait between two barrier.cluster.arrive",
    };
    let side = |place| Side::new(place, again, SideAction::Synchronize);
    Finding { first: Some(side(place)), ..Finding::new(BARRIER_COUNT, side(event.place), why, fix.to_string()) }
}

fn waits_for_nothing(language: Language, lanes: LaneMask, event: &OrderEvent<'_>) -> Finding {
    let why =
        format!("{} for the barrier of the cluster without having arrived at it: the wait ends at once, or never", lanes_do(lanes, "wait"));
    let fix = match language {
        Language::Cuda => "have each thread execute cluster.barrier_arrive() before it waits, or cluster.sync() for both",
        Language::Triton | Language::Ptx => "have each thread execute barrier.cluster.arrive before it waits",
    };
    Finding::new(BARRIER_COUNT, Side::new(event.place, lanes, SideAction::Synchronize), why, fix.to_string())
}

fn action(event: &AccessEvent<'_>) -> SideAction {
    if event.kind == AccessKind::Write { SideAction::Write } else { SideAction::Read }
}

fn early(language: Language, event: &AccessEvent<'_>) -> Finding {
    let why = "no barrier of the cluster lies before this access to the shared memory of another block, which may not have started";
    let fix = format!("have all threads of the cluster execute {} before it", language.word(Term::ClusterBarrier));
    let IssuePoint { block, .. } = event.place;
    let address = event.addresses[event.lanes.first()];
    let memory = MemoryRange { space: event.space, block, address, bytes: event.bytes };
    let side = Side { bytes: event.bytes, ..Side::new(event.place, event.lanes, action(event)) };
    Finding { memory: Some(memory), ..Finding::new(CLUSTER_LATE, side, why.to_string(), fix) }
}
