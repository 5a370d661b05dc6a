//! Operations on mbarriers (PTX ISA, "mbarrier").

use super::effects::{Effect, Effects, Purpose, WaitsFor};
use super::family::Family;
use crate::isa::MbarrierFn;
use crate::program::operands::OperandVisitor;
use crate::program::{Access, Address, Bank, Dst, Program, Src};

/// An operation on an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum MbarrierOp {
    /// An operation that changes the mbarrier: `d` is the state before it, `a` the count of arrivals or of bytes; for `arrive.expect_tx`
    /// the count of bytes, with one arrival.
    Update { f: MbarrierFn, access: Access, d: Dst, a: Option<Src>, address: Address },
    /// `mbarrier.test_wait` and, if it `blocks`, `try_wait`: `p` is true if the phase with state `a`, or with parity `a` if `parity`, has
    /// completed.
    Wait { blocks: bool, parity: bool, access: Access, p: Dst, a: Src, address: Address },
    PendingCount { d: Dst, a: Src },
}

impl Family for MbarrierOp {
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            Self::Update { f: _, access: _, d, a, address } => {
                visitor.address(address);
                a.iter().for_each(|a| visitor.read(Bank::B32, *a));
                visitor.write(Bank::B64, d);
            }
            Self::Wait { blocks: _, parity, access: _, p, a, address } => {
                visitor.address(address);
                visitor.read(Bank::of_wide(!parity), a);
                visitor.write(Bank::Pred, p);
            }
            Self::PendingCount { d, a } => {
                visitor.read(Bank::B64, a);
                visitor.write(Bank::B32, d);
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

    /// Includes `test_wait`: a test that fails is one iteration of a wait loop.
    fn waits_for(&self) -> Option<WaitsFor> {
        match self {
            Self::Wait { .. } => Some(WaitsFor::OtherWarps),
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
