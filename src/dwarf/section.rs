//! From the text of `.section`s to their bytes.
//!
//! ```text
//! .section .debug_info {
//!     .b32 .debug_abbrev          the start of a section, perhaps with an offset
//! $L__info_string0:               a label: its offset in the section
//!     .b8 1, 2                    numbers
//!     .b64 $L__tmp3               a label of code, a variable or a parameter
//!     .b32 $L__end - $L__begin    a difference
//! }
//! ```

use std::collections::BTreeMap;

use super::address::Addresses;
use super::error::DwarfError;
use crate::base::Span;

/// Most bytes that the sections of a module may have: text of several times that size is no debug data of a compiler.
const BYTES_MAX: usize = 1 << 30;

/// The section of line tables.
pub(super) const LINES: &str = ".debug_line";
/// Most parentheses around a value.
const NESTING_MAX: u32 = 8;

/// The bytes of the sections of a module, by name with its dot.
#[derive(Debug, Default)]
pub(super) struct Sections {
    bytes: BTreeMap<String, Vec<u8>>,
    /// True if a section of locations or ranges contains a difference of labels; otherwise its addresses are absolute.
    pub relative: bool,
}

impl Sections {
    /// The bytes of section `name`; empty if the module does not have it.
    pub fn get(&self, name: &str) -> &[u8] {
        self.bytes.get(name).map_or(&[], Vec::as_slice)
    }

    /// Evaluates `texts`, the whole `.section` directives with their spans.
    pub fn evaluate(texts: &[(Span, &str)], addresses: &Addresses<'_>) -> Result<Self, DwarfError> {
        let mut layout = Layout::default();
        let mut parsed = Vec::new();
        for (span, text) in texts {
            parsed.extend(Parser { text, at: 0, span: *span }.sections(&mut layout)?);
        }
        let mut sections = Self::default();
        for Section { name, data } in parsed {
            let is_list = ["debug_loc", "debug_ranges", "debug_loclists", "debug_rnglists"].iter().any(|list| name.ends_with(list));
            sections.relative |= is_list && data.iter().any(|datum| matches!(&datum.value, Value::Sum(terms) if terms.len() > 1));
            let bytes = sections.bytes.entry(name).or_default();
            for datum in data {
                let value = datum.evaluate(&layout, addresses)?;
                bytes.extend_from_slice(&value.to_le_bytes()[..datum.width]);
            }
        }
        Ok(sections)
    }
}

/// Where labels lie: for each, its offset in its section.
#[derive(Default)]
struct Layout<'t> {
    labels: BTreeMap<&'t str, u64>,
    sizes: BTreeMap<String, u64>,
}

/// One `.section`.
struct Section<'t> {
    name: String,
    data: Vec<Datum<'t>>,
}

/// One value of a section.
struct Datum<'t> {
    width: usize,
    value: Value<'t>,
    span: Span,
}

/// A number, as nearly all values are, or a sum of names and numbers.
enum Value<'t> {
    Number(u64),
    Sum(Vec<(bool, Term<'t>)>),
}

/// A summand.
enum Term<'t> {
    Number(u64),
    /// A label, a variable, a function, or with a dot a section.
    Name(&'t str),
}

impl Datum<'_> {
    fn evaluate(&self, layout: &Layout<'_>, addresses: &Addresses<'_>) -> Result<u64, DwarfError> {
        let terms = match &self.value {
            Value::Number(number) => return Ok(*number),
            Value::Sum(terms) => terms,
        };
        // Line tables are made by the assembler, and nothing here reads them: all references go to the same empty one.
        if terms.iter().any(|(_, term)| matches!(term, Term::Name(LINES))) {
            return Ok(0);
        }
        let mut sum = 0_u64;
        for (is_negative, term) in terms {
            let value = match term {
                Term::Number(number) => *number,
                // All sections start at 0.
                Term::Name(name) if name.starts_with('.') => 0,
                Term::Name(name) => {
                    let found = layout.labels.get(name).copied().or_else(|| addresses.address(name));
                    found.ok_or_else(|| self.error(format!("debug data names '{name}', which the module does not have")))?
                }
            };
            sum = if *is_negative { sum.wrapping_sub(value) } else { sum.wrapping_add(value) };
        }
        Ok(sum)
    }

    fn error(&self, message: String) -> DwarfError {
        DwarfError::Text { span: self.span, message }
    }
}

