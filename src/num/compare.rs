//! Comparison (PTX ISA, "Comparison and Selection Instructions").
//!
//! The same relations serve integers and floats; on integers the ordered and the unordered ones agree. `.lo .ls .hi .hs` are
//! `.lt .le .gt .ge` of unsigned types. With `.ftz` the caller flushes the operands first ([`Float::flush`]).

use super::float::Float;

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "one comment serves all variants of a line")]
#[rustfmt::skip]
pub enum Relation {
    /// Ordered: false if an operand is NaN.
    Eq, Ne, Lt, Le, Gt, Ge,
    /// Unordered: true if an operand is NaN.
    Equ, Neu, Ltu, Leu, Gtu, Geu,
    /// Both operands are numbers.
    Num,
    /// An operand is NaN.
    Nan,
}

/// Whether `a` stands in the relation to `b`.
#[inline(always)]
pub fn holds<T: PartialOrd>(relation: Relation, a: T, b: T) -> bool {
    let (below, equal, above) = (a < b, a == b, a > b);
    match relation {
        Relation::Eq => equal,
        Relation::Ne => below | above,
        Relation::Lt => below,
        Relation::Le => below | equal,
        Relation::Gt => above,
        Relation::Ge => above | equal,
        Relation::Equ => !(below | above),
        Relation::Neu => !equal,
        Relation::Ltu => !(above | equal),
        Relation::Leu => !above,
        Relation::Gtu => !(below | equal),
        Relation::Geu => !below,
        Relation::Num => below | equal | above,
        Relation::Nan => !(below | equal | above),
    }
}

/// The test of `slct` on a float: whether `c` is at least zero. -0 is; NaN is not.
#[inline(always)]
pub fn at_least_zero(c: f32, ftz: bool) -> bool {
    (if ftz { c.flush() } else { c }) >= 0.0
}
