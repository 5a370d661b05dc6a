//! Keeping account of what a group runs: how often, and which registers were written (`machine::coverage`).
//!
//! A group runs straight on most of the time, so its way is counted by stretches, not by instructions: from where it came to where it
//! jumps, splits or has to stop. Only an instruction with a guard is counted alone, because it may write for some lanes only; a branch
//! writes nothing, and is the end of most stretches.

use crate::machine::exec::warp_run::{Flow, Group, WarpRun};
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::launch::Instrumentation;
use crate::machine::state::prepared::PreparedLaunch;
use crate::program::{ControlOp, Inst, Op, Pc};

/// The stretch that a group is running, if the launch keeps account.
pub(super) struct CoverageCounter {
    /// The first instruction that is not counted yet.
    start: Pc,
    kept: bool,
}

/// How an instruction's guard bears on the account.
#[derive(Clone, Copy)]
pub(super) enum Predication {
    /// It has none, or no account is kept.
    Not,
    /// It is a branch, which writes nothing; the guard holds for these lanes.
    Branch(LaneMask),
    /// It is counted alone; the guard holds for these lanes.
    Alone(LaneMask),
}

impl CoverageCounter {
    /// A group is about to run from `start` on.
    #[inline(always)]
    pub fn new(start: Pc, prepared: &PreparedLaunch) -> Self {
        Self { start, kept: prepared.config.instrumentation != Instrumentation::Nothing }
    }

    /// The group comes to `inst`. If that has a guard and may write, the stretch ends before it.
    #[inline(always)]
    pub fn count_barriers<const OBSERVED: bool>(&mut self, run: &mut WarpRun<'_, OBSERVED>, inst: &Inst, group: &Group) -> Predication {
        if !self.kept || inst.guard.is_none() {
            return Predication::Not;
        }
        let active = run.active(inst, group);
        if let Op::Control(ControlOp::Branch { .. }) = inst.op {
            return Predication::Branch(active);
        }
        self.end(run, group);
        Predication::Alone(active)
    }

    /// The group has executed the instruction at its `pc`.
    #[inline(always)]
    pub fn pass<const OBSERVED: bool>(&mut self, run: &mut WarpRun<'_, OBSERVED>, group: &Group, guarded: Predication, flow: &Flow) {
        if !self.kept {
            return;
        }
        let next = Pc(group.pc.0 + 1);
        match (guarded, flow) {
            (Predication::Not, Flow::Next) => return,
            (Predication::Not, Flow::Jump(_)) => run.count(group, self.start, next),
            (Predication::Not, Flow::Reselect | Flow::Pause(_)) => {
                self.end(run, group);
                run.count_alone(group, group.mask);
            }
            (Predication::Branch(active), flow) => {
                run.refuse(group, active);
                if let Flow::Next = flow {
                    return;
                }
                run.count(group, self.start, next);
            }
            (Predication::Alone(active), _) => {
                run.refuse(group, active);
                run.count_alone(group, active);
            }
        }
        self.start = if let Flow::Jump(target) = flow { *target } else { next };
    }

    /// The stretch ends before the group's `pc`.
    #[inline(always)]
    pub fn end<const OBSERVED: bool>(&mut self, run: &mut WarpRun<'_, OBSERVED>, group: &Group) {
        if self.kept && self.start != group.pc {
            run.count(group, self.start, group.pc);
            self.start = group.pc;
        }
    }
}

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// The lanes of `group` have executed the instructions from `start` to before `end`, none of which has a guard.
    fn count(&mut self, group: &Group, start: Pc, end: Pc) {
        if let Some(coverage) = &mut self.coverage {
            coverage.add(start, end, group.mask);
        }
        if let Some(writes) = &self.prepared.writes {
            self.warp.registers.mark_stretch(writes, (group.frame, group.mask), start, end);
        }
    }

    /// A group that waited at its `pc` for others has executed the instruction there with them.
    pub(super) fn count_late(&mut self, group: &Group) {
        if let Some(coverage) = &mut self.coverage {
            coverage.add(group.pc, Pc(group.pc.0 + 1), group.mask);
        }
        if let Some(writes) = &self.prepared.writes {
            self.warp.registers.mark_written(group.frame, writes.of(group.pc), group.mask);
        }
    }

    /// The lanes `active` of `group` have executed the instruction at its `pc`, but for those that wait there for others.
    fn count_alone(&mut self, group: &Group, active: LaneMask) {
        debug_assert!(group.mask.contains_all(self.waiting), "lanes wait that do not run");
        let waiting = std::mem::take(&mut self.waiting);
        if let Some(coverage) = &mut self.coverage {
            coverage.add(group.pc, Pc(group.pc.0 + 1), group.mask & !waiting);
        }
        if let Some(writes) = &self.prepared.writes {
            self.warp.registers.mark_written(group.frame, writes.of(group.pc), active & !waiting);
        }
    }

    /// The guard of the instruction at the `pc` of `group` held for `active` only.
    #[inline(always)]
    fn refuse(&mut self, group: &Group, active: LaneMask) {
        let refused = group.mask & !active;
        if !refused.is_empty()
            && let Some(coverage) = &mut self.coverage
        {
            coverage.add_predicated_off(group.pc, refused);
        }
    }
}
