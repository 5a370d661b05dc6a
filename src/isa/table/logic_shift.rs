//! PTX ISA, "Logic and Shift Instructions", with the byte permutation `prmt`.

use super::super::form::{Row, row};
use crate::isa::BitsDecode::{Field32, Lop3, Lop3Pred, Shift};
use crate::isa::CompareDecode::{PredBinary, PredNot};
use crate::isa::Decode::{Bits, Compare, Integer};
use crate::isa::IntegerDecode::{Binary, Unary};
use crate::isa::{BitField32 as Field, BoolOp, IntBinary as Two, IntUnary as One, Shift as Direction};

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("and(<bits>)                    d, a, b", (1, 0), 0, Integer(Binary(Two::And)), "bitwise and"),
    row("and.pred                       p, [!]a:pred, [!]b:pred", (1, 0), 0, Compare(PredBinary(BoolOp::And)), "both"),
    row("or(<bits>)                     d, a, b", (1, 0), 0, Integer(Binary(Two::Or)), "bitwise or"),
    row("or.pred                        p, [!]a:pred, [!]b:pred", (1, 0), 0, Compare(PredBinary(BoolOp::Or)), "either"),
    row("xor(<bits>)                    d, a, b", (1, 0), 0, Integer(Binary(Two::Xor)), "bitwise exclusive or"),
    row("xor.pred                       p, [!]a:pred, [!]b:pred", (1, 0), 0, Compare(PredBinary(BoolOp::Xor)), "one but not both"),
    row("not(<bits>)                    d, a", (1, 0), 0, Integer(Unary(One::Not)), "bits inverted"),
    row("not.pred                       p, [!]a:pred", (1, 0), 0, Compare(PredNot), "opposite"),
    row("cnot(<bits>)                   d, a", (1, 0), 0, Integer(Unary(One::CNot)), "1 if a is 0, else 0"),
    row("lop3.b32                       d:_, a, b, c, lut:u32:imm", (4, 3), 50, Bits(Lop3), "any logical function of three words, by its truth table"),
    row("lop3.and.b32                   d|p:_, a, b, c, lut:u32:imm, [!]e:pred", (8, 2), 70, Bits(Lop3Pred(BoolOp::And)), "lop3, and p = (d != 0) and e"),
    row("lop3.or.b32                    d|p:_, a, b, c, lut:u32:imm, [!]e:pred", (8, 2), 70, Bits(Lop3Pred(BoolOp::Or)), "lop3, and p = (d != 0) or e"),
    row("shf-l.clamp.b32                d, a, b, c:u32", (3, 1), 32, Bits(Field32(Field::ShfLeftClamp)), "upper word of b:a << min(c, 32)"),
    row("shf-l.wrap.b32                 d, a, b, c:u32", (3, 1), 32, Bits(Field32(Field::ShfLeftWrap)), "upper word of b:a << (c mod 32)"),
    row("shf-r.clamp.b32                d, a, b, c:u32", (3, 1), 32, Bits(Field32(Field::ShfRightClamp)), "lower word of b:a >> min(c, 32)"),
    row("shf-r.wrap.b32                 d, a, b, c:u32", (3, 1), 32, Bits(Field32(Field::ShfRightWrap)), "lower word of b:a >> (c mod 32)"),
    row("shl(<bits>)                    d, a, b:u32", (1, 0), 0, Bits(Shift(Direction::Left)), "a shifted left by b"),
    row("shr(<bits>|<int>)              d, a, b:u32", (1, 0), 0, Bits(Shift(Direction::Right)), "a shifted right by b, with the sign if it has one"),
    row("prmt.b32                       d, a, b, c", (2, 0), 20, Bits(Field32(Field::Prmt)), "four bytes of b:a, chosen by the nibbles of c"),
    row("prmt.b32.f4e                   d, a, b, c", (2, 0), 20, Bits(Field32(Field::PrmtF4e)), "four bytes of b:a upwards from c"),
    row("prmt.b32.b4e                   d, a, b, c", (2, 0), 20, Bits(Field32(Field::PrmtB4e)), "four bytes of b:a downwards from c"),
    row("prmt.b32.rc8                   d, a, b, c", (2, 0), 20, Bits(Field32(Field::PrmtRc8)), "byte c of a, four times"),
    row("prmt.b32.ecl                   d, a, b, c", (2, 0), 20, Bits(Field32(Field::PrmtEcl)), "bytes of a, clamped to the left of c"),
    row("prmt.b32.ecr                   d, a, b, c", (2, 0), 20, Bits(Field32(Field::PrmtEcr)), "bytes of a, clamped to the right of c"),
    row("prmt.b32.rc16                  d, a, b, c", (2, 0), 20, Bits(Field32(Field::PrmtRc16)), "half c of a, twice"),
];
