//! `f32` and `f64` arithmetic: operands, then the recorded result.

use crate::num::check;
use ptxdbg::num::float::{Extremum, Float, TestProperty, abs, add, copysign, div, fma, max, min, mul, neg, rcp, sqrt, sub, test};
use ptxdbg::num::{Mode, Rounding};

const RN: Mode = Mode { rounding: Rounding::Nearest, ftz: false, sat: false };
const RZ: Mode = Mode { rounding: Rounding::Zero, ..RN };
const RM: Mode = Mode { rounding: Rounding::Down, ..RN };
const RP: Mode = Mode { rounding: Rounding::Up, ..RN };

fn ftz(mode: Mode) -> Mode {
    Mode { ftz: true, ..mode }
}

fn sat(mode: Mode) -> Mode {
    Mode { sat: true, ..mode }
}

#[test]
fn classes() {
    let classes = [
        TestProperty::Finite,
        TestProperty::Infinite,
        TestProperty::Number,
        TestProperty::NotANumber,
        TestProperty::Normal,
        TestProperty::Subnormal,
    ];
    let of = |bits: u32| classes.map(|class| test(f32::from_bits(bits), class));
    // As recorded, zero is normal.
    assert_eq!(of(0x8000_0000), [true, false, true, false, true, false]);
    assert_eq!(of(0x0000_0001), [true, false, true, false, false, true]);
    assert_eq!(of(0x0080_0000), [true, false, true, false, true, false]);
    assert_eq!(of(0xff80_0000), [false, true, true, false, false, false]);
    assert_eq!(of(0x7f80_0001), [false, false, false, true, false, false]);
}

#[test]
fn copysign_takes_the_sign_of_its_first_operand() {
    assert_eq!(copysign(f32::from_bits(0xffff_ffff), 1.5).to_bits(), 0xbfc0_0000);
    assert_eq!(copysign(1.0, f32::from_bits(0xffc0_0001)).to_bits(), 0x7fc0_0001);
}

#[test]
#[rustfmt::skip]
fn f32_add() {
    check("add.rn.f32", |[a, b]| add(f32::from_word(a), f32::from_word(b), RN).word(), &[
        [0x3fb67a7d, 0x59546ad7, 0x59546ad7], [0x3f328330, 0xbf800001, 0xbe9af9a4], [0x419241a9, 0xff7fffff, 0xff7fffff],
        [0x3, 0xdf87519f, 0xdf87519f], [0xbeedbea, 0xffffffff, 0x7fffffff], [0xc0000000, 0x367eab80, 0xbfffffe0],
    ]);
    check("add.rz.f32", |[a, b]| add(f32::from_word(a), f32::from_word(b), RZ).word(), &[
        [0x3ec8647b, 0x8751dc72, 0x3ec8647a], [0x7fffff, 0xbfc00000, 0xbfbfffff], [0x3f4b3a40, 0xffc00000, 0x7fffffff],
        [0x80000002, 0x7f7fffff, 0x7f7ffffe], [0x7f800000, 0x800000, 0x7f800000], [0x74241596, 0x2, 0x74241596],
    ]);
    check("add.rm.f32", |[a, b]| add(f32::from_word(a), f32::from_word(b), RM).word(), &[
        [0x2, 0x3f000000, 0x3f000000], [0x3e5f9da0, 0x80000000, 0x3e5f9da0], [0x45fbf2, 0x80000003, 0x45fbef],
        [0x38b3b000, 0x7f800007, 0x7fffffff], [0xff7fffff, 0xb9540000, 0xff800000], [0x80000000, 0x2, 0x2],
    ]);
    check("add.rp.f32", |[a, b]| add(f32::from_word(a), f32::from_word(b), RP).word(), &[
        [0xff800007, 0xaa3658b8, 0x7fffffff], [0x7f800001, 0x39089c99, 0x7fffffff], [0x42c60000, 0x3fc00000, 0x42c90000],
        [0xb4e00000, 0xb4e00000, 0xb5600000], [0x739c546d, 0x7fffff, 0x739c546e], [0x3e6b3d0d, 0x7fc00005, 0x7fffffff],
    ]);
}

#[test]
#[rustfmt::skip]
fn f32_sub() {
    check("sub.rn.f32", |[a, b]| sub(f32::from_word(a), f32::from_word(b), RN).word(), &[
        [0x7fc00005, 0x7fc00005, 0x7fffffff], [0x3dfd3c12, 0x3dfd3c12, 0x0], [0x80000003, 0x406e8d2c, 0xc06e8d2c],
        [0xc0000000, 0x5facd6ea, 0xdfacd6ea], [0x8baaf528, 0x2, 0x8baaf528], [0xfed306d6, 0xbf000000, 0xfed306d6],
    ]);
    check("sub.rz.f32", |[a, b]| sub(f32::from_word(a), f32::from_word(b), RZ).word(), &[
        [0x7f800001, 0x800001, 0x7fffffff], [0x3fc00000, 0x7f7fffff, 0xff7ffffe], [0x9fe8a6fc, 0xff800007, 0x7fffffff],
        [0xbb100000, 0xdba7ac7c, 0x5ba7ac7b], [0xc0000000, 0xc0000000, 0x0], [0x7fc00000, 0x3d5ff632, 0x7fffffff],
    ]);
    check("sub.rm.f32", |[a, b]| sub(f32::from_word(a), f32::from_word(b), RM).word(), &[
        [0x1d96b1b4, 0x41c7b72f, 0xc1c7b72f], [0x80000002, 0x2, 0x80000004], [0x7f800001, 0x6bdde477, 0x7fffffff],
        [0xa623ef55, 0xfee939ed, 0x7ee939ec], [0x7fffff, 0xb94ea18c, 0x394ea18c], [0xff7fffff, 0x45f0a700, 0xff800000],
    ]);
    check("sub.rp.f32", |[a, b]| sub(f32::from_word(a), f32::from_word(b), RP).word(), &[
        [0x3caee241, 0x0, 0x3caee241], [0x7f7fffff, 0x414f3000, 0x7f7fffff], [0xff800007, 0x80974f66, 0x7fffffff],
        [0x3653ded7, 0x3653ded7, 0x0], [0x3ab00000, 0x3f9bb450, 0xbf9b8850], [0x85d90a, 0x7f800000, 0xff800000],
    ]);
}

