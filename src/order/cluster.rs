//! The barrier of a cluster (PTX ISA, "barrier.cluster").

use crate::base::WarpId;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::clock::{VectorClock, join_into};
use crate::base::lanes::LaneMask;

/// Lanes that wait: block slot, warp and mask.
type Waiting = (u32, WarpId, LaneMask);

/// The barrier of a cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterBarrier {
    /// The cluster, in order of launch.
    number: u64,
    /// The clocks that the present phase will release, of the threads that have arrived.
    arriving: Passed,
    /// The clocks that the last phase released.
    ended: Passed,
    /// The lanes that have arrived in the present phase, by block slot and warp.
    arrived: BTreeMap<(u32, WarpId), LaneMask>,
    /// The lanes that wait for its end.
    waiting: Vec<Waiting>,
}

/// The clocks that a phase of the barrier of a cluster releases to the threads that wait for it.
#[derive(Clone, Debug, Default)]
pub struct Passed {
    /// The joined clocks of the threads that arrived with release semantics.
    pub released: Option<Arc<VectorClock>>,
    /// The joined clocks of all threads that arrived: what has happened when the phase completes.
    pub completed: Option<Arc<VectorClock>>,
}

impl ClusterBarrier {
    /// The barrier is that of cluster `number`, which may have taken the place of another.
    pub fn enter(&mut self, number: u64) {
        if self.number != number {
            *self = Self { number, ..Self::default() };
        }
    }

    /// Lanes of the block in `block_slot` arrive.
    pub fn arrive(&mut self, block_slot: u32, warp: WarpId, lanes: LaneMask, Passed { released, completed }: &Passed) {
        *self.arrived.entry((block_slot, warp)).or_default() |= lanes;
        released.iter().for_each(|clock| join_into(&mut self.arriving.released, clock));
        completed.iter().for_each(|clock| join_into(&mut self.arriving.completed, clock));
    }

    /// Lanes wait: the clocks of the phase that has ended, or none if they must wait for one.
    pub fn wait(&mut self, block_slot: u32, warp: WarpId, lanes: LaneMask) -> Option<Passed> {
        if self.arrived.get(&(block_slot, warp)).is_some_and(|arrived| arrived.intersects(lanes)) {
            self.waiting.push((block_slot, warp, lanes));
            return None;
        }
        Some(self.ended.clone())
    }

    /// The phase ends: the lanes that waited for it, and what it passes on to them.
    pub fn end(&mut self) -> (Vec<Waiting>, Passed) {
        self.arrived.clear();
        self.ended = std::mem::take(&mut self.arriving);
        (std::mem::take(&mut self.waiting), self.ended.clone())
    }
}
