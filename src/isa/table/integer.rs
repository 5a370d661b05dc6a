//! PTX ISA, "Integer Arithmetic Instructions".

use super::super::form::{Row, row};
use crate::isa::BitsDecode::{Extract, Field32, Insert};
use crate::isa::Decode::{Bits, Integer};
use crate::isa::IntegerDecode::{Binary, BitCount, Dot, MadWide, MulWide, Ternary, Unary};
use crate::isa::{BitCount as Count, BitField32 as Field, DotFn, IntBinary as Two, IntTernary as Three, IntUnary as One};

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("add(<int>)                         d, a, b", (1, 0), 0, Integer(Binary(Two::Add)), "sum"),
    row("add(.u16x2|.s16x2)                 d, a:reg, b:reg", (8, 0), 90, Integer(Binary(Two::Add)), "sums of two halves"),
    row("add.sat.s32                        d, a, b", (1, 0), 0, Integer(Binary(Two::AddSat)), "sum, clamped instead of wrapped"),
    row("sub(<int>)                         d, a, b", (1, 0), 0, Integer(Binary(Two::Sub)), "difference"),
    row("sub.sat.s32                        d, a, b", (1, 0), 0, Integer(Binary(Two::SubSat)), "difference, clamped instead of wrapped"),
    row("mul-lo(<int>)                      d, a, b", (1, 0), 0, Integer(Binary(Two::MulLo)), "lower half of the product"),
    row("mul-hi(<int>)                      d, a, b", (1, 0), 0, Integer(Binary(Two::MulHi)), "upper half of the product"),
    row("mul-wide(.u16|.s16|.u32|.s32)      d:2x, a, b", (1, 0), 0, Integer(MulWide), "whole product, twice as wide"),
    row("mad-lo(<int>)                      d, a, b, c", (1, 0), 0, Integer(Ternary(Three::MadLo)), "lower half of the product, plus c"),
    row("mad-hi(<int>)                      d, a, b, c", (1, 0), 0, Integer(Ternary(Three::MadHi)), "upper half of the product, plus c"),
    row("mad-hi.sat.s32                     d, a, b, c", (1, 0), 0, Integer(Ternary(Three::MadHiSat)), "upper half of the product, plus c, clamped"),
    row("mad-wide(.u16|.s16|.u32|.s32)      d:2x, a, b, c:2x", (1, 0), 0, Integer(MadWide), "whole product, plus c, twice as wide"),
    row("mul24-lo(.u32|.s32)                d, a, b", (1, 0), 0, Integer(Binary(Two::Mul24Lo)), "bits 31:0 of the product of 24-bit numbers"),
    row("mul24-hi(.u32|.s32)                d, a, b", (1, 0), 0, Integer(Binary(Two::Mul24Hi)), "bits 47:16 of the product of 24-bit numbers"),
    row("mad24-lo(.u32|.s32)                d, a, b, c", (1, 0), 0, Integer(Ternary(Three::Mad24Lo)), "bits 31:0 of a 24-bit product, plus c"),
    row("mad24-hi(.u32|.s32)                d, a, b, c", (1, 0), 0, Integer(Ternary(Three::Mad24Hi)), "bits 47:16 of a 24-bit product, plus c"),
    row("mad24-hi.sat.s32                   d, a, b, c", (1, 0), 0, Integer(Ternary(Three::Mad24HiSat)), "bits 47:16 of a 24-bit product, plus c, clamped"),
    row("sad(<int>)                         d, a, b, c", (1, 0), 0, Integer(Ternary(Three::Sad)), "c + |a - b|"),
    row("div(<int>)                         d, a, b", (1, 0), 0, Integer(Binary(Two::Div)), "quotient, truncated"),
    row("rem(<int>)                         d, a, b", (1, 0), 0, Integer(Binary(Two::Rem)), "remainder of the truncated quotient"),
    row("abs(.s16|.s32|.s64)                d, a", (1, 0), 0, Integer(Unary(One::Abs)), "absolute value"),
    row("neg(.s16|.s32|.s64)                d, a", (1, 0), 0, Integer(Unary(One::Neg)), "negative"),
    row("min(<int>)                         d, a, b", (1, 0), 0, Integer(Binary(Two::Min)), "the lesser"),
    row("min(.u16x2|.s16x2)                 d, a:reg, b:reg", (8, 0), 90, Integer(Binary(Two::Min)), "the lesser of each half"),
    row("min.relu.s16x2                     d, a:reg, b:reg", (8, 0), 90, Integer(Binary(Two::MinRelu)), "the lesser, at least 0"),
    row("min.relu.s32                       d, a, b", (8, 0), 90, Integer(Binary(Two::MinRelu)), "the lesser, at least 0"),
    row("max(<int>)                         d, a, b", (1, 0), 0, Integer(Binary(Two::Max)), "the greater"),
    row("max(.u16x2|.s16x2)                 d, a:reg, b:reg", (8, 0), 90, Integer(Binary(Two::Max)), "the greater of each half"),
    row("max.relu.s16x2                     d, a:reg, b:reg", (8, 0), 90, Integer(Binary(Two::MaxRelu)), "the greater, at least 0"),
    row("max.relu.s32                       d, a, b", (8, 0), 90, Integer(Binary(Two::MaxRelu)), "the greater, at least 0"),
    row("popc(.b32|.b64)                    d:u32, a", (2, 0), 20, Integer(BitCount(Count::Popc)), "number of one bits"),
    row("clz(.b32|.b64)                     d:u32, a", (2, 0), 20, Integer(BitCount(Count::Clz)), "number of leading zeros"),
    row("bfind(.u32|.u64|.s32|.s64)         d:u32, a", (2, 0), 20, Integer(BitCount(Count::Bfind)), "position of the leading non-sign bit"),
    row("bfind.shiftamt(.u32|.u64|.s32|.s64) d:u32, a", (2, 0), 20, Integer(BitCount(Count::BfindShift)), "left shift that normalizes"),
    row("fns.b32                            d, mask, base, offset", (6, 0), 30, Bits(Field32(Field::Fns)), "position of the n-th set bit"),
    row("brev(.b32|.b64)                    d, a", (2, 0), 20, Integer(Unary(One::Brev)), "bits in reverse order"),
    row("bfe(.u32|.u64|.s32|.s64)           d, a, b:u32:0-255, c:u32:0-255", (2, 0), 20, Bits(Extract), "bit field of a at b with length c"),
    row("bfi(.b32|.b64)                     d, a, b, c:u32:0-255, e:u32:0-255", (2, 0), 20, Bits(Insert), "b with the bit field a put in at c with length e"),
    row("bmsk.clamp.b32                     d:u32, a:u32, b:u32", (7, 6), 70, Bits(Field32(Field::BmskClamp)), "mask of b bits from position a, clamped"),
    row("bmsk.wrap.b32                      d:u32, a:u32, b:u32", (7, 6), 70, Bits(Field32(Field::BmskWrap)), "mask of b bits from position a, modulo 32"),
    row("szext.clamp.u32                    d, a, b:u32", (7, 6), 70, Bits(Field32(Field::SzextClampU)), "a zero-extended from bit b, clamped"),
    row("szext.wrap.u32                     d, a, b:u32", (7, 6), 70, Bits(Field32(Field::SzextWrapU)), "a zero-extended from bit b, modulo 32"),
    row("szext.clamp.s32                    d, a, b:u32", (7, 6), 70, Bits(Field32(Field::SzextClampS)), "a sign-extended from bit b, clamped"),
    row("szext.wrap.s32                     d, a, b:u32", (7, 6), 70, Bits(Field32(Field::SzextWrapS)), "a sign-extended from bit b, modulo 32"),
    row("dp4a(.u32|.s32)(.u32|.s32)         d:s32, a:t1, b:t2, c:s32", (5, 0), 61, Integer(Dot(DotFn::Dp4a)), "c plus the dot product of four bytes"),
    row("dp2a-lo(.u32|.s32)(.u32|.s32)      d:s32, a:t1, b:t2, c:s32", (5, 0), 61, Integer(Dot(DotFn::Dp2aLo)), "c plus the dot product of two halves with the lower bytes"),
    row("dp2a-hi(.u32|.s32)(.u32|.s32)      d:s32, a:t1, b:t2, c:s32", (5, 0), 61, Integer(Dot(DotFn::Dp2aHi)), "c plus the dot product of two halves with the upper bytes"),
];
