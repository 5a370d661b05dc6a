//! String literals of C++: adjacent literals are concatenated, escapes are resolved, raw strings are copied.

use super::cursor::Cursor;
use super::text::Text;
use crate::base::{Diagnostic, Span};

const HELP: &str = r#"a string literal: "add.s32 %0, %1, %2;""#;

/// Escapes of one letter, with their values.
const ESCAPES: &[(char, &str)] = &[
    ('n', "\n"),
    ('t', "\t"),
    ('r', "\r"),
    ('v', "\x0b"),
    ('f', "\x0c"),
    ('a', "\x07"),
    ('b', "\x08"),
    ('\\', "\\"),
    ('"', "\""),
    ('\'', "'"),
    ('?', "?"),
    // A line continuation.
    ('\n', ""),
];

/// Consumes one or several adjacent string literals.
///
/// # Errors
/// There is none, it has no end, or it is not one of `char`.
pub fn strings(cursor: &mut Cursor<'_>) -> Result<Text, Diagnostic> {
    cursor.skip_blank();
    let mut text = Text::new(cursor.source(), cursor.at());
    let mut any = false;
    loop {
        cursor.skip_blank();
        let rest = cursor.rest();
        let prefix = rest.find('"').unwrap_or(0);
        match rest.get(..prefix).unwrap_or_default() {
            "" if rest.starts_with('"') => quoted(cursor, &mut text)?,
            "R" => raw(cursor, &mut text)?,
            "L" | "u" | "U" | "u8" | "LR" | "uR" | "UR" | "u8R" => {
                let span = Span::new(cursor.source(), cursor.at(), cursor.at() + prefix as u32);
                let error = Diagnostic::error("syntax", span, "a wide string is invalid in an asm statement");
                return Err(error.with_help("leave the prefix out"));
            }
            _ if any => return Ok(text),
            _ => return Err(cursor.unexpected("a string literal", HELP)),
        }
        any = true;
        text.extend_to(cursor.at());
    }
}

/// A literal in quotes, with its escapes resolved.
fn quoted(cursor: &mut Cursor<'_>, text: &mut Text) -> Result<(), Diagnostic> {
    let open = Span::new(cursor.source(), cursor.at(), cursor.at() + 1);
    cursor.advance(1);
    let body = cursor.rest();
    let mut escaped = false;
    let end = body.char_indices().find(|(_, c)| {
        let ends = !escaped && matches!(c, '"' | '\n');
        escaped = !escaped && *c == '\\';
        ends
    });
    match end {
        Some((end, '"')) => {
            unescape(body.get(..end).unwrap_or_default(), cursor.at(), text);
            cursor.advance(end + 1);
            Ok(())
        }
        _ => Err(Diagnostic::error("syntax", open, "the string has no end").with_help("close it with '\"' on the same line")),
    }
}

/// `R"mark(…)mark"`
fn raw(cursor: &mut Cursor<'_>, text: &mut Text) -> Result<(), Diagnostic> {
    let open = Span::new(cursor.source(), cursor.at(), cursor.at() + 2);
    let no_end = || Diagnostic::error("syntax", open, "the raw string has no end").with_help("a raw string: R\"(text)\"");
    let (mark, body) = cursor.rest().get(2..).and_then(|rest| rest.split_once('(')).ok_or_else(no_end)?;
    let close = format!("){mark}\"");
    let end = body.find(&close).ok_or_else(no_end)?;
    cursor.advance(2 + mark.len() + 1);
    push_chars(body.get(..end).unwrap_or_default(), cursor.at(), text);
    cursor.advance(end + close.len());
    Ok(())
}

fn push_chars(body: &str, at: u32, text: &mut Text) {
    for (offset, c) in body.char_indices() {
        let start = at + offset as u32;
        text.push(c.encode_utf8(&mut [0; 4]), start..start + c.len_utf8() as u32);
    }
}

/// Appends `body`, which is at `at`, with its escapes resolved; an unknown escape is its letter.
pub fn unescape(body: &str, at: u32, text: &mut Text) {
    let mut offset = 0;
    while let Some(c) = body.get(offset..).and_then(|rest| rest.chars().next()) {
        let start = at + offset as u32;
        let (length, decoded) = match c {
            '\\' => escape(body.get(offset + 1..).unwrap_or_default()),
            c => (c.len_utf8(), c.to_string()),
        };
        offset += length;
        text.push(&decoded, start..at + offset as u32);
    }
}

/// The length of the escape before `rest`, with its backslash, and its value.
fn escape(rest: &str) -> (usize, String) {
    let Some(c) = rest.chars().next() else { return (1, "\\".to_string()) };
    let number = |digits: &str, radix: u32, skipped: usize, most: usize| {
        let length = digits.chars().take(most).take_while(|c| c.is_digit(radix)).count();
        let value = digits.get(..length).and_then(|digits| u32::from_str_radix(digits, radix).ok());
        value.and_then(char::from_u32).map(|c| (1 + skipped + length, c.to_string()))
    };
    let coded = match c {
        'x' => number(rest.get(1..).unwrap_or_default(), 16, 1, 2),
        '0'..='7' => number(rest, 8, 0, 3),
        _ => None,
    };
    let known = ESCAPES.iter().find(|(letter, _)| *letter == c).map(|(_, text)| (2, (*text).to_string()));
    coded.or(known).unwrap_or((1 + c.len_utf8(), c.to_string()))
}
