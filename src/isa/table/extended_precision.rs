//! PTX ISA, "Extended-Precision Integer Arithmetic Instructions".

use super::super::form::{Row, row};
use crate::isa::CarryFn::{Add, MadHi, MadLo, Sub};
use crate::isa::Decode::{Integer, Unsupported};
use crate::isa::IntegerDecode::Carry;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("add.cc(<carry>)              d, a, b", (1, 2), 0, Integer(Carry(Add, false)), "sum; the carry flag becomes its carry"),
    row("addc(<carried>)              d, a, b", (1, 2), 0, Integer(Carry(Add, true)), "sum with the carry flag added"),
    row("addc.cc(<carry>)             d, a, b", (1, 2), 0, Integer(Carry(Add, true)), "sum with the carry flag added; the carry flag becomes its carry"),
    row("sub.cc(<carry>)              d, a, b", (1, 3), 0, Integer(Carry(Sub, false)), "difference; the carry flag becomes 'no borrow'"),
    row("subc(<carried>)              d, a, b", (1, 3), 0, Integer(Carry(Sub, true)), "difference less the borrow of the carry flag"),
    row("subc.cc(<carry>)             d, a, b", (1, 3), 0, Integer(Carry(Sub, true)), "difference less the borrow of the carry flag, which becomes 'no borrow'"),
    row("mad-lo.cc(<carry>)           d, a, b, c", (3, 0), 20, Integer(Carry(MadLo, false)), "lower half of the product plus c, with carry out"),
    row("mad-hi.cc(<carry>)           d, a, b, c", (3, 0), 20, Integer(Carry(MadHi, false)), "upper half of the product plus c, with carry out"),
    row("madc-lo(<carried>)          d, a, b, c", (3, 0), 20, Integer(Carry(MadLo, true)), "lower half of the product plus c and the carry flag"),
    row("madc-lo.cc(<carry>)         d, a, b, c", (3, 0), 20, Integer(Carry(MadLo, true)), "lower half of the product plus c and the carry flag, with carry out"),
    row("madc-hi(<carried>)          d, a, b, c", (3, 0), 20, Integer(Carry(MadHi, true)), "upper half of the product plus c and the carry flag"),
    row("madc-hi.cc(<carry>)         d, a, b, c", (3, 0), 20, Integer(Carry(MadHi, true)), "upper half of the product plus c and the carry flag, with carry out"),
    row("addc(.u16|.s16)              d, a, b", (1, 2), 0, Unsupported, "sum with the carry flag added; not in the manual"),
    row("subc(.u16|.s16)              d, a, b", (1, 2), 0, Unsupported, "difference less the borrow of the carry flag; not in the manual"),
    row("madc-lo(.u16|.s16)           d, a, b, c", (3, 0), 20, Unsupported, "product plus c and the carry flag; not in the manual"),
];
