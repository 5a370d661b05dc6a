//! Ids, sources, spans, diagnostics, saved files: what every layer may use and what knows no other layer.

mod counted;
mod diagnostic;
mod id;
mod read;
pub mod save;
mod source;

pub use counted::counted;
pub use diagnostic::{Code, Diagnostic, Label, Severity};
pub(crate) use id::define_id;
pub use read::read_bounded;
pub use source::{Position, SourceFile, SourceId, Sources, Span};
