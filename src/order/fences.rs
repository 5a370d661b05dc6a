//! Fences (PTX ISA, "membar, fence"): release, acquire, and visibility through another proxy.

use std::sync::Arc;

use super::clock::ProxyKind;
use super::locations::{ScFenceCondition, scope_of};
use super::operation::{Actor, Operation};
use super::state::HappensBefore;
use super::threads::{DeferredAcquire, FenceClock};
use crate::base::lanes::LaneMask;
use crate::isa::{FenceKind, Ordering, Scope};

impl HappensBefore {
    /// Lanes execute a fence.
    pub fn fence(&mut self, actor: Actor, kind: FenceKind, ordering: Ordering, scope: Scope) {
        match kind {
            FenceKind::ProxyAsync => self.fence_proxy(actor, &[ProxyKind::AsyncShared, ProxyKind::AsyncGlobal]),
            FenceKind::ProxyAsyncShared => self.fence_proxy(actor, &[ProxyKind::AsyncShared]),
            FenceKind::ProxyAsyncGlobal => self.fence_proxy(actor, &[ProxyKind::AsyncGlobal]),
            // The fence that releases a change of a tensor map makes it visible to no thread yet.
            FenceKind::ProxyTensorMap if ordering == Ordering::Acquire => self.fence_proxy(actor, &[ProxyKind::TensorMap]),
            FenceKind::ProxyAlias | FenceKind::ProxyTensorMap => {}
            FenceKind::Memory => self.fence_memory(actor, true, ordering, scope),
            FenceKind::MbarrierInit => self.fence_memory(actor, false, ordering, scope),
        }
    }

    /// A read of `actor` observed the write `write` of lane `writer`, and nothing orders the two. If the writer executed `fence.sc` before
    /// the write, a later morally strong `fence.sc` of the reader follows that one in Fence-SC order: in the other order, the read would
    /// come before the write that it observed (PTX ISA, "Fence-SC Order", "Causality"). So the clock that the first fence released becomes
    /// a deferred acquire of the reader's lanes.
    pub fn read_after_fence(&mut self, actor: Actor, write: &Operation, writer: usize) {
        let block = self.blocks.iter().flatten().find(|block| block.number == write.block);
        let fences = block.into_iter().flat_map(|block| &block.warps[write.warp].fences);
        let exited =
            self.exited_fences.iter().filter(|(block, warp, _)| (*block, *warp) == (write.block, write.warp)).map(|(.., fence)| fence);
        let mut before = fences.chain(exited).filter(|fence| fence.sc && fence.lanes.contains(writer) && fence.clock.tick <= write.tick);
        let Some((fence_scope, clock)) = before.next().map(|fence| (fence.scope, Arc::new(fence.clock.released(LaneMask::of(writer)))))
        else {
            return;
        };
        let cluster = self.cluster();
        let block = self.acting_block(actor);
        let scope = scope_of(write.block, block.number, cluster);
        if fence_scope >= scope {
            DeferredAcquire { lanes: actor.lanes, scope, sc: ScFenceCondition::Required, clock }
                .add_to(&mut block.warps[actor.warp].deferred);
        }
    }

    fn fence_proxy(&mut self, actor: Actor, proxies: &[ProxyKind]) {
        self.acting_block(actor).fence_proxy(actor.warp, actor.lanes, proxies, actor.tick);
    }

    /// A fence that orders memory operations; it acquires as well if `may_acquire`.
    fn fence_memory(&mut self, actor: Actor, may_acquire: bool, ordering: Ordering, scope: Scope) {
        let Actor { warp, lanes, tick, .. } = actor;
        let block = self.acting_block(actor);
        let sc = ordering == Ordering::SeqCst;
        if ordering != Ordering::Release && may_acquire {
            let reader = &mut block.warps[warp];
            for mut deferred in std::mem::take(&mut reader.deferred) {
                let acquiring = if deferred.scope <= scope && (sc || deferred.sc != ScFenceCondition::Required) {
                    deferred.lanes & lanes
                } else {
                    LaneMask::NONE
                };
                if !acquiring.is_empty() {
                    reader.acquire(acquiring, &deferred.clock);
                }
                if acquiring.is_empty() && deferred.lanes.intersects(lanes) && deferred.sc != ScFenceCondition::Required {
                    reader.add_out_of_scope(deferred.lanes & lanes, &deferred.clock);
                }
                deferred.lanes &= !acquiring;
                if !deferred.lanes.is_empty() {
                    reader.deferred.push(deferred);
                }
            }
        }
        // What it has acquired just now may have read what was written after another `fence.sc`, which it follows then.
        if sc && scope >= Scope::Gpu {
            block.execute_sc_fence(warp, lanes);
        }
        if ordering != Ordering::Acquire {
            let (clock, before) = (block.clock_at(warp, tick), block.before_fences(warp, lanes));
            let fences = &mut block.warps[warp].fences;
            fences.retain_mut(|fence| {
                fence.lanes &= if fence.scope <= scope && fence.sc <= sc { !lanes } else { LaneMask::ALL };
                !fence.lanes.is_empty()
            });
            fences.push(FenceClock { lanes, scope, sc, clock, before, is_propagated: false });
        }
    }
}
