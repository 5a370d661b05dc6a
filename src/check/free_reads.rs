//! Plain reads of shared memory about which no checker has to be asked: most reads of tiles, which were written before a barrier.

use std::ops::Range;
use std::sync::Arc;

use crate::machine::PlainRead;

/// The plain reads of the shared memory of a block that are right whatever else they are, until the next event.
#[derive(Clone)]
pub struct FreeReads {
    /// The bytes that they may read.
    pub bytes: Range<u64>,
    /// The bytes that each instruction may read, if these differ.
    pub of_instructions: Option<Arc<Vec<Range<u64>>>>,
}

impl FreeReads {
    /// Those that read these bytes.
    pub fn of(bytes: Range<u64>) -> Self {
        Self { bytes, of_instructions: None }
    }

    /// Those that are also among `others`.
    pub fn and(self, others: Self) -> Self {
        let bytes = self.bytes.start.max(others.bytes.start)..self.bytes.end.min(others.bytes.end);
        debug_assert!(self.of_instructions.is_none() || others.of_instructions.is_none(), "one checker looks at instructions");
        Self { bytes, of_instructions: self.of_instructions.or(others.of_instructions) }
    }

    /// True if `read` is one of them.
    #[inline(always)]
    pub fn include(&self, read: &PlainRead<'_>) -> bool {
        let end = read.low.saturating_add(read.span);
        let are_in = |bytes: &Range<u64>| bytes.start <= read.low && end <= bytes.end;
        let of_instruction = self.of_instructions.as_ref().map(|ranges| ranges.get(read.point.pc.index()));
        are_in(&self.bytes) && read.lockstep.is_empty() && of_instruction.is_none_or(|bytes| bytes.is_some_and(are_in))
    }
}
