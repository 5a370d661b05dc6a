//! Fences (PTX ISA, "membar, fence"): what they release and acquire, and what they make visible through another proxy.

use std::sync::Arc;

use super::clock::ProxyKind;
use super::locations::{ScFence, scope_of};
use super::operation::{Actor, Operation};
use super::state::HappensBefore;
use super::threads::{Fenced, Pending};
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

    /// Lanes read what lane `by` of `first` wrote, though nothing orders the two: a `fence.sc` before the write comes before a morally
    /// strong one after the read in Fence-SC order, since the other way round the read would come before the write that it reads (PTX ISA,
    /// "Fence-SC Order", "Causality").
    pub fn read_after_fence(&mut self, actor: Actor, first: &Operation, by: usize) {
        let block = self.blocks.iter().flatten().find(|block| block.number == first.block);
        let fences = block.into_iter().flat_map(|block| &block.warps[first.warp].fences);
        let left =
            self.fences_of_exited.iter().filter(|(block, warp, _)| (*block, *warp) == (first.block, first.warp)).map(|(.., fenced)| fenced);
        let mut before = fences.chain(left).filter(|fenced| fenced.sc && fenced.lanes.contains(by) && fenced.clock.tick <= first.tick);
        let Some((of, clock)) = before.next().map(|fenced| (fenced.scope, Arc::new(fenced.clock.released(LaneMask::of(by))))) else {
            return;
        };
        let cluster = self.cluster();
        let block = self.acting(actor);
        let scope = scope_of(first.block, block.number, cluster);
        if of >= scope {
            Pending { lanes: actor.lanes, scope, sc: ScFence::Needed, clock }.add_to(&mut block.warps[actor.warp].pending);
        }
    }

    fn fence_proxy(&mut self, actor: Actor, memories: &[ProxyKind]) {
        self.acting(actor).fence_proxy(actor.warp, actor.lanes, memories, actor.tick);
    }

    /// A fence between operations on memory, which acquires as well if it `may_acquire`.
    fn fence_memory(&mut self, actor: Actor, may_acquire: bool, ordering: Ordering, scope: Scope) {
        let Actor { warp, lanes, tick, .. } = actor;
        let block = self.acting(actor);
        let sc = ordering == Ordering::SeqCst;
        if sc && scope >= Scope::Gpu {
            block.pass_fence(warp, lanes);
        }
        if ordering != Ordering::Release && may_acquire {
            let of = &mut block.warps[warp];
            for mut pending in std::mem::take(&mut of.pending) {
                let seen =
                    if pending.scope <= scope && (sc || pending.sc != ScFence::Needed) { pending.lanes & lanes } else { LaneMask::NONE };
                if !seen.is_empty() {
                    of.acquire(seen, &pending.clock);
                }
                if seen.is_empty() && pending.lanes.intersects(lanes) && pending.sc != ScFence::Needed {
                    of.miss(pending.lanes & lanes, &pending.clock);
                }
                pending.lanes &= !seen;
                if !pending.lanes.is_empty() {
                    of.pending.push(pending);
                }
            }
        }
        if ordering != Ordering::Acquire {
            let (clock, before) = (block.clock_at(warp, tick), block.before_fence_of(warp, lanes));
            let fences = &mut block.warps[warp].fences;
            fences.retain_mut(|fenced| {
                fenced.lanes &= if fenced.scope <= scope && fenced.sc <= sc { !lanes } else { LaneMask::ALL };
                !fenced.lanes.is_empty()
            });
            fences.push(Fenced { lanes, scope, sc, clock, before, is_passed_on: false });
        }
    }
}
