//! Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions", "Extended-Precision Integer Arithmetic Instructions").

use super::operands::{Lane, Lanes};
use crate::isa::{BitCount, CarryFn, DotFn, IntBinary, IntTernary, IntType, IntUnary};
use crate::machine::exec::warp_run::LaneOperation;
use crate::machine::state::lanes::LaneMask;
use crate::num::int::{self, Int, Int24};
use crate::program::{Dst, IntegerOp, Src};

/// Integer arithmetic.
pub(super) struct Integer;

impl LaneOperation for Integer {
    type Op = IntegerOp;

    #[inline(always)]
    fn execute(lanes: &mut Lanes<'_>, op: &IntegerOp) {
        match *op {
            IntegerOp::Unary { f, ty, d, a } => by_type_unary(lanes, ty, f, d, a),
            IntegerOp::BitCount { f, ty, d, a } => by_type_count(lanes, ty, f, d, a),
            IntegerOp::Binary { f, ty, d, a, b } => by_type_binary(lanes, ty, f, d, a, b),
            IntegerOp::Ternary { f, ty, d, a, b, c } => by_type_ternary(lanes, ty, f, d, [a, b, c]),
            IntegerOp::MulWide { ty, d, a, b } => mul_wide(lanes, ty, d, a, b),
            IntegerOp::MadWide { ty, d, a, b, c } => mad_wide(lanes, ty, d, [a, b, c]),
            IntegerOp::Carry { f, ty, carry_in, carry_out, d, a, b, c } => by_type_carry(lanes, ty, f, (carry_in, carry_out), d, [a, b, c]),
            IntegerOp::Dot { f, a_signed, b_signed, d, a, b, c } => dot(lanes, f, (a_signed, b_signed), d, [a, b, c]),
        }
    }
}

#[inline(always)]
fn by_type_unary(lanes: &mut Lanes<'_>, ty: IntType, f: IntUnary, d: Dst, a: Src) {
    match ty {
        IntType::U16 => unary::<u16>(lanes, f, d, a),
        IntType::S16 => unary::<i16>(lanes, f, d, a),
        IntType::U32 | IntType::U16x2 | IntType::S16x2 => unary::<u32>(lanes, f, d, a),
        IntType::S32 => unary::<i32>(lanes, f, d, a),
        IntType::U64 => unary::<u64>(lanes, f, d, a),
        IntType::S64 => unary::<i64>(lanes, f, d, a),
    }
}

#[inline(always)]
fn unary<T: Lane + Int + Bits>(lanes: &mut Lanes<'_>, f: IntUnary, d: Dst, a: Src) {
    match f {
        IntUnary::Neg => lanes.map1(d, a, |a: T| a.neg()),
        IntUnary::Abs => lanes.map1(d, a, |a: T| a.magnitude()),
        IntUnary::Not => lanes.map1(d, a, |a: T| a.not()),
        IntUnary::CNot => lanes.map1(d, a, |a: T| a.cnot()),
        IntUnary::Brev => lanes.map1(d, a, |a: T| a.reversed()),
    }
}

#[inline(always)]
fn by_type_count(lanes: &mut Lanes<'_>, ty: IntType, f: BitCount, d: Dst, a: Src) {
    match ty {
        IntType::U16 => count::<u16>(lanes, f, d, a),
        IntType::S16 => count::<i16>(lanes, f, d, a),
        IntType::U32 | IntType::U16x2 | IntType::S16x2 => count::<u32>(lanes, f, d, a),
        IntType::S32 => count::<i32>(lanes, f, d, a),
        IntType::U64 => count::<u64>(lanes, f, d, a),
        IntType::S64 => count::<i64>(lanes, f, d, a),
    }
}

#[inline(always)]
fn count<T: Lane + Int + Bits>(lanes: &mut Lanes<'_>, f: BitCount, d: Dst, a: Src) {
    match f {
        BitCount::Popc => lanes.map1(d, a, |a: T| a.ones()),
        BitCount::Clz => lanes.map1(d, a, |a: T| a.zeros_above()),
        BitCount::Bfind => lanes.map1(d, a, |a: T| a.bfind()),
        BitCount::BfindShift => lanes.map1(d, a, |a: T| a.bfind_shift()),
    }
}

