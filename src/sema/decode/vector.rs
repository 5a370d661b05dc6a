//! Vectors of registers and constants: `{a, b}`, and vector registers.

use smallvec::SmallVec;

use super::super::decode_context::{DecodeContext, Value};
use super::constant;
use super::operand::{is_plain, not_a_register, width};
use crate::base::{Diagnostic, Span};
use crate::isa::{ScalarType, TypeKind};
use crate::program::{Dst, Src};
use crate::syntax::tree::{Operand, OperandKind};

/// The elements of a vector and their positions.
pub(super) type Elements = SmallVec<[(Value, Span); 8]>;

/// The elements of `{a, b}` or of a vector register; `None` if the operand is neither.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other values are no vectors")]
pub(super) fn elements<'a>(operand: &Operand<'a>, cx: &mut dyn DecodeContext<'a>) -> Result<Option<Elements>, Diagnostic> {
    match &operand.kind {
        OperandKind::Vector(parts) => {
            let element = |part: &Operand<'a>| match &part.kind {
                OperandKind::Expr(expr) => Ok((cx.resolve(expr)?, part.span)),
                OperandKind::Not(_)
                | OperandKind::Pair(..)
                | OperandKind::Vector(_)
                | OperandKind::Address(_)
                | OperandKind::Index(..)
                | OperandKind::AddressList(_)
                | OperandKind::List(_) => Err(not_a_register(part.span)),
            };
            parts.iter().map(element).collect::<Result<_, _>>().map(Some)
        }
        OperandKind::Expr(expr) => match cx.resolve(expr)? {
            Value::Vector(registers) => Ok(Some(registers.into_iter().map(|register| (Value::Register(register), operand.span)).collect())),
            _ => Ok(None),
        },
        OperandKind::Not(_)
        | OperandKind::Pair(..)
        | OperandKind::Address(_)
        | OperandKind::Index(..)
        | OperandKind::AddressList(_)
        | OperandKind::List(_) => Ok(None),
    }
}

/// The destinations of a vector, `_` included.
pub(super) fn dests(values: &Elements) -> SmallVec<[Dst; 8]> {
    let dest = |value: &Value| if let Value::Register(register) = value { Dst(register.slot) } else { Dst::SINK };
    values.iter().map(|(value, _)| dest(value)).collect()
}

/// The sources of a vector with elements of type `ty` in registers of `bits`.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other values are constants, or refused")]
pub(super) fn sources<'a>(
    values: &Elements,
    ty: ScalarType,
    bits: u8,
    cx: &mut dyn DecodeContext<'a>,
) -> Result<SmallVec<[Src; 8]>, Diagnostic> {
    let source = |(value, span): &(Value, Span)| match value {
        Value::Register(register) => Ok(Src::reg(register.slot)),
        Value::Special(special) if is_plain(*special) => Ok(cx.special(*special)),
        other => {
            let constant = constant::bits(other, ty, *span).ok_or_else(|| not_a_register(*span))??;
            Ok(if bits > 32 { cx.const64(constant) } else { cx.const32(constant as u32) })
        }
    };
    values.iter().map(source).collect()
}

/// The width of the registers of a vector, which must have the same size; that of `ty` if there are none. Numbers of different kinds cannot
/// be mixed in a vector, except with untyped registers.
pub(super) fn same_width(values: &Elements, ty: ScalarType, span: Span) -> Result<u8, Diagnostic> {
    let mut types = values.iter().filter_map(|(value, _)| if let Value::Register(register) = value { Some(register.ty) } else { None });
    let first = types.next().unwrap_or(ty);
    if types.any(|other| other.bits() != first.bits()) {
        return Err(Diagnostic::error("type", span, "the elements of a vector must be registers of the same size"));
    }
    let mut kinds = values.iter().filter_map(|(value, _)| number_kind(value));
    let kind = kinds.next();
    if kinds.any(|other| Some(other) != kind) {
        return Err(Diagnostic::error("type", span, "the elements of a vector must be numbers of the same kind")
            .with_help(format!("declare registers of different kinds as .b{}", ty.bits())));
    }
    Ok(width(first))
}

/// True if `register` is an integer register of the same size as the floating-point type `ty`, which vectors accept.
pub(super) fn is_of_same_size(ty: ScalarType, register: ScalarType) -> bool {
    let is_number = matches!(register.kind(), TypeKind::Signed | TypeKind::Unsigned);
    matches!(ty, ScalarType::F32 | ScalarType::F64) && is_number && register.bits() == ty.bits()
}

/// The error for a destination vector of sinks only, for which the assembler cannot determine a type.
pub(super) fn check_not_all_sinks(values: &Elements, span: Span) -> Result<(), Diagnostic> {
    if values.iter().any(|(value, _)| *value != Value::Sink) {
        return Ok(());
    }
    Err(Diagnostic::error("operand", span, "one element of a vector must be a register")
        .with_help("'_' stands for those that are not wanted"))
}

/// The floating-point type of a register, `.s64` for any integer, `None` for untyped values.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other values are only bits")]
fn number_kind(value: &Value) -> Option<ScalarType> {
    match value {
        Value::Int { .. } => Some(ScalarType::S64),
        Value::Register(register) => match register.ty.kind() {
            TypeKind::Float => Some(register.ty),
            TypeKind::Signed | TypeKind::Unsigned => Some(ScalarType::S64),
            TypeKind::Untyped | TypeKind::Predicate => None,
        },
        _ => None,
    }
}

/// The operand itself, or the only element of `{a}`, which is not a vector.
pub(super) fn unbraced<'o, 'a>(operand: &'o Operand<'a>) -> &'o Operand<'a> {
    match &operand.kind {
        OperandKind::Vector(parts) => match parts.as_slice() {
            [only] => only,
            _ => operand,
        },
        OperandKind::Expr(_)
        | OperandKind::Not(_)
        | OperandKind::Pair(..)
        | OperandKind::Address(_)
        | OperandKind::Index(..)
        | OperandKind::AddressList(_)
        | OperandKind::List(_) => operand,
    }
}
