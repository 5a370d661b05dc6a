//! Operations on mbarriers (PTX ISA, "mbarrier").

use super::effects::{Awaited, Effect, Effects, Purpose};
use super::family::Family;
use crate::isa::MbarrierFn;
use crate::program::operands::Walk;
use crate::program::{Access, Address, Bank, Dst, Program, Src};

/// An operation on an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum MbarrierOp {
    /// An `mbarrier` operation that changes the object: `d` is the state before it, `a` the count of arrivals or of bytes; for
    /// `arrive.expect_tx` the count of bytes, with one arrival.
    Update { f: MbarrierFn, access: Access, d: Dst, a: Option<Src>, address: Address },
    /// `mbarrier.test_wait` and, if it `blocks`, `try_wait`: `p` is whether the phase of state `a`, or of `parity` `a`, has ended.
    Wait { blocks: bool, parity: bool, access: Access, p: Dst, a: Src, address: Address },
    PendingCount { d: Dst, a: Src },
}

impl Family for MbarrierOp {
    fn operands(&self, walk: &mut Walk<'_>) {
        match *self {
            Self::Update { f: _, access: _, d, a, address } => {
                walk.address(address);
                a.iter().for_each(|a| walk.read(Bank::B32, *a));
                walk.write(Bank::B64, d);
            }
            Self::Wait { blocks: _, parity, access: _, p, a, address } => {
                walk.address(address);
                walk.read(Bank::of_wide(!parity), a);
                walk.write(Bank::Pred, p);
            }
            Self::PendingCount { d, a } => {
                walk.read(Bank::B64, a);
                walk.write(Bank::B32, d);
            }
        }
    }

    fn effects(&self, _: &Program) -> Effects {
        match self {
            Self::Update { .. } => Effects::of(&[Effect::ReadsMemory, Effect::WritesMemory, Effect::Orders]),
            Self::Wait { blocks, .. } => Effects::of(&[Effect::ReadsMemory, Effect::Orders]).with(Effect::Blocks, *blocks),
            Self::PendingCount { .. } => Effects::NONE,
        }
    }

    fn access(&self) -> Option<Access> {
        match *self {
            Self::Update { access, .. } | Self::Wait { access, .. } => Some(access),
            Self::PendingCount { .. } => None,
        }
    }

    /// The other threads that it waits for: a test that fails is one iteration of a loop that waits.
    fn awaits(&self) -> Option<Awaited> {
        match self {
            Self::Wait { .. } => Some(Awaited::OtherWarps),
            Self::Update { .. } | Self::PendingCount { .. } => None,
        }
    }

    fn purpose(&self) -> Purpose {
        match self {
            Self::Update { .. } | Self::Wait { .. } => Purpose::Parameter,
            Self::PendingCount { .. } => Purpose::Result,
        }
    }
}
