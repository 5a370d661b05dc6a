//! The 16-bit floating-point types.
//!
//! Their arithmetic is done in `f64`, whose results can be rounded again without a double rounding error. The exception is the sum of a
//! `bf16` product and a much smaller number, which is rounded to odd first.

use super::Mode;
use super::exact::Format;
use super::float::{self, Float};
use std::cmp::Ordering;

/// IEEE binary16 (`.f16`).
#[derive(Clone, Copy, Debug, Default)]
pub struct F16(pub u16);

/// The upper half of an `f32` (`.bf16`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Bf16(pub u16);

impl F16 {
    /// The same number; a NaN becomes a NaN of any payload.
    #[inline(always)]
    pub fn to_f32(self) -> f32 {
        const SCALE: f32 = f32::from_bits((127 + 112) << 23);
        let magnitude = u32::from(self.0 & 0x7fff) << 13;
        // The exponent is too small by the difference of the biases, for subnormals as well.
        let scaled = (f32::from_bits(magnitude) * SCALE).to_bits();
        let special = if magnitude >= 0x7c00 << 13 { 0x7f80_0000 } else { 0 };
        f32::from_bits(scaled | special | u32::from(self.0 & 0x8000) << 16)
    }

    /// The nearest number, ties to even; a NaN becomes the canonical one.
    #[inline(always)]
    pub fn from_f64(x: f64) -> F16 {
        F16(narrow(x, &Format::F16))
    }
}

impl Bf16 {
    /// The same number; a NaN stays the same NaN.
    #[inline(always)]
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    /// The nearest number, ties to even; a NaN becomes the canonical one.
    #[inline(always)]
    pub fn from_f64(x: f64) -> Bf16 {
        Bf16(narrow(x, &Format::BF16))
    }
}

/// Rounds to nearest even by adding a number whose last bit is the last place of the result. There are no conversions to integers, so
/// that the compiler can vectorize a loop over it.
#[inline(always)]
fn narrow(x: f64, format: &Format) -> u16 {
    const BIAS: i32 = 1023;
    const OVERFLOW: f64 = f64::from_bits(((BIAS + 130) as u64) << 52);
    let power_of_two = |power: i32| f64::from_bits(((power + BIAS) as u64) << 52);
    // NaN and numbers that are far too large are replaced by a number that overflows.
    let magnitude = if x.abs() < OVERFLOW { x.abs() } else { OVERFLOW };
    let leading = (magnitude.to_bits() >> 52) as i32 - BIAS;
    let lowest = format.lowest_power();
    let last = (leading - format.fraction as i32).max(lowest);
    let magic = 1.5 * power_of_two(last + 52);
    let units = (magnitude + magic).to_bits().wrapping_sub(magic.to_bits()) as i32;
    let bits = (((last - lowest) << format.fraction) + units).min(format.largest as i32 + 1) as u16;
    let sign = ((x.to_bits() >> 48) & 0x8000) as u16;
    if x.is_nan() { format.nan as u16 } else { bits | sign }
}

/// `fma.oob`: zero if `a` or `b` is the NaN 0x7ff7 of either sign, with which tensor copies fill elements that are out of bounds.
#[inline(always)]
pub fn fma_oob<F: Float>(a: F, b: F, c: F, mode: Mode) -> F {
    let is_out_of_bounds = |x: F| x.word() & 0x7fff == 0x7ff7;
    if is_out_of_bounds(a) || is_out_of_bounds(b) { F::ZERO } else { float::fma(a, b, c, mode) }
}

/// a + b rounded to odd: the last bit of an inexact sum is one, which prevents double rounding.
#[inline(always)]
fn add_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let too_far = (error < 0.0) != (sum < 0.0);
    let odd = f64::from_bits((sum.to_bits() - u64::from(too_far)) | 1);
    if error.abs() > 0.0 { odd } else { sum }
}

/// Implements the traits of a 16-bit type.
macro_rules! half {
    ($t:ident, $format:expr, $one:expr) => {
        impl PartialEq for $t {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $t {
            #[inline(always)]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl Float for $t {
            const FORMAT: Format = $format;
            const ZERO: $t = $t(0);
            const ONE: $t = $t($one);

            #[inline(always)]
            fn from_word(word: u64) -> $t {
                $t(word as u16)
            }
            #[inline(always)]
            fn word(self) -> u64 {
                u64::from(self.0)
            }
            #[inline(always)]
            fn nearest_add(self, b: $t) -> $t {
                $t::from_f64(f64::from(self.to_f32()) + f64::from(b.to_f32()))
            }
            #[inline(always)]
            fn nearest_mul(self, b: $t) -> $t {
                $t::from_f64(f64::from(self.to_f32()) * f64::from(b.to_f32()))
            }
            #[inline(always)]
            fn nearest_fma(self, b: $t, c: $t) -> $t {
                let product = f64::from(self.to_f32()) * f64::from(b.to_f32());
                $t::from_f64(add_to_odd(product, f64::from(c.to_f32())))
            }
            #[inline(always)]
            fn nan_from(_: $t, _: $t, _: $t) -> $t {
                $t(Self::FORMAT.nan as u16)
            }
            #[inline(always)]
            fn flip_sign(self) -> $t {
                $t(self.0 ^ 0x8000)
            }
            #[inline(always)]
            fn with_sign(self, sign: $t) -> $t {
                $t(self.0 & 0x7fff | sign.0 & 0x8000)
            }
            #[inline(always)]
            fn sign_bit(self) -> bool {
                self.0 >> 15 != 0
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self.0 & 0x7fff > $format.largest as u16 + 1
            }
            #[inline(always)]
            fn flush(self) -> $t {
                const EXPONENT: u16 = $format.largest as u16 + 1;
                $t(if self.0 & EXPONENT == 0 { self.0 & 0x8000 } else { self.0 })
            }
        }
    };
}

half!(F16, Format::F16, 0x3c00);
half!(Bf16, Format::BF16, 0x3f80);
