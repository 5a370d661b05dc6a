//! Going to a time.

use super::{SLICE, StopInfo};
use crate::debug::focus::Focus;
use crate::debug::session::{InterruptCheck, NeverInterrupt, Session};
use crate::debug::stop::{Reason, Stop};
use crate::debug::timeline::{End, Ran};
use crate::machine::{Block, NullObserver, Observer, Tick};

/// The user interrupted a run.
pub(in crate::debug) struct Interrupted;

impl Session {
    /// Executes recorded ticks up to `end` with an observer. `is_enough` is asked at each pause of the run, also those
    /// for a check whether the user interrupts it, and may end it.
    pub(in crate::debug) fn replay<O: Observer>(
        &mut self,
        end: Tick,
        observer: &mut O,
        interrupt: &mut dyn InterruptCheck,
        mut is_enough: impl FnMut(&mut Self, &mut O) -> bool,
    ) -> Result<(), Interrupted> {
        while self.time() < end {
            let slice = end.min(self.time().saturating_add(SLICE));
            let ran = self.timeline.run(slice, observer);
            if is_enough(self, observer) || ran == Ran::Ended {
                break;
            }
            if self.time() < end && !interrupt.should_continue(self) {
                return Err(Interrupted);
            }
        }
        Ok(())
    }

    /// Goes to `time`, executing beyond the recorded run if needed; to the end of the run if that comes first. If the user interrupts a
    /// move backwards, the session stays where it was.
    ///
    /// If the focused thread does not exist at that time, the focus moves to one that does.
    pub fn seek(&mut self, time: Tick, interrupt: &mut dyn InterruptCheck) -> Stop {
        let run_start = self.run_start();
        let reason = self.seek_or_return(time, interrupt);
        // At another time other frames are there: the innermost is selected, as after any stop.
        self.focus.frame = 0;
        let left = self.focus_on_present();
        self.stop(run_start, left, StopInfo::because(reason))
    }

    /// Goes to `time` and focuses a thread, which need not be resident then.
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

    /// Goes to before the first instruction of launch number `number`, from 0, and focuses its first thread; to the end of the run if that
    /// comes first.
    pub fn seek_launch(&mut self, number: usize, interrupt: &mut dyn InterruptCheck) -> Stop {
        let run_start = self.run_start();
        let reason = self.go_to_launch_start(number, interrupt);
        if matches!(reason, Reason::Done) {
            self.focus = Focus::first(self.machine());
        }
        let left = self.focus_on_present();
        self.stop(run_start, left, StopInfo::because(reason))
    }

    fn go_to_launch_start(&mut self, number: usize, interrupt: &mut dyn InterruptCheck) -> Reason {
        if !self.catch_up(interrupt) {
            return Reason::Interrupted;
        }
        while self.launch() > number {
            let Some(before) = self.machine().start().checked_sub(1) else { break };
            self.timeline.restore(before);
        }
        if self.launch() == number {
            return self.go_to(self.machine().start(), interrupt);
        }
        while self.launch() < number {
            match self.timeline.run_checked(self.time().saturating_add(SLICE), &mut NullObserver, false) {
                Ran::Ended => return self.end_reason(),
                Ran::Reached | Ran::Paused | Ran::Launched => {}
            }
            if self.launch() < number && !interrupt.should_continue(self) {
                return Reason::Interrupted;
            }
        }
        Reason::Done
    }

    fn seek_or_return(&mut self, time: Tick, interrupt: &mut dyn InterruptCheck) -> Reason {
        let from = self.time();
        let reason = if self.catch_up(interrupt) { self.go_to(time, interrupt) } else { Reason::Interrupted };
        if matches!(reason, Reason::Interrupted) && time < from {
            self.return_to(from);
        }
        reason
    }

    /// If the focused thread is not live, moves the focus to a live one and returns the reason; none if no thread is live.
    pub(super) fn focus_on_present(&mut self) -> Option<String> {
        let absent = self.eval_context().group().err()?;
        let warp_of = |block: &Block| {
            let live = |number: &u32| block.warps.get(*number as usize).is_some_and(|warp| !warp.live.is_empty());
            std::iter::once(self.focus.warp).chain(0..block.warps.len() as u32).find(live)
        };
        let machine = self.machine();
        let focused = machine.block(self.focus.block);
        let others = machine.resident_blocks().filter_map(|block| Some((block.number, block, warp_of(block)?)));
        let (block, warp) = focused
            .and_then(|block| Some((block, warp_of(block)?)))
            .or_else(|| others.min_by_key(|(number, ..)| *number).map(|(_, block, warp)| (block, warp)))?;
        let (index, live) = (block.index, block.warps.get(warp as usize)?.live);
        let lanes = machine.next_lanes(index, warp).unwrap_or(live);
        let same_lane = live & self.focus.lane_mask();
        self.focus = Focus { frame: 0, ..self.focus }.among(index, warp, if same_lane.is_empty() { lanes } else { same_lane });
        Some(absent.to_string())
    }

    /// Goes to the end of the run; breakpoints do not stop it.
    pub fn seek_end(&mut self, interrupt: &mut dyn InterruptCheck) -> Stop {
        self.seek(Tick::MAX, interrupt)
    }

    /// Goes to the previous time of the navigation history, if there is one.
    pub fn back(&mut self, interrupt: &mut dyn InterruptCheck) -> Option<Stop> {
        let time = self.navigation.back()?;
        Some(self.revisit(time, interrupt))
    }

    /// Goes to the next time of the navigation history, if there is one.
    pub fn forward(&mut self, interrupt: &mut dyn InterruptCheck) -> Option<Stop> {
        let time = self.navigation.forward()?;
        Some(self.revisit(time, interrupt))
    }

    fn revisit(&mut self, time: Tick, interrupt: &mut dyn InterruptCheck) -> Stop {
        let run_start = self.run_start();
        let reason = self.go_to(time, interrupt);
        self.focus.frame = 0;
        let left = self.focus_on_present();
        self.stop(run_start, left, StopInfo::because(reason))
    }

    /// Goes to a recorded time without checks for an interrupt: it is never far from a snapshot.
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

    /// The reason that the run ended; the focus moves to the threads of a fault.
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
