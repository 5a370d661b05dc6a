//! Elements of tensors that no register holds, computed as Triton's operations are defined: indices, masks and addresses, of which a
//! compiler keeps only what it needs. Floating-point arithmetic is left out: a compiler may round it otherwise.

use crate::isa::ScalarType;
use crate::ttgir::{ElementType, Op};

/// The sign-extended number of a value of this type.
fn signed(ty: ElementType, bits: u128) -> i128 {
    let unused = 128 - ty.bits().clamp(1, 128);
    (bits << unused).cast_signed() >> unused
}

fn wrapped(ty: ElementType, value: i128) -> u128 {
    let bits = ty.bits().clamp(1, 128);
    value.cast_unsigned() & (u128::MAX >> (128 - bits))
}

/// The element that `op` makes of the elements of its operands, which are of type `from`; none if it is not one of these operations.
pub fn element(op: &Op, from: ElementType, to: ElementType, operands: &[u128]) -> Option<u128> {
    let name = op.name.as_str();
    match (name, operands) {
        ("tt.splat" | "ttg.convert_layout" | "arith.bitcast" | "tt.bitcast", [a]) => Some(*a),
        ("arith.extui" | "arith.trunci" | "arith.index_cast", [a]) => Some(wrapped(to, *a as i128)),
        ("arith.extsi", [a]) => Some(wrapped(to, signed(from, *a))),
        ("arith.select", [condition, a, b]) => Some(if *condition != 0 { *a } else { *b }),
        ("arith.cmpi", [a, b]) => compare(op.text.split(',').next()?.trim(), from, *a, *b).map(u128::from),
        ("tt.addptr", [a, b]) => address(from, *a, *b),
        (_, [a, b]) => binary(name, from, *a, *b).map(|value| wrapped(to, value)),
        _ => None,
    }
}

/// What `op` makes of a constant; none if that is not known. Zero is the same in all types.
pub fn of_constant(op: &Op, from: ElementType, to: ElementType, constant: u128) -> Option<u128> {
    match op.name.as_str() {
        "arith.truncf" | "arith.extf" | "arith.sitofp" | "arith.uitofp" | "arith.fptosi" | "arith.fptoui" if constant == 0 => Some(0),
        _ => element(op, from, to, &[constant]),
    }
}

/// The pointer `a` moved by `b` elements; the type of `b` has been extended with its sign.
fn address(pointer: ElementType, a: u128, b: u128) -> Option<u128> {
    let ElementType::Pointer(Some(pointee)) = pointer else { return None };
    let bytes = i128::from(pointee.bits().max(8) / 8);
    Some(wrapped(pointer, (a as i128).wrapping_add(b.cast_signed().wrapping_mul(bytes))))
}

fn compare(predicate: &str, ty: ElementType, a: u128, b: u128) -> Option<bool> {
    let (left, right) = (signed(ty, a), signed(ty, b));
    Some(match predicate {
        "eq" => a == b,
        "ne" => a != b,
        "slt" => left < right,
        "sle" => left <= right,
        "sgt" => left > right,
        "sge" => left >= right,
        "ult" => a < b,
        "ule" => a <= b,
        "ugt" => a > b,
        "uge" => a >= b,
        _ => return None,
    })
}

fn binary(name: &str, ty: ElementType, a: u128, b: u128) -> Option<i128> {
    let (left, right) = (signed(ty, a), signed(ty, b));
    let shift = u32::try_from(b).ok().filter(|count| *count < ty.bits());
    Some(match name {
        "arith.addi" => left.wrapping_add(right),
        "arith.subi" => left.wrapping_sub(right),
        "arith.muli" => left.wrapping_mul(right),
        "arith.andi" => left & right,
        "arith.ori" => left | right,
        "arith.xori" => left ^ right,
        "arith.divsi" => left.checked_div(right)?,
        "arith.remsi" => left.checked_rem(right)?,
        "arith.divui" => a.checked_div(b)? as i128,
        "arith.remui" => a.checked_rem(b)? as i128,
        "arith.minsi" => left.min(right),
        "arith.maxsi" => left.max(right),
        "arith.minui" => a.min(b) as i128,
        "arith.maxui" => a.max(b) as i128,
        "arith.shli" => left << shift?,
        "arith.shrsi" => left >> shift?,
        "arith.shrui" => (a >> shift?) as i128,
        _ => return None,
    })
}

/// The bits of a constant: `dense<0xFF800000>`, `1024`, `true`.
pub fn constant(op: &Op, ty: ElementType) -> Option<u128> {
    let text = op.text.trim();
    let text = text.rsplit_once('}').map_or(text, |(_, rest)| rest).trim();
    let text = text.strip_prefix("dense<").and_then(|rest| rest.strip_suffix('>')).unwrap_or(text);
    let number = ty.number();
    match text {
        "true" => return Some(1),
        "false" => return Some(0),
        _ => {}
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return u128::from_str_radix(digits, 16).ok();
    }
    match number {
        ScalarType::F32 => text.parse::<f32>().ok().map(|value| u128::from(value.to_bits())),
        ScalarType::F64 => text.parse::<f64>().ok().map(|value| u128::from(value.to_bits())),
        // Zero has the same bits in all types.
        ScalarType::F16 | ScalarType::BF16 | ScalarType::E4M3 | ScalarType::E5M2 => {
            text.parse::<f64>().ok().filter(|value| value.to_bits() == 0).map(|_| 0)
        }
        _ => text.parse::<i128>().ok().map(|value| wrapped(ty, value)),
    }
}

/// The bits of a number with its sign in all 128 bits.
pub fn extended(ty: ElementType, bits: u128) -> u128 {
    signed(ty, bits).cast_unsigned()
}

/// True for an operation whose result is computed from the elements of its operands.
pub(super) fn is_computed(name: &str) -> bool {
    const OTHERS: &[&str] = &["tt.splat", "tt.expand_dims", "tt.broadcast", "tt.addptr", "tt.bitcast", "ttg.convert_layout"];
    const INTEGERS: &[&str] = &[
        "addi", "subi", "muli", "andi", "ori", "xori", "divsi", "remsi", "divui", "remui", "minsi", "maxsi", "minui", "maxui", "shli",
        "shrsi", "shrui", "cmpi", "select", "extsi", "extui", "trunci", "bitcast",
    ];
    OTHERS.contains(&name) || name.strip_prefix("arith.").is_some_and(|name| INTEGERS.contains(&name))
}
