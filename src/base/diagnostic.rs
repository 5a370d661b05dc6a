//! Diagnostics of files, with span and fix: created by any layer, rendered by the front end.

use super::Span;

/// The severity of a diagnostic or a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Information, not a mistake.
    Note,
    /// Accepted, but probably unintended.
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

/// A secondary span that explains a diagnostic, such as an earlier declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its span in the text.
    pub span: Span,
    /// The explanation.
    pub text: String,
}

/// One mistake in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its severity.
    pub severity: Severity,
    /// Its stable kind, one lower-case word: `syntax`, `modifier`, `type`, `name`, …
    pub code: Code,
    /// The mistake, in one line without a full stop.
    pub message: String,
    /// The bytes that are wrong.
    pub span: Span,
    /// Secondary spans.
    pub labels: Vec<Label>,
    /// The fix, if one is known.
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

    /// Adds a fix.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a secondary span.
    #[must_use]
    pub fn with_label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// True if it makes the file unusable.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
