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

/// What gave memory its present bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LastWriter {
    /// Lanes that executed an instruction.
    Lanes(Site),
    /// The user, at this time.
    User(Tick),
}

/// The last writers of some ranges of memory, and whether the user interrupted the search: some are missing then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::debug) struct LastWriters {
    /// The last writer of each range; none if there was none.
    pub writers: Vec<Option<LastWriter>>,
    /// The user interrupted the search.
    pub interrupted: bool,
}

impl Session {
    /// The write that gave `target` its present value; empty if it has the value since the start.
    pub fn last(&mut self, target: &Target, interrupt: &mut dyn InterruptCheck) -> History {
        let now = self.time();
        let mut history = match target {
            Target::Variable(variable) => self.last_changes(variable, interrupt),
            Target::Register(_) | Target::Memory(_) => self.last_writes(target, interrupt),
        };
        self.return_to(now);
        let last = history.writes.len().saturating_sub(1);
        history.writes.drain(..last);
        self.note_unwritten_of_accesses(target, &mut history.writes, interrupt);
        // A change comes before the instruction of its tick.
        let written = history.writes.last().map(|write| write.time);
        let changed = self.times_of_changes(target, now).pop().filter(|changed| !history.interrupted && Some(*changed) > written);
        if let Some(changed) = changed {
            history.writes.clear();
            history.changes = self.changes_at(target, &[changed]);
        }
        history
    }

    /// The writes to `target` in the last interval between snapshots that has some.
    fn last_writes(&mut self, target: &Target, interrupt: &mut dyn InterruptCheck) -> History {
        let mut end = self.time();
        while let Some(begin) = self.interval_before(end) {
            let history = self.writes_between(target, begin, end, interrupt);
            if history.interrupted || !history.writes.is_empty() {
                return history;
            }
            end = begin;
        }
        History::default()
    }

    /// The times up to `until` at which the user has changed `target`.
    fn times_of_changes(&self, target: &Target, until: Tick) -> Vec<Tick> {
        let is_change = |input: &Input| matches!(input, Input::Edits(edits) if edits.iter().any(|edit| target.is_changed_by(edit)));
        let times = self.inputs().iter().filter(|(time, input)| *time <= until && is_change(input)).map(|(time, _)| *time);
        let mut times: Vec<Tick> = times.collect();
        times.dedup();
        times
    }

    /// The changes that the user has made to `target` at these times.
    fn changes_at(&mut self, target: &Target, times: &[Tick]) -> Vec<UserChange> {
        let now = self.time();
        let expression = Expression::parse(target.name()).ok();
        let mut changes = Vec::new();
        for time in times.iter().copied() {
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
    pub(in crate::debug) fn last_writers(&mut self, ranges: &[(u64, u64)], interrupt: &mut dyn InterruptCheck) -> LastWriters {
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
        let mut found = LastWriters { writers: Vec::new(), interrupted };
        for (site, (address, bytes)) in sites.into_iter().zip(ranges) {
            let target = global_bytes(*address, *bytes);
            let site = self.unless_swap_failed(site, &target, &mut found.interrupted, interrupt);
            let changed = self.times_of_changes(&target, now).pop().filter(|time| Some(*time) > site.as_ref().map(|site| site.time));
            found.writers.push(changed.map(LastWriter::User).or(site.map(LastWriter::Lanes)));
        }
        found
    }

    /// The write at `site`, or if that is a compare-and-swap, which may have found another value and written nothing, the one that a search
    /// for `target` alone finds.
    fn unless_swap_failed(
        &mut self,
        site: Option<Site>,
        target: &Target,
        interrupted: &mut bool,
        interrupt: &mut dyn InterruptCheck,
    ) -> Option<Site> {
        let is_swap = site.as_ref().is_some_and(|site| is_compare_and_swap(&self.program().code[site.pc.index()].op));
        if !is_swap || *interrupted {
            return site;
        }
        let history = self.last(target, interrupt);
        *interrupted = history.interrupted;
        let context = self.eval_context();
        history.writes.last().map(|write| WatchedAccessText::new(&context, write).site)
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
        let written = history.writes.first().map_or(self.recorded(), |write| write.time);
        if let Some(changed) = self.times_of_changes(target, written).first() {
            history.writes.clear();
            history.changes = self.changes_at(target, &[*changed]);
        }
        history
    }

    /// All recorded writes that changed `target`; if none did, all writes to it.
    pub fn history(&mut self, target: &Target, interrupt: &mut dyn InterruptCheck) -> History {
        let mut history = self.search_forward(target, false, interrupt);
        let changed = self.times_of_changes(target, self.recorded());
        history.changes = self.changes_at(target, &changed);
        let is_change = |write: &WatchedAccess| write.old != write.new || write.unwritten.before != write.unwritten.after;
        if history.writes.iter().any(is_change) {
            let all = history.writes.len();
            history.writes.retain(is_change);
            history.unchanged = all - history.writes.len();
        }
        history
    }

    fn search_forward(&mut self, target: &Target, first_only: bool, interrupt: &mut dyn InterruptCheck) -> History {
        let now = self.time();
        if let Target::Variable(variable) = target {
            let mut history = self.variable_changes(variable, variable.since, self.recorded(), interrupt);
            self.return_to(now);
            self.note_unwritten_of_accesses(target, &mut history.writes, interrupt);
            return history;
        }
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
        self.note_unwritten_of_accesses(target, &mut history.writes, interrupt);
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
    Target::Memory(MemoryTarget { name, space: Space::Global, owner, address, bytes, ty, field: None, frame: None })
}

fn is_compare_and_swap(op: &Op) -> bool {
    matches!(op, Op::Atomic(AtomicOp::Single { f: AtomicFn::Cas, .. }))
}

fn is_unchanged(target: &Target, earlier: &Machine, later: &Machine) -> bool {
    match target {
        Target::Register(target) => earlier.is_warp_unchanged(later, target.block, target.warp),
        Target::Variable(target) => earlier.is_warp_unchanged(later, target.block, target.warp),
        Target::Memory(target) => {
            let owner = (target.owner.block, target.owner.warp);
            earlier.is_memory_unchanged(later, target.space, owner, target.address, target.bytes)
        }
    }
}
