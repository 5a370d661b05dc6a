//! PTX ISA, "Half Precision Comparison Instructions".

use super::super::form::{Row, row};
use crate::isa::CompareDecode::{Set, Setp};
use crate::isa::Decode::Compare;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("set(<cmp_float>)[<bool>][.ftz](.u16{6.5,0}|.s16{6.5,0}|.u32{6.5,0}|.s32{6.5,0}|.f16).f16  d:t1:reg, a:reg, b:reg[, [!]c:pred:with.and|or|xor]", (4, 2), 53, Compare(Set), "all ones or 1.0 if the comparison holds, else 0"),
    row("set(<cmp_float>)[<bool>].bf16.f16                           d:t1:reg, a:reg, b:reg[, [!]c:pred:reg:with.and|or|xor]", (7, 8), 90, Compare(Set), "all ones or 1.0 if the comparison holds, else 0"),
    row("set(<cmp_float>)[<bool>](.u16|.s16|.u32|.s32|.bf16).bf16    d:t1:reg, a:reg, b:reg[, [!]c:pred:reg:with.and|or|xor]", (7, 8), 90, Compare(Set), "all ones or 1.0 if the comparison holds, else 0"),
    row("set(<cmp_float>)[<bool>][.ftz].f16x2.f16x2                  d:t1:reg, a:reg, b:reg[, [!]c:pred:with.and|or|xor]", (4, 2), 53, Compare(Set), "1.0 or 0 for each half"),
    row("set(<cmp_float>)[<bool>][.ftz](.u32{6.5,0}|.s32{6.5,0}).f16x2             d:t1:reg, a:reg, b:reg[, [!]c:pred:with.and|or|xor]", (4, 2), 53, Compare(Set), "all ones or 0 for each half"),
    row("set(<cmp_float>)[<bool>].bf16x2.bf16x2                      d:t1:reg, a:reg, b:reg[, [!]c:pred:reg:with.and|or|xor]", (7, 8), 90, Compare(Set), "1.0 or 0 for each half"),
    row("set(<cmp_float>)[<bool>](.u32|.s32).bf16x2                  d:t1:reg, a:reg, b:reg[, [!]c:pred:reg:with.and|or|xor]", (7, 8), 90, Compare(Set), "all ones or 0 for each half"),
    row("setp(<cmp_float>)[<bool>][.ftz].f16                          p:_, a:reg, b:reg[, [!]c:pred:with.and|or|xor]", (4, 2), 53, Compare(Setp), "p = comparison"),
    row("setp(<cmp_float>)[<bool>][.ftz].f16x2                        p[|q], a:reg, b:reg[, [!]c:pred:with.and|or|xor]", (4, 2), 53, Compare(Setp), "p = comparison of the lower halves, q of the upper"),
    row("setp(<cmp_float>)[<bool>].bf16                               p:_, a:reg, b:reg[, [!]c:pred:reg:with.and|or|xor]", (7, 8), 90, Compare(Setp), "p = comparison"),
    row("setp(<cmp_float>)[<bool>].bf16x2                             p[|q], a:reg, b:reg[, [!]c:pred:reg:with.and|or|xor]", (7, 8), 90, Compare(Setp), "p = comparison of the lower halves, q of the upper"),
];
