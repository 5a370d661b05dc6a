//! Constant expressions (PTX ISA, "Constants" and "Constant Expressions").
//!
//! Every value is a `.s64`, a `.u64` or a `.f64`. An operation on integers of different types is unsigned; `%` is always unsigned; a
//! shift has the type of its left operand, a conditional that of the selected one; comparisons and logical operators give `.s64`.
//! Arithmetic wraps, and shift counts are taken modulo 64. Floats and integers cannot be mixed. The parser limits the number of operators
//! of an expression, so recursion is bounded.

use crate::base::{Diagnostic, Span};
use crate::syntax::tree::{BinaryOp, Expr, ExprKind, UnaryOp};

/// The value of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    /// An integer, in two's complement.
    Int {
        /// Its bits.
        value: u64,
        /// True if its type is `.u64`.
        unsigned: bool,
    },
    /// A double.
    Float(f64),
    /// `0f3F800000`, alone.
    Float32Bits(u32),
    /// `0d3FF0000000000000`, alone.
    Float64Bits(u64),
}

/// Threads of a warp, the value of `WARP_SZ`.
pub(super) const WARP_SIZE: Constant = Constant::Int { value: 32, unsigned: false };

/// Computes `expr`.
///
/// # Errors
/// Names other than `WARP_SZ`, addresses, mixed integers and floats, and division by zero.
pub(super) fn evaluate(expr: &Expr<'_>) -> Result<Constant, Diagnostic> {
    match &expr.kind {
        ExprKind::Int { value, unsigned } => Ok(Constant::Int { value: *value, unsigned: *unsigned }),
        ExprKind::Float(value) => Ok(Constant::Float(*value)),
        ExprKind::Float32Bits(bits) => Ok(Constant::Float32Bits(*bits)),
        ExprKind::Float64Bits(bits) => Ok(Constant::Float64Bits(*bits)),
        ExprKind::Name("WARP_SZ") => Ok(WARP_SIZE),
        ExprKind::Name(name) => Err(Diagnostic::error("value", expr.span, format!("'{name}' is not a constant"))),
        ExprKind::Generic(_) | ExprKind::Mask { .. } => {
            Err(Diagnostic::error("value", expr.span, "an address is not a constant; it can stand in an initializer only"))
        }
        ExprKind::Unary(op, inner) => unary(*op, evaluate(inner)?, expr.span),
        ExprKind::Binary(op, left, right) => binary(*op, evaluate(left)?, evaluate(right)?, expr.span),
        ExprKind::Conditional(condition, yes, no) => {
            let condition = integer(evaluate(condition)?, condition.span)?.0;
            let yes = integer(evaluate(yes)?, yes.span)?;
            let no = integer(evaluate(no)?, no.span)?;
            let (value, unsigned) = if condition != 0 { yes } else { no };
            Ok(Constant::Int { value, unsigned })
        }
        ExprKind::Cast { unsigned, inner } => {
            let value = integer(evaluate(inner)?, inner.span)?.0;
            Ok(Constant::Int { value, unsigned: *unsigned })
        }
    }
}

/// Computes `expr`, which must be an integer.
///
/// # Errors
/// Those of [`evaluate`], and a float.
pub(super) fn evaluate_int(expr: &Expr<'_>) -> Result<u64, Diagnostic> {
    match evaluate(expr)? {
        Constant::Int { value, .. } => Ok(value),
        Constant::Float(_) | Constant::Float32Bits(_) | Constant::Float64Bits(_) => {
            Err(Diagnostic::error("type", expr.span, "an integer is needed here, not a floating-point number"))
        }
    }
}

/// Computes `expr`, which must be a count or size: a non-negative integer.
///
/// # Errors
/// Those of [`evaluate_int`], and a negative number.
pub(super) fn evaluate_count(expr: &Expr<'_>) -> Result<u64, Diagnostic> {
    match evaluate(expr)? {
        Constant::Int { value, unsigned: false } if (value as i64) < 0 => {
            Err(Diagnostic::error("value", expr.span, format!("{} is negative; a count is needed here", value as i64)))
        }
        Constant::Int { .. } | Constant::Float(_) | Constant::Float32Bits(_) | Constant::Float64Bits(_) => evaluate_int(expr),
    }
}

/// Value and type (`true`: `.u64`) of an integer.
fn integer(constant: Constant, span: Span) -> Result<(u64, bool), Diagnostic> {
    match constant {
        Constant::Int { value, unsigned } => Ok((value, unsigned)),
        Constant::Float(_) | Constant::Float32Bits(_) | Constant::Float64Bits(_) => {
            Err(Diagnostic::error("type", span, "this operator needs integers, not floating-point numbers"))
        }
    }
}

/// The value of a floating-point constant; `None` for an integer.
fn float(constant: Constant) -> Option<f64> {
    match constant {
        Constant::Int { .. } => None,
        Constant::Float(value) => Some(value),
        Constant::Float32Bits(bits) => Some(f64::from(f32::from_bits(bits))),
        Constant::Float64Bits(bits) => Some(f64::from_bits(bits)),
    }
}

