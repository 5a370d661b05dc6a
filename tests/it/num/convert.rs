//! `cvt` and `cvt.pack`: operands, then the recorded result.

use crate::num::check;
use proptest::prelude::*;
use ptxdbg::num::convert::{Conversion, Kind, f16_to_f32, f32_to_bf16, f32_to_f16, f32_to_i32, f32_to_u32, pack};
use ptxdbg::num::exact::Format;
use ptxdbg::num::{self, Rounding};

/// To nearest, without modifiers.
fn plain(to: Kind, from: Kind) -> Conversion {
    Conversion { to, from, rounding: Rounding::Nearest, integral: false, ftz: false, sat: false, relu: false, satfinite: false }
}

/// The upper and the lower half converted, into fields of `bits`.
fn pair(conversion: Conversion, high: u64, low: u64, bits: u32) -> u64 {
    conversion.apply(high) << bits | conversion.apply(low)
}

const U16: Kind = Kind::Unsigned(16);
const U32: Kind = Kind::Unsigned(32);
const U64: Kind = Kind::Unsigned(64);
const S16: Kind = Kind::Signed(16);
const S32: Kind = Kind::Signed(32);
const S64: Kind = Kind::Signed(64);
const F64: Kind = Kind::Float(Format::F64);
const F32: Kind = Kind::Float(Format::F32);
const TF32: Kind = Kind::Float(Format::TF32);
const F16: Kind = Kind::Float(Format::F16);
const BF16: Kind = Kind::Float(Format::BF16);
const E4M3: Kind = Kind::Float(Format::E4M3);
const E5M2: Kind = Kind::Float(Format::E5M2);

proptest! {
    #[test]
    fn conversions_for_lane_loops_agree_with_the_general_one(bits in any::<u32>()) {
        let (x, word) = (f32::from_bits(bits), u64::from(bits));
        for rounding in [Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up] {
            let general = |to| Conversion { rounding, ..plain(to, F32) }.apply(word);
            prop_assert_eq!(u64::from(f32_to_i32(x, rounding) as u32), general(S32));
            prop_assert_eq!(u64::from(f32_to_u32(x, rounding)), general(U32));
        }
        prop_assert_eq!(u64::from(f32_to_f16(x).0), plain(F16, F32).apply(word));
        prop_assert_eq!(u64::from(f32_to_bf16(x).0), plain(BF16, F32).apply(word));
        let half = num::F16(bits as u16);
        prop_assert_eq!(u64::from(f16_to_f32(half).to_bits()), plain(F32, F16).apply(u64::from(half.0)));
        prop_assert_eq!(f64::from(x).to_bits(), plain(F64, F32).apply(word));
        prop_assert_eq!(u64::from((bits as i32 as f32).to_bits()), plain(F32, S32).apply(word));
    }
}

#[test]
#[rustfmt::skip]
fn between_integers() {
    check("cvt.sat.u16.s64", |[a]| Conversion { sat: true, ..plain(U16, S64) }.apply(a), &[
        [0x8001, 0x8001], [0x346, 0x346], [0x3f, 0x3f], [0x0, 0x0], [0xffffffffffffffc2, 0x0],
    ]);
    check("cvt.sat.s32.u64", |[a]| Conversion { sat: true, ..plain(S32, U64) }.apply(a), &[
        [0xbf186d942, 0x7fffffff], [0x32fd8c95, 0x32fd8c95], [0x26, 0x26], [0x708c, 0x708c], [0x8000000000000001, 0x7fffffff],
    ]);
    check("cvt.sat.u64.s16", |[a]| Conversion { sat: true, ..plain(U64, S16) }.apply(a), &[
        [0x80, 0x80], [0x0, 0x0], [0xffe2, 0x0], [0x15, 0x15], [0x1, 0x1],
    ]);
    check("cvt.s16.u64", |[a]| plain(S16, U64).apply(a), &[
        [0x8cfe, 0x8cfe], [0x40000000, 0x0], [0x2, 0x2], [0x59c1, 0x59c1], [0xfffffffffffffffe, 0xfffe],
    ]);
    check("cvt.u64.s32", |[a]| plain(U64, S32).apply(a), &[
        [0x10, 0x10], [0x29d5b, 0x29d5b], [0xfffffff8, 0xfffffffffffffff8], [0x62828d86, 0x62828d86], [0x59e5, 0x59e5],
    ]);
    check("cvt.s64.u16", |[a]| plain(S64, U16).apply(a), &[
        [0xbce0, 0xbce0], [0x2, 0x2], [0x0, 0x0], [0x4000, 0x4000], [0xffff, 0xffff],
    ]);
}

