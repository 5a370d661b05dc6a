//! Reading files that users write in RON, and describing mistakes in the terms of the file.

use std::path::Path;

use ron::extensions::Extensions;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::data::plain;
use super::positional::{with_label, without_label};
use super::ron_advice::{Advice, advise};
use crate::base::{Code, Diagnostic, SourceFile, SourceId, Sources, Span};
use crate::container::bundle;

/// Messages for a kind of file.
pub struct RonKind {
    /// The code of its diagnostics.
    pub code: Code,
    /// The form of a whole file.
    pub whole: &'static str,
    /// The fix for an empty file.
    pub empty: &'static str,
    /// The valid ranges of numbers.
    pub numbers: &'static str,
}

/// Longest file that is read; a suite of 350 launches has 700 KB.
const TEXT_BYTES_MAX: u64 = 256 << 20;
/// Largest number of mistakes of a file that are reported.
const ERRORS_MAX: usize = 32;

/// The text of the file at `path`.
///
/// # Errors
/// The reason why it cannot be read, in one line.
pub fn read_text(path: &Path) -> Result<String, String> {
    let name = path.display();
    let unreadable = |reason: String| format!("cannot read {name}: {reason}");
    let bytes = bundle::read(path, TEXT_BYTES_MAX).map_err(|error| unreadable(plain(&error)))?;
    let bytes = bytes.ok_or_else(|| unreadable(format!("it has more than {TEXT_BYTES_MAX} bytes")))?;
    String::from_utf8(bytes).map_err(|error| unreadable(format!("it is not text: byte {} is not UTF-8", error.utf8_error().valid_up_to())))
}

/// Parses the text of `source`.
///
/// # Errors
/// The first syntax error.
pub fn parse<T: DeserializeOwned>(sources: &Sources, source: SourceId, kind: &RonKind) -> Result<T, Diagnostic> {
    let file = sources.file(source);
    options().from_str(file.text()).map_err(|error| syntax_error(file, source, &error, kind))
}

/// Parses the text of `source`.
///
/// # Errors
/// The syntax errors in the order of the text, up to the first for which there is no advice.
pub fn parse_with_hints<T: DeserializeOwned>(sources: &Sources, source: SourceId, kind: &RonKind) -> Result<T, Vec<Diagnostic>> {
    let file = sources.file(source);
    let mut text = without_label(file.text());
    let mut errors = Vec::new();
    // The difference in length of the text and the file, up to the mistake that was last replaced: `ron` reads from front to back.
    let mut longer = 0_isize;
    while errors.len() < ERRORS_MAX {
        let error = match options().from_str(&text) {
            Ok(value) if errors.is_empty() => return Ok(value),
            Ok(_) => break,
            Err(error) => error,
        };
        let scratch = SourceFile::new("", &*text);
        let at = scratch.offset(error.span.start.line as u32, error.span.start.col as u32) as usize;
        let original = |at: usize| at.saturating_add_signed(-longer) as u32;
        let Some(Advice { wrong, message, help, instead }) = advise(&text, at, &error.code) else {
            let mut diagnostic = syntax_error(&scratch, source, &error, kind);
            diagnostic.span = Span::new(source, original(diagnostic.span.start as usize), original(diagnostic.span.end as usize));
            errors.push(diagnostic);
            break;
        };
        let span = Span::new(source, original(wrong.start), original(wrong.end));
        errors.push(Diagnostic::error(kind.code, span, message).with_help(help));
        longer += instead.len() as isize - wrong.len() as isize;
        text.to_mut().replace_range(wrong, &instead);
    }
    Err(errors)
}

/// The text of `value`, with each field of the outer two levels on its own line.
pub fn to_text<T: Serialize>(value: &T) -> String {
    let style = ron::ser::PrettyConfig::new().depth_limit(2).struct_names(false).new_line("\n");
    // Writing to a string fails on no value of our types.
    as_written(&with_label(&options().to_string_pretty(value, style).unwrap_or_default()))
}

/// `text` in the style of users: addresses in hexadecimal, and a variant called `None` as its name, which `ron` escapes.
fn as_written(text: &str) -> String {
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(['"', 'r', 'a']) {
        let (before, found) = rest.split_at(at);
        plain += before;
        let is_word_start = !plain.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        let taken = if found.starts_with('"') {
            let length = string_length(found);
            plain += &found[..length];
            length
        } else if is_word_start && found.starts_with("r#None") {
            plain += "None";
            "r#None".len()
        } else if let Some(address) = found.strip_prefix("at: ").filter(|_| is_word_start) {
            let digits = address.find(|c: char| !c.is_ascii_digit()).unwrap_or(address.len());
            let number = address[..digits].parse::<u64>();
            plain += &number.map_or_else(|_| format!("at: {}", &address[..digits]), |number| format!("at: {number:#x}"));
            "at: ".len() + digits
        } else {
            plain += &found[..1];
            1
        };
        rest = &found[taken..];
    }
    plain + rest
}

/// Bytes of the string that `text` begins with, with its quotation marks.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

fn options() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES)
}

