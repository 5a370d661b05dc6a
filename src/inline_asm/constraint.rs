//! Constraints: the register, or the text, that replaces an operand ("Inline PTX Assembly in CUDA", 1.1.2).

use super::constant::Type;
use super::operand::Role;
use crate::base::{Diagnostic, Span};
use crate::launch::{Element, Kind};

/// A constraint letter.
#[derive(Debug, PartialEq, Eq)]
pub struct Letter {
    /// The letter.
    pub letter: char,
    /// The replacement of an operand with this letter.
    pub lowering: Lowering,
    /// The accepted operands, as a phrase.
    pub takes: &'static str,
}

/// The replacement of an operand in the template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lowering {
    /// A register.
    Register {
        /// Its name up to the number, as nvcc calls it.
        prefix: &'static str,
        /// Its type in PTX, as nvcc declares it.
        ty: &'static str,
        /// Its size in bytes.
        bytes: u32,
        /// The default type by which its value is shown; `None` for 128 bits.
        element: Option<Element>,
    },
    /// An integer literal.
    Immediate,
    /// The characters of a constant array.
    Characters,
}

/// Every letter of device code.
#[rustfmt::skip]
pub const LETTERS: &[Letter] = &[
    register('h', "%rs", "b16", 2, Some(Element::S16), "a 16-bit integer"),
    register('r', "%r", "b32", 4, Some(Element::S32), "a 32-bit integer"),
    register('l', "%rd", "b64", 8, Some(Element::S64), "a 64-bit integer or a pointer"),
    register('q', "%rq", "b128", 16, None, "a 128-bit integer"),
    register('f', "%f", "f32", 4, Some(Element::F32), "a float"),
    register('d', "%fd", "f64", 8, Some(Element::F64), "a double"),
    Letter { letter: 'n', lowering: Lowering::Immediate, takes: "an integer that is known when it is compiled" },
    Letter { letter: 'C', lowering: Lowering::Characters, takes: "a constant array of characters" },
];

const fn register(
    letter: char,
    prefix: &'static str,
    ty: &'static str,
    bytes: u32,
    element: Option<Element>,
    takes: &'static str,
) -> Letter {
    Letter { letter, lowering: Lowering::Register { prefix, ty, bytes, element }, takes }
}

/// Letters of host code that device code does not have.
const HOST_LETTERS: &str = "mi";
/// Constraint modifiers of other compilers.
const FOREIGN_MODIFIERS: &str = "%*#?!,=+&";

impl Letter {
    /// True if a value of type `ty` can be its operand.
    pub fn takes_type(&self, ty: Type) -> bool {
        match self.lowering {
            Lowering::Register { bytes, element, .. } => {
                let is_float = element.is_some_and(|element| element.kind() == Kind::Float);
                bytes == ty.bytes && is_float == ty.is_float()
            }
            Lowering::Immediate => !ty.is_float(),
            Lowering::Characters => false,
        }
    }

    /// True if the bits of an element of this type can be its value: `h` also accepts half precision.
    pub fn takes_element(&self, element: Element) -> bool {
        match self.lowering {
            Lowering::Register { bytes, element: Some(own), .. } => {
                let same = (own.kind() == Kind::Float) == (element.kind() == Kind::Float);
                bytes == element.bytes() && (same || matches!(element, Element::F16 | Element::BF16))
            }
            Lowering::Register { element: None, .. } | Lowering::Immediate | Lowering::Characters => false,
        }
    }
}

/// All letters, for messages.
fn letters() -> String {
    LETTERS.iter().map(|row| format!("{} {}", row.letter, row.takes)).collect::<Vec<_>>().join(", ")
}

/// Parses the constraint `text` at `span` of an output or an input.
///
/// # Errors
/// Constraints that the compiler rejects.
pub fn read(text: &str, span: Span, is_output: bool) -> Result<(Role, &'static Letter), Diagnostic> {
    let error = |message: &str, help: &str| Err(Diagnostic::error("constraint", span, message).with_help(help));
    let letter = text.trim_start_matches(['=', '+', '&']);
    let modifiers = text.get(..text.len() - letter.len()).unwrap_or_default();
    let writes = modifiers.contains(['=', '+']);
    let role = match (is_output, modifiers.contains('+')) {
        (true, true) => Role::ReadWrite,
        (true, false) => Role::Output,
        (false, _) => Role::Input,
    };
    let Some(first) = letter.chars().next() else {
        return error("the operand has no constraint letter", &letters());
    };
    if is_output && !writes {
        let help = format!("\"={letter}\" if the template writes it, \"+{letter}\" if it reads it as well");
        return error("an output must have '=' or '+' before its letter", &help);
    }
    if !is_output && !modifiers.is_empty() {
        let message = format!("an input may not have the modifier '{modifiers}'");
        return error(&message, "what the template writes stands among the outputs, before the second ':'");
    }
    if let Some(modifier) = letter.chars().find(|c| FOREIGN_MODIFIERS.contains(*c)) {
        let message = format!("unknown asm constraint modifier '{modifier}'");
        return error(&message, "modifiers are '=' written, '+' read and written, both before the letter");
    }
    if letter.chars().count() > 1 {
        let help = "an operand of device code has one constraint letter: the compiler cannot choose between several";
        return error(&format!("'{letter}' are several constraint letters"), help);
    }
    match LETTERS.iter().find(|row| row.letter == first) {
        Some(row) if is_output && !matches!(row.lowering, Lowering::Register { .. }) => {
            error(&format!("'{first}' cannot be an output: it stands for {}", row.takes), "what is written must be a register")
        }
        Some(row) => Ok((role, row)),
        None if first.is_ascii_digit() => {
            let help = "device code has no matching constraints: one operand \"+r\" is both input and output";
            error(&format!("unknown asm constraint letter '{first}'"), help)
        }
        None if HOST_LETTERS.contains(first) => {
            error(&format!("asm constraint letter '{first}' is not allowed in device code"), &letters())
        }
        None => error(&format!("unknown asm constraint letter '{first}'"), &letters()),
    }
}

/// The letter for values of type `ty`, if there is one.
pub fn letter_for(ty: Type) -> Option<char> {
    LETTERS.iter().find(|row| row.takes_type(ty)).map(|row| row.letter)
}
