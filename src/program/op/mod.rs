//! The operation families: what an instruction does, with everything decided that can be decided before the run.
//!
//! A file a family, named after the chapters of the PTX manual: the family's operations and, beside them, the registers that each reads
//! and writes. Functions and types are data inside them (`isa::function`). `machine::exec` holds the semantics, a file a family as well.
//! The size of [`Inst`] is tested: it is the hottest type of all.

mod asynchronous;
mod atomic;
mod bits;
mod cluster;
mod compare;
mod control;
mod convert;
mod effects;
mod float;
mod integer;
mod mbarrier;
mod memory;
mod movement;
mod select;
mod stack;
mod sync;
mod tensor_map;
mod video;
mod warp;
mod warpgroup;

use super::operands::{RegisterOperand, Use, Walk};
use super::{ImageId, MatrixId, Pc, Program};
use crate::base::define_id;

pub use asynchronous::AsyncOp;
pub use atomic::AtomicOp;
pub use bits::BitsOp;
pub use cluster::ClusterOp;
pub use compare::CompareOp;
pub use control::ControlOp;
pub use convert::{ConvertMode, ConvertOp};
pub use effects::{Awaited, Effect, Effects, Holds};
pub use float::FloatOp;
pub use integer::IntegerOp;
pub use mbarrier::MbarrierOp;
pub use memory::{Access, MemoryOp};
pub use movement::MoveOp;
pub use select::SelectOp;
pub use stack::StackOp;
pub use sync::SyncOp;
pub use tensor_map::TensorMapOp;
pub use video::VideoOp;
pub use warp::WarpOp;
pub use warpgroup::WarpgroupOp;

define_id!(
    /// An entry of `Program::unsupported`: why an instruction cannot be executed.
    UnsupportedId, "unsupported"
);

/// `@p` or `@!p` before an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// Slot in the predicate bank.
    pub slot: u32,
    /// `@!p`.
    pub negate: bool,
}

/// One decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inst {
    /// Lanes that execute it.
    pub guard: Option<Guard>,
    /// What they execute.
    pub op: Op,
}

/// What an instruction does. Register operands named `d` are written, all others read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// Nothing that can be observed: `prefetch`, `pragma`-like hints, `nanosleep` of a deterministic machine.
    Nop,
    /// Parsed but not modelled: the run stops here.
    Unsupported {
        /// Why.
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
    /// Barrier objects.
    Mbarrier(MbarrierOp),
    /// Exchanges between the lanes of a warp.
    Warp(WarpOp),
    /// A texture or surface instruction.
    Image {
        /// What it does.
        access: ImageId,
    },
    /// A matrix instruction of a warp: `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`.
    Matrix {
        /// What it does.
        matrix: MatrixId,
    },
}

impl Op {
    /// Shows the registers that it uses, what it reads before what it writes.
    pub(super) fn operands<V: FnMut(Use, RegisterOperand)>(&self, walk: &mut Walk<'_, V>) {
        match self {
            Op::Nop | Op::Unsupported { why: _ } => {}
            Op::Integer(op) => op.operands(walk),
            Op::Bits(op) => op.operands(walk),
            Op::Float(op) => op.operands(walk),
            Op::Video(op) => op.operands(walk),
            Op::Compare(op) => op.operands(walk),
            Op::Select(op) => op.operands(walk),
            Op::Convert(op) => op.operands(walk),
            Op::Move(op) => op.operands(walk),
            Op::Cluster(op) => op.operands(walk),
            Op::Memory(op) => op.operands(walk),
            Op::Atomic(op) => op.operands(walk),
            Op::Async(op) => op.operands(walk),
            Op::TensorMap(op) => op.operands(walk),
            Op::Wgmma(op) => op.operands(walk),
            Op::Stack(op) => op.operands(walk),
            Op::Control(op) => op.operands(walk),
            Op::Sync(op) => op.operands(walk),
            Op::Mbarrier(op) => op.operands(walk),
            Op::Warp(op) => op.operands(walk),
            Op::Image { access } => walk.image(*access),
            Op::Matrix { matrix } => walk.matrix(*matrix),
        }
    }

    /// What it does beside writing registers. `program` has what matrix and image instructions do.
    pub fn effects(&self, program: &Program) -> Effects {
        match self {
            Op::Nop => Effects::NONE,
            Op::Unsupported { why: _ } => Effects::of(&[Effect::Stops]),
            Op::Integer(op) => op.effects(),
            Op::Bits(op) => op.effects(),
            Op::Float(op) => op.effects(),
            Op::Video(op) => op.effects(),
            Op::Compare(op) => op.effects(),
            Op::Select(op) => op.effects(),
            Op::Convert(op) => op.effects(),
            Op::Move(op) => op.effects(),
            Op::Cluster(op) => op.effects(),
            Op::Memory(op) => op.effects(),
            Op::Atomic(op) => op.effects(),
            Op::Async(op) => op.effects(),
            Op::TensorMap(op) => op.effects(),
            Op::Wgmma(op) => op.effects(),
            Op::Stack(op) => op.effects(),
            Op::Control(op) => op.effects(),
            Op::Sync(op) => op.effects(),
            Op::Mbarrier(op) => op.effects(),
            Op::Warp(op) => op.effects(),
            Op::Image { access } => program.images[*access].effects(),
            Op::Matrix { matrix } => program.matrices[*matrix].effects(),
        }
    }

