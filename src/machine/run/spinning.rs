//! The end of the turn of a block that spins, in the schedule in order.
//!
//! A warp that has no effect, and after a few ticks is in the state in which it began, does the same until another warp has an effect.
//! Once all warps of a block that can run have used up a time slice without an effect, the next ones begin with a comparison of states, and
//! end where the warp spins. If all of these warps do, the next block has the turn: blocks that wait at a barrier of the grid, or for a
//! flag or a lock, take a small part of their turn. Where a warp computes there is one comparison in a turn.

use std::hash::Hasher;

use crate::machine::state::cursor::{BlockSpin, SliceSpin};
use crate::machine::state::digest::Digest;
use crate::machine::state::issue_point::Tick;
use crate::machine::state::launch::Schedule;
use crate::machine::state::machine::Machine;
use crate::machine::state::warp::Warp;

/// The longest loop, in instructions, that is found to spin.
const LOOP_TICKS: u32 = 64;

impl Machine {
    /// Begins to compare the state of the warp whose time slice begins, if its block may spin. `used_up` is true if the time slice before,
    /// of the same block, was.
    pub(in crate::machine) fn begin_comparison(&mut self, used_up: bool) {
        let progress = self.progress;
        let is_in_order = matches!(self.prepared.config.schedule, Schedule::InOrder | Schedule::Delayed(_));
        if self.cursor.spin.slice == SliceSpin::Computes || !is_in_order {
            return;
        }
        if !used_up || self.cursor.spin.progress != progress {
            self.cursor.spin = BlockSpin { progress, ..BlockSpin::default() };
            return;
        }
        self.cursor.spin.quiet += 1;
        if (self.cursor.spin.quiet as usize) < self.ready_warps_of_block() {
            return;
        }
        if let Some((pc, warp)) = self.current_warp().and_then(|warp| Some((warp.sole_ready()?, warp))) {
            let state = (pc, state_of(warp));
            self.cursor.spin.slice = SliceSpin::Compared { state, ticks: LOOP_TICKS };
        }
    }

    /// The end of what runs before the state is compared, if that is before `limit`.
    pub(in crate::machine) fn comparison_limit(&self, limit: Tick) -> Tick {
        match self.cursor.spin.slice {
            SliceSpin::Compared { .. } => limit.min(self.tick + 1),
            SliceSpin::Unknown | SliceSpin::Computes => limit,
        }
    }

    /// Ends the time slice of a warp that has returned to the state at its start.
    pub(in crate::machine) fn compare_with_slice_start(&mut self) {
        let SliceSpin::Compared { state, ticks } = self.cursor.spin.slice else { return };
        let has_effect = self.cursor.spin.progress != self.progress;
        let returned = |warp: &Warp| warp.sole_ready() == Some(state.0) && state_of(warp) == state.1;
        if !has_effect && self.current_warp().is_some_and(returned) {
            self.cursor.spin.spinning += 1;
            self.cursor.spin.slice = SliceSpin::Unknown;
            self.cursor.warp_ticks_left = 0;
        } else {
            let goes_on = !has_effect && ticks > 1;
            self.cursor.spin.slice = if goes_on { SliceSpin::Compared { state, ticks: ticks - 1 } } else { SliceSpin::Computes };
        }
    }

    /// True if all warps that can run of the block that has the turn have been seen to spin since the last effect.
    pub(in crate::machine) fn block_spins(&self) -> bool {
        let spin = &self.cursor.spin;
        if spin.spinning == 0 || spin.progress != self.progress || spin.slice == SliceSpin::Computes {
            return false;
        }
        spin.spinning as usize >= self.ready_warps_of_block()
    }

    fn ready_warps_of_block(&self) -> usize {
        let block_slot = self.cursor.block_slot;
        let warps = self.blocks.get(block_slot).and_then(Option::as_ref).map_or(0, |block| block.warps.len());
        (0..warps).filter(|warp| self.can_run(block_slot, *warp)).count()
    }

    fn current_warp(&self) -> Option<&Warp> {
        let block = self.blocks.get(self.cursor.block_slot)?.as_ref()?;
        block.warps.get(self.cursor.warp).map(|warp| &**warp)
    }
}

fn state_of(warp: &Warp) -> u64 {
    let mut digest = Digest::default();
    warp.hash_sole(&mut digest);
    digest.finish()
}
