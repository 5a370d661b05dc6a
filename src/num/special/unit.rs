//! The special-function unit itself: functions of one argument by quadratic interpolation in a table.
//!
//! The unit has one interpolator with one squarer. A segment of a [`Curve`] and the remaining bits of the argument give a fixed-point
//! number, which is cut off to 24 bits, never rounded. Inside, only the square is inexact. Every function takes a subnormal argument for
//! a zero of the same sign and never gives a subnormal result, except [`tanh`].

use super::tables::{EX2, LG2, RCP, RSQ, SIN, SQRT, TANH, TANH_BINADES};

/// The NaN of every function.
const NAN: f32 = f32::from_bits(NAN_BITS);
const NAN_BITS: u32 = 0x7fff_ffff;

/// A table of segments: value = (c0 << shift) + bias + c1 * x + c2 * square(z), exactly, for rows `[c0, c1, c2]`.
pub(super) struct Curve<const N: usize> {
    pub(super) shift: u32,
    pub(super) bias: i64,
    pub(super) rows: [[i32; 3]; N],
}

impl<const N: usize> Curve<N> {
    /// The value for the offset `x` into the segment; `z` is what is squared, `x` with 17 bits.
    #[inline(always)]
    fn at(&self, segment: u32, x: u32, z: u32) -> u64 {
        let [c0, c1, c2] = self.rows[segment as usize % N].map(i64::from);
        ((c0 << self.shift) + self.bias + c1 * i64::from(x) + c2 * i64::from(square(z))) as u64
    }

    /// The value for 23 bits of argument of which the lower 17 are the offset, in the segments from `first` on.
    #[inline(always)]
    fn at_fraction(&self, first: u32, fraction: u32) -> u64 {
        let x = fraction & 0x1_ffff;
        self.at(first + (fraction >> 17), x, x)
    }
}

/// About z^2 / 2^19 for 17 bits: a folded squarer whose lowest columns are missing.
#[inline(always)]
fn square(z: u32) -> u32 {
    let (high, low) = (z >> 9, z & 0x1ff);
    let row = |j: u32| if high >> j & 1 != 0 { low >> (9 - j) } else { 0 };
    ((high * high) >> 1) + row(1) + row(2) + row(3) + row(4) + row(5) + row(6) + row(7)
}

/// Where a word of 32 bits has its exponent: an `f32`, or the upper word of an `f64`.
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
        (word & 0x8000_0000, ((word & 0x7fff_ffff) >> self.fraction) as i32, fraction)
    }

    /// The word with that exponent field, zero if it is not positive, and the low 23 bits of `fraction`.
    #[inline(always)]
    fn join(self, sign: u32, field: i32, fraction: u64) -> u32 {
        let magnitude = (field as u32) << self.fraction | (fraction as u32 & 0x7f_ffff) >> (23 - self.fraction);
        sign | if field > 0 { magnitude } else { 0 }
    }
}

