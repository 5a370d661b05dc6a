//! Floating-point arithmetic (PTX ISA, "Floating Point Instructions").
//!
//! The modifiers that are common in inner loops (nearest, with and without `.ftz`) are constants in separate loops, which the compiler
//! vectorizes; the others share one loop per function. `special_unit` has the functions of the special-function unit.

use super::operands::{Lane, Lanes};
use super::{half, special_unit};
use crate::isa::{Factored, FloatBinary, FloatTernary, FloatType, FloatUnary};
use crate::machine::exec::warp_run::LaneOperation;
use crate::machine::numeric::{extremum_of, is_packed};
use crate::num::float::{self, Divide, Float};
use crate::num::{Bf16, F16, Mode, Rounding, special};
use crate::program::{Dst, FloatOp, Src};

/// Floating-point arithmetic.
pub(super) struct FloatingPoint;

impl LaneOperation for FloatingPoint {
    type Op = FloatOp;

    #[inline(always)]
    fn execute(lanes: &mut Lanes<'_>, op: &FloatOp) {
        match *op {
            FloatOp::Unary { f, ty, mode, d, a } => match ty {
                FloatType::F32 => unary_f32(lanes, f, mode.modifiers, d, a),
                FloatType::F64 => unary_f64(lanes, f, mode.modifiers, d, a),
                FloatType::F16 | FloatType::F16x2 => half::unary::<F16>(lanes, is_packed(ty), f, mode.modifiers, d, a),
                FloatType::BF16 | FloatType::BF16x2 => half::unary::<Bf16>(lanes, is_packed(ty), f, mode.modifiers, d, a),
            },
            FloatOp::Binary { f, ty, mode, d, a, b } => binary_any(lanes, f, ty, mode.modifiers, d, [a, b]),
            FloatOp::Ternary { f, ty, mode, d, a, b, c } => match ty {
                FloatType::F32 => ternary_f32(lanes, f, mode.modifiers, d, [a, b, c]),
                FloatType::F64 => ternary::<f64>(lanes, f, mode.modifiers, d, [a, b, c]),
                FloatType::F16 | FloatType::F16x2 => half::ternary::<F16>(lanes, is_packed(ty), f, mode.modifiers, d, [a, b, c]),
                FloatType::BF16 | FloatType::BF16x2 => half::ternary::<Bf16>(lanes, is_packed(ty), f, mode.modifiers, d, [a, b, c]),
            },
            FloatOp::ProductWithFactors { f, ty, mode, d, a, b, factors } => {
                // Factors are copied first, since the product may overwrite one.
                let factors = [factors, Dst(factors.0.offset(1))];
                if !special_unit::factors(lanes, f, factors, a, b) {
                    copy_factor(lanes, ty, factors[0], a);
                    copy_factor(lanes, ty, factors[1], b);
                }
                let [a, b] = factors.map(|factor| Src::reg(factor.0));
                match f {
                    Factored::RcpOperand => unary_f32(lanes, FloatUnary::RcpApprox, mode.modifiers, d, b),
                    Factored::Ex2Operand => unary_f32(lanes, FloatUnary::Ex2Approx, mode.modifiers, d, b),
                    Factored::Mul | Factored::Quotient { .. } | Factored::Reciprocal | Factored::MulInverseEx2 => {
                        binary_any(lanes, FloatBinary::Mul, ty, mode.modifiers, d, [a, b]);
                    }
                }
            }
            FloatOp::TestProperty { f, ty, p, a } => {
                let bits = match ty {
                    FloatType::F64 => lanes.test1(a, |a: f64| float::test(a, f)),
                    FloatType::F32 | FloatType::F16 | FloatType::F16x2 | FloatType::BF16 | FloatType::BF16x2 => {
                        lanes.test1(a, |a: f32| float::test(a, f))
                    }
                };
                lanes.put_pred(p, bits);
            }
        }
    }
}

#[inline(always)]
fn binary_any(lanes: &mut Lanes<'_>, f: FloatBinary, ty: FloatType, mode: Mode, d: Dst, [a, b]: [Src; 2]) {
    match ty {
        FloatType::F32 => binary_f32(lanes, f, mode, d, a, b),
        FloatType::F64 => binary::<f64>(lanes, f, mode, d, a, b),
        FloatType::F16 | FloatType::F16x2 => half::binary::<F16>(lanes, is_packed(ty), f, mode, d, a, b),
        FloatType::BF16 | FloatType::BF16x2 => half::binary::<Bf16>(lanes, is_packed(ty), f, mode, d, a, b),
    }
}

