//! Integer arithmetic: operands, then the recorded result.

use crate::num::check;
use proptest::prelude::*;
use ptxdbg::num::int::{Int, Int24, dp2a, dp4a, halves_i16, halves_u16, mad_hi_sat, mad24_hi_sat};

fn wide(low: u64, high: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

proptest! {
    /// Sums, differences and products of two words with the carry between them are those of one word of twice the width. The carry of
    /// a difference means that nothing was borrowed.
    #[test]
    fn carries_join_words(a in any::<u64>(), b in any::<u64>(), c in any::<u64>(), d in any::<u64>()) {
        let (low, carry) = a.add_carry(c, false);
        let (high, out) = b.add_carry(d, carry);
        let (sum, overflow) = wide(a, b).overflowing_add(wide(c, d));
        prop_assert_eq!((wide(low, high), out), (sum, overflow));

        let (low, carry) = a.sub_carry(c, true);
        let (high, out) = b.sub_carry(d, carry);
        let (difference, borrow) = wide(a, b).overflowing_sub(wide(c, d));
        prop_assert_eq!((wide(low, high), out), (difference, !borrow));

        let (low, carry) = a.mul_lo(b).add_carry(c, false);
        let (high, out) = a.mul_hi(b).add_carry(d, carry);
        let (sum, overflow) = (u128::from(a) * u128::from(b)).overflowing_add(wide(c, d));
        prop_assert_eq!((wide(low, high), out), (sum, overflow));

        let (low, carry) = (a as i32).add_carry(c as i32, false);
        let (high, out) = ((a >> 32) as i32).add_carry((c >> 32) as i32, carry);
        let (sum, overflow) = a.overflowing_add(c);
        prop_assert_eq!((u64::from(high as u32) << 32 | u64::from(low as u32), out), (sum, overflow));
    }
}

/// By zero everything is all ones; the quotient that does not fit wraps.
#[test]
#[rustfmt::skip]
fn division_div() {
    check("div.u16", |[a, b]| Int::div(a as u16, b as u16), &[
        [0x338c, 0xfff3, 0x0], [0x80, 0x80, 0x1], [0x41, 0x40, 0x1], [0xb874, 0x7f, 0x173], [0x20, 0x0, 0xffff],
    ]);
    check("div.u16 by zero", |[a, b]| Int::div(a as u16, b as u16), &[
        [0x0, 0x0, 0xffff], [0xf6d, 0x0, 0xffff],
    ]);
    check("div.s16", |[a, b]| Int::div(a as i16, b as i16), &[
        [0x128e, 0x128e, 0x1], [0xfff6, 0x2c, 0x0], [0x68b3, 0x0, 0xffff], [0xfddd, 0x95b0, 0x0], [0x0, 0x21, 0x0],
    ]);
    check("div.s16 by zero", |[a, b]| Int::div(a as i16, b as i16), &[
        [0x0, 0x0, 0xffff], [0x4175, 0x0, 0xffff],
    ]);
    check("div.s16 overflow", |[a, b]| Int::div(a as i16, b as i16), &[
        [0x8000, 0xffff, 0x8000],
    ]);
    check("div.u32", |[a, b]| Int::div(a as u32, b as u32), &[
        [0x40, 0x40, 0x1], [0x10, 0x181, 0x0], [0x25a3bd59, 0xc3a1, 0x3141], [0x0, 0x5b7052a4, 0x0], [0x0, 0x0, 0xffffffff],
    ]);
    check("div.u32 by zero", |[a, b]| Int::div(a as u32, b as u32), &[
        [0x73f6, 0x0, 0xffffffff], [0x12cab502, 0x0, 0xffffffff],
    ]);
    check("div.s32", |[a, b]| Int::div(a as i32, b as i32), &[
        [0x10, 0x80, 0x0], [0xf7a76fb4, 0xadc16add, 0x0], [0x5b5, 0x56d3545e, 0x0], [0x2, 0x0, 0xffffffff], [0x1f, 0x1f, 0x1],
    ]);
    check("div.s32 by zero", |[a, b]| Int::div(a as i32, b as i32), &[
        [0x0, 0x0, 0xffffffff], [0x65b384da, 0x0, 0xffffffff],
    ]);
    check("div.s32 overflow", |[a, b]| Int::div(a as i32, b as i32), &[
        [0x80000000, 0xffffffff, 0x80000000],
    ]);
    check("div.u64", |[a, b]| Int::div(a, b), &[
        [0x24, 0xde23a399, 0x0], [0x100, 0xfffffffffffffffe, 0x0], [0x7d9b15f3689fb276, 0x70c55c900a721f, 0x11d], [0x1f, 0x1f, 0x1],
        [0x7, 0x5695275076ef7b18, 0x0],
    ]);
    check("div.u64 by zero", |[a, b]| Int::div(a, b), &[
        [0xf7d849e0, 0x0, 0xffffffffffffffff], [0xffffffffffffffbf, 0x0, 0xffffffffffffffff],
    ]);
    check("div.s64", |[a, b]| Int::div(a as i64, b as i64), &[
        [0x7, 0x1, 0x7], [0x8001, 0xc2b3, 0x0], [0x9a5ce459, 0x8001, 0x134b7], [0xfffffffffffffffe, 0x80, 0x0],
        [0x56f60f1c, 0x1, 0x56f60f1c],
    ]);
    check("div.s64 by zero", |[a, b]| Int::div(a as i64, b as i64), &[
        [0x8000000000000001, 0x0, 0xffffffffffffffff], [0x1f1, 0x0, 0xffffffffffffffff],
    ]);
    check("div.s64 overflow", |[a, b]| Int::div(a as i64, b as i64), &[
        [0x8000000000000000, 0xffffffffffffffff, 0x8000000000000000],
    ]);
}

/// By zero everything is all ones; the quotient that does not fit wraps.
#[test]
#[rustfmt::skip]
fn division_rem() {
    check("rem.u16", |[a, b]| Int::rem(a as u16, b as u16), &[
        [0x7f, 0x20, 0x1f], [0xffff, 0x789a, 0xecb], [0x9a82, 0xa0a7, 0x9a82], [0xfff8, 0x0, 0xffff], [0x448a, 0x685e, 0x448a],
    ]);
    check("rem.u16 by zero", |[a, b]| Int::rem(a as u16, b as u16), &[
        [0x33e9, 0x0, 0xffff], [0x5afd, 0x0, 0xffff],
    ]);
    check("rem.s16", |[a, b]| Int::rem(a as i16, b as i16), &[
        [0x1f39, 0xffcf, 0x6], [0xffd6, 0xffd6, 0x0], [0xff, 0x5c53, 0xff], [0x7, 0x6f5, 0x7], [0x8659, 0x5c29, 0xe282],
    ]);
    check("rem.s16 by zero", |[a, b]| Int::rem(a as i16, b as i16), &[
        [0xcf5f, 0x0, 0xffff], [0x1, 0x0, 0xffff],
    ]);
    check("rem.s16 overflow", |[a, b]| Int::rem(a as i16, b as i16), &[
        [0x8000, 0xffff, 0x0],
    ]);
    check("rem.u32", |[a, b]| Int::rem(a as u32, b as u32), &[
        [0x9500, 0x3af, 0x1a8], [0x10, 0x2, 0x0], [0x6c6f, 0x1f, 0xe], [0x100, 0x0, 0xffffffff], [0xba0, 0xfffffffe, 0xba0],
    ]);
    check("rem.u32 by zero", |[a, b]| Int::rem(a as u32, b as u32), &[
        [0x5459, 0x0, 0xffffffff], [0x4ca05686, 0x0, 0xffffffff],
    ]);
    check("rem.s32", |[a, b]| Int::rem(a as i32, b as i32), &[
        [0x7fff, 0x787, 0x8], [0x54, 0xad74, 0x54], [0x2887, 0xffffffe7, 0x0], [0x679a944e, 0x679a944e, 0x0], [0xce9d, 0x8000, 0x4e9d],
    ]);
    check("rem.s32 by zero", |[a, b]| Int::rem(a as i32, b as i32), &[
        [0x40, 0x0, 0xffffffff], [0x0, 0x0, 0xffffffff],
    ]);
    check("rem.s32 overflow", |[a, b]| Int::rem(a as i32, b as i32), &[
        [0x80000000, 0xffffffff, 0x0],
    ]);
    check("rem.u64", |[a, b]| Int::rem(a, b), &[
        [0xff, 0x100, 0xff], [0xbbeb387f, 0x7, 0x0], [0x1f, 0x4db5e1b9, 0x1f], [0x21, 0x8000, 0x21], [0x84bd22d0054d0387, 0x41, 0x12],
    ]);
    check("rem.u64 by zero", |[a, b]| Int::rem(a, b), &[
        [0x7085, 0x0, 0xffffffffffffffff], [0x0, 0x0, 0xffffffffffffffff],
    ]);
    check("rem.s64", |[a, b]| Int::rem(a as i64, b as i64), &[
        [0xfffffffffffffff8, 0x0, 0xffffffffffffffff], [0x100, 0x413904d1e8b47a05, 0x100], [0x3f366ff105049f, 0x5621, 0x1aba],
        [0x165d27c, 0x20, 0x1c], [0x36fb4b69, 0x6774443a, 0x36fb4b69],
    ]);
    check("rem.s64 by zero", |[a, b]| Int::rem(a as i64, b as i64), &[
        [0x38775b, 0x0, 0xffffffffffffffff], [0x100, 0x0, 0xffffffffffffffff],
    ]);
    check("rem.s64 overflow", |[a, b]| Int::rem(a as i64, b as i64), &[
        [0x8000000000000000, 0xffffffffffffffff, 0x0],
    ]);
}

#[test]
#[rustfmt::skip]
fn product_mul() {
    check("mul.hi.u16", |[a, b]| (a as u16).mul_hi(b as u16), &[
        [0x872f, 0xe, 0x7], [0x2, 0x80, 0x0], [0x666, 0x2522, 0xed], [0x1, 0xffff, 0x0],
    ]);
    check("mul.hi.s16", |[a, b]| (a as i16).mul_hi(b as i16), &[
        [0x9c, 0x3f, 0x0], [0x19, 0xd77f, 0xfffc], [0x1, 0x1, 0x0], [0x100, 0x100, 0x1],
    ]);
    check("mul.hi.u32", |[a, b]| (a as u32).mul_hi(b as u32), &[
        [0xc9a06af4, 0xc9a06af4, 0x9ecd4c79], [0x10, 0x8001, 0x0], [0xffffffe1, 0x23, 0x22], [0x1, 0x41, 0x0],
    ]);
    check("mul.hi.s32", |[a, b]| (a as i32).mul_hi(b as i32), &[
        [0xffffffff, 0xffffffff, 0x0], [0x7fffffff, 0x4588b919, 0x22c45c8c], [0x7, 0xc510ef96, 0xfffffffe], [0xffffffcd, 0xfffffffe, 0x0],
    ]);
    check("mul.hi.u64", |[a, b]| a.mul_hi(b), &[
        [0x8001, 0xfffffffffffffff8, 0x8000], [0x2, 0x80000000, 0x0], [0x7ebf52ae, 0x5a75774a, 0x0], [0x254, 0x40000000, 0x0],
    ]);
    check("mul.hi.s64", |[a, b]| (a as i64).mul_hi(b as i64), &[
        [0xfffffffffffffffa, 0x226, 0xffffffffffffffff], [0xffffffffffffffff, 0x2bfe270, 0xffffffffffffffff],
        [0x26, 0xffffffffffffffff, 0xffffffffffffffff], [0x2abb0708cc5ab19a, 0x7e40, 0x1512],
    ]);
}

#[test]
#[rustfmt::skip]
fn product_mad() {
    check("mad.hi.sat.s32", |[a, b, c]| mad_hi_sat(a as i32, b as i32, c as i32), &[
        [0x3f, 0x20, 0x43, 0x43], [0x41, 0xffffffdc, 0x279e, 0x279d], [0x8001, 0x0, 0xffffffff, 0xffffffff], [0x0, 0x0, 0x0, 0x0],
        [0xfffffff8, 0xffffffd8, 0x4daef4e4, 0x4daef4e4], [0x2, 0x96a099c0, 0xfffffffe, 0xfffffffd], [0x3e, 0x35b14d31, 0x20, 0x2d],
        [0xbbb, 0x7f, 0xc98, 0xc98],
    ]);
    check("mad.hi.sat.s32 at the ends", |[a, b, c]| mad_hi_sat(a as i32, b as i32, c as i32), &[
        [0x80000001, 0x7fff, 0x80000001, 0x80000000], [0x8c9a0194, 0x8c9a0194, 0x5b673c48, 0x7fffffff],
        [0x7fffffff, 0x91f7fb45, 0xa3a7c2f4, 0x80000000],
    ]);
}

#[test]
#[rustfmt::skip]
fn product_mad24() {
    check("mad24.hi.sat.s32", |[a, b, c]| mad24_hi_sat(a as i32, b as i32, c as i32), &[
        [0xfffffff8, 0xfffffff8, 0xfffffff3, 0xfffffff3], [0x509c1e30, 0xe484dc9, 0x2, 0xe3ca242a], [0x20, 0x20, 0x4000, 0x4000],
        [0x21, 0xffffffff, 0x21, 0x20], [0x3c26, 0x7f, 0x0, 0x1d], [0xd735e, 0xd735e, 0x7, 0xb4eb90], [0x20, 0x1, 0x23, 0x23],
        [0x83b8, 0x40, 0x2de9c7c8, 0x2de9c7e8],
    ]);
    check("mad24.hi.sat.s32 at the ends", |[a, b, c]| mad24_hi_sat(a as i32, b as i32, c as i32), &[
        [0x680c, 0xfffffff5, 0x80000001, 0x80000000], [0x84a58140, 0x84a58140, 0x6be58d74, 0x7fffffff],
        [0xfffffff8, 0x19, 0x80000001, 0x80000000],
    ]);
    check("mad24.hi.u32", |[a, b, c]| (a as u32).mul24_hi(b as u32).wrapping_add(c as u32), &[
        [0x3d925ee, 0x93cb4207, 0x8abd2695, 0x37263c06], [0xa9fe, 0x5d48, 0x0, 0x3df1], [0x80000001, 0x1, 0x1, 0x1],
        [0x80, 0xffffffd6, 0x80, 0x807f], [0x3c8e, 0x3dcf302e, 0x40, 0x310277],
    ]);
    check("mad24.lo.s32", |[a, b, c]| (a as i32).mul24_lo(b as i32).wrapping_add(c as i32), &[
        [0x41, 0xfffffff5, 0x1e50, 0x1b85], [0x20, 0x20, 0x8f13, 0x9313], [0x80b71d19, 0xfffffffb, 0xfffffff5, 0x16c6e78],
        [0x9, 0x9, 0x9, 0x5a], [0xb98f50c0, 0x40000000, 0xb98f50c0, 0xb98f50c0],
    ]);
}

#[test]
#[rustfmt::skip]
fn product_sad() {
    check("sad.s32", |[a, b, c]| (a as i32).sad(b as i32, c as i32), &[
        [0x20, 0x80000000, 0x20, 0x80000040], [0xc395, 0xfffffffe, 0xc395, 0x1872c], [0x3373, 0x2bcb, 0xfc72ae7b, 0xfc72b623],
        [0xcc381471, 0xffffffda, 0xd05e, 0x33c8bbc7], [0xdb8678e, 0x1f, 0x1d, 0xdb8678c],
    ]);
    check("sad.u64", |[a, b, c]| a.sad(b, c), &[
        [0x843, 0x0, 0x843, 0x1086], [0x64f, 0x1, 0x7fffffff, 0x8000064d], [0x0, 0x2, 0x0, 0x2],
        [0xbae009b60eaecac6, 0x4, 0xfffffffffffffffe, 0xbae009b60eaecac0],
    ]);
}

#[test]
#[rustfmt::skip]
fn product_dp4a() {
    check("dp4a.u32.s32", |[a, b, c]| dp4a(a as u32, b as u32, c as u32, false, true), &[
        [0x91c3, 0x41, 0x7fffffff, 0x80003182], [0x2014dc01, 0xc8562d0, 0x5f12, 0xaafe], [0x3f, 0xffffffff, 0xc6d96cb, 0xc6d968c],
        [0xb7ae, 0x9ece343e, 0x0, 0x4f50],
    ]);
}

#[test]
#[rustfmt::skip]
fn product_dp2a() {
    check("dp2a.hi.s32.u32", |[a, b, c]| dp2a(a as u32, b as u32, c as u32, true, false, true), &[
        [0x7f, 0x2fc9fd8e, 0x0, 0x63b7], [0x4981, 0xffffffe8, 0x2798, 0x495f17], [0x1f, 0x1f, 0x7f, 0x7f],
        [0xddd9, 0x4704, 0x40000000, 0x40000000],
    ]);
}

#[test]
#[rustfmt::skip]
fn saturation_and_halves() {
    check("add.sat.s32", |[a, b]| (a as i32).add_sat(b as i32), &[
        [0xed9b136d, 0x7fffffff, 0x6d9b136c], [0xfffffff8, 0x80, 0x78], [0x40, 0xff, 0x13f], [0xe79, 0x3a4d, 0x48c6],
        [0x41, 0xfffffff8, 0x39], [0xffffffe9, 0x7, 0xfffffff0],
    ]);
    check("add.sat.s32 at the ends", |[a, b]| (a as i32).add_sat(b as i32), &[
        [0x7fffffff, 0x6d7cee4, 0x7fffffff], [0xac99e995, 0xbeb28b15, 0x80000000], [0x80000000, 0x80000000, 0x80000000],
        [0x6218ec81, 0x6218ec81, 0x7fffffff],
    ]);
    check("sub.sat.s32", |[a, b]| (a as i32).sub_sat(b as i32), &[
        [0x3f, 0x100, 0xffffff3f], [0x8001, 0x7, 0x7ffa], [0x2, 0x0, 0x2], [0xd7962583, 0xd7962583, 0x0],
        [0xfffffff8, 0xffffffff, 0xfffffff9], [0xff, 0xffffffec, 0x113],
    ]);
    check("sub.sat.s32 at the ends", |[a, b]| (a as i32).sub_sat(b as i32), &[
        [0x80000000, 0x5a3b, 0x80000000], [0x694f1cec, 0xc64d09c7, 0x7fffffff], [0x8e41b83d, 0x29f9cb0f, 0x80000000],
        [0x7, 0x80000000, 0x7fffffff],
    ]);
    check("add.s16x2", |[a, b]| halves_i16(a as u32, b as u32, Int::add), &[
        [0x132ebfb5, 0xfdff6c29, 0x112d2bde], [0x200012, 0x1ff, 0x200211], [0x7fff8001, 0x7fff8001, 0xfffe0002],
    ]);
    check("max.relu.s16x2", |[a, b]| halves_i16(a as u32, b as u32, |a, b| a.max(b).relu()), &[
        [0x8000, 0x2890007, 0x2890007], [0x20003, 0x1ffff, 0x20003], [0x126ff7f, 0xfff00020, 0x1260020],
        [0xfdff007f, 0x3218001, 0x321007f],
    ]);
    check("min.u16x2", |[a, b]| halves_u16(a as u32, b as u32, u16::min), &[
        [0x200001, 0x1b56fff6, 0x200001], [0xff7f1e22, 0x6001c, 0x6001c], [0x1fff3f22, 0x1efffe2, 0x1ef3f22],
    ]);
}
