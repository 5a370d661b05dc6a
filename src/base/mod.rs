//! Ids, sources, spans, diagnostics, saved files, sets of lanes, time: types that every layer may use and that depend on no other layer.

mod counted;
mod diagnostic;
mod dim3;
mod glob;
mod id;
mod jobs;
pub mod lanes;
mod random;
mod ranges;
mod read;
pub mod save;
mod shard;
pub(crate) mod shuffle;
mod source;
mod source_paths;
mod time;
mod warp;

pub use counted::counted;
pub use diagnostic::{Code, Diagnostic, Label, Severity};
pub use dim3::Dim3;
pub use glob::Glob;
pub(crate) use id::define_id;
pub use id::{Id, IdVec};
pub use jobs::{cores, run_jobs};
pub use random::Random;
pub use ranges::ranges;
pub use read::read_bounded;
pub use shard::Shard;
pub use source::{Position, SourceFile, SourceId, Sources, Span, file_name, without_comments};
pub use source_paths::source_paths;
pub use time::Tick;
pub use warp::WarpId;
