//! Modifiers and operand selectors of video instructions (PTX ISA, "Scalar Video Instructions" and "SIMD Video Instructions").

use super::Compare;

/// The first operation of a video instruction, on parts (bytes, halves or all 32 bits) of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
#[allow(missing_docs, reason = "variants are the opcodes of PTX itself")]
pub enum VideoFn { Add, Sub, AbsDiff, Min, Max, Average, ShiftLeft { wrap: bool }, ShiftRight { wrap: bool }, Set(Compare) }

/// A part of a 32-bit operand: the bits from `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoPart {
    /// Number of the lowest bit.
    pub first: u8,
    /// The number of bits: 8, 16 or 32.
    pub bits: u8,
}

impl VideoPart {
    /// All 32 bits.
    pub const WHOLE: VideoPart = VideoPart { first: 0, bits: 32 };

    /// The part that a selector names: `b0` to `b3`, `h0`, `h1`.
    pub fn from_selector(selector: &str) -> Option<Self> {
        let (kind, index) = selector.split_at_checked(1)?;
        let index: u8 = index.parse().ok().filter(|_| index.len() == 1)?;
        match kind {
            "b" if index < 4 => Some(VideoPart { first: 8 * index, bits: 8 }),
            "h" if index < 2 => Some(VideoPart { first: 16 * index, bits: 16 }),
            _ => None,
        }
    }
}

/// The second operation of a scalar video instruction, on the result of the first and its operand `c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VideoSecond {
    /// Nothing: it has no `c`.
    Nothing,
    /// `.add`
    Add,
    /// `.min`
    Min,
    /// `.max`
    Max,
    /// Inserts it into a part of `c`.
    Merge(VideoPart),
}

/// A scalar video instruction other than `vmad`, without its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoSpec {
    /// The first operation.
    pub f: VideoFn,
    /// The result is signed.
    pub d_signed: bool,
    /// `.sat`: the first result is clamped.
    pub sat: bool,
    /// The part of `a`, and whether it is signed.
    pub a: (VideoPart, bool),
    /// The part of `b`, and whether it is signed.
    pub b: (VideoPart, bool),
    /// The second operation.
    pub second: VideoSecond,
}

/// `vmad`, a product of parts plus `c`, without its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoMadSpec {
    /// The part of `a`, and whether it is signed.
    pub a: (VideoPart, bool),
    /// The part of `b`, and whether it is signed.
    pub b: (VideoPart, bool),
    /// The product is negated.
    pub negate_product: bool,
    /// `c` is negated.
    pub negate_c: bool,
    /// `.po`: plus one.
    pub plus_one: bool,
    /// `.sat`
    pub sat: bool,
    /// `.shr7`, `.shr15`: the sum is shifted right.
    pub shift: u8,
}

/// A SIMD video instruction, the same operation on 2 halves or 4 bytes, without its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoSimdSpec {
    /// The operation on each pair of elements.
    pub f: VideoFn,
    /// The number of elements of an operand: 2 halves or 4 bytes.
    pub elements: u8,
    /// The results are signed.
    pub d_signed: bool,
    /// The halves or bytes of `a`, and of `b`, are signed.
    pub signed: (bool, bool),
    /// `.sat`: the results are clamped.
    pub sat: bool,
    /// `.add`: the results are added to `c`; otherwise they replace elements of it.
    pub accumulate: bool,
    /// For each element of the result, element 0 first: the index of its `a`, and of its `b`, among the 4 halves or 8 bytes of both
    /// operands.
    pub select: [[u8; 4]; 2],
    /// The elements that are computed, one bit each.
    pub mask: u8,
}
