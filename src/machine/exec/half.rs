//! Arithmetic and comparison of half precision, of one or two numbers per register (PTX ISA, "Half Precision Floating Point Instructions",
//! "Half Precision Comparison Instructions").

use super::operands::Lanes;
use crate::isa::{Compare, FloatBinary, FloatTernary, FloatUnary};
use crate::machine::numeric::extremum_of;
use crate::machine::state::lanes::LaneMask;
use crate::num::compare::holds;
use crate::num::float::{self, Float};
use crate::num::half::fma_oob;
use crate::num::{Bf16, F16, Mode, special};
use crate::program::{Dst, Src};

/// A 16-bit type with its functions of the special-function unit.
pub(super) trait Half: Float {
    fn ex2(self) -> Self;
    fn tanh(self) -> Self;
}

impl Half for F16 {
    fn ex2(self) -> Self {
        special::ex2_f16(self)
    }
    fn tanh(self) -> Self {
        special::tanh_f16(self)
    }
}

impl Half for Bf16 {
    fn ex2(self) -> Self {
        special::ex2_bf16(self)
    }
    fn tanh(self) -> Self {
        special::tanh_bf16(self)
    }
}

/// A function of one operand, of both halves or of the lower one alone.
pub(super) fn unary<H: Half>(lanes: &mut Lanes<'_>, packed: bool, f: FloatUnary, mode: Mode, d: Dst, a: Src) {
    let apply = |a: H| match f {
        FloatUnary::Neg => float::neg(a, mode),
        FloatUnary::Abs => float::abs(a, mode),
        FloatUnary::Ex2Approx => a.ex2(),
        FloatUnary::TanhApprox => H::tanh(a),
        FloatUnary::Sqrt
        | FloatUnary::Rcp
        | FloatUnary::SqrtApprox
        | FloatUnary::RcpApprox
        | FloatUnary::RsqrtApprox
        | FloatUnary::SinApprox
        | FloatUnary::CosApprox
        | FloatUnary::Lg2Approx
        | FloatUnary::RcpApproxKnown
        | FloatUnary::InverseEx2Approx => unreachable!("{f:?} is not of half precision"),
    };
    lanes.map1(d, a, |a: u32| halves(packed, |shift| apply(half(a, shift))));
}

/// A function of two operands.
pub(super) fn binary<H: Half>(lanes: &mut Lanes<'_>, packed: bool, f: FloatBinary, mode: Mode, d: Dst, a: Src, b: Src) {
    use FloatBinary::{Add, Copysign, Div, DivApprox, DivApproxKnown, DivFull, DivFullKnown, Mul, MulInverseEx2, Sub};
    use FloatBinary::{Max, MaxNan, MaxNanXorSign, MaxXorSign, Min, MinNan, MinNanXorSign, MinXorSign};
    let extremum = extremum_of(f, mode.ftz);
    let apply = |a: H, b: H| match f {
        Add => float::add(a, b, mode),
        Sub => float::sub(a, b, mode),
        Mul => float::mul(a, b, mode),
        Min | MinNan | MinXorSign | MinNanXorSign => float::min(a, b, extremum),
        Max | MaxNan | MaxXorSign | MaxNanXorSign => float::max(a, b, extremum),
        Div | DivApprox | DivFull | DivApproxKnown | DivFullKnown | MulInverseEx2 | Copysign => {
            unreachable!("{f:?} is not of half precision")
        }
    };
    lanes.map2(d, a, b, |a: u32, b: u32| halves(packed, |shift| apply(half(a, shift), half(b, shift))));
}

/// A function of three operands.
pub(super) fn ternary<H: Half>(lanes: &mut Lanes<'_>, packed: bool, f: FloatTernary, mode: Mode, d: Dst, [a, b, c]: [Src; 3]) {
    let apply = |a: H, b: H, c: H| match f {
        FloatTernary::Fma => float::fma(a, b, c, mode),
        FloatTernary::MulSub => float::mul_sub(a, b, c, mode),
        FloatTernary::NegMulAdd => float::neg_mul_add(a, b, c, mode),
        FloatTernary::NegMulSub => float::neg_mul_sub(a, b, c, mode),
        FloatTernary::FmaRelu => float::relu(float::fma(a, b, c, mode)),
        FloatTernary::FmaOob => fma_oob(a, b, c, mode),
        FloatTernary::FmaOobRelu => float::relu(fma_oob(a, b, c, mode)),
        FloatTernary::MulScaleUp | FloatTernary::MulScaleDown => unreachable!("scaling is of f32 only"),
    };
    let each = |a: u32, b: u32, c: u32| halves(packed, |shift| apply(half(a, shift), half(b, shift), half(c, shift)));
    lanes.map3(d, a, b, c, each);
}

/// The lanes in which the relation holds of the lower halves, and of the upper ones.
pub(super) fn compare<H: Half>(lanes: &Lanes<'_>, relation: Compare, ftz: bool, a: Src, b: Src) -> (LaneMask, LaneMask) {
    let flushed = |x: H| if ftz { x.flush() } else { x };
    let test = |a: u32, b: u32, shift: u32| holds(relation, flushed(half(a, shift)), flushed(half(b, shift)));
    (lanes.test2(a, b, |a: u32, b: u32| test(a, b, 0)), lanes.test2(a, b, |a: u32, b: u32| test(a, b, 16)))
}

/// The half of `word` that starts at bit `shift`.
fn half<H: Half>(word: u32, shift: u32) -> H {
    H::from_word(u64::from(word >> shift & 0xffff))
}

/// The results of the lower half and, if `packed`, of the upper one, as a register holds them.
fn halves<H: Half>(packed: bool, result: impl Fn(u32) -> H) -> u32 {
    let low = result(0).word() as u32;
    if packed { low | (result(16).word() as u32) << 16 } else { low }
}
