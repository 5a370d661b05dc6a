//! Video instructions (PTX ISA, "Scalar Video Instructions" and "SIMD Video Instructions").

use super::operands::Lanes;
use crate::isa::{VideoFn, VideoMadSpec, VideoPart, VideoSecond, VideoSimdSpec, VideoSpec};
use crate::machine::exec::warp_run::LaneOperation;
use crate::num::compare::holds;
use crate::num::video::{self, FirstOperation, MultiplyAdd};
use crate::program::{Dst, Src, VideoOp};

/// Video instructions.
pub(super) struct Video;

impl LaneOperation for Video {
    type Op = VideoOp;

    #[inline(always)]
    fn execute(lanes: &mut Lanes<'_>, op: &VideoOp) {
        match *op {
            VideoOp::Scalar { spec, d, a, b, c } => scalar(lanes, spec, d, [a, b, c]),
            VideoOp::Mad { spec, d, a, b, c } => multiply_add(lanes, spec, d, [a, b, c]),
            VideoOp::Simd { spec, d, a, b, c } => simd(lanes, spec, d, [a, b, c]),
        }
    }
}

#[inline(never)]
fn scalar(lanes: &mut Lanes<'_>, spec: VideoSpec, d: Dst, [a, b, c]: [Src; 3]) {
    lanes.map3(d, a, b, c, |a: u32, b: u32, c: u32| {
        let first = first(spec.f, part(a, spec.a), part(b, spec.b));
        second(spec.second, kept(spec, first), c, spec.d_signed)
    });
}

#[inline(never)]
fn multiply_add(lanes: &mut Lanes<'_>, spec: VideoMadSpec, d: Dst, [a, b, c]: [Src; 3]) {
    let VideoMadSpec { negate_product, negate_c, plus_one, sat, .. } = spec;
    let signed = spec.a.1 || spec.b.1 || negate_product || negate_c;
    let words = MultiplyAdd { signed, negate_product, negate_c, plus_one, sat, shift: u32::from(spec.shift) };
    lanes.map3(d, a, b, c, |a: u32, b: u32, c: u32| video::multiply_add(part(a, spec.a), part(b, spec.b), c, words));
}

/// The selected part of an operand, extended.
#[inline(always)]
fn part(word: u32, (part, signed): (VideoPart, bool)) -> i64 {
    video::part(u64::from(word), u32::from(part.first), u32::from(part.bits), signed)
}

/// The first operation, on two parts.
fn first(f: VideoFn, a: i64, b: i64) -> i64 {
    match f {
        VideoFn::Add => a + b,
        VideoFn::Sub => a - b,
        VideoFn::AbsDiff => (a - b).abs(),
        VideoFn::Min => a.min(b),
        VideoFn::Max => a.max(b),
        VideoFn::Average => video::average(a, b),
        VideoFn::ShiftLeft { wrap } => a << video::shift_count(b, wrap),
        VideoFn::ShiftRight { wrap } => a >> video::shift_count(b, wrap),
        VideoFn::Set(compare) => i64::from(holds(compare, a, b)),
    }
}

/// The first result, clamped or truncated for the second operation.
fn kept(spec: VideoSpec, value: i64) -> i64 {
    let operation = match spec.f {
        VideoFn::Add | VideoFn::Sub => FirstOperation::Sum,
        VideoFn::ShiftLeft { .. } | VideoFn::ShiftRight { .. } => FirstOperation::Shift,
        VideoFn::AbsDiff | VideoFn::Min | VideoFn::Max | VideoFn::Average | VideoFn::Set(_) => FirstOperation::Extremum,
    };
    match (spec.sat, spec.second) {
        (false, _) => video::unclamped(value, operation),
        (true, VideoSecond::Merge(part)) => video::clamped_part(value, operation, spec.d_signed, u32::from(part.bits)),
        (true, _) => video::clamped(value, operation, spec.d_signed),
    }
}

fn second(f: VideoSecond, value: i64, c: u32, signed: bool) -> u32 {
    match f {
        VideoSecond::Nothing => value as u32,
        VideoSecond::Add => (value as u32).wrapping_add(c),
        VideoSecond::Min => video::extremum(value, c, signed, false),
        VideoSecond::Max => video::extremum(value, c, signed, true),
        VideoSecond::Merge(part) => video::merge(value, c, u32::from(part.first), u32::from(part.bits)),
    }
}

#[inline(never)]
fn simd(lanes: &mut Lanes<'_>, spec: VideoSimdSpec, d: Dst, [a, b, c]: [Src; 3]) {
    let bits = 32 / u32::from(spec.elements);
    lanes.map3(d, a, b, c, |a: u32, b: u32, c: u32| {
        let both = u64::from(b) << 32 | u64::from(a);
        let pick = |selected: u8, signed: bool| video::part(both, u32::from(selected) * bits, bits, signed);
        let mut result = c;
        for element in (0..spec.elements).filter(|element| spec.mask >> element & 1 == 1) {
            let [from_a, from_b] = spec.select.map(|sources| sources[usize::from(element) % 4]);
            let value = first(spec.f, pick(from_a, spec.signed.0), pick(from_b, spec.signed.1));
            let value = if spec.sat { video::clamp(value, bits, spec.d_signed) } else { value };
            result = if spec.accumulate {
                result.wrapping_add(value as u32)
            } else {
                video::insert(value, result, u32::from(element) * bits, bits)
            };
        }
        result
    });
}
