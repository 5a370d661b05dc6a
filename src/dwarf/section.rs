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

use super::address::{Addresses, NameTable};
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
        for (span, text) in texts {
            Parser { text, at: 0, span: *span }.sections(&mut layout)?;
        }
        let Layout { mut labels, sections } = layout;
        labels.sort();
        let mut evaluated = Self::default();
        for (name, Section { mut bytes, sums }) in sections {
            let is_list = ["debug_loc", "debug_ranges", "debug_loclists", "debug_rnglists"].iter().any(|list| name.ends_with(list));
            evaluated.relative |= is_list && sums.iter().any(|sum| sum.terms.len() > 1);
            for sum in sums {
                let value = sum.evaluate(&labels, addresses)?;
                bytes[sum.at..sum.at + sum.width].copy_from_slice(&value.to_le_bytes()[..sum.width]);
            }
            evaluated.bytes.insert(name, bytes);
        }
        Ok(evaluated)
    }
}

/// What the texts read so far say.
#[derive(Default)]
struct Layout<'t> {
    /// For each label, its offset in its section.
    labels: NameTable<'t>,
    sections: BTreeMap<String, Section<'t>>,
}

/// One section; directives of one name follow each other in it.
#[derive(Default)]
struct Section<'t> {
    /// Its bytes, zeros where a sum stands.
    bytes: Vec<u8>,
    sums: Vec<Sum<'t>>,
}

/// A value that is a sum of names and numbers: nearly all values are numbers.
struct Sum<'t> {
    /// Its first byte in the section.
    at: usize,
    width: usize,
    terms: Vec<(bool, Term<'t>)>,
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

impl Sum<'_> {
    fn evaluate(&self, labels: &NameTable<'_>, addresses: &Addresses<'_>) -> Result<u64, DwarfError> {
        // Line tables are made by the assembler, and nothing here reads them: all references go to the same empty one.
        if self.terms.iter().any(|(_, term)| matches!(term, Term::Name(LINES))) {
            return Ok(0);
        }
        let mut sum = 0_u64;
        for (is_negative, term) in &self.terms {
            let value = match term {
                Term::Number(number) => *number,
                // All sections start at 0.
                Term::Name(name) if name.starts_with('.') => 0,
                Term::Name(name) => {
                    let found = labels.get(name).or_else(|| addresses.address(name));
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
    /// Reads the sections of the text: one, unless a compiler wrote several into one directive.
    fn sections(mut self, layout: &mut Layout<'t>) -> Result<(), DwarfError> {
        self.skip_space();
        while self.at < self.text.len() {
            if self.word() != ".section" {
                return Err(self.error("a '.section' is expected here"));
            }
            self.skip_space();
            let name = self.name_of_section()?;
            self.expect('{')?;
            let is_lines = name == LINES;
            let section = layout.sections.entry(name).or_default();
            loop {
                self.plain_bytes(&mut section.bytes);
                if self.consume('}') {
                    break;
                }
                if self.at >= self.text.len() {
                    return Err(self.error("'}' is expected at the end of the section"));
                }
                let word = self.word();
                match width(word) {
                    Some(width) => self.values(width, section)?,
                    None if !word.is_empty() && self.consume(':') => {
                        layout.labels.add(word, if is_lines { 0 } else { section.bytes.len() as u64 });
                    }
                    None => return Err(self.error("a label, .b8, .b16, .b32 or .b64 is expected here")),
                }
                if section.bytes.len() > BYTES_MAX {
                    return Err(self.error("the debug data is longer than 1 GiB"));
                }
            }
            self.skip_space();
        }
        Ok(())
    }

    /// Reads lines of plain bytes, `.b8 1` and `.b8 1, 2`, as most of the data is; up to the first line that may be something else.
    fn plain_bytes(&mut self, bytes: &mut Vec<u8>) {
        let text = self.text.as_bytes();
        // Where the last line began, and how many bytes there were: the next line may go on with it.
        let mut last = (self.at, bytes.len());
        loop {
            let mut at = self.at;
            while text.get(at).is_some_and(u8::is_ascii_whitespace) {
                at += 1;
            }
            if let (Some(b".b8"), Some(b' ' | b'\t')) = (text.get(at..at + 3), text.get(at + 3)) {
                last = (self.at, bytes.len());
                if let Some(end) = plain_line(text, at + 4, bytes) {
                    self.at = end;
                    continue;
                }
            } else if !matches!(text.get(at), Some(b'+' | b'-' | b',' | b'/')) {
                return;
            }
            self.at = last.0;
            bytes.truncate(last.1);
            return;
        }
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
    fn values(&mut self, width: usize, section: &mut Section<'t>) -> Result<(), DwarfError> {
        loop {
            self.skip_space();
            let start = self.at;
            match self.value()? {
                Value::Number(number) => section.bytes.extend_from_slice(&number.to_le_bytes()[..width]),
                Value::Sum(terms) => {
                    let place = |at: usize| self.span.start.saturating_add(at as u32);
                    let span = Span::new(self.span.source, place(start), place(self.at));
                    section.sums.push(Sum { at: section.bytes.len(), width, terms, span });
                    section.bytes.resize(section.bytes.len() + width, 0);
                }
            }
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

/// Adds the bytes of a line, `1, 2`, that starts at byte `at`; where it ends, or none if it is more than decimal numbers and commas.
fn plain_line(text: &[u8], mut at: usize, bytes: &mut Vec<u8>) -> Option<usize> {
    loop {
        while matches!(text.get(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        let start = at;
        let mut number = 0_u32;
        while let Some(digit @ b'0'..=b'9') = text.get(at) {
            number = number.checked_mul(10)? + u32::from(digit - b'0');
            at += 1;
        }
        // A number that starts with 0 is an octal one.
        if at == start || at > start + 1 && text[start] == b'0' || at > start + 3 {
            return None;
        }
        bytes.push(number as u8);
        match text.get(at) {
            Some(b',') => at += 1,
            Some(b'\n') => return Some(at),
            _ => return None,
        }
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

    #[test]
    fn lines_of_plain_bytes_are_read_at_once() {
        for (text, bytes, rest) in [
            ("\n.b8 1\n.b8 2,3\n\t.b8\t255, 0\n}", &[1, 2, 3, 255, 0][..], "\n}"),
            (".b8 1\n.b8 010\n}", &[1], "\n.b8 010\n}"),
            (".b8 1\n.b8 2\n, 3\n}", &[1], "\n.b8 2\n, 3\n}"),
            (".b8 1\n.b8 2 // two\n}", &[1], "\n.b8 2 // two\n}"),
            (".b8 7\n// seven\n}", &[], ".b8 7\n// seven\n}"),
            (".b8 1+1\n}", &[], ".b8 1+1\n}"),
            (".b32 1\n}", &[], ".b32 1\n}"),
        ] {
            let mut parser = Parser { text, at: 0, span: Span::new(SourceId::new(0), 0, text.len() as u32) };
            let mut read = Vec::new();
            parser.plain_bytes(&mut read);
            assert_eq!((read.as_slice(), &text[parser.at..]), (bytes, rest), "{text:?}");
        }
    }
}
