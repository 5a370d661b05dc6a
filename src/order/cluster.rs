//! The barrier of a cluster (PTX ISA, "barrier.cluster").

use crate::base::WarpId;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::clock::{VectorClock, join_into};
use crate::base::lanes::LaneMask;

/// Lanes that wait: block slot, warp and mask.
type WaitingLanes = (u32, WarpId, LaneMask);

/// The barrier of a cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterBarrier {
    /// The cluster, in order of launch.
    number: u64,
    /// The clocks that the current phase will release, of the threads that have arrived.
    pending: PhaseClocks,
    /// The clocks that the last phase released.
    completed: PhaseClocks,
    /// The lanes that have arrived in the current phase, by block slot and warp.
    arrived: BTreeMap<(u32, WarpId), LaneMask>,
    /// The lanes that wait for its end.
    waiting: Vec<WaitingLanes>,
}

/// The clocks that a phase of the barrier of a cluster releases to the threads that wait for it.
#[derive(Clone, Debug, Default)]
pub struct PhaseClocks {
    /// The joined clocks of the threads that arrived with release semantics.
    pub released: Option<Arc<VectorClock>>,
    /// The joined clocks of all threads that arrived: the operations that are over when the phase completes.
    pub completed: Option<Arc<VectorClock>>,
}

impl ClusterBarrier {
    /// Resets the barrier if its block slots have a new cluster, `number`.
    pub fn enter(&mut self, number: u64) {
        if self.number != number {
            *self = Self { number, ..Self::default() };
        }
    }

    /// Lanes of the block in `block_slot` arrive.
    pub fn arrive(&mut self, block_slot: u32, warp: WarpId, lanes: LaneMask, PhaseClocks { released, completed }: &PhaseClocks) {
        *self.arrived.entry((block_slot, warp)).or_default() |= lanes;
        released.iter().for_each(|clock| join_into(&mut self.pending.released, clock));
        completed.iter().for_each(|clock| join_into(&mut self.pending.completed, clock));
    }

    /// Lanes wait: the clocks of the completed phase, or none if they must wait for its completion.
    pub fn wait(&mut self, block_slot: u32, warp: WarpId, lanes: LaneMask) -> Option<PhaseClocks> {
        if self.arrived.get(&(block_slot, warp)).is_some_and(|arrived| arrived.intersects(lanes)) {
            self.waiting.push((block_slot, warp, lanes));
            return None;
        }
        Some(self.completed.clone())
    }

    /// The phase completes: the lanes that waited for it, and the clocks that they acquire.
    pub fn complete(&mut self) -> (Vec<WaitingLanes>, PhaseClocks) {
        self.arrived.clear();
        self.completed = std::mem::take(&mut self.pending);
        (std::mem::take(&mut self.waiting), self.completed.clone())
    }
}
