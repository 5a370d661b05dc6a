//! Comparison (PTX ISA, "Comparison and Selection Instructions").
//!
//! Integers and floats have the same relations; on integers the ordered and the unordered ones agree. `.lo .ls .hi .hs` are
//! `.lt .le .gt .ge` of unsigned types. With `.ftz` the caller flushes the operands first ([`Float::flush`]).

use super::float::Float;

/// A comparison operator of `setp`, `set` and `vset` (PTX ISA, "Comparison and Selection Instructions"). `.lo`, `.ls`, `.hi` and `.hs` are
/// the orders of unsigned types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "one comment serves all variants of a line")]
#[rustfmt::skip]
pub enum Compare {
    /// Ordered: false if an operand is NaN.
    Eq, Ne, Lt, Le, Gt, Ge,
    /// Unordered: true if an operand is NaN.
    Equ, Neu, Ltu, Leu, Gtu, Geu,
    /// Both operands are numbers.
    Num,
    /// An operand is NaN.
    Nan,
}

/// True if the relation holds between `a` and `b`.
#[inline(always)]
pub fn holds<T: PartialOrd>(relation: Compare, a: T, b: T) -> bool {
    let (below, equal, above) = (a < b, a == b, a > b);
    match relation {
        Compare::Eq => equal,
        Compare::Ne => below | above,
        Compare::Lt => below,
        Compare::Le => below | equal,
        Compare::Gt => above,
        Compare::Ge => above | equal,
        Compare::Equ => !(below | above),
        Compare::Neu => !equal,
        Compare::Ltu => !(above | equal),
        Compare::Leu => !above,
        Compare::Gtu => !(below | equal),
        Compare::Geu => !below,
        Compare::Num => below | equal | above,
        Compare::Nan => !(below | equal | above),
    }
}

/// The test of `slct` on a float: true if `c` is at least zero, or -0; false for NaN.
#[inline(always)]
pub fn at_least_zero(c: f32, ftz: bool) -> bool {
    (if ftz { c.flush() } else { c }) >= 0.0
}
