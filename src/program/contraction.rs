//! Operations that the vendor's assembler fuses.

use super::Pc;

/// A contraction by the vendor's assembler: one operation made of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContractionKind {
    /// A product (see [`crate::isa::Factored`]) and its addition or subtraction are rounded once (`fma`).
    Sum,
    /// A product and its multiplication by a power of two are rounded once.
    Scale,
    /// The reciprocal of a fast reciprocal or power is computed from its operand.
    Inverse,
}

/// Two operations that the vendor's assembler fuses: `second` is computed from the operands of `first` instead of its rounded result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contraction {
    /// The kind of contraction.
    pub kind: ContractionKind,
    /// The second one: the addition, the scaling or the reciprocal.
    pub second: Pc,
    /// The first one, whose rounded result the second one does not use.
    pub first: Pc,
}
