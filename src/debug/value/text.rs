//! Formatting of values.
//!
//! Without a format letter, the type determines the text: integers are decimal; untyped bits (`.b32`) are signed decimal, like registers
//! in gdb, except bytes (`.b8`), which are hexadecimal; floating-point numbers have the fewest digits that round-trip; packed values are
//! in braces, lowest element first. A 64-bit value that is the address of a symbol is shown with that symbol.

use super::format::Format;
use super::{Array, Lanes, LanesText, Scalar, Tensor, TensorElement, Type, Value, number};
use crate::debug::eval_context::EvalContext;
use crate::debug::names::symbols;
use crate::debug::source_names::types;
use crate::debug::source_names::values::UNDEFINED;
use crate::isa::{ScalarType, Space, TypeKind};
use crate::machine::LaneMask;
use crate::program::Pc;

/// A value as text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub enum ValueText {
    /// One value.
    Scalar(String),
    /// One value for each lane.
    Lanes(LanesText),
    /// An array.
    Array(ArrayText),
    /// A tensor.
    Tensor(TensorText),
}

/// A tensor as text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct TensorText {
    /// Its type, such as `f32[64][32]`.
    pub ty: String,
    /// Extent of every dimension, outermost first.
    pub shape: Vec<u64>,
    /// The indices along each dimension.
    pub indices: Vec<Vec<u64>>,
    /// The elements in order; `·` for one that a load has left out, `?` for one that no register holds.
    pub elements: Vec<String>,
    /// What is to be known about the elements.
    pub notes: Vec<String>,
}

/// A `display` expression with its present value.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Shown {
    /// Its number.
    pub number: usize,
    /// The expression as typed: `/x %r1`.
    pub what: String,
    /// Its value, or the reason that it has none.
    pub value: Result<ValueText, String>,
    /// If the expression is a register, the lanes that have never written it.
    pub undefined: LaneMask,
}

/// An array as text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ArrayText {
    /// Its type, such as `f32[4][32]`.
    pub ty: String,
    /// Extent of every dimension, outermost first.
    pub shape: Vec<u64>,
    /// The first elements in order.
    pub elements: Vec<String>,
    /// True if there are more.
    pub more: bool,
}

impl Value {
    /// The value in digits; `context` gives addresses their symbols.
    pub fn text(&self, context: &EvalContext<'_>, format: Option<Format>) -> ValueText {
        match self {
            Value::Scalar(scalar) => ValueText::Scalar(scalar.text(context, format)),
            Value::Lanes(lanes) => ValueText::Lanes(lanes.summary(context, format)),
            Value::Array(array) => ValueText::Array(array.text(context, format)),
            Value::Source(source) => ValueText::Scalar(source.text(context, format)),
            Value::Tensor(tensor) => ValueText::Tensor(tensor.text(context, format)),
        }
    }

    /// Its type, in the user's syntax.
    pub fn type_name(&self, context: &EvalContext<'_>) -> String {
        match self {
            Value::Scalar(scalar) => type_name(context, scalar.ty),
            Value::Lanes(lanes) => type_name(context, lanes.ty),
            Value::Array(array) => array.type_name(),
            Value::Source(source) => source.type_name(context),
            Value::Tensor(tensor) => tensor.type_name(),
        }
    }
}

impl Scalar {
    /// The value in digits.
    pub fn text(&self, context: &EvalContext<'_>, format: Option<Format>) -> String {
        let Self { ty, bits } = *self;
        match (ty, format) {
            (Type::Scalar(ty), Some(format)) => formatted(context, ty, bits, format),
            (Type::Pointer(space, _) | Type::SourcePointer(space, ..), Some(Format::Address)) => address(context, space, bits as u64),
            (Type::Code, Some(Format::Address) | None) => code(context, bits as u64),
            (Type::Function, Some(Format::Address)) => address(context, Space::Generic, bits as u64),
            (Type::Function, None) => function(context, bits as u64),
            (_, Some(Format::Typed(to))) => as_elements(context, 64, bits, to),
            (_, Some(format)) => format.text(bits, 64, None),
            (Type::Scalar(ty), None) => natural(context, ty, bits),
            (Type::Pointer(space, _) | Type::SourcePointer(space, ..), None) => {
                format!("({}) {}", type_name(context, ty), address(context, space, bits as u64))
            }
        }
    }
}

impl Scalar {
    /// The value as text without its type, for places that show the type already.
    pub(super) fn bare_text(&self, context: &EvalContext<'_>, format: Option<Format>) -> String {
        match (self.ty, format) {
            (Type::Pointer(space, _) | Type::SourcePointer(space, ..), None) => address(context, space, self.bits as u64),
            _ => self.text(context, format),
        }
    }
}

impl Array {
    /// `f32[4][32]`
    pub fn type_name(&self) -> String {
        let extents: String = self.shape.iter().map(|extent| format!("[{extent}]")).collect();
        format!("{}{extents}", self.ty.word())
    }

    fn text(&self, context: &EvalContext<'_>, format: Option<Format>) -> ArrayText {
        let bytes = self.ty.bytes() as usize;
        let is_unwritten = |index: usize| self.unwritten.get(index * bytes..(index + 1) * bytes).is_some_and(|all| all.contains(&true));
        let element = |(index, bits): (usize, &u128)| match is_unwritten(index) {
            true => UNDEFINED.to_string(),
            false => Scalar { ty: Type::Scalar(self.ty), bits: *bits }.text(context, format),
        };
        let total = self.shape.iter().fold(1_u64, |all, extent| all.saturating_mul(*extent));
        let elements: Vec<String> = self.elements.iter().enumerate().map(element).collect();
        ArrayText { ty: self.type_name(), shape: self.shape.clone(), more: (elements.len() as u64) < total, elements }
    }
}

