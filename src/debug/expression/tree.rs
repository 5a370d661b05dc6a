//! The syntax tree of an expression.

use super::names::{SourceTypeName, TypeName};
use crate::debug::value::Scalar;
use crate::isa::special_register;
use crate::machine::LaneMask;

/// A part of an expression, and the byte where it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Byte of the text, from 0.
    pub at: usize,
    /// Its kind.
    pub kind: NodeKind,
}

/// The lanes after an `@`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtLanes {
    /// The lanes.
    pub mask: LaneMask,
    /// True if one number stands there: of what lies in memory, `x@3` is three objects, and `x@3-3` that of lane 3.
    pub is_number: bool,
}

/// The kind of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// A literal.
    Number(Scalar),
    /// A register, variable, parameter, label, function or buffer.
    Name(String),
    /// A special register, by its index in the table.
    Special(usize),
    /// `$pc` and other convenience variables.
    Convenience(Convenience),
    /// An operator before its operand.
    Unary(UnaryOp, Box<Node>),
    /// `++a`, `a--`: changes `a`.
    Step(Step, Box<Node>),
    /// An operator between its operands.
    Binary(BinaryOp, Box<[Node; 2]>),
    /// `a && b`, `a || b`: true for `||`.
    Logical(bool, Box<[Node; 2]>),
    /// `a ? b : c`.
    Conditional(Box<[Node; 3]>),
    /// `(type)a`.
    Cast(TypeName, Box<Node>),
    /// `(V*)a`, with a type of the source.
    SourceCast(SourceTypeName, Box<Node>),
    /// `sizeof(a)`: the text in the parentheses, which may be a type, and the expression that it is otherwise.
    SizeOf(String, Option<Box<Node>>),
    /// `*a`.
    Dereference(Box<Node>),
    /// `&a`.
    AddressOf(Box<Node>),
    /// `a[b]`.
    Index(Box<[Node; 2]>),
    /// `a[b..c]`, both ends included.
    Slice(Box<[Node; 3]>),
    /// `a[i, j]`, `a[i:j, k]`: `a`, then the subscripts.
    Subscripts(Box<[Node]>),
    /// A subscript `i:j`, without the end.
    Range(Box<[Node; 2]>),
    /// `@ref.npy`: the array in a file.
    File(String),
    /// `a.name`; `a->name` is `(*a).name`.
    Member(Box<Node>, String),
    /// `a@lanes`.
    Lanes(Box<Node>, AtLanes),
    /// `any(a)` and other aggregates.
    Aggregate(Aggregate, Box<Node>),
    /// `fabs(a)`, `min(a, b)`.
    Function(FunctionId, Box<[Node]>),
}

/// A change of a variable by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// An addition or a subtraction.
    pub operator: BinaryOp,
    /// True if it stands after the variable: the value is then that before.
    pub is_after: bool,
}

impl Step {
    /// `++` or `--`.
    pub fn sign(self) -> &'static str {
        if self.operator == BinaryOp::Sub { "--" } else { "++" }
    }

    /// Why it is refused where nothing is changed.
    pub(super) fn refusal(self) -> String {
        format!("'{}' changes a variable, which 'print' and 'set' alone do", self.sign())
    }
}

/// Convenience variables: the position of the thread.
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
    /// The converged lanes that include the lane, as a mask.
    Active,
}

/// The convenience variables with their help.
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

/// The aggregates with their names and help.
pub const AGGREGATES: &[(&str, Aggregate, &str)] = &[
    ("any", Aggregate::Any, "whether it is true in some lane"),
    ("all", Aggregate::All, "whether it is true in every lane"),
    ("min", Aggregate::Min, "the least value"),
    ("max", Aggregate::Max, "the greatest value"),
    ("sum", Aggregate::Sum, "the sum, in 64 bits"),
    ("uniform", Aggregate::Uniform, "whether every lane has the same bits"),
];

/// A function of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// The magnitude.
    Fabs,
    /// The square root.
    Sqrt,
    /// One by the square root.
    Rsqrt,
    /// The less of two, of integers too.
    Min,
    /// The greater of two, of integers too.
    Max,
    /// The less of two floats.
    Fmin,
    /// The greater of two floats.
    Fmax,
}

/// The functions with their names, the number of their arguments, and whether they compute in `f32`, as those with an `f` at the end.
const FUNCTIONS: &[(&str, Function, usize, bool)] = &[
    ("fabs", Function::Fabs, 1, false),
    ("fabsf", Function::Fabs, 1, true),
    ("sqrt", Function::Sqrt, 1, false),
    ("sqrtf", Function::Sqrt, 1, true),
    ("rsqrt", Function::Rsqrt, 1, false),
    ("rsqrtf", Function::Rsqrt, 1, true),
    ("min", Function::Min, 2, false),
    ("max", Function::Max, 2, false),
    ("fmin", Function::Fmin, 2, false),
    ("fminf", Function::Fmin, 2, true),
    ("fmax", Function::Fmax, 2, false),
    ("fmaxf", Function::Fmax, 2, true),
];

