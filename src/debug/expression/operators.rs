//! Operators on typed bits: C's rules, on PTX's types.
//!
//! Integers narrower than 32 bits, and predicates, become 32-bit signed ones first. Of two integers the wider type wins, and of two
//! of the same width the unsigned one. Untyped bits (`.b32`) count as signed, as registers in gdb, unless another type
//! is inferred for the register (`debug::names::inferred`). Of two different floating-point types `f64` wins, otherwise `f32`; two of the
//! same half type stay that type. Results wrap. Dividing an integer by zero is an error. Shifts by the width or more are as in
//! PTX: zeros, or copies of the sign.
//!
//! A cast converts the value, as in C; out of the range of an integer of 32 or 64 bits it saturates, as `cvt` does. From or to untyped and
//! packed types it reinterprets the bits instead: `(f32)%r1` reads the bits of a `.b32` register as a float.

use super::tree::{BinaryOp, UnaryOp};
use crate::debug::value::{Scalar, Type, number};
use crate::isa::{ScalarType, TypeKind};

/// An operation that does not work on its operands, in words.
pub type OperatorError = String;

/// The type that a value is computed in.
fn promoted(value: &Scalar) -> Result<ScalarType, OperatorError> {
    let ty = match value.ty {
        Type::Scalar(ty) => ty,
        Type::Pointer(..) | Type::SourcePointer(..) | Type::Code | Type::Function => return Ok(ScalarType::U64),
    };
    if number::elements(ty).1 > 1 {
        return Err(format!("'.{}' holds several numbers: take one by its index, as in x[0]", ty.word()));
    }
    match (ty.kind(), ty.bits()) {
        (_, 128) => Err("128 bits can be shown and compared for equality, and nothing else".to_string()),
        (TypeKind::Float, _) if matches!(ty, ScalarType::F16 | ScalarType::BF16 | ScalarType::F64) => Ok(ty),
        (TypeKind::Float, _) => Ok(ScalarType::F32),
        (_, ..32) => Ok(ScalarType::S32),
        (TypeKind::Unsigned, 32) => Ok(ScalarType::U32),
        (_, 32) => Ok(ScalarType::S32),
        (TypeKind::Unsigned, _) => Ok(ScalarType::U64),
        (_, _) => Ok(ScalarType::S64),
    }
}

/// The type that two values are computed in together.
pub fn common_type(a: &Scalar, b: &Scalar) -> Result<ScalarType, OperatorError> {
    let (a, b) = (promoted(a)?, promoted(b)?);
    let floats = [a, b].map(|ty| ty.kind() == TypeKind::Float);
    Ok(match floats {
        [true, true] if a == b => a,
        [true, true] if a == ScalarType::F64 || b == ScalarType::F64 => ScalarType::F64,
        [true, true] => ScalarType::F32,
        [true, false] => a,
        [false, true] => b,
        [false, false] if a.bits() != b.bits() => {
            if a.bits() > b.bits() {
                a
            } else {
                b
            }
        }
        [false, false] => {
            if a.kind() == TypeKind::Unsigned {
                a
            } else {
                b
            }
        }
    })
}

/// The value of `c ? a : b` where `c` chooses `a`, and `b` gives only its type: in the type that both are computed in together, as in
/// C++. A pointer stays one, and what has no common type is left as it is.
pub fn conditional(a: Scalar, b: &Scalar) -> Scalar {
    let is_pointer = |value: &Scalar| matches!(value.ty, Type::Pointer(..) | Type::SourcePointer(..) | Type::Code | Type::Function);
    match (a.ty == b.ty || is_pointer(&a), is_pointer(b)) {
        (true, _) => a,
        // The null pointer.
        (false, true) if a.bits == 0 => Scalar::new(b.ty, 0),
        (false, true) => a,
        (false, false) => common_type(&a, b).map_or(a, |ty| convert(&a, ty)),
    }
}

/// `op a`.
pub fn unary(op: UnaryOp, a: &Scalar) -> Result<Scalar, OperatorError> {
    if op == UnaryOp::Not {
        return Ok(Scalar::truth(!a.is_true()));
    }
    let ty = promoted(a)?;
    let value = convert(a, ty);
    let is_float = ty.kind() == TypeKind::Float;
    let result = match op {
        UnaryOp::Plus | UnaryOp::Not => value.bits,
        UnaryOp::Minus if is_float => value.bits ^ 1 << (ty.bits() - 1),
        UnaryOp::Minus => value.bits.wrapping_neg(),
        UnaryOp::Complement if is_float => return Err(integers_only("~", ty)),
        UnaryOp::Complement => !value.bits,
    };
    Ok(Scalar::new(Type::Scalar(ty), result))
}