impl TensorText {
    /// Its first elements, and why some are not known.
    pub fn in_short(&self) -> ValueText {
        const SHOWN: usize = 4;
        let first = self.elements.iter().take(SHOWN).cloned().collect::<Vec<String>>().join(" ");
        let more = if self.elements.len() > SHOWN { " …" } else { "" };
        let note = self.notes.first().map_or_else(String::new, |note| format!(" ({note})"));
        ValueText::Scalar(format!("{first}{more}{note}"))
    }
}

impl Tensor {
    fn text(&self, context: &EvalContext<'_>, format: Option<Format>) -> TensorText {
        let element = |element: &TensorElement| match element {
            TensorElement::Known(bits) => Scalar::new(Type::Scalar(self.ty), *bits).text(context, format),
            TensorElement::Masked(_) => "·".to_string(),
            TensorElement::Missing => "?".to_string(),
        };
        TensorText {
            ty: self.type_name(),
            shape: self.shape.clone(),
            indices: self.indices.clone(),
            elements: self.elements.iter().map(element).collect(),
            notes: self.notes.clone(),
        }
    }
}

impl Lanes {
    /// The value of each lane in digits, lowest lane first.
    pub fn texts(&self, context: &EvalContext<'_>, format: Option<Format>) -> Vec<(usize, String)> {
        self.iter().map(|(lane, scalar)| (lane, scalar.bare_text(context, format))).collect()
    }
}

/// A function as gdb shows it: `{int (int)} 0x7e5000000000 <fact>`; without debug data its address.
fn function(context: &EvalContext<'_>, at: u64) -> String {
    let ty = function_type(context, at).map_or(String::new(), |ty| format!("{{{ty}}} "));
    format!("{ty}{}", address(context, Space::Generic, at))
}

/// The type of the function with this address, `int (int)`, if the debug data has it.
pub fn function_type(context: &EvalContext<'_>, at: u64) -> Option<String> {
    let (info, id) = (context.debug_info()?, symbols::function_at(context.program(), at)?);
    types::of_function(info, Pc(context.program().functions[id.index()].code.start))
}

/// The name of a type in the user's syntax; of a pointer to an object of the source, as C++ writes it.
fn type_name(context: &EvalContext<'_>, ty: Type) -> String {
    match (ty, context.debug_info()) {
        (Type::SourcePointer(_, to, _), Some(info)) => types::pointer_name(info, to),
        _ => ty.name(),
    }
}

/// Bits of a type in the requested format; a packed value element by element.
fn formatted(context: &EvalContext<'_>, ty: ScalarType, bits: u128, format: Format) -> String {
    if format == Format::Address {
        return address(context, Space::Generic, bits as u64);
    }
    if let Format::Typed(to) = format {
        return as_elements(context, ty.bits(), bits, to);
    }
    let (one, count) = number::elements(ty);
    let float = Some(one).filter(|one| one.kind() == TypeKind::Float);
    if format == Format::Character && ty.kind() == TypeKind::Unsigned {
        return format!("{bits} {}", super::format::character(bits));
    }
    match count {
        // A truth value has no sign.
        1 => format.text(bits, ty.bits().max(8), float),
        _ => braces((0..count).map(|index| format.text(number::element(ty, bits, index), one.bits(), float))),
    }
}

/// `width` bits as elements of the type `to`, the lowest first; one of fewer bits is filled up with zeros.
fn as_elements(context: &EvalContext<'_>, width: u32, bits: u128, to: ScalarType) -> String {
    let element = |index: u32| natural(context, to, bits >> (index * to.bits()) & (u128::MAX >> (128 - to.bits())));
    match width / to.bits() {
        0 | 1 => element(0),
        count => braces((0..count).map(element)),
    }
}

/// Bits of a type in its default format.
fn natural(context: &EvalContext<'_>, ty: ScalarType, bits: u128) -> String {
    let (one, count) = number::elements(ty);
    if count > 1 {
        return braces((0..count).map(|index| natural(context, one, number::element(ty, bits, index))));
    }
    match ty {
        ScalarType::Pred => if bits == 0 { "false" } else { "true" }.to_string(),
        ScalarType::B128 => format!("{bits:#x}"),
        // Compilers declare arrays of any type as bytes: a byte may be a part of an element, so it is not shown as a number.
        ScalarType::B8 => format!("{bits:#04x}"),
        _ if ty.kind() == TypeKind::Float => number::float_text(ty, bits),
        ScalarType::B64 | ScalarType::U64 | ScalarType::S64 if symbols::symbol(context, Space::Generic, bits as u64).is_some() => {
            address(context, Space::Generic, bits as u64)
        }
        _ => number::to_integer(ty, bits).map_or_else(|| format!("{bits:#x}"), |value| value.to_string()),
    }
}

/// `0x7f2000000010 <x+16>`
pub fn address(context: &EvalContext<'_>, space: Space, address: u64) -> String {
    match symbols::symbol(context, space, address) {
        Some(symbol) => format!("{address:#x} <{symbol}>"),
        None => format!("{address:#x}"),
    }
}

/// `37 <$L__BB0_2+3>`
fn code(context: &EvalContext<'_>, number: u64) -> String {
    let pc = u32::try_from(number).ok().map(Pc);
    match pc.and_then(|pc| symbols::code_symbol(context.program(), pc)) {
        Some(symbol) => format!("{number} <{symbol}>"),
        None => number.to_string(),
    }
}

fn braces(parts: impl Iterator<Item = String>) -> String {
    format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))
}
