//! Which warps run while one warp is stepped (gdb's scheduler-locking).
//!
//! Only the stepped warp does, as long as it can: whenever the scheduler would choose another, the turn (the time slice of a warp) goes
//! back to it. While it waits at a barrier, the others run as the scheduler chooses, until it wakes. When it spins on a flag, each of the
//! others in order gets a turn, until the flag changes. Each turn is an [`Input`] of the run, so that the recorded run stays the same; in
//! the recorded past no warp is held.

use super::flags::{WarpPlace, flag_address};
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

/// The stepped warp, and why others ran.
pub struct SchedulerLock {
    /// The stepped warp; none if all warps run as the scheduler says.
    pub own: Option<WarpPlace>,
    /// What it needed the others for, as far as is known.
    pub need: Need,
}

impl Session {
    /// Schedules the stepped warp if it can run; otherwise the others, until it can.
    pub(super) fn lock_scheduler(&mut self, scheduler_lock: &mut SchedulerLock, watcher: &mut Watcher) {
        let Some((block, warp)) = scheduler_lock.own else { return };
        watcher.watchpoints.retain(|watchpoint| watchpoint.number.is_some());
        let ready = self.machine().block(block).and_then(|block| block.warps.get(warp.index())).map(|warp| warp.can_run());
        watcher.held_for = scheduler_lock.own.filter(|_| ready == Some(true));
        watcher.waits_for = scheduler_lock.own.filter(|_| ready == Some(false));
        if ready == Some(true) {
            self.give_turn((block, warp), watcher);
        } else if let Some(barrier) = self.barrier_of(block, warp.number()) {
            scheduler_lock.need = Need::Barrier(barrier);
        }
    }

    /// Schedules another warp, since the stepped one spins on a flag: until the flag changes, or the turn of that warp is over.
    pub(super) fn let_others(&mut self, scheduler_lock: &mut SchedulerLock, watcher: &mut Watcher, issue: &Issue) {
        let (Some(own), Some(other)) = (scheduler_lock.own, self.next_other(scheduler_lock.own)) else { return };
        scheduler_lock.need = Need::Flag;
        watcher.spin.gave_way();
        self.gave_way_to = Some(other);
        watcher.held_for = Some(other);
        if let Some(flag) = self.flag(own, issue) {
            watcher.watchpoints.push(Watchpoint::new(None, Target::Memory(flag), WatchMode::Change, self.machine()));
        }
        self.give_turn(other, watcher);
    }

    fn give_turn(&mut self, (block, warp): WarpPlace, watcher: &mut Watcher) {
        if self.timeline.input(Input::Turn { block, warp: warp.number() }) {
            // The next instruction is not the one that was decided on.
            watcher.decided = Tick::MAX;
        }
    }

    /// The next warp that can run, after the one that was scheduled instead of the stepped one last.
    fn next_other(&self, own: Option<WarpPlace>) -> Option<WarpPlace> {
        let warps = self.machine().resident_blocks().flat_map(|block| {
            let ready = block.warps.iter().zip(0..).filter(|(warp, _)| warp.can_run());
            ready.map(|(_, number)| (block.index, WarpId::new(number)))
        });
        let others: Vec<WarpPlace> = warps.filter(|warp| Some(*warp) != own).collect();
        let last = others.iter().position(|other| Some(*other) == self.gave_way_to);
        others.get(last.map_or(0, |last| (last + 1) % others.len())).copied()
    }

    /// The flag that the lowest lane of `issue` is about to read.
    fn flag(&self, (block, warp): WarpPlace, issue: &Issue) -> Option<MemoryTarget> {
        let (address, space, bytes) = flag_address(&self.program().code[issue.place.pc.index()])?;
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
        Some(MemoryTarget { name: String::new(), space, owner, address, bytes, ty: ScalarType::B8 })
    }

    fn address_value(&self, issue: &Issue, source: Src, wide: bool) -> Option<u64> {
        let program = self.program();
        let registers = &self.machine().block(issue.place.block)?.warps.get(issue.place.warp.index())?.registers;
        let lane = issue.active.first();
        match (source.kind(), wide) {
            (SrcKind::Reg(slot), true) => Some(registers.b64.get(slot.in_frame(issue.frame.b64).index())?[lane]),
            (SrcKind::Reg(slot), false) => Some(u64::from(registers.b32.get(slot.in_frame(issue.frame.b32).index())?[lane])),
            (SrcKind::Const(index), true) => program.consts64.get(index as usize).copied(),
            (SrcKind::Const(index), false) => program.consts32.get(index as usize).map(|value| u64::from(*value)),
            (SrcKind::Special(_), _) => None,
        }
    }

    /// The barrier that a group of the warp waits at.
    fn barrier_of(&self, block: [u32; 3], warp: u32) -> Option<u32> {
        let warp = self.machine().block(block)?.warps.get(warp as usize)?;
        warp.groups.iter().find_map(|group| match group.state {
            GroupState::AtBarrier { id, .. } => Some(id),
            _ => None,
        })
    }
}
