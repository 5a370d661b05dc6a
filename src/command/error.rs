//! The error of a command: what was expected, and at which column.

/// The reason why a command was not executed. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CommandError {
    /// The message, in one line.
    pub message: String,
    /// The bytes of the line that it is about, if any.
    pub span: Option<std::ops::Range<usize>>,
    /// Advice on what would be right.
    pub help: Option<String>,
}

impl CommandError {
    /// An error without a position in the line.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), span: None, help: None }
    }

    /// An error about these bytes of the line.
    pub fn at(span: std::ops::Range<usize>, message: impl Into<String>) -> Self {
        Self { span: Some(span), ..Self::new(message) }
    }

    /// The error with this advice.
    pub fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// The error with `did you mean '..'?`, if there is a similar name.
    pub fn with_nearest(self, near: Option<&str>) -> Self {
        match near {
            Some(near) => self.with_help(format!("did you mean '{near}'?")),
            None => self,
        }
    }

    /// The column of the line it is about, from 1, counted in characters.
    pub fn column(&self, line: &str) -> Option<usize> {
        self.span.as_ref().map(|span| line.char_indices().take_while(|(at, _)| *at < span.start).count() + 1)
    }
}