#[inline(always)]
fn by_type_binary(lanes: &mut Lanes<'_>, ty: IntType, f: IntBinary, d: Dst, a: Src, b: Src) {
    match ty {
        IntType::U16 => binary::<u16>(lanes, f, d, a, b),
        IntType::S16 => binary::<i16>(lanes, f, d, a, b),
        IntType::U32 => binary_32::<u32>(lanes, f, d, a, b),
        IntType::S32 => binary_32::<i32>(lanes, f, d, a, b),
        IntType::U64 => binary::<u64>(lanes, f, d, a, b),
        IntType::S64 => binary::<i64>(lanes, f, d, a, b),
        IntType::U16x2 => lanes.map2(d, a, b, |a: u32, b: u32| int::halves_u16(a, b, |a, b| packed_function(f, a, b))),
        IntType::S16x2 => lanes.map2(d, a, b, |a: u32, b: u32| int::halves_i16(a, b, |a, b| packed_function(f, a, b))),
    }
}

/// The functions that have packed forms.
#[inline(always)]
fn packed_function<T: Int>(f: IntBinary, a: T, b: T) -> T {
    match f {
        IntBinary::Add => a.add(b),
        IntBinary::Sub => a.sub(b),
        IntBinary::Min => a.min(b),
        IntBinary::Max => a.max(b),
        IntBinary::MinRelu => a.min(b).relu(),
        IntBinary::MaxRelu => a.max(b).relu(),
        IntBinary::AddSat
        | IntBinary::SubSat
        | IntBinary::MulLo
        | IntBinary::MulHi
        | IntBinary::Mul24Lo
        | IntBinary::Mul24Hi
        | IntBinary::Div
        | IntBinary::Rem
        | IntBinary::And
        | IntBinary::Or
        | IntBinary::Xor => unreachable!("{f:?} has no packed form"),
    }
}

/// 24-bit products exist for 32-bit types only.
#[inline(always)]
fn binary_32<T: Lane + Int24 + Bits>(lanes: &mut Lanes<'_>, f: IntBinary, d: Dst, a: Src, b: Src) {
    match f {
        IntBinary::Mul24Lo => lanes.map2(d, a, b, |a: T, b: T| a.mul24_lo(b)),
        IntBinary::Mul24Hi => lanes.map2(d, a, b, |a: T, b: T| a.mul24_hi(b)),
        IntBinary::Add
        | IntBinary::AddSat
        | IntBinary::Sub
        | IntBinary::SubSat
        | IntBinary::MulLo
        | IntBinary::MulHi
        | IntBinary::Div
        | IntBinary::Rem
        | IntBinary::Min
        | IntBinary::Max
        | IntBinary::MinRelu
        | IntBinary::MaxRelu
        | IntBinary::And
        | IntBinary::Or
        | IntBinary::Xor => binary::<T>(lanes, f, d, a, b),
    }
}

#[inline(always)]
fn binary<T: Lane + Int + Bits>(lanes: &mut Lanes<'_>, f: IntBinary, d: Dst, a: Src, b: Src) {
    match f {
        IntBinary::Add => lanes.map2(d, a, b, |a: T, b: T| a.add(b)),
        IntBinary::AddSat => lanes.map2(d, a, b, |a: T, b: T| a.add_sat(b)),
        IntBinary::Sub => lanes.map2(d, a, b, |a: T, b: T| a.sub(b)),
        IntBinary::SubSat => lanes.map2(d, a, b, |a: T, b: T| a.sub_sat(b)),
        IntBinary::MulLo => lanes.map2(d, a, b, |a: T, b: T| a.mul_lo(b)),
        IntBinary::MulHi => lanes.map2(d, a, b, |a: T, b: T| a.mul_hi(b)),
        IntBinary::Div => lanes.map2(d, a, b, |a: T, b: T| a.div(b)),
        IntBinary::Rem => lanes.map2(d, a, b, |a: T, b: T| a.rem(b)),
        IntBinary::Min => lanes.map2(d, a, b, |a: T, b: T| a.min(b)),
        IntBinary::Max => lanes.map2(d, a, b, |a: T, b: T| a.max(b)),
        IntBinary::MinRelu => lanes.map2(d, a, b, |a: T, b: T| a.min(b).relu()),
        IntBinary::MaxRelu => lanes.map2(d, a, b, |a: T, b: T| a.max(b).relu()),
        IntBinary::And => lanes.map2(d, a, b, |a: T, b: T| a.and(b)),
        IntBinary::Or => lanes.map2(d, a, b, |a: T, b: T| a.or(b)),
        IntBinary::Xor => lanes.map2(d, a, b, |a: T, b: T| a.xor(b)),
        IntBinary::Mul24Lo | IntBinary::Mul24Hi => unreachable!("24-bit products are of 32-bit types"),
    }
}

