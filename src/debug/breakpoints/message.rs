//! Messages of logpoints: `dprintf LOCATION,"FORMAT",VALUES`.
//!
//! In the format `%` and a letter stand for the next value, as [`Field`] shows it. `%%` is a percent sign, and `\n \t \" \\` are as in C.

use super::condition::expression;
use super::field::Field;
use crate::debug::argument::ArgumentError;
use crate::debug::eval_context::EvalContext;
use crate::debug::expression::Expression;

/// A format with its values, read once when it is set.
#[derive(Clone, Debug, PartialEq)]
pub struct LogMessage {
    source: String,
    parts: Vec<MessagePart>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
enum MessagePart {
    Text(String),
    Value(Field, Argument),
}

/// What a field shows.
#[derive(Clone, Debug, PartialEq)]
enum Argument {
    /// A text in quotes.
    Text(String),
    Value(Expression),
}

impl LogMessage {
    /// Reads `"FORMAT",VALUE,VALUE`.
    ///
    /// # Errors
    /// There is no format in quotes, a `%` without a letter, a value that is no expression, or values too many or too few.
    pub fn parse(text: &str) -> Result<Self, ArgumentError> {
        let start = text.len() - text.trim_start().len();
        let wrong = |message: &str, at: std::ops::Range<usize>| ArgumentError::new(message).at(at);
        let whole = start..text.len();
        let inner = text
            .get(start..)
            .and_then(|rest| rest.strip_prefix('"'))
            .ok_or_else(|| wrong("a format in quotes is expected", whole.clone()))?;
        let length = closing_quote(inner).ok_or_else(|| wrong("the format's closing quote is missing", whole))?;
        let format_end = start + 1 + length;
        let fields = fields(inner.get(..length).unwrap_or("")).map_err(|error| error.at(start..format_end + 1))?;
        let mut values = values(text, format_end + 1)?.into_iter();
        let mut parts = Vec::new();
        for field in fields {
            parts.push(match field {
                Ok(text) => MessagePart::Text(text),
                Err(field) => MessagePart::Value(
                    field,
                    values.next().ok_or_else(|| wrong("the format has more '%' than there are values", start..text.len()))?.1,
                ),
            });
        }
        match values.next() {
            None => Ok(Self { source: text.trim().to_string(), parts }),
            Some((at, _)) => Err(wrong("the format has fewer '%' than there are values", at..text.len())),
        }
    }

    /// As the user wrote it.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The message for the focused thread of `context`, without the newline at the end: every message is a line of its own. A value that
    /// cannot be computed is replaced by the reason in angle brackets.
    pub fn text(&self, context: &EvalContext<'_>) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                MessagePart::Text(part) => text.push_str(part),
                MessagePart::Value(field, Argument::Text(part)) => text.push_str(&field.text_of(part)),
                MessagePart::Value(field, Argument::Value(expression)) => match expression.evaluate(context) {
                    Ok(value) => text.push_str(&field.show(&value, context)),
                    Err(error) => text.push_str(&format!("<{error}>")),
                },
            }
        }
        if text.ends_with('\n') {
            text.pop();
        }
        text
    }
}

/// Position of the quote that closes the format, from the one that opens it.
fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    let is_closing = |(_, letter): &(usize, char)| {
        let closes = *letter == '"' && !escaped;
        escaped = *letter == '\\' && !escaped;
        closes
    };
    text.char_indices().find(is_closing).map(|(at, _)| at)
}

/// The texts and fields of a format.
fn fields(format: &str) -> Result<Vec<Result<String, Field>>, ArgumentError> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.push(escaped(letters.next()).unwrap_or('\\')),
            '%' if letters.as_str().starts_with('%') => {
                letters.next();
                text.push('%');
            }
            '%' => {
                let field = Field::parse(&mut letters)?;
                parts.push(Ok(std::mem::take(&mut text)));
                parts.push(Err(field));
            }
            other => text.push(other),
        }
    }
    parts.push(Ok(text));
    Ok(parts)
}

/// The arguments after the format, which ends before byte `from`, and where each starts.
fn values(text: &str, from: usize) -> Result<Vec<(usize, Argument)>, ArgumentError> {
    let rest = text.get(from..).unwrap_or("");
    if rest.trim().is_empty() {
        return Ok(Vec::new());
    }
    let Some(list) = rest.trim_start().strip_prefix(',') else {
        return Err(ArgumentError::new("a comma is expected after the format").at(from..text.len()));
    };
    let mut start = text.len() - list.len();
    let mut found = Vec::new();
    for part in split_values(list) {
        found.push((start, argument(part).map_err(|error| error.shifted(start))?));
        start += part.len() + 1;
    }
    Ok(found)
}

/// A text in quotes, or an expression.
fn argument(part: &str) -> Result<Argument, ArgumentError> {
    let quoted = part.trim().strip_prefix('"').and_then(|inner| Some((inner, closing_quote(inner)?)));
    match quoted.filter(|(inner, end)| end + 1 == inner.len()) {
        Some((inner, end)) => Ok(Argument::Text(unescaped(&inner[..end]))),
        None => expression(part).map(Argument::Value),
    }
}

/// `\n`, `\t` and other letters after a backslash.
fn unescaped(text: &str) -> String {
    let mut letters = text.chars();
    let mut plain = String::new();
    while let Some(letter) = letters.next() {
        plain.extend(if letter == '\\' { escaped(letters.next()) } else { Some(letter) });
    }
    plain
}

/// The letter that a letter after a backslash stands for.
fn escaped(letter: Option<char>) -> Option<char> {
    match letter {
        Some('n') => Some('\n'),
        Some('t') => Some('\t'),
        other => other,
    }
}

/// The parts of a list between commas outside brackets and quotes.
fn split_values(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_i64, 0);
    let (mut quoted, mut before) = (false, ' ');
    for (at, letter) in list.char_indices() {
        let is_quote = letter == '"' && before != '\\';
        (quoted, before) = (quoted != is_quote, letter);
        match letter {
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(list.get(start..at).unwrap_or(""));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(list.get(start..).unwrap_or(""));
    parts
}
