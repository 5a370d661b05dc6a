//! Conversions of values (PTX ISA, "Data Movement and Conversion Instructions": `cvt`, `cvt.pack`).

use super::effects::{Effects, OperandKind, OperandKinds};
use super::family::Family;
use super::undefined::Undefined;
use crate::base::lanes::LaneMask;
use crate::isa::{Rounding, ScalarType};
use crate::program::operands::OperandVisitor;
use crate::program::{Bank, Dst, Program, Src};

/// Source and destination formats and modifiers of `cvt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConvertMode {
    /// Type of the result.
    pub to: ScalarType,
    /// Type of the source.
    pub from: ScalarType,
    /// Rounding mode; for float to integer that of `.rni`, `.rzi`, `.rmi`, `.rpi`.
    pub rounding: Rounding,
    /// `.rni .rzi .rmi .rpi`: round to an integral value.
    pub to_integral: bool,
    /// `.ftz`.
    pub ftz: bool,
    /// `.sat`.
    pub sat: bool,
    /// `.relu`.
    pub relu: bool,
    /// `.satfinite`.
    pub satfinite: bool,
    /// Width of the destination register, 16 (also for 8-bit registers), 32 or 64: a narrower integer result is extended to it.
    pub d_bits: u8,
    /// Width of the source register, 16, 32 or 64: if it is wider than `from`, its low bits are read.
    pub a_bits: u8,
}

impl ConvertMode {
    /// A conversion between integer types without modifiers, in registers of their width.
    pub fn of_integers(to: ScalarType, from: ScalarType) -> Self {
        Self {
            to,
            from,
            rounding: Rounding::Nearest,
            to_integral: false,
            ftz: false,
            sat: false,
            relu: false,
            satfinite: false,
            d_bits: to.bits() as u8,
            a_bits: from.bits() as u8,
        }
    }
}

/// Conversions of values.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum ConvertOp {
    Single { mode: ConvertMode, d: Dst, a: Src },
    /// `cvt.rn.f16x2.f32 d, a, b`: two sources packed, `a` in the upper half.
    Pair { mode: ConvertMode, d: Dst, a: Src, b: Src },
    /// `cvt.pack`: `b` saturated to `to` at the bottom, then `a`, then the low bits of `c` (zero for the two-operand form).
    Pack { to: ScalarType, from: ScalarType, d: Dst, a: Src, b: Src, c: Src },
}

impl Family for ConvertOp {
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            Self::Single { mode, d, a } => {
                visitor.read(Bank::of_wide(mode.a_bits == 64), a);
                visitor.write(Bank::of_wide(mode.d_bits == 64), d);
            }
            Self::Pair { mode: _, d, a, b } => visitor.one_bank(Bank::B32, d, [a, b]),
            Self::Pack { to: _, from: _, d, a, b, c } => visitor.one_bank(Bank::B32, d, [a, b, c]),
        }
    }

    /// All of them only compute.
    fn effects(&self, _: &Program) -> Effects {
        Effects::NONE
    }

    fn operand_kinds(&self) -> Option<OperandKinds> {
        match self {
            Self::Single { mode, .. } | Self::Pair { mode, .. } => {
                Some(OperandKinds { sources: OperandKind::Number(mode.from), results: OperandKind::Number(mode.to) })
            }
            Self::Pack { .. } => None,
        }
    }

    fn undefined_in(&self, undefined: &dyn Undefined, any: LaneMask) -> LaneMask {
        match *self {
            Self::Pair { a, b, .. } => undefined.of(Bank::B32, a) & undefined.of(Bank::B32, b),
            Self::Single { .. } | Self::Pack { .. } => any,
        }
    }
}
