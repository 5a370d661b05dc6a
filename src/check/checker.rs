//! The interface of checkers, and the row that describes one.

use std::sync::Arc;

use super::catalogue::FindingId;
use super::finding::Finding;
use super::reporter::Reporter;
use crate::machine::{Event, EventMask, LaunchEnd, LaunchStart};
use crate::program::Program;

/// A checker of a case, from its first launch on. It knows of a run what events and the two ends of a launch say.
pub trait Checker: Send + Sync {
    /// A launch is about to issue its first instruction: what earlier ones did is ordered before all of it.
    fn begin(&mut self, launch: &LaunchStart);

    /// The kinds of events that it wants now. An access that changes them sets [`Reporter::asks`]; a launch that begins
    /// and every other event may change them.
    fn mask(&self) -> EventMask;

    /// Handles an event of a kind that it wants. True if that is a new finding.
    fn event(&mut self, event: &Event<'_>, to: &mut Reporter<'_>) -> bool;

    /// The launch has ended: by itself, or by this fault.
    fn end(&mut self, end: &LaunchEnd, fault: Option<FindingId>, to: &mut Reporter<'_>);

    /// Reads of memory that nothing had written, one for each instruction, whether what they gave was used or not.
    fn reads_of_unwritten(&self) -> &[Finding] {
        &[]
    }

    /// Bytes that its tables take, and bytes of memory in the pages that they are about.
    fn size(&self) -> (usize, usize) {
        (0, 0)
    }

    /// A copy of it in the same state.
    fn boxed_clone(&self) -> Box<dyn Checker>;
}

/// Makes a checker of a program that has seen nothing yet.
pub type MakeChecker = fn(&Arc<Program>) -> Box<dyn Checker>;

/// A row of the registry.
#[derive(Clone, Copy)]
pub struct CheckerRow {
    /// The word users type.
    pub word: &'static str,
    /// The mistakes that it looks for.
    pub about: &'static str,
    /// The mistakes that it finds.
    pub findings: &'static [FindingId],
    /// Makes the checker; none where the machine itself stops at such a mistake, which is always on.
    pub make: Option<MakeChecker>,
}
