//! The writes to a register or to memory, with their threads and times: `last`, `first` and `history`.
//!
//! The run is executed again interval by interval with an observer that collects the writes. Intervals whose two snapshots share the
//! storage of the object are skipped, so even a write at the start of a long run is found quickly.

use super::SLICE;
use super::watcher::{AccessCandidate, Candidate, Watcher};
use super::watchpoint::{Watchpoint, bytes_of};
use crate::debug::breakpoints::WatchMode;
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::target::Target;
use crate::debug::timeline::Ran;
use crate::debug::watched_access::WatchedAccess;
use crate::isa::AtomicFn;
use crate::machine::{AccessKind, Machine, Tick};
use crate::program::{AtomicOp, Op};

/// The writes to a watched object that were found, and whether the user interrupted the search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The writes, in order of time.
    pub writes: Vec<WatchedAccess>,
    /// The user interrupted the search.
    pub interrupted: bool,
}

impl Session {
    /// The write that gave `target` its present value; empty if it has the value since the start.
    pub fn last(&mut self, target: &Target, interrupt: &mut dyn InterruptCheck) -> History {
        let (now, mut end) = (self.time(), self.time());
        let mut history = History::default();
        while let Some(begin) = self.interval_before(end) {
            history = self.writes_between(target, begin, end, interrupt);
            if history.interrupted || !history.writes.is_empty() {
                break;
            }
            end = begin;
        }
        self.return_to(now);
        let last = history.writes.len().saturating_sub(1);
        history.writes.drain(..last);
        history
    }

    /// The first recorded write to `target`.
    pub fn first(&mut self, target: &Target, interrupt: &mut dyn InterruptCheck) -> History {
        let mut history = self.search_forward(target, true, interrupt);
        history.writes.truncate(1);
        history
    }

    /// All recorded writes that changed `target`; if none did, all writes to it.
    pub fn history(&mut self, target: &Target, interrupt: &mut dyn InterruptCheck) -> History {
        let mut history = self.search_forward(target, false, interrupt);
        if history.writes.iter().any(|write| write.old != write.new) {
            history.writes.retain(|write| write.old != write.new);
        }
        history
    }

    fn search_forward(&mut self, target: &Target, first_only: bool, interrupt: &mut dyn InterruptCheck) -> History {
        let now = self.time();
        let mut times: Vec<Tick> = self.timeline.snapshot_times().collect();
        times.push(self.recorded());
        let mut history = History::default();
        for interval in times.windows(2) {
            let found = self.writes_between(target, interval[0], interval[1], interrupt);
            history.writes.extend(found.writes);
            history.interrupted = found.interrupted;
            if found.interrupted || first_only && !history.writes.is_empty() {
                break;
            }
        }
        self.return_to(now);
        history
    }

    /// The writes to `target` by instructions from `begin`, the time of a snapshot, to before `end`.
    fn writes_between(&mut self, target: &Target, begin: Tick, end: Tick, interrupt: &mut dyn InterruptCheck) -> History {
        let mut history = History::default();
        if self.timeline.compare(begin, end, |earlier, later| is_unchanged(target, earlier, later)).unwrap_or(begin == end) {
            return history;
        }
        self.return_to(begin);
        let mut watcher = Watcher::new(Tick::MAX);
        watcher.watchpoints.push(Watchpoint::new(None, target.clone(), WatchMode::Access, self.machine()));
        while self.time() < end {
            let slice = end.min(self.time().saturating_add(SLICE));
            let ran = self.run_watched(slice, &mut watcher);
            for candidate in std::mem::take(&mut watcher.candidates) {
                if let Candidate::Accessed(_, candidate) = candidate
                    && candidate.kind != AccessKind::Read
                {
                    history.writes.extend(self.write_of(&mut watcher.watchpoints[0], candidate));
                }
            }
            if ran == Ran::Ended {
                break;
            }
            if self.time() < end && !interrupt.should_continue(self) {
                history.interrupted = true;
                break;
            }
        }
        history
    }

    /// The candidate as a write with its old and new bytes; none for a compare-and-swap that failed.
    fn write_of(&self, watched: &mut Watchpoint, candidate: AccessCandidate) -> Option<WatchedAccess> {
        let new = bytes_of(&watched.target, self.machine())?;
        let old = watched.replace(new.clone());
        let inst = &self.program().code[candidate.place.pc.index()];
        // A compare-and-swap that finds another value writes nothing.
        let failed = matches!(inst.op, Op::Atomic(AtomicOp::Single { f: AtomicFn::Cas, .. })) && watched.is_memory() && old == new;
        if failed { None } else { Some(self.watched_access(watched, candidate, old, new)) }
    }
}

fn is_unchanged(target: &Target, earlier: &Machine, later: &Machine) -> bool {
    match target {
        Target::Register(target) => earlier.is_warp_unchanged(later, target.block, target.warp),
        Target::Memory(target) => {
            let owner = (target.owner.block, target.owner.warp);
            earlier.is_memory_unchanged(later, target.space, owner, target.address, target.bytes)
        }
    }
}