/// Copies a factor unchanged.
fn copy_factor(lanes: &mut Lanes<'_>, ty: FloatType, d: Dst, factor: Src) {
    if ty == FloatType::F64 {
        let value = *lanes.get64(factor);
        lanes.put64(d, &value);
    } else {
        let value = *lanes.get32(factor);
        lanes.put32(d, &value);
    }
}

const PLAIN: Mode = Mode { rounding: Rounding::Nearest, ftz: false, sat: false };
const FLUSH: Mode = Mode { rounding: Rounding::Nearest, ftz: true, sat: false };

#[inline(always)]
fn ternary_f32(lanes: &mut Lanes<'_>, f: FloatTernary, mode: Mode, d: Dst, [a, b, c]: [Src; 3]) {
    match f {
        FloatTernary::MulScaleUp => lanes.map3(d, a, b, c, |a: f32, b: f32, c: f32| float::mul_scaled(a, b, f64::from(c), mode)),
        FloatTernary::MulScaleDown => lanes.map3(d, a, b, c, |a: f32, b: f32, c: f32| float::mul_scaled(a, b, 1.0 / f64::from(c), mode)),
        FloatTernary::Fma
        | FloatTernary::FmaRelu
        | FloatTernary::FmaOob
        | FloatTernary::FmaOobRelu
        | FloatTernary::MulSub
        | FloatTernary::NegMulAdd
        | FloatTernary::NegMulSub => ternary::<f32>(lanes, f, mode, d, [a, b, c]),
    }
}

#[inline(always)]
fn ternary<T: Lane + Float>(lanes: &mut Lanes<'_>, f: FloatTernary, mode: Mode, d: Dst, [a, b, c]: [Src; 3]) {
    match f {
        FloatTernary::MulSub => lanes.map3(d, a, b, c, |a: T, b: T, c: T| float::mul_sub(a, b, c, mode)),
        FloatTernary::NegMulAdd => lanes.map3(d, a, b, c, |a: T, b: T, c: T| float::neg_mul_add(a, b, c, mode)),
        FloatTernary::NegMulSub => lanes.map3(d, a, b, c, |a: T, b: T, c: T| float::neg_mul_sub(a, b, c, mode)),
        FloatTernary::Fma | FloatTernary::FmaRelu | FloatTernary::FmaOob | FloatTernary::FmaOobRelu => fma::<T>(lanes, mode, d, [a, b, c]),
        FloatTernary::MulScaleUp | FloatTernary::MulScaleDown => unreachable!("scaling is of f32 only"),
    }
}

#[inline(always)]
fn fma<T: Lane + Float>(lanes: &mut Lanes<'_>, mode: Mode, d: Dst, [a, b, c]: [Src; 3]) {
    match mode {
        PLAIN => lanes.map3(d, a, b, c, |a: T, b: T, c: T| float::fma(a, b, c, PLAIN)),
        FLUSH => lanes.map3(d, a, b, c, |a: T, b: T, c: T| float::fma(a, b, c, FLUSH)),
        mode => lanes.map3(d, a, b, c, |a: T, b: T, c: T| float::fma(a, b, c, mode)),
    }
}

#[inline(always)]
fn binary<T: Lane + Divide>(lanes: &mut Lanes<'_>, f: FloatBinary, mode: Mode, d: Dst, a: Src, b: Src) {
    match (f, mode) {
        (FloatBinary::Add, PLAIN) => lanes.map2(d, a, b, |a: T, b: T| float::add(a, b, PLAIN)),
        (FloatBinary::Add, FLUSH) => lanes.map2(d, a, b, |a: T, b: T| float::add(a, b, FLUSH)),
        (FloatBinary::Add, mode) => lanes.map2(d, a, b, |a: T, b: T| float::add(a, b, mode)),
        (FloatBinary::Sub, PLAIN) => lanes.map2(d, a, b, |a: T, b: T| float::sub(a, b, PLAIN)),
        (FloatBinary::Sub, FLUSH) => lanes.map2(d, a, b, |a: T, b: T| float::sub(a, b, FLUSH)),
        (FloatBinary::Sub, mode) => lanes.map2(d, a, b, |a: T, b: T| float::sub(a, b, mode)),
        (FloatBinary::Mul, PLAIN) => lanes.map2(d, a, b, |a: T, b: T| float::mul(a, b, PLAIN)),
        (FloatBinary::Mul, FLUSH) => lanes.map2(d, a, b, |a: T, b: T| float::mul(a, b, FLUSH)),
        (FloatBinary::Mul, mode) => lanes.map2(d, a, b, |a: T, b: T| float::mul(a, b, mode)),
        (FloatBinary::Div, PLAIN) => lanes.map2(d, a, b, |a: T, b: T| float::div(a, b, PLAIN)),
        (FloatBinary::Div, mode) => lanes.map2(d, a, b, |a: T, b: T| float::div(a, b, mode)),
        (FloatBinary::Copysign, _) => lanes.map2(d, a, b, |a: T, b: T| float::copysign(a, b)),
        (
            FloatBinary::DivApprox
            | FloatBinary::DivFull
            | FloatBinary::DivApproxKnown
            | FloatBinary::DivFullKnown
            | FloatBinary::MulInverseEx2,
            _,
        ) => unreachable!("approximate division is of f32 only"),
        (extremum, mode) => extremes::<T>(lanes, extremum, mode.ftz, d, a, b),
    }
}

