//! Operands: their constraints, types and values.

use super::constant::{self, Constant, Type};
use super::constraint::{self, Letter, Lowering};
use crate::base::{Diagnostic, SourceId, Span};
use crate::launch::file::{Buffer, Init, Param};
use crate::launch::parse_arg;
use crate::launch::{Element, Number};

/// Lanes that execute a statement: those of one warp.
pub const LANES: u32 = 32;

/// The direction of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `=`: written.
    Output,
    /// `+`: read, then written.
    ReadWrite,
    /// Read.
    Input,
}

/// The initial value of an operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The same number in every lane, or a buffer: for `l` its address, else an element for every lane.
    Param(Box<Param>),
    /// 128 bits.
    Wide(i128),
    /// The text that replaces the operand in the template.
    Text(String),
}

/// An operand.
#[derive(Clone, Debug)]
pub struct Operand {
    /// Its direction.
    pub role: Role,
    /// Its constraint letter.
    pub letter: &'static Letter,
    /// The constraint and the expression.
    pub span: Span,
    /// The expression; empty if there is none.
    pub expression: String,
    /// Its type, if known.
    pub ty: Option<Type>,
    /// Its initial value, once known.
    pub value: Option<Value>,
    /// The source of its value.
    pub value_source: SourceId,
}

impl Operand {
    /// The operand with this constraint, and this text between the parentheses after it.
    ///
    /// # Errors
    /// A constraint, or a type, that the compiler rejects.
    pub fn new(constraint: (&str, Span), expression: (&str, Span), is_output: bool) -> Result<Self, Diagnostic> {
        let (role, letter) = constraint::read(constraint.0, constraint.1, is_output)?;
        let (text, span) = (expression.0.trim(), expression.1);
        let value_source = span.source;
        let (whole, expression) = (constraint.1.to(span), text.to_string());
        let mut operand = Self { role, letter, span: whole, expression, ty: None, value: None, value_source };
        if text.is_empty() {
            return Err(Diagnostic::error("syntax", span, "the operand has no expression").with_help("\"r\"(x), \"r\"(3)"));
        }
        let Constant { ty, number } = constant::read(text);
        if is_output && number.is_some() {
            let error = Diagnostic::error("type", span, format!("'{text}' cannot be written: an output must be a modifiable lvalue"));
            return Err(error.with_help("name a variable: \"=r\"(x)"));
        }
        operand.check_type(ty, span)?;
        operand.ty = ty;
        if let Some(number) = number {
            operand.value = Some(operand.number(number, ty.and_then(|ty| ty.element)).map_err(|message| wrong(span, message))?);
        } else if operand.letter.lowering == Lowering::Immediate && ty.is_none() && text.contains('"') {
            return Err(wrong(span, format!("{text} is not an integer constant")));
        }
        Ok(operand)
    }

    /// An operand in shorthand: `r=3`, `=r`, `C=.s32`. `value` is the text after the letter's `=`, with its span.
    ///
    /// # Errors
    /// A constraint that the compiler rejects, or a value that does not match it.
    pub fn shorthand(constraint: (&str, Span), value: Option<(&str, Span)>, is_output: bool) -> Result<Self, Diagnostic> {
        let (role, letter) = constraint::read(constraint.0, constraint.1, is_output)?;
        let (expression, value_source) = (String::new(), constraint.1.source);
        let mut operand = Self { role, letter, span: constraint.1, expression, ty: None, value: None, value_source };
        if let Some((text, span)) = value {
            if role == Role::Output {
                return Err(wrong(span, "an operand that is only written has no value").with_help("'+' says that it is read as well"));
            }
            operand.span = operand.span.to(span);
            let value = operand.read_value(text, span.source, "value");
            operand.value = Some(value.map_err(|error| Diagnostic { span, ..error })?);
        }
        Ok(operand)
    }

