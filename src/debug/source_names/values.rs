//! Values of the source as gdb prints them.
//!
//! ```text
//! {x = 1, y = 2.5}                             a structure
//! {<app::Base> = {id = 40}, tag = 65 'A'}      one with a base
//! {1, 2, 0 <repeats 18 times>}                 an array; equal elements are counted from ten on
//! app::BLUE                                    an enumeration
//! (const float *) 0x7f2000000000 <in>          a pointer; in a structure without its type
//! (int &) @0x7f3000000000: 5                   a reference
//! {x = 1, y = <undefined>}                     a member that the thread has not written
//! ```

use std::ops::Range;

use super::{SourceObject, types};
use crate::debug::eval_context::EvalContext;
use crate::debug::memory;
use crate::debug::value::number::{self, little_endian};
use crate::debug::value::{Format, Scalar, SourceValue, Type as ValueType};
use crate::dwarf::{DebugInfo, Enumerator, Member, PointerKind, Type, TypeId};
use crate::isa::{ScalarType, Space, TypeKind};

/// Most elements of an array that are shown, and most characters of a string, as gdb's `print elements`.
const ELEMENTS_MAX: usize = 200;
/// Equal elements from which on they are counted, as gdb's `print repeats`.
const REPEATS: usize = 10;
/// Most objects in each other that are shown.
const NESTING_MAX: u32 = 20;

impl SourceValue {
    /// The value as text.
    pub fn text(&self, context: &EvalContext<'_>, format: Option<Format>) -> String {
        let Some(info) = context.debug_info() else { return "?".to_string() };
        let printer = Printer { info, context, format };
        if self.count.is_some() { printer.array(self.ty, self.all(), NESTING_MAX) } else { printer.top(self) }
    }

    /// The value in short, as gdb shows arguments of frames: `...` for a structure or an array, a pointer without its type.
    pub fn in_short(&self, context: &EvalContext<'_>) -> String {
        let Some(info) = context.debug_info() else { return "?".to_string() };
        match info.stripped(self.ty).map(|id| &info.types[id]) {
            Some(Type::Record { .. } | Type::Array { .. }) => "...".to_string(),
            Some(Type::Pointer { kind: PointerKind::Reference | PointerKind::RvalueReference, .. }) => {
                let text = self.text(context, None);
                let target = text.split_once(") ").map_or(text.as_str(), |(_, target)| target);
                // Of a structure only the address.
                target.split(": {").next().unwrap_or(target).to_string()
            }
            _ => Printer { info, context, format: None }.value(self.ty, self.all(), NESTING_MAX),
        }
    }

    /// All of its bytes.
    fn all(&self) -> Contents<'_> {
        Contents { bytes: &self.bytes, unwritten: &self.unwritten }
    }

    /// The name of its type.
    pub fn type_name(&self, context: &EvalContext<'_>) -> String {
        let extent = self.count.map_or(String::new(), |count| format!("[{count}]"));
        context.debug_info().map_or_else(|| "?".to_string(), |info| types::declaration(info, self.ty, &extent))
    }

    /// The characters of the string that the value is: an array of characters, or a pointer to some, of which at most `max` are read.
    pub fn string(&self, context: &EvalContext<'_>, max: usize) -> Option<Vec<u8>> {
        let info = context.debug_info()?;
        let until_zero = |bytes: &[u8]| bytes.iter().copied().take_while(|byte| *byte != 0).collect();
        match info.types[info.stripped(self.ty)?] {
            _ if self.count.is_some() => types::is_character(info, self.ty).then(|| until_zero(&self.bytes)),
            Type::Array { of, .. } if types::is_character(info, of) => Some(until_zero(&self.bytes)),
            Type::Pointer { to, space, .. } if types::is_character(info, to) => {
                let address = little_endian(&self.bytes) as u64;
                characters_at(context, space.unwrap_or(Space::Generic), address, max)
            }
            _ => None,
        }
    }

    /// The state space that the value points to, if it is a pointer.
    pub fn pointed_space(&self, context: &EvalContext<'_>) -> Option<Space> {
        let info = context.debug_info()?;
        match info.types[info.stripped(self.ty)?] {
            Type::Pointer { space, .. } => Some(space.unwrap_or(Space::Generic)),
            _ => None,
        }
    }

    /// The number that the value is, if its type is one.
    pub fn scalar(&self, context: &EvalContext<'_>) -> Option<Scalar> {
        let ty = types::scalar(context.debug_info()?, self.ty).filter(|_| self.count.is_none())?;
        Some(number_of(ty, &self.bytes))
    }
}

