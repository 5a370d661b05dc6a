//! Clusters: blocks that are resident together, and their barrier (PTX ISA, "barrier.cluster").
//!
//! The blocks of a cluster are in consecutive block slots, in order of rank. These slots get the blocks of the next cluster when all blocks
//! have finished.

use triomphe::Arc;

use crate::machine::event::{Event, Observer, SyncEvent, SyncKind};
use crate::machine::event_kind::EventKind;
use crate::machine::state::block::Block;
use crate::machine::state::issue_point::{BlockId, IssuePoint};
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::machine::Machine;
use crate::machine::state::warp::GroupState;
use crate::weak::Party;

impl Block {
    /// Records the arrival of lanes of a warp at the barrier of the cluster.
    pub fn arrive_at_cluster(&mut self, warp: usize, mask: LaneMask) {
        assert!(!mask.is_empty() && self.warps[warp].live.contains_all(mask), "lanes arrive at the cluster's barrier that are not live");
        self.cluster.arrived.resize(self.warps.len(), LaneMask::NONE);
        assert!(!self.cluster.arrived[warp].intersects(mask), "lanes arrive at the cluster's barrier twice");
        self.cluster.arrived[warp] |= mask;
        assert!(self.cluster.arrived_of(warp).contains_all(mask), "lanes arrive at the cluster's barrier and are not recorded");
    }

    /// True if all its threads that have not exited have arrived at the barrier of the cluster.
    pub fn is_at_cluster(&self) -> bool {
        self.warps.iter().enumerate().all(|(number, warp)| self.cluster.arrived_of(number).contains_all(warp.live))
    }
}

impl Machine {
    /// The block slots of the cluster that the block in `block_slot` belongs to.
    pub(in crate::machine) fn cluster_block_slots(&self, block_slot: usize) -> std::ops::Range<usize> {
        let size = self.prepared.cluster_blocks;
        // Most launches have no clusters.
        let first = if size == 1 { block_slot } else { block_slot - block_slot % size };
        let block_slots = first..(first + size).min(self.blocks.len());
        debug_assert!(block_slots.len() == size || block_slot >= self.blocks.len(), "a cluster that is not whole");
        block_slots
    }

    /// Completes the phase of the barrier of the cluster of `block_slot` if every live thread has arrived, the last of them at `point`.
    /// True if the observer asks for a pause.
    pub(in crate::machine) fn release_cluster(&mut self, block_slot: usize, point: IssuePoint, observer: &mut dyn Observer) -> bool {
        let block_slots = self.cluster_block_slots(block_slot);
        let (first, size) = (block_slots.start as u32, block_slots.len() as u32);
        let blocks = &mut self.blocks[block_slots];
        let has_arrivals = blocks.iter().flatten().any(|block| block.cluster.arrived.iter().any(|mask| !mask.is_empty()));
        if !has_arrivals || !blocks.iter().flatten().all(|block| block.is_at_cluster()) {
            return false;
        }
        for block in blocks.iter_mut().flatten().map(Arc::make_mut) {
            block.cluster.arrived.clear();
            block.cluster.phase += 1;
            block.wake(|state| matches!(state, GroupState::AtCluster { .. }));
        }
        let mut phases = blocks.iter().flatten().map(|block| block.cluster.phase);
        let phase = phases.next();
        assert!(phases.all(|other| Some(other) == phase), "blocks of one cluster are in different phases");
        self.stall.count_cluster_barrier();
        if let Some(weak) = &mut self.weak {
            let all = blocks.iter().flatten().map(|block| Party::Block(self.prepared.place(block.number, 0)));
            weak.meet(&all.collect::<Vec<Party>>(), None, self.tick.0);
        }
        let block_id = BlockId { number: self.blocks[block_slot].as_ref().map_or(0, |block| block.number), block_slot: block_slot as u32 };
        let kind = SyncKind::ClusterBarrierCompleted { first, blocks: size };
        observer.report(EventKind::Sync, || Event::Sync(SyncEvent { point, block_id, lanes: LaneMask::NONE, kind }))
    }
}
