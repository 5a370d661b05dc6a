//! Asynchronous matrix multiplications of warpgroups (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
//!
//! # The model
//!
//! Four neighbouring warps, the first a multiple of four, are a *warpgroup*. `wgmma.mma_async` computes 64 rows of D, and each warp 16 of
//! them, from its own registers and what is in shared memory: no warp needs another one's results. So every warp executes its part by
//! itself, and the order in which the four come there makes no difference. That all four execute the same instructions with the same
//! descriptors is checked beside it ([`Warpgroups`]). Groups are the warpgroup's: a wait for one lasts until all four warps have
//! committed it and their parts have ended (`exec::wgmma_groups`).
//!
//! An instruction puts a [`Wgmma`] in flight. When it *ends*, it reads its operands, A's registers included, and writes D. When that is,
//! is the [`CopyPolicy`](crate::machine::CopyPolicy)'s choice: at once, at the latest when a warp of its warpgroup waits for its group,
//! or between. Those of one warp end in the order in which they were issued. While it is in flight, the registers of D hold
//! [`POISON`](crate::machine::POISON), and what they held is kept aside: a further `wgmma` adds to that ([`Flight`]). Where the wait of
//! another warp ends it they hold that still, until their own warp has waited.
//!
//! Descriptors, `scale-d` and metadata are read when it is issued.

mod compute;
mod ending;
mod flight;
mod registers;
mod tables;
mod tiles;
mod warpgroup;

use triomphe::Arc;

use crate::isa::SharedTile;
use crate::machine::state::lanes::PerLane;
use crate::machine::state::place::Place;
use crate::machine::state::registers::{FrameBase, Registers};
use crate::program::WgmmaId;

pub use compute::Sources;
pub use flight::{Flight, WaitOf};
pub use registers::fragments;
pub use tables::WgmmaTables;
pub use warpgroup::{Disagreement, Turn, WARPS, Warpgroups};

/// Rows of D that each warp of a warpgroup computes.
pub const ROWS: u32 = 16;

/// The part of a `wgmma.mma_async` that one warp has in flight.
#[derive(Clone, Debug)]
pub struct Wgmma {
    /// Its number, in order of issue over the whole launch, counted with the copies.
    pub id: u64,
    /// The instruction, and when it was issued.
    pub issued: Place,
    /// What it does.
    pub op: WgmmaId,
    /// The number of its group in its warp, from 0; open until as many are committed.
    pub group: u32,
    /// Where the registers of its lanes are.
    pub frame: FrameBase,
    /// Slots of D in the warp's 32-bit registers.
    pub accumulators: Box<[u32]>,
    /// Slots of A in the warp's 32-bit registers; none if A is in shared memory.
    pub fragments: Box<[u32]>,
    /// The rows of A that it reads, if A is in shared memory.
    pub a: Option<SharedTile>,
    /// B.
    pub b: SharedTile,
    /// Whether it adds to D.
    pub accumulates: bool,
    /// The metadata of a sparse A.
    pub metadata: PerLane<u32>,
}

/// Ends what is next of `flight`, whose warp has these registers, and gives it back; none if nothing is in flight.
pub fn end_next(flight: &mut Flight, registers: &mut Registers, sources: &Sources<'_>, wait: WaitOf) -> Option<Arc<Wgmma>> {
    let (wgmma, held) = flight.next()?;
    let results = compute::results(&wgmma, &held, registers, sources);
    flight.end_next(&results, registers, wait);
    Some(wgmma)
}

impl Wgmma {
    /// The ranges of the block's shared memory that it reads, by the async proxy: from an address to before another; those of A, in order,
    /// then those of B.
    pub fn reads(&self) -> impl Iterator<Item = (u32, u32)> {
        self.a.into_iter().chain([self.b]).flat_map(SharedTile::ranges)
    }
}
