//! A family: the operations of one category, such as atomics, in one enum. [`Op`](super::Op) forwards each question to its family.

use super::access::Access;
use super::effects::{Awaited, Effects, OperandKinds, Purpose};
use super::undefined::Undefined;
use crate::base::lanes::LaneMask;
use crate::program::operands::Walk;
use crate::program::{Pc, Program};

/// The properties that each family of operations has. Those that few families have get a default.
pub trait Family {
    /// Visits the registers that it uses, those that it reads before those that it writes.
    fn operands(&self, walk: &mut Walk<'_>);

    /// Its effects other than writing registers. `program` holds the tables that matrix and image instructions refer to.
    fn effects(&self, program: &Program) -> Effects;

    /// The kinds of its sources and its results; none if it implies nothing about them.
    fn operand_kinds(&self) -> Option<OperandKinds> {
        None
    }

    /// The purpose of the values that it reads, other than its guard and its addresses.
    fn purpose(&self) -> Purpose {
        Purpose::Result
    }

    /// Whether its results are computed from values of its registers, although it reads memory as well.
    fn accumulates(&self) -> bool {
        false
    }

    /// Whether threads synchronize at it: barriers and warp collectives.
    fn synchronizes(&self) -> bool {
        false
    }

    /// The lanes in which its results are undefined, if some operand is undefined in the lanes of `any`.
    fn undefined_in(&self, _: &dyn Undefined, any: LaneMask) -> LaneMask {
        any
    }

    /// How it accesses memory, if it does so synchronously: loads, stores, atomics, and operations on mbarriers.
    fn access(&self) -> Option<Access> {
        None
    }

    /// Where a branch may go when its guard holds.
    fn targets<'a>(&'a self, _: &'a Program) -> &'a [Pc] {
        &[]
    }

    /// The other threads that it waits for, if it waits until they reach it or an mbarrier.
    fn awaits(&self) -> Option<Awaited> {
        None
    }

    /// Whether a mask operand names the lanes that must execute it. Without one, an instruction at which lanes of a warp must converge
    /// needs all lanes.
    fn has_member_mask(&self) -> bool {
        false
    }

    /// The noun for the asynchronous operation that it puts in flight.
    fn flight_word(&self) -> &'static str {
        "copy"
    }
}
