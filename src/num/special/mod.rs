//! The approximate functions (PTX ISA, `.approx` and `div.full` forms), bit for bit as an H200 computes them.
//!
//! [`mod@unit`] is the special-function unit. The instructions are short sequences around it, as ptxas 13.0 generates them for sm_90:
//! without `.ftz` a subnormal argument is scaled into the normal range and the result scaled back.
//!
//! Every form was compared with the hardware over all 2^32 arguments: 64-bit forms over all upper 32-bit halves, quotients over 2^32 pairs.
//! `benches/sweep.rs` repeats the comparison. Targets other than sm_90 use the same functions.
//!
//! Except for the refined `rsqrt.approx.f64` there are no branches: every alternative is computed and one is selected, so that the
//! compiler can vectorize a loop over lanes.

mod tables;
mod unit;

use super::exact::Format;
use super::float::{self, Float};
use super::{Bf16, F16, Mode};
use unit::Layout;

/// The smallest normal `f32`.
const SMALLEST: f32 = f32::MIN_POSITIVE;
const TWO_POW_24: f32 = 16_777_216.0;
/// The reciprocal of a number above it is subnormal.
const LARGE: f32 = f32::from_bits((127 + 126) << 23);

/// `rcp.approx.f32`.
#[inline(always)]
pub fn rcp(x: f32, ftz: bool) -> f32 {
    if ftz {
        return unit_rcp(x);
    }
    product(rcp_factors(x, Reciprocal::Unit), false)
}

/// `rcp.approx.f32` of a constant, which ptxas folds.
#[inline(always)]
pub fn rcp_of_constant(x: f32, ftz: bool) -> f32 {
    if ftz { folded_rcp(x) } else { product(rcp_factors(x, Reciprocal::Known), false) }
}

/// The origin of a reciprocal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reciprocal {
    /// The special-function unit.
    Unit,
    /// ptxas, which folds the reciprocal of a constant and rounds it to nearest.
    Known,
}

/// The scale and the reciprocal of the scaled operand, whose product is `rcp.approx.f32` without `.ftz`.
#[inline(always)]
pub fn rcp_factors(x: f32, from: Reciprocal) -> [f32; 2] {
    let scale = if x.abs() < SMALLEST {
        TWO_POW_24
    } else if x.abs() > LARGE {
        0.25
    } else {
        1.0
    };
    [scale, reciprocal(mul(x, scale, false), from)]
}

/// `sqrt.approx.f32`.
#[inline(always)]
pub fn sqrt(x: f32, ftz: bool) -> f32 {
    let tiny = !ftz && x.abs() < SMALLEST;
    let root = unit::sqrt(if tiny { x * TWO_POW_24 } else { x });
    if tiny { mul(root, 1.0 / 4096.0, false) } else { root }
}

/// `rsqrt.approx.f32`.
#[inline(always)]
pub fn rsqrt(x: f32, ftz: bool) -> f32 {
    let tiny = !ftz && x.abs() < SMALLEST;
    let x = if tiny { x * TWO_POW_24 } else { x };
    let root = f32::from_bits(unit::rsq(x.to_bits(), Layout::F32));
    if tiny { mul(root, 4096.0, false) } else { root }
}

/// `ex2.approx.f32`.
#[inline(always)]
pub fn ex2(x: f32, ftz: bool) -> f32 {
    let halved = !ftz && x < -126.0;
    let power = unit::ex2(if halved { x * 0.5 } else { x });
    if halved { power * power } else { power }
}

/// `lg2.approx.f32`.
#[inline(always)]
pub fn lg2(x: f32, ftz: bool) -> f32 {
    let tiny = !ftz && x.abs() < SMALLEST;
    let logarithm = unit::lg2(if tiny { x * TWO_POW_24 } else { x });
    if tiny { float::add(logarithm, -24.0, Mode::default()) } else { logarithm }
}

/// `sin.approx.f32`, with `.ftz` or without.
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    unit::sin_turns(turns(x), 0)
}

/// `cos.approx.f32`, with `.ftz` or without.
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    unit::sin_turns(turns(x), 1)
}

/// x / 2pi, an angle in turns, truncated to an `f32`; 1 / 2pi is an `f32` constant.
#[inline(always)]
fn turns(x: f32) -> f32 {
    const INVERSE: f32 = f32::from_bits(0x3e22_f983);
    // An f64 holds the exact product; its low 29 bits are truncated.
    let product = f64::from(x) * f64::from(INVERSE);
    f64::from_bits(product.to_bits() & !0x1fff_ffff) as f32
}

/// `tanh.approx.f32`.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    unit::tanh(x)
}

/// `div.approx.f32`: zero, or NaN for an infinite dividend, if |b| > 2^126.
#[inline(always)]
pub fn div_approx(a: f32, b: f32, ftz: bool) -> f32 {
    product(approx_factors(a, b, ftz, Reciprocal::Unit), ftz)
}

/// `div.approx.f32` by a constant, whose reciprocal ptxas folds.
#[inline(always)]
pub fn div_approx_by_constant(a: f32, b: f32, ftz: bool) -> f32 {
    product(approx_factors(a, b, ftz, Reciprocal::Known), ftz)
}

/// The scaled dividend and the reciprocal of the scaled divisor, whose product is `div.approx.f32`.
#[inline(always)]
pub fn approx_factors(a: f32, b: f32, ftz: bool, from: Reciprocal) -> [f32; 2] {
    let tiny = !ftz && b.abs() < SMALLEST;
    let scale = if tiny { TWO_POW_24 } else { 1.0 };
    [a * scale, reciprocal(b * scale, from)]
}