#[inline(always)]
fn by_type_ternary(lanes: &mut Lanes<'_>, ty: IntType, f: IntTernary, d: Dst, sources: [Src; 3]) {
    match ty {
        IntType::U16 => ternary::<u16>(lanes, f, d, sources),
        IntType::S16 => ternary::<i16>(lanes, f, d, sources),
        IntType::U32 | IntType::U16x2 | IntType::S16x2 => ternary_32::<u32>(lanes, f, d, sources),
        IntType::S32 => ternary_32::<i32>(lanes, f, d, sources),
        IntType::U64 => ternary::<u64>(lanes, f, d, sources),
        IntType::S64 => ternary::<i64>(lanes, f, d, sources),
    }
}

#[inline(always)]
fn ternary_32<T: Lane + Int24>(lanes: &mut Lanes<'_>, f: IntTernary, d: Dst, [a, b, c]: [Src; 3]) {
    match f {
        IntTernary::Mad24Lo => lanes.map3(d, a, b, c, |a: T, b: T, c: T| a.mul24_lo(b).add(c)),
        IntTernary::Mad24Hi => lanes.map3(d, a, b, c, |a: T, b: T, c: T| a.mul24_hi(b).add(c)),
        IntTernary::Mad24HiSat => lanes.map3(d, a, b, c, int::mad24_hi_sat),
        IntTernary::MadHiSat => lanes.map3(d, a, b, c, int::mad_hi_sat),
        IntTernary::MadLo | IntTernary::MadHi | IntTernary::Sad => ternary::<T>(lanes, f, d, [a, b, c]),
    }
}

#[inline(always)]
fn ternary<T: Lane + Int>(lanes: &mut Lanes<'_>, f: IntTernary, d: Dst, [a, b, c]: [Src; 3]) {
    match f {
        IntTernary::MadLo => lanes.map3(d, a, b, c, |a: T, b: T, c: T| a.mul_lo(b).add(c)),
        IntTernary::MadHi => lanes.map3(d, a, b, c, |a: T, b: T, c: T| a.mul_hi(b).add(c)),
        IntTernary::Sad => lanes.map3(d, a, b, c, |a: T, b: T, c: T| a.sad(b, c)),
        IntTernary::MadHiSat | IntTernary::Mad24Lo | IntTernary::Mad24Hi | IntTernary::Mad24HiSat => {
            unreachable!("{f:?} is of 32-bit types")
        }
    }
}

#[inline(always)]
fn mul_wide(lanes: &mut Lanes<'_>, ty: IntType, d: Dst, a: Src, b: Src) {
    match ty {
        IntType::U16 => lanes.map2(d, a, b, |a: u16, b: u16| a.mul_wide(b)),
        IntType::S16 => lanes.map2(d, a, b, |a: i16, b: i16| a.mul_wide(b)),
        IntType::U32 => lanes.map2(d, a, b, |a: u32, b: u32| a.mul_wide(b)),
        IntType::S32 => lanes.map2(d, a, b, |a: i32, b: i32| a.mul_wide(b)),
        IntType::U64 | IntType::S64 | IntType::U16x2 | IntType::S16x2 => unreachable!("mul.wide of {ty:?}"),
    }
}

#[inline(always)]
fn mad_wide(lanes: &mut Lanes<'_>, ty: IntType, d: Dst, [a, b, c]: [Src; 3]) {
    match ty {
        IntType::U16 => lanes.map3(d, a, b, c, |a: u16, b: u16, c: u32| a.mad_wide(b, c)),
        IntType::S16 => lanes.map3(d, a, b, c, |a: i16, b: i16, c: i32| a.mad_wide(b, c)),
        IntType::U32 => lanes.map3(d, a, b, c, |a: u32, b: u32, c: u64| a.mad_wide(b, c)),
        IntType::S32 => lanes.map3(d, a, b, c, |a: i32, b: i32, c: i64| a.mad_wide(b, c)),
        IntType::U64 | IntType::S64 | IntType::U16x2 | IntType::S16x2 => unreachable!("mad.wide of {ty:?}"),
    }
}

