//! `wgmma.mma_async` (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"): until a wait for its group it reads shared memory
//! through the async proxy, and its registers belong to it.
//!
//! The group is the warpgroup's, so a wait of one warp is the end of what all four read. The registers of a warp belong to the `wgmma`
//! until that warp has waited.

use super::access::Access;
use super::lane_addresses::LaneAddresses;
use super::{Race, ShadowMemory, actor, operation};
use crate::check::finding::{Finding, Link, Pair, Side, SideAction};
use crate::check::race::catalogue::RACE_WGMMA;
use crate::check::remedy::{CopyKind, Position, Remedy};
use crate::check::reporter::Reporter;
use crate::machine::{Proxy, Wgmma, WgmmaChange, WgmmaEvent};
use crate::order::{Agent, AsyncKind};

impl Race {
    /// A `wgmma` is fenced, issued, committed, waited for or ends, or an instruction uses one of its registers.
    pub(super) fn wgmma(&mut self, event: &WgmmaEvent<'_>, to: &mut Reporter<'_>) -> bool {
        self.enter(event.block_id);
        self.record(event.block_id.block_slot);
        let actor = actor(event.block_id, &event.place, event.lanes);
        match event.change {
            WgmmaChange::Issued { wgmma, .. } => return self.issue_wgmma(event, wgmma, to),
            WgmmaChange::Touched { wgmma: Some(wgmma), .. } => return self.touch_register(event, wgmma, to),
            WgmmaChange::Committed { group } => self.order.commit_wgmma(actor, group),
            WgmmaChange::Waited { done } => self.order.wait_wgmma(actor, done),
            WgmmaChange::Fenced | WgmmaChange::Ended(_) | WgmmaChange::Abandoned(_) | WgmmaChange::Touched { .. } => {}
        }
        false
    }

    fn issue_wgmma(&mut self, event: &WgmmaEvent<'_>, wgmma: &Wgmma, to: &mut Reporter<'_>) -> bool {
        let block_slot = event.block_id.block_slot;
        assert!(wgmma.reads().all(|(start, end)| start < end), "wgmma #{} reads some bytes", wgmma.id);
        let access = Access {
            op: operation(event.block_id, &event.place, event.lanes, (Agent::Async(AsyncKind::Wgmma), SideAction::Read)),
            pc: event.place.pc,
            action: SideAction::Read,
            is_mbarrier: false,
            strong: None,
            is_relaxed: false,
            proxy: Proxy::Async,
            bytes: wgmma.reads().map(|(start, end)| end - start).sum(),
            element: 0,
            lane_addresses: LaneAddresses::All,
            copy: wgmma.id,
        };
        let owner = ShadowMemory::Block(block_slot);
        self.with_detector(owner, block_slot, access, |detector, shadow| {
            wgmma.reads().for_each(|(start, end)| detector.range(shadow, u64::from(start), u64::from(end - start)));
        });
        self.report(owner, block_slot, &access, to)
    }

    /// An instruction uses a register of a `wgmma` in flight.
    fn touch_register(&self, event: &WgmmaEvent<'_>, wgmma: &Wgmma, to: &mut Reporter<'_>) -> bool {
        let side = |place, copy| Side { place, lanes: event.lanes, action: SideAction::Use, bytes: 0, copy };
        let (first, second) = (side(wgmma.issued, Some(wgmma.id)), side(event.place, None));
        if to.findings.repeats(Pair::new(RACE_WGMMA, to.launch, Some(&first), &second)) {
            return false;
        }
        let link = |place, text: &str| Link { place, text: text.to_string() };
        let why = "the register belongs to a wgmma that is in flight until its warp waits for its group".to_string();
        let fix = "commit the group and wait with wgmma.wait_group before the register is used".to_string();
        to.report(Finding {
            first: Some(first),
            chain: vec![
                link(Some(wgmma.issued), "the wgmma is issued, and its registers are its own from here on"),
                link(None, "no wgmma.wait_group that covers its group lies between"),
                link(Some(event.place), "a register of it is used"),
            ],
            candidates: vec![vec![Remedy::WaitAll(CopyKind::Wgmma, Position::Before(event.place.pc))]],
            ..Finding::new(RACE_WGMMA, second, why, fix)
        })
    }
}