/// The number that these bytes are; a truth value is any bit.
pub fn number_of(ty: ScalarType, bytes: &[u8]) -> Scalar {
    let bits = little_endian(bytes);
    Scalar::new(ValueType::Scalar(ty), if ty == ScalarType::Pred { u128::from(bits != 0) } else { bits })
}

/// Bytes, and which of them the thread has not written; none if that is not known.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Contents<'b> {
    bytes: &'b [u8],
    unwritten: &'b [bool],
}

impl<'b> Contents<'b> {
    /// Bytes that are all written.
    fn written(bytes: &'b [u8]) -> Self {
        Self { bytes, unwritten: &[] }
    }

    /// A part of them.
    fn get(self, part: Range<usize>) -> Option<Self> {
        Some(Self { bytes: self.bytes.get(part.clone())?, unwritten: self.unwritten.get(part).unwrap_or_default() })
    }

    fn is_undefined(self) -> bool {
        self.unwritten.contains(&true)
    }
}

/// A number that the thread has not written all of.
pub const UNDEFINED: &str = "<undefined>";

struct Printer<'p, 'a> {
    info: &'a DebugInfo,
    context: &'p EvalContext<'a>,
    format: Option<Format>,
}

impl Printer<'_, '_> {
    /// A value that stands alone: a pointer and a reference have their types.
    fn top(&self, value: &SourceValue) -> String {
        match self.info.stripped(value.ty).map(|id| &self.info.types[id]) {
            Some(Type::Pointer { kind: PointerKind::Pointer, .. }) if self.format.is_none() => {
                format!("({}) {}", types::name(self.info, value.ty), self.value(value.ty, value.all(), NESTING_MAX))
            }
            Some(Type::Pointer { kind: PointerKind::Reference | PointerKind::RvalueReference, to, space, .. }) => {
                self.reference(value, *to, space.unwrap_or(Space::Generic))
            }
            _ => self.value(value.ty, value.all(), NESTING_MAX),
        }
    }

    fn reference(&self, value: &SourceValue, to: Option<TypeId>, space: Space) -> String {
        format!("({}) {}", types::name(self.info, value.ty), self.referent(value.all(), to, space, NESTING_MAX))
    }

    /// `@0x7f2000000000: 5`: the address in a reference and what it refers to.
    fn referent(&self, contents: Contents<'_>, to: Option<TypeId>, space: Space, depth: u32) -> String {
        let address = little_endian(contents.bytes) as u64;
        let mut bytes = vec![0; (self.info.bytes(to) as usize).min(1 << 16)];
        let target = match memory::read(self.context, space, address, &mut bytes) {
            Ok(()) => self.value(to, Contents::written(&bytes), depth),
            Err(error) => format!("<{error}>"),
        };
        format!("@{address:#x}: {target}")
    }

    fn value(&self, ty: Option<TypeId>, contents: Contents<'_>, depth: u32) -> String {
        let Some(id) = self.info.stripped(ty) else { return "void".to_string() };
        if depth == 0 {
            return "{...}".to_string();
        }
        if let Some(scalar) = types::scalar(self.info, Some(id)).filter(|ty| number::elements(*ty).1 == 1) {
            return match &self.info.types[id] {
                _ if contents.is_undefined() => UNDEFINED.to_string(),
                Type::Pointer { kind: PointerKind::Reference | PointerKind::RvalueReference, to, space, .. } => {
                    self.referent(contents, *to, space.unwrap_or(Space::Generic), depth - 1)
                }
                _ => self.scalar(id, scalar, contents.bytes),
            };
        }
        match &self.info.types[id] {
            Type::Record { members, .. } => {
                // As in gdb, bits without a name are not shown.
                let members = members.iter().filter(|member| member.name.is_some() || member.bits.is_none());
                let shown: Vec<String> = members.map(|member| self.member(member, contents, depth - 1)).collect();
                format!("{{{}}}", shown.join(", "))
            }
            Type::Array { of, .. } => self.array(*of, contents, depth - 1),
            _ if contents.is_undefined() => UNDEFINED.to_string(),
            Type::Base { .. }
            | Type::Pointer { .. }
            | Type::Enumeration { .. }
            | Type::Typedef { .. }
            | Type::Qualified { .. }
            | Type::Function { .. }
            | Type::Unspecified { .. } => format!("{:#x}", little_endian(contents.bytes)),
        }
    }

