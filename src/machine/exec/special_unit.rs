//! The special-function unit on numbers of 32 bits. Each function has a separate loop outside of the dispatch of other operations;
//! otherwise the compiler would not vectorize functions of this size.

use super::operands::Lanes;
use crate::isa::{Factored, FloatBinary, FloatUnary};
use crate::machine::state::lanes::PerLane;
use crate::num::special;
use crate::program::{Dst, Src};

/// Applies a function of one operand; false, without effect, if it is none of the unit.
#[inline(always)]
#[rustfmt::skip]
#[expect(clippy::wildcard_enum_match_arm, reason = "`exec::float` handles all others")]
pub(super) fn unary(lanes: &mut Lanes<'_>, f: FloatUnary, ftz: bool, d: Dst, a: Src) -> bool {
    match f {
        FloatUnary::SqrtApprox => one(lanes, d, a, #[inline(always)] move |a| special::sqrt(a, ftz)),
        FloatUnary::RcpApproxKnown => one(lanes, d, a, #[inline(always)] move |a| special::rcp_of_constant(a, ftz)),
        FloatUnary::RcpApprox => one(lanes, d, a, #[inline(always)] move |a| special::rcp(a, ftz)),
        FloatUnary::RsqrtApprox => one(lanes, d, a, #[inline(always)] move |a| special::rsqrt(a, ftz)),
        FloatUnary::SinApprox => one(lanes, d, a, special::sin),
        FloatUnary::CosApprox => one(lanes, d, a, special::cos),
        FloatUnary::Lg2Approx => one(lanes, d, a, #[inline(always)] move |a| special::lg2(a, ftz)),
        FloatUnary::InverseEx2Approx => one(lanes, d, a, #[inline(always)] move |a: f32| special::ex2(-a, ftz)),
        FloatUnary::Ex2Approx => one(lanes, d, a, #[inline(always)] move |a| special::ex2(a, ftz)),
        FloatUnary::TanhApprox => one(lanes, d, a, special::tanh),
        _ => return false,
    }
    true
}

/// Applies a function of two operands; false, without effect, if it is none of the unit.
#[inline(always)]
#[rustfmt::skip]
#[expect(clippy::wildcard_enum_match_arm, reason = "`exec::float` handles all others")]
pub(super) fn binary(lanes: &mut Lanes<'_>, f: FloatBinary, ftz: bool, d: Dst, a: Src, b: Src) -> bool {
    match f {
        FloatBinary::DivApprox => two(lanes, d, a, b, #[inline(always)] move |a, b| special::div_approx(a, b, ftz)),
        FloatBinary::DivFull => two(lanes, d, a, b, #[inline(always)] move |a, b| special::div_full(a, b, ftz)),
        FloatBinary::DivApproxKnown => two(lanes, d, a, b, #[inline(always)] move |a, b| special::div_approx_by_constant(a, b, ftz)),
        FloatBinary::MulInverseEx2 => two(lanes, d, a, b, #[inline(always)] move |a, b| special::mul_inverse_ex2(a, b, ftz)),
        FloatBinary::DivFullKnown => two(lanes, d, a, b, #[inline(always)] move |a, b| special::div_full_by_constant(a, b, ftz)),
        _ => return false,
    }
    true
}

/// Writes the two factors of a quotient or reciprocal; false, without effect, if the factors are `a` and `b` themselves.
#[rustfmt::skip]
pub(super) fn factors(lanes: &mut Lanes<'_>, f: Factored, to: [Dst; 2], a: Src, b: Src) -> bool {
    use special::{Reciprocal, approx_factors, full_factors, rcp_factors};
    let from = |known: bool| if known { Reciprocal::Known } else { Reciprocal::Unit };
    match f {
        Factored::Mul | Factored::RcpOperand | Factored::Ex2Operand => return false,
        Factored::Quotient { full: false, known, ftz } => pair(lanes, to, a, b, |a, b| approx_factors(a, b, ftz, from(known))),
        Factored::Quotient { full: true, known, ftz } => pair(lanes, to, a, b, |a, b| full_factors(a, b, ftz, from(known))),
        Factored::Reciprocal => pair(lanes, to, b, b, |b, _| rcp_factors(b, Reciprocal::Unit)),
        Factored::MulInverseEx2 => pair(lanes, to, a, b, |a, b| [a, special::ex2(-b, true)]),
    }
    true
}

/// Writes two results of the same operands.
#[inline(always)]
fn pair(lanes: &mut Lanes<'_>, [first, second]: [Dst; 2], a: Src, b: Src, f: impl Fn(f32, f32) -> [f32; 2]) {
    two(lanes, first, a, b, |a, b| f(a, b)[0]);
    two(lanes, second, a, b, |a, b| f(a, b)[1]);
}

#[inline(always)]
fn one(lanes: &mut Lanes<'_>, d: Dst, a: Src, f: impl Fn(f32) -> f32) {
    let a = *lanes.get32(a);
    let out = pulp::Arch::new().dispatch(One { f, a: &a });
    lanes.put32(d, &out);
}

#[inline(always)]
fn two(lanes: &mut Lanes<'_>, d: Dst, a: Src, b: Src, f: impl Fn(f32, f32) -> f32) {
    let (a, b) = (*lanes.get32(a), *lanes.get32(b));
    let out = pulp::Arch::new().dispatch(Two { f, a: &a, b: &b });
    lanes.put32(d, &out);
}

/// A function and its operand. All results are computed before one is written, so that the loop can be vectorized.
struct One<'a, F> {
    f: F,
    a: &'a PerLane<u32>,
}

struct Two<'a, F> {
    f: F,
    a: &'a PerLane<u32>,
    b: &'a PerLane<u32>,
}

impl<F: Fn(f32) -> f32> pulp::WithSimd for One<'_, F> {
    type Output = PerLane<u32>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> PerLane<u32> {
        let mut out = [0; 32];
        for lane in 0..32 {
            out[lane] = (self.f)(f32::from_bits(self.a[lane])).to_bits();
        }
        out
    }
}

impl<F: Fn(f32, f32) -> f32> pulp::WithSimd for Two<'_, F> {
    type Output = PerLane<u32>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> PerLane<u32> {
        let mut out = [0; 32];
        for lane in 0..32 {
            out[lane] = (self.f)(f32::from_bits(self.a[lane]), f32::from_bits(self.b[lane])).to_bits();
        }
        out
    }
}
