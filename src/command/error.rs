//! Why a command was not done: what was expected, and at which column.

/// Why a command was not done. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CommandError {
    /// What is wrong, in one line.
    pub message: String,
    /// The bytes of the line it is about, if it is about some.
    pub span: Option<std::ops::Range<usize>>,
    /// What would be right.
    pub help: Option<String>,
}

impl CommandError {
    /// One about no part of the line.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), span: None, help: None }
    }

    /// One about these bytes of the line.
    pub fn at(span: std::ops::Range<usize>, message: impl Into<String>) -> Self {
        Self { span: Some(span), ..Self::new(message) }
    }

    /// With what would be right.
    pub fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// With `did you mean '..'?`, if there is something near.
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