#[test]
#[rustfmt::skip]
fn f32_mul() {
    check("mul.rn.f32", |[a, b]| mul(f32::from_word(a), f32::from_word(b), RN).word(), &[
        [0x3f800000, 0x82a6a628, 0x82a6a628], [0x79df4308, 0xff800007, 0x7fffffff], [0xff7fffff, 0xb3db1d6f, 0x73db1d6e],
        [0xbfac247, 0x9979e9d2, 0x80000000], [0x3f5801b5, 0x1fe29075, 0x1fbf2b65], [0xfee2ee52, 0x40c1211f, 0xff800000],
    ]);
    check("mul.rz.f32", |[a, b]| mul(f32::from_word(a), f32::from_word(b), RZ).word(), &[
        [0x1, 0xb504f5f6, 0x80000000], [0xcfeb1605, 0x80000003, 0x6305083], [0x2, 0x800000, 0x0], [0x35323a84, 0x7aa4696, 0x1da30],
        [0xff800000, 0x2561ec53, 0xff800000], [0x800000, 0xff7fffff, 0xc07fffff],
    ]);
    check("mul.rm.f32", |[a, b]| mul(f32::from_word(a), f32::from_word(b), RM).word(), &[
        [0xbda4f09d, 0x48b20c08, 0xc6e56e1c], [0x3, 0x3f3e8882, 0x2], [0x3f8e1eb7, 0xbf800000, 0xbf8e1eb7],
        [0x43580000, 0x80800000, 0x84580000], [0x3f40b800, 0xbd9c9d2, 0xba3f3e6], [0x3ef00000, 0x80000001, 0x80000001],
    ]);
    check("mul.rp.f32", |[a, b]| mul(f32::from_word(a), f32::from_word(b), RP).word(), &[
        [0xbfc00000, 0xffffffff, 0x7fffffff], [0x9692a716, 0xb7900000, 0xea4fbf9], [0x74b62cae, 0x7f30960d, 0x7f800000],
        [0x402b6f1f, 0x40000000, 0x40ab6f1f], [0x331e97b7, 0x7fc00000, 0x7fffffff], [0xbfc00000, 0x80800001, 0xc00002],
    ]);
}

#[test]
#[rustfmt::skip]
fn f32_fma() {
    check("fma.rn.f32", |[a, b, c]| fma(f32::from_word(a), f32::from_word(b), f32::from_word(c), RN).word(), &[
        [0x8077bf32, 0x3f4c9a87, 0x3fc00000, 0x3fc00000], [0x44224000, 0xff13a442, 0xff7fffff, 0xff800000],
        [0x3d8b7f5a, 0x80800000, 0x8ab8d74a, 0x8ab8d74b], [0x9faa2bc4, 0xb0c82e3b, 0xbb8d3003, 0xbb8d3003],
        [0x800001, 0x7f7fffff, 0xa09138c6, 0x40800000], [0x8024bcc7, 0x1f8db503, 0x8024bcc7, 0x8024bcc7],
    ]);
    check("fma.rz.f32", |[a, b, c]| fma(f32::from_word(a), f32::from_word(b), f32::from_word(c), RZ).word(), &[
        [0x415158e3, 0x415158e3, 0x7f800007, 0x7fffffff], [0xdffa8663, 0x800000, 0x3f800000, 0x3f7fffff],
        [0x3f2f01bb, 0xc6c00000, 0x80000000, 0xc683414c], [0x7fc00000, 0xc3c11e60, 0x7fffff, 0x7fffffff],
        [0x40215d82, 0x7fc00005, 0x7f7fffff, 0x7fffffff], [0x424a9e2e, 0xfed3bf08, 0x89a65e6b, 0xff7fffff],
    ]);
    check("fma.rm.f32", |[a, b, c]| fma(f32::from_word(a), f32::from_word(b), f32::from_word(c), RM).word(), &[
        [0x7fffffff, 0x41fff955, 0x80800000, 0x7fffffff], [0x3f93cd7f, 0xca720000, 0x7f800007, 0x7fffffff],
        [0xd25bcc81, 0x80000003, 0xd25bcc81, 0xd25bcc81], [0x9967960f, 0x9967960f, 0x3f7fffff, 0x3f7fffff],
        [0x80966b65, 0x7f5300a8, 0xc674d080, 0xc674e000], [0xc0000000, 0x3f000000, 0xff7fffff, 0xff800000],
    ]);
    check("fma.rp.f32", |[a, b, c]| fma(f32::from_word(a), f32::from_word(b), f32::from_word(c), RP).word(), &[
        [0x3fc00000, 0xc32fdc00, 0x3fc00000, 0xc3832500], [0x7f800001, 0x800001, 0x7f800001, 0x7fffffff],
        [0x7f69e805, 0x3daf1d59, 0xbf800001, 0x7da0006d], [0xbf800000, 0x3e4c0000, 0xffc00005, 0x7fffffff],
        [0xff800000, 0x4901ad5e, 0x60a7b98a, 0xff800000], [0xb5500000, 0x9fbe0d52, 0x7f7fffff, 0x7f800000],
    ]);
}

#[test]
#[rustfmt::skip]
fn f32_div() {
    check("div.rn.f32", |[a, b]| div(f32::from_word(a), f32::from_word(b), RN).word(), &[
        [0xff800001, 0x7f800007, 0x7fffffff], [0x120f5a, 0x6289643e, 0x0], [0x41f60fee, 0x7ee797e2, 0x287ff33],
        [0x80800000, 0x4120f33b, 0x800cb975], [0x8ba84d06, 0xd9ab10c9, 0x0], [0x1fc5f688, 0xa78063aa, 0xb7c55cdc],
    ]);
    check("div.rz.f32", |[a, b]| div(f32::from_word(a), f32::from_word(b), RZ).word(), &[
        [0x3fac8603, 0x34ca36d4, 0x4a5a697c], [0x86f2c9, 0xb3c00000, 0x8c33ee61], [0x80000001, 0xff0f5919, 0x0], [0x2, 0x497a6b50, 0x0],
        [0x7fffff, 0x7fffff, 0x3f800000], [0x80000002, 0x83a3df, 0xb478ebcb],
    ]);
    check("div.rm.f32", |[a, b]| div(f32::from_word(a), f32::from_word(b), RM).word(), &[
        [0x800000, 0x800000, 0x3f800000], [0xbf8703c6, 0x8b9e5868, 0x735a47ed], [0x79999903, 0xbfaf0c7c, 0xf960a100],
        [0x7c72a1aa, 0x7fc00000, 0x7fffffff], [0xffc00005, 0x7fffff, 0x7fffffff], [0x800000, 0xbf800001, 0x80800000],
    ]);
    check("div.rp.f32", |[a, b]| div(f32::from_word(a), f32::from_word(b), RP).word(), &[
        [0xe758082f, 0x1, 0xff7fffff], [0xff800000, 0xffc00005, 0x7fffffff], [0x7fc00005, 0x417665c8, 0x7fffffff], [0x2, 0x3fc00000, 0x2],
        [0x7fffff, 0xc67ba800, 0x80000208], [0x7f7fffff, 0x7fc00005, 0x7fffffff],
    ]);
}

