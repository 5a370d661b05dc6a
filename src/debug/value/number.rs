//! Conversion of bits of every type to numbers, and to the shortest digits that round-trip.

use crate::isa::{ScalarType, TypeKind};
use crate::num::convert::{Conversion, Kind};
use crate::num::exact::Format;
use crate::num::{Bf16, F16, Rounding};

/// The encoding of a floating-point type: bits of exponent and fraction.
#[derive(Clone, Copy)]
struct Fields {
    exponent: u32,
    fraction: u32,
    special: Special,
}

/// The meaning of the largest exponent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    /// Infinities and NaN.
    Ieee,
    /// Numbers, except that the largest pattern is NaN.
    OneNan,
    /// Numbers.
    None,
}

fn fields(ty: ScalarType) -> Option<Fields> {
    let (exponent, fraction, special) = match ty {
        ScalarType::F64 => (11, 52, Special::Ieee),
        ScalarType::F32 | ScalarType::TF32 => (8, 23, Special::Ieee),
        ScalarType::F16 => (5, 10, Special::Ieee),
        ScalarType::BF16 => (8, 7, Special::Ieee),
        ScalarType::E5M2 => (5, 2, Special::Ieee),
        ScalarType::E4M3 => (4, 3, Special::OneNan),
        ScalarType::E3M2 => (3, 2, Special::None),
        ScalarType::E2M3 => (2, 3, Special::None),
        ScalarType::E2M1 => (2, 1, Special::None),
        _ => return None,
    };
    Some(Fields { exponent, fraction, special })
}

/// The elements of a packed type: their type and number; a scalar has one element.
pub fn elements(ty: ScalarType) -> (ScalarType, u32) {
    use ScalarType as T;
    match ty {
        T::F16x2 => (T::F16, 2),
        T::BF16x2 => (T::BF16, 2),
        T::F32x2 => (T::F32, 2),
        T::U16x2 => (T::U16, 2),
        T::S16x2 => (T::S16, 2),
        T::E4M3x2 => (T::E4M3, 2),
        T::E5M2x2 => (T::E5M2, 2),
        T::E4M3x4 => (T::E4M3, 4),
        T::E5M2x4 => (T::E5M2, 4),
        T::UE8M0x2 => (T::UE8M0, 2),
        T::E2M1x2 => (T::E2M1, 2),
        T::E2M1x4 => (T::E2M1, 4),
        T::E2M3x2 => (T::E2M3, 2),
        T::E2M3x4 => (T::E2M3, 4),
        T::E3M2x2 => (T::E3M2, 2),
        T::E3M2x4 => (T::E3M2, 4),
        single => (single, 1),
    }
}

/// The bits of element `index` of a packed value, lowest first. Each six-bit element has a byte of its own.
pub fn element(ty: ScalarType, bits: u128, index: u32) -> u128 {
    let (one, count) = elements(ty);
    let stride = ty.bits() / count;
    let width = one.bits().min(stride);
    bits >> (stride * index).min(127) & ((1_u128 << width.min(127)) - 1)
}

