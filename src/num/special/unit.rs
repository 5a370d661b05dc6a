//! The special-function unit: functions of one argument by quadratic interpolation in a table.
//!
//! The unit has one interpolator with one squarer. It computes a fixed-point number from a segment of a [`Curve`] and the remaining bits
//! of the argument, and truncates it to 24 bits. Only the square is inexact. Every function except [`tanh`] takes a subnormal argument
//! as a zero of the same sign, and has no subnormal results.

use super::tables::{EX2, LG2, RCP, RSQ, SIN, SQRT, TANH, TANH_BINADES};

/// The NaN of every function.
const NAN: u32 = 0x7fff_ffff;
/// The sign bit of a 32-bit word.
const SIGN: u32 = 1 << 31;

/// A table of segments: value = (c0 << shift) + bias + c1 * x + c2 * square(z), exactly, for rows `[c0, c1, c2]`.
pub(super) struct Curve<const N: usize> {
    pub(super) shift: u32,
    pub(super) bias: i64,
    pub(super) rows: [[i32; 3]; N],
}

impl<const N: usize> Curve<N> {
    /// The value for the offset `x` into the segment; `z` is `x` scaled to 17 bits, the operand of the squarer.
    #[inline(always)]
    fn at(&self, segment: u32, x: u32, z: u32) -> i64 {
        let [c0, c1, c2] = self.rows[(segment as usize).min(N - 1)].map(i64::from);
        (c0 << self.shift) + self.bias + c1 * i64::from(x) + c2 * i64::from(square(z))
    }

    /// The value for the 23 fraction bits of an argument: the upper 6 are the segment, counted from `first`, the lower 17 the offset.
    #[inline(always)]
    fn at_fraction(&self, first: u32, fraction: u32) -> i64 {
        let x = fraction & 0x1_ffff;
        self.at(first + (fraction >> 17), x, x)
    }
}

/// Approximately z^2 / 2^19 for a `z` of 17 bits: a folded squarer without the lowest columns.
#[inline(always)]
fn square(z: u32) -> u32 {
    let (high, low) = (z >> 9, z & 0x1ff);
    let row = |j: u32| if high >> j & 1 != 0 { low >> (9 - j) } else { 0 };
    ((high * high) >> 1) + row(1) + row(2) + row(3) + row(4) + row(5) + row(6) + row(7)
}

/// The layout of a 32-bit word: an `f32`, or the upper half of an `f64`.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    fraction: u32,
    bias: i32,
}

impl Layout {
    pub(super) const F32: Layout = Layout { fraction: 23, bias: 127 };
    pub(super) const F64_HIGH: Layout = Layout { fraction: 20, bias: 1023 };

    const fn infinity(self) -> u32 {
        ((2 * self.bias + 1) as u32) << self.fraction
    }

    /// Sign bit, exponent field, and fraction as 23 bits.
    #[inline(always)]
    fn split(self, word: u32) -> (u32, i32, u32) {
        let fraction = (word << (23 - self.fraction)) & 0x7f_ffff;
        (word & SIGN, ((word & !SIGN) >> self.fraction) as i32, fraction)
    }

    /// The word with these fields and the low 23 bits of `fraction`; zero if the exponent `field` is not positive.
    #[inline(always)]
    fn join(self, sign: u32, field: i32, fraction: i64) -> u32 {
        let magnitude = (field as u32) << self.fraction | (fraction as u32 & 0x7f_ffff) >> (23 - self.fraction);
        sign | if field > 0 { magnitude } else { 0 }
    }
}

/// 1 / x.
#[inline(always)]
pub(super) fn rcp(word: u32, layout: Layout) -> u32 {
    let (sign, field, fraction) = layout.split(word);
    let x = fraction & 0xffff;
    // From 2^23 to 2^24; 2^24 only for an exact power of two.
    let value = RCP.at(fraction >> 16, x, 2 * x) >> 15;
    let exponent = 2 * layout.bias - 1 - field + (value >> 24) as i32;
    match word & !SIGN {
        magnitude if magnitude > layout.infinity() => NAN,
        magnitude if magnitude == layout.infinity() => sign,
        _ if field == 0 => sign | layout.infinity(),
        _ => layout.join(sign, exponent, value),
    }
}

/// 1 / sqrt(x).
#[inline(always)]
pub(super) fn rsq(word: u32, layout: Layout) -> u32 {
    let (sign, field, fraction) = layout.split(word);
    let (half, odd) = halve_exponent(field, layout);
    let value = RSQ.at_fraction(64 * odd, fraction) >> 16;
    // For an exact power of four the value from the table is too low by one in the last place.
    let power_of_four = odd == 0 && fraction == 0;
    let number = layout.join(0, layout.bias - 1 - half + i32::from(power_of_four), if power_of_four { 0 } else { value });
    match word & !SIGN {
        magnitude if magnitude > layout.infinity() => NAN,
        _ if field == 0 => sign | layout.infinity(),
        _ if sign != 0 => NAN,
        magnitude if magnitude == layout.infinity() => 0,
        _ => number,
    }
}

