//! The elements of A and B, and how they are taken apart.

use crate::num::exact::Format;

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
    /// m with its sign. Of an infinity something with its sign, of a NaN something.
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
    /// Takes apart the number of `format` in the low bits of a word. Without branches, so that a loop over it becomes one over vectors.
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

    /// Whether this is an infinity or a NaN.
    #[inline(always)]
    pub fn is_special(self) -> bool {
        self.exponent <= INFINITE
    }
}

/// The infinity of a format, or, if its largest number is followed by its only NaN, that number.
#[inline(always)]
fn greatest(format: &Format) -> u32 {
    let next = format.largest + 1;
    (if next == format.nan { format.largest } else { next }) as u32
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
#[inline(always)]
pub(super) fn widened(element: Element, bits: u32) -> u32 {
    if element == Element::E4m3 { u32::from(E4M3_AS_F16[(bits & 0xff) as usize]) } else { (bits & 0xff) << 8 }
}

const E4M3_AS_F16: [u16; 256] = {
    let mut table = [0; 256];
    let mut bits = 0;
    while bits < 256 {
        table[bits] = e4m3_as_f16(bits as u16);
        bits += 1;
    }
    table
};

const fn e4m3_as_f16(bits: u16) -> u16 {
    let (sign, magnitude) = ((bits & 0x80) << 8, bits & 0x7f);
    sign | match magnitude {
        0x7f => 0x7fff,
        0 => 0,
        // n * 2^-9: the leading bit becomes the hidden one.
        1..=7 => {
            let leading = magnitude.ilog2() as u16;
            (leading + 6) << 10 | (magnitude << (10 - leading)) & 0x3ff
        }
        _ => (magnitude << 7) + (8 << 10),
    }
}
