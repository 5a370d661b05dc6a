//! Strong accesses (PTX ISA, "Strong operations"): they acquire the clocks of the locations that they read, and release to those that they
//! write.

use std::sync::Arc;

use super::clock::join_into;
use super::locations::{AcquireResult, LaneLocations, ScFenceCondition};
use super::operation::Actor;
use super::state::HappensBefore;
use super::threads::DeferredAcquire;
use crate::base::lanes::{LaneMask, PerLane};
use crate::isa::{Ordering, Scope};

/// A strong access (PTX ISA, "Strong operations").
#[derive(Clone, Copy, Debug)]
pub struct StrongAccess {
    /// True if it reads.
    pub reads: bool,
    /// True if it writes; if it reads as well, atomically.
    pub writes: bool,
    /// True if it does not return the value that it reads (`red`), so that it is no part of an acquire pattern (PTX ISA, "Release and
    /// Acquire Patterns").
    pub is_reduction: bool,
    /// Its semantics.
    pub ordering: Ordering,
    /// Its scope.
    pub scope: Scope,
    /// Bytes of the access: accesses of different sizes do not observe each other.
    pub bytes: u32,
}

impl HappensBefore {
    /// A strong access acquires the clocks of its locations and releases to them: `memory` is 0 for global memory, or the block slot of a
    /// block plus one.
    pub fn release_acquire(&mut self, actor: Actor, memory: u32, addresses: &PerLane<u64>, access: StrongAccess) {
        assert!(access.reads || access.writes, "an access reads or writes");
        let Actor { warp, lanes, tick, .. } = actor;
        let nothing_released = self.locations.is_empty();
        let releases = access.writes && access.ordering.releases();
        let acquires = access.ordering.acquires();
        let block = self.acting_block(actor);
        let has_fence = !block.warps[warp].fences.is_empty() || access.writes && block.follows_sc_fence(warp);
        if nothing_released && !releases && !has_fence {
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
                        AcquireResult::InScope(_, sc, clock) if acquires && sc != ScFenceCondition::Required => {
                            warp.acquire(LaneMask::of(lane), &clock);
                        }
                        AcquireResult::InScope(scope, sc, clock) => {
                            DeferredAcquire { lanes: LaneMask::of(lane), scope, sc, clock }.add_to(&mut warp.deferred);
                        }
                        AcquireResult::OutOfScope(clock) => warp.add_out_of_scope(LaneMask::of(lane), &clock),
                    }
                }
            }
            if access.writes {
                let mut clocks = Vec::new();
                if releases {
                    let mut clock = block.released(warp, LaneMask::of(lane), tick);
                    let before = block.warps[warp].last_sc_fence(LaneMask::of(lane));
                    before.iter().for_each(|before| join_into(&mut clock.before_fence, before));
                    clocks.push((access.scope, ScFenceCondition::Irrelevant, Arc::new(clock)));
                }
                for fence in block.warps[warp].fences.iter().filter(|fence| fence.lanes.contains(lane)) {
                    let sc = if fence.sc { ScFenceCondition::Sufficient } else { ScFenceCondition::Irrelevant };
                    clocks.push((access.scope.min(fence.scope), sc, Arc::new(fence.clock.released(LaneMask::of(lane)))));
                }
                for before in block.before_fence(warp, lane) {
                    // The last fence of the thread itself releases the same, if it follows that one.
                    if !block.warps[warp].fences.iter().any(|fence| fence.lanes.contains(lane) && fence.follows(before)) {
                        clocks.push((Scope::Gpu, ScFenceCondition::Required, Arc::clone(before)));
                    }
                }
                self.locations.write(at, ((block.number, warp, lane as u8), access.scope), access.reads, cluster, clocks);
            }
        }
    }

    /// The same for all lanes at once, if each has a location of its own and their clocks differ by the number of the lane alone. Otherwise
    /// false, with nothing released; acquiring the same clocks again is harmless.
    fn release_acquire_lanewise(
        &mut self,
        Actor { block_slot, warp, tick, .. }: Actor,
        locations: &LaneLocations<'_>,
        access: StrongAccess,
    ) -> bool {
        let is_read_modify_write = access.reads && access.writes && !access.is_reduction;
        let synchronizes = access.ordering.acquires() && access.ordering.releases() && access.scope >= Scope::Gpu;
        let Some(Some(block)) = self.blocks.get_mut(block_slot as usize) else { return false };
        if !is_read_modify_write || !synchronizes || locations.lanes.count() == 1 || !block.is_lanewise(warp) || !locations.are_disjoint() {
            return false;
        }
        let Some(acquired) = self.locations.read_lanewise(locations) else { return false };
        acquired.iter().for_each(|(lanes, clock)| block.warps[warp].acquire_lanewise(*lanes, clock));
        if !block.is_lanewise(warp) {
            return false;
        }
        for (lanes, clock) in block.released_lanewise(warp, locations.lanes, tick) {
            self.locations.write_lanewise(&LaneLocations { lanes, ..*locations }, (block.number, warp), access.scope, &clock);
        }
        true
    }
}
