//! The last writes of a location.

use smallvec::SmallVec;

use super::thread::{Pattern, Place};
use super::view::View;
use crate::base::lanes::LaneMask;
use crate::isa::Scope;

/// Bytes of memory that one access covers: 0 for global memory or a number of a shared memory, the address, and the length.
pub type Location = (u32, u64, u32);

/// The most writes of a location that are kept.
pub const WRITES_MAX: usize = 16;

/// A write as a reader sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// What the location holds after it.
    pub bytes: SmallVec<[u8; 16]>,
    /// The thread; none of what was there before the first write.
    pub by: Option<Place>,
    /// When it was executed.
    pub time: u64,
    /// The instruction, by its number.
    pub code: u32,
    /// The scope of a strong write.
    pub scope: Scope,
}

/// A write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Write {
    /// What the location holds after it.
    pub bytes: SmallVec<[u8; 16]>,
    /// The thread; none of what was there before the first write.
    pub by: Option<Place>,
    /// When it was executed.
    pub time: u64,
    /// The instruction, by its number.
    pub code: u32,
    /// The scope of a strong one.
    pub(super) scope: Scope,
    /// The writes before it in coherence order: a bit for each, by its place in the history.
    pub(super) after: u64,
    /// The write that an atomic operation has read, by its number.
    pub(super) source: Option<u64>,
    /// The release patterns that an acquire pattern which reads it observes.
    pub(super) patterns: Vec<Pattern>,
    /// Other lanes of the warp that have written the same bytes after the thread, by the same instruction: as one write of all.
    pub(super) also_by: LaneMask,
}

/// The last writes of a location, in the order in which they were executed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct History {
    /// The number of the first one.
    pub first: u64,
    /// The writes.
    pub writes: Vec<Write>,
    /// What memory holds.
    pub held: SmallVec<[u8; 16]>,
}

impl Write {
    /// True if an access of a thread, with this scope if it is a strong one, is morally strong to it.
    pub fn is_strong_to(&self, by: Place, scope: Scope) -> bool {
        self.by.is_some_and(|writer| writer == by || by.includes(scope, writer) && writer.includes(self.scope, by))
    }

    /// True if a view has it, because it has all that a thread which made it had executed until then.
    pub fn is_covered(&self, view: &View) -> bool {
        let is_covered = |by: Place| view.covers(by, self.time) || view.covers_lane(by, self.also_by, self.time);
        self.by.is_some_and(is_covered)
    }

    /// As a reader sees it.
    pub fn source(&self) -> Source {
        let Self { bytes, by, time, code, scope, .. } = self;
        Source { bytes: bytes.clone(), by: *by, time: *time, code: *code, scope: *scope }
    }
}

impl History {
    /// Of a location that holds these bytes; its first write has the number `first`.
    pub fn new(bytes: &[u8], first: u64) -> Self {
        let bytes: SmallVec<[u8; 16]> = SmallVec::from_slice(bytes);
        let held = bytes.clone();
        let before = Write {
            bytes,
            by: None,
            time: 0,
            code: 0,
            scope: Scope::None,
            after: 0,
            source: None,
            patterns: Vec::new(),
            also_by: LaneMask::NONE,
        };
        Self { first, writes: vec![before], held }
    }

    /// The writes that follow one in coherence order, or were executed after it and have no place in that.
    pub fn later_than(&self, own: usize) -> u64 {
        let is_later = |other: &usize| *other > own && self.writes[own].after >> other & 1 == 0;
        (0..self.writes.len()).filter(is_later).fold(self.successors(own), |later, other| later | 1 << other)
    }

    /// The number of the next write.
    pub fn next(&self) -> u64 {
        self.first + self.writes.len() as u64
    }

    /// Adds a write after all others; an atomic operation has read the one before.
    pub fn append(&mut self, mut write: Write, is_atomic: bool) {
        self.make_room();
        write.after = self.all();
        write.source = is_atomic.then(|| self.next() - 1);
        self.held = write.bytes.clone();
        self.writes.push(write);
    }

    /// The writes that no other follows in coherence order.
    pub fn last(&self) -> impl Iterator<Item = usize> + use<> {
        places(self.all() & !self.writes.iter().fold(0, |all, write| all | write.after))
    }

    /// The writes that no known one follows in coherence order.
    pub fn readable(&self, known: u64) -> impl Iterator<Item = usize> + use<> {
        let hidden = places(known & self.all()).fold(0, |hidden, write| hidden | self.writes[write].after);
        places(self.all() & !hidden)
    }

    /// All of them.
    pub fn all(&self) -> u64 {
        (1 << self.writes.len()) - 1
    }

    /// The last write, if it follows all others in coherence order.
    pub fn top(&self) -> Option<usize> {
        let top = self.writes.len() - 1;
        (self.writes[top].after | 1 << top == self.all()).then_some(top)
    }

    /// The writes that follow one in coherence order.
    pub fn successors(&self, write: usize) -> u64 {
        let follows = |(_, other): &(usize, &Write)| other.after >> write & 1 != 0;
        self.writes.iter().enumerate().filter(follows).fold(0, |all, (other, _)| all | 1 << other)
    }

    /// Drops the first write if there are too many.
    pub fn make_room(&mut self) {
        if self.writes.len() >= WRITES_MAX {
            self.writes.remove(0);
            self.writes.iter_mut().for_each(|write| write.after >>= 1);
            self.first += 1;
        }
    }

    /// Adds a write after those of `before` and before those of `later`; answers its place.
    pub fn add(&mut self, mut write: Write, before: u64, later: u64) -> usize {
        let own = self.writes.len();
        write.after = places(before).fold(before, |after, other| after | self.writes[other].after);
        let after = write.after;
        self.writes.push(write);
        for other in places(later) {
            self.writes[other].after |= after | 1 << own;
        }
        own
    }
}

/// The places of the bits that are set.
pub fn places(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros() as usize;
        (bits != 0).then(|| {
            bits &= bits - 1;
            place
        })
    })
}