#[test]
#[rustfmt::skip]
fn f32_rcp() {
    check("rcp.rn.f32", |[a]| rcp(f32::from_word(a), RN).word(), &[
        [0x3c8642c3, 0x42740ff4], [0xb5446c00, 0xc9a6d319], [0x8fb3c2, 0x7e6406f4], [0x7fc00000, 0x7fffffff],
    ]);
    check("rcp.rz.f32", |[a]| rcp(f32::from_word(a), RZ).word(), &[
        [0x3, 0x7f7fffff], [0x66679f60, 0x188d78b6], [0xccd1fd49, 0xb21c0bc5], [0x806de8d2, 0xfe951172],
    ]);
    check("rcp.rm.f32", |[a]| rcp(f32::from_word(a), RM).word(), &[
        [0xe576a183, 0x9984dcce], [0xb69879, 0x7e3374e9], [0xff1507df, 0x8036f7f2], [0x3f800001, 0x3f7ffffe],
    ]);
    check("rcp.rp.f32", |[a]| rcp(f32::from_word(a), RP).word(), &[
        [0x3f800001, 0x3f7fffff], [0x1, 0x7f800000], [0xbf800001, 0xbf7ffffe], [0xff02f7cd, 0x803e8cb5],
    ]);
}

#[test]
#[rustfmt::skip]
fn f32_sqrt() {
    check("sqrt.rn.f32", |[a]| sqrt(f32::from_word(a), RN).word(), &[
        [0x3fe7a782, 0x3fac3265], [0xe12ded72, 0x7fffffff], [0xff800000, 0x7fffffff], [0x7f7fffff, 0x5f7fffff],
    ]);
    check("sqrt.rz.f32", |[a]| sqrt(f32::from_word(a), RZ).word(), &[
        [0xbf816a8, 0x25b23343], [0xb76ebf93, 0x7fffffff], [0x7fffff, 0x1ffffffe], [0x800001, 0x20000000],
    ]);
    check("sqrt.rm.f32", |[a]| sqrt(f32::from_word(a), RM).word(), &[
        [0x453e8000, 0x425cd5b4], [0xddcc2ba4, 0x7fffffff], [0x7f800007, 0x7fffffff], [0xff800000, 0x7fffffff],
    ]);
    check("sqrt.rp.f32", |[a]| sqrt(f32::from_word(a), RP).word(), &[
        [0xdf9f1b28, 0x7fffffff], [0x3f800000, 0x3f800000], [0x7f800007, 0x7fffffff], [0xff800000, 0x7fffffff],
    ]);
}

#[test]
#[rustfmt::skip]
fn flush_add() {
    check("add.rn.ftz.f32", |[a, b]| add(f32::from_word(a), f32::from_word(b), ftz(RN)).word(), &[
        [0xba149a6, 0xdfc02d18, 0xdfc02d18], [0x0, 0x401c4000, 0x401c4000], [0x1, 0x7f800007, 0x7fffffff],
        [0xc0000000, 0x40400000, 0x3f800000], [0x1feee4d8, 0x414695, 0x1feee4d8],
    ]);
    check("add.rz.ftz.f32", |[a, b]| add(f32::from_word(a), f32::from_word(b), ftz(RZ)).word(), &[
        [0x2de5cb, 0x7fffffff, 0x7fffffff], [0x3f000000, 0x3e6535e5, 0x3f394d79], [0xbf800001, 0x3d016161, 0xbf77e9eb],
        [0x8be5de18, 0xce0b3d26, 0xce0b3d26], [0x7f800000, 0x7f800000, 0x7f800000],
    ]);
    check("add.rp.ftz.f32", |[a, b]| add(f32::from_word(a), f32::from_word(b), ftz(RP)).word(), &[
        [0x80000003, 0x800001, 0x800001], [0x800001, 0x724889d8, 0x724889d9], [0xd04bc0c5, 0xd04bc0c5, 0xd0cbc0c5],
        [0x80000001, 0x80000001, 0x80000000], [0x3ffbec23, 0xb9d29000, 0x3ffbdefa],
    ]);
}

#[test]
#[rustfmt::skip]
fn flush_mul() {
    check("mul.rn.ftz.f32", |[a, b]| mul(f32::from_word(a), f32::from_word(b), ftz(RN)).word(), &[
        [0x0, 0x3db1649c, 0x0], [0x4ea4c478, 0x45919c53, 0x54bb6fca], [0xc109fa, 0xbf000000, 0x80000000],
        [0x9d38233f, 0x3dc11743, 0x9b8ae34e], [0x6c24e5, 0x6c24e5, 0x0],
    ]);
    check("mul.rz.ftz.f32", |[a, b]| mul(f32::from_word(a), f32::from_word(b), ftz(RZ)).word(), &[
        [0x40000000, 0x3f000000, 0x3f800000], [0x800fc384, 0xc0000000, 0x0], [0xff59f8c7, 0xc0000000, 0x7f7fffff],
        [0xce76d54b, 0xbf11c13c, 0x4e0c8920], [0x3f7fffff, 0xfed3603c, 0xfed3603b],
    ]);
    check("mul.rp.ftz.f32", |[a, b]| mul(f32::from_word(a), f32::from_word(b), ftz(RP)).word(), &[
        [0x3eedc0a3, 0x3eedc0a3, 0x3e5cce3f], [0x2, 0x3f800001, 0x0], [0xc0000000, 0x40000000, 0xc0800000],
        [0xff800001, 0xbfc00000, 0x7fffffff], [0xff49b213, 0xbf9ec00b, 0x7f7a266c],
    ]);
}

#[test]
#[rustfmt::skip]
fn flush_fma() {
    check("fma.rn.ftz.f32", |[a, b, c]| fma(f32::from_word(a), f32::from_word(b), f32::from_word(c), ftz(RN)).word(), &[
        [0x40000000, 0x7fc00005, 0x80000001, 0x7fffffff], [0x418f4495, 0x40263a3c, 0xedac778c, 0xedac778c],
        [0x80000003, 0x3fc00000, 0x67d0294f, 0x67d0294f], [0x2efc37, 0x80000002, 0x5f8a7dee, 0x5f8a7dee],
        [0xc0000000, 0xff53a61a, 0x41953300, 0x7f800000],
    ]);
    check("fma.rz.ftz.f32", |[a, b, c]| fma(f32::from_word(a), f32::from_word(b), f32::from_word(c), ftz(RZ)).word(), &[
        [0x17cf927f, 0x3fcd4682, 0x3f9f9dbf, 0x3f9f9dbf], [0xbf800001, 0x3f7fffff, 0xdd09aa24, 0xdd09aa24],
        [0x3f800000, 0x7fc00000, 0x807cb6f2, 0x7fffffff], [0x7f800000, 0x9ff8a1ea, 0x2ca44b1f, 0xff800000],
        [0x7fffffff, 0x7fffffff, 0x7fc00000, 0x7fffffff],
    ]);
    check("fma.rp.ftz.f32", |[a, b, c]| fma(f32::from_word(a), f32::from_word(b), f32::from_word(c), ftz(RP)).word(), &[
        [0xff7fffff, 0x3d17a0a7, 0xc9a50000, 0xfd17a0a6], [0x1fd9c054, 0x7fffff, 0x7ea5dec1, 0x7ea5dec1],
        [0x368f5680, 0x7f1e656a, 0xff800007, 0x7fffffff], [0xbf800000, 0xffc00005, 0xbf800000, 0x7fffffff],
        [0x80800000, 0x80800000, 0xa18e1f70, 0xa18e1f6f],
    ]);
}