/// `div.full.f32`.
#[inline(always)]
pub fn div_full(a: f32, b: f32, ftz: bool) -> f32 {
    product(full_factors(a, b, ftz, Reciprocal::Unit), ftz)
}

/// `div.full.f32` by a constant, whose reciprocal ptxas folds.
#[inline(always)]
pub fn div_full_by_constant(a: f32, b: f32, ftz: bool) -> f32 {
    product(full_factors(a, b, ftz, Reciprocal::Known), ftz)
}

/// The scaled dividend and the reciprocal of the scaled divisor, whose product is `div.full.f32`.
#[inline(always)]
pub fn full_factors(a: f32, b: f32, ftz: bool, from: Reciprocal) -> [f32; 2] {
    let scale = if b.abs() > LARGE {
        0.25
    } else if !ftz && b.abs() < SMALLEST {
        TWO_POW_24
    } else {
        1.0
    };
    [mul(a, scale, ftz), reciprocal(mul(b, scale, ftz), from)]
}

/// a * 2^-b: ptxas combines `ex2.approx.ftz.f32` and `div.approx.ftz.f32` into it.
#[inline(always)]
pub fn mul_inverse_ex2(a: f32, b: f32, ftz: bool) -> f32 {
    mul(a, ex2(-b, true), ftz)
}

/// `rcp.approx.ftz.f64`: computed from the upper 32 bits of `x`; the lower 32 bits of the result are zero.
#[inline(always)]
pub fn rcp_f64(x: f64) -> f64 {
    from_high_word(unit::rcp(high_word(x), Layout::F64_HIGH))
}

/// `rsqrt.approx.f64`. With `.ftz` it is computed from the upper 32 bits of `x`, and the lower 32 bits of the result are zero; without,
/// that estimate is refined.
#[inline(always)]
pub fn rsqrt_f64(x: f64, ftz: bool) -> f64 {
    let estimate = |x: f64| from_high_word(unit::rsq(high_word(x), Layout::F64_HIGH));
    if ftz || x == 0.0 || x == f64::INFINITY {
        return estimate(x);
    }
    if x.is_nan() || x < 0.0 {
        return f64::nan_from(x, x, x);
    }
    const TWO_POW_54: f64 = 18_014_398_509_481_984.0;
    if x < f64::MIN_POSITIVE {
        return refine(x * TWO_POW_54, estimate(x * TWO_POW_54)) * 134_217_728.0;
    }
    refine(x, estimate(x))
}

/// Refines the estimate `y` of 1 / sqrt(x) by one iteration.
#[inline(always)]
fn refine(x: f64, y: f64) -> f64 {
    let error = x.mul_add(-(y * y), 1.0);
    error.mul_add(0.375, 0.5).mul_add(y * error, y)
}

/// `ex2.approx.f16`; subnormal numbers are not flushed.
#[inline(always)]
pub fn ex2_f16(x: F16) -> F16 {
    truncate_to_f16(unit::ex2(x.to_f32()))
}

/// `tanh.approx.f16`.
#[inline(always)]
pub fn tanh_f16(x: F16) -> F16 {
    truncate_to_f16(unit::tanh(x.to_f32()))
}

/// `ex2.approx.ftz.bf16`.
#[inline(always)]
pub fn ex2_bf16(x: Bf16) -> Bf16 {
    truncate_to_bf16(unit::ex2(x.to_f32()))
}

/// `tanh.approx.bf16`.
#[inline(always)]
pub fn tanh_bf16(x: Bf16) -> Bf16 {
    truncate_to_bf16(unit::tanh(x.to_f32()))
}

/// Rounds towards zero; numbers that are too large become infinite.
#[inline(always)]
fn truncate_to_f16(x: f32) -> F16 {
    const TOO_LARGE: f32 = 65_536.0;
    const SMALLEST: f32 = 1.0 / 16_384.0;
    let magnitude = x.abs();
    let number = if magnitude >= TOO_LARGE {
        0x7c00
    } else if magnitude < SMALLEST {
        // In units of the lowest subnormal.
        (magnitude * TWO_POW_24) as u32
    } else {
        magnitude.to_bits().wrapping_sub((127 - 15) << 23) >> 13
    };
    let sign = x.to_bits() >> 16 & 0x8000;
    F16(if x.is_nan() { Format::F16.nan as u16 } else { (sign | number) as u16 })
}

#[inline(always)]
fn truncate_to_bf16(x: f32) -> Bf16 {
    if x.is_nan() { Bf16(Format::BF16.nan as u16) } else { Bf16((x.to_bits() >> 16) as u16) }
}

#[inline(always)]
fn product([a, b]: [f32; 2], ftz: bool) -> f32 {
    mul(a, b, ftz)
}

#[inline(always)]
fn reciprocal(x: f32, from: Reciprocal) -> f32 {
    match from {
        Reciprocal::Unit => unit_rcp(x),
        Reciprocal::Known => folded_rcp(x),
    }
}

/// 1 / x to nearest; subnormal numbers are flushed, as in the special-function unit.
#[inline(always)]
fn folded_rcp(x: f32) -> f32 {
    float::rcp(x, Mode { ftz: true, ..Mode::default() })
}

#[inline(always)]
fn unit_rcp(x: f32) -> f32 {
    f32::from_bits(unit::rcp(x.to_bits(), Layout::F32))
}

#[inline(always)]
fn mul(a: f32, b: f32, ftz: bool) -> f32 {
    float::mul(a, b, Mode { ftz, ..Mode::default() })
}

#[inline(always)]
fn high_word(x: f64) -> u32 {
    (x.to_bits() >> 32) as u32
}

#[inline(always)]
fn from_high_word(word: u32) -> f64 {
    f64::from_bits(u64::from(word) << 32)
}
