//! What is wrong with a file, where, and what to do: made deep inside, drawn at the edge.

use super::Span;

/// How bad a diagnostic or a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Accepted, but likely not meant.
    Warning,
    /// The file cannot be used as it is, or the kernel is wrong.
    Error,
}

impl Severity {
    /// The word shown to the user.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// The stable, lower-case kind of a diagnostic, shown as `error[modifier]`.
pub type Code = &'static str;

/// A further place that explains a diagnostic, such as an earlier declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its span in the text.
    pub span: Span,
    /// What is to be seen there.
    pub text: String,
}

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Its stable kind, one lower-case word: `syntax`, `modifier`, `type`, `name`, …
    pub code: Code,
    /// What is wrong, in one line without a full stop.
    pub message: String,
    /// The bytes that are wrong.
    pub span: Span,
    /// Other places that matter.
    pub labels: Vec<Label>,
    /// What would be right, if that is known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, code, message: message.into(), span, labels: Vec::new(), help: None }
    }

    /// A warning at `span`.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// Adds what would be right.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn with_label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Whether it makes the file unusable.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
