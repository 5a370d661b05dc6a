//! The operation families: decoded operations, with everything resolved that can be resolved before the run.
//!
//! There is one file per family, named after the chapters of the PTX manual: the family's operations, and the registers that each reads and
//! writes. Functions and types are data inside them (`isa::function`). `machine::exec` holds the semantics, also one file per family.
//! A test limits the size of [`Inst`], the most used type of a run.

mod access;
mod asynchronous;
mod atomic;
mod bits;
mod cluster;
mod compare;
mod control;
mod convert;
mod effects;
mod family;
mod float;
mod integer;
mod mbarrier;
mod memory;
mod movement;
mod nop;
mod select;
mod stack;
mod sync;
mod tensor_map;
mod undefined;
mod video;
mod warp;
mod warpgroup;

use super::operands::OperandVisitor;
use super::{Dst, ImageId, MatrixId, Pc, Program, Slot};
use crate::base::lanes::LaneMask;
use crate::isa::{FenceKind, MbarrierFn, Ordering, Scope};
use nop::NopFamily;

pub use access::Access;
pub use asynchronous::AsyncOp;
pub use atomic::AtomicOp;
pub use bits::BitsOp;
pub use cluster::ClusterOp;
pub use compare::CompareOp;
pub use control::ControlOp;
pub use convert::{ConvertMode, ConvertOp};
pub use effects::{Effect, Effects, OperandKind, OperandKinds, Purpose, WaitsFor};
pub use family::Family;
pub use float::FloatOp;
pub use integer::IntegerOp;
pub use mbarrier::MbarrierOp;
pub use memory::MemoryOp;
pub use movement::MoveOp;
pub use nop::UnsupportedId;
pub use select::SelectOp;
pub use stack::StackOp;
pub use sync::SyncOp;
pub use tensor_map::TensorMapOp;
pub use undefined::Undefined;
pub use video::VideoOp;
pub use warp::WarpOp;
pub use warpgroup::WarpgroupOp;

/// `@p` or `@!p` before an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// Slot in the predicate bank.
    pub slot: Slot,
    /// `@!p`.
    pub negate: bool,
}

/// One decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inst {
    /// The predicate of the lanes that execute it; all active lanes without one.
    pub guard: Option<Guard>,
    /// The operation.
    pub op: Op,
}

/// The operation of an instruction. Register operands named `d` are written, all others read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// No observable effect: `prefetch` and other hints, `nanosleep`.
    Nop,
    /// An instruction that is not modelled: the run stops here.
    Unsupported {
        /// The reason.
        why: UnsupportedId,
    },
    /// Integer arithmetic.
    Integer(IntegerOp),
    /// Logic, shifts and bit fields.
    Bits(BitsOp),
    /// Floating-point arithmetic.
    Float(FloatOp),
    /// Video instructions.
    Video(VideoOp),
    /// Comparisons.
    Compare(CompareOp),
    /// Selection, and logic of predicates.
    Select(SelectOp),
    /// Conversions of values.
    Convert(ConvertOp),
    /// Moves, packing, addresses and special registers.
    Move(MoveOp),
    /// The blocks of a cluster.
    Cluster(ClusterOp),
    /// Loads and stores.
    Memory(MemoryOp),
    /// Atomics and reductions in memory.
    Atomic(AtomicOp),
    /// Asynchronous copies.
    Async(AsyncOp),
    /// Changes of tensor maps.
    TensorMap(TensorMapOp),
    /// Asynchronous matrix multiplication of a warpgroup.
    Wgmma(WarpgroupOp),
    /// Dynamic stack allocation.
    Stack(StackOp),
    /// Branches, calls and exits.
    Control(ControlOp),
    /// Barriers and fences.
    Sync(SyncOp),
    /// Mbarriers.
    Mbarrier(MbarrierOp),
    /// Warp collectives.
    Warp(WarpOp),
    /// A texture or surface instruction.
    Image {
        /// The access.
        access: ImageId,
    },
    /// A matrix instruction of a warp: `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`.
    Matrix {
        /// The matrix operation.
        matrix: MatrixId,
    },
}