/// The diagnostic of an error of `ron`, reworded in our style.
fn syntax_error(file: &SourceFile, source: SourceId, error: &ron::error::SpannedError, kind: &RonKind) -> Diagnostic {
    let start = file.offset(error.span.start.line as u32, error.span.start.col as u32);
    let end = file.offset(error.span.end.line as u32, error.span.end.col as u32);
    let (message, help) = match file.text().trim_start().chars().next() {
        _ if is_blank(file.text()) => ("the file is empty".to_string(), kind.empty.to_string()),
        Some(first @ ('{' | '[')) if error.code == ron::Error::ExpectedIdentifier => {
            (format!("the file starts with '{first}', and this is RON, not JSON"), kind.whole.to_string())
        }
        _ => reword(&error.code, kind),
    };
    let diagnostic = Diagnostic::error(kind.code, Span::new(source, start, end.max(start)), message);
    if help.is_empty() { diagnostic } else { diagnostic.with_help(help) }
}

/// True if `text` has only white space and comments.
pub fn is_blank(text: &str) -> bool {
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    while !rest.is_empty() {
        let after = match rest.strip_prefix("//") {
            Some(comment) => comment.find('\n').map_or("", |end| &comment[end..]),
            None => match after_block_comment(rest) {
                Some(after) => after,
                None => return false,
            },
        };
        rest = after.trim_start();
    }
    true
}

/// The text after the block comment at its start; such comments nest.
fn after_block_comment(text: &str) -> Option<&str> {
    let mut rest = text.strip_prefix("/*")?;
    let mut open = 1;
    while open > 0 {
        let at = rest.find("*/").into_iter().chain(rest.find("/*")).min()?;
        open = if rest[at..].starts_with("*/") { open - 1 } else { open + 1 };
        rest = &rest[at + 2..];
    }
    Some(rest)
}

/// The mistake, and the fix if one is known.
fn reword(error: &ron::Error, kind: &RonKind) -> (String, String) {
    let of = |outer: &Option<String>| outer.as_ref().map_or(String::new(), |outer| format!(" of {outer}"));
    match error {
        ron::Error::NoSuchStructField { expected, found, outer } => {
            (format!("there is no field '{found}'{}", of(outer)), format!("fields: {}", expected.join(", ")))
        }
        ron::Error::MissingStructField { field, outer } => (format!("field '{field}'{} is missing", of(outer)), String::new()),
        ron::Error::NoSuchEnumVariant { expected, found, .. } => {
            (format!("'{found}' is none of what can stand here"), format!("expected one of {}", expected.join(", ")))
        }
        ron::Error::IntegerOutOfBounds => ("this number is out of range".to_string(), kind.numbers.to_string()),
        ron::Error::Eof => ("the file ends before it is complete".to_string(), kind.whole.to_string()),
        ron::Error::TrailingCharacters => {
            ("the file goes on after its end".to_string(), format!("{}: delete the rest, or make it a comment", kind.whole))
        }
        ron::Error::ExceededRecursionLimit => {
            ("values are nested too deep here".to_string(), "give what lies deeper a name of its own, such as Alias(\"x\")".to_string())
        }
        ron::Error::DuplicateStructField { field, outer } => (format!("field '{field}'{} is given twice", of(outer)), String::new()),
        ron::Error::InvalidIdentifier(found) | ron::Error::SuggestRawIdentifier(found) => {
            (format!("'{found}' cannot stand here"), String::new())
        }
        other => {
            let message =
                MISSING.iter().find(|(error, _)| error == other).map_or_else(|| in_lower_case(&other.to_string()), |row| row.1.to_string());
            (message, String::new())
        }
    }
}

/// Messages for missing text, by `ron`'s error.
const MISSING: &[(ron::Error, &str)] = &[
    (ron::Error::ExpectedArray, "a list is missing: [1, 2]"),
    (ron::Error::ExpectedArrayEnd, "a comma or a ']' is missing before this"),
    (ron::Error::ExpectedComma, "a comma is missing before this"),
    (ron::Error::ExpectedMap, "a map is missing: {\"name\": value}"),
    (ron::Error::ExpectedMapColon, "a colon is missing before this: name: value"),
    (ron::Error::ExpectedMapEnd, "a comma or a '}' is missing before this"),
    (ron::Error::ExpectedStructLike, "a '(' is missing before this"),
    (ron::Error::ExpectedStructLikeEnd, "a comma or a ')' is missing before this"),
    (ron::Error::ExpectedString, "a string is missing: \"text\""),
    (ron::Error::ExpectedStringEnd, "a string has no end: '\"' is missing"),
    (ron::Error::ExpectedIdentifier, "a name is missing before this"),
    (ron::Error::ExpectedInteger, "a whole number is missing before this"),
    (ron::Error::ExpectedFloat, "a number is missing before this"),
    (ron::Error::ExpectedBoolean, "true or false is missing before this"),
];

fn in_lower_case(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_in_hexadecimal_and_names_as_they_are() {
        let text =
            r#"Memory(name: "at: 12 r#None \" at: 5", at: 139637976727808, init: With(Zero, at: {8: B64(3)}), that: 7, swizzle: r#None)"#;
        let expected =
            r#"Memory(name: "at: 12 r#None \" at: 5", at: 0x7f0000000100, init: With(Zero, at: {8: B64(3)}), that: 7, swizzle: None)"#;
        assert_eq!(as_written(text), expected);
    }
}
