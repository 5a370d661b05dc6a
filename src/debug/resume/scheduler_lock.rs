//! Scheduling while one warp is stepped (gdb's scheduler-locking).
//!
//! Only the stepped warp runs, as long as it can: whenever the scheduler would choose another warp, the stepped warp gets the time slice.
//! While it waits at a barrier, the others run as the scheduler chooses, until it wakes. When it spins on a flag, each of the others in
//! order gets a time slice, until the flag changes. Each of these time slices is an [`Input`] of the run, so that a replay is the same; in
//! the recorded past the scheduler is not locked.

use super::flags::{WarpKey, flag_address};
use super::watcher::Watcher;
use super::watchpoint::Watchpoint;
use crate::base::WarpId;
use crate::debug::breakpoints::WatchMode;
use crate::debug::focus::Focus;
use crate::debug::session::Session;
use crate::debug::stop::Need;
use crate::debug::target::{MemoryTarget, Target};
use crate::debug::timeline::Input;
use crate::isa::{ScalarType, Space};
use crate::machine::{GroupState, Issue, Tick};
use crate::program::{Base, Src, SrcKind};

/// The stepped warp, and the reason that other warps ran.
pub struct SchedulerLock {
    /// The stepped warp; none if all warps run as the scheduler chooses.
    pub stepped: Option<WarpKey>,
    /// The reason that it needed the others, if known.
    pub need: Need,
}

impl Session {
    /// Schedules the stepped warp if it can run; otherwise lets the others run until it can.
    pub(super) fn lock_scheduler(&mut self, scheduler_lock: &mut SchedulerLock, watcher: &mut Watcher) {
        let Some((block, warp)) = scheduler_lock.stepped else { return };
        watcher.watchpoints.retain(|watchpoint| watchpoint.number.is_some());
        let ready = self.machine().block(block).and_then(|block| block.warps.get(warp.index())).map(|warp| warp.can_run());
        watcher.locked_warp = scheduler_lock.stepped.filter(|_| ready == Some(true));
        watcher.blocked_warp = scheduler_lock.stepped.filter(|_| ready == Some(false));
        if ready == Some(true) {
            self.schedule((block, warp), watcher);
        } else if let Some(barrier) = self.barrier_of(block, warp.number()) {
            scheduler_lock.need = Need::Barrier(barrier);
        }
    }

    /// Schedules another warp because the stepped one spins on a flag: until the flag changes, or its time slice ends.
    pub(super) fn schedule_other(&mut self, scheduler_lock: &mut SchedulerLock, watcher: &mut Watcher, issue: &Issue) {
        let (Some(stepped), Some(other)) = (scheduler_lock.stepped, self.next_other(scheduler_lock.stepped)) else { return };
        scheduler_lock.need = Need::Flag;
        watcher.spin.yielded();
        self.yielded_to = Some(other);
        watcher.locked_warp = Some(other);
        if let Some(flag) = self.flag(stepped, issue) {
            watcher.watchpoints.push(Watchpoint::new(None, Target::Memory(flag), WatchMode::Change, self.machine()));
        }
        self.schedule(other, watcher);
    }

    fn schedule(&mut self, (block, warp): WarpKey, watcher: &mut Watcher) {
        if self.timeline.input(Input::Turn { block, warp: warp.number() }) {
            // The next instruction is not the one that was already decided on.
            watcher.decided = Tick::MAX;
        }
    }

    /// The next warp that can run, in order after the one that was last scheduled instead of the stepped warp.
    fn next_other(&self, stepped: Option<WarpKey>) -> Option<WarpKey> {
        let warps = self.machine().resident_blocks().flat_map(|block| {
            let ready = block.warps.iter().zip(0..).filter(|(warp, _)| warp.can_run());
            ready.map(|(_, number)| (block.index, WarpId::new(number)))
        });
        let others: Vec<WarpKey> = warps.filter(|warp| Some(*warp) != stepped).collect();
        let last = others.iter().position(|other| Some(*other) == self.yielded_to);
        others.get(last.map_or(0, |last| (last + 1) % others.len())).copied()
    }

    /// The flag that the lowest lane of `issue` is about to read.
    fn flag(&self, (block, warp): WarpKey, issue: &Issue) -> Option<MemoryTarget> {
        let (address, space, bytes) = flag_address(&self.program().code[issue.point.pc.index()])?;
        let lane = issue.active.first();
        let base = match address.base {
            Base::Wide(source) => self.address_value(issue, source, true)?,
            Base::Narrow(source) => self.address_value(issue, source, false)?,
            Base::Frame => u64::from(issue.frame.local),
        };
        let generic = base.wrapping_add(i64::from(address.offset) as u64);
        let (space, window) = if space == Space::Generic { self.program().map.window_of(generic) } else { (space, 0) };
        let owner = Focus { block, warp: warp.number(), lane: lane as u32, frame: 0 };
        let (address, bytes) = (generic.wrapping_sub(window), u64::from(bytes));
        Some(MemoryTarget { name: String::new(), space, owner, address, bytes, ty: ScalarType::B8, field: None, frame: None })
    }

    fn address_value(&self, issue: &Issue, source: Src, wide: bool) -> Option<u64> {
        let program = self.program();
        let registers = &self.machine().block(issue.point.block)?.warps.get(issue.point.warp.index())?.registers;
        let lane = issue.active.first();
        match (source.kind(), wide) {
            (SrcKind::Reg(slot), true) => Some(registers.b64.get(slot.in_frame(issue.frame.b64).index())?[lane]),
            (SrcKind::Reg(slot), false) => Some(u64::from(registers.b32.get(slot.in_frame(issue.frame.b32).index())?[lane])),
            (SrcKind::Const(index), true) => program.consts64.get(index as usize).copied(),
            (SrcKind::Const(index), false) => program.consts32.get(index as usize).map(|value| u64::from(*value)),
            (SrcKind::Special(_), _) => None,
        }
    }

    /// The barrier that converged lanes of the warp wait at.
    fn barrier_of(&self, block: [u32; 3], warp: u32) -> Option<u32> {
        let warp = self.machine().block(block)?.warps.get(warp as usize)?;
        warp.groups.iter().find_map(|group| match group.state {
            GroupState::AtBarrier { id, .. } => Some(id),
            _ => None,
        })
    }
}
