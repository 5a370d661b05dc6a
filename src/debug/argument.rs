//! Errors of arguments of commands.

use std::ops::Range;

use crate::isa::nearest;

/// An error of an argument that the user typed: the message, its place, and the help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ArgumentError {
    /// The message, in one line.
    pub message: String,
    /// The bytes of the text that was parsed; none if it is about no part of it.
    pub span: Option<Range<usize>>,
    /// How to fix it, if there is a proposal.
    pub help: Option<String>,
}

impl ArgumentError {
    /// An error about the whole argument.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), span: None, help: None }
    }

    /// Sets the range of bytes that it is about.
    #[must_use]
    pub fn at(mut self, span: Range<usize>) -> Self {
        self.span = Some(span);
        self
    }

    /// Adds the help: what would be right.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds `did you mean '..'?` if one of `names` is near enough to `word`. Letter case, a leading `$` or `%` and underscores are
    /// ignored.
    #[must_use]
    pub fn with_nearest<'n>(self, word: &str, names: impl IntoIterator<Item = &'n str>) -> Self {
        let names: Vec<(String, &str)> = names.into_iter().map(|name| (normalized(name), name)).collect();
        let near = nearest(&normalized(word), names.iter().map(|(normalized, _)| normalized.as_str()));
        match near.and_then(|near| names.iter().find(|(normalized, _)| normalized == near)) {
            Some((_, name)) => self.with_help(format!("did you mean '{name}'?")),
            None => self,
        }
    }

    /// The same error for a text in which the one that was parsed starts at byte `offset`.
    #[must_use]
    pub fn shifted(mut self, offset: usize) -> Self {
        self.span = self.span.map(|span| span.start.saturating_add(offset)..span.end.saturating_add(offset));
        self
    }
}

fn normalized(name: &str) -> String {
    name.trim_start_matches(['$', '%']).chars().filter(|character| *character != '_').flat_map(char::to_lowercase).collect()
}
