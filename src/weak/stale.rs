//! Why a load may return an older write: which writes a thread may read, and the link that is missing for it to know the newest.

use super::history::{History, Location, Source};
use super::memory::{Access, Read, WeakMemory, missed};
use super::thread::{Group, LastRead, Pattern, Place};
use crate::isa::Scope;

/// What is missing for a thread to know a write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Link {
    /// The thread has read nothing that was written after it.
    Nothing,
    /// It has read this later write, by an access that is not morally strong to it.
    Strength(LastRead),
    /// It has read this later write, which carries no release that has the write before it.
    Release(LastRead),
    /// That write carries a release whose scope does not include the thread.
    ReleaseScope(LastRead, Scope),
    /// That write carries a release, and nothing acquires it: no acquire, and no fence, of a scope that includes its thread.
    Acquire(LastRead),
}

/// A load that returned another write than the newest, or a store that took a place before another write in coherence order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StaleRead {
    /// The thread.
    pub by: Place,
    /// When.
    pub time: u64,
    /// The instruction, by its number.
    pub code: u32,
    /// The bytes.
    pub at: Location,
    /// True of a store.
    pub is_store: bool,
    /// What the load returned, or what the store wrote.
    pub read: Source,
    /// The newest write, which the thread did not see, or the last one that follows the store.
    pub missed: Source,
    /// Why it did not have to.
    pub link: Link,
    /// True if the instruction has read the location again, and its thread has written nothing in between, as a loop does that waits.
    pub is_repeated: bool,
    /// True if its thread, or a lane of its warp, has written since.
    pub(super) is_over: bool,
}

impl StaleRead {
    /// False of a load that returned the same bytes as the newest write has.
    pub fn makes_a_difference(&self) -> bool {
        self.is_store || self.read.bytes != self.missed.bytes
    }
}

/// How a thread knows a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowing {
    /// It is its own.
    Own,
    /// All threads of its block have met since.
    MetInBlock,
    /// All threads of its warp have met since.
    MetInWarp,
    /// Another lane of its warp has written it, and accesses of a warp to one place stay in order.
    OfWarp,
    /// It has read it, or a release that it has acquired, or a barrier, passes it on.
    Passed,
}

/// Why a write may be read, or may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// No write follows it in coherence order.
    Newest,
    /// The thread need not know this write, which follows it.
    Allowed(Source, Link),
    /// The thread knows this write, which follows it.
    Excluded(Source, Knowing),
}

/// A write that a load may return, or may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The write.
    pub write: Source,
    /// Why.
    pub standing: Standing,
}

/// Stale reads that are kept.
const STALE_MAX: usize = 64;

impl WeakMemory {
    /// The writes of a location that are kept, oldest first, and for each whether a thread may read it next; `held` is what memory holds.
    pub fn may_read(&self, by: Place, at: Location, held: &[u8]) -> Vec<Choice> {
        let recorded = if self.histories.contains_key(&at) { None } else { self.recorded(at, held) };
        let history = self.histories.get(&at).or(recorded.as_ref());
        let Some(history) = history.filter(|history| history.held[..] == *held) else {
            let write = Source { bytes: held.into(), by: None, time: 0, code: 0, scope: Scope::None };
            return vec![Choice { write, standing: Standing::Newest }];
        };
        let known = self.known(by, at, history);
        let choice = |own: usize| {
            let later = history.successors(own);
            let knows = (0..history.writes.len()).rfind(|other| later & known & 1 << other != 0);
            let standing = match (knows, missed(history, own)) {
                (Some(other), _) => Standing::Excluded(history.writes[other].source(), self.knowing(by, at, history, other)),
                (None, Some(later)) => {
                    let link = self.link(by, &later);
                    Standing::Allowed(later, link)
                }
                (None, None) => Standing::Newest,
            };
            Choice { write: history.writes[own].source(), standing }
        };
        (0..history.writes.len()).map(choice).collect()
    }

    /// The threads that have read, or ordered, what others may not know.
    pub fn threads(&self) -> impl Iterator<Item = Place> {
        self.threads.keys().copied()
    }

    fn knowing(&self, by: Place, at: Location, history: &History, own: usize) -> Knowing {
        let write = &history.writes[own];
        let is_in = |group: Group| write.by.is_some_and(|writer| group.contains(&Group::thread(writer)));
        let met = |group: Group| is_in(group) && self.met_at(group).is_some_and(|time| write.time <= time);
        if write.by == Some(by) {
            Knowing::Own
        } else if met(Group::block(by)) {
            Knowing::MetInBlock
        } else if met(Group::warp(by)) {
            Knowing::MetInWarp
        } else if self.has_passed(by, at, history, own) {
            Knowing::Passed
        } else {
            Knowing::OfWarp
        }
    }

    /// What is missing for a thread to know a write.
    pub(super) fn link(&self, by: Place, write: &Source) -> Link {
        let Some(thread) = self.threads.get(&by) else { return Link::Nothing };
        let later = thread.last_reads.values().filter(|read| read.write.time > write.time);
        // A flag is read by a strong access, and data mostly by weak ones.
        let later = later.max_by_key(|read| (read.is_strong, read.write.by == write.by, read.time));
        let Some(read) = later.cloned() else { return Link::Nothing };
        if !read.is_strong {
            return Link::Strength(read);
        }
        let passes = |pattern: &&Pattern| write.by.is_some_and(|writer| pattern.view.covers(writer, write.time));
        match thread.observed.values().find(passes) {
            None => Link::Release(read),
            Some(pattern) if pattern.by != by && !pattern.by.includes(pattern.scope, by) => Link::ReleaseScope(read, pattern.scope),
            Some(_) => Link::Acquire(read),
        }
    }

    /// Keeps a load that returns another write than the newest; `link` is what was missing before it.
    pub(super) fn note_read(&mut self, access: &Access, read: &Read, link: Option<Link>) {
        let Access { by, at, time, code, .. } = *access;
        let stale = &mut self.stale;
        let is_same = |before: &&mut StaleRead| (before.by, before.code, before.at) == (by, code, at);
        if let Some(before) = stale.iter_mut().rev().find(is_same).filter(|before| !before.is_over) {
            before.is_repeated = true;
        }
        if let (Some(missed), Some(link)) = (&read.missed, link) {
            let (read, missed) = (read.write.clone(), missed.clone());
            self.keep_stale(StaleRead { by, time, code, at, is_store: false, read, missed, link, is_repeated: false, is_over: false });
        }
    }

    /// Keeps a store of these bytes that takes a place before a write in coherence order.
    pub(super) fn note_store(&mut self, access: &Access, bytes: &[u8], missed: Source) {
        let Access { by, at, time, code, .. } = *access;
        let read = Source { bytes: bytes.into(), by: Some(by), time, code, scope: access.strong() };
        let link = self.link(by, &missed);
        self.keep_stale(StaleRead { by, time, code, at, is_store: true, read, missed, link, is_repeated: false, is_over: true });
    }

    fn keep_stale(&mut self, stale: StaleRead) {
        if self.stale.len() == STALE_MAX {
            // Those of loops that wait say least.
            self.stale.remove(self.stale.iter().position(|stale| stale.is_repeated).unwrap_or(0));
        }
        self.stale.push_back(stale);
    }

    /// A thread of a warp writes: what it reads from here on repeats nothing that it has read before.
    pub(super) fn end_stale(&mut self, by: Place) {
        self.stale.iter_mut().filter(|stale| stale.by.is_of_warp(by)).for_each(|stale| stale.is_over = true);
    }
}