/// Reads the text of one directive.
struct Parser<'t> {
    text: &'t str,
    at: usize,
    span: Span,
}

impl<'t> Parser<'t> {
    /// The sections of the text: one, unless a compiler wrote several into one directive.
    fn sections(mut self, layout: &mut Layout<'t>) -> Result<Vec<Section<'t>>, DwarfError> {
        let mut sections = Vec::new();
        self.skip_space();
        while self.at < self.text.len() {
            if self.word() != ".section" {
                return Err(self.error("a '.section' is expected here"));
            }
            self.skip_space();
            let name = self.name_of_section()?;
            self.expect('{')?;
            let mut size = layout.sizes.get(&name).copied().unwrap_or(0);
            let mut data = Vec::new();
            while !self.consume('}') {
                if self.at >= self.text.len() {
                    return Err(self.error("'}' is expected at the end of the section"));
                }
                let word = self.word();
                match width(word) {
                    Some(width) => self.values(width, &mut data, &mut size)?,
                    None if !word.is_empty() && self.consume(':') => {
                        layout.labels.insert(word, if name == LINES { 0 } else { size });
                    }
                    None => return Err(self.error("a label, .b8, .b16, .b32 or .b64 is expected here")),
                }
                if size > BYTES_MAX as u64 {
                    return Err(self.error("the debug data is longer than 1 GiB"));
                }
            }
            layout.sizes.insert(name.clone(), size);
            sections.push(Section { name, data });
            self.skip_space();
        }
        Ok(sections)
    }

    /// `.debug_info`, `debug_info` or `".debug_info"`, with its dot.
    fn name_of_section(&mut self) -> Result<String, DwarfError> {
        let is_quoted = self.consume_here('"');
        let word = self.word();
        if word.is_empty() || is_quoted && !self.consume_here('"') {
            return Err(self.error("the name of a section is expected here"));
        }
        Ok(format!(".{}", word.trim_start_matches('.')))
    }

    /// The values after `.b8`, separated by commas.
    fn values(&mut self, width: usize, data: &mut Vec<Datum<'t>>, size: &mut u64) -> Result<(), DwarfError> {
        loop {
            self.skip_space();
            let start = self.at;
            let value = self.value()?;
            let place = |at: usize| self.span.start.saturating_add(at as u32);
            data.push(Datum { width, value, span: Span::new(self.span.source, place(start), place(self.at)) });
            *size += width as u64;
            if !self.consume(',') {
                return Ok(());
            }
        }
    }

    fn value(&mut self) -> Result<Value<'t>, DwarfError> {
        if let Some(number) = self.plain_number() {
            return Ok(Value::Number(number));
        }
        let mut terms = Vec::new();
        self.sum(&mut terms, false, 0)?;
        Ok(match terms[..] {
            [(is_negative, Term::Number(number))] => Value::Number(if is_negative { number.wrapping_neg() } else { number }),
            _ => Value::Sum(terms),
        })
    }

    /// A decimal number that is all of a value, as nearly all values are; none, with nothing read, if it may be something else.
    fn plain_number(&mut self) -> Option<u64> {
        let (bytes, start) = (self.text.as_bytes(), self.at);
        let (mut number, mut end) = (0_u64, start);
        while let Some(digit @ b'0'..=b'9') = bytes.get(end) {
            number = number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
            end += 1;
        }
        let is_decimal = end == start + 1 || end > start && bytes[start] != b'0';
        if !is_decimal || !matches!(bytes.get(end), None | Some(b' ' | b'\t' | b'\r' | b'\n' | b',' | b'}')) {
            return None;
        }
        self.at = end;
        self.skip_space();
        if matches!(bytes.get(self.at), Some(b'+' | b'-')) {
            self.at = start;
            return None;
        }
        Some(number)
    }

