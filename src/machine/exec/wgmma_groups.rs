//! wgmma-groups, the groups of asynchronous matrix multiplications, and the waits for them (PTX ISA, "wgmma.commit_group",
//! "wgmma.wait_group"). Not to be confused with a [`Group`] of converged lanes of a warp.
//!
//! The n-th commits of the four warps of a warpgroup form one wgmma-group, and a wait of any of the warps ends when the multiplications of
//! all four have completed. So a warp also waits until the other three have committed the wgmma-group.

use triomphe::Arc;

use crate::machine::event::{Event, WgmmaChange, WgmmaEvent};
use crate::machine::event_kind::EventKind;
use crate::machine::exec::warp_run::{Flow, Group, WarpRun};
use crate::machine::in_flight::policy::WhenAwaited;
use crate::machine::in_flight::wgmma;
use crate::machine::in_flight::wgmma::compute::WgmmaSources;
use crate::machine::state::in_flight::queue::WaitingWarp;
use crate::machine::state::issue_point::BlockId;
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::trap::{Trap, TrapKind};
use crate::machine::state::warp::{GroupState, Warp};
use crate::program::{Op, Program, WarpgroupOp};

/// The number of wgmma-groups that other warps of the warpgroup must commit before this warp continues, if it waits for that.
pub fn awaited_groups(program: &Program, warp: &Warp) -> Option<u32> {
    let waiting = warp.groups.iter().find(|group| group.state == GroupState::AtWarpgroup)?;
    let Op::Wgmma(WarpgroupOp::Wait { pending }) = program.code[waiting.pc.index()].op else { return None };
    Some(warp.wgmmas.committed().saturating_sub(pending))
}

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// `wgmma.commit_group`.
    pub(super) fn commit_wgmmas(&mut self) {
        let committed = self.warp.wgmmas.commit();
        self.report_wgmma(WgmmaChange::Committed { group: committed });
        self.wake_warpgroup(committed + 1);
    }

    /// Wakes the warps of the warpgroup that wait for this warp to commit wgmma-groups: it has committed `committed` or has exited.
    fn wake_warpgroup(&mut self, committed: u32) {
        let program = self.program;
        let all = committed.min(self.other_warps.committed());
        for number in self.other_warps.warpgroup() {
            let Some(warp) = self.other_warps.warp_mut(number) else { continue };
            if awaited_groups(program, warp).is_some_and(|awaited| awaited <= all) {
                let groups = &mut Arc::make_mut(warp).groups;
                groups.iter_mut().filter(|group| group.state == GroupState::AtWarpgroup).for_each(|group| group.state = GroupState::Ready);
                self.progress += 1;
            }
        }
    }

    /// `wgmma.wait_group`.
    pub(super) fn wait_for_wgmmas(&mut self, pending: u32, group: &Group) -> Flow {
        let done = self.warp.wgmmas.committed().saturating_sub(pending);
        if self.warp.wgmmas.unwaited().next().is_some_and(|wgmma| wgmma.group < done) {
            if self.other_warps.committed() < done {
                return self.wait_here(GroupState::AtWarpgroup, group, LaneMask::ALL);
            }
            if self.completion.when_awaited() == WhenAwaited::WaitsForUser && self.warpgroup_has_in_flight(done) {
                return self.wait_here(GroupState::AtWgmmas, group, LaneMask::ALL);
            }
            self.complete_groups(done);
        }
        assert!(
            self.other_warps.committed() >= done || self.warp.wgmmas.unwaited().next().is_none_or(|first| first.group >= done),
            "a wait ends early"
        );
        assert!(!self.has_in_flight(self.point.warp.number(), done), "a multiplication is waited for that has not ended");
        self.warp.wgmmas.waited(done, &mut self.warp.registers);
        self.report_wgmma(WgmmaChange::Waited { done });
        Flow::Next
    }

    /// True if a multiplication of a wgmma-group below `done` of a warp of the block is in flight.
    fn has_in_flight(&self, warp: u32, done: u32) -> bool {
        self.in_flight.wgmmas_of(self.number, warp).next().is_some_and(|wgmma| wgmma.group < done)
    }

    /// True if a warp of the warpgroup has a multiplication of a wgmma-group below `done` in flight.
    fn warpgroup_has_in_flight(&self, done: u32) -> bool {
        self.has_in_flight(self.point.warp.number(), done) || self.other_warps.warpgroup().any(|warp| self.has_in_flight(warp, done))
    }

    /// Completes the multiplications in flight of wgmma-groups below `done`, of all warps of the warpgroup.
    fn complete_groups(&mut self, done: u32) {
        while self.has_in_flight(self.point.warp.number(), done) {
            self.complete_next_wgmma();
        }
        for number in self.other_warps.warpgroup() {
            while self.has_in_flight(number, done) {
                self.complete_next_of(number);
            }
        }
    }

    /// Completes the next multiplication that another warp of the warpgroup has in flight.
    fn complete_next_of(&mut self, number: u32) {
        let sources =
            WgmmaSources { program: self.program, prepared: self.prepared, immediates: self.immediates, shared: &self.shared.pages };
        let block_id = BlockId { number: self.number, block_slot: self.block_slot };
        let Some(warp) = self.other_warps.warp_mut(number).map(Arc::make_mut) else { return };
        let Some(ended) = wgmma::end_next(self.in_flight, (self.number, number), warp, &sources, WaitingWarp::Other) else { return };
        self.progress += 1;
        if OBSERVED && self.wants.has(EventKind::Wgmma) {
            let (point, change) = (ended.issued, WgmmaChange::Ended(&ended));
            let event = WgmmaEvent { point, block_id, lanes: warp.live, change, tick: self.point.tick };
            self.paused |= self.observer.event(&Event::Wgmma(event));
        }
    }

    /// Completes the next multiplication that the warp has in flight.
    pub(super) fn complete_next_wgmma(&mut self) {
        let sources =
            WgmmaSources { program: self.program, prepared: self.prepared, immediates: self.immediates, shared: &self.shared.pages };
        let own = (self.number, self.point.warp.number());
        if let Some(wgmma) = wgmma::end_next(self.in_flight, own, self.warp, &sources, WaitingWarp::Own) {
            self.progress += 1;
            self.report_wgmma(WgmmaChange::Ended(&wgmma));
        }
    }

    /// Abandons the multiplications in flight of the warp, since all its lanes exit.
    pub(super) fn abandon_wgmmas(&mut self) -> Result<(), Box<Trap>> {
        self.warpgroups.exit(self.point.warp.number()).map_err(|(other, step)| {
            let place = self.program.place(step.pc);
            let message = format!("this warp exits without the wgmma at {place}, which warp {other} of its warpgroup has executed");
            self.trap(TrapKind::WgmmaSequence, self.warp.live, &message)
        })?;
        let in_flight: Vec<_> = self.in_flight.wgmmas_of(self.number, self.point.warp.number()).cloned().collect();
        in_flight.iter().for_each(|wgmma| self.in_flight.remove_wgmma(wgmma));
        for wgmma in self.warp.wgmmas.abandon() {
            self.report_wgmma(WgmmaChange::Abandoned(&wgmma));
        }
        self.wake_warpgroup(u32::MAX);
        Ok(())
    }
}