/// `a op b`.
pub fn binary(op: BinaryOp, a: &Scalar, b: &Scalar) -> Result<Scalar, OperatorError> {
    if let Some(result) = pointers(op, a, b)? {
        return Ok(result);
    }
    if matches!(op, BinaryOp::Eq | BinaryOp::Ne) && a.ty == b.ty && a.ty == Type::Scalar(ScalarType::B128) {
        return Ok(Scalar::truth((a.bits == b.bits) == (op == BinaryOp::Eq)));
    }
    // The right operand of a shift does not take part in the choice of the type.
    let ty = if matches!(op, BinaryOp::Shl | BinaryOp::Shr) { promoted(a)? } else { common_type(a, b)? };
    if ty.kind() == TypeKind::Float {
        return floats(op, ty, &convert(a, ty), &convert(b, ty));
    }
    if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
        let count_type = promoted(b)?;
        if count_type.kind() == TypeKind::Float {
            return Err(integers_only(op.symbol(), count_type));
        }
        return Ok(shift(op, ty, integer(&convert(a, ty)), integer(&convert(b, count_type))));
    }
    integers(op, ty, integer(&convert(a, ty)), integer(&convert(b, ty)))
}

/// `(ty)a`.
pub fn cast(a: &Scalar, ty: ScalarType) -> Result<Scalar, OperatorError> {
    let by_bits = |ty: ScalarType| ty.kind() == TypeKind::Untyped || number::elements(ty).1 > 1;
    let Type::Scalar(from) = a.ty else { return Ok(convert(a, ty)) };
    if ty == ScalarType::Pred {
        return Ok(Scalar::truth(a.is_true()));
    }
    let is_float = |ty: ScalarType| ty.kind() == TypeKind::Float;
    if by_bits(from) && (is_float(ty) || by_bits(ty)) || by_bits(ty) && (is_float(from) || by_bits(from)) {
        return Ok(Scalar::new(Type::Scalar(ty), a.bits));
    }
    if is_float(ty) && number::from_f64(ty, 0.0).is_none() {
        return Err(format!("no number is converted to '.{0}': cast untyped bits, as in ({0})(b{1})x", ty.word(), ty.bits().max(8)));
    }
    Ok(convert(a, ty))
}

/// The value of `a` as `ty`, which must be a scalar that numbers can be converted to.
pub fn convert(a: &Scalar, ty: ScalarType) -> Scalar {
    let wanted = Type::Scalar(ty);
    let Type::Scalar(from) = a.ty else { return Scalar::new(wanted, a.bits) };
    if from == ty {
        return *a;
    }
    let bits = match (number::to_f64(from, a.bits), ty.kind() == TypeKind::Float) {
        (Some(value), true) => number::from_f64(ty, value).unwrap_or(a.bits),
        // As in C++ on the hardware, by way of an integer of 32 bits.
        (Some(value), false) if (8..32).contains(&ty.bits()) => {
            saturated(value, if ty.kind() == TypeKind::Unsigned { ScalarType::U32 } else { ScalarType::S32 })
        }
        (Some(value), false) => saturated(value, ty),
        (None, true) => {
            let value = number::to_integer(from, a.bits).unwrap_or(0);
            let exact = if ty == ScalarType::F32 { f64::from(value as f32) } else { value as f64 };
            number::from_f64(ty, exact).unwrap_or(a.bits)
        }
        (None, false) => number::to_integer(from, a.bits).map_or(a.bits, i128::cast_unsigned),
    };
    Scalar::new(wanted, bits)
}

/// A floating-point number truncated to an integer of `ty` and saturated to its range; NaN is 0.
fn saturated(value: f64, ty: ScalarType) -> u128 {
    let bits = ty.bits().clamp(1, 64);
    let (low, high) = match ty.kind() {
        TypeKind::Unsigned | TypeKind::Predicate => (0, (1_i128 << bits) - 1),
        _ => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
    };
    (value as i128).clamp(low, high).cast_unsigned()
}

fn integer(a: &Scalar) -> i128 {
    match a.ty {
        Type::Scalar(ty) => number::to_integer(ty, a.bits).unwrap_or(0),
        Type::Pointer(..) | Type::SourcePointer(..) | Type::Code | Type::Function => a.bits.cast_signed(),
    }
}

