//! Uses of undefined values, each value reported once.

use std::collections::BTreeMap;

use super::catalogue::MEMORY_UNINITIALIZED;
use super::registers::Origin;
use crate::base::Severity;
use crate::check::catalogue::FindingId;
use crate::check::deferred::DeferredFindings;
use crate::check::finding::{Finding, Pair, Side, SideAction};
use crate::check::reporter::Reporter;
use crate::isa::Space;
use crate::machine::{IssuePoint, LaneMask};
use crate::program::Pc;

/// The uses that were found.
#[derive(Clone, Default)]
pub(super) struct Reports {
    /// Of reads that may be sides of races.
    deferred: DeferredFindings,
    /// By the instruction from which an undefined value comes, and by severity, the first that used it.
    uses: BTreeMap<(FindingId, Pc, Severity), Pc>,
}

impl Reports {
    /// Counts a use at `place` of a value that was reported before, and says whether it is one.
    pub fn repeats(&mut self, origin: &Origin, (place, severity): (IssuePoint, Severity), to: &mut Reporter<'_>) -> bool {
        let Some(known) = self.uses.get(&(origin.id(), origin.place.pc, severity)).copied() else { return false };
        let first = origin.side(IssuePoint { pc: known, ..place }, LaneMask::ALL);
        let second = Side::new(IssuePoint { pc: known, ..place }, LaneMask::ALL, SideAction::Use);
        let held = self.deferred.repeats(Pair::new(origin.id(), 0, first.as_ref(), &second));
        held || to.findings.repeats(Pair::new(origin.id(), to.launch, first.as_ref(), &second)) || known != place.pc
    }

    /// Reports a use, or holds it until it is known whether a race explains it. Only the thread itself writes to its local memory.
    pub fn report(&mut self, finding: Finding, to: &mut Reporter<'_>) -> bool {
        let origin = finding.first.map_or(finding.second.place.pc, |side| side.place.pc);
        self.uses.entry((finding.id, origin, finding.severity)).or_insert(finding.second.place.pc);
        let is_shared = finding.memory.is_some_and(|memory| memory.space != Space::Local);
        if finding.id == MEMORY_UNINITIALIZED && is_shared {
            self.deferred.defer(finding);
            return false;
        }
        to.report(finding)
    }

    /// The launch has ended.
    pub fn release(&mut self, to: &mut Reporter<'_>) {
        self.uses.clear();
        self.deferred.release(to);
    }
}
