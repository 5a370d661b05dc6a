//! A conversion in the format of `printf` and `dprintf`, and the text of a value in it.
//!
//! `%d %i %u %x %X %o %c %p %e %f %g %a` take a number as C does with a variable of its type: a number of one kind is converted to that of
//! the conversion, and only bits without a type are read as those of a float. `%s` is the string that a pointer or an array of characters
//! is; of other values, and `%v` of all, it shows them as `print` does. `%t` is binary, as in gdb. Flags, width and precision are as in C;
//! a size need not be given.

use crate::debug::argument::ArgumentError;
use crate::debug::eval_context::EvalContext;
use crate::debug::source_names::values::characters_at;
use crate::debug::value::{Array, Scalar, Type, Value, ValueText, number};
use crate::isa::{ScalarType, TypeKind};
use crate::machine::printf::{self, Spec};

/// Most bytes of a string.
const STRING_MAX: usize = 4096;

/// A conversion of the format: how a value is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Field(Spec);

const LETTERS: &str = "%d %i %u %x %o %t %c %f %e %g %a %p, or %s and %v for the value as its type wants; %% is a percent sign";

impl Field {
    /// Reads the conversion after a `%`.
    ///
    /// # Errors
    /// It is none of those above.
    pub fn parse(letters: &mut std::str::Chars<'_>) -> Result<Self, ArgumentError> {
        let text = letters.as_str();
        let (spec, read) = match printf::read_spec(text.as_bytes()) {
            (Some(spec), length) => (spec, length),
            (None, length) => other_spec(text, length).map_err(|message| ArgumentError::new(message).with_help(LETTERS))?,
        };
        if spec.width_argument {
            return Err(ArgumentError::new("the width of a conversion is a number here, not '*'").with_help(LETTERS));
        }
        *letters = text[read..].chars();
        Ok(Self(spec))
    }

    /// The text of a value.
    pub fn show(&self, value: &Value, context: &EvalContext<'_>) -> String {
        printf::padded(self.0, &self.text(value, context))
    }

    /// The text of a string that was typed.
    pub fn text_of(&self, string: &str) -> String {
        let most = self.0.precision.filter(|_| self.0.ty == b's').map_or(usize::MAX, |precision| precision as usize);
        printf::padded(self.0, &string.chars().take(most).collect::<String>())
    }

    fn text(&self, value: &Value, context: &EvalContext<'_>) -> String {
        if self.0.ty == b's'
            && let Some(string) = string(value, context)
        {
            return string.chars().take(self.0.precision.map_or(usize::MAX, |precision| precision as usize)).collect();
        }
        match value {
            Value::Scalar(scalar) => self.scalar(scalar, context),
            Value::Lanes(lanes) => self.list(lanes.iter().map(|(_, scalar)| self.scalar(&scalar, context))),
            Value::Source(source) => match source.scalar(context) {
                Some(scalar) if !matches!(self.0.ty, b's' | b'v') => self.scalar(&scalar, context),
                Some(_) | None => source.text(context, None),
            },
            Value::Array(Array { ty, elements, .. }) => {
                self.list(elements.iter().map(|bits| self.scalar(&Scalar::new(Type::Scalar(*ty), *bits), context)))
            }
            Value::Tensor(_) => match value.text(context, None) {
                ValueText::Tensor(tensor) => self.list(tensor.elements.into_iter()),
                ValueText::Array(_) | ValueText::Scalar(_) | ValueText::Lanes(_) => String::new(),
            },
        }
    }

    fn scalar(&self, scalar: &Scalar, context: &EvalContext<'_>) -> String {
        let Type::Scalar(ty) = scalar.ty else { return self.number(ScalarType::U64, scalar, context) };
        let (one, count) = number::elements(ty);
        let part = |index| Scalar::new(Type::Scalar(one), number::element(ty, scalar.bits, index));
        if count == 1 {
            self.number(ty, scalar, context)
        } else {
            self.list((0..count).map(|index| self.number(one, &part(index), context)))
        }
    }

    /// The text of one number of type `ty`.
    fn number(&self, ty: ScalarType, scalar: &Scalar, context: &EvalContext<'_>) -> String {
        let bits = scalar.bits;
        match self.0.ty {
            b's' | b'v' => scalar.text(context, None),
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => printf::float(self.0, float(ty, bits)),
            b'p' => format!("{bits:#x}"),
            b'c' => char::from(integer(ty, bits) as u8).to_string(),
            b't' => {
                let width = if self.0.zero && !self.0.left { self.0.width as usize } else { 0 };
                format!("{bits:0width$b}")
            }
            _ => {
                let width = if self.0.bits == 64 || ty.bits() > 32 { 64 } else { 32 };
                printf::integer(Spec { bits: width, ..self.0 }, integer(ty, bits) as u64)
            }
        }
    }

    /// Several values in braces; a single one without.
    fn list(&self, values: impl Iterator<Item = String>) -> String {
        let values: Vec<String> = values.collect();
        if let [only] = values.as_slice() { only.clone() } else { format!("{{{}}}", values.join(", ")) }
    }
}

/// A specification with a letter or a size that kernels' printf does not know, after `flags` bytes of flags and width; and its length.
///
/// # Errors
/// It is none, in words.
fn other_spec(text: &str, flags: usize) -> Result<(Spec, usize), String> {
    let (flags, rest) = text.split_at(flags);
    let sized = rest.strip_prefix(['z', 'j', 'L']);
    let letter = sized.unwrap_or(rest).chars().next().ok_or("a letter is expected after '%'")?;
    let known = if matches!(letter, 't' | 'v') { 'd' } else { letter };
    let (spec, _) = printf::read_spec(format!("{flags}{known}").as_bytes());
    let spec = spec.ok_or_else(|| format!("'%{flags}{letter}' is not a format"))?;
    let bits = if sized.is_some() { 64 } else { spec.bits };
    // All known letters are of one byte.
    let read = flags.len() + usize::from(sized.is_some()) + 1;
    Ok((Spec { ty: letter as u8, bits, ..spec }, read))
}

/// A number as an integer: of a float without its fraction.
fn integer(ty: ScalarType, bits: u128) -> i128 {
    number::to_integer(ty, bits).or_else(|| number::to_f64(ty, bits).map(|value| value as i128)).unwrap_or(bits.cast_signed())
}

/// A number as a float; bits without a type are those of one.
fn float(ty: ScalarType, bits: u128) -> f64 {
    let untyped = (ty.kind() == TypeKind::Untyped).then(|| crate::debug::value::format::float_of_width(ty.bits())).flatten();
    let ty = untyped.unwrap_or(ty);
    number::to_f64(ty, bits).unwrap_or_else(|| integer(ty, bits) as f64)
}

/// The string that a pointer or an array of characters is; of several bytes up to the first zero.
fn string(value: &Value, context: &EvalContext<'_>) -> Option<String> {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    match value {
        Value::Scalar(Scalar { ty: Type::Pointer(space, ScalarType::S8 | ScalarType::U8), bits }) => {
            characters_at(context, *space, *bits as u64, STRING_MAX).map(text)
        }
        Value::Source(source) => source.string(context, STRING_MAX).map(text),
        Value::Scalar(_) | Value::Lanes(_) | Value::Array(_) | Value::Tensor(_) => None,
    }
}
