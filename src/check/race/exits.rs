//! Exits of blocks of a cluster: accesses of other blocks to the shared memory of a block must happen before the exit of its last thread
//! (CUDA C++ Programming Guide, "Distributed Shared Memory").
//!
//! The exit clock of a block joins the clocks of its threads at their exits with those of all threads that arrived at a barrier of the
//! cluster that one of them waited for. A relaxed arrival makes nothing visible, but the accesses before it are over. Accesses of other
//! blocks that the exit clock does not include may come later, when the memory is gone. Strong writes are exempt: a thread that polls for
//! one observes that it is done, though that orders nothing. Operations on mbarriers are not exempt: only a wait observes them.

use super::RaceChecker;
use super::access::{Access, AccessRef};
use super::advice::{Construct, Language};
use super::report::uses_mbarrier;
use super::shadow::Entry;
use crate::check::finding::{Finding, MemoryRange, Pair, PathStep, Side, SideAction};
use crate::check::race::catalogue::CLUSTER_EXITED;
use crate::check::remedy::{BarrierLevel, Position, Remedy};
use crate::isa::Space;
use crate::machine::{BlockId, SyncEvent};

impl RaceChecker {
    /// Lanes of a block of a cluster exit; if they are the last ones, checks the accesses of other blocks to its shared memory.
    pub(super) fn check_exit(&mut self, event: &SyncEvent<'_>) {
        let SyncEvent { point, block_id: BlockId { block_slot, .. }, lanes, .. } = *event;
        if self.hb.block(block_slot).is_none_or(|block| block.warps.iter().any(|warp| !warp.live.is_empty())) {
            return;
        }
        let Some(shadow) = self.shared.get_mut(block_slot as usize).and_then(Option::take) else { return };
        let (mut last, exit) = (Entry::default(), Side::new(point, lanes, SideAction::Exit));
        for (address, entry) in shadow.entries() {
            // Adjacent entries are mostly equal.
            if entry != std::mem::replace(&mut last, entry) {
                self.defer_late_accesses(block_slot, entry.writes, address, &exit);
                self.defer_late_accesses(block_slot, entry.reads, address, &exit);
            }
        }
    }

    /// Defers findings about the accesses to the byte at `address` that may come after the exit of the block in `block_slot`.
    fn defer_late_accesses(&mut self, block_slot: u32, accesses: AccessRef, address: u64, exit: &Side) {
        let members = self.shared_log.members(accesses).map(|one| self.shared_log.get(one));
        let late: Vec<Access> = members.filter(|access| self.may_outlive(block_slot, access)).collect();
        for access in &late {
            assert!(access.op.tick <= exit.point.tick, "what a block does not know of came before its exit");
            let first = self.side(access, access.lanes_at(address, &self.shared_log));
            if !self.deferred.count_again(Pair::new(CLUSTER_EXITED, 0, Some(&first), exit)) {
                let memory =
                    MemoryRange { space: Space::Shared, block: self.index_of_resident(block_slot), address, bytes: access.bytes.min(16) };
                self.deferred.defer(late_access(Language::of(&self.program, access.pc), first, exit, memory));
            }
        }
    }

    /// True if an access is by another block, and does not happen before the exit of the block in `block_slot`, which has exited.
    fn may_outlive(&self, block_slot: u32, access: &Access) -> bool {
        let Some(block) = self.hb.block(block_slot) else { return false };
        let is_pollable = access.strong.is_some() && access.action != SideAction::Read && !uses_mbarrier(access);
        access.op.block != block.number && !is_pollable && !self.hb.exited_after(block_slot, &access.op)
    }
}

fn late_access(language: Language, first: Side, exit: &Side, memory: MemoryRange) -> Finding {
    let [x, y, z] = memory.block;
    let why =
        format!("block ({x},{y},{z}), whose shared memory this is, exits without knowing that the access is done: it may come too late");
    let barrier = language.name(Construct::ClusterBarrier);
    let fix = format!("have all threads of the cluster execute {barrier} after the access, before any exits");
    let step = |point, text: &str| PathStep { point, text: text.to_string() };
    let path = vec![
        step(Some(first.point), "another block accesses the shared memory"),
        step(None, "no barrier of the cluster lies between, nor a wait that ends only when the access is done"),
        step(Some(exit.point), "the last thread of the block exits, and its shared memory is gone"),
    ];
    let at = [Position::Before(exit.point.pc), Position::After(first.point.pc)];
    let candidates = at.map(|at| vec![Remedy::BarrierAt(BarrierLevel::Cluster, at)]).into();
    Finding { first: Some(first), memory: Some(memory), path, candidates, ..Finding::new(CLUSTER_EXITED, *exit, why, fix) }
}
