//! Coverage counters of a group: the executions of each instruction, and the registers that were written (`machine::coverage`).
//!
//! Coverage is counted per straight-line run, not per instruction: from the start of a group to its next jump, split or stop. Only an
//! instruction with a guard is counted separately, because it may write in some lanes only; a branch writes nothing, and ends most runs.

use crate::machine::exec::warp_run::{Flow, Group, WarpRun};
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::launch::Instrumentation;
use crate::machine::state::prepared::PreparedLaunch;
use crate::program::{ControlOp, Inst, Op, Pc};

/// The current straight-line run of a group.
pub(super) struct CoverageCounter {
    /// The first instruction that is not counted yet.
    pub start: Pc,
    /// True if the launch counts.
    pub is_enabled: bool,
}

/// The effect of the guard predicate on the counts.
#[derive(Clone, Copy)]
pub(super) enum Predication {
    /// The instruction has no guard, or coverage is not counted.
    Not,
    /// The instruction is a branch, which writes nothing; the guard holds for these lanes.
    Branch(LaneMask),
    /// The instruction is counted separately; the guard holds for these lanes.
    Alone(LaneMask),
}

impl CoverageCounter {
    /// The counter of a group that runs from `start` on.
    #[inline(always)]
    pub fn new(start: Pc, prepared: &PreparedLaunch) -> Self {
        Self { start, is_enabled: prepared.config.instrumentation != Instrumentation::Nothing }
    }

    /// Called before the group executes `inst`. If that has a guard and may write, the run ends before it.
    #[inline(always)]
    pub fn before_inst<const OBSERVED: bool>(&mut self, run: &mut WarpRun<'_, OBSERVED>, inst: &Inst, group: &Group) -> Predication {
        if !self.is_enabled || inst.guard.is_none() {
            return Predication::Not;
        }
        let active = run.active(inst, group);
        if let Op::Control(ControlOp::Branch { .. }) = inst.op {
            return Predication::Branch(active);
        }
        self.flush(run, group);
        Predication::Alone(active)
    }

    /// Called after the group has executed the instruction at its `pc`.
    #[inline(always)]
    pub fn after_inst<const OBSERVED: bool>(&mut self, run: &mut WarpRun<'_, OBSERVED>, group: &Group, guarded: Predication, flow: &Flow) {
        if !self.is_enabled {
            return;
        }
        let next = Pc(group.pc.0 + 1);
        match (guarded, flow) {
            (Predication::Not, Flow::Next) => return,
            (Predication::Not, Flow::Jump(_)) => run.count(group, self.start, next),
            (Predication::Not, Flow::Reselect | Flow::EndSlice(_)) => {
                self.flush(run, group);
                run.count_alone(group, group.mask);
            }
            (Predication::Branch(active), flow) => {
                run.count_predicated_off(group, active);
                if let Flow::Next = flow {
                    return;
                }
                run.count(group, self.start, next);
            }
            (Predication::Alone(active), _) => {
                run.count_predicated_off(group, active);
                run.count_alone(group, active);
            }
        }
        self.start = if let Flow::Jump(target) = flow { *target } else { next };
    }

    /// Counts the straight-line run up to before the group's `pc`.
    #[inline(always)]
    pub fn flush<const OBSERVED: bool>(&mut self, run: &mut WarpRun<'_, OBSERVED>, group: &Group) {
        if self.is_enabled && self.start != group.pc {
            run.count(group, self.start, group.pc);
            self.start = group.pc;
        }
    }
}

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Counts the instructions from `start` to before `end`, none of which has a guard, for the lanes of `group`.
    fn count(&mut self, group: &Group, start: Pc, end: Pc) {
        if let Some(coverage) = &mut self.coverage {
            coverage.add(start, end, group.mask);
        }
        self.warp.registers.mark_range((group.frame, group.mask), start, end);
    }

    /// Counts the instruction at the `pc` of a group that waited there for others.
    pub(super) fn count_late(&mut self, group: &Group) {
        if let Some(coverage) = &mut self.coverage {
            coverage.add(group.pc, Pc(group.pc.0 + 1), group.mask);
        }
        if let Some(writes) = &self.prepared.writes {
            self.warp.registers.mark_written(group.frame, writes.of(group.pc), group.mask);
        }
    }

    /// Counts the instruction at the `pc` of `group` for the lanes `active`, except those that wait there for others.
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

    /// Counts the lanes for which the guard of the instruction at the `pc` of `group` did not hold: all but `active`.
    #[inline(always)]
    fn count_predicated_off(&mut self, group: &Group, active: LaneMask) {
        let off = group.mask & !active;
        if !off.is_empty()
            && let Some(coverage) = &mut self.coverage
        {
            coverage.add_predicated_off(group.pc, off);
        }
    }
}
