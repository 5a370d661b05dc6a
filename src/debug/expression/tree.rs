//! The tree of an expression.

use super::names::TypeName;
use crate::debug::value::Scalar;
use crate::machine::LaneMask;

/// A part of an expression, and the byte where it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Byte of the text, from 0.
    pub at: usize,
    /// Its kind.
    pub kind: NodeKind,
}

/// What a part of an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// A literal.
    Number(Scalar),
    /// A register, variable, parameter, label, function or buffer.
    Name(String),
    /// A special register, by its index in the table.
    Special(usize),
    /// `$pc` and kin.
    Convenience(Convenience),
    /// An operator before its operand.
    Unary(UnaryOp, Box<Node>),
    /// An operator between its operands.
    Binary(BinaryOp, Box<[Node; 2]>),
    /// `a && b`, `a || b`: true for `||`.
    Logical(bool, Box<[Node; 2]>),
    /// `a ? b : c`.
    Conditional(Box<[Node; 3]>),
    /// `(type)a`.
    Cast(TypeName, Box<Node>),
    /// `*a`.
    Dereference(Box<Node>),
    /// `&a`.
    AddressOf(Box<Node>),
    /// `a[b]`.
    Index(Box<[Node; 2]>),
    /// `a[b..c]`, both ends included.
    Slice(Box<[Node; 3]>),
    /// `a@lanes`.
    Lanes(Box<Node>, LaneMask),
    /// `any(a)` and kin.
    Aggregate(Aggregate, Box<Node>),
}

/// Words with `$` that stand for where the thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convenience {
    /// The instruction of the selected frame.
    Pc,
    /// The lane.
    Lane,
    /// The warp of the block.
    Warp,
    /// The selected frame, 0 for the innermost.
    Frame,
    /// The tick.
    Time,
    /// The lanes that stand where the lane stands, as a mask.
    Active,
}

/// Every word with its meaning.
pub const CONVENIENCES: &[(&str, Convenience, &str)] = &[
    ("$pc", Convenience::Pc, "the instruction executed next; in a caller's frame, the call"),
    ("$lane", Convenience::Lane, "the lane"),
    ("$warp", Convenience::Warp, "the warp of the block"),
    ("$frame", Convenience::Frame, "the selected frame, 0 for the innermost"),
    ("$time", Convenience::Time, "the tick"),
    ("$active", Convenience::Active, "mask of the lanes that stand where the lane stands"),
];

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
#[rustfmt::skip]
pub enum UnaryOp { Plus, Minus, Not, Complement }

/// An operator with two operands that are both evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
#[rustfmt::skip]
pub enum BinaryOp { Add, Sub, Mul, Div, Rem, Shl, Shr, And, Or, Xor, Eq, Ne, Lt, Le, Gt, Ge }

/// A function of the values of several lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
#[rustfmt::skip]
pub enum Aggregate { Any, All, Min, Max, Sum, Uniform }

/// Every aggregate with its word.
pub const AGGREGATES: &[(&str, Aggregate, &str)] = &[
    ("any", Aggregate::Any, "whether it is true in some lane"),
    ("all", Aggregate::All, "whether it is true in every lane"),
    ("min", Aggregate::Min, "the least value"),
    ("max", Aggregate::Max, "the greatest value"),
    ("sum", Aggregate::Sum, "the sum, in 64 bits"),
    ("uniform", Aggregate::Uniform, "whether every lane has the same bits"),
];

impl BinaryOp {
    /// The operator as it is written.
    pub fn symbol(self) -> &'static str {
        BINARY.iter().find(|row| row.1 == self).map_or("?", |row| row.0)
    }

    /// Whether it gives a truth value.
    pub fn is_comparison(self) -> bool {
        matches!(self, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
    }
}

/// The binary operators with what binds them, as in C: a higher number binds tighter. `||` has 1 and `&&` has 2.
#[rustfmt::skip]
pub const BINARY: &[(&str, BinaryOp, u32)] = &[
    ("|", BinaryOp::Or, 3), ("^", BinaryOp::Xor, 4), ("&", BinaryOp::And, 5),
    ("==", BinaryOp::Eq, 6), ("!=", BinaryOp::Ne, 6),
    ("<", BinaryOp::Lt, 7), ("<=", BinaryOp::Le, 7), (">", BinaryOp::Gt, 7), (">=", BinaryOp::Ge, 7),
    ("<<", BinaryOp::Shl, 8), (">>", BinaryOp::Shr, 8),
    ("+", BinaryOp::Add, 9), ("-", BinaryOp::Sub, 9),
    ("*", BinaryOp::Mul, 10), ("/", BinaryOp::Div, 10), ("%", BinaryOp::Rem, 10),
];

impl Node {
    /// The parts it is made of.
    pub fn parts(&self) -> &[Node] {
        match &self.kind {
            NodeKind::Number(_) | NodeKind::Name(_) | NodeKind::Special(_) | NodeKind::Convenience(_) => &[],
            NodeKind::Unary(_, a)
            | NodeKind::Cast(_, a)
            | NodeKind::Dereference(a)
            | NodeKind::AddressOf(a)
            | NodeKind::Lanes(a, _)
            | NodeKind::Aggregate(_, a) => std::slice::from_ref(&**a),
            NodeKind::Binary(_, parts) | NodeKind::Logical(_, parts) | NodeKind::Index(parts) => &parts[..],
            NodeKind::Conditional(parts) | NodeKind::Slice(parts) => &parts[..],
        }
    }

    /// Whether a register is in it, or another value that differs from lane to lane, outside aggregates.
    pub fn names_a_register(&self) -> bool {
        match &self.kind {
            NodeKind::Name(name) => name.starts_with('%'),
            NodeKind::Special(_) | NodeKind::Lanes(..) => true,
            NodeKind::Convenience(word) => matches!(word, Convenience::Lane),
            NodeKind::Aggregate(..) => false,
            _ => self.parts().iter().any(Node::names_a_register),
        }
    }

    /// The lanes that all its `@` have in common, those inside aggregates left out; none if it has no `@`.
    pub fn lanes(&self) -> Option<LaneMask> {
        match &self.kind {
            NodeKind::Lanes(_, mask) => Some(*mask),
            NodeKind::Aggregate(..) => None,
            _ => self.parts().iter().filter_map(Node::lanes).reduce(|a, b| a & b),
        }
    }
}