#[test]
#[rustfmt::skip]
fn flush_div() {
    check("div.rn.ftz.f32", |[a, b]| div(f32::from_word(a), f32::from_word(b), ftz(RN)).word(), &[
        [0xf1f909b8, 0x3f7fffff, 0xf1f909b9], [0x2f08bd90, 0xc0000000, 0xae88bd90], [0x7f800001, 0x57a93140, 0x7fffffff],
        [0xb6480000, 0xb6480000, 0x3f800000], [0x8bc09530, 0x7fc00005, 0x7fffffff],
    ]);
    check("div.rz.ftz.f32", |[a, b]| div(f32::from_word(a), f32::from_word(b), ftz(RZ)).word(), &[
        [0x22857e3e, 0xc18d0000, 0xa0725ed9], [0xdfa5bf9f, 0x45b1a000, 0xd96ee216], [0x3fc00000, 0x800001, 0x7ebffffe],
        [0x7f800000, 0x7f800000, 0x7fffffff], [0xc00e5600, 0x807fffff, 0x7f800000],
    ]);
    check("div.rp.ftz.f32", |[a, b]| div(f32::from_word(a), f32::from_word(b), ftz(RP)).word(), &[
        [0x7fffffff, 0x47a01160, 0x7fffffff], [0x40cd770d, 0x42f2996a, 0x3d58d086], [0xa4f05, 0x13938a17, 0x0],
        [0x2e957f, 0xff800001, 0x7fffffff], [0x1d2f6bc3, 0x807fffff, 0xff800000],
    ]);
}

#[test]
#[rustfmt::skip]
fn flush_rcp() {
    check("rcp.rn.ftz.f32", |[a]| rcp(f32::from_word(a), ftz(RN)).word(), &[
        [0x6c4b8156, 0x12a1049b], [0x1, 0x7f800000], [0x7fc00000, 0x7fffffff], [0xbfb4079d, 0xbf3603ae], [0xffffffff, 0x7fffffff],
    ]);
    check("rcp.rz.ftz.f32", |[a]| rcp(f32::from_word(a), ftz(RZ)).word(), &[
        [0xb8199682, 0xc6d559a0], [0x809efbe5, 0xfe4e1bdc], [0x800001, 0x7e7ffffe], [0x3e900000, 0x40638e38], [0xff7fffff, 0x80000000],
    ]);
    check("rcp.rp.ftz.f32", |[a]| rcp(f32::from_word(a), ftz(RP)).word(), &[
        [0xf1c238cb, 0x8d28b6db], [0xfe0827eb, 0x80f0aa4d], [0x40fd659c, 0x3e01509f], [0x80000000, 0xff800000], [0x807fffff, 0xff800000],
    ]);
}

/// A product just below the smallest normal number that a subnormal format would round up to it.
#[test]
#[rustfmt::skip]
fn a_result_is_tiny_if_it_is_after_rounding_to_24_bits() {
    check("mul.rn.ftz.f32 at the border", |[a, b]| mul(f32::from_word(a), f32::from_word(b), ftz(RN)).word(), &[
        [0x80800000, 0x3f000001, 0x80000000], [0x80800000, 0xbf60611f, 0x0], [0x800003, 0xbf7ffffb, 0x80800000],
        [0x800000, 0x3f800000, 0x800000], [0x81422811, 0x388002a9, 0x80000000], [0x11ebe8b, 0x3e000387, 0x0],
    ]);
    check("mul.rp.ftz.f32 at the border", |[a, b]| mul(f32::from_word(a), f32::from_word(b), ftz(RP)).word(), &[
        [0x80800001, 0xbf000007, 0x0], [0x80800000, 0x3f7ffffb, 0x80000000], [0x800000, 0xbf800000, 0x80800000],
        [0x15fb137, 0x3d8000ec, 0x0], [0x800003, 0x3f7ffffa, 0x800000], [0x8161d3e5, 0xb3000300, 0x0],
    ]);
    check("fma.rn.ftz.f32 at the border", |[a, b, c]| fma(f32::from_word(a), f32::from_word(b), f32::from_word(c), ftz(RN)).word(), &[
        [0x80af2bbf, 0xbf412ea5, 0x80800006, 0x0], [0x80e585bf, 0x3f7ffffc, 0xc5fea9, 0x80000000],
        [0x80800001, 0xbf000001, 0x80a63a59, 0x80000000], [0x800001, 0x3f800006, 0x80800007, 0x0],
        [0x80cf0208, 0xbf7ffffa, 0x80800004, 0x0], [0x800000, 0xbf800000, 0x800004, 0x0],
    ]);
    check("fma.rm.ftz.f32 at the border", |[a, b, c]| fma(f32::from_word(a), f32::from_word(b), f32::from_word(c), ftz(RM)).word(), &[
        [0x12cf7e3, 0xbf7ffffd, 0x122a70e, 0x80000000], [0x800000, 0xbf7fffff, 0x800006, 0x0],
        [0x800000, 0x2e800067, 0x80800000, 0x80800000], [0x8113f095, 0xbf800007, 0x8129a8ad, 0x80000000],
        [0x80800003, 0x35000353, 0x800005, 0x800000], [0x80800001, 0xbf7ffffa, 0x8086806c, 0x80000000],
    ]);
    check("div.rm.ftz.f32 at the border", |[a, b]| div(f32::from_word(a), f32::from_word(b), ftz(RM)).word(), &[
        [0x800001, 0x3f800007, 0x0], [0x80800001, 0xbf800006, 0x0], [0x800000, 0x3f800001, 0x0], [0x800002, 0x3f800001, 0x800000],
        [0x80800002, 0x3f800006, 0x80000000], [0x800003, 0x3f800004, 0x0],
    ]);
    check("div.rp.ftz.f32 at the border", |[a, b]| div(f32::from_word(a), f32::from_word(b), ftz(RP)).word(), &[
        [0x800000, 0x3f800005, 0x0], [0x800003, 0xbf800005, 0x80000000], [0x80800000, 0x3f800000, 0x80800000],
        [0x800001, 0x3f800001, 0x800000], [0x80800000, 0x3f800003, 0x80000000], [0x800000, 0xbf800007, 0x80000000],
    ]);
}

