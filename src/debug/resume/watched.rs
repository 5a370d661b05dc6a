//! Accesses to watched variables of the source: when their frame began, what changes them, and where it ends.

use std::ops::Range;

use super::SLICE;
use super::backward::{Choice, EarlierInstruction};
use super::cause::{Cause, is_done};
use super::history::History;
use super::variable::{Assigned, Values, WatchedValues};
use super::watcher::{AccessCandidate, Candidate, Watcher};
use super::watchpoint::Watchpoint;
use crate::debug::breakpoints::{Breakpoint, Trigger, WatchMode};
use crate::debug::focus::Focus;
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::stop::Reason;
use crate::debug::target::{Target, VariableTarget};
use crate::debug::timeline::Ran;
use crate::debug::watched_access::{Unwritten, WatchedAccess};
use crate::launch::PlannedLaunch;
use crate::machine::{AccessKind, Issue, LANES, LaneMask, Tick};

impl Session {
    /// The tick at which a thread entered its frame of `depth` calls around the code `code`; the start of the launch if that is not found.
    pub fn frame_start(&mut self, thread: Focus, depth: u32, code: &Range<u32>, interrupt: &mut dyn InterruptCheck) -> Tick {
        let start = self.machine().start();
        let kernel = self.machine().config().kernel;
        if depth == 0 && *code == self.program().functions[kernel.index()].code {
            return start;
        }
        let (now, focus) = (self.time(), self.focus);
        self.focus = thread;
        let before = self.choose_past(interrupt, |past: &EarlierInstruction| {
            let is_outside = past.depth < depth || past.depth == depth && !code.contains(&past.pc.0);
            if past.focus == thread && is_outside { Choice::Stop } else { Choice::Continue }
        });
        self.return_to(now);
        self.focus = focus;
        before.ok().flatten().map_or(start, |past| past.time + 1)
    }

    /// An access to the variable that `watched` watches, and the lanes whose access stops the run; none if something else is watched. The
    /// values are noted.
    pub(super) fn variable_access(&self, watched: &mut Watchpoint, candidate: AccessCandidate) -> Option<(WatchedAccess, LaneMask)> {
        let (number, mode) = (watched.number, watched.mode);
        let (target, values, assigned) = watched.variable()?;
        let now = target.values(self.machine(), assigned);
        // A value that is written over nothing is new, even if it is what the memory reads as.
        let changed = target.changed(values, &now) | candidate.first;
        let lanes = match mode {
            WatchMode::Change => changed,
            WatchMode::Read => candidate.lanes,
            WatchMode::Access => candidate.lanes | changed,
        };
        let lane = lanes.first();
        let index = (target.lanes & LaneMask::lowest(lane as u32)).count() as usize;
        let of_lane = |values: &Values| values.get(index).cloned().flatten().unwrap_or_default();
        let new = of_lane(&now);
        let access = WatchedAccess {
            number,
            name: target.name.clone(),
            source_type: target.ty,
            tensor: target.tensor,
            time: candidate.place.tick,
            pc: candidate.place.pc,
            by: Focus { block: candidate.place.block, warp: candidate.place.warp.number(), lane: lane as u32, frame: 0 },
            lanes,
            write: candidate.kind != AccessKind::Read,
            copy: None,
            tried: None,
            address: None,
            old: if candidate.kind == AccessKind::Read { new.clone() } else { of_lane(values) },
            new,
            unwritten: Unwritten::default(),
            written_at: self
                .machine()
                .block(target.block)
                .and_then(|block| assigned.written_before(target, block.warps.get(target.warp as usize)?, &candidate.place, lane)),
        };
        // A value that has no place for a while is what it was.
        values.iter_mut().zip(now).filter(|(_, now)| now.is_some()).for_each(|(value, now)| *value = now);
        Some((access, lanes))
    }

