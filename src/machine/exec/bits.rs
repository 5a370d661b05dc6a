//! Shifts, logic of three inputs and bit fields (PTX ISA, "Logic and Shift Instructions"; `bfe bfi bmsk szext fns prmt`).

use super::operands::{Lane, Lanes};
use crate::isa::{BitField32, BoolOp, IntType, Shift, Width};
use crate::machine::exec::warp_run::LaneOperation;
use crate::machine::state::lanes::LaneMask;
use crate::num::bits::{self, CountMode, PrmtMode};
use crate::num::int::Int;
use crate::program::{BitsOp, Dst, Src};

/// Operations on bits.
pub(super) struct Bits;

impl LaneOperation for Bits {
    type Op = BitsOp;

    #[inline(always)]
    fn execute(lanes: &mut Lanes<'_>, op: &BitsOp) {
        match *op {
            BitsOp::Shift { f, ty, d, a, b } => by_type_shift(lanes, ty, f, d, a, b),
            BitsOp::Lop3 { lut, d, a, b, c } => lop3(lanes, lut, d, [a, b, c]),
            BitsOp::Lop3Pred { lut, f, d, p, a, b, c, q } => {
                let nonzero = nonzero_lanes(lanes, lut, [a, b, c]);
                let q = lanes.pred(q);
                lop3(lanes, lut, d, [a, b, c]);
                lanes.put_pred(p, combine(f, nonzero, q));
            }
            BitsOp::Field32 { f, d, a, b, c } => bit_field(lanes, f, d, [a, b, c]),
            BitsOp::Extract { ty, d, a, b, c } => by_type_extract(lanes, ty, d, [a, b, c]),
            BitsOp::Insert { width, d, a, b, c, e } => insert(lanes, width, d, [a, b, c, e]),
        }
    }
}

/// The combination of two truth values per lane.
#[inline(always)]
pub(super) fn combine(f: BoolOp, a: LaneMask, b: LaneMask) -> LaneMask {
    match f {
        BoolOp::And => a & b,
        BoolOp::Or => a | b,
        BoolOp::Xor => a ^ b,
    }
}

#[inline(always)]
fn by_type_shift(lanes: &mut Lanes<'_>, ty: IntType, f: Shift, d: Dst, a: Src, b: Src) {
    match ty {
        IntType::U16 => shift::<u16>(lanes, f, d, a, b),
        IntType::S16 => shift::<i16>(lanes, f, d, a, b),
        IntType::U32 | IntType::U16x2 | IntType::S16x2 => shift::<u32>(lanes, f, d, a, b),
        IntType::S32 => shift::<i32>(lanes, f, d, a, b),
        IntType::U64 => shift::<u64>(lanes, f, d, a, b),
        IntType::S64 => shift::<i64>(lanes, f, d, a, b),
    }
}

#[inline(always)]
fn shift<T: Lane + Int>(lanes: &mut Lanes<'_>, f: Shift, d: Dst, a: Src, b: Src) {
    match f {
        Shift::Left => lanes.map2(d, a, b, |a: T, count: u32| a.shl(count)),
        Shift::Right => lanes.map2(d, a, b, |a: T, count: u32| a.shr(count)),
    }
}

#[inline(always)]
fn lop3(lanes: &mut Lanes<'_>, lut: u8, d: Dst, [a, b, c]: [Src; 3]) {
    lanes.map3(d, a, b, c, |a: u32, b: u32, c: u32| bits::lop3(a, b, c, lut));
}

#[inline(always)]
fn nonzero_lanes(lanes: &Lanes<'_>, lut: u8, [a, b, c]: [Src; 3]) -> LaneMask {
    let (a, b, c) = (lanes.get32(a), lanes.get32(b), lanes.get32(c));
    LaneMask::from_fn(|lane| bits::lop3(a[lane], b[lane], c[lane], lut) != 0)
}

