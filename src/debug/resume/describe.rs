//! Descriptions of operations on mbarriers and copies.

use super::watcher::CopyCandidate;
use crate::base::counted;
use crate::debug::breakpoints::{CopyAct, MbarrierAct};
use crate::debug::session::Session;
use crate::machine::{Contribution, CopyCompletion, Mbarrier, MbarrierChange, MbarrierEvent};

impl Session {
    /// The kind and the description of an operation on an mbarrier: `full[1] of block (0,0,0): arrives, 96 of 96 arrivals are missing now`.
    pub(super) fn describe_mbarrier(&self, event: &MbarrierEvent) -> (MbarrierAct, String) {
        let block = self.machine().block(event.block);
        let name =
            block.map_or(format!("the mbarrier at {:#x}", event.address), |block| self.machine().mbarrier_name(block, event.address));
        let barrier = block.and_then(|block| block.shared.mbarrier(event.address).ok());
        let [x, y, z] = event.point.block;
        // The block is part of the mbarrier's name already.
        let by_block = if event.point.block == event.block { String::new() } else { format!("block ({x},{y},{z}) ") };
        let warp = format!("{by_block}warp {} {}", event.point.warp, event.lanes.describe());
        let now = barrier.map_or(String::new(), missing);
        let (act, what) = match event.change {
            MbarrierChange::Initialized(count) => (MbarrierAct::Arrive, format!("made by {warp} for {count} arrivals a phase")),
            MbarrierChange::Invalidated => (MbarrierAct::Arrive, format!("invalidated by {warp}")),
            MbarrierChange::Contributed(Contribution::Arrived(count)) => (MbarrierAct::Arrive, format!("{warp} arrives {count}×{now}")),
            MbarrierChange::Contributed(Contribution::Dropped(count)) => {
                (MbarrierAct::Arrive, format!("{warp} arrives {count}× for good{now}"))
            }
            MbarrierChange::Contributed(Contribution::ExpectTx(bytes)) => {
                (MbarrierAct::Arrive, format!("{warp} expects {}{now}", counted(u64::from(bytes), "byte")))
            }
            MbarrierChange::Contributed(Contribution::CompleteTx(bytes)) => {
                (MbarrierAct::Arrive, format!("{warp} completes {}{now}", counted(u64::from(bytes), "byte")))
            }
            MbarrierChange::PhaseCompleted(phase) => (MbarrierAct::Phase, format!("phase {phase} (parity {}) has ended", phase & 1)),
            MbarrierChange::Tested { parity, completed: ended } => {
                let which = barrier.map_or(String::new(), |barrier| which_phase(barrier, parity));
                let answer = if ended { "yes" } else { "not yet" };
                (MbarrierAct::Wait, format!("{warp} tests whether the phase of parity {parity} has ended: {answer}{which}"))
            }
        };
        let [x, y, z] = event.block;
        (act, format!("{name} of block ({x},{y},{z}): {what}"))
    }

    /// The kind and the description of a copy's event, such as
    /// `copy #3 has ended: it was issued at ring.ptx:88 by block (0,0,0) warp 0 lane 0, time 12`.
    pub(super) fn describe_copy(&self, copy: &CopyCandidate) -> (CopyAct, String) {
        let place = self.program().place(copy.issued.pc);
        let [x, y, z] = copy.issued.block;
        let by = format!("block ({x},{y},{z}) warp {} {}", copy.issued.warp, copy.lanes.describe());
        if copy.ended {
            let text = format!("copy #{} has ended: it was issued at {place} by {by}, time {}", copy.id, copy.issued.tick);
            return (CopyAct::Complete, text);
        }
        let in_flight = self.machine().in_flight().copies().find(|other| other.id == copy.id);
        let ends = match in_flight.map(|copy| copy.completion) {
            Some(CopyCompletion::Group { bulk: false, number }) => format!(", in group {number}"),
            Some(CopyCompletion::Group { bulk: true, number }) => format!(", in bulk group {number}"),
            Some(CopyCompletion::Mbarrier { owner: crate::machine::MemoryOwner::Block { index, .. }, address, .. }) => {
                let name = self.machine().block(index).map(|block| self.machine().mbarrier_name(block, address));
                name.map_or(String::new(), |name| format!(", completes on {name}"))
            }
            _ => String::new(),
        };
        (CopyAct::Issue, format!("copy #{} is issued at {place} by {by}{ends}", copy.id))
    }
}

/// The arrivals and bytes that the present phase is missing.
fn missing(barrier: &Mbarrier) -> String {
    match (barrier.pending, barrier.tx_count) {
        (pending, 0) => format!("; phase {}: {pending} of {} arrivals are missing now", barrier.phase, barrier.expected),
        (pending, bytes) => {
            format!("; phase {}: {pending} of {} arrivals and {bytes} bytes are missing now", barrier.phase, barrier.expected)
        }
    }
}

/// The phase that a test for a parity refers to.
fn which_phase(barrier: &Mbarrier, parity: u32) -> String {
    match (barrier.parity() == parity, barrier.phase.checked_sub(1)) {
        (true, _) => format!(" (phase {} continues)", barrier.phase),
        (false, Some(before)) => format!(" (phase {before} has; phase {} continues)", barrier.phase),
        (false, None) => " (no phase has ended yet; the parity is that of the phase before the first)".to_string(),
    }
}
