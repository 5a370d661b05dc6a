//! The encoding of an exact sum.

use crate::num::half::F16;

/// The nearest `f16`. A value that rounds to zero becomes +0.
#[inline(always)]
pub fn half(value: f64) -> u32 {
    /// Half of the smallest positive `f16`: values up to it round to zero.
    const HALF_OF_SMALLEST: f64 = f64::from_bits((1023 - 25) << 52);
    let mask = if value.abs() > HALF_OF_SMALLEST { 0xffff } else { 0x7fff };
    u32::from(F16::from_f64(value).0) & mask
}

/// A value that is not [tiny](is_tiny), truncated to an `f32` with `fraction` fraction bits; infinity from 2^128.
#[inline(always)]
pub fn truncated(value: f64, fraction: u32) -> u32 {
    (f64::from_bits(value.to_bits() & (u64::MAX << (52 - fraction))) as f32).to_bits()
}

/// True if a value is below the normal numbers of `f32`, and not zero.
#[inline(always)]
pub fn is_tiny(value: f64) -> bool {
    (value.abs() < f64::from(f32::MIN_POSITIVE)) & (value != 0.0)
}

/// A tiny value truncated to a subnormal `f32`. A value that becomes zero becomes +0.
pub fn subnormal(value: f64) -> u32 {
    // 2^149: scales the smallest subnormal to 1.
    const UNITS: f64 = f64::from_bits((1023 + 149) << 52);
    let sign = (value.to_bits() >> 32) as u32 & 0x8000_0000;
    match (value.abs() * UNITS) as u32 {
        0 => 0,
        bits => sign | bits,
    }
}
