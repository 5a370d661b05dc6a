//! The interface of checkers, and the row that describes one.

use std::any::Any;
use std::sync::Arc;

use super::catalogue::FindingId;
use super::finding::Finding;
use super::free_reads::FreeReads;
use super::reporter::Reporter;
use crate::machine::{BlockId, Event, EventMask, LaunchEnd, LaunchStart, PlainRead};
use crate::program::Program;

/// A checker of a case, from its first launch on. Its input is the events and the beginning and end of each launch.
pub trait Checker: Send + Sync {
    /// A launch is about to issue its first instruction: all operations of earlier launches are ordered before it.
    fn begin(&mut self, launch: &LaunchStart);

    /// The kinds of events that it observes now. An event that changes them sets [`Reporter::mask_changed`]; the beginning of a launch may
    /// change them without that.
    fn mask(&self) -> EventMask;

    /// Handles an event of a kind in its mask. True if that is a new finding.
    fn event(&mut self, event: &Event<'_>, to: &mut Reporter<'_>) -> bool;

    /// Takes note of a plain read, if there is no more to do about it. False, without effect, if it is to be an event.
    fn plain_read(&mut self, _read: &PlainRead<'_>) -> bool {
        false
    }

    /// The plain reads of the shared memory of a block that need not be passed to [`Self::plain_read`] until the next event; none if all
    /// are.
    fn free_reads(&self, _block_id: BlockId) -> Option<FreeReads> {
        None
    }

    /// Takes note of a free read. False, without effect, if it is to be an event.
    fn free_read(&mut self, _read: &PlainRead<'_>) -> bool {
        true
    }

    /// The launch has ended: by itself, or by this fault.
    fn end(&mut self, end: &LaunchEnd, fault: Option<FindingId>, to: &mut Reporter<'_>);

    /// Reads of unwritten memory, one for each instruction, whether their values were used or not.
    fn reads_of_unwritten(&self) -> &[Finding] {
        &[]
    }

    /// Adds what later launches need to know of another part of the grid, which the same checker has observed from the same state. False
    /// if the two cannot be joined.
    fn join_part(&mut self, _part: &dyn Checker) -> bool {
        true
    }

    /// The checker as a value of its type.
    fn as_any(&self) -> &dyn Any;

    /// Bytes that its tables take, and bytes of memory in the pages that they cover.
    fn size(&self) -> (usize, usize) {
        (0, 0)
    }

    /// A copy of it in the same state.
    fn boxed_clone(&self) -> Box<dyn Checker>;
}

/// Makes a checker of a program in its initial state.
pub type MakeChecker = fn(&Arc<Program>) -> Box<dyn Checker>;

/// A row of the registry.
#[derive(Clone, Copy)]
pub struct CheckerRow {
    /// The word users type.
    pub word: &'static str,
    /// The mistakes that it looks for, as text.
    pub about: &'static str,
    /// The ids of these mistakes.
    pub findings: &'static [FindingId],
    /// Makes the checker; none if such a mistake is a trap of the machine, so that the checker is always on.
    pub make: Option<MakeChecker>,
}