/// A function as it is called: an index into the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionId(usize);

impl FunctionId {
    /// The function called `name`.
    pub fn called(name: &str) -> Option<Self> {
        FUNCTIONS.iter().position(|row| row.0 == name).map(Self)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        FUNCTIONS[self.0].0
    }

    /// The number of its arguments.
    pub fn arguments(self) -> usize {
        FUNCTIONS[self.0].2
    }

    /// What it computes, and whether in `f32`.
    pub fn row(self) -> (Function, bool) {
        let (_, function, _, is_single) = FUNCTIONS[self.0];
        (function, is_single)
    }
}

impl NodeKind {
    /// A name, as far as it is known without a program.
    pub(super) fn named(name: String) -> Self {
        if let Some((_, word, _)) = CONVENIENCES.iter().find(|row| row.0 == name) {
            return NodeKind::Convenience(*word);
        }
        match (name.as_str(), special_register(&name)) {
            (_, Some(special)) => NodeKind::Special(special),
            ("true" | "false", None) => NodeKind::Number(Scalar::truth(name == "true")),
            _ => NodeKind::Name(name),
        }
    }
}

impl BinaryOp {
    /// The operator as it is written.
    pub fn symbol(self) -> &'static str {
        BINARY.iter().find(|row| row.1 == self).map_or("?", |row| row.0)
    }

    /// The operator that is written so.
    pub fn called(symbol: &str) -> Option<Self> {
        BINARY.iter().find(|row| row.0 == symbol).map(|row| row.1)
    }

    /// True if the result is a truth value.
    pub fn is_comparison(self) -> bool {
        matches!(self, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
    }
}

/// The binary operators with their precedence, as in C: a higher number binds tighter. `||` has 1 and `&&` has 2.
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
    /// Its child nodes.
    pub fn children(&self) -> &[Node] {
        match &self.kind {
            NodeKind::Number(_) | NodeKind::Name(_) | NodeKind::Special(_) | NodeKind::Convenience(_) | NodeKind::File(_) => &[],
            NodeKind::Unary(_, a)
            | NodeKind::Step(_, a)
            | NodeKind::Cast(_, a)
            | NodeKind::SourceCast(_, a)
            | NodeKind::Dereference(a)
            | NodeKind::AddressOf(a)
            | NodeKind::Member(a, _)
            | NodeKind::Lanes(a, _)
            | NodeKind::Aggregate(_, a) => std::slice::from_ref(&**a),
            NodeKind::Binary(_, operands) | NodeKind::Logical(_, operands) | NodeKind::Index(operands) | NodeKind::Range(operands) => {
                &operands[..]
            }
            NodeKind::SizeOf(_, a) => a.as_deref().map_or(&[], std::slice::from_ref),
            NodeKind::Subscripts(parts) | NodeKind::Function(_, parts) => parts,
            NodeKind::Conditional(operands) | NodeKind::Slice(operands) => &operands[..],
        }
    }

    /// True if it contains a register, or another value that may differ between lanes, outside aggregates.
    pub fn depends_on_lane(&self) -> bool {
        match &self.kind {
            NodeKind::Name(name) => name.starts_with('%'),
            NodeKind::Special(_) | NodeKind::Lanes(..) => true,
            NodeKind::Convenience(word) => matches!(word, Convenience::Lane),
            NodeKind::Aggregate(..) => false,
            _ => self.children().iter().any(Node::depends_on_lane),
        }
    }

    /// True if it changes a variable.
    pub fn has_steps(&self) -> bool {
        matches!(self.kind, NodeKind::Step(..)) || self.children().iter().any(Node::has_steps)
    }

    /// True if it is about several lanes, or about another one.
    pub fn names_lanes(&self) -> bool {
        matches!(self.kind, NodeKind::Lanes(..) | NodeKind::Aggregate(..)) || self.children().iter().any(Node::names_lanes)
    }

    /// The lanes that all its `@` outside aggregates have in common; none without an `@`.
    pub fn lanes(&self) -> Option<LaneMask> {
        match &self.kind {
            NodeKind::Lanes(_, lanes) => Some(lanes.mask),
            NodeKind::Aggregate(..) => None,
            _ => self.children().iter().filter_map(Node::lanes).reduce(|a, b| a & b),
        }
    }
}
