//! Blocks of a cluster that exit: what other blocks do to their shared memory must happen before the last of their threads exits (CUDA C++
//! Programming Guide, "Distributed Shared Memory").
//!
//! What the threads of a block knew when they exited is gathered, and what other blocks had done before a barrier of the cluster that one
//! of them waited for, even if those arrived relaxed: that makes nobody see it, but it is over. What was done to its shared memory by
//! others and is not part of that may as well come later, when the memory is gone. Strong writes are left out: whoever waits for one by
//! reading it knows that it is done, though that orders nothing. Operations on barrier objects are not: nobody sees those but by a wait.

use std::sync::Arc;

use super::Race;
use super::access::{Access, Ref};
use super::clock::learn;
use super::shadow::Entry;
use super::threads::clock_knows;
use crate::check::finding::{self, Deed, Finding, Link, Side, Touched};
use crate::check::race::catalogue::CLUSTER_EXITED;
use crate::isa::Space;
use crate::machine::{BlockId, OrderEvent, lanes_of};

impl Race {
    /// Lanes of a block of a cluster exit.
    pub(super) fn leave(&mut self, event: &OrderEvent<'_>) {
        let OrderEvent { place, by: BlockId { slot, .. }, lanes, .. } = *event;
        let Some(block) = self.block(slot) else { return };
        let known = block.past(place.warp as u8, place.tick).released(lanes);
        learn(&mut block.left, &Arc::new(known));
        if block.warps.iter().any(|warp| warp.live != 0) {
            return;
        }
        let Some(shadow) = block.shadow.take() else { return };
        let (mut last, exit) = (Entry::default(), Side::new(place, lanes, Deed::Exit));
        for (address, entry) in shadow.entries() {
            // Neighbours are mostly alike.
            if entry != std::mem::replace(&mut last, entry) {
                self.outlived(slot, entry.writes, address, &exit);
                self.outlived(slot, entry.reads, address, &exit);
            }
        }
    }

    /// Holds findings of those of the accesses to the byte at `address` that may come when the block in `slot` is gone.
    fn outlived(&mut self, slot: u32, accesses: Ref, address: u64, exit: &Side) {
        let members = self.log.members(accesses).map(|one| *self.log.get(one));
        let late: Vec<Access> = members.filter(|access| self.may_outlive(slot, access)).collect();
        for access in &late {
            let first = self.side(access, access.lanes_at(address, &self.log));
            if !self.held.repeats(finding::cause(CLUSTER_EXITED, 0, Some(&first), exit)) {
                let Some(Some(block)) = self.blocks.get(slot as usize) else { return };
                let memory = Touched { space: Space::Shared, block: block.index, address, bytes: access.bytes.min(16) };
                self.held.hold(outlives(first, exit, memory));
            }
        }
    }

    /// Whether an access was another block's, and the threads of the block in `slot`, who all have exited, did not know of it.
    fn may_outlive(&self, slot: u32, access: &Access) -> bool {
        let Some(Some(block)) = self.blocks.get(slot as usize) else { return false };
        let is_seen = access.strong.is_some() && access.deed != Deed::Read && !self.uses_object(access);
        let known = |lane: usize| block.left.as_ref().is_some_and(|clock| clock_knows(clock, access, 1 << lane));
        access.block != block.number && !is_seen && !lanes_of(access.lanes).all(known)
    }
}

fn outlives(first: Side, exit: &Side, memory: Touched) -> Finding {
    let [x, y, z] = memory.block;
    let why =
        format!("block ({x},{y},{z}), whose shared memory this is, exits without knowing that the access is done: it may come too late");
    let advice =
        "have all threads of the cluster execute barrier.cluster.arrive and barrier.cluster.wait after the access, before any exits";
    let link = |place, text: &str| Link { place, text: text.to_string() };
    let chain = vec![
        link(Some(first.place), "another block accesses the shared memory"),
        link(None, "no barrier of the cluster lies between, nor a wait that ends only when the access is done"),
        link(Some(exit.place), "the last thread of the block exits, and its shared memory is gone"),
    ];
    Finding { first: Some(first), memory: Some(memory), chain, ..Finding::new(CLUSTER_EXITED, *exit, why, advice.to_string()) }
}
