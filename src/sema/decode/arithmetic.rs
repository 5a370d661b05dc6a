//! Integer and floating-point arithmetic, and operations on bits.

use super::family::{Decoded, Decoding};
use crate::isa::{BitsDecode, FloatBinary, FloatDecode, IntegerDecode, ScalarType};
use crate::program::{BitsOp, Dst, FloatOp, IntegerOp, Op};

impl Decoding<'_, '_> {
    /// Integer arithmetic.
    pub(super) fn integer(&mut self, decode: IntegerDecode) -> Decoded {
        let d = self.dst(0)?;
        let a = self.src(1)?;
        Ok(match decode {
            IntegerDecode::Unary(f) => Op::Integer(IntegerOp::Unary { f, ty: self.int_type()?, d, a }),
            IntegerDecode::BitCount(f) => Op::Integer(IntegerOp::BitCount { f, ty: self.int_type()?, d, a }),
            IntegerDecode::Binary(f) => Op::Integer(IntegerOp::Binary { f, ty: self.int_type()?, d, a, b: self.src(2)? }),
            IntegerDecode::Ternary(f) => {
                Op::Integer(IntegerOp::Ternary { f, ty: self.int_type()?, d, a, b: self.src(2)?, c: self.src(3)? })
            }
            IntegerDecode::MulWide => Op::Integer(IntegerOp::MulWide { ty: self.int_type()?, d, a, b: self.src(2)? }),
            IntegerDecode::MadWide => Op::Integer(IntegerOp::MadWide { ty: self.int_type()?, d, a, b: self.src(2)?, c: self.src(3)? }),
            IntegerDecode::Dot(f) => {
                let signed = |index: usize| self.matched.types.get(index) == Some(&ScalarType::S32);
                Op::Integer(IntegerOp::Dot { f, a_signed: signed(0), b_signed: signed(1), d, a, b: self.src(2)?, c: self.src(3)? })
            }
            IntegerDecode::Carry(f, carry_in) => {
                let c = if self.args.len() > 3 { self.src(3)? } else { self.zero() };
                let carry_out = self.matched.has("cc");
                Op::Integer(IntegerOp::Carry { f, ty: self.int_type()?, carry_in, carry_out, d, a, b: self.src(2)?, c })
            }
        })
    }

    /// Shifts, `lop3` and bit fields.
    pub(super) fn bits(&mut self, decode: BitsDecode) -> Decoded {
        let d = self.dst(0)?;
        let (a, b) = (self.src(1)?, self.src(2)?);
        Ok(match decode {
            BitsDecode::Shift(f) => Op::Bits(BitsOp::Shift { f, ty: self.int_type()?, d, a, b }),
            BitsDecode::Lop3 => Op::Bits(BitsOp::Lop3 { lut: self.lut(), d, a, b, c: self.src(3)? }),
            BitsDecode::Lop3Pred(f) => {
                Op::Bits(BitsOp::Lop3Pred { lut: self.lut(), f, d, p: self.second_dst(0), a, b, c: self.src(3)?, q: self.pred(5)? })
            }
            BitsDecode::Field32(f) => {
                let c = if self.args.len() > 3 { self.src(3)? } else { self.zero() };
                Op::Bits(BitsOp::Field32 { f, d, a, b, c })
            }
            BitsDecode::Extract => Op::Bits(BitsOp::Extract { ty: self.int_type()?, d, a, b, c: self.src(3)? }),
            BitsDecode::Insert => Op::Bits(BitsOp::Insert { width: self.width(self.ty())?, d, a, b, c: self.src(3)?, e: self.src(4)? }),
        })
    }

    /// Floating-point arithmetic.
    pub(super) fn float(&mut self, decode: FloatDecode) -> Decoded {
        let d: Dst = self.dst(0)?;
        let a = self.src(1)?;
        let (ty, mode) = (self.float_type()?, self.float_mode());
        Ok(match decode {
            FloatDecode::Unary(f) => Op::Float(FloatOp::Unary { f, ty, mode, d, a }),
            FloatDecode::Binary(f) => Op::Float(FloatOp::Binary { f, ty, mode, d, a, b: self.src(2)? }),
            FloatDecode::MinMax(max) => Op::Float(FloatOp::Binary { f: self.min_max(max), ty, mode, d, a, b: self.src(2)? }),
            FloatDecode::Ternary(f) => Op::Float(FloatOp::Ternary { f, ty, mode, d, a, b: self.src(2)?, c: self.src(3)? }),
            FloatDecode::TestProperty(f) => Op::Float(FloatOp::TestProperty { f, ty, p: d, a }),
        })
    }

    /// The function of `min` or `max` with `.NaN` and `.xorsign.abs`.
    fn min_max(&self, max: bool) -> FloatBinary {
        match (max, self.matched.has("NaN"), self.matched.has("xorsign.abs")) {
            (false, false, false) => FloatBinary::Min,
            (false, true, false) => FloatBinary::MinNan,
            (false, false, true) => FloatBinary::MinXorSign,
            (false, true, true) => FloatBinary::MinNanXorSign,
            (true, false, false) => FloatBinary::Max,
            (true, true, false) => FloatBinary::MaxNan,
            (true, false, true) => FloatBinary::MaxXorSign,
            (true, true, true) => FloatBinary::MaxNanXorSign,
        }
    }

    /// The lookup table of `lop3`, truncated to 8 bits.
    fn lut(&self) -> u8 {
        self.constant_value(4).unwrap_or(0) as u8
    }

    /// A constant zero for an operand that the instruction does not have.
    fn zero(&mut self) -> crate::program::Src {
        if self.ty().bits() > 32 { self.cx.const64(0) } else { self.cx.const32(0) }
    }
}
