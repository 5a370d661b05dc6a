//! Loads and stores (PTX ISA, "Data Movement and Conversion Instructions": `ld`, `st`).

use super::effects::{Effect, Effects};
use crate::isa::{Ordering, Scope, Space};
use crate::program::operands::{RegisterOperand, Use, Walk};
use crate::program::{Address, Bank, Dst, ListId, Src};

/// Semantics and scope of a memory access, for ordering and for the checkers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Access {
    /// The space named by the instruction.
    pub space: Space,
    /// Memory ordering.
    pub ordering: Ordering,
    /// Scope of the ordering.
    pub scope: Scope,
    /// `.nc`: through the read-only (texture) path.
    pub non_coherent: bool,
}

impl Access {
    /// Whether the access orders others, of its own thread or of other threads.
    pub fn orders(self) -> bool {
        match self.ordering {
            Ordering::Weak | Ordering::Volatile | Ordering::Relaxed | Ordering::Mmio => false,
            Ordering::Acquire | Ordering::Release | Ordering::AcqRel | Ordering::SeqCst => true,
        }
    }
}

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

    /// Shows the registers that it uses, what it reads before what it writes.
    pub(in crate::program) fn operands<V: FnMut(Use, RegisterOperand)>(&self, walk: &mut Walk<'_, V>) {
        match *self {
            Self::Load { access: _, bits, signed: _, reg_bits, d, address } => {
                walk.address(address);
                let (bank, width) = Bank::of_element(bits, reg_bits);
                walk.dest(bank, d, width);
            }
            Self::LoadVector { access: _, bits, signed: _, reg_bits, parts, address } => {
                walk.address(address);
                let (bank, width) = Bank::of_element(bits, reg_bits);
                walk.dests(parts).iter().for_each(|d| walk.dest(bank, *d, width));
            }
            Self::Store { access: _, bits, reg_bits, a, address } => {
                walk.address(address);
                let (bank, width) = Bank::of_element(bits, reg_bits);
                walk.source(Use::Read, bank, a, width);
            }
            Self::StoreVector { access: _, bits, reg_bits, parts, address } => {
                walk.address(address);
                let (bank, width) = Bank::of_element(bits, reg_bits);
                walk.sources(parts).iter().for_each(|a| walk.source(Use::Read, bank, *a, width));
            }
        }
    }

    /// What it does beside writing registers.
    pub fn effects(&self) -> Effects {
        let (reads, writes) = match self {
            Self::Load { .. } | Self::LoadVector { .. } => (true, false),
            Self::Store { .. } | Self::StoreVector { .. } => (false, true),
        };
        let effects = Effects::NONE.with(Effect::ReadsMemory, reads).with(Effect::WritesMemory, writes);
        effects.with(Effect::Orders, self.access().orders())
    }
}