#[test]
#[rustfmt::skip]
fn sat_clamps_to_the_unit_interval() {
    check("add.rn.sat.f32", |[a, b]| add(f32::from_word(a), f32::from_word(b), sat(RN)).word(), &[
        [0xfed29079, 0x41ae3141, 0x0], [0x80800000, 0xfc4897a8, 0x0], [0x5fd3a975, 0xb8635fe, 0x3f800000], [0x3fda2fbc, 0xff800007, 0x0],
        [0x1, 0x3ccd5305, 0x3ccd5305], [0xff800007, 0xff800007, 0x0],
    ]);
    check("sub.rm.sat.f32", |[a, b]| sub(f32::from_word(a), f32::from_word(b), sat(RM)).word(), &[
        [0x5fc8b185, 0x7fffffff, 0x0], [0x8ba84d06, 0xd9ab10c9, 0x3f800000], [0x0, 0x422a1ee3, 0x0], [0xaa0012c0, 0xffc00005, 0x0],
        [0x40f5e9d6, 0x8019d98a, 0x3f800000], [0x7fc00005, 0x3f7fffff, 0x0],
    ]);
    check("mul.rp.sat.f32", |[a, b]| mul(f32::from_word(a), f32::from_word(b), sat(RP)).word(), &[
        [0x88b73cae, 0x3fcf32b4, 0x0], [0x42683c46, 0x80000001, 0x0], [0x9987b4a4, 0x9987b4a4, 0x1], [0x3cd8351d, 0x3cd8351d, 0x3a3699ac],
        [0x0, 0x7fffff, 0x0], [0x3e77317a, 0x7fc00005, 0x0],
    ]);
    check("fma.rz.sat.f32", |[a, b, c]| fma(f32::from_word(a), f32::from_word(b), f32::from_word(c), sat(RZ)).word(), &[
        [0x4232375a, 0x80800001, 0x3f800001, 0x3f800000], [0xcaf2a000, 0xaeac6b26, 0x8083a0fa, 0x3a23690c],
        [0x7fffffff, 0xbde8a198, 0x7fffffff, 0x0], [0x42cb4bb4, 0x42cb4bb4, 0xbf7fffff, 0x3f800000],
        [0x3ed0396e, 0x800001, 0x182abd, 0x4c3918], [0x2, 0x7fffff, 0x2, 0x2],
    ]);
}

#[test]
#[rustfmt::skip]
fn f64_add() {
    check("add.rn.f64", |[a, b]| add(f64::from_word(a), f64::from_word(b), RN).word(), &[
        [0x7fffffffffffffff, 0x62b02be44e71cae6, 0x7fffffffffffffff], [0x3fe0000000000000, 0x402e5724e31dc9a6, 0x402f5724e31dc9a6],
        [0x8010000000000001, 0x30bd39a541cd7, 0x800cf42c65abe32a], [0x4123b52b9c680000, 0xb830df0ed4344710, 0x4123b52b9c680000],
    ]);
    check("add.rz.f64", |[a, b]| add(f64::from_word(a), f64::from_word(b), RZ).word(), &[
        [0xc3e2a77d7718b141, 0x10000000000001, 0xc3e2a77d7718b140], [0x7fffffffffffffff, 0x8057cc78f22a2390, 0x7fffffffffffffff],
        [0x138b6ed7ee05dd06, 0x138b6ed7ee05dd06, 0x139b6ed7ee05dd06], [0x1, 0x0, 0x1],
    ]);
    check("add.rm.f64", |[a, b]| add(f64::from_word(a), f64::from_word(b), RM).word(), &[
        [0xbfd0165e00000000, 0xf4ff66f8d2d4cb2b, 0xf4ff66f8d2d4cb2c], [0x3ffdb8d409427e2b, 0x4047038209a04900, 0x4047f148a9ea5cf1],
        [0xc058000000000000, 0xffefffffffffffff, 0xfff0000000000000], [0xfffffffffffff, 0xbe5e169c55795800, 0xbe5e169c55795800],
    ]);
    check("add.rp.f64", |[a, b]| add(f64::from_word(a), f64::from_word(b), RP).word(), &[
        [0x0, 0xc140000000000000, 0xc140000000000000], [0x3fefffffffffffff, 0x3fd7199301d9df8f, 0x3ff5c664c07677e4],
        [0x7ff0000000000007, 0x3fefffffffffffff, 0x7ff8000000000007], [0x3fd8a4707d007721, 0x10000000000000, 0x3fd8a4707d007722],
    ]);
}

#[test]
#[rustfmt::skip]
fn f64_sub() {
    check("sub.rn.f64", |[a, b]| sub(f64::from_word(a), f64::from_word(b), RN).word(), &[
        [0xdffdd3fb6a7150d1, 0xbd02640000000000, 0xdffdd3fb6a7150d1], [0xdff3d42e29c58805, 0xffecd7ba3f6c7ffd, 0x7fecd7ba3f6c7ffd],
        [0x4cdee19cd94bf286, 0x3fe301678b0dc9a8, 0x4cdee19cd94bf286], [0xbfffdfbde8bea42f, 0xbfffdfbde8bea42f, 0x0],
    ]);
    check("sub.rz.f64", |[a, b]| sub(f64::from_word(a), f64::from_word(b), RZ).word(), &[
        [0x4041dac68313dbb8, 0x40110f38200bb839, 0x403f71befe24c961], [0x323d05da76011, 0x323d05da76011, 0x0],
        [0x7fe5d3df6d8541a9, 0xffffffffffffffff, 0xffffffffffffffff], [0x3ff0000000000001, 0xdff1aba731e59211, 0x5ff1aba731e59211],
    ]);
    check("sub.rm.f64", |[a, b]| sub(f64::from_word(a), f64::from_word(b), RM).word(), &[
        [0x36c50ee99d224479, 0x8010000000000001, 0x36c50ee99d224479], [0x3, 0x3ffed21136d9387c, 0xbffed21136d9387c],
        [0x80055f12949f8966, 0x1e05d55e086a59, 0x8021b273f953f9e0], [0x0, 0x8010000000000001, 0x10000000000001],
    ]);
    check("sub.rp.f64", |[a, b]| sub(f64::from_word(a), f64::from_word(b), RP).word(), &[
        [0x64c54b68be7264aa, 0x83409079d6908a0e, 0x64c54b68be7264ab], [0xbff1cd774aeb307e, 0x10000000000000, 0xbff1cd774aeb307e],
        [0x3fed61ed03fb0802, 0xffffffffffffffff, 0xffffffffffffffff], [0x7ff0000000000001, 0xbfe0000000000000, 0x7ff8000000000001],
    ]);
}