#[inline(always)]
fn bit_field(lanes: &mut Lanes<'_>, f: BitField32, d: Dst, [a, b, c]: [Src; 3]) {
    use BitField32::*;
    match f {
        BmskClamp => lanes.map2(d, a, b, |a: u32, b: u32| bits::bmsk(a, b, CountMode::Clamp)),
        BmskWrap => lanes.map2(d, a, b, |a: u32, b: u32| bits::bmsk(a, b, CountMode::Wrap)),
        SzextClampU => lanes.map2(d, a, b, |a: u32, b: u32| bits::zero_extend(a, b, CountMode::Clamp)),
        SzextWrapU => lanes.map2(d, a, b, |a: u32, b: u32| bits::zero_extend(a, b, CountMode::Wrap)),
        SzextClampS => lanes.map2(d, a, b, |a: u32, b: u32| bits::sign_extend(a, b, CountMode::Clamp)),
        SzextWrapS => lanes.map2(d, a, b, |a: u32, b: u32| bits::sign_extend(a, b, CountMode::Wrap)),
        Fns => lanes.map3(d, a, b, c, |a: u32, b: u32, c: i32| bits::fns(a, b, c)),
        Prmt => lanes.map3(d, a, b, c, bits::prmt),
        PrmtF4e => permute(lanes, PrmtMode::Forward4, d, [a, b, c]),
        PrmtB4e => permute(lanes, PrmtMode::Backward4, d, [a, b, c]),
        PrmtRc8 => permute(lanes, PrmtMode::Replicate8, d, [a, b, c]),
        PrmtEcl => permute(lanes, PrmtMode::ClampLeft, d, [a, b, c]),
        PrmtEcr => permute(lanes, PrmtMode::ClampRight, d, [a, b, c]),
        PrmtRc16 => permute(lanes, PrmtMode::Replicate16, d, [a, b, c]),
        ShfLeftClamp => lanes.map3(d, a, b, c, |a: u32, b: u32, c: u32| bits::shf_left(a, b, c, CountMode::Clamp)),
        ShfLeftWrap => lanes.map3(d, a, b, c, |a: u32, b: u32, c: u32| bits::shf_left(a, b, c, CountMode::Wrap)),
        ShfRightClamp => lanes.map3(d, a, b, c, |a: u32, b: u32, c: u32| bits::shf_right(a, b, c, CountMode::Clamp)),
        ShfRightWrap => lanes.map3(d, a, b, c, |a: u32, b: u32, c: u32| bits::shf_right(a, b, c, CountMode::Wrap)),
    }
}

#[inline(always)]
fn permute(lanes: &mut Lanes<'_>, mode: PrmtMode, d: Dst, [a, b, c]: [Src; 3]) {
    lanes.map3(d, a, b, c, |a: u32, b: u32, c: u32| bits::prmt(a, b, mode.selector(c)));
}

#[inline(always)]
fn by_type_extract(lanes: &mut Lanes<'_>, ty: IntType, d: Dst, sources: [Src; 3]) {
    match ty {
        IntType::S32 => extract::<i32>(lanes, d, sources),
        IntType::U64 => extract::<u64>(lanes, d, sources),
        IntType::S64 => extract::<i64>(lanes, d, sources),
        IntType::U32 | IntType::U16 | IntType::S16 | IntType::U16x2 | IntType::S16x2 => extract::<u32>(lanes, d, sources),
    }
}

#[inline(always)]
fn extract<T: Lane + Int>(lanes: &mut Lanes<'_>, d: Dst, [a, b, c]: [Src; 3]) {
    lanes.map3(d, a, b, c, |a: T, position: u32, length: u32| a.bfe(position, length));
}

#[inline(always)]
fn insert(lanes: &mut Lanes<'_>, width: Width, d: Dst, [a, b, c, e]: [Src; 4]) {
    let (positions, lengths) = (*lanes.get32(c), *lanes.get32(e));
    if width == Width::B64 {
        let (a, b) = (lanes.get64(a), lanes.get64(b));
        let out = std::array::from_fn(|lane| bits::bfi_64(a[lane], b[lane], positions[lane], lengths[lane]));
        lanes.put64(d, &out);
    } else {
        let (a, b) = (lanes.get32(a), lanes.get32(b));
        let out = std::array::from_fn(|lane| bits::bfi_32(a[lane], b[lane], positions[lane], lengths[lane]));
        lanes.put32(d, &out);
    }
}
