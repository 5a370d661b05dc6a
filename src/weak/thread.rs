//! What a thread knows, and what it releases.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::history::{Location, Source, Write};
use super::view::View;
use crate::base::lanes::LANES;
use crate::isa::Scope;

/// A thread: its block and its number in it, and the cluster of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The GPU.
    pub gpu: u32,
    /// The cluster.
    pub cluster: u32,
    /// The block.
    pub block: u32,
    /// The thread.
    pub thread: u32,
}

impl Ord for Place {
    /// By the GPU, the cluster, the block and the thread, in one comparison: places are keys of maps that every access asks.
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Place {
    fn rank(self) -> u128 {
        let Self { gpu, cluster, block, thread } = self;
        [gpu, cluster, block, thread].into_iter().fold(0, |rank, part| rank << 32 | u128::from(part))
    }

    /// A lane of its warp.
    pub fn with_lane(self, lane: usize) -> Self {
        Self { thread: self.thread / LANES as u32 * LANES as u32 + lane as u32, ..self }
    }

    /// The number of its lane.
    pub fn lane(self) -> usize {
        self.thread as usize % LANES
    }

    /// True if both are lanes of one warp.
    pub fn is_of_warp(self, other: Self) -> bool {
        Group::warp(self) == Group::warp(other)
    }

    /// True if a scope of this thread includes another one.
    pub fn includes(self, scope: Scope, other: Self) -> bool {
        match scope {
            Scope::None => false,
            Scope::Cta => (self.gpu, self.block) == (other.gpu, other.block),
            Scope::Cluster => (self.gpu, self.cluster) == (other.gpu, other.cluster),
            Scope::Gpu => self.gpu == other.gpu,
            Scope::Sys => true,
        }
    }
}

/// Threads that meet: a block, a warp of it, or one thread, as one number: the GPU, the block and the part, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group(u64);

/// Threads that meet others: all of a block, all of a warp, or one alone, each by its first thread.
#[derive(Clone, Copy, Debug)]
pub enum Party {
    /// A block.
    Block(Place),
    /// A warp.
    Warp(Place),
    /// A thread.
    Thread(Place),
}

impl Party {
    pub(super) fn group(self) -> Group {
        match self {
            Self::Block(first) => Group::block(first),
            Self::Warp(first) => Group::warp(first),
            Self::Thread(by) => Group::thread(by),
        }
    }

    pub(super) fn threads(self) -> RangeInclusive<Place> {
        match self {
            Self::Block(first) => first..=Place { thread: u32::MAX, ..first },
            Self::Warp(first) => first..=Place { thread: first.thread + LANES as u32 - 1, ..first },
            Self::Thread(by) => by..=by,
        }
    }
}

/// Bits of the number of a part: 0 is the block, then come its warps, then its threads.
const PART_BITS: u32 = 12;

/// The part that is the first thread.
const FIRST_THREAD: u64 = 1 << (PART_BITS - 1);

impl Group {
    fn new(of: Place, part: u64) -> Self {
        debug_assert!(part < 1 << PART_BITS, "a block of too many threads");
        Self(u64::from(of.gpu) << 44 | u64::from(of.block) << PART_BITS | part)
    }

    /// The block of a thread.
    pub fn block(of: Place) -> Self {
        Self::new(of, 0)
    }

    /// The warp of a thread.
    pub fn warp(of: Place) -> Self {
        Self::new(of, 1 + u64::from(of.thread) / LANES as u64)
    }

    /// A thread alone.
    pub fn thread(of: Place) -> Self {
        Self::new(of, FIRST_THREAD + u64::from(of.thread))
    }

    /// All groups that a thread is in.
    pub fn all_of(of: Place) -> [Self; 3] {
        [Self::thread(of), Self::warp(of), Self::block(of)]
    }

    /// True if all threads of `other` are in it.
    pub fn contains(self, other: &Self) -> bool {
        let (own, part) = (self.part(), other.part());
        let is_part =
            own == 0 || own == part || own < FIRST_THREAD && part >= FIRST_THREAD && 1 + (part - FIRST_THREAD) / LANES as u64 == own;
        self.0 >> PART_BITS == other.0 >> PART_BITS && is_part
    }

    fn part(self) -> u64 {
        self.0 & ((1 << PART_BITS) - 1)
    }
}

/// Release patterns of a block with one scope, as a write carries them: a thread that acquires one acquires all.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// The thread of the first operation of one.
    pub by: Place,
    /// When that was executed.
    pub time: u64,
    /// The scope of the first operations.
    pub scope: Scope,
    /// What precedes their writes.
    pub view: Arc<View>,
    /// True if they are several.
    is_joined: bool,
}