#[test]
#[rustfmt::skip]
fn f64_mul() {
    check("mul.rn.f64", |[a, b]| mul(f64::from_word(a), f64::from_word(b), RN).word(), &[
        [0x5fdd11b92b0d98b4, 0xffefffffffffffff, 0xfff0000000000000], [0x3fb182399ff88111, 0x2, 0x0],
        [0x3fa53f9365cb0516, 0x80114bf931ed2027, 0x8000b7c38c7642c8], [0x42cc000000000000, 0xfff8000000000000, 0xfff8000000000000],
    ]);
    check("mul.rz.f64", |[a, b]| mul(f64::from_word(a), f64::from_word(b), RZ).word(), &[
        [0x5ffcdff7fd12b508, 0x3fb8616282ffd038, 0x5fc5ffd9c9a1539a], [0xdfe1b71f86cdf201, 0xdfe1b71f86cdf201, 0x7fd39d52dfdf680f],
        [0xbff0000000000001, 0x7ff8000000000000, 0x7ff8000000000000], [0x3feb432587dd1904, 0xc102b152a8000000, 0xc0ffd9adde691c68],
    ]);
    check("mul.rm.f64", |[a, b]| mul(f64::from_word(a), f64::from_word(b), RM).word(), &[
        [0x7ff8000000000005, 0x7ff0000000000000, 0x7ff8000000000005], [0x1, 0x74dac13db94a7812, 0x31bac13db94a7812],
        [0x9ff0856e8a8b6580, 0x3fc2d55453c58baf, 0x9fc37263be75b1cf], [0xf0baaebbfa16d959, 0xffd57f246781b892, 0x7fefffffffffffff],
    ]);
    check("mul.rp.f64", |[a, b]| mul(f64::from_word(a), f64::from_word(b), RP).word(), &[
        [0x3fefffffffffffff, 0x8010000000000001, 0x8010000000000000], [0x800251f733fbcd26, 0x51ca0a8f7a8d8ef6, 0x91be35cdea847a93],
        [0xa6f5c97089f4848f, 0xa6f5c97089f4848f, 0xdfdaaaf88c38b7f], [0x172eb8baf69735, 0x3cf3020000000000, 0x1c],
    ]);
}

#[test]
#[rustfmt::skip]
fn f64_fma() {
    check("fma.rn.f64", |[a, b, c]| fma(f64::from_word(a), f64::from_word(b), f64::from_word(c), RN).word(), &[
        [0x7ff0000000000001, 0x41b2800000000000, 0xc352a270cc200000, 0x7ff8000000000001],
        [0xffffffffffffffff, 0x5cd51580b61280c0, 0x404cba4a58d3d060, 0xffffffffffffffff],
        [0x3fa1e386478f4858, 0xfffffffffffff, 0xb44380c59f9238f, 0xb44380c59f9238f],
        [0x81b1c025d1e4d0a3, 0x81b1c025d1e4d0a3, 0x70abb7db97a6a, 0x70abb7db97a6a],
    ]);
    check("fma.rz.f64", |[a, b, c]| fma(f64::from_word(a), f64::from_word(b), f64::from_word(c), RZ).word(), &[
        [0x8004ac44c82c5189, 0x2d48efbd1d96db9e, 0xc13e7f6e54200000, 0xc13e7f6e54200000],
        [0xffffffffffffffff, 0xfffffffffffff, 0xbdec456cd8c50f68, 0xffffffffffffffff],
        [0x401de4619dd8c716, 0x10000000000000, 0xfffffffffffff, 0x40f230ceec638a],
        [0xbdd314d27b000000, 0xbe1bd9f7eb759c00, 0x7ff8000000000005, 0x7ff8000000000005],
    ]);
    check("fma.rm.f64", |[a, b, c]| fma(f64::from_word(a), f64::from_word(b), f64::from_word(c), RM).word(), &[
        [0x0, 0xb4180897596e74f9, 0xa477516073decae2, 0xa477516073decae2],
        [0x3fb8698998075500, 0x7fefffffffffffff, 0x4072a00000000000, 0x7fb86989980754ff],
        [0xbfe0000000000000, 0xfff0000000000001, 0x800fffffffffffff, 0xfff8000000000001],
        [0xfff0000000000001, 0x1ffb5837c3245a12, 0x75adb83fa5347e67, 0xfff8000000000001],
    ]);
    check("fma.rp.f64", |[a, b, c]| fma(f64::from_word(a), f64::from_word(b), f64::from_word(c), RP).word(), &[
        [0xbdca9c23badc8f00, 0xbfe0000000000000, 0x14d3a0f0fa129bab, 0x3dba9c23badc8f01],
        [0x7ff0000000000007, 0x800e76b479adb7e0, 0x40410e226d041198, 0x7ff8000000000007],
        [0xc2cbf0e36260d800, 0xfff8000000000000, 0xbff684892c618499, 0xfff8000000000000],
        [0xffe079a4d0b5437e, 0xebd9ab67cfe14b20, 0x3d5aa109c0000000, 0x7ff0000000000000],
    ]);
}

#[test]
#[rustfmt::skip]
fn f64_div() {
    check("div.rn.f64", |[a, b]| div(f64::from_word(a), f64::from_word(b), RN).word(), &[
        [0x800fffffffffffff, 0xfff0000000000000, 0x0], [0xc33b400000000000, 0xc33b400000000000, 0x3ff0000000000000],
        [0x3ff8000000000000, 0xdb60fc41cdb1f36, 0x723167e3d32dce2a], [0x8c89589739f61c34, 0x401328b73f68b76b, 0x8c652ab796575d8a],
    ]);
    check("div.rz.f64", |[a, b]| div(f64::from_word(a), f64::from_word(b), RZ).word(), &[
        [0x3ebada8000000000, 0xfff0000000000000, 0x8000000000000000], [0x3fe0000000000000, 0x1ff06369209dc699, 0x5fdf3de3c8bf30f5],
        [0x3, 0x3, 0x3ff0000000000000], [0xd4ec512addbfba7f, 0x3ffc0ab409321053, 0xd4e0283488c12fc3],
    ]);
    check("div.rm.f64", |[a, b]| div(f64::from_word(a), f64::from_word(b), RM).word(), &[
        [0x3ff0000000000000, 0x7ff0000000000000, 0x0], [0x401a51832666ef2, 0x2efc7d5bb1e0a7d0, 0x14f3d1a99d1670ef],
        [0xa99f7263e3e56ca7, 0x34a10cde2d5b27c, 0xe6434d9c3d4c75ca], [0x7ff0000000000001, 0x65d847d8d0141c33, 0x7ff8000000000001],
    ]);
    check("div.rp.f64", |[a, b]| div(f64::from_word(a), f64::from_word(b), RP).word(), &[
        [0x41dec00000000000, 0x7ff0000000000001, 0x7ff8000000000001], [0x66f50347a065ce46, 0xbf65863808a00000, 0xe77f3d5577fd5479],
        [0x2ef0fa0fb2ec098d, 0x7fefffffffffffff, 0x1], [0x3fda7ee000000000, 0x405e90c78829686e, 0x3f6bbd32d1d0dc2f],
    ]);
}

