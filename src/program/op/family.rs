//! What every family of operations answers about itself. A new one is asked by everything that asks [`Op`](super::Op).

use super::access::Access;
use super::effects::{Awaited, Effects, OperandKinds, Purpose};
use super::undefined::Undefined;
use crate::base::lanes::LaneMask;
use crate::program::operands::Walk;
use crate::program::{Pc, Program};

/// A family of operations. What few of them have to do with has an answer that says so.
pub trait Family {
    /// Shows the registers that it uses, what it reads before what it writes.
    fn operands(&self, walk: &mut Walk<'_>);

    /// What it does beside writing registers. `program` has what matrix and image instructions do.
    fn effects(&self, program: &Program) -> Effects;

    /// What it takes its sources and its results for; none if it says nothing.
    fn operand_kinds(&self) -> Option<OperandKinds> {
        None
    }

    /// What it reads values for, other than its guard and its addresses.
    fn purpose(&self) -> Purpose {
        Purpose::Result
    }

    /// Whether its results are made of what its registers held, although it reads memory as well.
    fn accumulates(&self) -> bool {
        false
    }

    /// Whether threads synchronize at it: barriers and warp collectives.
    fn synchronizes(&self) -> bool {
        false
    }

    /// The lanes in which what it writes is undefined, if in `any` of them some operand is.
    fn undefined_in(&self, _: &dyn Undefined, any: LaneMask) -> LaneMask {
        any
    }

    /// How it accesses memory by itself, if it does: loads, stores, atomics, and what is done to barrier objects.
    fn access(&self) -> Option<Access> {
        None
    }

    /// Where a branch may go when its guard holds.
    fn targets<'a>(&'a self, _: &'a Program) -> &'a [Pc] {
        &[]
    }

    /// Which other threads it waits for, if it waits for any to reach it or a barrier object.
    fn awaits(&self) -> Option<Awaited> {
        None
    }

    /// Whether it names by a mask which lanes must execute it. Where those of a warp must come together and it does not, they are all
    /// lanes.
    fn has_member_mask(&self) -> bool {
        false
    }

    /// What the asynchronous operation is called that it puts in flight.
    fn flight_word(&self) -> &'static str {
        "copy"
    }
}
