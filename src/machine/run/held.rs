//! Schedules beside turns in order and at random: by priorities, and with a warp that is held.

use crate::machine::state::issue_point::Tick;
use crate::machine::state::launch::Hold;
use crate::machine::state::machine::Machine;
use crate::machine::state::priority::{Rank, WarpKey};

/// Ticks of the turn of a warp where the schedule goes by priorities: after that another one may have become ready that comes first.
const PRIORITY_TURN: u64 = 32;

impl Machine {
    /// Holds a warp of the block of number `block` from now on; returns whether it is on the machine.
    pub fn hold(&mut self, block: u64, warp: u32) -> bool {
        self.cursor.hold = Some(Hold { block, warp, from: self.tick(), until: Tick::MAX });
        self.resident_blocks().any(|resident| resident.number == block && (warp as usize) < resident.warps.len())
    }

    /// Lets the warp run again that is held.
    pub fn end_hold(&mut self) {
        if self.cursor.hold.take().is_some() {
            self.restart_detection();
        }
    }

    /// Whether a warp is held that [`Self::hold`] or the schedule named.
    pub fn is_holding(&self) -> bool {
        self.cursor.hold.is_some_and(|hold| hold.from <= self.tick() && self.tick() < hold.until)
    }

    /// Whether a warp may not run now.
    pub(in crate::machine) fn is_held(&self, block: u64, warp: usize) -> bool {
        let is_it = |hold: Hold| (hold.block, hold.warp as usize) == (block, warp);
        self.is_holding() && self.cursor.hold.is_some_and(is_it)
    }

    /// No other warp can make progress: the one that is held may run. False if there is none.
    pub(in crate::machine) fn gives_up_hold(&mut self) -> bool {
        let gives_up = self.is_holding();
        if gives_up {
            self.end_hold();
        }
        gives_up
    }

    /// The time up to which the turn that begins now may last at most, if the schedule sets one.
    pub(in crate::machine) fn turn_end(&self) -> Tick {
        let held = self.cursor.hold.map_or(Tick::MAX, |hold| if self.tick() < hold.from { hold.from } else { Tick::MAX });
        held.min(self.next_switch().map_or(Tick::MAX, |switch| switch.at))
    }

    /// Gives the turn to the warp with the highest priority; false if none can run.
    pub(in crate::machine) fn select_by_priority(&mut self) -> bool {
        let (now, progress, ran) = (self.tick(), self.progress, self.ran_last());
        let Some(mut priorities) = self.cursor.priorities.take() else { return false };
        if let Some(ran) = ran {
            priorities.end_turn(ran, now, progress);
        }
        let mut best: Option<(Rank, usize, usize)> = None;
        for (block_slot, block) in self.blocks.iter().enumerate() {
            let Some(block) = block else { continue };
            for warp in (0..block.warps.len()).filter(|warp| self.can_run(block_slot, *warp)) {
                let rank = priorities.rank((block.number, warp as u32));
                if best.is_none_or(|(known, ..)| rank > known) {
                    best = Some((rank, block_slot, warp));
                }
            }
        }
        let left = priorities.next().map_or(PRIORITY_TURN, |next| next.saturating_since(now).clamp(1, PRIORITY_TURN));
        self.cursor.priorities = Some(priorities);
        let Some((_, block_slot, warp)) = best else { return false };
        self.begin_turn(block_slot, warp, left as u32);
        true
    }

    /// The warp that had the last turn; none if its block has finished.
    fn ran_last(&self) -> Option<WarpKey> {
        let block = self.blocks.get(self.cursor.block_slot)?.as_ref()?;
        Some((block.number, self.cursor.warp as u32))
    }
}
