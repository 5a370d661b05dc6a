//! The writes to a register or to memory, with their threads and times: `last`, `first` and `history`.
//!
//! The run is executed again interval by interval with an observer that collects the writes. Intervals whose two snapshots share the
//! storage of the object are skipped, so even a write at the start of a long run is found quickly.

use serde::Serialize;

use super::SLICE;
use super::watcher::{AccessCandidate, Candidate, Watcher};
use super::watchpoint::{Watchpoint, bytes_of};
use crate::debug::breakpoints::WatchMode;
use crate::debug::expression::Expression;
use crate::debug::focus::Focus;
use crate::debug::last_writes::{LastWrite, LastWrites};
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::site::Site;
use crate::debug::target::{MemoryTarget, Target};
use crate::debug::timeline::{Input, Ran};
use crate::debug::value::ValueText;
use crate::debug::watched_access::{WatchedAccess, WatchedAccessText};
use crate::isa::{AtomicFn, ScalarType, Space};
use crate::machine::{AccessKind, Machine, Tick};
use crate::program::{AtomicOp, Op};

/// The writes to a watched object that were found, and whether the user interrupted the search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The writes, in order of time.
    pub writes: Vec<WatchedAccess>,
    /// The changes that the user has made to it, in order of time.
    pub changes: Vec<UserChange>,
    /// The number of writes that are left out because they wrote what was there.
    pub unchanged: usize,
    /// The user interrupted the search.
    pub interrupted: bool,
}

/// A change that the user has made to a watched object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UserChange {
    /// The time: before the instruction of this tick.
    pub time: Tick,
    /// The value since; none where the object cannot be read then.
    pub value: Option<ValueText>,
}