impl Op {
    /// The operation as its family.
    fn family(&self) -> &dyn Family {
        match self {
            Op::Nop => &NopFamily,
            Op::Unsupported { why } => why,
            Op::Integer(op) => op,
            Op::Bits(op) => op,
            Op::Float(op) => op,
            Op::Video(op) => op,
            Op::Compare(op) => op,
            Op::Select(op) => op,
            Op::Convert(op) => op,
            Op::Move(op) => op,
            Op::Cluster(op) => op,
            Op::Memory(op) => op,
            Op::Atomic(op) => op,
            Op::Async(op) => op,
            Op::TensorMap(op) => op,
            Op::Wgmma(op) => op,
            Op::Stack(op) => op,
            Op::Control(op) => op,
            Op::Sync(op) => op,
            Op::Mbarrier(op) => op,
            Op::Warp(op) => op,
            Op::Image { access } => access,
            Op::Matrix { matrix } => matrix,
        }
    }

    /// Visits the registers that the operation uses, first those that it reads, then those that it writes.
    pub(super) fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        self.family().operands(visitor);
    }

    /// Its effects other than writing registers. `program` holds the tables that matrix and image instructions refer to.
    pub fn effects(&self, program: &Program) -> Effects {
        self.family().effects(program)
    }

    /// The kinds of its sources and its results; `None` if the operation does not determine them.
    pub fn operand_kinds(&self) -> Option<OperandKinds> {
        self.family().operand_kinds()
    }

    /// The purpose of the values that it reads, other than its guard and its addresses.
    pub fn purpose(&self) -> Purpose {
        self.family().purpose()
    }

    /// True if its results depend on the values of its registers, although it reads memory as well.
    pub fn accumulates(&self) -> bool {
        self.family().accumulates()
    }

    /// True if threads synchronize at it: barriers and warp collectives.
    pub fn synchronizes(&self) -> bool {
        self.family().synchronizes()
    }

    /// The lanes in which its results are undefined, if some operand is undefined in the lanes of `any`.
    pub fn undefined_in(&self, undefined: &dyn Undefined, any: LaneMask) -> LaneMask {
        self.family().undefined_in(undefined, any)
    }

    /// The targets of a branch.
    pub fn targets<'a>(&'a self, program: &'a Program) -> &'a [Pc] {
        self.family().targets(program)
    }

    /// The threads that it waits for, if it waits until others reach it or arrive at an mbarrier.
    pub fn waits_for(&self) -> Option<WaitsFor> {
        self.family().waits_for()
    }

    /// The noun for the asynchronous operation that it starts, in messages.
    pub fn in_flight_noun(&self) -> &'static str {
        self.family().in_flight_noun()
    }

    /// True if it has a `membermask` operand. Without one, a converging instruction needs all lanes of the warp.
    pub fn has_member_mask(&self) -> bool {
        self.family().has_member_mask()
    }

    /// True if it is an atomic that returns no value: `red`, or `atom` with the destination `_` (PTX ISA, "red").
    pub fn is_reduction(&self) -> bool {
        let Op::Atomic(atomic) = self else { return false };
        match atomic {
            AtomicOp::Single { d, .. } => *d == Dst::SINK,
            AtomicOp::Vector { d, .. } => d.is_none(),
        }
    }

    /// The ordering and the scope of a fence of memory accesses, if it is one.
    pub fn memory_fence(&self) -> Option<(Ordering, Scope)> {
        let Op::Sync(SyncOp::Fence { kind: FenceKind::Memory, ordering, scope }) = *self else { return None };
        Some((ordering, scope))
    }

    /// True if it initializes an mbarrier.
    pub fn initializes_mbarrier(&self) -> bool {
        matches!(self, Op::Mbarrier(MbarrierOp::Update { f: MbarrierFn::Init, .. }))
    }

    /// Its synchronous memory access: loads, stores, atomics, and operations on mbarriers.
    pub fn access(&self) -> Option<Access> {
        self.family().access()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_small() {
        assert_eq!((size_of::<Inst>(), size_of::<Op>()), (44, 36));
    }
}
