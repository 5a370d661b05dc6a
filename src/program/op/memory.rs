//! Loads and stores (PTX ISA, "Data Movement and Conversion Instructions": `ld`, `st`).

use super::access::Access;
use super::effects::{Effect, Effects, Purpose};
use super::family::Family;
use crate::program::operands::{OperandVisitor, Use};
use crate::program::{Address, Bank, Dst, ListId, Program, Src};

/// Loads and stores.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum MemoryOp {
    Load { access: Access, bits: u8, signed: bool, reg_bits: u8, d: Dst, address: Address },
    /// Vector load of `ListId` destinations.
    LoadVector { access: Access, bits: u8, signed: bool, reg_bits: u8, parts: ListId, address: Address },
    /// `reg_bits` is the width of the source register, which may be wider than the element: 16, 32, 64 or 128.
    Store { access: Access, bits: u8, reg_bits: u8, a: Src, address: Address },
    StoreVector { access: Access, bits: u8, reg_bits: u8, parts: ListId, address: Address },
}

impl MemoryOp {
    /// Semantics and scope of the access.
    pub fn access(&self) -> Access {
        match *self {
            Self::Load { access, .. } | Self::LoadVector { access, .. } | Self::Store { access, .. } | Self::StoreVector { access, .. } => {
                access
            }
        }
    }
}

impl MemoryOp {
    /// True for a load, false for a store.
    pub fn is_load(&self) -> bool {
        matches!(self, Self::Load { .. } | Self::LoadVector { .. })
    }
}

impl Family for MemoryOp {
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            Self::Load { access: _, bits, signed: _, reg_bits, d, address } => {
                visitor.address(address);
                let (bank, width) = Bank::of_element(bits, reg_bits);
                visitor.dest(bank, d, width);
            }
            Self::LoadVector { access: _, bits, signed: _, reg_bits, parts, address } => {
                visitor.address(address);
                let (bank, width) = Bank::of_element(bits, reg_bits);
                visitor.dests(parts).iter().for_each(|d| visitor.dest(bank, *d, width));
            }
            Self::Store { access: _, bits, reg_bits, a, address } => {
                visitor.address(address);
                let (bank, width) = Bank::of_element(bits, reg_bits);
                visitor.source(Use::Read, bank, a, width);
            }
            Self::StoreVector { access: _, bits, reg_bits, parts, address } => {
                visitor.address(address);
                let (bank, width) = Bank::of_element(bits, reg_bits);
                visitor.sources(parts).iter().for_each(|a| visitor.source(Use::Read, bank, *a, width));
            }
        }
    }

    fn effects(&self, _: &Program) -> Effects {
        let (reads, writes) = match self {
            Self::Load { .. } | Self::LoadVector { .. } => (true, false),
            Self::Store { .. } | Self::StoreVector { .. } => (false, true),
        };
        let effects = Effects::NONE.with(Effect::ReadsMemory, reads).with(Effect::WritesMemory, writes);
        effects.with(Effect::Orders, self.access().orders())
    }

    fn access(&self) -> Option<Access> {
        Some(Self::access(self))
    }

    fn purpose(&self) -> Purpose {
        match self {
            Self::Load { .. } | Self::LoadVector { .. } => Purpose::Result,
            Self::Store { .. } | Self::StoreVector { .. } => Purpose::Memory,
        }
    }
}
