//! The elements of A and B, and how they are taken apart.

use super::Accumulator;
use crate::num::exact::Format;
use crate::num::half::F16;

/// The type of an element of A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// `.f16`.
    F16,
    /// `.bf16`.
    Bf16,
    /// `.tf32`: the upper 19 bits of a word; the others are ignored.
    Tf32,
    /// `.e4m3`.
    E4m3,
    /// `.e5m2`.
    E5m2,
    /// `.s8`.
    S8,
    /// `.u8`.
    U8,
    /// `.s4`.
    S4,
    /// `.u4`.
    U4,
    /// `.b1`: a word of 32 of them.
    B1,
}

/// A factor, (-1)^s * m * 2^(exponent - fraction width of its type), as a sign and an integer that are multiplied exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// m with its sign. Of an infinity, 1 with its sign; of a NaN, 0.
    pub significand: i32,
    /// The exponent as it is encoded, not normalised; or [`ZERO`], [`INFINITE`], [`NOT_A_NUMBER`].
    pub exponent: i32,
}

/// Exponent of a zero: far below every other, so that a zero is never what a sum is aligned to.
pub const ZERO: i32 = -10_000;
/// Exponent of an infinity.
pub const INFINITE: i32 = -30_000;
/// Exponent of a NaN.
pub const NOT_A_NUMBER: i32 = -40_000;

impl Number {
    /// Takes apart the number of `format` in the low bits of a word.
    #[inline(always)]
    pub fn unpack(format: &Format, bits: u32) -> Number {
        let hidden = 1u32 << format.fraction;
        let magnitude = bits & (format.sign() as u32 - 1);
        let field = (magnitude >> format.fraction) as i32;
        let fraction = magnitude & (hidden - 1);
        let negative = bits & format.sign() as u32 != 0;
        let special = u64::from(magnitude) > format.largest;
        // A format whose largest number is followed by its only NaN has no infinity.
        let infinite = special && u64::from(magnitude) == format.largest + 1 && u64::from(magnitude) != format.nan;
        let (significand, exponent) = match () {
            () if infinite => (1, INFINITE),
            () if special => (0, NOT_A_NUMBER),
            () if magnitude == 0 => (0, ZERO),
            () if field == 0 => (fraction as i32, 1 - bias(format)),
            () => ((fraction | hidden) as i32, field - bias(format)),
        };
        Number { significand: if negative { -significand } else { significand }, exponent }
    }

    /// Whether this is an infinity or a NaN.
    #[inline(always)]
    pub fn is_special(self) -> bool {
        self.exponent <= INFINITE
    }
}

#[inline(always)]
fn bias(format: &Format) -> i32 {
    (1 << (format.exponent - 1)) - 1
}

impl Element {
    /// The format of a floating-point type, and the bits of a word that are below its elements; none of an integer type.
    pub(super) fn format(self) -> Option<(Format, u32)> {
        match self {
            Element::F16 => Some((Format::F16, 0)),
            Element::Bf16 => Some((Format::BF16, 0)),
            Element::Tf32 => Some((Format::TF32, 13)),
            Element::E4m3 => Some((Format::E4M3, 0)),
            Element::E5m2 => Some((Format::E5M2, 0)),
            Element::S8 | Element::U8 | Element::S4 | Element::U4 | Element::B1 => None,
        }
    }

    /// The value of an integer element; of `b1`, its word.
    #[inline(always)]
    pub(super) fn integer(self, bits: u32) -> i32 {
        match self {
            Element::S8 => i32::from(bits as i8),
            Element::U8 => i32::from(bits as u8),
            Element::S4 => (bits << 28) as i32 >> 28,
            Element::U4 => (bits & 15) as i32,
            _ => bits as i32,
        }
    }
}

/// The `f16` that an fp8 number is, exactly. What is subnormal in `.e4m3` is normal there.
pub(super) fn widened(element: Element, bits: u32) -> u32 {
    let bits = bits & 0xff;
    if element != Element::E4m3 {
        return bits << 8;
    }
    let sign = (bits & 0x80) << 8;
    let magnitude = bits & 0x7f;
    sign | match magnitude {
        0x7f => 0x7fff,
        0 => 0,
        // n * 2^-9: the leading bit becomes the hidden one.
        1..=7 => {
            let leading = magnitude.ilog2();
            (leading + 6) << 10 | (magnitude << (10 - leading)) & 0x3ff
        }
        _ => (magnitude << 7) + (8 << 10),
    }
}

/// The value of an element of C or D.
#[inline(always)]
pub(super) fn value(ty: Accumulator, bits: u32) -> f64 {
    match ty {
        Accumulator::F16 => f64::from(F16(bits as u16).to_f32()),
        Accumulator::F32 => f64::from(f32::from_bits(bits)),
        Accumulator::S32 => f64::from(bits as i32),
    }
}

/// The element of C or D nearest to `x`; a NaN becomes the type's own.
#[inline(always)]
pub(super) fn nearest(ty: Accumulator, x: f64) -> u32 {
    match ty {
        Accumulator::F16 => u32::from(F16::from_f64(x).0),
        Accumulator::F32 if x.is_nan() => Format::F32.nan as u32,
        Accumulator::F32 => (x as f32).to_bits(),
        Accumulator::S32 => x as i32 as u32,
    }
}
