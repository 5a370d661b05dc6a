//! Loads, stores, atomic operations, fences and barriers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use smallvec::SmallVec;

use super::consistency::Consistency;
use super::history::{History, Location, Source, WRITES_MAX, Write, places};
use super::lines::{Lines, Met, Record, WarpAccess};
use super::polls::{self, Polls};
use super::stale::StaleRead;
use super::strengthening::Strengthening;
use super::sync::Around;
use super::thread::{Delay, Group, Observed, Pattern, Place, ThreadState, add_pattern};
use super::view::View;
use crate::base::lanes::LaneMask;
use crate::isa::{Ordering, Scope};

/// How memory is accessed.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The thread.
    pub by: Place,
    /// The bytes.
    pub at: Location,
    /// The semantics.
    pub ordering: Ordering,
    /// The scope, of a strong access.
    pub scope: Scope,
    /// The time.
    pub time: u64,
    /// The instruction, by its number.
    pub code: u32,
}

/// How often a load may return an older write while there is a newer one, before it returns the newest: what waits for a write gets it.
const DELAY_MAX: u32 = 3;

/// Bytes of the longest access.
const BYTES_MAX: u64 = 64;

impl Access {
    /// The scope of a strong access.
    pub fn strong(&self) -> Scope {
        match self.ordering {
            Ordering::Weak => Scope::None,
            Ordering::Volatile | Ordering::Mmio => Scope::Sys,
            Ordering::Relaxed | Ordering::Acquire | Ordering::Release | Ordering::AcqRel | Ordering::SeqCst => self.scope,
        }
    }

    /// True if it is morally strong to a write at the same location.
    fn is_strong_to(&self, write: &Write) -> bool {
        write.is_strong_to(self.by, self.strong())
    }
}

/// What a load returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The write.
    pub write: Source,
    /// A later write of the location, in coherence order, that was executed before; the last one.
    pub missed: Option<Source>,
}

/// A read of a strong load, for the lanes of the warp that execute it as well: those that know the same before it and read the same write
/// know the same then.
#[derive(Clone, Debug, Default)]
pub struct Learned(Option<Lesson>);

#[derive(Clone, Debug)]
struct Lesson {
    at: Location,
    /// What a lane knew.
    before: View,
    /// The writes that it knew.
    known: u64,
    /// The write that it read, and what it knew then; none if that depends on the lane.
    after: Option<(usize, View, Observed)>,
}

/// Threads that have met: what they knew then, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Meeting {
    pub view: View,
    pub time: u64,
}

/// The memory of a launch, as its threads see it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct WeakMemory {
    pub(super) state: u64,
    /// What warps have written in a clear order.
    pub(super) lines: Lines,
    /// The locations whose writes have none, or may be read in another.
    pub(super) histories: BTreeMap<Location, History>,
    /// A number above those of all writes of histories that are gone.
    pub(super) next_number: u64,
    pub(super) threads: BTreeMap<Place, ThreadState>,
    /// The last meetings of all threads of blocks and of warps.
    pub(super) met: BTreeMap<Group, Meeting>,
    /// Warps of which some thread has executed a fence or a release, so that its strong writes carry views.
    pub(super) releasing: BTreeSet<Group>,
    /// What the lanes of a warp have read last together.
    pub(super) polls: Polls,
    /// What was seen by threads that have met at an object, such as the mbarriers of a cluster.
    pub(super) meetings: BTreeMap<u64, View>,
    /// What is known to the threads that have executed a `fence.sc` of this scope or a wider one, around each thread.
    pub(super) sc_fences: BTreeMap<Around, Pattern>,
    /// The last loads that returned another write than the newest.
    pub(super) stale: VecDeque<StaleRead>,
    /// What is noted of the order of all accesses, if something is.
    pub(super) consistency: Option<Box<Consistency>>,
    /// What instructions order beside what they say.
    pub(super) strengthenings: Vec<Strengthening>,
}

impl WeakMemory {
    /// The memory before the first operation.
    pub fn new(seed: u64) -> Self {
        Self { state: seed ^ 0x9e37_79b9_7f4a_7c15, ..Self::default() }
    }

    /// Instructions order these things, too.
    pub fn strengthen(&mut self, strengthenings: &[Strengthening]) {
        self.strengthenings = strengthenings.to_vec();
    }

