//! Debug data that is read when it is first used.

use std::sync::OnceLock;

use super::model::DebugInfo;
use super::reader;
use crate::program::Program;

/// The debug data of one program, read when it is first used.
#[derive(Debug, Default)]
pub struct LazyDebugInfo(OnceLock<Option<DebugInfo>>);

impl LazyDebugInfo {
    /// The debug data of `program`, which must be the same in each call; none if its modules have none.
    pub fn get(&self, program: &Program) -> Option<&DebugInfo> {
        self.0.get_or_init(|| (!program.debug_sections.is_empty()).then(|| reader::read(program))).as_ref()
    }

    /// True if the data has been read.
    pub fn is_read(&self) -> bool {
        self.0.get().is_some()
    }
}