/// The exact value of a floating-point number; none for other types and packed ones.
pub fn to_f64(ty: ScalarType, bits: u128) -> Option<f64> {
    let bits = bits as u64;
    match ty {
        ScalarType::F64 => return Some(f64::from_bits(bits)),
        ScalarType::F32 => return Some(f64::from(f32::from_bits(bits as u32))),
        ScalarType::TF32 => return Some(f64::from(f32::from_bits(bits as u32 & !0x1fff))),
        ScalarType::UE8M0 if bits & 0xff == 0xff => return Some(f64::NAN),
        ScalarType::UE8M0 => return Some(power_of_two((bits & 0xff) as i32 - 127)),
        _ => {}
    }
    let Fields { exponent, fraction, special } = fields(ty)?;
    let (ones, bias) = ((1_u64 << exponent) - 1, (1 << (exponent - 1)) - 1);
    let field = bits >> fraction & ones;
    let rest = bits & ((1 << fraction) - 1);
    let negative = bits >> (exponent + fraction) & 1 == 1;
    let magnitude = match (special, field == ones) {
        (Special::Ieee, true) if rest == 0 => f64::INFINITY,
        (Special::Ieee, true) => f64::NAN,
        (Special::OneNan, true) if rest == (1 << fraction) - 1 => f64::NAN,
        _ if field == 0 => rest as f64 * power_of_two(1 - bias - fraction as i32),
        _ => (rest | 1 << fraction) as f64 * power_of_two(field as i32 - bias - fraction as i32),
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// The bits of `ty` nearest to `value`, ties to even; none for types that no instruction converts to.
pub fn from_f64(ty: ScalarType, value: f64) -> Option<u128> {
    let convert = |to| {
        let (to, from) = (Kind::Float(to), Kind::Float(Format::F64));
        let rounding = Rounding::Nearest;
        let conversion = Conversion { to, from, rounding, integral: false, ftz: false, sat: false, relu: false, satfinite: false };
        u128::from(conversion.apply(value.to_bits()))
    };
    Some(match ty {
        ScalarType::F64 => u128::from(value.to_bits()),
        ScalarType::F32 => u128::from((value as f32).to_bits()),
        ScalarType::F16 => u128::from(F16::from_f64(value).0),
        ScalarType::BF16 => u128::from(Bf16::from_f64(value).0),
        ScalarType::TF32 => convert(Format::TF32) << 13,
        ScalarType::E4M3 => convert(Format::E4M3),
        ScalarType::E5M2 => convert(Format::E5M2),
        _ => return None,
    })
}

/// The integer value of bits; untyped bits are signed, like registers in gdb. None for floating-point and packed types.
pub fn to_integer(ty: ScalarType, bits: u128) -> Option<i128> {
    let unused = 128 - ty.bits();
    match ty.kind() {
        TypeKind::Float => None,
        _ if elements(ty).1 > 1 => None,
        TypeKind::Unsigned | TypeKind::Predicate => Some(bits.cast_signed()),
        TypeKind::Signed | TypeKind::Untyped => Some((bits << unused).cast_signed() >> unused),
    }
}

/// The text of a floating-point number: exact for types of up to 8 bits and for whole numbers, otherwise the fewest digits that
/// round-trip; a NaN with its payload, `nan(0x400000)`.
pub fn float_text(ty: ScalarType, bits: u128) -> String {
    let Some(value) = to_f64(ty, bits) else { return format!("{bits:#x}") };
    if value.is_nan() {
        return nan_text(ty, bits);
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf" } else { "inf" }.to_string();
    }
    match ty {
        ScalarType::F64 => plain(&format!("{value:?}")),
        ScalarType::F32 | ScalarType::TF32 => plain(&format!("{:?}", value as f32)),
        _ => plain(&format!("{:?}", shortest(ty, bits, value))),
    }
}

/// The number with the fewest digits that rounds to `bits`. The largest `.f16` is 65504, though 65500 rounds to it.
fn shortest(ty: ScalarType, bits: u128, value: f64) -> f64 {
    // For 8-bit numbers, few digits would round-trip, but far from the value.
    if ty.bits() <= 8 || value.trunc() == value && value.abs() < 1e6 {
        return value;
    }
    let rounded = (0..9).filter_map(|digits| format!("{value:.digits$e}").parse::<f64>().ok());
    let mut same = rounded.filter(|rounded| from_f64(ty, *rounded) == Some(bits));
    same.next().unwrap_or(value)
}

fn nan_text(ty: ScalarType, bits: u128) -> String {
    let Some(Fields { exponent, fraction, .. }) = fields(ty) else { return "nan".to_string() };
    let payload = bits & ((1 << fraction) - 1);
    let sign = if bits >> (exponent + fraction) & 1 == 1 { "-" } else { "" };
    format!("{sign}nan({payload:#x})")
}

/// `1` of `1.0`.
fn plain(text: &str) -> String {
    text.strip_suffix(".0").unwrap_or(text).to_string()
}

/// 2^power, for powers of normal numbers.
fn power_of_two(power: i32) -> f64 {
    f64::from_bits(((power + 1023).clamp(1, 2046) as u64) << 52)
}

/// The number whose little-endian bytes these are; at most 16.
pub fn little_endian(bytes: &[u8]) -> u128 {
    bytes.iter().take(16).rev().fold(0, |bits, byte| bits << 8 | u128::from(*byte))
}
