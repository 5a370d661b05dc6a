//! Asynchronous copies. They are rare, so an instruction holds an index into a table of their operands.

use super::operands::OperandVisitor;
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

/// The `src-size` or `ignore-src` operand of `cp.async`: how much of the source is read; the rest of the destination is zeros.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SourceSize {
    /// All of it.
    All,
    /// This many bytes, a 32-bit value.
    Bytes(Src),
    /// Nothing in lanes where the predicate is true.
    IgnoredIf(PredSrc),
}

/// The completion mechanism of a bulk copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Completion {
    /// The bulk group of the thread.
    BulkGroup,
    /// `complete_tx` of the copied bytes on this mbarrier.
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
        source_size: SourceSize,
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
        /// The mbarrier on which it performs `complete_tx` of its bytes.
        mbarrier: SpaceAddress,
    },
    /// `cp.async.mbarrier.arrive`: arrives when the earlier `cp.async` of the lane have completed.
    Arrive {
        /// Semantics of the arrival, and the space of the mbarrier.
        access: Access,
        /// The mbarrier.
        mbarrier: Address,
        /// `.noinc`: the pending count of the phase is not incremented for this arrival.
        noinc: bool,
    },
}

/// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`: each lane copies a box of a tensor. It is a load if it completes on an
/// mbarrier, otherwise a store or a reduction.
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

impl OperandVisitor<'_> {
    pub(super) fn async_copy(&mut self, copy: CopyId) {
        let program = self.program;
        let copy = &program.copies[copy];
        match copy {
            CopyOp::Lanes { to, from, bytes: _, source_size } => {
                self.address(to.address);
                self.address(from.address);
                match *source_size {
                    SourceSize::All => {}
                    SourceSize::Bytes(bytes) => self.read(Bank::B32, bytes),
                    SourceSize::IgnoredIf(predicate) => self.predicate(predicate),
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
            CopyOp::Arrive { access: _, mbarrier, noinc: _ } => self.address(*mbarrier),
        }
    }
}
