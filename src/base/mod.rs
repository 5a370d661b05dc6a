//! Ids, sources, spans, diagnostics, saved files, sets of lanes, time: what every layer may use and what depends on no other layer.

mod counted;
mod diagnostic;
mod dim3;
mod id;
pub mod lanes;
mod original;
mod ranges;
mod read;
pub mod save;
mod side_by_side;
mod source;
mod time;
mod warp;

pub use counted::counted;
pub use diagnostic::{Code, Diagnostic, Label, Severity};
pub use dim3::Dim3;
pub(crate) use id::define_id;
pub use id::{Id, IdVec};
pub use original::original_places;
pub use ranges::ranges;
pub use read::read_bounded;
pub use side_by_side::{cores, side_by_side};
pub use source::{Position, SourceFile, SourceId, Sources, Span, without_comments};
pub use time::Tick;
pub use warp::WarpId;