    /// Deletes watchpoint `number`: the last lane has left the frame of its variable. One on a variable of the kernel stays if the next
    /// launch is of the same kernel and has the thread.
    pub(super) fn leave_variable(&mut self, number: u32, issue: &Issue, causes: &mut Vec<Cause>) {
        let is_of_next = |breakpoint: &Breakpoint| match &breakpoint.trigger {
            Trigger::Watch(Target::Variable(target), _) => self.is_in_next_launch(target, issue),
            Trigger::Watch(..) | Trigger::Code(_) | Trigger::Line(_) | Trigger::Event(_) => false,
        };
        if self.breakpoints.get(number).is_ok_and(is_of_next) || self.breakpoints.delete(number).is_err() {
            return;
        }
        if causes.is_empty() || is_done(causes) {
            self.focus = self.focus.among(issue.point.block, issue.point.warp.number(), issue.lanes);
        }
        causes.push(Reason::VariableLeft { number }.into());
    }

    /// True if the launch after that of `issue` has the variable: it is one of the kernel itself, which is launched again, with the block
    /// and the warp.
    fn is_in_next_launch(&self, target: &VariableTarget, issue: &Issue) -> bool {
        let has_begun = issue.point.tick < self.machine().start();
        let next = self.case().launches.get(self.launch() + usize::from(!has_begun));
        let is_its_kernel = |next: &&PlannedLaunch| self.program().functions[next.kernel.index()].code == target.code;
        let next = next.filter(is_its_kernel).filter(|_| target.depth == 0);
        next.is_some_and(|next| {
            let threads: u64 = next.block.iter().map(|extent| u64::from(*extent)).product();
            let has_block = target.block.iter().zip(&next.grid).all(|(index, extent)| index < extent);
            has_block && u64::from(target.warp) < threads.div_ceil(LANES as u64)
        })
    }

    /// The changes of a variable from `begin`, at which its frame is there, to before `until`, or to where the frame is left.
    pub(super) fn variable_changes(
        &mut self,
        target: &VariableTarget,
        begin: Tick,
        until: Tick,
        interrupt: &mut dyn InterruptCheck,
    ) -> History {
        let mut history = History::default();
        self.return_to(begin);
        let mut watcher = Watcher::new(Tick::MAX);
        let watched = Target::Variable(Box::new(target.clone()));
        watcher.watchpoints.push(Watchpoint::new(None, watched, WatchMode::Change, self.machine()));
        while self.time() < until {
            let slice = until.min(self.time().saturating_add(SLICE));
            let ran = self.run_watched(slice, &mut watcher);
            for candidate in std::mem::take(&mut watcher.candidates) {
                match candidate {
                    Candidate::Accessed(_, candidate) => {
                        let access = self.variable_access(&mut watcher.watchpoints[0], candidate);
                        history.writes.extend(access.filter(|(_, lanes)| !lanes.is_empty()).map(|(access, _)| access));
                    }
                    Candidate::Left(..) => return history,
                    _ => {}
                }
            }
            if ran == Ran::Ended {
                break;
            }
            if self.time() < until && !interrupt.should_continue(self) {
                history.interrupted = true;
                break;
            }
        }
        history
    }

    /// The change that gave a variable its present value is the last of these; empty if it has the value since its frame began.
    pub(super) fn last_changes(&mut self, target: &VariableTarget, interrupt: &mut dyn InterruptCheck) -> History {
        let now = self.time();
        let mut end = now;
        while let Some(begin) = self.interval_before(end).filter(|begin| *begin > target.since) {
            let found = self.variable_changes(target, begin, end, interrupt);
            match found.writes.last() {
                None if !found.interrupted => end = begin,
                // The value at the beginning of the interval is not known: all of the frame says whether it was another one.
                Some(last) if last.old.is_empty() => return self.variable_changes(target, target.since, now, interrupt),
                Some(_) | None => return found,
            }
        }
        // The first write to memory may leave the value that the memory reads as.
        let until = if target.is_in_memory() { now } else { end };
        self.variable_changes(target, target.since, until, interrupt)
    }

    /// What a watchpoint that begins now knows of its variable: what of it the threads have written.
    pub fn watched_from_now(&mut self, number: u32, target: &VariableTarget, interrupt: &mut dyn InterruptCheck) {
        let Some(assigned) = self.written_of(target, interrupt) else { return };
        let (time, values) = (self.time(), target.values(self.machine(), &Assigned::default()));
        self.watched_values.retain(|watched| watched.number != number);
        self.watched_values.push(WatchedValues { number, time, values, assigned });
    }
}
