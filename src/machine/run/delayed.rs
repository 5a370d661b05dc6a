//! The priority schedule, and schedules that delay a warp.

use crate::machine::state::issue_point::Tick;
use crate::machine::state::launch::Delay;
use crate::machine::state::machine::Machine;
use crate::machine::state::priority::{Rank, WarpKey};

/// Ticks of a time slice under the priority schedule: after that, a warp with a higher priority may be ready.
const PRIORITY_SLICE: u64 = 32;

impl Machine {
    /// Delays a warp of block `block` from now on. True if its block is resident.
    pub fn delay_warp(&mut self, block: u64, warp: u32) -> bool {
        self.cursor.delay = Some(Delay { block, warp, from: self.tick(), until: Tick::MAX });
        self.resident_blocks().any(|resident| resident.number == block && (warp as usize) < resident.warps.len())
    }

    /// Ends the delay of a warp.
    pub fn end_delay(&mut self) {
        if self.cursor.delay.take().is_some() {
            self.restart_detection();
        }
    }

    /// True if a warp is delayed now, by [`Self::delay_warp`] or the schedule.
    pub fn is_delaying(&self) -> bool {
        self.cursor.delay.is_some_and(|delay| delay.from <= self.tick() && self.tick() < delay.until)
    }

    /// True if this warp is delayed now.
    pub(in crate::machine) fn is_delayed(&self, block: u64, warp: usize) -> bool {
        let is_same = |delay: Delay| (delay.block, delay.warp as usize) == (block, warp);
        self.is_delaying() && self.cursor.delay.is_some_and(is_same)
    }

    /// Ends the delay because no other warp can make progress. False if no warp is delayed.
    pub(in crate::machine) fn cancel_delay(&mut self) -> bool {
        let was_delaying = self.is_delaying();
        if was_delaying {
            self.end_delay();
        }
        was_delaying
    }

    /// The latest end of a time slice that begins now, by the schedule.
    pub(in crate::machine) fn slice_limit(&self) -> Tick {
        let next_delay = self.cursor.delay.map_or(Tick::MAX, |delay| if self.tick() < delay.from { delay.from } else { Tick::MAX });
        next_delay.min(self.next_switch().map_or(Tick::MAX, |switch| switch.at))
    }

    /// Starts a time slice of the warp with the highest priority; false if none can run.
    pub(in crate::machine) fn select_by_priority(&mut self) -> bool {
        let (now, progress, ran) = (self.tick(), self.progress, self.last_warp());
        let Some(mut priorities) = self.cursor.priorities.take() else { return false };
        if let Some(ran) = ran {
            priorities.end_slice(ran, now, progress);
        }
        let mut best: Option<(Rank, usize, usize)> = None;
        for (block_slot, block) in self.blocks.iter().enumerate() {
            let Some(block) = block else { continue };
            for warp in (0..block.warps.len()).filter(|warp| self.can_run(block_slot, *warp)) {
                let rank = priorities.rank((block.number, warp as u32));
                if best.is_none_or(|(greatest, ..)| rank > greatest) {
                    best = Some((rank, block_slot, warp));
                }
            }
        }
        let ticks = priorities.next().map_or(PRIORITY_SLICE, |next| next.saturating_since(now).clamp(1, PRIORITY_SLICE));
        self.cursor.priorities = Some(priorities);
        let Some((_, block_slot, warp)) = best else { return false };
        self.begin_slice(block_slot, warp, ticks as u32);
        true
    }

    /// The warp of the last time slice; none if its block has finished.
    fn last_warp(&self) -> Option<WarpKey> {
        let block = self.blocks.get(self.cursor.block_slot)?.as_ref()?;
        Some((block.number, self.cursor.warp as u32))
    }
}