#[test]
#[rustfmt::skip]
fn float_to_integer() {
    check("cvt.rni.s32.f32", |[a]| plain(S32, F32).apply(a), &[
        [0x3f000000, 0x0], [0x6735baff, 0x7fffffff], [0x80ae3fb9, 0x0], [0xbf800001, 0xffffffff], [0x7fffffff, 0x0], [0x3f800001, 0x1],
        [0xcb4c0000, 0xff340000], [0x0, 0x0],
    ]);
    check("cvt.rpi.ftz.s64.f32", |[a]| Conversion { rounding: Rounding::Up, ftz: true, ..plain(S64, F32) }.apply(a), &[
        [0xbf800000, 0xffffffffffffffff], [0x3f000000, 0x1], [0x7fffff, 0x0], [0xc5df5000, 0xffffffffffffe416], [0x4a375200, 0x2dd480],
        [0x3f92cbf4, 0x2], [0x807fffff, 0x0], [0x7f800007, 0x8000000000000000],
    ]);
    check("cvt.rmi.u16.f16", |[a]| Conversion { rounding: Rounding::Down, ..plain(U16, F16) }.apply(a), &[
        [0x5300, 0x38], [0xfc01, 0x0], [0x3c00, 0x1], [0x1, 0x0], [0xfbff, 0x0], [0x78d5, 0x9aa0], [0x8098, 0x0], [0xaf8b, 0x0],
    ]);
    check("cvt.rzi.u64.f64", |[a]| Conversion { rounding: Rounding::Zero, ..plain(U64, F64) }.apply(a), &[
        [0xbf89ad0b23d94290, 0x0], [0x26b74d942ac961f0, 0x0], [0xfff0000000000001, 0x8000000000000000], [0x800c544caf3fa022, 0x0],
        [0x1, 0x0], [0x0, 0x0], [0x7ff0000000000000, 0xffffffffffffffff], [0x4000000000000000, 0x2],
    ]);
    check("cvt.rni.u32.f64", |[a]| plain(U32, F64).apply(a), &[
        [0x7fe595e2dd81d540, 0xffffffff], [0x5bf867964eb627ba, 0xffffffff], [0x27155832c3d9ddb8, 0x0], [0xf20b44f65adf692d, 0x0],
        [0x1, 0x0], [0x800ca505c3e29511, 0x0], [0xfff0000000000000, 0x0], [0x7ff8000000000000, 0x80000000],
    ]);
    check("cvt.rzi.s16.bf16", |[a]| Conversion { rounding: Rounding::Zero, ..plain(S16, BF16) }.apply(a), &[
        [0x7fff, 0x0], [0xbf80, 0xffff], [0x3f0b, 0x0], [0xff81, 0x0], [0xff34, 0x8000], [0xc294, 0xffb6], [0x421a, 0x26], [0x8004, 0x0],
    ]);
}

