//! Strong accesses (PTX ISA, "Strong operations"): what they acquire from the locations that they read, and release where they write.

use std::sync::Arc;

use super::clock::join_into;
use super::locations::{AcquireResult, ScFence};
use super::operation::Actor;
use super::state::HappensBefore;
use super::threads::Pending;
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
    /// What a strong access acquires from locations, and releases there: `memory` is 0 for global memory, or the block slot of a block plus
    /// one.
    pub fn release_acquire(&mut self, actor: Actor, memory: u32, addresses: &PerLane<u64>, how: Strong) {
        assert!(how.reads || how.writes, "an access reads or writes");
        let Actor { warp, lanes, tick, .. } = actor;
        let is_quiet = self.locations.is_empty();
        let releases = how.writes && how.ordering.releases();
        let acquires = how.ordering.acquires();
        let block = self.acting(actor);
        let has_fence = !block.warps[warp].fences.is_empty() || how.writes && block.knows_fence(warp);
        if is_quiet && !releases && !has_fence {
            return;
        }
        let cluster = self.cluster();
        let Some(Some(block)) = self.blocks.get_mut(actor.block_slot as usize) else { return };
        for lane in lanes.iter() {
            let at = (memory, addresses[lane], how.bytes);
            if how.reads && (acquires || !how.is_reduction) {
                for found in self.locations.read(at, (how.scope, acquires), block.number, cluster) {
                    let warp = &mut block.warps[warp];
                    match found {
                        AcquireResult::Seen(_, sc, clock) if acquires && sc != ScFence::Needed => {
                            warp.acquire(LaneMask::of(lane), &clock);
                        }
                        AcquireResult::Seen(scope, sc, clock) => {
                            Pending { lanes: LaneMask::of(lane), scope, sc, clock }.add_to(&mut warp.pending);
                        }
                        AcquireResult::Missed(clock) => warp.miss(LaneMask::of(lane), &clock),
                    }
                }
            }
            if how.writes {
                let mut clocks = Vec::new();
                if releases {
                    let mut clock = block.released(warp, LaneMask::of(lane), tick);
                    let before = block.warps[warp].fenced_by(LaneMask::of(lane));
                    before.iter().for_each(|before| join_into(&mut clock.before_fence, before));
                    clocks.push((how.scope, ScFence::Unrelated, Arc::new(clock)));
                }
                for fenced in block.warps[warp].fences.iter().filter(|fenced| fenced.lanes.contains(lane)) {
                    let sc = if fenced.sc { ScFence::Enough } else { ScFence::Unrelated };
                    clocks.push((how.scope.min(fenced.scope), sc, Arc::new(fenced.clock.released(LaneMask::of(lane)))));
                }
                for before in block.before_fence(warp, lane) {
                    // The last fence of the thread itself says the same, if it knew that.
                    if !block.warps[warp].fences.iter().any(|fenced| fenced.lanes.contains(lane) && fenced.follows(before)) {
                        clocks.push((Scope::Gpu, ScFence::Needed, Arc::clone(before)));
                    }
                }
                self.locations.write(at, ((block.number, warp, lane as u8), how.scope), how.reads, cluster, clocks);
            }
        }
    }
}
