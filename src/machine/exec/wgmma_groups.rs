//! The groups of asynchronous matrix multiplications and the waits for them (PTX ISA, "wgmma.commit_group", "wgmma.wait_group").
//!
//! A group is the warpgroup's: the n-th commits of its four warps make one group, and a wait of any of the warps is over when the parts of
//! all four have ended. So a warp that runs ahead waits until the others have committed the group too.

use triomphe::Arc;

use crate::machine::event::{Event, EventKind, WgmmaChange, WgmmaEvent};
use crate::machine::exec::warp_run::{Flow, Group, WarpRun};
use crate::machine::in_flight::policy::WhenAwaited;
use crate::machine::in_flight::wgmma;
use crate::machine::in_flight::wgmma::compute::Sources;
use crate::machine::state::in_flight::queue::WaitOf;
use crate::machine::state::issue_point::BlockId;
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::trap::{Trap, TrapKind};
use crate::machine::state::warp::{GroupState, Warp};
use crate::program::{Op, Program, WarpgroupOp};

/// How many groups must be committed before the warp continues, if it waits for others of its warpgroup to commit them.
pub fn wanted_groups(program: &Program, warp: &Warp) -> Option<u32> {
    let waiting = warp.groups.iter().find(|group| group.state == GroupState::AtWarpgroup)?;
    let Op::Wgmma(WarpgroupOp::Wait { pending }) = program.code[waiting.pc.index()].op else { return None };
    Some(warp.wgmmas.committed().saturating_sub(pending))
}

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// `wgmma.commit_group`.
    pub(super) fn commit_wgmmas(&mut self) {
        let group = self.warp.wgmmas.commit();
        self.report_wgmma(WgmmaChange::Committed { group });
        self.wake_warpgroup(group + 1);
    }

    /// The warp has committed `committed` groups, or has exited: wakes the warps of its warpgroup that waited for that.
    fn wake_warpgroup(&mut self, committed: u32) {
        let program = self.program;
        let all = committed.min(self.neighbours.committed());
        for number in self.neighbours.warpgroup() {
            let Some(warp) = self.neighbours.warp_mut(number) else { continue };
            if wanted_groups(program, warp).is_some_and(|wanted| wanted <= all) {
                let groups = &mut Arc::make_mut(warp).groups;
                groups.iter_mut().filter(|group| group.state == GroupState::AtWarpgroup).for_each(|group| group.state = GroupState::Ready);
                self.effects += 1;
            }
        }
    }

    /// `wgmma.wait_group`.
    pub(super) fn wait_for_wgmmas(&mut self, pending: u32, group: &Group) -> Flow {
        let done = self.warp.wgmmas.committed().saturating_sub(pending);
        if self.warp.wgmmas.unwaited().next().is_some_and(|wgmma| wgmma.group < done) {
            if self.neighbours.committed() < done {
                return self.wait_here(GroupState::AtWarpgroup, group, LaneMask::ALL);
            }
            if self.completion.when_awaited() == WhenAwaited::WaitsForUser && self.warpgroup_awaits(done) {
                return self.wait_here(GroupState::AtWgmmas, group, LaneMask::ALL);
            }
            self.end_groups(done);
        }
        assert!(
            self.neighbours.committed() >= done || self.warp.wgmmas.unwaited().next().is_none_or(|first| first.group >= done),
            "a wait ends early"
        );
        assert!(!self.awaits(self.place.warp.number(), done), "a multiplication is waited for that has not ended");
        self.warp.wgmmas.waited(done, &mut self.warp.registers);
        self.report_wgmma(WgmmaChange::Waited { done });
        Flow::Next
    }

    /// Whether something of a group below `done` of a warp of the block is in flight.
    fn awaits(&self, warp: u32, done: u32) -> bool {
        self.in_flight.wgmmas_of(self.number, warp).next().is_some_and(|wgmma| wgmma.group < done)
    }

    /// Whether a warp of the warpgroup has something of a group below `done` in flight.
    fn warpgroup_awaits(&self, done: u32) -> bool {
        self.awaits(self.place.warp.number(), done) || self.neighbours.warpgroup().any(|warp| self.awaits(warp, done))
    }

    /// Ends what the warps of the warpgroup have in flight of groups below `done`.
    fn end_groups(&mut self, done: u32) {
        while self.awaits(self.place.warp.number(), done) {
            self.end_next_wgmma();
        }
        for number in self.neighbours.warpgroup() {
            while self.awaits(number, done) {
                self.end_next_of(number);
            }
        }
    }

    /// Ends the next one that another warp of the warpgroup has in flight.
    fn end_next_of(&mut self, number: u32) {
        let sources = Sources { program: self.program, prepared: self.prepared, immediates: self.immediates, shared: &self.shared.pages };
        let by = BlockId { number: self.number, block_slot: self.block_slot };
        let Some(warp) = self.neighbours.warp_mut(number).map(Arc::make_mut) else { return };
        let Some(ended) = wgmma::end_next(self.in_flight, (self.number, number), warp, &sources, WaitOf::Another) else { return };
        self.effects += 1;
        if OBSERVED && self.wants.has(EventKind::Wgmma) {
            let (place, change) = (ended.issued, WgmmaChange::Ended(&ended));
            let event = WgmmaEvent { place, by, lanes: warp.live, change, tick: self.place.tick };
            self.paused |= self.observer.event(&Event::Wgmma(event));
        }
    }

    /// Ends the next one that the warp has in flight.
    pub(super) fn end_next_wgmma(&mut self) {
        let sources = Sources { program: self.program, prepared: self.prepared, immediates: self.immediates, shared: &self.shared.pages };
        let own = (self.number, self.place.warp.number());
        if let Some(wgmma) = wgmma::end_next(self.in_flight, own, self.warp, &sources, WaitOf::Own) {
            self.effects += 1;
            self.report_wgmma(WgmmaChange::Ended(&wgmma));
        }
    }

    /// All lanes of the warp exit: what it has in flight is lost.
    pub(super) fn abandon_wgmmas(&mut self) -> Result<(), Box<Trap>> {
        self.warpgroups.exit(self.place.warp.number()).map_err(|(other, turn)| {
            let place = self.program.place(turn.pc);
            let message = format!("this warp exits without the wgmma at {place}, which warp {other} of its warpgroup has executed");
            self.trap(TrapKind::WgmmaSequence, self.warp.live, &message)
        })?;
        let in_flight: Vec<_> = self.in_flight.wgmmas_of(self.number, self.place.warp.number()).cloned().collect();
        in_flight.iter().for_each(|wgmma| self.in_flight.remove_wgmma(wgmma));
        for wgmma in self.warp.wgmmas.abandon() {
            self.report_wgmma(WgmmaChange::Abandoned(&wgmma));
        }
        self.wake_warpgroup(u32::MAX);
        Ok(())
    }
}