    /// What an instruction orders beside what it says.
    pub fn strengthenings(&self, code: u32) -> impl Iterator<Item = Strengthening> {
        self.strengthenings.iter().copied().filter(move |strengthening| strengthening.code == code)
    }

    /// A random number below `count` (splitmix64).
    fn below(&mut self, count: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % count.max(1) as u64) as usize
    }

    /// The newest is chosen as often as all others together.
    fn choose(&mut self, among: &[usize]) -> usize {
        let last = among.len() - 1;
        if last == 0 || self.below(2) == 0 { among[last] } else { among[self.below(last)] }
    }

    /// Chooses what a load returns: the newest, if the load has not returned that again and again.
    fn choose_fairly(&mut self, access: &Access, among: &[usize]) -> usize {
        let newest = among[among.len() - 1];
        if among.len() == 1 {
            return newest;
        }
        let (at, code) = (access.at, access.code);
        let before = self.threads.get(&access.by).and_then(|thread| thread.delay).filter(|delay| (delay.at, delay.code) == (at, code));
        let count = before.map_or(0, |delay| delay.count);
        let chosen = if count >= DELAY_MAX { newest } else { self.choose(among) };
        let delay = (chosen != newest).then_some(Delay { at, code, count: count + 1 });
        self.threads.entry(access.by).or_default().delay = delay;
        chosen
    }

    /// The writes of a history that precede the next operation of a thread in causality order, or that its warp has written, without
    /// those that others of them follow. The model orders nothing between lanes of a warp; hardware keeps accesses of a warp to one place
    /// in order.
    pub(super) fn known(&self, by: Place, at: Location, history: &History) -> u64 {
        let views: SmallVec<[&View; 3]> = self.views(by).collect();
        let mut known = views.iter().fold(0, |known, view| known | view.observed(at, history));
        let mut followed = 0;
        for (own, write) in history.writes.iter().enumerate().rev() {
            if followed >> own & 1 != 0 {
                continue;
            }
            let is_of_warp = || write.by.is_some_and(|writer| writer.is_of_warp(by));
            if known >> own & 1 != 0 || is_of_warp() || views.iter().any(|view| write.is_covered(view)) {
                known |= 1 << own;
                followed |= write.after;
            }
        }
        known
    }

    /// The views that make up what a thread knows of others.
    fn views(&self, by: Place) -> impl Iterator<Item = &View> {
        let met = [Group::block(by), Group::warp(by)].into_iter().filter_map(|group| self.met.get(&group)).map(|met| &met.view);
        self.threads.get(&by).map(|thread| &thread.view).into_iter().chain(met)
    }

    /// True if a write precedes the next operation of a thread in causality order.
    pub(super) fn has_passed(&self, by: Place, at: Location, history: &History, own: usize) -> bool {
        let has = |view: &View| view.observed(at, history) >> own & 1 != 0 || history.writes[own].is_covered(view);
        self.views(by).any(has)
    }

    /// True if a write precedes the next operation of a thread in causality order, or is one of its warp.
    fn has_passed_or_is_of_warp(&self, by: Place, at: Location, history: &History, own: usize) -> bool {
        history.writes[own].by.is_some_and(|writer| writer.is_of_warp(by)) || self.has_passed(by, at, history, own)
    }

    /// All that a thread knows, its own writes until now included.
    pub(super) fn view_of(&mut self, by: Place, now: u64) -> View {
        let Self { threads, met, .. } = self;
        let view = &mut threads.entry(by).or_default().view;
        for group in [Group::block(by), Group::warp(by)] {
            met.get(&group).iter().for_each(|met| view.join_met(group, &met.view, met.time));
        }
        view.compact();
        let mut all = view.clone();
        all.add_until(Group::thread(by), now);
        all
    }

    /// Whether each lane of a load can return the newest write alone, and learns nothing from that; `scope` is that of a strong one.
    #[inline]
    pub fn load_is_simple(&self, access: &WarpAccess<'_>, scope: Scope) -> bool {
        self.lines.find(access, scope, &self.met(access.warp)).is_known
    }

    /// True if a load returns what its lanes have read before, which is the newest write still, so that they learn nothing from it;
    /// `held` is what memory holds.
    pub fn is_polled(&self, access: &WarpAccess<'_>, how: (Ordering, Scope), held: impl FnOnce() -> SmallVec<[u8; 16]>) -> bool {
        let Some(at) = polls::location(access).filter(|_| self.consistency.is_none()) else { return false };
        self.histories.get(&at).is_some_and(|history| self.polls.has(access, how, at, history) && history.held == held())
    }

    /// Notes that all lanes of a load have returned the newest write.
    pub fn note_poll(&mut self, access: &WarpAccess<'_>, how: (Ordering, Scope)) {
        let Self { polls, histories, .. } = self;
        if let Some((at, history)) = polls::location(access).and_then(|at| Some((at, histories.get(&at)?))) {
            polls.add(access, how, at, history);
        }
    }

    /// Whether a store of a warp comes after all others in coherence order, and carries no view; `scope` is that of a strong one.
    #[inline]
    pub fn store_is_simple(&self, access: &WarpAccess<'_>, scope: Scope) -> bool {
        let carries = scope != Scope::None && self.releasing.contains(&Group::warp(access.warp));
        !carries && self.lines.find(access, Scope::None, &self.met(access.warp)).is_known
    }

    /// Whether an atomic operation of a warp reads the newest write alone and comes after all others, and carries no view.
    pub fn atomic_is_simple(&self, access: &WarpAccess<'_>, scope: Scope) -> bool {
        if self.releasing.contains(&Group::warp(access.warp)) {
            return false;
        }
        let found = self.lines.find(access, scope, &self.met(access.warp));
        found.is_known || found.is_strong
    }

    /// The last meetings of all threads of a warp, of the block and of the warp.
    fn met(&self, warp: Place) -> Met<'_> {
        let meeting = |group: Group| self.met.get(&group).map(|met| (&met.view, met.time));
        Met { block: meeting(Group::block(warp)), warp: meeting(Group::warp(warp)) }
    }

    /// Adds what a warp wrote where that was simple.
    pub fn add(&mut self, access: &WarpAccess<'_>, record: Record) {
        self.end_stale(access.warp);
        self.lines.add(access, record);
    }

    pub(super) fn met_at(&self, group: Group) -> Option<u64> {
        self.met.get(&group).map(|met| met.time)
    }

    /// The history of a location that holds these bytes, of what warps wrote to it in a clear order; none if nothing is known of that.
    pub(super) fn recorded(&self, at: Location, held: &[u8]) -> Option<History> {
        let mut history: Option<History> = None;
        let mut before: Option<&Record> = None;
        for written in self.lines.written(at) {
            // Each lane of a store finds what was there before all of them.
            let is_of_instruction = before.replace(written.record).is_some_and(|before| std::ptr::eq(before, written.record));
            let Some((old, new)) = written.data else {
                history = None;
                continue;
            };
            if history.as_ref().is_none_or(|history| !is_of_instruction && history.held[..] != *old) {
                history = Some(History::new(old, self.next_number));
            }
            let last = history.as_mut().and_then(|history| history.writes.last_mut());
            if let Some(last) = last.filter(|last| is_of_instruction && !written.record.is_atomic && last.bytes[..] == *new) {
                last.also_by |= LaneMask::of(written.lane);
                continue;
            }
            let write = Write {
                bytes: SmallVec::from_slice(new),
                by: Some(written.thread()),
                time: written.record.time,
                code: written.record.code,
                scope: written.record.scope,
                after: 0,
                source: None,
                patterns: Vec::new(),
                also_by: LaneMask::NONE,
            };
            history.iter_mut().for_each(|history| history.append(write.clone(), written.record.is_atomic));
        }
        history.filter(|history| history.held[..] == *held)
    }

    fn open(&mut self, at: Location, held: &[u8]) -> Option<History> {
        let history = self.recorded(at, held);
        self.lines.open(at);
        history
    }

    /// Makes the history of a location of which a thread may not know the newest write.
    fn open_for(&mut self, by: Place, at: Location, held: &[u8]) {
        let Some(newest) = self.lines.written(at).last() else { return };
        let (writer, time) = (newest.thread(), newest.record.time);
        let is_known = writer == by || self.views(by).any(|view| view.covers(writer, time));
        if !is_known && let Some(history) = self.open(at, held) {
            self.histories.insert(at, history);
        }
    }

    pub(super) fn forget(&mut self, at: Location) {
        if let Some(history) = self.histories.remove(&at) {
            self.next_number = self.next_number.max(history.next());
        }
    }

    /// A load, where memory holds `held`; none if nothing was written to its location that some thread may not know, so that it returns
    /// that. `learned` is that of the lanes before in the same access.
    pub fn load(&mut self, access: &Access, held: &[u8], learned: &mut Learned) -> Option<Read> {
        if !self.histories.contains_key(&access.at) {
            self.open_for(access.by, access.at, held);
        }
        if self.histories.get(&access.at).is_some_and(|history| history.held[..] != *held) {
            self.forget(access.at);
        }
        let Some(history) = self.histories.get(&access.at) else {
            self.note_order_of_read(access, None);
            return None;
        };
        let own = self.threads.get(&access.by);
        let is_lesson = |lesson: &Lesson| lesson.at == access.at && own.is_some_and(|own| own.view.is_same(&lesson.before));
        if !learned.0.as_ref().is_some_and(is_lesson) {
            let before = own.map_or_else(View::default, |own| own.view.clone());
            learned.0 = Some(Lesson { at: access.at, before, known: self.known(access.by, access.at, history), after: None });
        }
        let known = learned.0.as_ref().map_or(0, |lesson| lesson.known);
        let among: SmallVec<[usize; WRITES_MAX]> = history.readable(known).collect();
        let chosen = self.choose_fairly(access, &among);
        let history = self.histories.get(&access.at)?;
        let read = Read { write: history.writes[chosen].source(), missed: missed(history, chosen) };
        let link = read.missed.as_ref().map(|missed| self.link(access.by, missed));
        self.learn(access, chosen, learned);
        self.note_order_of_read(access, Some(chosen));
        self.note_read(access, &read, link);
        Some(read)
    }

    /// A load reads a write.
    fn learn(&mut self, access: &Access, write: usize, learned: &mut Learned) {
        let Self { histories, threads, .. } = self;
        let of = histories.get(&access.at).map(|history| &history.writes[write]);
        let is_of_others = of.is_some_and(|of| of.by.is_some_and(|writer| !writer.is_of_warp(access.by)));
        let Some(lesson) = learned.0.as_mut().filter(|_| is_of_others && access.strong() != Scope::None) else {
            return self.observe(access, write, access.ordering.acquires());
        };
        let thread = threads.entry(access.by).or_default();
        let can_learn = thread.observed.is_empty();
        match &lesson.after {
            Some((same, view, observed)) if can_learn && *same == write => {
                (thread.view, thread.observed) = (view.clone(), observed.clone());
                of.iter().for_each(|of| thread.note_read(of, (access.time, access.code), access.is_strong_to(of)));
            }
            Some(_) | None => {
                self.observe(access, write, access.ordering.acquires());
                let thread = self.threads.get(&access.by).filter(|_| can_learn);
                lesson.after = thread.map(|thread| (write, thread.view.clone(), thread.observed.clone()));
            }
        }
    }

    /// The last loads that returned another write than the newest, oldest first.
    pub fn stale_reads(&self) -> impl DoubleEndedIterator<Item = &StaleRead> {
        self.stale.iter()
    }

    /// A read observes a write.
    fn observe(&mut self, access: &Access, write: usize, acquires: bool) {
        let Self { histories, threads, .. } = self;
        let Some(history) = histories.get(&access.at) else { return };
        let of = &history.writes[write];
        let (is_strong, is_of_other) = (access.is_strong_to(of), of.by.is_some_and(|writer| writer != access.by));
        let acquires = acquires && access.strong() != Scope::None;
        if !is_strong && !is_of_other && !acquires {
            return;
        }
        let thread = threads.entry(access.by).or_default();
        if is_of_other {
            thread.note_read(of, (access.time, access.code), is_strong);
        }
        if is_strong {
            thread.view.observe(access.at, history.first, history.first + write as u64);
            thread.observe(access.by, access.at, &of.patterns, acquires.then_some(access.scope));
        } else if acquires {
            thread.acquire(access.by, access.scope, Some(access.at));
        }
    }

    /// Makes room for a write of a location. Where memory holds something else than its history says, something else has written to it,
    /// such as an asynchronous copy; where it overlaps other locations, these are accessed otherwise now. Both begin anew.
    fn prepare(&mut self, at: Location, held: &[u8]) {
        if !self.histories.contains_key(&at) {
            self.begin(at, held);
        }
        let Some(history) = self.histories.get_mut(&at) else { return };
        if history.held[..] != *held {
            *history = History::new(held, history.next());
        }
        history.make_room();
    }

    /// Begins the history of a location. Those of locations that overlap it end, so that no two overlap.
    fn begin(&mut self, at: Location, held: &[u8]) {
        let (memory, address, bytes) = at;
        let first = (memory, address.saturating_sub(BYTES_MAX), 0);
        let overlaps = |other: &Location| other.1 + u64::from(other.2) > address;
        let others: SmallVec<[Location; 4]> =
            self.histories.range(first..(memory, address + u64::from(bytes), 0)).map(|(other, _)| *other).filter(overlaps).collect();
        others.iter().for_each(|other| self.forget(*other));
        let history = self.open(at, held).unwrap_or_else(|| History::new(held, self.next_number));
        self.histories.insert(at, history);
    }

    /// A store; `held` is what memory holds before it. Answers whether memory holds the new bytes then: not if the write takes a place
    /// before another one.
    pub fn store(&mut self, access: &Access, held: &[u8], bytes: &[u8]) -> bool {
        self.prepare(access.at, held);
        let history = &self.histories[&access.at];
        let known = self.known(access.by, access.at, history);
        let mut before = places(known & history.all()).fold(1, |before, write| before | 1 << write | history.writes[write].after);
        let open: Vec<usize> = places(history.all() & !before).filter(|write| access.is_strong_to(&history.writes[*write])).collect();
        // One of the writes that are not known, and what follows it, may come later in coherence order.
        let from = self.below(2 * open.len() + 1);
        let history = &self.histories[&access.at];
        let mut later = open.get(from).map_or(0, |write| 1 << write | history.successors(*write));
        if later & before != 0 || history.splits_atomic(later) {
            later = 0;
        }
        before |= open.iter().filter(|write| later >> **write & 1 == 0).fold(0, |before, write| before | 1 << write);
        let last = places(later).max_by_key(|write| history.writes[*write].after.count_ones());
        if let Some(missed) = last.map(|last| history.writes[last].source()) {
            self.note_store(access, bytes, missed);
        }
        self.write(access, bytes, (before, later), None)
    }

    /// An atomic operation, which reads the newest write that is morally strong to it, or one that none such follows. Memory holds `held`;
    /// `change` has the new bytes for the old ones. Answers what it reads, and whether memory holds the new bytes then.
    pub fn atomic(
        &mut self,
        access: &Access,
        is_reduction: bool,
        held: &[u8],
        change: impl FnOnce(&[u8]) -> SmallVec<[u8; 16]>,
    ) -> (Read, bool) {
        self.prepare(access.at, held);
        let history = &self.histories[&access.at];
        let top = history.top().filter(|top| self.has_passed_or_is_of_warp(access.by, access.at, history, *top));
        let chosen = if let Some(top) = top {
            top
        } else {
            let is_last = |write: &usize| !places(history.successors(*write)).any(|other| access.is_strong_to(&history.writes[other]));
            let known = self.known(access.by, access.at, history);
            let among: SmallVec<[usize; WRITES_MAX]> = history.readable(known).filter(is_last).collect();
            self.choose(&among)
        };
        let acquires = access.ordering.acquires();
        if is_reduction {
            // It returns nothing, so it is part of no acquire pattern; that it observes counts.
            self.observe_reduction(access, chosen);
        } else {
            self.observe(access, chosen, acquires);
        }
        self.note_order_of_read(access, Some(chosen));
        let history = &self.histories[&access.at];
        let source = &history.writes[chosen];
        let old = source.bytes.clone();
        let is_observed = access.is_strong_to(source);
        let patterns = if is_observed { source.patterns.clone() } else { Vec::new() };
        let number = history.first + chosen as u64;
        let read = Read { write: source.source(), missed: missed(history, chosen) };
        let is_last_of_all = history.successors(chosen) == 0;
        let before = if top.is_some() {
            history.all()
        } else {
            let known = self.known(access.by, access.at, history);
            let strong = places(history.all()).filter(|write| access.is_strong_to(&history.writes[*write]));
            strong.fold(known & history.all() | 1, |before, write| before | 1 << write)
        };
        let new = change(&old);
        if !is_last_of_all {
            self.note_unclear_order();
        }
        let holds = self.write(access, &new, (before, 0), Some((number, patterns)));
        (read, holds)
    }

    /// An atomic operation of a lane that leaves what it finds, after another lane of its warp in the same instruction: it joins the write
    /// of that lane, which has the same bytes. False if that is no such write, or if it releases by itself.
    pub fn join_write(&mut self, access: &Access, is_reduction: bool, held: &[u8]) -> bool {
        let Access { by, at, ordering, time, code, scope } = *access;
        let Self { histories, threads, .. } = self;
        let Some(history) = histories.get_mut(&at).filter(|history| history.held[..] == *held && self.consistency.is_none()) else {
            return false;
        };
        let Some(top) = history.top() else { return false };
        let (first, write) = (history.first, &mut history.writes[top]);
        let is_of_instruction = (write.time, write.code) == (time, code) && write.by.is_some_and(|writer| writer.is_of_warp(by));
        if !is_of_instruction || write.bytes[..] != *held || !access.is_strong_to(write) || ordering.releases() {
            return false;
        }
        let thread = threads.entry(by).or_default();
        thread.view.observe(at, first, first + top as u64);
        if !is_reduction {
            thread.observe(by, at, &write.patterns, ordering.acquires().then_some(scope));
        }
        thread.patterns(at).for_each(|pattern| add_pattern(&mut write.patterns, pattern));
        write.also_by |= LaneMask::of(by.lane());
        true
    }

    fn observe_reduction(&mut self, access: &Access, write: usize) {
        let Some(history) = self.histories.get(&access.at) else { return };
        if access.is_strong_to(&history.writes[write]) {
            let thread = self.threads.entry(access.by).or_default();
            thread.view.observe(access.at, history.first, history.first + write as u64);
        }
    }

    /// Adds a write; `source` is the one that an atomic operation has read, with the patterns that it passes on. Answers whether memory
    /// holds it then: of writes that coherence order does not relate, either may be what it holds.
    fn write(&mut self, access: &Access, bytes: &[u8], (before, later): (u64, u64), source: Option<(u64, Vec<Pattern>)>) -> bool {
        let scope = access.strong();
        self.end_stale(access.by);
        let (source, mut patterns) = source.map_or((None, Vec::new()), |(number, patterns)| (Some(number), patterns));
        if access.ordering.releases() {
            let pattern = Pattern::new(access.by, access.time, access.scope, self.view_of(access.by, access.time));
            self.releasing.insert(Group::warp(access.by));
            self.threads.entry(access.by).or_default().releases.insert((access.at, access.scope), pattern);
        }
        if scope != Scope::None
            && let Some(thread) = self.threads.get(&access.by)
        {
            thread.patterns(access.at).for_each(|pattern| add_pattern(&mut patterns, pattern));
        }
        let Some(history) = self.histories.get_mut(&access.at) else { return true };
        let (bytes, by, time, code) = (SmallVec::from_slice(bytes), Some(access.by), access.time, access.code);
        let own = history.add(
            Write { bytes: bytes.clone(), by, time, code, scope, after: 0, source, patterns, also_by: LaneMask::NONE },
            before,
            later,
        );
        let has_rivals = history.last().any(|write| write != own);
        let holds = later == 0 && (!has_rivals || self.below(2) == 0);
        if holds && let Some(history) = self.histories.get_mut(&access.at) {
            history.held = bytes;
        }
        self.note_order_of_write(access.at, own, later);
        holds
    }
}

/// The last write that follows one in coherence order.
pub(super) fn missed(history: &History, write: usize) -> Option<Source> {
    let later = history.successors(write);
    let last = history.last().filter(|other| later >> other & 1 != 0).last();
    last.map(|last| history.writes[last].source())
}

impl History {
    /// True if a write before those of `later` alone would come between the read and the write of an atomic operation.
    fn splits_atomic(&self, later: u64) -> bool {
        let source = |write: usize| self.writes[write].source.and_then(|source| source.checked_sub(self.first));
        places(later).any(|write| source(write).is_some_and(|source| later >> source & 1 == 0))
    }
}
