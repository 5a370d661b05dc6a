//! Debug data that is read when it is first used.

use std::sync::{Arc, OnceLock};

use super::assigned::SourceText;
use super::model::DebugInfo;
use super::reader;
use crate::program::Program;

/// The debug data of one program, read when it is first used.
#[derive(Debug, Default)]
pub struct LazyDebugInfo {
    info: OnceLock<Option<DebugInfo>>,
    source: Option<Arc<dyn SourceText>>,
}

impl LazyDebugInfo {
    /// The debug data of a program, of which the text of the source is at hand.
    pub fn with_source(source: Arc<dyn SourceText>) -> Self {
        Self { info: OnceLock::new(), source: Some(source) }
    }

    /// The debug data of `program`, which must be the same in each call; none if its modules have none.
    pub fn get(&self, program: &Program) -> Option<&DebugInfo> {
        let read = || (!program.debug_sections.is_empty()).then(|| reader::read(program, self.source.as_deref()));
        self.info.get_or_init(read).as_ref()
    }

    /// True if the data has been read.
    pub fn is_read(&self) -> bool {
        self.info.get().is_some()
    }
}
