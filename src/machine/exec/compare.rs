//! Comparison (PTX ISA, "Comparison and Selection Instructions": `setp`, `set`).

use super::bits::combine;
use super::half;
use super::operands::{Lane, Lanes};
use crate::isa::{Compare, FloatType, IntType, ScalarType};
use crate::machine::exec::warp_run::LaneOperation;
use crate::machine::numeric::is_packed;
use crate::machine::state::lanes::LaneMask;
use crate::num::compare::holds;
use crate::num::float::Float;
use crate::num::{Bf16, F16};
use crate::program::{CompareOp, Dst, Src};

/// Comparisons.
pub(super) struct Comparison;

impl LaneOperation for Comparison {
    type Op = CompareOp;

    #[inline(always)]
    fn execute(lanes: &mut Lanes<'_>, op: &CompareOp) {
        match *op {
            CompareOp::SetpInt { cmp, ty, combine: f, c, p, q, a, b } => {
                let truth = compare_int(lanes, ty, cmp, a, b);
                let c = lanes.pred(c);
                lanes.put_pred(p, combine(f, truth, c));
                lanes.put_pred(q, combine(f, !truth, c));
            }
            CompareOp::SetpFloat { cmp, ty, ftz, combine: f, c, p, q, a, b } => {
                let (low, high) = compare_float(lanes, ty, cmp, ftz, a, b);
                let c = lanes.pred(c);
                lanes.put_pred(p, combine(f, low, c));
                lanes.put_pred(q, combine(f, if is_packed(ty) { high } else { !low }, c));
            }
            CompareOp::SetInt { cmp, from, to, combine: f, c, d, a, b } => {
                let truth = combine(f, compare_int(lanes, from, cmp, a, b), lanes.pred(c));
                put_truth(lanes, to, false, d, truth, LaneMask::NONE);
            }
            CompareOp::SetFloat { cmp, from, to, ftz, combine: f, c, d, a, b } => {
                let (low, high) = compare_float(lanes, from, cmp, ftz, a, b);
                let c = lanes.pred(c);
                put_truth(lanes, to, is_packed(from), d, combine(f, low, c), combine(f, high, c));
            }
        }
    }
}

/// Writes all ones, or 1.0 of a float type, in the lanes `low`, and zero in the others; for packed halves, `high` determines the upper
/// half.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other types are integers, which their size alone distinguishes")]
#[inline(always)]
fn put_truth(lanes: &mut Lanes<'_>, to: ScalarType, packed: bool, d: Dst, low: LaneMask, high: LaneMask) {
    let (one, upper) = match to {
        ScalarType::F32 => (1.0_f32.to_bits(), 0),
        ScalarType::F16 => (0x3c00, 0),
        ScalarType::BF16 => (0x3f80, 0),
        ScalarType::F16x2 => (0x3c00, 0x3c00_0000),
        ScalarType::BF16x2 => (0x3f80, 0x3f80_0000),
        _ if packed => (0xffff, 0xffff_0000),
        _ if to.bits() == 16 => (0xffff, 0),
        _ => (u32::MAX, 0),
    };
    let mut out = [0; 32];
    for (lane, word) in out.iter_mut().enumerate() {
        *word = if low.contains(lane) { one } else { 0 } | if high.contains(lane) { upper } else { 0 };
    }
    lanes.put32(d, &out);
}

#[inline(always)]
fn compare_int(lanes: &Lanes<'_>, ty: IntType, cmp: Compare, a: Src, b: Src) -> LaneMask {
    match ty {
        IntType::U16 => test(lanes, cmp, a, b, |x: u16| x),
        IntType::S16 => test(lanes, cmp, a, b, |x: i16| x),
        IntType::U32 | IntType::U16x2 | IntType::S16x2 => test(lanes, cmp, a, b, |x: u32| x),
        IntType::S32 => test(lanes, cmp, a, b, |x: i32| x),
        IntType::U64 => test(lanes, cmp, a, b, |x: u64| x),
        IntType::S64 => test(lanes, cmp, a, b, |x: i64| x),
    }
}

/// The lanes in which the comparison holds; for packed types, of the lower and of the upper halves.
#[inline(always)]
fn compare_float(lanes: &Lanes<'_>, ty: FloatType, cmp: Compare, ftz: bool, a: Src, b: Src) -> (LaneMask, LaneMask) {
    match ty {
        FloatType::F32 if ftz => (test(lanes, cmp, a, b, |x: f32| x.flush()), LaneMask::NONE),
        FloatType::F32 => (test(lanes, cmp, a, b, |x: f32| x), LaneMask::NONE),
        FloatType::F64 => (test(lanes, cmp, a, b, |x: f64| x), LaneMask::NONE),
        FloatType::F16 | FloatType::F16x2 => half::compare::<F16>(lanes, cmp, ftz, a, b),
        FloatType::BF16 | FloatType::BF16x2 => half::compare::<Bf16>(lanes, cmp, ftz, a, b),
    }
}

/// The lanes in which `prepare(a) cmp prepare(b)`. Every relation has a separate loop, for vectorization.
#[inline(always)]
fn test<T: Lane + PartialOrd>(lanes: &Lanes<'_>, cmp: Compare, a: Src, b: Src, prepare: impl Fn(T) -> T + Copy) -> LaneMask {
    let with = |relation: Compare| lanes.test2(a, b, |a: T, b: T| holds(relation, prepare(a), prepare(b)));
    match cmp {
        Compare::Eq => with(Compare::Eq),
        Compare::Ne => with(Compare::Ne),
        Compare::Lt => with(Compare::Lt),
        Compare::Le => with(Compare::Le),
        Compare::Gt => with(Compare::Gt),
        Compare::Ge => with(Compare::Ge),
        Compare::Equ => with(Compare::Equ),
        Compare::Neu => with(Compare::Neu),
        Compare::Ltu => with(Compare::Ltu),
        Compare::Leu => with(Compare::Leu),
        Compare::Gtu => with(Compare::Gtu),
        Compare::Geu => with(Compare::Geu),
        Compare::Num => with(Compare::Num),
        Compare::Nan => with(Compare::Nan),
    }
}
