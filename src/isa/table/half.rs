//! PTX ISA, "Half Precision Floating-Point Instructions" and "Mixed Precision Floating-Point Instructions".

use super::super::form::{Row, row};
use crate::isa::Decode::{Float, Unsupported};
use crate::isa::FloatDecode::{Binary, MinMax, Ternary, Unary};
use crate::isa::{FloatBinary as Two, FloatTernary as Three, FloatUnary as One};

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("add[.rn][.ftz][.sat](.f16|.f16x2)  d:reg, a:reg, b:reg", (4, 2), 53, Float(Binary(Two::Add)), "sum"),
    row("add[.rn](.bf16|.bf16x2)            d:reg, a:reg, b:reg", (7, 8), 90, Float(Binary(Two::Add)), "sum"),
    row("sub[.rn][.ftz][.sat](.f16|.f16x2)  d:reg, a:reg, b:reg", (4, 2), 53, Float(Binary(Two::Sub)), "difference"),
    row("sub[.rn](.bf16|.bf16x2)            d:reg, a:reg, b:reg", (7, 8), 90, Float(Binary(Two::Sub)), "difference"),
    row("mul[.rn][.ftz][.sat](.f16|.f16x2)  d:reg, a:reg, b:reg", (4, 2), 53, Float(Binary(Two::Mul)), "product"),
    row("mul[.rn](.bf16|.bf16x2)            d:reg, a:reg, b:reg", (7, 8), 90, Float(Binary(Two::Mul)), "product"),
    row("fma.rn[.ftz][.sat](.f16|.f16x2)    d:reg, a:reg, b:reg, c:reg", (4, 2), 53, Float(Ternary(Three::Fma)), "a * b + c, rounded once"),
    row("fma.rn[.ftz].relu(.f16|.f16x2)     d:reg, a:reg, b:reg, c:reg", (7, 0), 80, Float(Ternary(Three::FmaRelu)), "a * b + c, rounded once, at least 0"),
    row("fma.rn(.bf16|.bf16x2)              d:reg, a:reg, b:reg, c:reg", (7, 0), 80, Float(Ternary(Three::Fma)), "a * b + c, rounded once"),
    row("fma.rn.relu(.bf16|.bf16x2)         d:reg, a:reg, b:reg, c:reg", (7, 0), 80, Float(Ternary(Three::FmaRelu)), "a * b + c, rounded once, at least 0"),
    row("fma(.rz|.rm|.rp)[.relu](.bf16|.bf16x2)  d:reg, a:reg, b:reg, c:reg", (7, 0), 80, Unsupported, "accepted by the assembler, and not in the manual: its code rounds another way"),
    row("fma.rn.oob(.f16|.f16x2|.bf16|.bf16x2)       d:reg, a:reg, b:reg, c:reg", (8, 1), 90, Float(Ternary(Three::FmaOob)), "a * b + c, 0 where a or b is the out-of-bounds NaN"),
    row("fma.rn.oob.relu(.f16|.f16x2|.bf16|.bf16x2)  d:reg, a:reg, b:reg, c:reg", (8, 1), 90, Float(Ternary(Three::FmaOobRelu)), "a * b + c, at least 0, and 0 where a or b is the out-of-bounds NaN"),
    row("neg[.ftz](.f16|.f16x2)             d:reg, a:reg", (6, 0), 53, Float(Unary(One::Neg)), "negative"),
    row("neg(.bf16|.bf16x2)                 d:reg, a:reg", (7, 0), 80, Float(Unary(One::Neg)), "negative"),
    row("abs[.ftz](.f16|.f16x2)             d:reg, a:reg", (6, 5), 53, Float(Unary(One::Abs)), "absolute value"),
    row("abs(.bf16|.bf16x2)                 d:reg, a:reg", (7, 0), 80, Float(Unary(One::Abs)), "absolute value"),
    row("min[.ftz][.NaN][.xorsign.abs{7.2,86}](.f16|.f16x2)  d:reg, a:reg, b:reg", (7, 0), 80, Float(MinMax(false)), "the lesser"),
    row("min[.NaN][.xorsign.abs{7.2,86}](.bf16|.bf16x2)      d:reg, a:reg, b:reg", (7, 0), 80, Float(MinMax(false)), "the lesser"),
    row("max[.ftz][.NaN][.xorsign.abs{7.2,86}](.f16|.f16x2)  d:reg, a:reg, b:reg", (7, 0), 80, Float(MinMax(true)), "the greater"),
    row("max[.NaN][.xorsign.abs{7.2,86}](.bf16|.bf16x2)      d:reg, a:reg, b:reg", (7, 0), 80, Float(MinMax(true)), "the greater"),
    row("tanh.approx(.f16|.f16x2)           d:reg, a:reg", (7, 0), 75, Float(Unary(One::TanhApprox)), "fast hyperbolic tangent"),
    row("tanh.approx(.bf16|.bf16x2)         d:reg, a:reg", (7, 8), 90, Float(Unary(One::TanhApprox)), "fast hyperbolic tangent"),
    row("ex2.approx(.f16|.f16x2)            d:reg, a:reg", (7, 0), 75, Float(Unary(One::Ex2Approx)), "fast power of 2"),
    row("ex2.approx.ftz(.bf16|.bf16x2)      d:reg, a:reg", (7, 8), 90, Float(Unary(One::Ex2Approx)), "fast power of 2"),

    row("add[<round>][.sat].f32(.f16|.bf16)   d:f32, a, c:f32", (8, 6), 100, Unsupported, "sum of a half and a float"),
    row("sub[<round>][.sat].f32(.f16|.bf16)   d:f32, a, c:f32", (8, 6), 100, Unsupported, "difference of a half and a float"),
    row("fma(<round>)[.sat].f32(.f16|.bf16)   d:f32, a, b, c:f32", (8, 6), 100, Unsupported, "product of halves plus a float, rounded once"),
];