#[test]
#[rustfmt::skip]
fn f64_rcp() {
    check("rcp.rn.f64", |[a]| rcp(f64::from_word(a), RN).word(), &[
        [0x800fffffffffffff, 0xffd0000000000001], [0x7ff0000000000007, 0x7ff8000000000007], [0x4020b1a5cb25628f, 0x3fbeab7944bdbc1d],
        [0x2, 0x7ff0000000000000],
    ]);
    check("rcp.rp.f64", |[a]| rcp(f64::from_word(a), RP).word(), &[
        [0xbbe5c2d1d4f29354, 0xc3f7873fa7e1a88b], [0x74a265dac02ba19a, 0xb3bd44da62f83de], [0x0, 0x7ff0000000000000],
        [0xfff8000000000005, 0xfff8000000000005],
    ]);
}

#[test]
#[rustfmt::skip]
fn f64_sqrt() {
    check("sqrt.rn.f64", |[a]| sqrt(f64::from_word(a), RN).word(), &[
        [0x80109fb5544fe2e3, 0xfff8000000000000], [0xbff0000000000001, 0xfff8000000000000], [0x13806e479a6e110c, 0x29b6ee1491c09153],
        [0x10000000000000, 0x2000000000000000],
    ]);
    check("sqrt.rp.f64", |[a]| sqrt(f64::from_word(a), RP).word(), &[
        [0x3ff0000000000000, 0x3ff0000000000000], [0x1e2160e5ef9329, 0x2005f4da980efbc8], [0x2, 0x1e66a09e667f3bcd],
        [0xfff0000000000001, 0xfff8000000000001],
    ]);
}

/// Second operand, then third, then first; of a quotient the dividend first. `f32` has one NaN.
#[test]
#[rustfmt::skip]
fn the_nan_of_several() {
    check("add.rn.f64", |[a, b]| add(f64::from_word(a), f64::from_word(b), RN).word(), &[
        [0x7ff0000000000001, 0x7ff8000000000005, 0x7ff8000000000005], [0xfff0000000000007, 0xfff0000000000001, 0xfff8000000000001],
        [0xfff0000000000007, 0x7fffffffffffffff, 0x7fffffffffffffff], [0x7ff8000000000005, 0xfff8000000000000, 0xfff8000000000000],
    ]);
    check("sub.rn.f64", |[a, b]| sub(f64::from_word(a), f64::from_word(b), RN).word(), &[
        [0x7ff8000000000000, 0xffffffffffffffff, 0xffffffffffffffff], [0x7fffffffffffffff, 0x7ff8000000000000, 0x7ff8000000000000],
        [0xfff0000000000001, 0xfff0000000000007, 0xfff8000000000007], [0xfff0000000000007, 0xfff8000000000000, 0xfff8000000000000],
    ]);
    check("mul.rn.f64", |[a, b]| mul(f64::from_word(a), f64::from_word(b), RN).word(), &[
        [0x7ff8000000000000, 0x7ff0000000000001, 0x7ff8000000000001], [0xfff0000000000001, 0xfff0000000000007, 0xfff8000000000007],
        [0xfff0000000000001, 0x7ff8000000000000, 0x7ff8000000000000], [0xffffffffffffffff, 0x7ff8000000000005, 0x7ff8000000000005],
    ]);
    check("div.rn.f64", |[a, b]| div(f64::from_word(a), f64::from_word(b), RN).word(), &[
        [0xfff8000000000005, 0x7ff0000000000007, 0xfff8000000000005], [0x7ff8000000000000, 0x7fffffffffffffff, 0x7ff8000000000000],
        [0x7ff8000000000005, 0x7ff0000000000001, 0x7ff8000000000005], [0xfff0000000000007, 0x7ff8000000000000, 0xfff8000000000007],
    ]);
    check("fma.rn.f64", |[a, b, c]| fma(f64::from_word(a), f64::from_word(b), f64::from_word(c), RN).word(), &[
        [0xfff0000000000007, 0xffffffffffffffff, 0xf46a20f2755ddb94, 0xffffffffffffffff],
        [0xc1ca8548d8000000, 0x7ff0000000000007, 0xfff0000000000001, 0x7ff8000000000007],
        [0x7ff8000000000000, 0x3ff67bca3bd47313, 0x7ff0000000000001, 0x7ff8000000000001],
        [0x40068c11b1c403ac, 0xfff8000000000000, 0xfff0000000000001, 0xfff8000000000000],
        [0xbff0000000000001, 0x7ff8000000000005, 0xfff0000000000001, 0x7ff8000000000005],
        [0xfff8000000000000, 0xc082543f84f04000, 0x7ff8000000000005, 0x7ff8000000000005],
        [0x7fffffffffffffff, 0x7ff8000000000000, 0xffda632e233c41e8, 0x7ff8000000000000],
        [0x7fffffffffffffff, 0xd4136b7450f06871, 0xfff8000000000000, 0xfff8000000000000],
        [0xffffffffffffffff, 0xfff0000000000001, 0xffffffffffffffff, 0xfff8000000000001],
    ]);
    check("min.f64", |[a, b]| min(f64::from_word(a), f64::from_word(b), Extremum::default()).word(), &[
        [0x7fffffffffffffff, 0xfff8000000000000, 0xfff8000000000000], [0x7ff0000000000007, 0x7ff0000000000001, 0x7ff8000000000001],
        [0x7ff0000000000001, 0xfff0000000000007, 0xfff8000000000007],
    ]);
    check("max.f64", |[a, b]| max(f64::from_word(a), f64::from_word(b), Extremum::default()).word(), &[
        [0xfff0000000000007, 0x7ff8000000000000, 0x7ff8000000000000], [0x7ff8000000000005, 0xfff0000000000001, 0xfff8000000000001],
        [0x7fffffffffffffff, 0x7ff8000000000005, 0x7ff8000000000005],
    ]);
    check("neg.f64", |[a]| neg(f64::from_word(a), RN).word(), &[
        [0xffffffffffffffff, 0xffffffffffffffff], [0x7ff8000000000005, 0x7ff8000000000005], [0x7ff8000000000000, 0x7ff8000000000000],
    ]);
    check("abs.f64", |[a]| abs(f64::from_word(a), RN).word(), &[
        [0x7ff0000000000001, 0x7ff8000000000001], [0xfff0000000000001, 0xfff8000000000001], [0x7ff0000000000007, 0x7ff8000000000007],
    ]);
    check("neg.f32", |[a]| neg(f32::from_word(a), RN).word(), &[
        [0x7f800007, 0x7fffffff], [0xffc00000, 0x7fffffff],
    ]);
    check("abs.ftz.f32", |[a]| abs(f32::from_word(a), ftz(RN)).word(), &[
        [0x39face09, 0x39face09], [0xbb223800, 0x3b223800], [0x2, 0x0], [0x800000, 0x800000], [0xff800000, 0x7f800000],
    ]);
}

