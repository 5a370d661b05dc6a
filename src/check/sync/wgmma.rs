//! The rules of `wgmma.fence`, `commit_group` and `wait_group` (PTX ISA, "wgmma.fence", "wgmma.wait_group").
//!
//! The first `wgmma` of a warp needs a fence before it, and so does one whose registers another instruction has accessed since the last
//! fence. A warp that issues one must wait for it before it exits.

use std::collections::BTreeMap;

use crate::check::finding::{Finding, Side, SideAction};
use crate::check::remedy::{Candidate, CopyKind, Position, Remedy};
use crate::check::reporter::Reporter;
use crate::check::sync::catalogue::WGMMA_SEQUENCE;
use crate::machine::{IssuePoint, Wgmma, WgmmaChange, WgmmaEvent};
use crate::program::{Pc, Slot};

/// The accesses of warps to registers that `wgmma` uses.
#[derive(Clone, Default)]
pub(super) struct Wgmmas {
    /// The instruction that accessed a register since the last fence of its warp, by block, warp and slot of the register.
    accessed: BTreeMap<(u64, u32, Slot), IssuePoint>,
}

impl Wgmmas {
    /// A `wgmma` is fenced, issued, committed, waited for or ends. True if that is a new finding.
    pub fn event(&mut self, event: &WgmmaEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let (block, warp) = (event.block_id.number, event.point.warp);
        match event.change {
            WgmmaChange::Fenced => {
                self.accessed.retain(|(of, by, _), _| (*of, *by) != (block, warp.number()));
                false
            }
            WgmmaChange::RegisterUsed { slot, wgmma: None, .. } => {
                self.accessed.insert((block, warp.number(), slot), event.point);
                false
            }
            WgmmaChange::Issued { wgmma, fenced, .. } => self.issued(event, wgmma, fenced, to),
            WgmmaChange::Abandoned(wgmma) => abandoned(event, wgmma, to),
            WgmmaChange::Committed { .. } | WgmmaChange::Waited { .. } | WgmmaChange::Ended(_) | WgmmaChange::RegisterUsed { .. } => false,
        }
    }

    fn issued(&self, event: &WgmmaEvent<'_>, wgmma: &Wgmma, fenced: bool, to: &mut Reporter<'_>) -> bool {
        let second = Side::new(event.point, event.lanes, SideAction::Use);
        let fix = "execute wgmma.fence.sync.aligned between the registers' last use and the wgmma".to_string();
        if !fenced {
            let why = "no wgmma.fence was executed before the first wgmma of the warp".to_string();
            return to.report(Finding { candidates: fenced_before(second.point.pc), ..Finding::new(WGMMA_SEQUENCE, second, why, fix) });
        }
        // The compiler of a module for debuggers moves registers after the fence, and the assembler adds one there: a note of race.wgmma.
        if to.program.is_debug {
            return false;
        }
        let (block, warp) = (event.block_id.number, event.point.warp);
        let mut slots = wgmma.accumulators.iter().chain(&wgmma.fragments);
        let Some(point) = slots.find_map(|slot| self.accessed.get(&(block, warp.number(), *slot))) else { return false };
        let why = "a register of the wgmma was touched after the last wgmma.fence of the warp".to_string();
        let first = Some(Side::new(*point, event.lanes, SideAction::Use));
        to.report(Finding { first, candidates: fenced_before(second.point.pc), ..Finding::new(WGMMA_SEQUENCE, second, why, fix) })
    }
}

fn abandoned(event: &WgmmaEvent<'_>, wgmma: &Wgmma, to: &mut Reporter<'_>) -> bool {
    let side = Side { copy: Some(wgmma.id), ..Side::new(wgmma.issued, event.lanes, SideAction::Use) };
    let why = "the warp exits while the wgmma is in flight, and no thread has waited for its result".to_string();
    let fix = "commit the group and wait for it with wgmma.wait_group 0 before the warp exits".to_string();
    let candidates = vec![vec![Remedy::WaitAll(CopyKind::Wgmma, Position::After(wgmma.issued.pc))]];
    to.report(Finding { candidates, ..Finding::new(WGMMA_SEQUENCE, side, why, fix) })
}

/// The fence that a `wgmma` needs.
fn fenced_before(wgmma: Pc) -> Vec<Candidate> {
    vec![vec![Remedy::WgmmaFence(Position::Before(wgmma))]]
}
