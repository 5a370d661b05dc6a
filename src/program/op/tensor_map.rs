//! Tensor maps (PTX ISA, "tensormap.replace", "tensormap.cp_fenceproxy").

use super::effects::{Effect, Effects, Purpose};
use super::family::Family;
use crate::isa::TensorField;
use crate::program::operands::OperandVisitor;
use crate::program::{Access, Address, Bank, Program, Src};

/// Tensor maps.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum TensorMapOp {
    /// `tensormap.replace`: field `field`, of dimension `ordinal`, of the map at `address` becomes `a`.
    ReplaceField { field: TensorField, ordinal: u8, access: Access, a: Src, address: Address },
    /// `tensormap.cp_fenceproxy`: the map at `from` in shared memory is copied to `to` in global memory.
    Copy { to: Address, from: Address },
}

impl Family for TensorMapOp {
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            Self::ReplaceField { field, ordinal: _, access: _, a, address } => {
                visitor.address(address);
                visitor.read(Bank::of_wide(field.is_wide()), a);
            }
            Self::Copy { to, from } => {
                visitor.address(to);
                visitor.address(from);
            }
        }
    }

    fn effects(&self, _: &Program) -> Effects {
        match self {
            Self::ReplaceField { .. } => Effects::of(&[Effect::ReadsMemory, Effect::WritesMemory]),
            Self::Copy { .. } => Effects::of(&[Effect::ReadsMemory, Effect::WritesMemory, Effect::Orders, Effect::Collective]),
        }
    }

    fn access(&self) -> Option<Access> {
        match *self {
            Self::ReplaceField { access, .. } => Some(access),
            Self::Copy { to: _, from: _ } => None,
        }
    }

    fn purpose(&self) -> Purpose {
        match self {
            Self::ReplaceField { .. } => Purpose::Parameter,
            Self::Copy { .. } => Purpose::Result,
        }
    }
}
