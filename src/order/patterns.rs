//! Strong accesses (PTX ISA, "Strong operations"): what they acquire from the locations that they read, and release where they write.

use std::sync::Arc;

use super::clock::join_into;
use super::locations::{AcquireResult, LaneLocations, ScFence};
use super::operation::Actor;
use super::state::HappensBefore;
use super::threads::DeferredAcquire;
use crate::base::lanes::{LaneMask, PerLane};
use crate::isa::{Ordering, Scope};

/// A strong access (PTX ISA, "Strong operations").
#[derive(Clone, Copy, Debug)]
pub struct Strong {
    /// Whether it reads.
    pub reads: bool,
    /// Whether it writes; if it reads as well, indivisibly.
    pub writes: bool,
    /// Whether it returns nothing of what it reads: it is no part of an acquire pattern (PTX ISA, "Release and Acquire Patterns").
    pub is_reduction: bool,
    /// Its semantics.
    pub ordering: Ordering,
    /// Its scope.
    pub scope: Scope,
    /// Bytes of what it accesses: accesses of different sizes observe nothing of each other.
    pub bytes: u32,
}

impl HappensBefore {
    /// A strong access acquires the clocks of its locations and releases to them: `memory` is 0 for global memory, or the block slot of a
    /// block plus one.
    pub fn release_acquire(&mut self, actor: Actor, memory: u32, addresses: &PerLane<u64>, access: Strong) {
        assert!(access.reads || access.writes, "an access reads or writes");
        let Actor { warp, lanes, tick, .. } = actor;
        let is_quiet = self.locations.is_empty();
        let releases = access.writes && access.ordering.releases();
        let acquires = access.ordering.acquires();
        let block = self.acting(actor);
        let has_fence = !block.warps[warp].fences.is_empty() || access.writes && block.knows_fence(warp);
        if is_quiet && !releases && !has_fence {
            return;
        }
        if !has_fence && self.release_acquire_lanewise(actor, &LaneLocations { lanes, memory, addresses, bytes: access.bytes }, access) {
            return;
        }
        let cluster = self.cluster();
        let Some(Some(block)) = self.blocks.get_mut(actor.block_slot as usize) else { return };
        for lane in lanes.iter() {
            let at = (memory, addresses[lane], access.bytes);
            if access.reads && (acquires || !access.is_reduction) {
                for found in self.locations.read(at, (access.scope, acquires), block.number, cluster) {
                    let warp = &mut block.warps[warp];
                    match found {
                        AcquireResult::Seen(_, sc, clock) if acquires && sc != ScFence::Needed => {
                            warp.acquire(LaneMask::of(lane), &clock);
                        }
                        AcquireResult::Seen(scope, sc, clock) => {
                            DeferredAcquire { lanes: LaneMask::of(lane), scope, sc, clock }.add_to(&mut warp.deferred);
                        }
                        AcquireResult::Missed(clock) => warp.miss_by_scope(LaneMask::of(lane), &clock),
                    }
                }
            }
            if access.writes {
                let mut clocks = Vec::new();
                if releases {
                    let mut clock = block.released(warp, LaneMask::of(lane), tick);
                    let before = block.warps[warp].fenced_by(LaneMask::of(lane));
                    before.iter().for_each(|before| join_into(&mut clock.before_fence, before));
                    clocks.push((access.scope, ScFence::Unrelated, Arc::new(clock)));
                }
                for fenced in block.warps[warp].fences.iter().filter(|fenced| fenced.lanes.contains(lane)) {
                    let sc = if fenced.sc { ScFence::Enough } else { ScFence::Unrelated };
                    clocks.push((access.scope.min(fenced.scope), sc, Arc::new(fenced.clock.released(LaneMask::of(lane)))));
                }
                for before in block.before_fence(warp, lane) {
                    // The last fence of the thread itself says the same, if it knew that.
                    if !block.warps[warp].fences.iter().any(|fenced| fenced.lanes.contains(lane) && fenced.follows(before)) {
                        clocks.push((Scope::Gpu, ScFence::Needed, Arc::clone(before)));
                    }
                }
                self.locations.write(at, ((block.number, warp, lane as u8), access.scope), access.reads, cluster, clocks);
            }
        }
    }

    /// The same for all lanes at once, if they read and write locations of their own and differ by the number of the lane alone. False,
    /// with nothing released, otherwise: what was acquired can be acquired once more.
    fn release_acquire_lanewise(&mut self, Actor { block_slot, warp, tick, .. }: Actor, of: &LaneLocations<'_>, access: Strong) -> bool {
        let is_chain = access.reads && access.writes && !access.is_reduction;
        let synchronizes = access.ordering.acquires() && access.ordering.releases() && access.scope >= Scope::Gpu;
        let Some(Some(block)) = self.blocks.get_mut(block_slot as usize) else { return false };
        if !is_chain || !synchronizes || of.lanes.count() == 1 || !block.is_lanewise(warp) || !of.are_apart() {
            return false;
        }
        let Some(acquired) = self.locations.read_lanewise(of) else { return false };
        acquired.iter().for_each(|(lanes, clock)| block.warps[warp].acquire_lanewise(*lanes, clock));
        if !block.is_lanewise(warp) {
            return false;
        }
        for (lanes, clock) in block.released_lanewise(warp, of.lanes, tick) {
            self.locations.write_lanewise(&LaneLocations { lanes, ..*of }, (block.number, warp), access.scope, &clock);
        }
        true
    }
}
