//! Asynchronous copies. There are few of them, so what they do lies in a table beside the code.

use super::operands::Walk;
use super::{Access, Address, Bank, ListId, PredSrc, Src};
use crate::base::define_id;
use crate::isa::{AtomicFn, ScalarType, Space, TensorMode};

define_id!(
    /// An asynchronous copy, store or reduction: an index into [`Program::copies`](super::Program).
    CopyId, "copy"
);

/// An address operand with the space it is in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpaceAddress {
    /// `Global`, `Shared`, `SharedCluster`, or `Generic`.
    pub space: Space,
    /// The address.
    pub address: Address,
}

/// The part of its source that a `cp.async` reads; the rest reads as zeros.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kept {
    /// All of it.
    All,
    /// This many bytes, a 32-bit value.
    Bytes(Src),
    /// Nothing where the predicate holds.
    Unless(PredSrc),
}

/// The completion mechanism of a bulk copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Completion {
    /// The bulk group of the thread.
    BulkGroup,
    /// The bytes it brings to this mbarrier.
    Mbarrier(SpaceAddress),
}

/// The operation of an asynchronous instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum CopyOp {
    /// `cp.async`: each lane copies `bytes` bytes of global memory to the block's shared memory.
    Lanes {
        /// Destination.
        to: SpaceAddress,
        /// Source.
        from: SpaceAddress,
        /// 4, 8 or 16.
        bytes: u32,
        /// The part of the source that is read.
        kept: Kept,
    },
    /// `cp.async.bulk`, `cp.reduce.async.bulk`: each lane copies a block of `bytes` bytes, a 32-bit value.
    Bulk {
        /// Destination.
        to: SpaceAddress,
        /// Source.
        from: SpaceAddress,
        /// Length.
        bytes: Src,
        /// The reduction with the destination, if it does not replace it.
        reduction: Option<(AtomicFn, ScalarType)>,
        /// Its completion mechanism.
        completion: Completion,
        /// The ranks of the blocks of the cluster that get a copy, as bits of a 16-bit value.
        multicast: Option<Src>,
        /// The bytes of every 16 that are copied, as bits of a 16-bit value.
        byte_mask: Option<Src>,
    },
    /// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`.
    Tensor(Box<TensorCopy>),
    /// `st.async`, `red.async`: each lane stores values into the shared memory of the cluster.
    Store {
        /// Destination.
        to: SpaceAddress,
        /// Type of an element.
        ty: ScalarType,
        /// Elements, in [`Program::sources`](super::Program).
        values: ListId,
        /// The reduction with the destination, if it does not replace it.
        reduction: Option<AtomicFn>,
        /// The mbarrier it brings its bytes to.
        mbarrier: SpaceAddress,
    },
    /// `cp.async.mbarrier.arrive`: arrives when the lane's `cp.async` so far have ended.
    Arrive {
        /// Semantics of the arrival, and the space of the mbarrier.
        access: Access,
        /// The mbarrier.
        mbarrier: Address,
        /// `.noinc`: the arrival is one of those the phase wants, and not an additional one.
        counted: bool,
    },
}

/// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`: each lane copies a box of a tensor. It is a load if it completes on an
/// mbarrier, and else a store or a reduction.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorCopy {
    /// Tiled, or im2col.
    pub mode: TensorMode,
    /// Generic address of the tensor map.
    pub map: Address,
    /// The start of the box, innermost dimension first: 32-bit values, one for each dimension.
    pub coordinates: Box<[Src]>,
    /// The offsets added to the spatial coordinates of every pixel: 16-bit values.
    pub offsets: Box<[Src]>,
    /// The box in shared memory.
    pub shared: SpaceAddress,
    /// The reduction with the tensor, if it does not replace it.
    pub reduction: Option<AtomicFn>,
    /// Its completion mechanism.
    pub completion: Completion,
    /// The ranks of the blocks of the cluster that get a copy, as bits of a 16-bit value.
    pub multicast: Option<Src>,
}

impl Walk<'_> {
    pub(super) fn async_copy(&mut self, copy: CopyId) {
        let program = self.program;
        let copy = &program.copies[copy];
        match copy {
            CopyOp::Lanes { to, from, bytes: _, kept } => {
                self.address(to.address);
                self.address(from.address);
                match *kept {
                    Kept::All => {}
                    Kept::Bytes(bytes) => self.read(Bank::B32, bytes),
                    Kept::Unless(predicate) => self.predicate(predicate),
                }
            }
            CopyOp::Bulk { to, from, bytes, reduction: _, completion, multicast, byte_mask } => {
                self.address(to.address);
                self.address(from.address);
                if let Completion::Mbarrier(mbarrier) = completion {
                    self.address(mbarrier.address);
                }
                [Some(*bytes), *multicast, *byte_mask].into_iter().flatten().for_each(|source| self.read(Bank::B32, source));
            }
            CopyOp::Tensor(copy) => {
                self.address(copy.map);
                self.address(copy.shared.address);
                if let Completion::Mbarrier(mbarrier) = copy.completion {
                    self.address(mbarrier.address);
                }
                copy.coordinates.iter().chain(&copy.offsets).chain(&copy.multicast).for_each(|source| self.read(Bank::B32, *source));
            }
            CopyOp::Store { to, ty, values, reduction: _, mbarrier } => {
                self.address(to.address);
                self.address(mbarrier.address);
                self.sources(*values).iter().for_each(|value| self.read(Bank::of_wide(ty.bits() == 64), *value));
            }
            CopyOp::Arrive { access: _, mbarrier, counted: _ } => self.address(*mbarrier),
        }
    }
}
