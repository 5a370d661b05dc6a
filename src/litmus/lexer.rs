//! Tokens of a litmus test.

use super::error::ParseError;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// A word with its dots, such as `ld.weak`.
    Word(&'a str),
    /// A number.
    Number(i64),
    /// A sign.
    Sign(&'static str),
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// The token.
    pub token: Token<'a>,
    /// Its first byte.
    pub start: usize,
    /// The byte after it.
    pub end: usize,
}

/// Signs, longer ones before those that they begin with.
const SIGNS: &[&str] =
    &["/\\", "\\/", "==", "!=", "<=", ">=", "{", "}", "(", ")", "[", "]", ";", "|", "@", ",", ":", "=", "<", ">", "&", "~"];

/// The tokens of `text` from byte `start` on. Comments stand between `(*` and `*)`.
///
/// # Errors
/// A character begins no token, a comment has no end, or a number is too large.
pub fn tokens(text: &str, start: usize) -> Result<Vec<Placed<'_>>, ParseError> {
    let mut found = Vec::new();
    let mut at = start;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let space = rest.len() - rest.trim_start().len();
        if space > 0 {
            at += space;
        } else if rest.starts_with("(*") {
            at += rest.find("*)").ok_or_else(|| ParseError::at(text, at, "this comment has no end: *)".to_string()))? + 2;
        } else {
            let (token, length) = token(rest).map_err(|message| ParseError::at(text, at, message))?;
            found.push(Placed { token, start: at, end: at + length });
            at += length;
        }
    }
    Ok(found)
}

fn token(rest: &str) -> Result<(Token<'_>, usize), String> {
    if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        return Ok((Token::Sign(sign), sign.len()));
    }
    let is_inside = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
    let minus = usize::from(rest.starts_with('-'));
    let length = minus + rest[minus..].find(|letter| !is_inside(letter)).unwrap_or(rest.len() - minus);
    let word = &rest[..length];
    match word[minus..].chars().next() {
        Some(first) if first.is_ascii_digit() => {
            let number = match word[minus..].strip_prefix("0x") {
                Some(digits) => i64::from_str_radix(digits, 16),
                None => word[minus..].parse(),
            };
            let sign = if minus == 1 { -1 } else { 1 };
            number.map(|number| (Token::Number(sign * number), length)).map_err(|_| format!("{word} is no 64-bit integer"))
        }
        Some(first) if minus == 0 && is_inside(first) => Ok((Token::Word(word), length)),
        _ => Err(format!("{:?} does not belong here", rest.chars().next().unwrap_or(' '))),
    }
}
