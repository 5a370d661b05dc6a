//! Constant operands: the bits of a constant expression in a type (PTX ISA, "Constants" and "Constant Expressions").

use super::super::decode_context::Value;
use crate::base::{Diagnostic, Span};
use crate::isa::{ScalarType, TypeKind};

/// The bits of the constant `value` in an operand of type `ty`; `None` if it is not a constant.
///
/// Integers are allowed for integer and untyped operands and are truncated; decimal floats for floats and for 64 untyped bits, as ptxas
/// accepts them; hexadecimal floats for floats and for untyped operands of the same size.
pub(super) fn bits(value: &Value, ty: ScalarType, span: Span) -> Option<Result<u64, Diagnostic>> {
    use ScalarType::{B32, B64, F32, F64};
    let is_float = ty.kind() == TypeKind::Float;
    let result = match (value, ty) {
        (Value::Int { value, .. }, _) if !is_float => Ok(truncated(*value, ty)),
        (Value::Float(number), F32 | F64) if number.is_subnormal() => {
            Err(Diagnostic::error("operand", span, "the number is too small to be written as a decimal")
                .with_help(format!("write its bits, 0d{:016X}", number.to_bits())))
        }
        (Value::Float(number), F32) => Ok(u64::from((*number as f32).to_bits())),
        (Value::Float(number), F64 | B64) => Ok(number.to_bits()),
        // For an `.f64` the assembler uses the 32 bits unchanged: a subnormal number.
        (Value::Float32Bits(bits), F32 | F64 | B32) => Ok(u64::from(*bits)),
        (Value::Float64Bits(bits), F64 | B64) => Ok(*bits),
        (Value::Float64Bits(bits), F32) => Ok(u64::from((f64::from_bits(*bits) as f32).to_bits())),
        (Value::Int { value, unsigned }, _) => Err(integer_for_float(*value, *unsigned, ty, span)),
        (Value::Float(_) | Value::Float32Bits(_) | Value::Float64Bits(_), _) => Err(float_for(ty, value, span)),
        _ => return None,
    };
    Some(result)
}

/// The low bits of `value` in the width of `ty`; for a predicate 1 if it is not zero.
fn truncated(value: u64, ty: ScalarType) -> u64 {
    if ty == ScalarType::Pred {
        u64::from(value != 0)
    } else if ty.bits() >= 64 {
        value
    } else {
        value & ((1 << ty.bits()) - 1)
    }
}

/// The integer `value` if it does not fit in `ty`, signed or unsigned.
pub(super) fn too_wide(value: &Value, ty: ScalarType) -> Option<i64> {
    let Value::Int { value, .. } = *value else { return None };
    let (number, excess) = (value as i64, 64_u32.saturating_sub(ty.bits()));
    let fits = (value << excess) >> excess == value || (number << excess) >> excess == number;
    (excess < 64 && !fits).then_some(number)
}

fn integer_for_float(value: u64, unsigned: bool, ty: ScalarType, span: Span) -> Diagnostic {
    let written = if unsigned { value.to_string() } else { (value as i64).to_string() };
    let help = if matches!(ty, ScalarType::F32 | ScalarType::F64) {
        format!("write {written}.0")
    } else {
        format!(".{} operands are registers: move the bits of the number into one", ty.word())
    };
    Diagnostic::error("type", span, format!("the integer {written} cannot be an operand of type .{}", ty.word())).with_help(help)
}

fn float_for(ty: ScalarType, value: &Value, span: Span) -> Diagnostic {
    let error = Diagnostic::error("type", span, format!("a floating-point constant cannot be an operand of type .{}", ty.word()));
    match (value, ty.kind()) {
        (Value::Float(number), TypeKind::Untyped) if ty.bits() == 32 => {
            error.with_help(format!("write its bits, 0f{:08X}", (*number as f32).to_bits()))
        }
        (_, TypeKind::Float) => error.with_help("move the bits of the number into a register first"),
        _ => error,
    }
}
