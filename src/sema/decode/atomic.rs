//! Atomic operations on memory: `atom` and `red`.

use super::availability::require_at_least;
use super::family::{Decoded, Decoding};
use super::memory::ORDERINGS;
use super::operand::Arg;
use super::space::same_space;
use crate::base::Diagnostic;
use crate::isa::{AtomicDecode, AtomicFn, Ordering, ScalarType, Scope, Space};
use crate::program::{Access, Address, AtomicOp, Dst, ListId, Op, Src};

/// First PTX version and target with 64-bit atomics in shared memory.
const WIDE_SHARED: ((u8, u8), u32) = ((2, 0), 20);

impl Decoding<'_, '_> {
    /// `atom` and `red`.
    pub(super) fn atomic(&mut self, decode: AtomicDecode) -> Decoded {
        match decode {
            AtomicDecode::Returning(f) => self.scalar_atomic(f, self.dst(0)?, 1),
            AtomicDecode::Reducing(f) => self.scalar_atomic(f, Dst::SINK, 0),
            AtomicDecode::ReturningVector => match self.args.first().copied() {
                Some(Arg::Vector { list, .. }) => self.vector_atomic(Some(list), 1),
                _ => Err(self.operand_mismatch(0)),
            },
            AtomicDecode::ReducingVector => self.vector_atomic(None, 0),
        }
    }

    /// An atomic on one element, whose address is operand `at`.
    fn scalar_atomic(&mut self, f: AtomicFn, d: Dst, at: usize) -> Decoded {
        let (access, address) = self.atomic_access(at)?;
        let b = self.wide_constant(at + 1)?;
        let c = if f == AtomicFn::Cas { self.wide_constant(at + 2)? } else { b };
        Ok(Op::Atomic(AtomicOp::Single { f, ty: self.ty(), access, d, b, c, address }))
    }

    /// An atomic on a vector of elements, whose address is operand `at`.
    fn vector_atomic(&mut self, d: Option<ListId>, at: usize) -> Decoded {
        let (access, address) = self.atomic_access(at)?;
        let words = [("add", AtomicFn::Add), ("min", AtomicFn::Min), ("max", AtomicFn::Max)];
        let f = self.matched.choose(&words).ok_or_else(|| self.type_mismatch())?;
        match self.args.get(at + 1).copied() {
            Some(Arg::Vector { list: b, .. }) => Ok(Op::Atomic(AtomicOp::Vector { f, ty: self.ty(), access, d, b, address })),
            _ => Err(self.operand_mismatch(at + 1)),
        }
    }

    fn atomic_access(&self, at: usize) -> Result<(Access, Address), Diagnostic> {
        let (mut access, address) = self.access(at)?;
        if self.matched.choose(ORDERINGS).is_none() {
            access.ordering = Ordering::Relaxed;
        }
        access.scope = self.scope().unwrap_or(Scope::Gpu);
        if self.ty().bits() == 64 && access.space == Space::Shared {
            let ((ptx, sm), what) = (WIDE_SHARED, format!("'{}' of 64 bits in shared memory", self.instruction.opcode.text));
            require_at_least(ptx, sm, &what, self.instruction.opcode.span, self.cx)?;
        }
        if self.matched.has("L2::cache_hint") && self.space().is_some_and(|space| same_space(space, Space::Shared)) {
            return Err(Diagnostic::error("modifier", self.instruction.opcode.span, "'.L2::cache_hint' does not apply to '.shared'"));
        }
        Ok((access, address))
    }

    /// Operand `index`, which must be a register if the type has 128 bits.
    fn wide_constant(&self, index: usize) -> Result<Src, Diagnostic> {
        if self.ty() == ScalarType::B128 && self.constant_value(index).is_some() {
            return Err(Diagnostic::error("operand", self.operand_span(index), "a register of type .b128 is needed here"));
        }
        self.src(index)
    }
}
