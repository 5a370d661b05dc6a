//! Shared memory of other blocks of the cluster, which is there only while they run (PTX ISA, "Cluster of Cooperative Thread Arrays";
//! CUDA C++ Programming Guide, "Distributed Shared Memory").
//!
//! A block that has passed no barrier of the cluster, and has waited for no barrier object, cannot know that another one has started:
//! its access may come too early. An access behind which its block does nothing that another block could wait for may come too late:
//! the other one may have exited.

use std::collections::BTreeMap;

use crate::check::finding::{Deed, Finding, Side, Touched};
use crate::check::held::Held;
use crate::check::{FindingId, Reporter};
use crate::isa::{Ordering, Space};
use crate::machine::{AccessEvent, AccessKind, BlockId, Machine, Place};
use crate::program::{Inst, Op};

/// What the blocks of clusters have done to each other.
#[derive(Clone, Default)]
pub(super) struct Clusters {
    /// By block, in order of launch.
    blocks: BTreeMap<u64, Reached>,
    /// Blocks of a cluster.
    size: u64,
    held: Held,
}

/// What one block has done to others.
#[derive(Clone, Default)]
struct Reached {
    /// It knows that the others have started.
    knows: bool,
    /// Accesses behind which it has done nothing that others could wait for, each instruction once.
    last: Vec<Finding>,
}

impl Clusters {
    /// A launch begins.
    pub fn begin(&mut self, machine: &Machine) {
        self.blocks.clear();
        self.size = u64::from(machine.config().blocks_of_cluster());
    }

    /// Memory is about to be accessed.
    #[inline]
    pub fn access(&mut self, event: &AccessEvent<'_>, inst: &Inst) {
        if self.size > 1 {
            self.reach(event, inst);
        }
    }

    fn reach(&mut self, event: &AccessEvent<'_>, inst: &Inst) {
        let block = self.blocks.entry(event.by.number).or_default();
        if event.kind != AccessKind::Read && is_strong(inst) {
            block.last.clear();
        }
        if event.space != Space::SharedCluster || event.kind == AccessKind::Atomic {
            return;
        }
        let pc = event.place.pc;
        if !block.knows && !self.held.repeats(FindingId::ClusterLate, (pc, deed(event))) {
            self.held.hold(early(event));
        }
        if !block.last.iter().any(|finding| finding.second.place.pc == pc) {
            block.last.push(late(event));
        }
    }

    /// A barrier of the cluster around `by` has ended.
    pub fn released(&mut self, by: BlockId) {
        let first = by.number - by.number % self.size.max(1);
        for number in first..first + self.size {
            let block = self.blocks.entry(number).or_default();
            block.knows = true;
            block.last.clear();
        }
    }

    /// A thread of a block waits for a barrier object, and is told that its phase has ended.
    pub fn waited(&mut self, number: u64) {
        if self.size > 1 {
            self.blocks.entry(number).or_default().knows = true;
        }
    }

    /// A thread of a block arrives at a barrier object, for which others may wait.
    pub fn arrives(&mut self, number: u64) {
        self.blocks.get_mut(&number).into_iter().for_each(|block| block.last.clear());
    }

    /// The launch has ended. A block that is still there had no occasion to do more behind its accesses.
    pub fn end(&mut self, machine: &Machine, to: &mut Reporter<'_>) {
        let mut blocks = std::mem::take(&mut self.blocks);
        machine.resident_blocks().for_each(|block| drop(blocks.remove(&block.number)));
        blocks.into_values().flat_map(|block| block.last).for_each(|finding| self.held.hold(finding));
        self.held.release(to);
    }
}

/// Whether another thread could wait for what an instruction writes.
fn is_strong(inst: &Inst) -> bool {
    match inst.op {
        Op::Store { access, .. } | Op::StoreVector { access, .. } => access.ordering != Ordering::Weak,
        Op::Atomic { .. } | Op::AtomicVector { .. } => true,
        _ => false,
    }
}

fn deed(event: &AccessEvent<'_>) -> Deed {
    if event.kind == AccessKind::Write { Deed::Write } else { Deed::Read }
}

fn early(event: &AccessEvent<'_>) -> Finding {
    let why = "no barrier of the cluster lies before this access to the shared memory of another block, which may not have started";
    let advice = "let all threads of the cluster execute barrier.cluster.arrive and barrier.cluster.wait before it";
    finding(FindingId::ClusterLate, event, why, advice)
}

fn late(event: &AccessEvent<'_>) -> Finding {
    let why = "no barrier of the cluster lies behind this access to the shared memory of another block, which may have exited by then";
    let advice = "let all threads of the cluster execute barrier.cluster.arrive and barrier.cluster.wait behind it, before any exits";
    finding(FindingId::ClusterExited, event, why, advice)
}

fn finding(id: FindingId, event: &AccessEvent<'_>, why: &str, advice: &str) -> Finding {
    let Place { block, .. } = event.place;
    let address = event.addresses[event.lanes.trailing_zeros() as usize % 32];
    let memory = Touched { space: event.space, block, address, bytes: event.bytes };
    let side = Side { bytes: event.bytes, ..Side::new(event.place, event.lanes, deed(event)) };
    Finding { memory: Some(memory), ..Finding::new(id, side, why.to_string(), advice.to_string()) }
}
