//! Keeping account of what a group runs: how often, and which registers were written (`machine::coverage`).
//!
//! A group runs straight on most of the time, so its way is counted by stretches, not by instructions: from where it came to where it
//! jumps, splits or has to stop. Only an instruction with a guard is counted alone, because it may write for some lanes only.

use super::{Flow, Group, WarpRun};
use crate::machine::event::Observer;
use crate::machine::lanes::LaneMask;
use crate::machine::{Account, Linked};
use crate::program::{Inst, Pc};

/// The stretch that a group is running, if the launch keeps account.
pub(super) struct Course {
    /// The first instruction that is not counted yet.
    start: Pc,
    kept: bool,
}

impl Course {
    /// A group is about to run from `start` on.
    #[inline(always)]
    pub fn new(start: Pc, linked: &Linked) -> Self {
        Self { start, kept: linked.config.account != Account::Nothing }
    }

    /// The group comes to `inst`. If that has a guard, the stretch ends before it, and the lanes for which the guard holds are given.
    #[inline(always)]
    pub fn meet<O: Observer>(&mut self, run: &mut WarpRun<'_, O>, inst: &Inst, group: &Group) -> Option<LaneMask> {
        if !self.kept || inst.guard.is_none() {
            return None;
        }
        self.end(run, group);
        Some(run.active(inst, group))
    }

    /// The group has executed the instruction at its `pc`: for the lanes `guarded` alone, if given.
    #[inline(always)]
    pub fn pass<O: Observer>(&mut self, run: &mut WarpRun<'_, O>, group: &Group, guarded: Option<LaneMask>, flow: &Flow) {
        if !self.kept {
            return;
        }
        let next = Pc(group.pc.0 + 1);
        match (guarded, flow) {
            (None, Flow::Next) => return,
            (None, Flow::Jump(_)) => run.count(group, self.start, next),
            (None, Flow::Reselect | Flow::Pause(_)) => {
                self.end(run, group);
                run.count_alone(group, group.mask, flow);
            }
            (Some(active), _) => run.count_alone(group, active, flow),
        }
        self.start = if let Flow::Jump(target) = flow { *target } else { next };
    }

    /// The stretch ends before the group's `pc`.
    #[inline(always)]
    pub fn end<O: Observer>(&mut self, run: &mut WarpRun<'_, O>, group: &Group) {
        if self.kept && self.start != group.pc {
            run.count(group, self.start, group.pc);
            self.start = group.pc;
        }
    }
}

impl<O: Observer> WarpRun<'_, O> {
    /// The lanes of `group` have executed the instructions from `start` to before `end`, none of which has a guard.
    fn count(&mut self, group: &Group, start: Pc, end: Pc) {
        if let Some(coverage) = &mut self.coverage {
            coverage.add(start, end, group.mask);
        }
        if let Some(writes) = &self.linked.writes {
            self.warp.registers.mark_stretch(writes, (group.frame, group.mask), start, end);
        }
    }

    /// The lanes `active` of `group` have executed the instruction at its `pc`, or wait there for others.
    fn count_alone(&mut self, group: &Group, active: LaneMask, flow: &Flow) {
        let waiting = if matches!(flow, Flow::Reselect) { self.warp.waiting_at(group.pc) } else { 0 };
        if let Some(coverage) = &mut self.coverage {
            coverage.add(group.pc, Pc(group.pc.0 + 1), group.mask & !waiting);
            coverage.add_refused(group.pc, group.mask & !active);
        }
        if let Some(writes) = &self.linked.writes {
            self.warp.registers.mark_written(group.frame, writes.of(group.pc), active & !waiting);
        }
    }
}
