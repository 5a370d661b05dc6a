//! Matrix multiplications in flight, as data.

use std::hash::{Hash, Hasher};

use crate::isa::SharedTile;
use crate::machine::state::issue_point::{BlockId, IssuePoint};
use crate::machine::state::lanes::PerLane;
use crate::machine::state::registers::FrameBase;
use crate::program::{Slot, WgmmaId};

/// The part of a `wgmma.mma_async` that one warp has in flight.
#[derive(Clone, Debug)]
pub struct Wgmma {
    /// Its number, in order of issue over the whole launch, counted with the copies.
    pub id: u64,
    /// The issue point.
    pub issued: IssuePoint,
    /// The block that issued it.
    pub block_id: BlockId,
    /// Its operation.
    pub op: WgmmaId,
    /// The number of its wgmma-group in its warp, from 0.
    pub group: u32,
    /// The frame of the registers of its lanes.
    pub frame: FrameBase,
    /// Slots of D in the warp's 32-bit registers.
    pub accumulators: Box<[Slot]>,
    /// Slots of A in the warp's 32-bit registers; none if A is in shared memory.
    pub fragments: Box<[Slot]>,
    /// The rows of A that it reads, if A is in shared memory.
    pub a: Option<SharedTile>,
    /// B.
    pub b: SharedTile,
    /// True if it adds to D.
    pub accumulates: bool,
    /// The metadata of a sparse A.
    pub metadata: PerLane<u32>,
}

impl Wgmma {
    /// The ranges of the block's shared memory that it reads by the async proxy, as start and end: those of A, in order, then those of B.
    pub fn reads(&self) -> impl Iterator<Item = (u32, u32)> {
        self.a.into_iter().chain([self.b]).flat_map(SharedTile::ranges)
    }
}

impl Hash for Wgmma {
    /// The number identifies the other fields, which are fixed at issue.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}