fn signed(value: u64) -> Constant {
    Constant::Int { value, unsigned: false }
}

fn truth(value: bool) -> Constant {
    signed(u64::from(value))
}

fn unary(op: UnaryOp, operand: Constant, span: Span) -> Result<Constant, Diagnostic> {
    match (op, float(operand)) {
        (UnaryOp::Plus, Some(_)) => return Ok(operand),
        (UnaryOp::Minus, Some(value)) => return Ok(Constant::Float(-value)),
        _ => {}
    }
    let (value, unsigned) = integer(operand, span)?;
    Ok(match op {
        UnaryOp::Plus => operand,
        UnaryOp::Minus => Constant::Int { value: value.wrapping_neg(), unsigned },
        UnaryOp::BitNot => Constant::Int { value: !value, unsigned },
        UnaryOp::LogicalNot => truth(value == 0),
    })
}

fn binary(op: BinaryOp, left: Constant, right: Constant, span: Span) -> Result<Constant, Diagnostic> {
    match (float(left), float(right)) {
        (Some(a), Some(b)) => float_binary(op, a, b, span),
        (None, None) => int_binary(op, integer(left, span)?, integer(right, span)?, span),
        _ => Err(Diagnostic::error("type", span, "an integer and a floating-point number cannot be combined")
            .with_help("write the integer as a floating-point number: '2.0' for '2'")),
    }
}

/// An operation on two integers, each with its type (`true`: `.u64`).
fn int_binary(op: BinaryOp, (a, a_unsigned): (u64, bool), (b, b_unsigned): (u64, bool), span: Span) -> Result<Constant, Diagnostic> {
    let unsigned = a_unsigned || b_unsigned;
    let int = |value| Ok(Constant::Int { value, unsigned });
    let order = if unsigned { a.cmp(&b) } else { (a as i64).cmp(&(b as i64)) };
    match op {
        BinaryOp::Div | BinaryOp::Rem if b == 0 => Err(division_by_zero(span)),
        BinaryOp::Mul => int(a.wrapping_mul(b)),
        BinaryOp::Div if unsigned => int(a / b),
        BinaryOp::Div => int((a as i64).wrapping_div(b as i64) as u64),
        BinaryOp::Rem => Ok(Constant::Int { value: a % b, unsigned: true }),
        BinaryOp::Add => int(a.wrapping_add(b)),
        BinaryOp::Sub => int(a.wrapping_sub(b)),
        BinaryOp::Shl => Ok(Constant::Int { value: a.wrapping_shl(b as u32), unsigned: a_unsigned }),
        BinaryOp::Shr if a_unsigned => Ok(Constant::Int { value: a.wrapping_shr(b as u32), unsigned: true }),
        BinaryOp::Shr => Ok(signed((a as i64).wrapping_shr(b as u32) as u64)),
        BinaryOp::BitAnd => int(a & b),
        BinaryOp::BitXor => int(a ^ b),
        BinaryOp::BitOr => int(a | b),
        BinaryOp::And => Ok(truth(a != 0 && b != 0)),
        BinaryOp::Or => Ok(truth(a != 0 || b != 0)),
        BinaryOp::Lt => Ok(truth(order.is_lt())),
        BinaryOp::Gt => Ok(truth(order.is_gt())),
        BinaryOp::Le => Ok(truth(order.is_le())),
        BinaryOp::Ge => Ok(truth(order.is_ge())),
        BinaryOp::Eq => Ok(truth(a == b)),
        BinaryOp::Ne => Ok(truth(a != b)),
    }
}

fn float_binary(op: BinaryOp, a: f64, b: f64, span: Span) -> Result<Constant, Diagnostic> {
    match op {
        BinaryOp::Div if b == 0.0 => Err(division_by_zero(span)),
        BinaryOp::Mul => Ok(Constant::Float(a * b)),
        BinaryOp::Div => Ok(Constant::Float(a / b)),
        BinaryOp::Add => Ok(Constant::Float(a + b)),
        BinaryOp::Sub => Ok(Constant::Float(a - b)),
        BinaryOp::Lt => Ok(truth(a < b)),
        BinaryOp::Gt => Ok(truth(a > b)),
        BinaryOp::Le => Ok(truth(a <= b)),
        BinaryOp::Ge => Ok(truth(a >= b)),
        BinaryOp::Eq => Ok(truth(a == b)),
        BinaryOp::Ne => Ok(truth(a != b)),
        BinaryOp::Rem
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::BitAnd
        | BinaryOp::BitXor
        | BinaryOp::BitOr
        | BinaryOp::And
        | BinaryOp::Or => Err(Diagnostic::error("type", span, "this operator needs integers, not floating-point numbers")),
    }
}

fn division_by_zero(span: Span) -> Diagnostic {
    Diagnostic::error("value", span, "division by zero in a constant expression")
}