#[test]
#[rustfmt::skip]
fn min_and_max() {
    check("min.f32", |[a, b]| min(f32::from_word(a), f32::from_word(b), Extremum::default()).word(), &[
        [0xc235cc00, 0x400a415f, 0xc235cc00], [0x38a3c340, 0x42195541, 0x38a3c340], [0x80000003, 0x5fd61648, 0x80000003],
        [0xecd2cfb1, 0x7f7fffff, 0xecd2cfb1], [0x1, 0x3f000000, 0x1], [0x40c0d607, 0xc0000000, 0xc0000000],
        [0xa28fe86e, 0x80000002, 0xa28fe86e], [0x5fac7215, 0xffc00000, 0x5fac7215],
    ]);
    check("min.NaN.f32", |[a, b]| min(f32::from_word(a), f32::from_word(b), Extremum { nan: true, ..Extremum::default() }).word(), &[
        [0xc72b4da9, 0xbf7fffff, 0xc72b4da9], [0x571fc18f, 0x429e0000, 0x429e0000], [0x80800000, 0x80800000, 0x80800000],
        [0xff7fffff, 0xd02bfbad, 0xff7fffff], [0x72376443, 0x8039d498, 0x8039d498], [0x0, 0x0, 0x0], [0xfeb53252, 0x7f800000, 0xfeb53252],
        [0xffffffff, 0x3cda8869, 0x7fffffff],
    ]);
    check("min.xorsign.abs.f32", |[a, b]|
        min(f32::from_word(a), f32::from_word(b), Extremum { xorsign_abs: true, ..Extremum::default() }).word(), &[
        [0xef3ae5df, 0x7f800000, 0xef3ae5df], [0x800001, 0xffffffff, 0x80800001], [0x7f800007, 0x7f800007, 0x7fffffff],
        [0x7f4aaad4, 0x7f4aaad4, 0x7f4aaad4], [0x4a100000, 0x4a100000, 0x4a100000], [0x0, 0x403eec8e, 0x0],
        [0x7f800007, 0xf67cd270, 0xf67cd270], [0xff11f741, 0xe53714db, 0x653714db],
    ]);
    check("min.ftz.NaN.xorsign.abs.f32", |[a, b]|
        min(f32::from_word(a), f32::from_word(b), Extremum { ftz: true, nan: true, xorsign_abs: true }).word(), &[
        [0x2301efee, 0x3f800000, 0x2301efee], [0xd45feef2, 0xff31562b, 0x545feef2], [0x800001, 0x2, 0x0], [0x3ca3c850, 0x0, 0x0],
        [0x80eb6aeb, 0x46dac700, 0x80eb6aeb], [0x3d24a099, 0x800001, 0x800001], [0x2, 0xee9dace2, 0x80000000],
        [0xbffce161, 0x3ea484fb, 0xbea484fb],
    ]);
    check("max.f32", |[a, b]| max(f32::from_word(a), f32::from_word(b), Extremum::default()).word(), &[
        [0x40000000, 0x62dda0db, 0x62dda0db], [0xff800007, 0x0, 0x0], [0x7fffffff, 0x80000001, 0x80000001],
        [0x92d5dab8, 0x3f800000, 0x3f800000], [0xfec44b95, 0xfec44b95, 0xfec44b95], [0x6d7454b1, 0x2, 0x6d7454b1],
        [0x3f000000, 0x7f800001, 0x3f000000], [0x3, 0x3f7fffff, 0x3f7fffff],
    ]);
    check("max.NaN.f32", |[a, b]| max(f32::from_word(a), f32::from_word(b), Extremum { nan: true, ..Extremum::default() }).word(), &[
        [0x55ba6bb9, 0xfe854dbf, 0x55ba6bb9], [0x8bbffffb, 0x14a77644, 0x14a77644], [0x601f18d1, 0x7fc00005, 0x7fffffff],
        [0xbfb8a6ff, 0x0, 0x0], [0xdfbc55d4, 0xff800007, 0x7fffffff], [0x80000003, 0xff800007, 0x7fffffff],
        [0x7f800001, 0x2e3b7c6e, 0x7fffffff], [0x80800001, 0xaf74864a, 0x80800001],
    ]);
    check("max.xorsign.abs.f32", |[a, b]|
        max(f32::from_word(a), f32::from_word(b), Extremum { xorsign_abs: true, ..Extremum::default() }).word(), &[
        [0x45960d98, 0x8065dfae, 0xc5960d98], [0xff5cd2ca, 0xbf000000, 0x7f5cd2ca], [0xff7fffff, 0x40a84f60, 0xff7fffff],
        [0x3d88a800, 0x46b60000, 0x46b60000], [0x371637e0, 0xff800000, 0xff800000], [0xc2a14000, 0x4090b757, 0xc2a14000],
        [0x2, 0x80f363ca, 0x80f363ca], [0xc5da4200, 0x7f0a8ebd, 0xff0a8ebd],
    ]);
    check("max.ftz.NaN.xorsign.abs.f32", |[a, b]|
        max(f32::from_word(a), f32::from_word(b), Extremum { ftz: true, nan: true, xorsign_abs: true }).word(), &[
        [0x807fffff, 0x3fc00000, 0xbfc00000], [0x7f800007, 0xbd7ed0f0, 0x7fffffff], [0xffd07bde, 0x80800001, 0x7fffffff],
        [0x5ff0a8ac, 0xcb514952, 0xdff0a8ac], [0xff800000, 0x3fedf1ac, 0xff800000], [0x80000003, 0xc12e9e2f, 0x412e9e2f],
        [0x80000000, 0x3f800001, 0xbf800001], [0xbea00000, 0xbea00000, 0x3ea00000],
    ]);
}
