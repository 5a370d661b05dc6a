//! Blocks of a cluster that exit: what other blocks do to their shared memory must happen before the last of their threads exits (CUDA C++
//! Programming Guide, "Distributed Shared Memory").
//!
//! The clocks of the threads of a block at their exits are gathered, and what other blocks had done before a barrier of the cluster that
//! one of them waited for, even if those arrived relaxed: that makes nothing visible, but it is over. Accesses of others to its shared
//! memory that are not part of that may as well come later, when the memory is gone. Strong writes are left out: a thread that waits for
//! one by reading it knows that it is done, though that orders nothing. Operations on mbarriers are not left out: they are visible
//! through a wait only.

use super::Race;
use super::access::{Access, Ref};
use super::advice::{Language, Term};
use super::report::uses_object;
use super::shadow::Entry;
use crate::check::finding::{Finding, Link, MemoryRange, Pair, Side, SideAction};
use crate::check::race::catalogue::CLUSTER_EXITED;
use crate::isa::Space;
use crate::machine::{BlockId, OrderEvent};

impl Race {
    /// Lanes of a block of a cluster exit.
    pub(super) fn leave(&mut self, event: &OrderEvent<'_>) {
        let OrderEvent { place, block_id: BlockId { block_slot, .. }, lanes, .. } = *event;
        if self.order.block(block_slot).is_none_or(|block| block.warps.iter().any(|warp| !warp.live.is_empty())) {
            return;
        }
        let Some(shadow) = self.shared.get_mut(block_slot as usize).and_then(Option::take) else { return };
        let (mut last, exit) = (Entry::default(), Side::new(place, lanes, SideAction::Exit));
        for (address, entry) in shadow.entries() {
            // Neighbours are mostly equal.
            if entry != std::mem::replace(&mut last, entry) {
                self.outlived(block_slot, entry.writes, address, &exit);
                self.outlived(block_slot, entry.reads, address, &exit);
            }
        }
    }

    /// Holds findings of those of the accesses to the byte at `address` that may come when the block in `block_slot` is gone.
    fn outlived(&mut self, block_slot: u32, accesses: Ref, address: u64, exit: &Side) {
        let members = self.shared_log.members(accesses).map(|one| *self.shared_log.get(one));
        let late: Vec<Access> = members.filter(|access| self.may_outlive(block_slot, access)).collect();
        for access in &late {
            assert!(access.op.tick <= exit.place.tick, "what a block does not know of came before its exit");
            let first = self.side(access, access.lanes_at(address, &self.shared_log));
            if !self.deferred.repeats(Pair::new(CLUSTER_EXITED, 0, Some(&first), exit)) {
                let memory = MemoryRange { space: Space::Shared, block: self.index_in(block_slot), address, bytes: access.bytes.min(16) };
                self.deferred.defer(outlives(Language::of(&self.program, access.pc), first, exit, memory));
            }
        }
    }

    /// Whether an access was another block's, and does not happen before the exits of the threads of the block in `block_slot`, all of
    /// which have exited.
    fn may_outlive(&self, block_slot: u32, access: &Access) -> bool {
        let Some(block) = self.order.block(block_slot) else { return false };
        let is_seen = access.strong.is_some() && access.action != SideAction::Read && !uses_object(access);
        access.op.block != block.number && !is_seen && !self.order.left_after(block_slot, &access.op)
    }
}

fn outlives(language: Language, first: Side, exit: &Side, memory: MemoryRange) -> Finding {
    let [x, y, z] = memory.block;
    let why =
        format!("block ({x},{y},{z}), whose shared memory this is, exits without knowing that the access is done: it may come too late");
    let barrier = language.word(Term::ClusterBarrier);
    let fix = format!("have all threads of the cluster execute {barrier} after the access, before any exits");
    let link = |place, text: &str| Link { place, text: text.to_string() };
    let chain = vec![
        link(Some(first.place), "another block accesses the shared memory"),
        link(None, "no barrier of the cluster lies between, nor a wait that ends only when the access is done"),
        link(Some(exit.place), "the last thread of the block exits, and its shared memory is gone"),
    ];
    Finding { first: Some(first), memory: Some(memory), chain, ..Finding::new(CLUSTER_EXITED, *exit, why, fix) }
}
