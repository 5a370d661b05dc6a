//! Going to a time.

use super::{SLICE, StopInfo};
use crate::debug::focus::Focus;
use crate::debug::session::{InterruptCheck, NeverInterrupt, Session};
use crate::debug::stop::{Reason, Stop};
use crate::debug::timeline::{End, Ran};
use crate::machine::{Block, NullObserver, Tick};

impl Session {
    /// Goes to `time`, executing what was not executed before; to the end of the run if that comes first. If the user interrupts a
    /// step back, the session stays where it was.
    ///
    /// Where the focused thread is not there at that time the focus moves to one that is.
    pub fn seek(&mut self, time: Tick, interrupt: &mut dyn InterruptCheck) -> Stop {
        let run_start = self.run_start();
        let reason = self.seek_or_return(time, interrupt);
        let left = self.focus_on_present();
        self.stop(run_start, left, StopInfo::because(reason))
    }

    /// Goes to `time` and to a thread, whether or not it is on the machine then.
    pub fn seek_thread(&mut self, time: Tick, focus: Focus, interrupt: &mut dyn InterruptCheck) -> Stop {
        let run_start = self.run_start();
        let reason = self.seek_or_return(time, interrupt);
        self.focus = focus;
        self.stop(run_start, None, StopInfo::because(reason))
    }

    /// Like [`Self::seek`], with the focus as it is.
    pub(in crate::debug) fn seek_with_focus(&mut self, time: Tick, interrupt: &mut dyn InterruptCheck) -> Stop {
        let run_start = self.run_start();
        let reason = self.seek_or_return(time, interrupt);
        self.stop(run_start, None, StopInfo::because(reason))
    }

    fn seek_or_return(&mut self, time: Tick, interrupt: &mut dyn InterruptCheck) -> Reason {
        let from = self.time();
        let reason = if self.catch_up(interrupt) { self.go_to(time, interrupt) } else { Reason::Interrupted };
        if matches!(reason, Reason::Interrupted) && time < from {
            self.return_to(from);
        }
        reason
    }

    /// Moves the focus to a thread that is on the machine if the focused one is not, and says why; nothing where none is.
    pub(super) fn focus_on_present(&mut self) -> Option<String> {
        let absent = self.scene().group().err()?;
        let warp_of = |block: &Block| {
            let live = |number: &u32| block.warps.get(*number as usize).is_some_and(|warp| !warp.live.is_empty());
            std::iter::once(self.focus.warp).chain(0..block.warps.len() as u32).find(live)
        };
        let machine = self.machine();
        let own = machine.block(self.focus.block);
        let others = machine.resident_blocks().filter_map(|block| Some((block.number, block, warp_of(block)?)));
        let (block, warp) = own
            .and_then(|block| Some((block, warp_of(block)?)))
            .or_else(|| others.min_by_key(|(number, ..)| *number).map(|(_, block, warp)| (block, warp)))?;
        let (index, live) = (block.index, block.warps.get(warp as usize)?.live);
        let lanes = machine.next_lanes(index, warp).unwrap_or(live);
        let same_lane = live & self.focus.lane_mask();
        self.focus = Focus { frame: 0, ..self.focus }.among(index, warp, if same_lane.is_empty() { lanes } else { same_lane });
        Some(absent.to_string())
    }

    /// Goes to the end of the run, past all breakpoints.
    pub fn seek_end(&mut self, interrupt: &mut dyn InterruptCheck) -> Stop {
        self.seek(Tick::MAX, interrupt)
    }

    /// Goes to the time the user stood at before; none if there is none.
    pub fn back(&mut self, interrupt: &mut dyn InterruptCheck) -> Option<Stop> {
        let time = self.navigation.back()?;
        Some(self.revisit(time, interrupt))
    }

    /// Goes to the time left by going back; none if there is none.
    pub fn forward(&mut self, interrupt: &mut dyn InterruptCheck) -> Option<Stop> {
        let time = self.navigation.forward()?;
        Some(self.revisit(time, interrupt))
    }

    fn revisit(&mut self, time: Tick, interrupt: &mut dyn InterruptCheck) -> Stop {
        let run_start = self.run_start();
        let reason = self.go_to(time, interrupt);
        let left = self.focus_on_present();
        self.stop(run_start, left, StopInfo::because(reason))
    }

    /// Goes to a time that was recorded, whatever it takes: it is never far from a snapshot.
    pub(in crate::debug) fn return_to(&mut self, time: Tick) {
        let _ = self.go_to(time, &mut NeverInterrupt);
    }

    pub(super) fn go_to(&mut self, time: Tick, interrupt: &mut dyn InterruptCheck) -> Reason {
        self.timeline.restore(time);
        while self.time() < time {
            let slice = time.min(self.time().saturating_add(SLICE));
            match self.timeline.run_checked(slice, &mut NullObserver, false) {
                Ran::Ended => return self.end_reason(),
                Ran::Reached | Ran::Paused | Ran::Launched => {}
            }
            if self.time() < time && !interrupt.should_continue(self) {
                return Reason::Interrupted;
            }
        }
        Reason::Done
    }

    /// Why the run ended; the focus moves to the threads that a fault is about.
    pub(super) fn end_reason(&mut self) -> Reason {
        match self.ended().cloned() {
            Some(End::Fault(fault)) => {
                let waiting = fault.waiting.first().map(|waiting| &waiting.site);
                if let Some(site) = fault.site.as_ref().or(waiting) {
                    self.focus = self.focus.among(site.block, site.warp, site.lanes);
                }
                Reason::Fault(Box::new(fault.with_roles(&self.roles)))
            }
            Some(End::Broken(message)) => Reason::Broken(message),
            Some(End::Done) | None => Reason::Ended,
        }
    }
}
