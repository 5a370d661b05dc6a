//! Asynchronous copies as values: what is in flight, where from and where to, and what says that it has ended.
//!
//! An instruction checks its addresses and puts an [`AsyncCopy`] in flight; bytes move when the copy ends. When that is, is the
//! [`CopyPolicy`]'s choice within what the ISA promises, so a missing or wrong wait shows. While a copy is in flight the bytes it
//! will replace are [`POISON`], unless it ends at once.
//!
//! | ends | `cp.async` | bulk copies of a group | copies that complete on an mbarrier |
//! | --- | --- | --- | --- |
//! | at the latest | when its lane waits for its group | the same | when nobody can run but somebody waits for the mbarrier |

mod in_flight;
mod reach;
mod tensor;
mod transfer;

pub use in_flight::InFlight;
pub use reach::{Ended, Home, Reach};
pub use tensor::BoxCopy;
pub use transfer::{Destination, LaneCopies, Work};

use crate::machine::state::lanes::LaneMask;
use crate::machine::state::place::{BlockId, Place};

/// What a byte reads as while a copy that will replace it is in flight: as a float of any width it is a NaN.
pub const POISON: u8 = 0xff;

/// When asynchronous copies end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum CopyPolicy {
    /// As they are issued.
    Eager,
    /// As late as somebody waits for them.
    #[default]
    Lazy,
    /// At any moment between, drawn from this seed.
    Random(u64),
    /// When the user says so; who waits for one waits until then.
    ByHand,
}

/// What says that a copy has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// A group of its lanes, by number: of `cp.async.bulk`, or of `cp.async`.
    Group {
        /// Of `cp.async.bulk`.
        bulk: bool,
        /// Groups that its lanes had committed when it was issued.
        number: u32,
    },
    /// The bytes it brings to the barrier object at `address` of the block's shared memory.
    Mbarrier {
        /// The block.
        home: Home,
        /// Where the object is.
        address: u32,
        /// Bytes it brings.
        bytes: u32,
    },
}

/// A copy in flight.
#[derive(Clone, Debug)]
pub struct AsyncCopy {
    /// Its number, in order of issue over the whole launch, from 1.
    pub id: u64,
    /// The instruction that issued it, and when.
    pub issued: Place,
    /// The block that issued it.
    pub by: BlockId,
    /// The lanes that issued it and whose bytes are still in flight.
    pub lanes: LaneMask,
    /// What it moves.
    pub work: Work,
    /// What will say that it has ended.
    pub ends: Ends,
    /// Whether its source has been read.
    pub read: bool,
}