/// The last writes to some ranges of memory, and whether the user interrupted the search: some are missing then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::debug) struct LastSites {
    /// The instruction that wrote each range last, as some lanes executed it; none if none did.
    pub sites: Vec<Option<Site>>,
    /// For each range that the user has changed after that, the time.
    pub changed: Vec<Option<Tick>>,
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
        history.changes = self.changes_of(target, now).pop().into_iter().collect();
        // A change comes before the instruction of its tick.
        let written = history.writes.last().map(|write| write.time);
        if let Some(change) = history.changes.last().filter(|_| !history.interrupted) {
            if written.is_some_and(|written| written >= change.time) {
                history.changes.clear();
            } else {
                history.writes.clear();
            }
        }
        history
    }

    /// The changes that the user has made to `target` up to a time.
    fn changes_of(&mut self, target: &Target, until: Tick) -> Vec<UserChange> {
        let is_change = |input: &Input| matches!(input, Input::Edits(edits) if edits.iter().any(|edit| target.is_changed_by(edit)));
        let times = self.inputs().iter().filter(|(time, input)| *time <= until && is_change(input)).map(|(time, _)| *time);
        let mut times: Vec<Tick> = times.collect();
        times.dedup();
        let now = self.time();
        let expression = Expression::parse(target.name()).ok();
        let mut changes = Vec::new();
        for time in times {
            self.return_to(time);
            let context = self.eval_context();
            let value = expression.as_ref().and_then(|expression| expression.evaluate(&context).ok());
            changes.push(UserChange { time, value: value.map(|value| value.text(&context, None)) });
        }
        self.return_to(now);
        changes
    }

    /// The writes that gave each of `ranges` of global memory, addresses and bytes, their present bytes. One search finds all of them: it
    /// goes back interval by interval, and looks in each only for those that change there.
    pub(in crate::debug) fn last_writes(&mut self, ranges: &[(u64, u64)], interrupt: &mut dyn InterruptCheck) -> LastSites {
        let (now, mut end) = (self.time(), self.time());
        let mut sites: Vec<Option<Site>> = vec![None; ranges.len()];
        let mut interrupted = false;
        while let Some(begin) = self.interval_before(end).filter(|_| !interrupted && sites.iter().any(Option::is_none)) {
            let mut observer = LastWrites::new(ranges.iter().copied());
            observer.unwatch(|index| sites[index].is_some() || self.is_range_unchanged(ranges[index], begin, end));
            if observer.is_watching() {
                self.return_to(begin);
                let extent = self.machine().config().block;
                interrupted = self.replay(end, &mut observer, interrupt, |_, _| false).is_err();
                let context = self.eval_context();
                let site_of = |write: LastWrite| Site::new(context.program(), extent, write.point, write.lanes).with_role(context.roles);
                // An interval of which a part did not run has other writes after those that were seen.
                for (site, write) in sites.iter_mut().zip(observer.writes).filter(|_| !interrupted) {
                    *site = site.take().or(write.map(site_of));
                }
            }
            end = begin;
        }
        self.return_to(now);
        let mut found = LastSites { sites, changed: vec![None; ranges.len()], interrupted };
        self.swaps_that_failed(&mut found, ranges, interrupt);
        for (index, (address, bytes)) in ranges.iter().enumerate() {
            let target = global_bytes(*address, *bytes);
            let is_change = |input: &Input| matches!(input, Input::Edits(edits) if edits.iter().any(|edit| target.is_changed_by(edit)));
            let last = self.inputs().iter().rev().find(|(time, input)| *time <= now && is_change(input)).map(|(time, _)| *time);
            if last > found.sites[index].as_ref().map(|site| site.time) {
                (found.sites[index], found.changed[index]) = (None, last);
            }
        }
        found
    }

    /// Looks again for the writes whose instruction is a compare-and-swap, which may have found another value and written nothing.
    fn swaps_that_failed(&mut self, found: &mut LastSites, ranges: &[(u64, u64)], interrupt: &mut dyn InterruptCheck) {
        for (site, (address, bytes)) in found.sites.iter_mut().zip(ranges) {
            let is_swap = site.as_ref().is_some_and(|site| is_compare_and_swap(&self.program().code[site.pc.index()].op));
            if !is_swap || found.interrupted {
                continue;
            }
            let history = self.last(&global_bytes(*address, *bytes), interrupt);
            let context = self.eval_context();
            found.interrupted |= history.interrupted;
            *site = history.writes.last().map(|write| WatchedAccessText::new(&context, write).site);
        }
    }

    /// True if the bytes of a range of global memory are in one storage from the snapshot at `begin` to that at `end`.
    fn is_range_unchanged(&self, (address, bytes): (u64, u64), begin: Tick, end: Tick) -> bool {
        let owner = ([0; 3], 0);
        let unchanged = |earlier: &Machine, later: &Machine| earlier.is_memory_unchanged(later, Space::Global, owner, address, bytes);
        self.timeline.compare(begin, end, unchanged).unwrap_or(begin == end)
    }

    /// The first recorded write to `target`.
    pub fn first(&mut self, target: &Target, interrupt: &mut dyn InterruptCheck) -> History {
        let mut history = self.search_forward(target, true, interrupt);
        history.writes.truncate(1);
        history.changes.truncate(1);
        if let (Some(write), Some(change)) = (history.writes.first(), history.changes.first()) {
            if change.time <= write.time {
                history.writes.clear();
            } else {
                history.changes.clear();
            }
        }
        history
    }

    /// All recorded writes that changed `target`; if none did, all writes to it.
    pub fn history(&mut self, target: &Target, interrupt: &mut dyn InterruptCheck) -> History {
        let mut history = self.search_forward(target, false, interrupt);
        if history.writes.iter().any(|write| write.old != write.new) {
            let all = history.writes.len();
            history.writes.retain(|write| write.old != write.new);
            history.unchanged = all - history.writes.len();
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
        history.changes = self.changes_of(target, self.recorded());
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
        // A compare-and-swap that finds another value writes nothing.
        let is_swap = is_compare_and_swap(&self.program().code[candidate.place.pc.index()].op);
        let failed = is_swap && watched.is_memory() && old == new;
        if failed { None } else { Some(self.watched_access(watched, candidate, old, new)) }
    }
}

/// Bytes of global memory without a name.
fn global_bytes(address: u64, bytes: u64) -> Target {
    let (name, owner, ty) = (String::new(), Focus::default(), ScalarType::B8);
    Target::Memory(MemoryTarget { name, space: Space::Global, owner, address, bytes, ty })
}

fn is_compare_and_swap(op: &Op) -> bool {
    matches!(op, Op::Atomic(AtomicOp::Single { f: AtomicFn::Cas, .. }))
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