fn integers(op: BinaryOp, ty: ScalarType, a: i128, b: i128) -> Result<Scalar, OperatorError> {
    let result = match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div | BinaryOp::Rem if b == 0 => return Err("division by zero".to_string()),
        BinaryOp::Div => a.wrapping_div(b),
        BinaryOp::Rem => a.wrapping_rem(b),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl | BinaryOp::Shr => return Ok(shift(op, ty, a, b)),
        _ => return Ok(Scalar::truth(compare(op, a.partial_cmp(&b)))),
    };
    Ok(Scalar::new(Type::Scalar(ty), result.cast_unsigned()))
}

fn shift(op: BinaryOp, ty: ScalarType, a: i128, count: i128) -> Scalar {
    let width = ty.bits();
    let count = u32::try_from(count).unwrap_or(u32::MAX).min(width);
    let result = match op {
        BinaryOp::Shl if count == width => 0,
        BinaryOp::Shl => a << count,
        _ => a >> count,
    };
    Scalar::new(Type::Scalar(ty), result.cast_unsigned())
}

/// Floating-point arithmetic, computed in `f64`: wide enough that double rounding does not change results of narrower types.
fn floats(op: BinaryOp, ty: ScalarType, a: &Scalar, b: &Scalar) -> Result<Scalar, OperatorError> {
    let value = |scalar: &Scalar| number::to_f64(ty, scalar.bits).unwrap_or(0.0);
    let (a, b) = (value(a), value(b));
    let result = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
            return Err(integers_only(op.symbol(), ty));
        }
        _ => return Ok(Scalar::truth(compare(op, a.partial_cmp(&b)))),
    };
    Ok(Scalar::new(Type::Scalar(ty), number::from_f64(ty, result).unwrap_or(0)))
}

fn integers_only(op: &str, ty: ScalarType) -> OperatorError {
    format!("'{op}' works on integers, not on '.{}': cast it to b{} for its bits", ty.word(), ty.bits())
}

fn compare(op: BinaryOp, order: Option<std::cmp::Ordering>) -> bool {
    match op {
        BinaryOp::Eq => order.is_some_and(std::cmp::Ordering::is_eq),
        BinaryOp::Ne => order.is_none_or(std::cmp::Ordering::is_ne),
        BinaryOp::Lt => order.is_some_and(std::cmp::Ordering::is_lt),
        BinaryOp::Le => order.is_some_and(std::cmp::Ordering::is_le),
        BinaryOp::Gt => order.is_some_and(std::cmp::Ordering::is_gt),
        _ => order.is_some_and(std::cmp::Ordering::is_ge),
    }
}

/// Arithmetic on pointers, in units of the pointee; none if neither operand is a pointer.
fn pointers(op: BinaryOp, a: &Scalar, b: &Scalar) -> Result<Option<Scalar>, OperatorError> {
    let moved = |pointer: &Scalar, bytes: u32, steps: i128| {
        let address = pointer.bits.cast_signed().wrapping_add(steps.wrapping_mul(i128::from(bytes)));
        Some(Scalar::new(pointer.ty, address.cast_unsigned()))
    };
    let steps = |count: &Scalar| match promoted(count)?.kind() {
        TypeKind::Float => Err("a pointer moves by whole elements".to_string()),
        _ => Ok(integer(count)),
    };
    Ok(match (op, target_bytes(a.ty), target_bytes(b.ty)) {
        (BinaryOp::Sub, Some(bytes), Some(_)) => {
            let distance = a.bits.cast_signed().wrapping_sub(b.bits.cast_signed()) / i128::from(bytes.max(1));
            Some(Scalar::new(Type::Scalar(ScalarType::S64), distance.cast_unsigned()))
        }
        (BinaryOp::Add, Some(_), Some(_)) => return Err("two pointers cannot be added".to_string()),
        (BinaryOp::Add, Some(bytes), None) => moved(a, bytes, steps(b)?),
        (BinaryOp::Add, None, Some(bytes)) => moved(b, bytes, steps(a)?),
        (BinaryOp::Sub, Some(bytes), None) => moved(a, bytes, steps(b)?.wrapping_neg()),
        _ => None,
    })
}

/// The bytes of a step of a pointer; none for what is no pointer. As in GNU C, those of `void` and of functions are of one byte.
fn target_bytes(ty: Type) -> Option<u32> {
    match ty {
        Type::Pointer(_, ty) => Some(ty.bytes()),
        Type::SourcePointer(_, _, bytes) => Some(bytes.max(1)),
        Type::Scalar(_) | Type::Code | Type::Function => None,
    }
}
