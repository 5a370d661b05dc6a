//! The words of video instructions (PTX ISA, "Scalar Video Instructions" and "SIMD Video Instructions").

use super::Compare;

/// What a video instruction computes first, of parts of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
#[allow(missing_docs, reason = "variants are the words of PTX itself")]
pub enum VideoFn { Add, Sub, AbsDiff, Min, Max, Average, ShiftLeft { wrap: bool }, ShiftRight { wrap: bool }, Set(Compare) }

/// Bits of a word: those from `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoPart {
    /// Number of the lowest bit.
    pub first: u8,
    /// How many: 8, 16 or 32.
    pub bits: u8,
}

impl VideoPart {
    /// The whole word.
    pub const WORD: VideoPart = VideoPart { first: 0, bits: 32 };

    /// The part that a selector names: `b0` to `b3`, `h0`, `h1`.
    pub fn from_word(word: &str) -> Option<Self> {
        let (kind, index) = word.split_at_checked(1)?;
        let index: u8 = index.parse().ok().filter(|_| index.len() == 1)?;
        match kind {
            "b" if index < 4 => Some(VideoPart { first: 8 * index, bits: 8 }),
            "h" if index < 2 => Some(VideoPart { first: 16 * index, bits: 16 }),
            _ => None,
        }
    }
}

/// What a scalar video instruction does with the first result and its operand `c`.
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
    /// Puts it into a part of `c`.
    Merge(VideoPart),
}

/// A scalar video instruction but for `vmad`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoMode {
    /// What it computes first.
    pub f: VideoFn,
    /// The result is signed.
    pub d_signed: bool,
    /// `.sat`: the first result is clamped.
    pub sat: bool,
    /// The part of `a`, and whether it is signed.
    pub a: (VideoPart, bool),
    /// The part of `b`, and whether it is signed.
    pub b: (VideoPart, bool),
    /// What it does then.
    pub second: VideoSecond,
}

/// `vmad`: a product of parts, plus `c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoMadMode {
    /// The part of `a`, and whether it is signed.
    pub a: (VideoPart, bool),
    /// The part of `b`, and whether it is signed.
    pub b: (VideoPart, bool),
    /// The product is taken negative.
    pub negate_product: bool,
    /// `c` is taken negative.
    pub negate_c: bool,
    /// `.po`: plus one.
    pub plus_one: bool,
    /// `.sat`
    pub sat: bool,
    /// `.shr7`, `.shr15`: the sum is shifted right.
    pub shift: u8,
}

/// A SIMD video instruction, which does the same with 2 halves or 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoSimdMode {
    /// What it computes of each pair.
    pub f: VideoFn,
    /// 2 or 4.
    pub lanes: u8,
    /// The results are signed.
    pub d_signed: bool,
    /// The halves or bytes of `a`, and of `b`, are signed.
    pub signed: (bool, bool),
    /// `.sat`: the results are clamped.
    pub sat: bool,
    /// `.add`: the results are added to `c`; otherwise they take their places in it.
    pub accumulate: bool,
    /// Which of the 4 halves or 8 bytes of the operands together each lane takes for `a`, and for `b`; lane 0 first.
    pub select: [[u8; 4]; 2],
    /// The lanes that count, one bit each.
    pub mask: u8,
}
