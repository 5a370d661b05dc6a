//! The clocks that pass through an mbarrier, and the copies that complete on it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::clock::VectorClock;
use crate::base::{Tick, WarpId};

/// The key of an mbarrier: its memory and address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MbarrierKey {
    /// The block slot of the block whose shared memory it is in.
    pub block_slot: u32,
    /// Its address there.
    pub address: u32,
}

/// An mbarrier.
#[derive(Clone, Debug, Default)]
pub struct MbarrierState {
    /// Its current phase.
    pub phase: u64,
    /// The clocks released in this phase, and in later ones by lanes of the instruction that completed it.
    pub arrived: BTreeMap<(u64, Endpoint), VectorClock>,
    /// The clocks released by completed phases.
    pub ended: BTreeMap<Endpoint, Option<Arc<VectorClock>>>,
}

/// A thread that releases through an mbarrier, or acquires: its block, and whether its scope is that block alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    /// The block.
    pub block: u32,
    /// True if its scope is that block alone.
    pub is_narrow: bool,
}

impl Endpoint {
    /// PTX ISA, "Morally strong operations": the scope of each must include the other.
    pub fn shares_scope(self, other: Self) -> bool {
        self.block == other.block || !self.is_narrow && !other.is_narrow
    }
}

/// A copy in flight that completes on an mbarrier.
#[derive(Clone, Debug)]
pub struct PendingCopy {
    /// The block that issued it.
    pub block: u32,
    /// Its number there.
    pub number: u32,
    /// The warp.
    pub warp: WarpId,
    /// The tick.
    pub tick: Tick,
    /// The clock of its issuer.
    pub clock: VectorClock,
}
