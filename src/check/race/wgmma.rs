//! `wgmma.mma_async` (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"): until a wait for its group it reads shared memory
//! through the async proxy and uses its registers.
//!
//! The commit group is that of the warpgroup, so a wait of one warp ends the reads of all four. The registers of a warp are in use until
//! that warp has waited.

use super::access::Access;
use super::cause;
use super::lane_addresses::LaneAddresses;
use super::{RaceChecker, ShadowMemory, actor, operation};
use crate::base::Severity;
use crate::check::finding::{Finding, Pair, PathStep, Side, SideAction};
use crate::check::race::catalogue::RACE_WGMMA;
use crate::check::remedy::{CopyKind, Position, Remedy};
use crate::check::reporter::Reporter;
use crate::machine::{Proxy, Wgmma, WgmmaChange, WgmmaEvent};
use crate::order::{Agent, AsyncKind};

/// Why the use of a register is no mistake in a module for a debugger.
const WHY_DEBUG: &str = "the compiler of a module for debuggers (.target debug) keeps variables in memory between statements, also the \
                         registers of a wgmma in flight; the assembler waits for each wgmma there, so the values are right";

/// What the note on it proposes.
const FIX_DEBUG: &str = "nothing; a missing fence or wait for the registers shows in a module without debug data (nvcc -lineinfo)";

impl RaceChecker {
    /// A `wgmma` is fenced, issued, committed, waited for or ends, or an instruction uses one of its registers.
    #[inline(never)]
    pub(super) fn wgmma(&mut self, event: &WgmmaEvent<'_>, to: &mut Reporter<'_>) -> bool {
        self.enter(event.block_id);
        self.record_unrecorded(event.block_id.block_slot);
        let actor = actor(event.block_id, &event.point, event.lanes);
        match event.change {
            WgmmaChange::Issued { wgmma, .. } => return self.issue_wgmma(event, wgmma, to),
            WgmmaChange::RegisterUsed { wgmma: Some(wgmma), .. } => return self.use_register(event, wgmma, to),
            WgmmaChange::Committed { group } => self.hb.commit_wgmma(actor, group),
            WgmmaChange::Waited { done } => self.hb.wait_wgmma(actor, done),
            WgmmaChange::Fenced | WgmmaChange::Ended(_) | WgmmaChange::Abandoned(_) | WgmmaChange::RegisterUsed { .. } => {}
        }
        false
    }

    fn issue_wgmma(&mut self, event: &WgmmaEvent<'_>, wgmma: &Wgmma, to: &mut Reporter<'_>) -> bool {
        let block_slot = event.block_id.block_slot;
        assert!(wgmma.reads().all(|(start, end)| start < end), "wgmma #{} reads some bytes", wgmma.id);
        let op = operation(event.block_id, &event.point, event.lanes, (Agent::Async(AsyncKind::Wgmma), SideAction::Read));
        let bytes = wgmma.reads().map(|(start, end)| end - start).sum();
        let plain = Access::plain(op, (event.point.pc, SideAction::Read), bytes, LaneAddresses::All);
        let access = Access { proxy: Proxy::Async, element: 0, copy: wgmma.id, ..plain };
        let memory = ShadowMemory::Block(block_slot);
        self.with_detector(memory, block_slot, access, |detector, shadow| {
            wgmma.reads().for_each(|(start, end)| detector.compare_range(shadow, u64::from(start), u64::from(end - start)));
        });
        self.report(memory, block_slot, &access, to)
    }

    /// An instruction uses a register of a `wgmma` in flight.
    fn use_register(&mut self, event: &WgmmaEvent<'_>, wgmma: &Wgmma, to: &mut Reporter<'_>) -> bool {
        let side = |point, copy| Side { point, lanes: event.lanes, action: SideAction::Use, bytes: 0, copy };
        let (first, second) = (side(wgmma.issued, Some(wgmma.id)), side(event.point, None));
        if to.findings.count_again(Pair::new(RACE_WGMMA, to.launch, Some(&first), &second)) {
            return false;
        }
        if self.program.is_debug {
            let finding = Finding {
                severity: Severity::Note,
                launch: to.launch,
                first: Some(first),
                ..Finding::new(RACE_WGMMA, second, WHY_DEBUG.to_string(), FIX_DEBUG)
            };
            let (program, reachability) = (&self.program, &mut self.reachability);
            return to.findings.report_unless(finding, |earlier, finding| cause::is_same(program, reachability, earlier, finding));
        }
        let step = |point, text: &str| PathStep { point, text: text.to_string() };
        let why = "the register belongs to a wgmma that is in flight until its warp waits for its group".to_string();
        let fix = "commit the group and wait with wgmma.wait_group before the register is used".to_string();
        to.report(Finding {
            first: Some(first),
            path: vec![
                step(Some(wgmma.issued), "the wgmma is issued, and its registers are its own from here on"),
                step(None, "no wgmma.wait_group that covers its group lies between"),
                step(Some(event.point), "a register of it is used"),
            ],
            candidates: vec![vec![Remedy::WaitAll(CopyKind::Wgmma, Position::Before(event.point.pc))]],
            ..Finding::new(RACE_WGMMA, second, why, fix)
        })
    }
}