impl Pattern {
    /// That of an operation.
    pub fn new(by: Place, time: u64, scope: Scope, view: View) -> Self {
        Self { by, time, scope, view: Arc::new(view), is_joined: false }
    }

    /// True if a view has all of it, because it has all that the thread had executed.
    fn is_in(&self, view: &View) -> bool {
        !self.is_joined && view.covers(self.by, self.time)
    }

    /// What of two patterns must be the same for them to be one.
    pub fn key(&self) -> (Group, Scope) {
        (Group::block(self.by), self.scope)
    }

    fn join(&mut self, other: &Self) {
        if Arc::ptr_eq(&self.view, &other.view) || other.is_in(&self.view) {
            return;
        }
        if self.is_in(&other.view) {
            *self = other.clone();
            return;
        }
        let view = Arc::make_mut(&mut self.view);
        view.join(&other.view);
        view.compact();
        self.is_joined = true;
    }
}

/// Adds a pattern to those of a write.
pub fn add_pattern(patterns: &mut Vec<Pattern>, pattern: &Pattern) {
    match patterns.iter_mut().find(|other| other.key() == pattern.key()) {
        Some(other) => other.join(pattern),
        None => patterns.push(pattern.clone()),
    }
}

/// What a thread has read last of another one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LastRead {
    /// The write.
    pub write: Source,
    /// When it was read.
    pub time: u64,
    /// The instruction that read it, by its number.
    pub code: u32,
    /// True if that was morally strong to it.
    pub is_strong: bool,
}

/// A load that has returned an older write again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Delay {
    /// The location.
    pub at: Location,
    /// The instruction, by its number.
    pub code: u32,
    /// How often.
    pub count: u32,
}

/// Patterns that strong reads of a location have observed, by their block and scope.
pub type Observed = BTreeMap<(Location, Group, Scope), Pattern>;

/// The state of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ThreadState {
    /// The writes of others that precede its next operation in causality order, beside those of its last meetings.
    pub view: View,
    /// The last fence of each scope.
    pub fences: BTreeMap<Scope, Pattern>,
    /// The last release of each scope at a location.
    pub releases: BTreeMap<(Location, Scope), Pattern>,
    /// Patterns that strong reads have observed, which a fence or an acquire of the location completes.
    pub observed: Observed,
    /// What it has read last of each other thread that it need not know all of.
    pub last_reads: BTreeMap<Place, LastRead>,
    /// The load that does not return the newest write, if it waits for it.
    pub delay: Option<Delay>,
}

impl ThreadState {
    /// Notes that it has read a write, by an instruction at a time.
    pub fn note_read(&mut self, write: &Write, (time, code): (u64, u32), is_strong: bool) {
        let Some(writer) = write.by else { return };
        let read = || LastRead { write: write.source(), time, code, is_strong };
        match self.last_reads.entry(writer) {
            // What was written after it says more of what the thread could know.
            Entry::Occupied(before) if before.get().write.time > write.time => {}
            Entry::Occupied(mut before) => drop(before.insert(read())),
            Entry::Vacant(first) => drop(first.insert(read())),
        }
    }

    /// A strong read of a location observes patterns; `acquires` has the scope of one that acquires.
    pub fn observe(&mut self, own: Place, at: Location, patterns: &[Pattern], acquires: Option<Scope>) {
        for pattern in patterns.iter().filter(|pattern| !pattern.is_in(&self.view)) {
            let (block, scope) = pattern.key();
            match self.observed.entry((at, block, scope)) {
                Entry::Occupied(mut entry) => entry.get_mut().join(pattern),
                Entry::Vacant(entry) => drop(entry.insert(pattern.clone())),
            }
        }
        if let Some(scope) = acquires {
            self.acquire(own, scope, Some(at));
        }
    }

    /// Adds what precedes a pattern.
    pub fn join(&mut self, pattern: &Pattern) {
        if !pattern.is_in(&self.view) {
            self.view.join(&pattern.view);
        }
    }

    /// Joins the views of the patterns in scope, all or those that were observed at a location.
    pub fn acquire(&mut self, own: Place, scope: Scope, only: Option<Location>) {
        let Self { view, observed, .. } = self;
        observed.retain(|(at, ..), pattern| {
            let is_complete = only.is_none_or(|only| only == *at)
                && (pattern.by == own || own.includes(scope, pattern.by) && pattern.by.includes(pattern.scope, own));
            if is_complete && !pattern.is_in(view) {
                view.join(&pattern.view);
            }
            !is_complete
        });
        view.compact();
    }

    /// The release patterns that a strong write of a location completes.
    pub fn patterns(&self, at: Location) -> impl Iterator<Item = &Pattern> {
        let releases = self.releases.range((at, Scope::None)..=(at, Scope::Sys)).map(|(_, pattern)| pattern);
        releases.chain(self.fences.values())
    }
}