#[inline(always)]
fn extremes<T: Lane + Float>(lanes: &mut Lanes<'_>, f: FloatBinary, ftz: bool, d: Dst, a: Src, b: Src) {
    use FloatBinary::{Min, MinNan, MinNanXorSign, MinXorSign};
    let extremum = extremum_of(f, ftz);
    if matches!(f, Min | MinNan | MinXorSign | MinNanXorSign) {
        lanes.map2(d, a, b, |a: T, b: T| float::min(a, b, extremum));
    } else {
        lanes.map2(d, a, b, |a: T, b: T| float::max(a, b, extremum));
    }
}

#[inline(always)]
fn binary_f32(lanes: &mut Lanes<'_>, f: FloatBinary, mode: Mode, d: Dst, a: Src, b: Src) {
    if !special_unit::binary(lanes, f, mode.ftz, d, a, b) {
        binary::<f32>(lanes, f, mode, d, a, b);
    }
}

#[inline(always)]
fn unary<T: Lane + Divide>(lanes: &mut Lanes<'_>, f: FloatUnary, mode: Mode, d: Dst, a: Src) {
    match f {
        FloatUnary::Neg => lanes.map1(d, a, |a: T| float::neg(a, mode)),
        FloatUnary::Abs => lanes.map1(d, a, |a: T| float::abs(a, mode)),
        FloatUnary::Sqrt if mode == PLAIN => lanes.map1(d, a, |a: T| float::sqrt(a, PLAIN)),
        FloatUnary::Sqrt => lanes.map1(d, a, |a: T| float::sqrt(a, mode)),
        FloatUnary::Rcp if mode == PLAIN => lanes.map1(d, a, |a: T| float::rcp(a, PLAIN)),
        FloatUnary::Rcp => lanes.map1(d, a, |a: T| float::rcp(a, mode)),
        FloatUnary::SqrtApprox
        | FloatUnary::RcpApprox
        | FloatUnary::RsqrtApprox
        | FloatUnary::SinApprox
        | FloatUnary::CosApprox
        | FloatUnary::Lg2Approx
        | FloatUnary::Ex2Approx
        | FloatUnary::TanhApprox
        | FloatUnary::RcpApproxKnown
        | FloatUnary::InverseEx2Approx => unreachable!("{f:?} is not of every type"),
    }
}

#[inline(always)]
fn unary_f32(lanes: &mut Lanes<'_>, f: FloatUnary, mode: Mode, d: Dst, a: Src) {
    if !special_unit::unary(lanes, f, mode.ftz, d, a) {
        unary::<f32>(lanes, f, mode, d, a);
    }
}

#[rustfmt::skip]
#[inline(always)]
fn unary_f64(lanes: &mut Lanes<'_>, f: FloatUnary, mode: Mode, d: Dst, a: Src) {
    match f {
        FloatUnary::RcpApprox => lanes.map1(d, a, #[inline(always)] |a: f64| special::rcp_f64(a)),
        FloatUnary::RsqrtApprox => lanes.map1(d, a, #[inline(always)] |a: f64| special::rsqrt_f64(a, mode.ftz)),
        FloatUnary::Neg | FloatUnary::Abs | FloatUnary::Sqrt | FloatUnary::Rcp | FloatUnary::SqrtApprox | FloatUnary::SinApprox
        | FloatUnary::CosApprox | FloatUnary::Lg2Approx | FloatUnary::Ex2Approx | FloatUnary::TanhApprox | FloatUnary::RcpApproxKnown
        | FloatUnary::InverseEx2Approx => unary::<f64>(lanes, f, mode, d, a),
    }
}
