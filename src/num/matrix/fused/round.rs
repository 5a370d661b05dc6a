//! The encoding of an exact sum.

use crate::num::half::F16;

/// The nearest `f16`. What rounds to zero has no sign.
#[inline(always)]
pub fn half(value: f64) -> u32 {
    /// Half of the smallest number, which rounds to zero.
    const HALF_OF_SMALLEST: f64 = f64::from_bits((1023 - 25) << 52);
    let kept = if value.abs() > HALF_OF_SMALLEST { 0xffff } else { 0x7fff };
    u32::from(F16::from_f64(value).0) & kept
}

/// The `f32` of `fraction` fraction bits next to a value that is not [tiny](is_tiny), towards zero; infinity from 2^128 on.
#[inline(always)]
pub fn truncated(value: f64, fraction: u32) -> u32 {
    (f64::from_bits(value.to_bits() & (u64::MAX << (52 - fraction))) as f32).to_bits()
}

/// Whether a value is below the normal numbers of `f32`, and not zero.
#[inline(always)]
pub fn is_tiny(value: f64) -> bool {
    (value.abs() < f64::from(f32::MIN_POSITIVE)) & (value != 0.0)
}

/// The subnormal `f32` next to a tiny value, towards zero. A zero has no sign.
pub fn subnormal(value: f64) -> u32 {
    // 2^149: the last place becomes the unit.
    const UNITS: f64 = f64::from_bits((1023 + 149) << 52);
    let sign = (value.to_bits() >> 32) as u32 & 0x8000_0000;
    match (value.abs() * UNITS) as u32 {
        0 => 0,
        bits => sign | bits,
    }
}
