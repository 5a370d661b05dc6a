//! Tensor maps (PTX ISA, "tensormap.replace", "tensormap.cp_fenceproxy").

use super::effects::{Effect, Effects};
use crate::isa::TensorField;
use crate::program::operands::{RegisterOperand, Use, Walk};
use crate::program::{Access, Address, Bank, Src};

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

impl TensorMapOp {
    /// Semantics and scope of its access, if it names them.
    pub fn access(&self) -> Option<Access> {
        match *self {
            Self::ReplaceField { access, .. } => Some(access),
            Self::Copy { to: _, from: _ } => None,
        }
    }

    /// Shows the registers that it uses, what it reads before what it writes.
    pub(in crate::program) fn operands<V: FnMut(Use, RegisterOperand)>(&self, walk: &mut Walk<'_, V>) {
        match *self {
            Self::ReplaceField { field, ordinal: _, access: _, a, address } => {
                walk.address(address);
                walk.read(Bank::of_wide(field.is_wide()), a);
            }
            Self::Copy { to, from } => {
                walk.address(to);
                walk.address(from);
            }
        }
    }

    /// What it does beside writing registers.
    pub fn effects(&self) -> Effects {
        match self {
            Self::ReplaceField { .. } => Effects::of(&[Effect::ReadsMemory, Effect::WritesMemory]),
            Self::Copy { .. } => Effects::of(&[Effect::ReadsMemory, Effect::WritesMemory, Effect::Orders, Effect::Exchanges]),
        }
    }
}
