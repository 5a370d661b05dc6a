//! Values in digits.
//!
//! Without a format the type decides: integers are decimal, untyped bits (`.b32`) count as signed, as gdb takes registers, but
//! for bytes (`.b8`), which are hexadecimal;
//! floating-point numbers have the fewest digits that give the same bits back; packed values stand in braces, lowest part first. A
//! 64-bit value that is an address of something is shown as one, with its symbol.

use super::format::Format;
use super::{Array, Lanes, LanesText, Scalar, Type, Value, number};
use crate::debug::names::symbols;
use crate::debug::scene::Scene;
use crate::isa::{ScalarType, Space, TypeKind};
use crate::machine::LaneMask;
use crate::program::Pc;

/// A value, ready to be drawn.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub enum ValueText {
    /// One value.
    Scalar(String),
    /// One a lane.
    Lanes(LanesText),
    /// An array.
    Array(ArrayText),
}

/// A display as it is now.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Shown {
    /// Its number.
    pub number: usize,
    /// `/x %r1`, as it was typed.
    pub what: String,
    /// Its value, or why it has none.
    pub value: Result<ValueText, String>,
    /// The lanes that have never written the register that it is.
    pub undefined: LaneMask,
}

/// An array, ready to be drawn.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ArrayText {
    /// Its type, such as `f32[4][32]`.
    pub ty: String,
    /// Extent of every dimension, outermost first.
    pub shape: Vec<u64>,
    /// The first elements in order.
    pub elements: Vec<String>,
    /// Whether there are more.
    pub more: bool,
}

impl Value {
    /// The value in digits; `scene` gives addresses their symbols.
    pub fn text(&self, scene: &Scene<'_>, format: Option<Format>) -> ValueText {
        match self {
            Value::Scalar(scalar) => ValueText::Scalar(scalar.text(scene, format)),
            Value::Lanes(lanes) => ValueText::Lanes(lanes.summary(scene, format)),
            Value::Array(array) => ValueText::Array(array.text(scene, format)),
        }
    }

    /// Its type, as the user would write it.
    pub fn type_name(&self) -> String {
        match self {
            Value::Scalar(scalar) => scalar.ty.name(),
            Value::Lanes(lanes) => lanes.ty.name(),
            Value::Array(array) => array.type_name(),
        }
    }
}

impl Scalar {
    /// The value in digits.
    pub fn text(&self, scene: &Scene<'_>, format: Option<Format>) -> String {
        let Self { ty, bits } = *self;
        match (ty, format) {
            (Type::Scalar(ty), Some(format)) => formatted(scene, ty, bits, format),
            (Type::Pointer(space, _), Some(Format::Address)) => address(scene, space, bits as u64),
            (Type::Code, Some(Format::Address) | None) => code(scene, bits as u64),
            (Type::Function, Some(Format::Address) | None) => address(scene, Space::Generic, bits as u64),
            (_, Some(format)) => format.text(bits, 64, None),
            (Type::Scalar(ty), None) => natural(scene, ty, bits),
            (Type::Pointer(space, _), None) => format!("({}) {}", ty.name(), address(scene, space, bits as u64)),
        }
    }
}

impl Scalar {
    /// The value in digits where its type is shown already: a pointer without its type.
    pub(super) fn bare_text(&self, scene: &Scene<'_>, format: Option<Format>) -> String {
        match (self.ty, format) {
            (Type::Pointer(space, _), None) => address(scene, space, self.bits as u64),
            _ => self.text(scene, format),
        }
    }
}

impl Array {
    /// `f32[4][32]`
    pub fn type_name(&self) -> String {
        let extents: String = self.shape.iter().map(|extent| format!("[{extent}]")).collect();
        format!("{}{extents}", self.ty.word())
    }

    fn text(&self, scene: &Scene<'_>, format: Option<Format>) -> ArrayText {
        let element = |bits: &u128| Scalar { ty: Type::Scalar(self.ty), bits: *bits }.text(scene, format);
        let total = self.shape.iter().fold(1_u64, |all, extent| all.saturating_mul(*extent));
        let elements: Vec<String> = self.elements.iter().map(element).collect();
        ArrayText { ty: self.type_name(), shape: self.shape.clone(), more: (elements.len() as u64) < total, elements }
    }
}

impl Lanes {
    /// The value of each lane in digits, lowest lane first.
    pub fn texts(&self, scene: &Scene<'_>, format: Option<Format>) -> Vec<(usize, String)> {
        self.iter().map(|(lane, scalar)| (lane, scalar.bare_text(scene, format))).collect()
    }
}

/// Bits of a type in the format that the user asked for; packed parts one by one where that makes a difference.
fn formatted(scene: &Scene<'_>, ty: ScalarType, bits: u128, format: Format) -> String {
    if format == Format::Address {
        return address(scene, Space::Generic, bits as u64);
    }
    let (one, count) = number::parts(ty);
    let float = Some(one).filter(|one| one.kind() == TypeKind::Float);
    match count {
        1 => format.text(bits, ty.bits(), float),
        _ => braces((0..count).map(|index| format.text(number::part(ty, bits, index), one.bits(), float))),
    }
}

/// Bits of a type as the type says.
fn natural(scene: &Scene<'_>, ty: ScalarType, bits: u128) -> String {
    let (one, count) = number::parts(ty);
    if count > 1 {
        return braces((0..count).map(|index| natural(scene, one, number::part(ty, bits, index))));
    }
    match ty {
        ScalarType::Pred => if bits == 0 { "false" } else { "true" }.to_string(),
        ScalarType::B128 => format!("{bits:#x}"),
        // Compilers declare arrays of any type by the byte: what may be a part of an element is no number.
        ScalarType::B8 => format!("{bits:#04x}"),
        _ if ty.kind() == TypeKind::Float => number::float_text(ty, bits),
        ScalarType::B64 | ScalarType::U64 | ScalarType::S64 if symbols::symbol(scene, Space::Generic, bits as u64).is_some() => {
            address(scene, Space::Generic, bits as u64)
        }
        _ => number::to_integer(ty, bits).map_or_else(|| format!("{bits:#x}"), |value| value.to_string()),
    }
}

/// `0x7f2000000010 <x+16>`
pub fn address(scene: &Scene<'_>, space: Space, address: u64) -> String {
    match symbols::symbol(scene, space, address) {
        Some(symbol) => format!("{address:#x} <{symbol}>"),
        None => format!("{address:#x}"),
    }
}

/// `37 <$L__BB0_2+3>`
fn code(scene: &Scene<'_>, number: u64) -> String {
    let pc = u32::try_from(number).ok().map(Pc);
    match pc.and_then(|pc| symbols::code_symbol(scene.program(), pc)) {
        Some(symbol) => format!("{number} <{symbol}>"),
        None => number.to_string(),
    }
}

fn braces(parts: impl Iterator<Item = String>) -> String {
    format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))
}
