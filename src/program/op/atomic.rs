//! Atomics and reductions in memory (PTX ISA, "atom", "red").

use super::effects::{Effect, Effects, OperandKinds, Purpose};
use super::family::Family;
use crate::isa::{AtomicFn, ScalarType};
use crate::program::operands::{OperandVisitor, Use};
use crate::program::{Access, Address, Bank, Dst, ListId, Program, Src};

/// Atomics and reductions in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum AtomicOp {
    /// `atom`: d = old value. `c` is the new value of `Cas`, which compares with `b`. A sink destination makes it `red`.
    Single { f: AtomicFn, ty: ScalarType, access: Access, d: Dst, b: Src, c: Src, address: Address },
    /// The same on adjacent elements, in order: `d` is a list of [`Program::dests`](crate::program::Program), absent for `red`, and `b`
    /// one of [`Program::sources`](crate::program::Program).
    Vector { f: AtomicFn, ty: ScalarType, access: Access, d: Option<ListId>, b: ListId, address: Address },
}

impl AtomicOp {
    /// Semantics and scope of the access.
    pub fn access(&self) -> Access {
        match *self {
            Self::Single { access, .. } | Self::Vector { access, .. } => access,
        }
    }
}

impl Family for AtomicOp {
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            Self::Single { f: _, ty, access: _, d, b, c, address } => {
                visitor.address(address);
                let (bank, width) = Bank::of_bits(ty.bits() as usize);
                // Functions without a `c` have `b` in both.
                visitor.source(Use::Read, bank, b, width);
                visitor.source(Use::Read, bank, c, width);
                visitor.dest(bank, d, width);
            }
            Self::Vector { f: _, ty: _, access: _, d, b, address } => {
                visitor.address(address);
                visitor.sources(b).iter().for_each(|b| visitor.read(Bank::B32, *b));
                let dests = d.map_or(&[][..], |list| visitor.dests(list));
                dests.iter().for_each(|d| visitor.write(Bank::B32, *d));
            }
        }
    }

    fn effects(&self, _: &Program) -> Effects {
        Effects::of(&[Effect::ReadsMemory, Effect::WritesMemory]).with(Effect::Orders, self.access().orders())
    }

    fn operand_kinds(&self) -> Option<OperandKinds> {
        match self {
            Self::Single { ty, .. } | Self::Vector { ty, .. } => OperandKinds::both(*ty),
        }
    }

    fn access(&self) -> Option<Access> {
        Some(Self::access(self))
    }

    fn purpose(&self) -> Purpose {
        Purpose::Memory
    }
}