    /// What an operation takes its sources and its results for; none if it says nothing.
    pub fn holds(&self) -> Option<(Holds, Holds)> {
        match self {
            Op::Integer(_) | Op::Bits(_) | Op::Video(_) => Holds::INTEGERS,
            Op::Float(op) => op.holds(),
            Op::Compare(op) => op.holds(),
            Op::Convert(op) => op.holds(),
            Op::Move(op) => op.holds(),
            Op::Cluster(op) => op.holds(),
            Op::Atomic(op) => op.holds(),
            Op::Control(op) => op.holds(),
            Op::Select(_)
            | Op::Memory(_)
            | Op::Async(_)
            | Op::TensorMap(_)
            | Op::Wgmma(_)
            | Op::Stack(_)
            | Op::Sync(_)
            | Op::Mbarrier(_)
            | Op::Warp(_)
            | Op::Nop
            | Op::Unsupported { .. }
            | Op::Image { .. }
            | Op::Matrix { .. } => None,
        }
    }

    /// Where a branch may go when its guard holds.
    pub fn targets<'a>(&'a self, program: &'a Program) -> &'a [Pc] {
        if let Op::Control(op) = self { op.targets(program) } else { &[] }
    }

    /// Which other threads an instruction waits for, if it waits for any to come to it or to a barrier object.
    pub fn awaits(&self) -> Option<Awaited> {
        match self {
            Op::Sync(op) => op.awaits(),
            Op::Cluster(op) => op.awaits(),
            Op::Mbarrier(op) => op.awaits(),
            Op::Integer(_)
            | Op::Bits(_)
            | Op::Float(_)
            | Op::Video(_)
            | Op::Compare(_)
            | Op::Select(_)
            | Op::Convert(_)
            | Op::Move(_)
            | Op::Memory(_)
            | Op::Atomic(_)
            | Op::Async(_)
            | Op::TensorMap(_)
            | Op::Wgmma(_)
            | Op::Stack(_)
            | Op::Control(_)
            | Op::Warp(_)
            | Op::Nop
            | Op::Unsupported { .. }
            | Op::Image { .. }
            | Op::Matrix { .. } => None,
        }
    }

    /// What the asynchronous operation is called that it puts in flight.
    pub fn flight_word(&self) -> &'static str {
        if matches!(self, Op::Wgmma(WarpgroupOp::Multiply { .. })) { "wgmma" } else { "copy" }
    }

    /// Whether the instruction names by a mask which lanes must execute it. Where those of a warp must come together and it does not,
    /// they are all lanes.
    pub fn has_member_mask(&self) -> bool {
        match self {
            Op::Warp(op) => op.has_member_mask(),
            Op::Sync(op) => op.has_member_mask(),
            Op::Integer(_)
            | Op::Bits(_)
            | Op::Float(_)
            | Op::Video(_)
            | Op::Compare(_)
            | Op::Select(_)
            | Op::Convert(_)
            | Op::Move(_)
            | Op::Cluster(_)
            | Op::Memory(_)
            | Op::Atomic(_)
            | Op::Async(_)
            | Op::TensorMap(_)
            | Op::Wgmma(_)
            | Op::Stack(_)
            | Op::Control(_)
            | Op::Mbarrier(_)
            | Op::Nop
            | Op::Unsupported { .. }
            | Op::Image { .. }
            | Op::Matrix { .. } => false,
        }
    }

    /// How the operation accesses memory by itself, if it does: loads, stores, atomics, and what is done to barrier objects.
    pub fn access(&self) -> Option<Access> {
        match self {
            Op::Memory(op) => Some(op.access()),
            Op::Atomic(op) => Some(op.access()),
            Op::TensorMap(op) => op.access(),
            Op::Mbarrier(op) => op.access(),
            Op::Integer(_)
            | Op::Bits(_)
            | Op::Float(_)
            | Op::Video(_)
            | Op::Compare(_)
            | Op::Select(_)
            | Op::Convert(_)
            | Op::Move(_)
            | Op::Cluster(_)
            | Op::Async(_)
            | Op::Wgmma(_)
            | Op::Stack(_)
            | Op::Control(_)
            | Op::Sync(_)
            | Op::Warp(_)
            | Op::Nop
            | Op::Unsupported { .. }
            | Op::Image { .. }
            | Op::Matrix { .. } => None,
        }
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