#[test]
#[rustfmt::skip]
fn integer_to_float() {
    check("cvt.rn.f32.s64", |[a]| plain(F32, S64).apply(a), &[
        [0x837f, 0x47037f00], [0xafc, 0x452fc000], [0x40, 0x42800000], [0x3482fd6057617509, 0x5e520bf6], [0x827e70b2, 0x4f027e71],
    ]);
    check("cvt.rz.f32.u32", |[a]| Conversion { rounding: Rounding::Zero, ..plain(F32, U32) }.apply(a), &[
        [0x37, 0x425c0000], [0x6d5a7, 0x48dab4e0], [0xa6d713e0, 0x4f26d713], [0x0, 0x0], [0x4fc16b5d, 0x4e9f82d6],
    ]);
    check("cvt.rm.f64.s64", |[a]| Conversion { rounding: Rounding::Down, ..plain(F64, S64) }.apply(a), &[
        [0xfffffffffffffffe, 0xc000000000000000], [0x46, 0x4051800000000000], [0xffffffffffffffff, 0xbff0000000000000],
        [0x2bac81e4cc2e968c, 0x43c5d640f266174b], [0x22265, 0x4101132800000000],
    ]);
    check("cvt.rp.f16.u32", |[a]| Conversion { rounding: Rounding::Up, ..plain(F16, U32) }.apply(a), &[
        [0x1, 0x3c00], [0xb117fe5c, 0x7c00], [0x100, 0x5c00], [0x41, 0x5410], [0x0, 0x0],
    ]);
    check("cvt.rn.bf16.s32", |[a]| plain(BF16, S32).apply(a), &[
        [0xffffffd6, 0xc228], [0x37f2, 0x4660], [0x3f, 0x427c], [0x2d07f0f6, 0x4e34], [0xffffffff, 0xbf80],
    ]);
}

#[test]
#[rustfmt::skip]
fn between_floats() {
    check("cvt.rn.f32.f64", |[a]| plain(F32, F64).apply(a), &[
        [0xfffffffffffff, 0x0], [0x7fd23690a24aff28, 0x7f800000], [0x4024b4c20ce8cfce, 0x4125a610], [0x10000000000001, 0x0],
        [0xbc99b4b82e700000, 0xa4cda5c1], [0x7fed0611ce9506f4, 0x7f800000], [0xfff8000000000000, 0xffc00000],
    ]);
    check("cvt.rp.f32.f64", |[a]| Conversion { rounding: Rounding::Up, ..plain(F32, F64) }.apply(a), &[
        [0x1, 0x1], [0x1ffc9035dd367a73, 0x1], [0xffd9986413d5316f, 0xff7fffff], [0x40bf2431a0000000, 0x45f9218d],
        [0x7fd05a97f1e716c4, 0x7f800000], [0x7ff0000000000000, 0x7f800000], [0x9ff83edfa5bae726, 0x80000000],
    ]);
    check("cvt.rm.ftz.f16.f32", |[a]| Conversion { rounding: Rounding::Down, ftz: true, ..plain(F16, F32) }.apply(a), &[
        [0xfef46ef2, 0xfc00], [0x884070d1, 0x8001], [0x7f800000, 0x7c00], [0x7fc00005, 0x7fff], [0x800001, 0x0], [0x1f8a9ae0, 0x0],
        [0x3fc00000, 0x3e00],
    ]);
    check("cvt.rz.bf16.f32", |[a]| Conversion { rounding: Rounding::Zero, ..plain(BF16, F32) }.apply(a), &[
        [0xcdbbfa3, 0xcdb], [0x9ad6f4, 0x9a], [0xc8ba8000, 0xc8ba], [0xffc00005, 0x7fff], [0x7fc00005, 0x7fff], [0x0, 0x0], [0x2, 0x0],
    ]);
    check("cvt.f64.f32", |[a]| plain(F64, F32).apply(a), &[
        [0xbf95b500, 0xbff2b6a000000000], [0x7f7fffff, 0x47efffffe0000000], [0x3d502991, 0x3faa053220000000],
        [0x7f800001, 0x7ff8000020000000], [0x80000002, 0xb6b0000000000000], [0x2de1d9, 0x37f6f0ec80000000],
        [0x7f800000, 0x7ff0000000000000],
    ]);
    check("cvt.f32.f16", |[a]| plain(F32, F16).apply(a), &[
        [0xd400, 0xc2800000], [0x248a, 0x3c914000], [0x783b, 0x47076000], [0x8400, 0xb8800000], [0x602, 0x38c04000], [0x2, 0x34000000],
        [0xface, 0xc759c000],
    ]);
    check("cvt.rn.f16.f64", |[a]| plain(F16, F64).apply(a), &[
        [0xffffffffffffffff, 0xffff], [0xcaccf9f889e69990, 0xfc00], [0x4152000000000000, 0x7c00], [0x4000000000000000, 0x4000],
        [0x90bc856629e4c99d, 0x8000], [0x7fec0e52cf785715, 0x7c00], [0x1ff827bd1fa8e0e1, 0x0],
    ]);
    check("cvt.rni.f32.f32", |[a]| Conversion { integral: true, ..plain(F32, F32) }.apply(a), &[
        [0x8051f91d, 0x80000000], [0xbfe6a63d, 0xc0000000], [0x3fecc4ff, 0x40000000], [0x3a433760, 0x0], [0x7fffffff, 0x7fffffff],
        [0x7f5185a8, 0x7f5185a8], [0xff800001, 0x7fffffff],
    ]);
    check("cvt.rmi.f64.f64", |[a]| Conversion { rounding: Rounding::Down, integral: true, ..plain(F64, F64) }.apply(a), &[
        [0xbea63f7550000000, 0xbff0000000000000], [0x8010000000000000, 0xbff0000000000000], [0x3fac4f42e2ec6b9c, 0x0],
        [0x7ff0000000000007, 0x7ff8000000000007], [0x800fffffffffffff, 0xbff0000000000000], [0x2, 0x0],
        [0x6b5c6d0c40a6d6f7, 0x6b5c6d0c40a6d6f7],
    ]);
    check("cvt.sat.f32.f32", |[a]| Conversion { sat: true, ..plain(F32, F32) }.apply(a), &[
        [0x80f4ac03, 0x0], [0x40347c1a, 0x3f800000], [0x0, 0x0], [0xbfc00000, 0x0], [0xff800001, 0x0], [0x7f7fffff, 0x3f800000],
        [0x72ba6d, 0x72ba6d],
    ]);
    check("cvt.rn.ftz.f32.f64", |[a]| Conversion { ftz: true, ..plain(F32, F64) }.apply(a), &[
        [0xb80fffffffec2000, 0x80800000], [0x380fffffffffffec, 0x800000], [0xb80ff60000000000, 0x80000000], [0x3800000003fc0000, 0x0],
        [0xb80fff8000000018, 0x80000000], [0xb81000000bfffff8, 0x80800000],
    ]);
}

