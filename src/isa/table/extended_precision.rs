//! PTX ISA, "Extended-Precision Integer Arithmetic Instructions".

use super::super::form::{Row, row};
use crate::isa::CarryFn::{Add, MadHi, MadLo, Sub};
use crate::isa::Decode::Carry;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("add.cc(<carry>)              d, a, b", (1, 2), 0, Carry(Add, false), "sum; the carry flag becomes its carry"),
    row("addc[.cc](<carried>)           d, a, b", (1, 2), 0, Carry(Add, true), "sum with the carry flag added"),
    row("sub.cc(<carry>)              d, a, b", (1, 2), 0, Carry(Sub, false), "difference; the carry flag becomes 'no borrow'"),
    row("subc[.cc](<carried>)           d, a, b", (1, 2), 0, Carry(Sub, true), "difference less the borrow of the carry flag"),
    row("mad-lo.cc(<carry>)           d, a, b, c", (3, 0), 20, Carry(MadLo, false), "lower half of the product plus c, with carry out"),
    row("mad-hi.cc(<carry>)           d, a, b, c", (3, 0), 20, Carry(MadHi, false), "upper half of the product plus c, with carry out"),
    row("madc-lo[.cc](<carried>)        d, a, b, c", (3, 0), 20, Carry(MadLo, true), "lower half of the product plus c and the carry flag"),
    row("madc-hi[.cc](<carried>)        d, a, b, c", (3, 0), 20, Carry(MadHi, true), "upper half of the product plus c and the carry flag"),
];