/// sqrt(x); not the reciprocal of [`rsq`].
#[inline(always)]
pub(super) fn sqrt(x: f32) -> f32 {
    const LAYOUT: Layout = Layout::F32;
    let (sign, field, fraction) = LAYOUT.split(x.to_bits());
    let (half, odd) = halve_exponent(field, LAYOUT);
    let number = LAYOUT.join(0, LAYOUT.bias + half, SQRT.at_fraction(64 * odd, fraction) >> 17);
    f32::from_bits(match x.to_bits() {
        word if word == LAYOUT.infinity() => word,
        _ if field == 0 => sign,
        _ if field == 0xff || sign != 0 => NAN,
        _ => number,
    })
}

/// Half the exponent, rounded down, and the remainder.
#[inline(always)]
fn halve_exponent(field: i32, layout: Layout) -> (i32, u32) {
    let exponent = field - layout.bias;
    (exponent >> 1, (exponent & 1) as u32)
}

/// 2^x. The argument is converted to fixed point with 23 fraction bits, truncated.
#[inline(always)]
pub(super) fn ex2(x: f32) -> f32 {
    const LAYOUT: Layout = Layout::F32;
    const LIMIT: f32 = 128.0;
    let magnitude = x.abs();
    let fixed = (magnitude.min(LIMIT) * (1 << 23) as f32) as i32;
    // The hardware negates an argument by its ones' complement, which is too low by one in the last place, unless it is integral.
    let is_integral = fixed & 0x7f_ffff == 0;
    let fixed = match (x < 0.0, is_integral) {
        (false, _) => fixed,
        (true, true) => -fixed,
        (true, false) => !fixed,
    };
    let value = EX2.at_fraction(0, fixed as u32 & 0x7f_ffff) >> 15;
    let inside = LAYOUT.join(0, LAYOUT.bias + (fixed >> 23), value);
    let beyond = if x < 0.0 { 0 } else { LAYOUT.infinity() };
    let number = if magnitude < LIMIT { inside } else { beyond };
    f32::from_bits(if x.is_nan() { NAN } else { number })
}

/// log2(x), with an absolute resolution of 2^-36.
#[inline(always)]
pub(super) fn lg2(x: f32) -> f32 {
    const LAYOUT: Layout = Layout::F32;
    const ONE: u32 = 1.0f32.to_bits();
    let (sign, field, fraction) = LAYOUT.split(x.to_bits());
    let value = (i64::from(field - LAYOUT.bias) << 36) + (LG2.at_fraction(0, fraction) >> 2);
    // The hardware negates a negative value by its ones' complement: the magnitude is too low by one in the last place.
    let number = truncated(value ^ value >> 63, 36).to_bits() | (value >> 32) as u32 & SIGN;
    f32::from_bits(match x.to_bits() {
        ONE => 0,
        word if word == LAYOUT.infinity() => word,
        word if word & !SIGN > LAYOUT.infinity() => NAN,
        _ if field == 0 => SIGN | LAYOUT.infinity(),
        _ if sign != 0 => NAN,
        _ => number,
    })
}

/// Sine of an angle of `x` turns plus `quarters` quarter turns. The argument is converted to fixed point with 25 fraction bits, truncated.
#[inline(always)]
pub(super) fn sin_turns(x: f32, quarters: u32) -> f32 {
    let fixed = (x.abs().fract() * (1 << 25) as f32) as i32 as u32;
    let quadrant = (fixed >> 23) + quarters;
    let fraction = if quadrant & 1 == 0 { fixed } else { !fixed } & 0x7f_ffff;
    let value = SIN.at_fraction(0, fraction).min(1 << 37);
    let odd_sign = if quarters == 0 { x.to_bits() } else { 0 };
    let sign = (odd_sign ^ quadrant << 30) & SIGN;
    let number = sign | truncated(value, 37).to_bits();
    f32::from_bits(if x.is_finite() { number } else { NAN })
}

/// tanh(x). For tiny arguments, including subnormal ones, the result is the argument.
#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    const LAYOUT: Layout = Layout::F32;
    const LOWEST: i32 = LAYOUT.bias - 8;
    const ONE: u32 = 1.0f32.to_bits();
    let (sign, field, fraction) = LAYOUT.split(x.to_bits());
    let binade = (field - LOWEST).max(0) as usize;
    let (first, logarithm, fraction_bits) = TANH_BINADES[binade.min(TANH_BINADES.len() - 1)];
    let offset = (fraction >> (6 - logarithm)) & 0x1_ffff;
    let number = truncated(TANH.at(first + (fraction >> (23 - logarithm)), offset, offset), fraction_bits).to_bits();
    f32::from_bits(match x.to_bits() & !SIGN {
        magnitude if magnitude > LAYOUT.infinity() => NAN,
        magnitude if field < LOWEST => sign | magnitude,
        _ if binade >= TANH_BINADES.len() => sign | ONE,
        _ => sign | number,
    })
}

/// value * 2^-fraction_bits, truncated to 24 bits.
#[inline(always)]
fn truncated(value: i64, fraction_bits: u32) -> f32 {
    // An f64 holds the exact value; its low 29 bits are truncated.
    let significand = f64::from_bits((value as f64).to_bits() & !0x1fff_ffff);
    let scale = f64::from_bits(u64::from(1023 - fraction_bits) << 52);
    (significand * scale) as f32
}
