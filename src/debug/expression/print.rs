//! Prints syntax trees, with parentheses around compound operands: parsing the text again gives the same tree.

use super::tree::{AGGREGATES, AtLanes, CONVENIENCES, Node, NodeKind, UnaryOp};
use crate::debug::value::{Scalar, Type};
use crate::isa::{SPECIAL_REGISTERS, ScalarType};
use crate::machine::LaneMask;

/// The text of a tree.
pub(super) fn text(node: &Node) -> String {
    match &node.kind {
        NodeKind::Number(value) => number(value),
        // As it is typed, in quotes.
        NodeKind::Name(name) if name.ends_with(')') => format!("'{name}'"),
        NodeKind::Name(name) => name.clone(),
        NodeKind::Special(register) => SPECIAL_REGISTERS.get(*register).map_or("?", |row| row.name).to_string(),
        NodeKind::Convenience(word) => CONVENIENCES.iter().find(|row| row.1 == *word).map_or("?", |row| row.0).to_string(),
        NodeKind::Unary(op, a) => format!("{}{}", sign(*op), operand(a)),
        NodeKind::Step(step, a) if step.is_after => format!("{}{}", operand(a), step.sign()),
        NodeKind::Step(step, a) => format!("{}{}", step.sign(), operand(a)),
        NodeKind::Binary(op, operands) => format!("{} {} {}", operand(&operands[0]), op.symbol(), operand(&operands[1])),
        NodeKind::Logical(is_or, operands) => {
            format!("{} {} {}", operand(&operands[0]), if *is_or { "||" } else { "&&" }, operand(&operands[1]))
        }
        NodeKind::Conditional(operands) => format!("{} ? {} : {}", operand(&operands[0]), operand(&operands[1]), operand(&operands[2])),
        NodeKind::Cast(ty, a) => format!("({ty}){}", operand(a)),
        NodeKind::SourceCast(ty, a) => format!("({ty}){}", operand(a)),
        NodeKind::SizeOf(what, _) => format!("sizeof({what})"),
        NodeKind::Dereference(a) => format!("*{}", operand(a)),
        NodeKind::AddressOf(a) => format!("&{}", operand(a)),
        NodeKind::Index(operands) => format!("{}[{}]", operand(&operands[0]), text(&operands[1])),
        NodeKind::Slice(operands) => format!("{}[{}..{}]", operand(&operands[0]), text(&operands[1]), text(&operands[2])),
        NodeKind::Subscripts(parts) => {
            let (base, rest) =
                parts.split_first().map_or_else(Default::default, |(base, rest)| (operand(base), rest.iter().map(text).collect()));
            let rest: Vec<String> = rest;
            format!("{base}[{}]", rest.join(", "))
        }
        NodeKind::Range(ends) => range(&ends[0], &ends[1]),
        NodeKind::File(path) => format!("@{path}"),
        NodeKind::Member(a, name) => format!("{}.{name}", operand(a)),
        NodeKind::Lanes(a, AtLanes { mask, is_number: false }) if mask.count() == 1 => {
            format!("{}@{lane}-{lane}", operand(a), lane = mask.first())
        }
        NodeKind::Lanes(a, AtLanes { mask, .. }) => format!("{}@{}", operand(a), lanes(*mask)),
        NodeKind::Aggregate(aggregate, a) => {
            let word = AGGREGATES.iter().find(|row| row.1 == *aggregate).map_or("?", |row| row.0);
            format!("{word}({})", text(a))
        }
        NodeKind::Function(function, arguments) => {
            format!("{}({})", function.name(), arguments.iter().map(text).collect::<Vec<_>>().join(", "))
        }
    }
}

/// The text of an operand, in parentheses if it is compound.
pub(super) fn operand(node: &Node) -> String {
    let alone = matches!(
        node.kind,
        NodeKind::Number(_)
            | NodeKind::Name(_)
            | NodeKind::Special(_)
            | NodeKind::Convenience(_)
            | NodeKind::Index(_)
            | NodeKind::Slice(_)
            | NodeKind::Subscripts(_)
            | NodeKind::File(_)
            | NodeKind::Member(..)
            | NodeKind::SizeOf(..)
            | NodeKind::Aggregate(..)
            | NodeKind::Function(..)
    );
    if alone { text(node) } else { format!("({})", text(node)) }
}

/// `i:j`; an end that is open is not written.
fn range(start: &Node, end: &Node) -> String {
    let s64 = Type::Scalar(ScalarType::S64);
    let open = |node: &Node, value: u128| matches!(node.kind, NodeKind::Number(Scalar { ty, bits }) if ty == s64 && bits == value);
    let start = if open(start, 0) { String::new() } else { text(start) };
    let end = if open(end, i64::MAX as u128) { String::new() } else { text(end) };
    format!("{start}:{end}")
}

fn sign(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Plus => "+",
        UnaryOp::Minus => "-",
        UnaryOp::Not => "!",
        UnaryOp::Complement => "~",
    }
}

/// A literal of the same type.
fn number(value: &Scalar) -> String {
    let bits = value.bits;
    match value.ty {
        Type::Scalar(ScalarType::F32) => format!("0f{bits:08X}"),
        Type::Scalar(ScalarType::F64) => format!("0d{bits:016X}"),
        Type::Scalar(ScalarType::U32) => format!("{bits}u"),
        Type::Scalar(ScalarType::U64) => format!("{bits}ull"),
        Type::Scalar(ScalarType::S64) => format!("{bits}ll"),
        Type::Scalar(ScalarType::Pred) => if bits == 0 { "false" } else { "true" }.to_string(),
        Type::Scalar(ScalarType::S8) => crate::debug::value::format::character(bits),
        _ => bits.to_string(),
    }
}

fn lanes(mask: LaneMask) -> String {
    if mask == LaneMask::ALL { "*".to_string() } else { mask.list() }
}
