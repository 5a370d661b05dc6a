//! The format language of `printf` on the device (CUDA C++ Programming Guide, "Formatted Output").
//!
//! `%[flags][width][.precision][size]type` with the flags `-+ #0`, a width that may be `*`, the sizes `h`, `l` and `ll`, and the types
//! `%cdiouxXpeEfFgGaAs`. Text that does not match this form is printed unchanged, and takes no argument.

use super::number;

/// The maximum number of arguments; further specifications are printed unchanged.
const ARGUMENTS_MAX: u32 = 32;

/// The maximum width of a number or string, in columns.
const WIDTH_MAX: u32 = 1 << 12;

/// The arguments after the format, in order.
pub trait Arguments {
    /// The error of an argument that cannot be read.
    type Error;
    /// The next four bytes.
    fn word(&mut self) -> Result<u32, Self::Error>;
    /// The next eight bytes, at a multiple of eight.
    fn double_word(&mut self) -> Result<u64, Self::Error>;
    /// The zero-terminated string at an address, `most` bytes at most.
    fn string(&mut self, address: u64, most: usize) -> Result<Vec<u8>, Self::Error>;
}

/// A conversion specification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spec {
    /// `-`: left-justified.
    pub left: bool,
    /// `+`: a sign even if positive.
    pub plus: bool,
    /// ` `: a space in place of `+`.
    pub space: bool,
    /// `#`: alternate form, with `0x`, `0` or the decimal point.
    pub alternate: bool,
    /// `0`: padded with zeros.
    pub zero: bool,
    /// The minimum width, in columns.
    pub width: u32,
    /// `*`: the width is an argument.
    pub width_argument: bool,
    /// The precision, in digits or bytes.
    pub precision: Option<u32>,
    /// Bits of an integer: 16, 32 or 64.
    pub bits: u32,
    /// The letter of the type.
    pub ty: u8,
}

/// A part of a format: text, or a specification with its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FormatPart<'f> {
    Text(&'f [u8]),
    Value(Spec, &'f [u8]),
}

/// Formats `arguments`; returns the text and the number of arguments read.
///
/// # Errors
/// If an argument cannot be read.
pub fn print<A: Arguments>(format: &[u8], arguments: &mut A) -> Result<(Vec<u8>, u32), A::Error> {
    let (mut out, mut used) = (Vec::new(), 0);
    let mut rest = format;
    while let Some((part, tail)) = next_part(rest) {
        rest = tail;
        match part {
            FormatPart::Text(text) => out.extend_from_slice(text),
            FormatPart::Value(spec, text) => {
                let needed = 1 + u32::from(spec.width_argument);
                if used + needed > ARGUMENTS_MAX {
                    out.extend_from_slice(text);
                    continue;
                }
                used += needed;
                write_value(&mut out, spec, arguments)?;
            }
        }
    }
    Ok((out, used))
}

/// The first part of a format and what follows it.
fn next_part(format: &[u8]) -> Option<(FormatPart<'_>, &[u8])> {
    let first = *format.first()?;
    if first != b'%' {
        let end = format.iter().position(|byte| *byte == b'%').unwrap_or(format.len());
        return Some((FormatPart::Text(&format[..end]), &format[end..]));
    }
    if format.get(1) == Some(&b'%') {
        return Some((FormatPart::Text(&format[..1]), &format[2..]));
    }
    let (spec, length) = read_spec(&format[1..]);
    let (text, rest) = format.split_at(1 + length);
    Some((spec.map_or(FormatPart::Text(text), |spec| FormatPart::Value(spec, text)), rest))
}

/// Parses the specification at the start of `text`, which follows a `%`. None if it is invalid. Also returns its length.
pub fn read_spec(text: &[u8]) -> (Option<Spec>, usize) {
    let mut spec = Spec { bits: 32, ..Spec::default() };
    let mut at = 0;
    while let Some(flag) = text.get(at).filter(|flag| b"-+ #0".contains(flag)) {
        match flag {
            b'-' => spec.left = true,
            b'+' => spec.plus = true,
            b' ' => spec.space = true,
            b'#' => spec.alternate = true,
            _ => spec.zero = true,
        }
        at += 1;
    }
    if text.get(at) == Some(&b'*') {
        spec.width_argument = true;
        at += 1;
    } else {
        (spec.width, at) = read_number(text, at);
    }
    if text.get(at) == Some(&b'.') {
        let (precision, end) = read_number(text, at + 1);
        (spec.precision, at) = (Some(precision), end);
    }
    match &text[at..] {
        [b'l', b'l', ..] => (spec.bits, at) = (64, at + 2),
        [b'l', ..] => (spec.bits, at) = (64, at + 1),
        [b'h', ..] => (spec.bits, at) = (16, at + 1),
        _ => {}
    }
    match text.get(at) {
        Some(ty) if b"cdiouxXpeEfFgGaAs".contains(ty) => (Some(Spec { ty: *ty, ..spec }), at + 1),
        _ => (None, at),
    }
}

/// The number at `at`, and the position of its end.
fn read_number(text: &[u8], at: usize) -> (u32, usize) {
    let digits = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number =
        text[at..at + digits].iter().fold(0_u32, |number, digit| number.saturating_mul(10).saturating_add(u32::from(digit - b'0')));
    (number.min(WIDTH_MAX), at + digits)
}

fn write_value<A: Arguments>(out: &mut Vec<u8>, mut spec: Spec, arguments: &mut A) -> Result<(), A::Error> {
    if spec.width_argument {
        let width = arguments.word()? as i32;
        spec.left |= width < 0;
        spec.width = width.unsigned_abs().min(WIDTH_MAX);
    }
    let text = match spec.ty {
        b'c' => vec![arguments.word()? as u8],
        b's' => {
            let address = arguments.double_word()?;
            let most = spec.precision.map_or(usize::MAX, |precision| precision as usize);
            if address == 0 { b"(null)".to_vec() } else { arguments.string(address, most)? }
        }
        b'p' => match arguments.double_word()? {
            0 => b"(nil)".to_vec(),
            address => format!("{address:#x}").into_bytes(),
        },
        b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => {
            let value = if spec.bits == 64 { arguments.double_word()? } else { u64::from(arguments.word()?) };
            number::integer(spec, value).into_bytes()
        }
        _ => number::float(spec, f64::from_bits(arguments.double_word()?)).into_bytes(),
    };
    let fill = vec![b' '; (spec.width as usize).saturating_sub(text.len())];
    let (before, after) = if spec.left { (&[][..], &fill[..]) } else { (&fill[..], &[][..]) };
    out.extend([before, &text, after].concat());
    Ok(())
}

/// A text with the blanks that the width of the specification wants.
pub fn padded(spec: Spec, text: &str) -> String {
    let fill = " ".repeat((spec.width as usize).saturating_sub(text.chars().count()));
    if spec.left { format!("{text}{fill}") } else { format!("{fill}{text}") }
}