    fn member(&self, member: &Member, contents: Contents<'_>, depth: u32) -> String {
        let size = self.info.bytes(member.ty) as usize;
        let start = usize::try_from(member.offset).unwrap_or(usize::MAX);
        let value = match member.bits {
            Some((low, count)) => {
                let end = start.saturating_add((low + count).div_ceil(8) as usize);
                contents.get(start..end).map(|holding| {
                    if holding.is_undefined() {
                        return UNDEFINED.to_string();
                    }
                    let kept = little_endian(holding.bytes) >> low & ((1_u128 << count) - 1);
                    let is_signed = types::is_signed(self.info, member.ty) && !self.format.is_some_and(Format::shows_bits);
                    let is_negative = is_signed && kept >> (count - 1) != 0;
                    let value = if is_negative { kept | (u128::MAX << count) } else { kept };
                    self.value(member.ty, Contents::written(&value.to_le_bytes()[..size.clamp(1, 16)]), depth)
                })
            }
            None => contents.get(start..start.saturating_add(size)).map(|part| self.value(member.ty, part, depth)),
        };
        let value = value.unwrap_or_else(|| "?".to_string());
        match &member.name {
            _ if member.is_base => format!("<{}> = {value}", types::name(self.info, member.ty)),
            Some(name) => format!("{name} = {value}"),
            None => value,
        }
    }

    fn array(&self, of: Option<TypeId>, contents: Contents<'_>, depth: u32) -> String {
        let size = (self.info.bytes(of) as usize).max(1);
        if types::is_character(self.info, of) && self.format.is_none() {
            // What is written at the beginning is a string.
            let written = contents.unwritten.iter().position(|unwritten| *unwritten).unwrap_or(contents.bytes.len());
            let rest = contents.bytes.len() - written;
            match contents.get(written..contents.bytes.len()) {
                _ if rest == 0 => return string(contents.bytes),
                Some(after) if written > 0 && after.unwritten.iter().all(|unwritten| *unwritten) => {
                    let more = if rest > 1 { format!(" <repeats {rest} times>") } else { String::new() };
                    return format!("{}, {UNDEFINED}{more}", string(&contents.bytes[..written]));
                }
                Some(_) | None => {}
            }
        }
        let count = contents.bytes.len() / size;
        let elements: Vec<Contents<'_>> = (0..count).filter_map(|index| contents.get(index * size..(index + 1) * size)).collect();
        let runs = runs(&elements);
        let mut shown = Vec::new();
        let mut count = 0;
        for (element, repeats) in &runs {
            if count >= ELEMENTS_MAX {
                shown.push("...".to_string());
                break;
            }
            let text = self.value(of, *element, depth);
            if *repeats >= REPEATS {
                shown.push(format!("{text} <repeats {repeats} times>"));
                count += REPEATS;
            } else {
                let fitting = (*repeats).min(ELEMENTS_MAX - count);
                shown.extend(std::iter::repeat_n(text, fitting));
                count += fitting;
            }
        }
        format!("{{{}}}", shown.join(", "))
    }

    fn scalar(&self, id: TypeId, ty: ScalarType, bytes: &[u8]) -> String {
        let scalar = number_of(ty, bytes);
        if let Some(format) = self.format {
            let float = Some(ty).filter(|ty| ty.kind() == TypeKind::Float && number::elements(*ty).1 == 1);
            return format.text(scalar.bits, (bytes.len() as u32 * 8).clamp(1, 128), float);
        }
        match &self.info.types[id] {
            Type::Enumeration { enumerators, .. } => {
                let value = number::to_integer(ty, scalar.bits).unwrap_or(0);
                let named = enumerators.iter().find(|one| i128::from(one.value) == value);
                named.map_or_else(|| flags(enumerators, value).unwrap_or_else(|| value.to_string()), |one| one.name.to_string())
            }
            Type::Pointer { to, space, .. } => {
                let space = space.unwrap_or(Space::Generic);
                let pointer = Scalar::new(ValueType::SourcePointer(space, *to, 0), scalar.bits);
                let address = pointer.text(self.context, Some(Format::Address));
                match self.string_at(*to, space, scalar.bits as u64) {
                    Some(string) => format!("{address} {string}"),
                    None => address,
                }
            }
            _ if types::is_character(self.info, Some(id)) => {
                let value = number::to_integer(ty, scalar.bits).unwrap_or(0);
                format!("{value} {}", crate::debug::value::format::character(scalar.bits))
            }
            _ => scalar.text(self.context, None),
        }
    }

