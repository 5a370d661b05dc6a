//! Comparison (PTX ISA, "Comparison and Selection Instructions": `setp`, `set`).

use super::Family;
use super::bits::combine;
use super::operands::{Lane, Lanes};
use crate::isa::{Compare, FloatType, IntType, ScalarType, TypeKind};
use crate::machine::lanes::LaneMask;
use crate::num::compare::{Relation, holds};
use crate::num::float::Float;
use crate::program::{Op, Src};

/// Comparisons.
pub(super) struct Comparison;

impl Family for Comparison {
    #[inline(always)]
    fn execute(lanes: &mut Lanes<'_>, op: &Op) {
        match *op {
            Op::SetpInt { cmp, ty, combine: f, c, p, q, a, b } => {
                let truth = compare_int(lanes, ty, cmp, a, b);
                let c = lanes.pred(c);
                lanes.put_pred(p, combine(f, truth, c));
                lanes.put_pred(q, combine(f, !truth, c));
            }
            Op::SetpFloat { cmp, ty, ftz, combine: f, c, p, q, a, b } => {
                let truth = compare_float(lanes, ty, cmp, ftz, a, b);
                let c = lanes.pred(c);
                lanes.put_pred(p, combine(f, truth, c));
                lanes.put_pred(q, combine(f, !truth, c));
            }
            Op::SetInt { cmp, from, to, combine: f, c, d, a, b } => {
                let truth = combine(f, compare_int(lanes, from, cmp, a, b), lanes.pred(c));
                put_truth(lanes, to, d, truth);
            }
            Op::SetFloat { cmp, from, to, ftz, combine: f, c, d, a, b } => {
                let truth = combine(f, compare_float(lanes, from, cmp, ftz, a, b), lanes.pred(c));
                put_truth(lanes, to, d, truth);
            }
            ref other => unreachable!("{other:?} is no comparison"),
        }
    }
}

/// All ones, or 1.0 of a float type, where `truth` holds; zero elsewhere.
#[inline(always)]
fn put_truth(lanes: &mut Lanes<'_>, to: ScalarType, d: crate::program::Dst, truth: LaneMask) {
    let one = match (to.kind(), to) {
        (TypeKind::Float, ScalarType::F32) => 1.0_f32.to_bits(),
        (TypeKind::Float, ScalarType::F16) => 0x3c00,
        (TypeKind::Float, ScalarType::BF16) => 0x3f80,
        _ if to.bits() == 16 => 0xffff,
        _ => u32::MAX,
    };
    let mut out = [0; 32];
    for (lane, word) in out.iter_mut().enumerate() {
        *word = if truth & (1 << lane) != 0 { one } else { 0 };
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

#[inline(always)]
fn compare_float(lanes: &Lanes<'_>, ty: FloatType, cmp: Compare, ftz: bool, a: Src, b: Src) -> LaneMask {
    match ty {
        FloatType::F32 if ftz => test(lanes, cmp, a, b, |x: f32| x.flush()),
        FloatType::F32 => test(lanes, cmp, a, b, |x: f32| x),
        FloatType::F64 => test(lanes, cmp, a, b, |x: f64| x),
        FloatType::F16 | FloatType::F16x2 | FloatType::BF16 | FloatType::BF16x2 => unreachable!("comparison of {ty:?} is not decoded"),
    }
}

/// The lanes in which `prepare(a) cmp prepare(b)`. Every relation has a loop of its own.
#[inline(always)]
fn test<T: Lane + PartialOrd>(lanes: &Lanes<'_>, cmp: Compare, a: Src, b: Src, prepare: impl Fn(T) -> T + Copy) -> LaneMask {
    let with = |relation: Relation| lanes.test2(a, b, |a: T, b: T| holds(relation, prepare(a), prepare(b)));
    match cmp {
        Compare::Eq => with(Relation::Eq),
        Compare::Ne => with(Relation::Ne),
        Compare::Lt | Compare::Lo => with(Relation::Lt),
        Compare::Le | Compare::Ls => with(Relation::Le),
        Compare::Gt | Compare::Hi => with(Relation::Gt),
        Compare::Ge | Compare::Hs => with(Relation::Ge),
        Compare::Equ => with(Relation::Equ),
        Compare::Neu => with(Relation::Neu),
        Compare::Ltu => with(Relation::Ltu),
        Compare::Leu => with(Relation::Leu),
        Compare::Gtu => with(Relation::Gtu),
        Compare::Geu => with(Relation::Geu),
        Compare::Num => with(Relation::Num),
        Compare::Nan => with(Relation::Nan),
    }
}