#[test]
#[rustfmt::skip]
fn nans() {
    check("cvt.rn.f32.f64", |[a]| plain(F32, F64).apply(a), &[
        [0xfff8000000000000, 0xffc00000], [0x7ff8000000000000, 0x7fc00000], [0xffffffffffffffff, 0xffffffff],
    ]);
    check("cvt.f64.f32", |[a]| plain(F64, F32).apply(a), &[
        [0x7fc00005, 0x7ff80000a0000000], [0xffffffff, 0xffffffffe0000000], [0x7fffffff, 0x7fffffffe0000000],
    ]);
    check("cvt.f32.f32", |[a]| plain(F32, F32).apply(a), &[
        [0x7fffffff, 0x7fffffff], [0xffc00000, 0xffc00000], [0x7f800007, 0x7f800007],
    ]);
    check("cvt.rni.f32.f32", |[a]| Conversion { integral: true, ..plain(F32, F32) }.apply(a), &[
        [0x7f800001, 0x7fffffff], [0xffffffff, 0x7fffffff],
    ]);
    check("cvt.f64.f16", |[a]| plain(F64, F16).apply(a), &[
        [0x7e05, 0x7ff8140000000000], [0xfc07, 0xfff81c0000000000], [0x7e00, 0x7ff8000000000000],
    ]);
    check("cvt.rn.bf16.f64", |[a]| plain(BF16, F64).apply(a), &[
        [0x7ff8000000000000, 0x7fc0], [0xffffffffffffffff, 0xffff],
    ]);
    check("cvt.rni.s64.f32", |[a]| plain(S64, F32).apply(a), &[
        [0x7fc00005, 0x8000000000000000], [0xff800001, 0x8000000000000000],
    ]);
    check("cvt.rni.s16.f64", |[a]| plain(S16, F64).apply(a), &[
        [0x7ff8000000000000, 0x8000], [0xfff0000000000007, 0x8000],
    ]);
}