    /// The string that a pointer to characters points to.
    fn string_at(&self, to: Option<TypeId>, space: Space, address: u64) -> Option<String> {
        if !types::is_character(self.info, to) || address == 0 {
            return None;
        }
        let text = characters_at(self.context, space, address, ELEMENTS_MAX)?;
        let more = if text.len() == ELEMENTS_MAX { "..." } else { "" };
        Some(format!("\"{}\"{more}", text.iter().map(|byte| in_string(*byte)).collect::<String>()))
    }
}

/// `(app::A | app::B)`, of an enumeration whose values have no bit in common; none of other ones, and of 0.
fn flags(enumerators: &[Enumerator], value: i128) -> Option<String> {
    let bits = |one: &Enumerator| i128::from(one.value);
    let are_flags = enumerators.iter().try_fold(0, |all: i128, one| (bits(one) >= 0 && all & bits(one) == 0).then_some(all | bits(one)));
    let all = are_flags.filter(|_| value > 0)?;
    let mut names: Vec<String> =
        enumerators.iter().filter(|one| bits(one) != 0 && value & bits(one) == bits(one)).map(|one| one.name.to_string()).collect();
    let unknown = value & !all;
    if unknown != 0 || names.is_empty() {
        names.push(format!("unknown: {:#x}", if names.is_empty() { value } else { unknown }));
    }
    Some(format!("({})", names.join(" | ")))
}

/// The characters at an address up to a zero, at most `max`; none if there is no memory.
pub fn characters_at(context: &EvalContext<'_>, space: Space, address: u64, max: usize) -> Option<Vec<u8>> {
    let byte = |offset: usize| {
        let mut byte = [0];
        memory::read(context, space, address.wrapping_add(offset as u64), &mut byte).ok().map(|()| byte[0])
    };
    byte(0)?;
    Some((0..max).map_while(byte).take_while(|byte| *byte != 0).collect())
}

/// Equal elements in a row with their number.
fn runs<T: Copy + PartialEq>(elements: &[T]) -> Vec<(T, usize)> {
    let mut runs: Vec<(T, usize)> = Vec::new();
    for element in elements {
        match runs.last_mut() {
            Some((last, count)) if last == element => *count += 1,
            _ => runs.push((*element, 1)),
        }
    }
    runs
}

/// An array of characters: `"abc", '\000' <repeats 12 times>`.
fn string(bytes: &[u8]) -> String {
    // As in gdb, one NUL at the end is not shown.
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
    if bytes.is_empty() {
        return "\"\"".to_string();
    }
    let singles: Vec<&[u8]> = bytes.iter().map(std::slice::from_ref).collect();
    let mut parts: Vec<String> = Vec::new();
    let mut quoted = String::new();
    let mut count = 0;
    for (byte, repeats) in runs(&singles) {
        if count >= ELEMENTS_MAX {
            break;
        }
        if repeats >= REPEATS {
            if !quoted.is_empty() {
                parts.push(format!("\"{}\"", std::mem::take(&mut quoted)));
            }
            parts.push(format!("{} <repeats {repeats} times>", crate::debug::value::format::character(u128::from(byte[0]))));
        } else {
            (0..repeats).for_each(|_| quoted.push_str(&in_string(byte[0])));
        }
        count += repeats.min(REPEATS);
    }
    if !quoted.is_empty() {
        parts.push(format!("\"{quoted}\""));
    }
    parts.join(", ") + if count >= ELEMENTS_MAX { "..." } else { "" }
}

/// A character of a string, as C writes it.
fn in_string(byte: u8) -> String {
    match byte {
        b'"' => "\\\"".to_string(),
        b'\'' => "'".to_string(),
        _ => crate::debug::value::format::character(u128::from(byte)).trim_matches('\'').to_string(),
    }
}

impl<'a> SourceObject<'a> {
    /// Its value.
    ///
    /// # Errors
    /// Its bytes cannot be read.
    pub fn value(
        &self,
        context: &EvalContext<'a>,
        frame: Option<&crate::debug::eval_context::Frame<'a>>,
    ) -> Result<SourceValue, super::ObjectError> {
        let place = match self.place {
            super::ObjectPlace::Memory(space, address) => Some((space, address)),
            super::ObjectPlace::Register(_) | super::ObjectPlace::Value(_) | super::ObjectPlace::Kept(_) => None,
        };
        Ok(SourceValue { ty: self.ty, bytes: self.contents(context, frame)?, place, count: None, stride: None, unwritten: Vec::new() })
    }
}
