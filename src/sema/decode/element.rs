//! Elements of arrays, `array[2]` and `array[r+1]`, and registers with an offset as source values.
//!
//! The vendor's assembler accepts both for old code: an index counts scalar elements, also in arrays of vectors, and is truncated to 32
//! bits; `r+4` is an addition. Each is computed by operations inserted before the instruction that reads it.

use super::super::decode_context::{DecodeContext, RegisterRef, Value};
use super::address_operand::{absolute_address, is_in_frame};
use super::name::name_expr;
use crate::base::{Diagnostic, Span};
use crate::isa::{IntBinary, IntTernary, IntType, ScalarType, Space, TypeKind};
use crate::program::{Bank, ConvertMode, ConvertOp, Dst, IntegerOp, Location, MoveOp, Op, Src};
use crate::syntax::tree::{Expr, Name};

/// The address of an element of an array.
pub(super) enum Element {
    /// Its location, if the index is a number.
    Fixed(Location),
    /// The register that holds its computed address, and the space of the array.
    Computed(RegisterRef, Space),
}

/// Decodes `name[index]`; a computed address has 64 bits if `wide`.
///
/// # Errors
/// `name` is not an array, or the index is not an integer.
#[expect(clippy::wildcard_enum_match_arm, reason = "every other value is refused")]
pub(super) fn read<'a>(name: Name<'a>, index: &Expr<'a>, wide: bool, cx: &mut dyn DecodeContext<'a>) -> Result<Element, Diagnostic> {
    let Value::Symbol { mut location, ty, is_array: true, .. } = cx.resolve(&name_expr(name))? else {
        return Err(Diagnostic::error("operand", name.span, format!("'{}' is not an array", name.text))
            .with_help("an element is written variable[index]; of an address in a register, write [register+bytes]"));
    };
    let size = ty.bytes();
    let (register, offset) = match cx.resolve(index)? {
        Value::Int { value, .. } => {
            location.address = location.address.wrapping_add(value.wrapping_mul(u64::from(size)));
            return Ok(Element::Fixed(location));
        }
        Value::Register(register) => (register, 0),
        Value::RegisterOffset(register, offset) => (register, offset),
        _ => return Err(not_an_index(index.span)),
    };
    let number = narrow(register, index.span, cx)?;
    let bytes = cx.temporary(ScalarType::U32, format!("{}[{index}]", name.text));
    let (b, c) = (cx.const32(size), cx.const32((offset as u32).wrapping_mul(size)));
    cx.insert_before(Op::Integer(IntegerOp::Ternary { f: IntTernary::MadLo, ty: IntType::U32, d: Dst(bytes.slot), a: number, b, c }));
    Ok(Element::Computed(address_of(location, Src::reg(bytes.slot), wide, cx), location.space))
}

fn not_an_index(span: Span) -> Diagnostic {
    Diagnostic::error("type", span, "an index is an integer, or a register of an integer type or of bits, perhaps plus a number")
}

/// The low 32 bits of an index.
fn narrow<'a>(register: RegisterRef, span: Span, cx: &mut dyn DecodeContext<'a>) -> Result<Src, Diagnostic> {
    let is_integer = !matches!(register.ty.kind(), TypeKind::Float | TypeKind::Predicate) && register.ty != ScalarType::B128;
    if !is_integer {
        return Err(not_an_index(span));
    }
    if register.ty.bits() == 32 {
        return Ok(Src::reg(register.slot));
    }
    let is_signed = register.ty.kind() == TypeKind::Signed;
    let from = match (register.bank, is_signed) {
        (Bank::B64, _) => ScalarType::U64,
        (_, true) => ScalarType::S16,
        (_, false) => ScalarType::U16,
    };
    let index = cx.temporary(ScalarType::U32, "index".to_string());
    let mode = ConvertMode::of_integers(ScalarType::U32, from);
    cx.insert_before(Op::Convert(ConvertOp::Single { mode, d: Dst(index.slot), a: Src::reg(register.slot) }));
    Ok(Src::reg(index.slot))
}

/// The register that holds the address `location` plus `bytes`.
fn address_of<'a>(location: Location, bytes: Src, wide: bool, cx: &mut dyn DecodeContext<'a>) -> RegisterRef {
    let ty = if wide { ScalarType::U64 } else { ScalarType::U32 };
    let address = cx.temporary(ty, "address".to_string());
    let d = Dst(address.slot);
    let base = if is_in_frame(location) {
        cx.insert_before(Op::Move(MoveOp::FrameAddress { wide, generic: false, d, offset: location.address as i32 }));
        Src::reg(address.slot)
    } else if location.space == Space::Shared {
        cx.shared_address(location.address, wide)
    } else if wide {
        cx.const64(absolute_address(location))
    } else {
        cx.const32(absolute_address(location) as u32)
    };
    if wide {
        let one = cx.const32(1);
        cx.insert_before(Op::Integer(IntegerOp::MadWide { ty: IntType::U32, d, a: bytes, b: one, c: base }));
    } else {
        cx.insert_before(Op::Integer(IntegerOp::Binary { f: IntBinary::Add, ty: IntType::U32, d, a: base, b: bytes }));
    }
    address
}

/// A temporary register for `register` plus `offset`, modulo its width; `expr` is the source expression.
pub(super) fn sum<'a>(register: RegisterRef, offset: i64, expr: &Expr<'a>, cx: &mut dyn DecodeContext<'a>) -> Option<RegisterRef> {
    let (ty, b) = match (register.bank, register.ty) {
        (Bank::Pred, _) | (_, ScalarType::B128) => return None,
        (Bank::B64, _) => (IntType::U64, cx.const64(offset as u64)),
        (Bank::B32, ty) if ty.bits() <= 16 => (IntType::U16, cx.const32(u32::from(offset as u16))),
        (Bank::B32, _) => (IntType::U32, cx.const32(offset as u32)),
    };
    let sum = cx.temporary(register.ty, expr.to_string().replace(' ', ""));
    cx.insert_before(Op::Integer(IntegerOp::Binary { f: IntBinary::Add, ty, d: Dst(sum.slot), a: Src::reg(register.slot), b }));
    Some(sum)
}
