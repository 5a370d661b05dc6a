//! Conversions (PTX ISA, "Data Movement and Conversion Instructions": `cvt`, `cvt.pack`).
//!
//! Conversions that are common in inner loops have separate loops; all others use the general function, lane by lane.

use super::operands::Lanes;
use crate::isa::{self, ScalarType, TypeKind};
use crate::machine::exec::warp_run::LaneOperation;
use crate::machine::state::lanes::PerLane;
use crate::num::convert::{self, Conversion, Kind};
use crate::num::exact::Format;
use crate::program::{ConvertMode, ConvertOp, Dst, Src};

/// Conversions.
pub(super) struct Conversions;

impl LaneOperation for Conversions {
    type Op = ConvertOp;

    #[inline(always)]
    fn execute(lanes: &mut Lanes<'_>, op: &ConvertOp) {
        match *op {
            ConvertOp::Single { mode, d, a } => convert(lanes, mode, d, a),
            ConvertOp::Pair { mode, d, a, b } => convert_pair(lanes, mode, d, a, b),
            ConvertOp::Pack { to, d, a, b, c, .. } => {
                let signed = to.kind() == TypeKind::Signed;
                lanes.map3(d, a, b, c, |a: i32, b: i32, c: u32| convert::pack(a, b, c, to.bits(), signed));
            }
        }
    }
}

#[inline(always)]
fn convert(lanes: &mut Lanes<'_>, mode: ConvertMode, d: Dst, a: Src) {
    if is_plain_integer(mode) {
        let words = extend(&source(lanes, mode.a_bits, a), mode.from);
        return put(lanes, mode, d, &extend(&words, mode.to));
    }
    if is_plain(mode) && mode.d_bits == u8::try_from(mode.to.bits()).unwrap_or(0) {
        match (mode.from, mode.to) {
            (ScalarType::S32, ScalarType::F32) if mode.a_bits == 32 => return lanes.map1(d, a, |a: i32| a as f32),
            (ScalarType::U32, ScalarType::F32) if mode.a_bits == 32 => return lanes.map1(d, a, |a: u32| a as f32),
            (ScalarType::S32, ScalarType::F64) if mode.a_bits == 32 => return lanes.map1(d, a, |a: i32| f64::from(a)),
            (ScalarType::U32, ScalarType::F64) if mode.a_bits == 32 => return lanes.map1(d, a, |a: u32| f64::from(a)),
            _ => {}
        }
    }
    let words = source(lanes, mode.a_bits, a);
    general(lanes, mode, d, &words);
}

/// The source register's bits, zero-extended.
#[inline(always)]
fn source(lanes: &Lanes<'_>, bits: u8, a: Src) -> PerLane<u64> {
    if bits == 64 { *lanes.get64(a) } else { lanes.get32(a).map(u64::from) }
}

/// True for conversions between integers without saturation, which only extend.
#[inline(always)]
fn is_plain_integer(mode: ConvertMode) -> bool {
    let float = mode.to.kind() == TypeKind::Float || mode.from.kind() == TypeKind::Float;
    !float && !mode.sat
}

#[inline(always)]
fn is_plain(mode: ConvertMode) -> bool {
    mode.rounding == isa::Rounding::Nearest && !mode.sat && !mode.relu && !mode.satfinite
}

/// The low bits of each word, extended from `ty` to 64 bits.
#[inline(always)]
fn extend(words: &PerLane<u64>, ty: ScalarType) -> PerLane<u64> {
    let unused = 64 - ty.bits().min(64);
    if ty.kind() == TypeKind::Signed {
        words.map(|word| ((word << unused) as i64 >> unused) as u64)
    } else {
        words.map(|word| word << unused >> unused)
    }
}

/// Writes results that are already extended to 64 bits.
#[inline(always)]
fn put(lanes: &mut Lanes<'_>, mode: ConvertMode, d: Dst, words: &PerLane<u64>) {
    match mode.d_bits {
        64 => lanes.put64(d, words),
        16 => lanes.put32(d, &words.map(|word| word as u32 & 0xffff)),
        _ => lanes.put32(d, &words.map(|word| word as u32)),
    }
}

#[inline(never)]
fn general(lanes: &mut Lanes<'_>, mode: ConvertMode, d: Dst, words: &PerLane<u64>) {
    let (to, from) = (element(mode.to), element(mode.from));
    let conversion = conversion(mode, to, from);
    let each = |word: u64| {
        let low = to_register_bits(to, conversion.apply(word & low_bits(from)));
        let packed = to != mode.to;
        if packed { low | conversion.apply(word >> from.bits() & low_bits(from)) << to.bits() } else { low }
    };
    let mut out = [0; 32];
    lanes.mask.iter().for_each(|lane| out[lane] = each(words[lane]));
    let integer = mode.to.kind() != TypeKind::Float;
    put(lanes, mode, d, &if integer { extend(&out, mode.to) } else { out });
}

/// Two numbers packed into one register, `a` above `b`.
#[inline(never)]
fn convert_pair(lanes: &mut Lanes<'_>, mode: ConvertMode, d: Dst, a: Src, b: Src) {
    let to = element(mode.to);
    let conversion = conversion(mode, to, mode.from);
    let (high, low) = (*lanes.get32(a), *lanes.get32(b));
    let mut out = [0; 32];
    for lane in lanes.mask.iter() {
        let (high, low) = (conversion.apply(u64::from(high[lane])), conversion.apply(u64::from(low[lane])));
        out[lane] = (high << to.bits() | low) as u32;
    }
    lanes.put32(d, &out);
}

/// A word with ones in all bits of the type.
fn low_bits(ty: ScalarType) -> u64 {
    u64::MAX >> (64 - ty.bits().min(64))
}

/// The type of one element of a packed type.
#[expect(clippy::wildcard_enum_match_arm, reason = "a type that holds one number is its own element")]
fn element(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::F16x2 => ScalarType::F16,
        ScalarType::BF16x2 => ScalarType::BF16,
        ScalarType::E4M3x2 => ScalarType::E4M3,
        ScalarType::E5M2x2 => ScalarType::E5M2,
        scalar => scalar,
    }
}

/// A result of `num` as a register holds it: `.tf32` is in the upper bits, like an `.f32` whose low bits are zero.
fn to_register_bits(ty: ScalarType, word: u64) -> u64 {
    if ty == ScalarType::TF32 { word << 13 } else { word }
}

fn conversion(mode: ConvertMode, to: ScalarType, from: ScalarType) -> Conversion {
    Conversion {
        to: kind(to),
        from: kind(from),
        rounding: mode.rounding,
        integral: mode.to_integral,
        ftz: mode.ftz,
        sat: mode.sat,
        relu: mode.relu,
        satfinite: mode.satfinite,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other types are integers, which their size and sign distinguish")]
fn kind(ty: ScalarType) -> Kind {
    match ty {
        ScalarType::F16 => Kind::Float(Format::F16),
        ScalarType::BF16 => Kind::Float(Format::BF16),
        ScalarType::TF32 => Kind::Float(Format::TF32),
        ScalarType::F32 => Kind::Float(Format::F32),
        ScalarType::F64 => Kind::Float(Format::F64),
        ScalarType::E4M3 => Kind::Float(Format::E4M3),
        ScalarType::E5M2 => Kind::Float(Format::E5M2),
        other if other.kind() == TypeKind::Signed => Kind::Signed(other.bits()),
        other => Kind::Unsigned(other.bits()),
    }
}
