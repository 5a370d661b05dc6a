//! A cursor over C++ text that skips blanks and comments and tracks positions.

use crate::base::{Diagnostic, SourceId, Span};

/// A position in the text of a statement.
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    source: SourceId,
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at the beginning of `text`, the text of `source`.
    pub fn new(source: SourceId, text: &'a str) -> Self {
        Self { source, text, at: 0 }
    }

    /// The rest of the text.
    pub fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The current offset.
    pub fn at(&self) -> u32 {
        self.at as u32
    }

    /// The source of the text.
    pub fn source(&self) -> SourceId {
        self.source
    }

    /// The text from `start` to the current offset, and its span.
    pub fn since(&self, start: u32) -> (&'a str, Span) {
        (self.text.get(start as usize..self.at).unwrap_or_default(), Span::new(self.source, start, self.at()))
    }

    /// Advances by `bytes`.
    pub fn advance(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.text.len());
    }

    /// Skips blanks and comments.
    pub fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.advance(rest.len() - trimmed.len());
            let comment = match () {
                () if trimmed.starts_with("//") => trimmed.find('\n').unwrap_or(trimmed.len()),
                () if trimmed.starts_with("/*") => trimmed.find("*/").map_or(trimmed.len(), |end| end + 2),
                () => return,
            };
            self.advance(comment);
        }
    }

    /// The next character that is not a blank.
    pub fn peek(&mut self) -> Option<char> {
        self.skip_blank();
        self.rest().chars().next()
    }

    /// Consumes `sign` if it is next.
    pub fn eat(&mut self, sign: char) -> bool {
        let is_next = self.peek() == Some(sign);
        if is_next {
            self.advance(sign.len_utf8());
        }
        is_next
    }

    /// Consumes `sign`.
    ///
    /// # Errors
    /// Another character is next.
    pub fn expect(&mut self, sign: char, help: &str) -> Result<(), Diagnostic> {
        if self.eat(sign) { Ok(()) } else { Err(self.unexpected(&format!("'{sign}'"), help)) }
    }

    /// Consumes the next identifier; empty if there is none.
    pub fn word(&mut self) -> &'a str {
        self.skip_blank();
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.advance(length);
        rest.get(..length).unwrap_or_default()
    }

    /// Consumes everything up to an unmatched closing bracket.
    pub fn balanced(&mut self) -> &'a str {
        let start = self.at();
        let (mut depth, mut quote, mut escaped) = (0_u32, None, false);
        let end = self.rest().char_indices().find(|(_, c)| {
            match (quote, c) {
                _ if escaped => escaped = false,
                (Some(_), '\\') => escaped = true,
                (Some(open), c) if open == *c => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(*c),
                (None, '(' | '[' | '{') => depth += 1,
                (None, ')' | ']' | '}') if depth == 0 => return true,
                (None, ')' | ']' | '}') => depth -= 1,
                (None, _) => {}
            }
            false
        });
        self.advance(end.map_or(self.rest().len(), |(at, _)| at));
        self.since(start).0
    }

    /// The error that `wanted` is expected at the current offset.
    pub fn unexpected(&mut self, wanted: &str, help: &str) -> Diagnostic {
        self.skip_blank();
        let next = self.rest().chars().next();
        let found = next.map_or("the end".to_string(), |c| format!("'{c}'"));
        let end = self.at() + next.map_or(0, char::len_utf8) as u32;
        let span = Span::new(self.source, self.at(), end);
        Diagnostic::error("syntax", span, format!("expected {wanted}, found {found}")).with_help(help)
    }
}
