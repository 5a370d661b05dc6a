//! A family: the operations of one category, such as atomics, in one enum. [`Op`](super::Op) dispatches to its family.

use super::access::Access;
use super::effects::{Effects, OperandKinds, Purpose, WaitsFor};
use super::undefined::Undefined;
use crate::base::lanes::LaneMask;
use crate::program::operands::OperandVisitor;
use crate::program::{Pc, Program};

/// The properties of each operation of a family. Properties of only a few families have a default.
pub trait Family {
    /// Visits the registers that the operation uses, first those that it reads, then those that it writes.
    fn operands(&self, visitor: &mut OperandVisitor<'_>);

    /// Its effects other than writing registers. `program` holds the tables that matrix and image instructions refer to.
    fn effects(&self, program: &Program) -> Effects;

    /// The kinds of its sources and its results; `None` if the operation does not determine them.
    fn operand_kinds(&self) -> Option<OperandKinds> {
        None
    }

    /// The purpose of the values that it reads, other than its guard and its addresses.
    fn purpose(&self) -> Purpose {
        Purpose::Result
    }

    /// True if its results depend on the values of its registers, although it reads memory as well.
    fn accumulates(&self) -> bool {
        false
    }

    /// True if threads synchronize at it: barriers and warp collectives.
    fn synchronizes(&self) -> bool {
        false
    }

    /// The lanes in which its results are undefined, if some operand is undefined in the lanes of `any`.
    fn undefined_in(&self, _: &dyn Undefined, any: LaneMask) -> LaneMask {
        any
    }

    /// Its synchronous memory access: loads, stores, atomics, and operations on mbarriers.
    fn access(&self) -> Option<Access> {
        None
    }

    /// The targets of a branch that is taken.
    fn targets<'a>(&'a self, _: &'a Program) -> &'a [Pc] {
        &[]
    }

    /// The threads that it waits for, if it waits until others reach it or arrive at an mbarrier.
    fn waits_for(&self) -> Option<WaitsFor> {
        None
    }

    /// True if it has a `membermask` operand. Without one, a converging instruction needs all lanes of the warp.
    fn has_member_mask(&self) -> bool {
        false
    }

    /// The noun for the asynchronous operation that it starts, in messages.
    fn in_flight_noun(&self) -> &'static str {
        "copy"
    }
}