    fn check_type(&self, ty: Option<Type>, span: Span) -> Result<(), Diagnostic> {
        let (letter, text) = (self.letter.letter, &self.expression);
        if self.letter.lowering == Lowering::Characters {
            let named = ty.is_none() && !text.starts_with('"');
            let help = "name an array: static constexpr char type[] = \".s32\"; its characters are given with --arg .s32";
            let message = "the constant expression of a 'C' constraint must be the address of a variable";
            return if named { Ok(()) } else { Err(Diagnostic::error("type", span, message).with_help(help)) };
        }
        match ty {
            Some(ty) if !self.letter.takes_type(ty) => {
                let message = format!(
                    "type and size of '{text}', {} of {} byte{}, do not match the constraint '{letter}', which takes {}",
                    ty.name,
                    ty.bytes,
                    if ty.bytes == 1 { "" } else { "s" },
                    self.letter.takes
                );
                let other = constraint::letter_for(ty).map(|fits| format!("use \"{fits}\", or convert the operand"));
                let help = other.unwrap_or("no letter takes 8 bits: convert it to short for \"h\" or to int for \"r\"".to_string());
                Err(Diagnostic::error("type", span, message).with_help(help))
            }
            _ => Ok(()),
        }
    }

    /// True if it is replaced by text that must be known at compile time.
    pub fn is_text(&self) -> bool {
        !matches!(self.letter.lowering, Lowering::Register { .. })
    }

    /// True if it needs a value and has none.
    pub fn lacks_value(&self) -> bool {
        self.value.is_none() && self.role != Role::Output
    }

    /// Parses a value from an argument of the command line: a number, `u32=7`, `f32[32]=iota`; for a `C` operand, its characters.
    ///
    /// # Errors
    /// It cannot be parsed, or does not match the constraint.
    pub fn read_value(&self, arg: &str, source: SourceId, name: &str) -> Result<Value, Diagnostic> {
        let span = Span::new(source, 0, arg.len() as u32);
        if self.letter.lowering == Lowering::Characters {
            return Ok(Value::Text(arg.to_string()));
        }
        if let Some(number) = Number::parse(arg.trim()) {
            let element = self.ty.and_then(|ty| ty.element);
            return self.number(number, element).map_err(|message| wrong(span, message));
        }
        let param = parse_arg(arg, source, name)?;
        let element = match &param {
            Param::Buffer(_) if self.letter.letter == 'l' => return Ok(Value::Param(Box::new(param))),
            Param::Buffer(buffer) => {
                if let Some(count) = elements(buffer).filter(|count| *count != u64::from(LANES)) {
                    let message = format!("{count} elements, where '{}' wants one for each of the {LANES} lanes", self.letter.letter);
                    return Err(wrong(span, message));
                }
                Some(buffer.elem)
            }
            param => param.scalar().map(|(element, _)| element),
        };
        match element.filter(|element| self.letter.takes_element(*element)) {
            Some(_) => Ok(Value::Param(Box::new(param))),
            None => {
                let message = format!("'{arg}' does not fit the constraint '{}', which takes {}", self.letter.letter, self.letter.takes);
                Err(wrong(span, message))
            }
        }
    }

    /// A number as the value; `element` is its type, if known.
    fn number(&self, number: Number, element: Option<Element>) -> Result<Value, String> {
        match (self.letter.lowering, number) {
            (Lowering::Register { element: None, .. }, Number::Integer(value)) => Ok(Value::Wide(value)),
            (Lowering::Register { element: Some(own), .. }, _) => {
                let fits = |element: &Element| element.encode(number).is_ok();
                let unsigned = Element::from_name(&format!("u{}", own.bytes() * 8));
                let element = element.into_iter().chain([own]).chain(unsigned).find(fits);
                let element = element.ok_or_else(|| format!("{number} is not {}, as '{}' wants", self.letter.takes, self.letter.letter))?;
                Ok(Value::Param(Box::new(Param::from_scalar(element, number))))
            }
            // nvcc writes it as a signed number of the same size.
            (Lowering::Immediate, Number::Integer(value)) => {
                let signed = if element == Some(Element::U32) { Element::S32 } else { Element::S64 };
                Ok(Value::Text(signed.to_integer(signed.wrap(value)).to_string()))
            }
            (Lowering::Register { .. } | Lowering::Immediate | Lowering::Characters, _) => {
                Err(format!("{number} is not {}, as '{}' wants", self.letter.takes, self.letter.letter))
            }
        }
    }
}

/// The number of elements of a buffer, if it is explicit.
fn elements(buffer: &Buffer) -> Option<u64> {
    let listed = match &buffer.init {
        Init::Values(values) => Some(values.len() as u64),
        _ => None,
    };
    let shaped = || buffer.shape.as_ref().map(|shape| shape.iter().copied().fold(1, u64::saturating_mul));
    buffer.len.or_else(shaped).or(listed)
}

fn wrong(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("value", span, message)
}
