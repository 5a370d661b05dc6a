//! Fences (PTX ISA, "membar, fence"): what they release and acquire, and what they make visible through another proxy.

use super::clock::ProxyKind;
use super::operation::Actor;
use super::state::HappensBefore;
use super::threads::Fenced;
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
                let seen = if pending.scope <= scope { pending.lanes & lanes } else { LaneMask::NONE };
                if !seen.is_empty() {
                    of.acquire(seen, &pending.clock);
                }
                pending.lanes &= !seen;
                if !pending.lanes.is_empty() {
                    of.pending.push(pending);
                }
            }
        }
        if ordering != Ordering::Acquire {
            let clock = block.clock_at(warp, tick);
            let fences = &mut block.warps[warp].fences;
            fences.retain_mut(|fenced| {
                fenced.lanes &= if fenced.scope <= scope && fenced.sc <= sc { !lanes } else { LaneMask::ALL };
                !fenced.lanes.is_empty()
            });
            fences.push(Fenced { lanes, scope, sc, clock });
        }
    }
}