    /// Adds the terms of a sum, or subtracts them if it `is_negative` itself.
    fn sum(&mut self, terms: &mut Vec<(bool, Term<'t>)>, is_negative: bool, depth: u32) -> Result<(), DwarfError> {
        let mut sign = is_negative ^ self.consume('-');
        loop {
            if self.consume('(') {
                if depth >= NESTING_MAX {
                    return Err(self.error("parentheses are nested too deeply"));
                }
                self.sum(terms, sign, depth + 1)?;
                self.expect(')')?;
            } else {
                terms.push((sign, self.term()?));
            }
            sign = is_negative ^ self.consume('-');
            if sign == is_negative && !self.consume('+') {
                return Ok(());
            }
        }
    }

    fn term(&mut self) -> Result<Term<'t>, DwarfError> {
        let word = self.word();
        match word.chars().next() {
            Some('0'..='9') => number(word).map(Term::Number).ok_or_else(|| self.error("a number of 64 bits is expected here")),
            Some(_) => Ok(Term::Name(word)),
            None => Err(self.error("a number or a label is expected here")),
        }
    }

    /// The name, number or directive that comes next; empty if none does.
    fn word(&mut self) -> &'t str {
        self.skip_space();
        let rest = &self.text[self.at..];
        let is_part = |(index, c): (usize, u8)| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$' | b'%') || c == b'.' && index == 0;
        let end = rest.bytes().enumerate().position(|at| !is_part(at)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn consume(&mut self, sign: char) -> bool {
        self.skip_space();
        self.consume_here(sign)
    }

    fn consume_here(&mut self, sign: char) -> bool {
        let found = self.text[self.at..].starts_with(sign);
        self.at += if found { sign.len_utf8() } else { 0 };
        found
    }

    fn expect(&mut self, sign: char) -> Result<(), DwarfError> {
        if self.consume(sign) { Ok(()) } else { Err(self.error(&format!("'{sign}' is expected here"))) }
    }

    /// Skips white space and comments.
    fn skip_space(&mut self) {
        loop {
            let rest = self.text.as_bytes().get(self.at..).unwrap_or(&[]);
            self.at += rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len());
            let rest = &self.text[self.at..];
            let end = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else {
                return;
            };
            self.at += end;
        }
    }

    fn error(&self, message: &str) -> DwarfError {
        let at = self.span.start.saturating_add(self.at as u32);
        DwarfError::Text { span: Span::new(self.span.source, at, at), message: message.to_string() }
    }
}

/// The bytes of a value of this directive.
fn width(word: &str) -> Option<usize> {
    match word {
        ".b8" => Some(1),
        ".b16" => Some(2),
        ".b32" => Some(4),
        ".b64" => Some(8),
        _ => None,
    }
}

/// A number as PTX writes it.
fn number(word: &str) -> Option<u64> {
    let word = word.trim_end_matches(['u', 'U']);
    let (digits, radix) = match word.get(..2) {
        Some("0x" | "0X") => (&word[2..], 16),
        Some("0b" | "0B") => (&word[2..], 2),
        _ if word.len() > 1 && word.starts_with('0') => (&word[1..], 8),
        _ => (word, 10),
    };
    u64::from_str_radix(digits, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::SourceId;

    /// The value of a text, and what is left of it.
    fn value(text: &str) -> (Option<u64>, &str) {
        let mut parser = Parser { text, at: 0, span: Span::new(SourceId::new(0), 0, text.len() as u32) };
        let sum = |terms: Vec<(bool, Term<'_>)>| {
            terms.into_iter().try_fold(0_u64, |sum, (is_negative, term)| match term {
                Term::Number(number) => Some(if is_negative { sum.wrapping_sub(number) } else { sum.wrapping_add(number) }),
                Term::Name(_) => None,
            })
        };
        let read = match parser.value() {
            Ok(Value::Number(number)) => Some(number),
            Ok(Value::Sum(terms)) => sum(terms),
            Err(_) => None,
        };
        (read, &text[parser.at..])
    }

    #[test]
    fn numbers_are_read_in_every_form() {
        for (text, number) in [
            ("7", Some(7)),
            ("0", Some(0)),
            ("00", Some(0)),
            ("010", Some(8)),
            ("0x1f", Some(31)),
            ("0b101", Some(5)),
            ("3U", Some(3)),
            ("1 +\n2", Some(3)),
            ("5-(7)", Some(u64::MAX - 1)),
            ("-1", Some(u64::MAX)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("name", None),
            ("", None),
        ] {
            assert_eq!(value(text).0, number, "{text:?}");
        }
        assert_eq!(value("12 // a comment\n.b8 3"), (Some(12), ".b8 3"));
        assert_eq!(value("12, 13"), (Some(12), ", 13"));
        assert_eq!(value("12/* + 3 */+4}"), (Some(16), "}"));
    }
}
