//! The operation families: what an instruction does, with everything decided that can be decided before the run.
//!
//! A file a family, named after the chapters of the PTX manual: the family's operations and, beside them, the registers that each reads
//! and writes. Functions and types are data inside them (`isa::function`). `machine::exec` holds the semantics, a file a family as well.
//! The size of [`Inst`] is tested: it is the hottest type of all.

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

use super::operands::Walk;
use super::{Dst, ImageId, MatrixId, Pc, Program, Slot};
use crate::base::lanes::LaneMask;
use nop::Nothing;

pub use access::Access;
pub use asynchronous::AsyncOp;
pub use atomic::AtomicOp;
pub use bits::BitsOp;
pub use cluster::ClusterOp;
pub use compare::CompareOp;
pub use control::ControlOp;
pub use convert::{ConvertMode, ConvertOp};
pub use effects::{Awaited, Effect, Effects, OperandKind, OperandKinds, Purpose};
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
    /// Lanes that execute it.
    pub guard: Option<Guard>,
    /// The operation.
    pub op: Op,
}

/// The operation of an instruction. Register operands named `d` are written, all others read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// Nothing that can be observed: `prefetch`, `pragma`-like hints, `nanosleep` of a deterministic machine.
    Nop,
    /// Parsed but not modelled: the run stops here.
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
    /// Branches, calls and ends.
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
    /// The family that it belongs to, with the operation: the one list of them all.
    fn family(&self) -> &dyn Family {
        match self {
            Op::Nop => &Nothing,
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

    /// Shows the registers that it uses, what it reads before what it writes.
    pub(super) fn operands(&self, walk: &mut Walk<'_>) {
        self.family().operands(walk);
    }

    /// Its effects other than writing registers. `program` holds the tables that matrix and image instructions refer to.
    pub fn effects(&self, program: &Program) -> Effects {
        self.family().effects(program)
    }

    /// The kinds of its sources and its results; none if it implies nothing about them.
    pub fn operand_kinds(&self) -> Option<OperandKinds> {
        self.family().operand_kinds()
    }

    /// The purpose of the values that it reads, other than its guard and its addresses.
    pub fn purpose(&self) -> Purpose {
        self.family().purpose()
    }

    /// Whether its results are made of what its registers held, although it reads memory as well.
    pub fn accumulates(&self) -> bool {
        self.family().accumulates()
    }

    /// Whether threads synchronize at it: barriers and warp collectives.
    pub fn synchronizes(&self) -> bool {
        self.family().synchronizes()
    }

    /// The lanes in which what it writes is undefined, if in `any` of them some operand is.
    pub fn undefined_in(&self, undefined: &dyn Undefined, any: LaneMask) -> LaneMask {
        self.family().undefined_in(undefined, any)
    }

    /// The targets of a branch.
    pub fn targets<'a>(&'a self, program: &'a Program) -> &'a [Pc] {
        self.family().targets(program)
    }

    /// The other threads that an instruction waits for, if it waits until they reach it or an mbarrier.
    pub fn awaits(&self) -> Option<Awaited> {
        self.family().awaits()
    }

    /// The noun for the asynchronous operation that it puts in flight.
    pub fn flight_word(&self) -> &'static str {
        self.family().flight_word()
    }

    /// Whether the instruction names by a mask which lanes must execute it. Where those of a warp must come together and it does not,
    /// they are all lanes.
    pub fn has_member_mask(&self) -> bool {
        self.family().has_member_mask()
    }

    /// Whether it changes memory by an atomic and returns nothing of it: `red`, or `atom` with a sink (PTX ISA, "red").
    pub fn is_reduction(&self) -> bool {
        let Op::Atomic(atomic) = self else { return false };
        match atomic {
            AtomicOp::Single { d, .. } => *d == Dst::SINK,
            AtomicOp::Vector { d, .. } => d.is_none(),
        }
    }

    /// How the operation accesses memory, if it does so synchronously: loads, stores, atomics, and operations on mbarriers.
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