#[test]
#[rustfmt::skip]
fn tf32() {
    check("cvt.rna.tf32.f32", |[a]| Conversion { rounding: Rounding::NearestAway, ..plain(TF32, F32) }.apply(a) << 13, &[
        [0x477fff00, 0x47800000], [0x80800002, 0x80800000], [0x8636cd, 0x864000], [0x32d272, 0x32e000], [0xa90dccee, 0xa90dc000],
        [0x800f0bd0, 0x800f0000], [0xffe9396b, 0xffe92000],
    ]);
    check("cvt.rn.tf32.f32", |[a]| plain(TF32, F32).apply(a) << 13, &[
        [0x6b0dd4, 0x6b0000], [0x80800001, 0x80800000], [0xcac13471, 0xcac14000], [0x800002, 0x800000], [0x38227e7b, 0x38228000],
        [0x80092360, 0x80092000], [0xff6ec983, 0xff6ec000],
    ]);
    check("cvt.rz.relu.tf32.f32", |[a]| Conversion { rounding: Rounding::Zero, relu: true, ..plain(TF32, F32) }.apply(a) << 13, &[
        [0x8149fd39, 0x0], [0x80dacd49, 0x0], [0x302ed25d, 0x302ec000], [0x4fe6d9, 0x4fe000], [0x800000, 0x800000], [0x8000164b, 0x0],
        [0xff16806f, 0x0],
    ]);
    check("cvt.rna.satfinite.tf32.f32", |[a]|
        Conversion { rounding: Rounding::NearestAway, satfinite: true, ..plain(TF32, F32) }.apply(a) << 13, &[
        [0x8031a817, 0x8031a000], [0x55cb9f91, 0x55cba000], [0xfda0740c, 0xfda08000], [0x264074, 0x264000], [0x80800000, 0x80800000],
        [0xd58687, 0xd58000], [0xff2f17ce, 0xff2f2000],
    ]);
    check("cvt.rna.tf32.f32", |[a]| Conversion { rounding: Rounding::NearestAway, ..plain(TF32, F32) }.apply(a) << 13, &[
        [0xffaddec2, 0xffadc000], [0x7f976b74, 0x7f976000], [0x7f8004a0, 0x7f800000],
    ]);
    check("cvt.rna.satfinite.tf32.f32", |[a]|
        Conversion { rounding: Rounding::NearestAway, satfinite: true, ..plain(TF32, F32) }.apply(a) << 13, &[
        [0x7fa5b548, 0x7fa58000], [0xff93c07e, 0xff93a000], [0x7f8004a0, 0x7f7fe000],
    ]);
}