#[inline(always)]
fn by_type_carry(lanes: &mut Lanes<'_>, ty: IntType, f: CarryFn, flags: (bool, bool), d: Dst, sources: [Src; 3]) {
    match ty {
        IntType::U32 => carry::<u32>(lanes, f, flags, d, sources),
        IntType::S32 => carry::<i32>(lanes, f, flags, d, sources),
        IntType::U64 => carry::<u64>(lanes, f, flags, d, sources),
        IntType::S64 => carry::<i64>(lanes, f, flags, d, sources),
        IntType::U16 | IntType::S16 | IntType::U16x2 | IntType::S16x2 => unreachable!("carry arithmetic of {ty:?}"),
    }
}

/// Arithmetic through the carry flag. A subtraction without carry-in starts from "no borrow".
#[inline(always)]
fn carry<T: Lane + Int>(lanes: &mut Lanes<'_>, f: CarryFn, (carry_in, carry_out): (bool, bool), d: Dst, [a, b, c]: [Src; 3]) {
    let subtract = matches!(f, CarryFn::Sub);
    let flags = if carry_in { lanes.registers.carry } else { LaneMask::all_if(subtract) };
    let (a, b, c) = (T::get(lanes, a), T::get(lanes, b), T::get(lanes, c));
    let mut out = [T::Word::default(); 32];
    let mut carries = LaneMask::NONE;
    for lane in 0..32 {
        let (a, b, c) = (T::from_word(a[lane]), T::from_word(b[lane]), T::from_word(c[lane]));
        let flag = flags.contains(lane);
        let (value, flag) = match f {
            CarryFn::Add => a.add_carry(b, flag),
            CarryFn::Sub => a.sub_carry(b, flag),
            CarryFn::MadLo => a.mul_lo(b).add_carry(c, flag),
            CarryFn::MadHi => a.mul_hi(b).add_carry(c, flag),
        };
        out[lane] = value.to_word();
        carries |= if flag { LaneMask::of(lane) } else { LaneMask::NONE };
    }
    T::put(lanes, d, &out);
    if carry_out {
        lanes.registers.carry = lanes.registers.carry & !lanes.mask | carries & lanes.mask;
    }
}

#[inline(always)]
fn dot(lanes: &mut Lanes<'_>, f: DotFn, (a_signed, b_signed): (bool, bool), d: Dst, [a, b, c]: [Src; 3]) {
    match f {
        DotFn::Dp4a => lanes.map3(d, a, b, c, |a: u32, b: u32, c: u32| int::dp4a(a, b, c, a_signed, b_signed)),
        DotFn::Dp2aLo => lanes.map3(d, a, b, c, |a: u32, b: u32, c: u32| int::dp2a(a, b, c, a_signed, b_signed, false)),
        DotFn::Dp2aHi => lanes.map3(d, a, b, c, |a: u32, b: u32, c: u32| int::dp2a(a, b, c, a_signed, b_signed, true)),
    }
}

/// Bit operations of integer types.
trait Bits: Copy {
    fn not(self) -> Self;
    fn and(self, b: Self) -> Self;
    fn or(self, b: Self) -> Self;
    fn xor(self, b: Self) -> Self;
    fn reversed(self) -> Self;
    fn ones(self) -> u32;
    fn zeros_above(self) -> u32;
}

macro_rules! bits {
    ($($ty:ty)*) => {
        $(impl Bits for $ty {
            #[inline(always)]
            fn not(self) -> Self {
                !self
            }
            #[inline(always)]
            fn and(self, b: Self) -> Self {
                self & b
            }
            #[inline(always)]
            fn or(self, b: Self) -> Self {
                self | b
            }
            #[inline(always)]
            fn xor(self, b: Self) -> Self {
                self ^ b
            }
            #[inline(always)]
            fn reversed(self) -> Self {
                self.reverse_bits()
            }
            #[inline(always)]
            fn ones(self) -> u32 {
                self.count_ones()
            }
            #[inline(always)]
            fn zeros_above(self) -> u32 {
                self.leading_zeros()
            }
        })*
    };
}

bits!(u16 i16 u32 i32 u64 i64);
