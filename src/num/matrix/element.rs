//! The elements of A and B, and their decoding.

use crate::num::exact::Format;

/// The type of an element of A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// `.f16`.
    F16,
    /// `.bf16`.
    Bf16,
    /// `.tf32`: the upper 19 bits of a 32-bit word; the others are ignored.
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
    /// `.b1`: 32 elements in a 32-bit word.
    B1,
}

/// A decoded number: `significand` * 2^(`exponent` - fraction width of its type).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// The significand with the sign. For an infinity any number with its sign, for a NaN any number.
    pub significand: i32,
    /// The encoded exponent without its bias, not normalised for subnormals; or [`ZERO`], [`INFINITE`], [`NOT_A_NUMBER`].
    pub exponent: i32,
}

/// Exponent of a zero: far below every other, so that a sum is never aligned to a zero.
pub const ZERO: i32 = -10_000;
/// Exponent of an infinity.
pub const INFINITE: i32 = -30_000;
/// Exponent of a NaN.
pub const NOT_A_NUMBER: i32 = -40_000;

impl Number {
    /// Decodes the number of `format` in the low bits of `bits`. There are no branches, so that the compiler can vectorize a loop over it.
    #[inline(always)]
    pub fn unpack(format: &Format, bits: u32) -> Number {
        let hidden = 1u32 << format.fraction;
        let magnitude = bits & (format.sign() as u32 - 1);
        let field = (magnitude >> format.fraction) as i32;
        let significand = (magnitude & (hidden - 1) | if field == 0 { 0 } else { hidden }) as i32;
        let sign = if bits & format.sign() as u32 == 0 { 0 } else { -1 };
        let bias = (1 << (format.exponent - 1)) - 1;
        let exponent = if magnitude == 0 { ZERO } else { field.max(1) - bias };
        let exponent = if magnitude > format.largest as u32 { INFINITE } else { exponent };
        let exponent = if magnitude > greatest(format) { NOT_A_NUMBER } else { exponent };
        Number { significand: (significand ^ sign) - sign, exponent }
    }

    /// True for an infinity or a NaN.
    #[inline(always)]
    pub fn is_special(self) -> bool {
        self.exponent <= INFINITE
    }
}

/// The infinity of a format, or its largest finite number if it has no infinity.
#[inline(always)]
pub(super) fn greatest(format: &Format) -> u32 {
    let next = format.largest + 1;
    (if next == format.nan { format.largest } else { next }) as u32
}

impl Element {
    /// The format of a floating-point type, and the number of unused low bits of a 32-bit word that holds it; `None` for an integer type.
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

    /// The value of an integer element; for `b1`, its 32-bit word.
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

/// The `f16` with the value of an fp8 number. Subnormal numbers of `.e4m3` are normal in `f16`. There are no branches, so that the compiler
/// can vectorize a loop over it.
#[inline(always)]
pub(super) fn widened(element: Element, bits: u32) -> u32 {
    if element == Element::E4m3 { e4m3_as_f16(bits & 0xff) } else { (bits & 0xff) << 8 }
}

#[inline(always)]
fn e4m3_as_f16(bits: u32) -> u32 {
    let (sign, magnitude) = ((bits & 0x80) << 8, bits & 0x7f);
    let normal = (magnitude << 7) + (8 << 10);
    // n * 2^-9: the exponent of n is another one, with another bias.
    let subnormal = ((magnitude as i32 as f32).to_bits() >> 13).wrapping_sub((9 + 127 - 15) << 10);
    let half = if magnitude < 8 { subnormal } else { normal };
    let half = if magnitude == 0x7f { 0x7fff } else { half };
    sign | if magnitude == 0 { 0 } else { half }
}