#[test]
#[rustfmt::skip]
fn eight_bit_floats() {
    check("cvt.rn.satfinite.e4m3x2.f32", |[a, b]| pair(Conversion { satfinite: true, ..plain(E4M3, F32) }, a, b, 8), &[
        [0xc77fffec, 0xb68001ca, 0xfe80], [0x4b0eb3c5, 0xbf000008, 0x7eb0], [0x80800000, 0x3f7ffffb, 0x8038], [0xbf18, 0xbf7ffffe, 0xb8],
        [0x92d9a6, 0xbf800005, 0xb8], [0x170c42b, 0x3f079032, 0x30], [0x8047d8f9, 0xbf39e74b, 0x80b4], [0x800000, 0x3480038d, 0x0],
        [0x9702c444, 0x340002f6, 0x8000], [0xffe9396b, 0x3f000006, 0x7f30],
    ]);
    check("cvt.rn.f16x2.e4m3x2", |[a]| pair(plain(F16, E4M3), a >> 8, a & 0xff, 16), &[
        [0x400c, 0x40002600], [0xd4ba, 0xca00bd00], [0x51, 0x4880], [0xc2, 0xc100], [0x8000, 0x80000000], [0x7fff, 0x7fff7fff],
        [0x1, 0x1800], [0x0, 0x0],
    ]);
    check("cvt.rn.satfinite.e5m2x2.f32", |[a, b]| pair(Conversion { satfinite: true, ..plain(E5M2, F32) }, a, b, 8), &[
        [0xacbc44, 0xbf000004, 0xb8], [0xc6ffe000, 0x3f8000d8, 0xf83c], [0x120b68b, 0x3f4e8b01, 0x3a], [0x38414, 0xbf7ffff9, 0xbc],
        [0x803e0722, 0x3f7ffff9, 0x803c], [0x80800002, 0xbf800000, 0x80bc], [0x16570cf, 0x36800077, 0x0],
        [0x80800003, 0x2f80017a, 0x8000], [0xff398661, 0xbf0a147a, 0xfbb8], [0xffd65566, 0x3f7ffffa, 0x7f3c],
    ]);
    check("cvt.rn.f16x2.e5m2x2", |[a]| pair(plain(F16, E5M2), a >> 8, a & 0xff, 16), &[
        [0xfcc2, 0xfc00c200], [0x6e17, 0x6e001700], [0xeb, 0xeb00], [0x47, 0x4700], [0x1, 0x100], [0xffff, 0x7fff7fff],
        [0x7fff, 0x7fff7fff], [0x0, 0x0],
    ]);
}

#[test]
#[rustfmt::skip]
fn packing() {
    check("cvt.pack.sat.u8.s32.b32", |[a, b, c]| pack(a as i32, b as i32, c as u32, 8, false), &[
        [0xedf20989, 0xf448514, 0x1, 0x100ff], [0xa4a32940, 0xafa4da50, 0xfffffee3, 0xfee30000],
        [0x32efceff, 0x92d1, 0x34f0f136, 0xf136ffff], [0xacfac222, 0x3ca90, 0x3a95, 0x3a9500ff],
    ]);
    check("cvt.pack.sat.s8.s32.b32", |[a, b, c]| pack(a as i32, b as i32, c as u32, 8, true), &[
        [0xd527bf0f, 0x1e548d45, 0x3c1a3921, 0x3921807f], [0x40507d41, 0x2a17, 0x1b26e, 0xb26e7f7f], [0xb291c1f9, 0xc2a2, 0x2d, 0x2d807f],
        [0xa1588776, 0xf59d291b, 0x5b5, 0x5b58080],
    ]);
    check("cvt.pack.sat.u4.s32.b32", |[a, b, c]| pack(a as i32, b as i32, c as u32, 4, false), &[
        [0x577f90e0, 0x487a0e, 0x4a3d8253, 0x3d8253ff], [0x94561dc5, 0xf63e79c2, 0x3189a31f, 0x89a31f00],
        [0x499c74bb, 0xfef, 0x7d9b, 0x7d9bff], [0xb306765a, 0x4efccf5, 0x13a13, 0x13a130f],
    ]);
    check("cvt.pack.sat.s2.s32.b32", |[a, b, c]| pack(a as i32, b as i32, c as u32, 2, true), &[
        [0x404caf6e, 0x75, 0xe1a30c73, 0x1a30c735], [0xbaf0b203, 0x2d36939a, 0x63bd38e5, 0x3bd38e59],
        [0x8f4ff323, 0x87c0ada7, 0x2292, 0x2292a], [0xd8a86562, 0xe7c6f14c, 0x3c, 0x3ca],
    ]);
    check("cvt.pack.sat.s16.s32", |[a, b]| pack(a as i32, b as i32, 0, 16, true), &[
        [0xbe4eb96a, 0x4ff17cf, 0x80007fff], [0x204fdcfd, 0x6cdac, 0x7fff7fff], [0xcec5f, 0xffffff58, 0x7fffff58],
        [0x1c16b6d0, 0x13, 0x7fff0013],
    ]);
}