/// 1 / x.
#[inline(always)]
pub(super) fn rcp(word: u32, layout: Layout) -> u32 {
    let (sign, field, fraction) = layout.split(word);
    let x = fraction & 0xffff;
    // 2^23 to 2^24; the latter for an exact power of two alone.
    let value = RCP.at(fraction >> 16, x, 2 * x) >> 15;
    let exponent = 2 * layout.bias - 1 - field + (value >> 24) as i32;
    match word & 0x7fff_ffff {
        magnitude if magnitude > layout.infinity() => NAN_BITS,
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
    // For an exact power of four the table would be one unit low.
    let power_of_four = odd == 0 && fraction == 0;
    let value = if power_of_four { 1 << 24 } else { RSQ.at_fraction(64 * odd, fraction) >> 16 };
    let exponent = layout.bias - 1 - half + (value >> 24) as i32;
    match word & 0x7fff_ffff {
        magnitude if magnitude > layout.infinity() => NAN_BITS,
        _ if field == 0 => sign | layout.infinity(),
        _ if sign != 0 => NAN_BITS,
        magnitude if magnitude == layout.infinity() => 0,
        _ => layout.join(0, exponent, value),
    }
}

/// sqrt(x); not the reciprocal of [`rsq`].
#[inline(always)]
pub(super) fn sqrt(x: f32) -> f32 {
    const LAYOUT: Layout = Layout::F32;
    let (sign, field, fraction) = LAYOUT.split(x.to_bits());
    let (half, odd) = halve_exponent(field, LAYOUT);
    let value = SQRT.at_fraction(64 * odd, fraction) >> 17;
    match field {
        0 if !x.is_nan() => f32::from_bits(sign),
        _ if x.is_nan() || sign != 0 => NAN,
        0xff => x,
        _ => f32::from_bits(LAYOUT.join(0, LAYOUT.bias + half, value)),
    }
}

/// Half the exponent, rounded down, and the remainder.
#[inline(always)]
fn halve_exponent(field: i32, layout: Layout) -> (i32, u32) {
    let exponent = field - layout.bias;
    (exponent >> 1, (exponent & 1) as u32)
}

/// 2^x. The argument is taken in fixed point with 23 fraction bits, cut off.
#[inline(always)]
pub(super) fn ex2(x: f32) -> f32 {
    const LAYOUT: Layout = Layout::F32;
    if x.is_nan() {
        return NAN;
    }
    let negative = x.is_sign_negative();
    if x.abs() >= 128.0 {
        return if negative { 0.0 } else { f32::INFINITY };
    }
    let fixed = fixed_point(x, 23) as u32;
    let (whole, fraction) = ((fixed >> 23) as i32, fixed & 0x7f_ffff);
    // A negative fraction is complemented, which leaves it one unit low.
    let (power, fraction) = match (negative, fraction) {
        (false, _) => (whole, fraction),
        (true, 0) => (-whole, 0),
        (true, _) => (-whole - 1, !fraction & 0x7f_ffff),
    };
    f32::from_bits(LAYOUT.join(0, LAYOUT.bias + power, EX2.at_fraction(0, fraction) >> 15))
}

/// log2(x), with an absolute resolution of 2^-36.
#[inline(always)]
pub(super) fn lg2(x: f32) -> f32 {
    let (sign, field, fraction) = Layout::F32.split(x.to_bits());
    if x.is_nan() {
        return NAN;
    }
    match field {
        0 => return f32::NEG_INFINITY,
        _ if sign != 0 => return NAN,
        0xff => return x,
        _ if x == 1.0 => return 0.0,
        _ => {}
    }
    let value = (i64::from(field - Layout::F32.bias) << 36) + (LG2.at_fraction(0, fraction) >> 2) as i64;
    // A negative value is complemented, which leaves its magnitude one unit low.
    let (sign, magnitude) = if value < 0 { (0x8000_0000, !value) } else { (0, value) };
    f32::from_bits(sign | cut_off(magnitude as u64, -36).to_bits())
}

/// Sine of `x` turns, or of `x` turns and `quarters` quarters. The argument is taken in fixed point with 25 fraction bits, cut off.
#[inline(always)]
pub(super) fn sin_turns(x: f32, quarters: u32) -> f32 {
    if !x.is_finite() {
        return NAN;
    }
    let fixed = fixed_point(x, 25) as u32 & 0x1ff_ffff;
    let quadrant = (fixed >> 23) + quarters;
    let fraction = if quadrant & 1 == 0 { fixed } else { !fixed } & 0x7f_ffff;
    let value = SIN.at_fraction(0, fraction).min(1 << 37);
    let odd_sign = if quarters == 0 { x.to_bits() } else { 0 };
    let sign = (odd_sign ^ quadrant << 30) & 0x8000_0000;
    f32::from_bits(sign | cut_off(value, -37).to_bits())
}

/// tanh(x). Tiny arguments, subnormals among them, come back as they are.
#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    const LOWEST: i32 = 127 - 8;
    let (sign, field, fraction) = Layout::F32.split(x.to_bits());
    if x.is_nan() {
        return NAN;
    }
    if field < LOWEST {
        return x;
    }
    let magnitude = match TANH_BINADES.get((field - LOWEST) as usize) {
        None => 1.0,
        Some(&(first, logarithm, unit)) => {
            let offset = (fraction >> (6 - logarithm)) & 0x1_ffff;
            cut_off(TANH.at(first as u32 + (fraction >> (23 - logarithm)), offset, offset), -unit)
        }
    };
    f32::from_bits(sign | magnitude.to_bits())
}

/// |x| with that many fraction bits, cut off. Bits from 2^32 on may be missing.
#[inline(always)]
fn fixed_point(x: f32, fraction_bits: i32) -> u64 {
    let (_, field, fraction) = Layout::F32.split(x.to_bits());
    let significand = u64::from(fraction | 0x80_0000);
    let shift = field - Layout::F32.bias - 23 + fraction_bits;
    match shift {
        0..=31 => significand << shift,
        -23..0 => significand >> -shift,
        _ => 0,
    }
}

/// value * 2^power, cut off to 24 bits.
#[inline(always)]
fn cut_off(value: u64, power: i32) -> f32 {
    let excess = (64 - value.leading_zeros()).saturating_sub(24);
    let scale = f32::from_bits(((power + Layout::F32.bias) as u32) << 23);
    (value >> excess << excess) as f32 * scale
}
