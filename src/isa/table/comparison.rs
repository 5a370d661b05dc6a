//! PTX ISA, "Comparison and Selection Instructions".

use super::super::form::{Row, row};
use crate::isa::CompareDecode::{Select, SelectSign, Set, Setp};
use crate::isa::Decode::Compare;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("set(<cmp_bits>)[<bool>](<set_to>)(<bits>)                d:t1, a, b[, [!]c:pred:with.and|or|xor]", (1, 0), 0, Compare(Set), "all ones or 1.0 if the comparison holds, else 0"),
    row("set(<cmp_unsigned>)[<bool>](<set_to>)(.u16|.u32|.u64)    d:t1, a, b[, [!]c:pred:with.and|or|xor]", (1, 0), 0, Compare(Set), "all ones or 1.0 if the comparison holds, else 0"),
    row("set(<cmp_signed>)[<bool>](<set_to>)(.s16|.s32|.s64)      d:t1, a, b[, [!]c:pred:with.and|or|xor]", (1, 0), 0, Compare(Set), "all ones or 1.0 if the comparison holds, else 0"),
    row("set(<cmp_float>)[<bool>][.ftz](.u32|.s32|.f32|.f16{4.2,53}).f32  d:t1, a, b[, [!]c:pred:with.and|or|xor]", (1, 0), 0, Compare(Set), "all ones or 1.0 if the comparison holds, else 0"),
    row("set(<cmp_float>)[<bool>].bf16.f32                               d:t1, a, b[, [!]c:pred:reg:with.and|or|xor]", (7, 8), 90, Compare(Set), "all ones or 1.0 if the comparison holds, else 0"),
    row("set(<cmp_float>)[<bool>](<set_to>).f64                   d:t1, a, b[, [!]c:pred:with.and|or|xor]", (1, 0), 13, Compare(Set), "all ones or 1.0 if the comparison holds, else 0"),
    row("setp(<cmp_bits>)[<bool>](<bits>)                                p[|q], a, b[, [!]c:pred:with.and|or|xor]", (1, 0), 0, Compare(Setp), "p = comparison, q = its opposite"),
    row("setp(<cmp_unsigned>)[<bool>](.u16|.u32|.u64)                    p[|q], a, b[, [!]c:pred:with.and|or|xor]", (1, 0), 0, Compare(Setp), "p = comparison, q = its opposite"),
    row("setp(<cmp_signed>)[<bool>](.s16|.s32|.s64)                      p[|q], a, b[, [!]c:pred:with.and|or|xor]", (1, 0), 0, Compare(Setp), "p = comparison, q = its opposite"),
    row("setp(<cmp_float>)[<bool>][.ftz].f32                             p[|q], a, b[, [!]c:pred:with.and|or|xor]", (1, 0), 0, Compare(Setp), "p = comparison, q = its opposite"),
    row("setp(<cmp_float>)[<bool>].f64                                   p[|q], a, b[, [!]c:pred:with.and|or|xor]", (1, 0), 13, Compare(Setp), "p = comparison, q = its opposite"),
    row("selp(<data>)                                                    d, a, b, [!]c:pred", (1, 0), 0, Compare(Select), "c ? a : b"),
    row("slct(<data>).s32                                                d:t1, a:t1, b:t1, c", (1, 0), 0, Compare(SelectSign), "c >= 0 ? a : b"),
    row("slct[.ftz](<data>).f32                                          d:t1, a:t1, b:t1, c", (1, 0), 0, Compare(SelectSign), "c >= 0 ? a : b"),
];
