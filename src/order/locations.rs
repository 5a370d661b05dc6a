//! Release and acquire patterns through memory (PTX ISA, "Release and Acquire Patterns", "Observation order").
//!
//! A location remembers what the writes released whose value, or whose value through a chain of read-modify-writes, it holds. A strong read
//! of it learns that at once if it acquires, and otherwise at the reader's next fence.

use crate::base::WarpId;
use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::SmallVec;

use super::clock::{VectorClock, join_shared};
use crate::isa::Scope;

/// Where a location is: 0 for global memory, or the block slot of a block plus one; the address; and the bytes of what is accessed there,
/// since accesses of different sizes are never morally strong.
pub type Where = (u32, u64, u32);

/// A thread: block number, warp and lane.
pub type Writer = (u32, WarpId, u8);

/// Entries of clocks that a location keeps releaser by releaser; of more, the releases of the first blocks are known together only.
const KEPT_ENTRIES: usize = 1 << 12;

/// What was released with the value of a location.
#[derive(Clone, Debug, Default)]
pub struct Location {
    /// What was released, by scope.
    released: Vec<Released>,
    /// The last strong write: by which thread, and in which scope.
    last: Option<(Writer, Scope)>,
}

/// What a `fence.sc` has to do with what a write releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScFence {
    /// Nothing: the pattern synchronizes with any acquire pattern.
    Unrelated,
    /// The pattern begins with one: a `fence.sc` of any thread that comes after the read orders the two as well.
    Enough,
    /// One lies before the write, in another thread or without a pattern: a `fence.sc` after the read alone comes after it (PTX ISA,
    /// "Fence-SC Order").
    Needed,
}

/// What was released through a location in one scope.
#[derive(Clone, Debug)]
struct Released {
    scope: Scope,
    sc: ScFence,
    /// By the block whose threads did it, in order.
    by: SmallVec<[(u32, Arc<VectorClock>); 1]>,
    /// What several blocks released in a scope as wide as the grid.
    all: Option<Arc<VectorClock>>,
}

/// Locations through which something was released.
#[derive(Clone, Debug, Default)]
pub struct Locations {
    table: BTreeMap<Where, Location>,
}

/// What a reader finds in a location.
pub enum AcquireResult {
    /// This, if the fence that acquires it has at least this scope; and what a `fence.sc` has to do with it.
    Seen(Scope, ScFence, Arc<VectorClock>),
    /// This, but for the scopes.
    Missed(Arc<VectorClock>),
}

impl Location {
    /// Whether a thread of `block` observes the last write by a read in `scope`: the two are morally strong.
    fn is_observed(&self, scope: Scope, block: u32, cluster: u32) -> bool {
        self.last.is_none_or(|((by, ..), of)| of.min(scope) >= scope_of(by, block, cluster))
    }
}

impl Released {
    /// Adds what a thread of `block` released.
    fn add(&mut self, block: u32, clock: &Arc<VectorClock>) {
        match self.by.binary_search_by_key(&block, |(by, _)| *by) {
            Ok(index) => join_shared(&mut self.by[index].1, clock),
            Err(index) => {
                if self.scope == Scope::Gpu && self.all.is_none() {
                    self.all = self.by.first().map(|(_, first)| Arc::clone(first));
                }
                self.by.insert(index, (block, Arc::clone(clock)));
            }
        }
        if let Some(all) = &mut self.all {
            join_shared(all, clock);
            self.forget();
        }
        assert!(self.by.is_sorted_by(|(one, _), (next, _)| one < next), "releases are by block");
    }

    /// Keeps the clocks of single blocks small.
    fn forget(&mut self) {
        let mut entries = 0;
        let mut dropped = self.by.len();
        while dropped > 0 && entries + self.by[dropped - 1].1.block_count() <= KEPT_ENTRIES {
            dropped -= 1;
            entries += self.by[dropped].1.block_count();
        }
        self.by.drain(..dropped);
    }

    /// What a thread of `block` finds: each with the scope that it takes to acquire it. If it does so `at_once`, what several blocks
    /// released in the widest scope is all of it.
    fn found(&self, block: u32, cluster: u32, at_once: bool) -> impl Iterator<Item = (Scope, &Arc<VectorClock>)> {
        let near = match self.all {
            None => 0..self.by.len(),
            Some(_) if at_once => 0..0,
            Some(_) => {
                let first = block - block % cluster;
                let before = |end: u32| self.by.partition_point(|(by, _)| *by < end);
                before(first)..before(first.saturating_add(cluster))
            }
        };
        let near = self.by[near].iter().map(move |(by, clock)| (scope_of(*by, block, cluster), clock));
        near.chain(self.all.iter().map(|all| (Scope::Gpu, all)))
    }
}

impl Locations {
    /// Whether nothing was released through any.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// A strong write by a thread in a scope, which `keeps` what the location holds if it is part of a read-modify-write, and releases
    /// `clocks`: each in a scope. A cluster has `cluster` blocks.
    pub fn write(
        &mut self,
        at: Where,
        (writer, scope): (Writer, Scope),
        keeps: bool,
        cluster: u32,
        clocks: Vec<(Scope, ScFence, Arc<VectorClock>)>,
    ) {
        if clocks.is_empty() && !self.table.contains_key(&at) {
            return;
        }
        let location = self.table.entry(at).or_default();
        // What a thread released it continues to release with its later writes to the same place.
        let is_same = location.last.is_some_and(|(last, _)| last == writer);
        if !is_same && (!keeps || !location.is_observed(scope, writer.0, cluster)) {
            location.released.clear();
        }
        location.last = Some((writer, scope));
        for (scope, sc, clock) in clocks {
            let (scope, block) = (scope.min(Scope::Gpu), writer.0);
            match location.released.iter_mut().find(|other| (other.scope, other.sc) == (scope, sc)) {
                Some(other) => other.add(block, &clock),
                None => location.released.push(Released { scope, sc, by: smallvec::smallvec![(block, clock)], all: None }),
            }
        }
    }

    /// A strong read in a scope, which acquires at once or not, by a thread of `block`, whose cluster has `cluster` blocks.
    pub fn read(&self, at: Where, (scope, at_once): (Scope, bool), block: u32, cluster: u32) -> impl Iterator<Item = AcquireResult> {
        let location = self.table.get(&at);
        let is_observed = location.is_some_and(|location| location.is_observed(scope, block, cluster));
        location.map_or(&[][..], |location| &location.released).iter().flat_map(move |released| {
            let at_once = at_once && scope >= Scope::Gpu;
            released.found(block, cluster, at_once).map(move |(needed, clock)| {
                let clock = Arc::clone(clock);
                if is_observed && released.sc == ScFence::Needed {
                    AcquireResult::Seen(Scope::Gpu, released.sc, clock)
                } else if is_observed && released.scope.min(scope) >= needed {
                    AcquireResult::Seen(needed, released.sc, clock)
                } else {
                    AcquireResult::Missed(clock)
                }
            })
        })
    }
}

/// The narrowest scope that holds threads of both blocks.
pub fn scope_of(a: u32, b: u32, cluster: u32) -> Scope {
    if a == b {
        Scope::Cta
    } else if a / cluster == b / cluster {
        Scope::Cluster
    } else {
        Scope::Gpu
    }
}
