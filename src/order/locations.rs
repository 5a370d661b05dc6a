//! Release and acquire patterns through memory (PTX ISA, "Release and Acquire Patterns", "Observation order").
//!
//! A location keeps the clocks that were released by the writes whose value, directly or by a chain of read-modify-writes, it holds. A
//! strong read of it acquires them at once if it is an acquire, and otherwise at the reader's next fence.

use crate::base::WarpId;
use std::sync::Arc;

use smallvec::SmallVec;

use super::clock::{VectorClock, join_shared};
use super::lanewise::{LanewiseClock, LanewiseClocks};
use super::location_table::{LocationKey, LocationTable};
use crate::base::lanes::{LaneMask, PerLane};
use crate::isa::Scope;

/// A thread: block number, warp and lane.
pub type Writer = (u32, WarpId, u8);

/// Entries of clocks that a location keeps releaser by releaser; of more, the releases of the first blocks are known together only.
const KEPT_ENTRIES: usize = 1 << 12;

/// What was released with the value of a location.
#[derive(Clone, Debug)]
enum Location {
    /// Clocks, by writes of any kind.
    Released(ReleasedClocks),
    /// The clock of one lane, by the last of read-modify-writes each of which acquired what the one before it had released.
    Lanewise(LanewiseRelease),
}

/// What a lane of a warp released together with the other lanes, in a scope as wide as the grid.
#[derive(Clone, Debug)]
struct LanewiseRelease {
    writer: Writer,
    scope: Scope,
    clock: Arc<LanewiseClock>,
}

/// The clocks that were released with the value of a location.
#[derive(Clone, Debug, Default)]
struct ReleasedClocks {
    /// The clocks, by scope.
    released: Vec<Released>,
    /// The last strong write: by which thread, and in which scope.
    last: Option<(Writer, Scope)>,
}

/// Whether a write's release takes a `fence.sc` to be acquired.
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

/// The clocks that were released through a location in one scope.
#[derive(Clone, Debug)]
struct Released {
    scope: Scope,
    sc: ScFence,
    /// The clocks by the block of the releasing threads, in order.
    by_block: SmallVec<[(u32, Arc<VectorClock>); 1]>,
    /// The joined clock of several blocks, released in a scope as wide as the grid.
    all: Option<Arc<VectorClock>>,
}

/// Locations through which something was released.
#[derive(Clone, Debug, Default)]
pub struct Locations {
    table: LocationTable<Location>,
}

/// What a read of a location acquires.
pub enum AcquireResult {
    /// This clock, by a fence of at least this scope; and whether it takes a `fence.sc`.
    Seen(Scope, ScFence, Arc<VectorClock>),
    /// This clock if the scopes were wider.
    Missed(Arc<VectorClock>),
}

impl Location {
    /// Its clocks, lane by lane.
    fn clocks(&mut self) -> &mut ReleasedClocks {
        if let Location::Lanewise(LanewiseRelease { writer, scope, clock }) = self {
            let (block, _, lane) = *writer;
            let clock = Arc::new(clock.of(LaneMask::of(usize::from(lane))));
            let by_block = smallvec::smallvec![(block, clock)];
            let released = vec![Released { scope: (*scope).min(Scope::Gpu), sc: ScFence::Unrelated, by_block, all: None }];
            *self = Location::Released(ReleasedClocks { released, last: Some((*writer, *scope)) });
        }
        let Location::Released(clocks) = self else { unreachable!("what was released lanewise is clocks now") };
        clocks
    }
}

impl ReleasedClocks {
    /// Whether a thread of `block` observes the last write by a read in `scope`: the two are morally strong.
    fn is_observed(&self, scope: Scope, block: u32, cluster: u32) -> bool {
        self.last.is_none_or(|((writer, ..), write_scope)| write_scope.min(scope) >= scope_of(writer, block, cluster))
    }
}

impl Released {
    /// Adds what a thread of `block` released.
    fn add(&mut self, block: u32, clock: &Arc<VectorClock>) {
        match self.by_block.binary_search_by_key(&block, |(block, _)| *block) {
            Ok(index) => join_shared(&mut self.by_block[index].1, clock),
            Err(index) => {
                if self.scope == Scope::Gpu && self.all.is_none() {
                    self.all = self.by_block.first().map(|(_, first)| Arc::clone(first));
                }
                self.by_block.insert(index, (block, Arc::clone(clock)));
            }
        }
        if let Some(all) = &mut self.all {
            join_shared(all, clock);
            self.forget();
        }
        assert!(self.by_block.is_sorted_by(|(one, _), (next, _)| one < next), "releases are by block");
    }

    /// Keeps the clocks of single blocks small.
    fn forget(&mut self) {
        let mut entries = 0;
        let mut dropped = self.by_block.len();
        while dropped > 0 && entries + self.by_block[dropped - 1].1.block_count() <= KEPT_ENTRIES {
            dropped -= 1;
            entries += self.by_block[dropped].1.block_count();
        }
        self.by_block.drain(..dropped);
    }

    /// The clocks that a thread of `block` may acquire, each with the scope that it takes. If it does so `at_once`, the joined clock of
    /// several blocks in the widest scope is all of them.
    fn released_to(&self, block: u32, cluster: u32, at_once: bool) -> impl Iterator<Item = (Scope, &Arc<VectorClock>)> {
        let near = match self.all {
            None => 0..self.by_block.len(),
            Some(_) if at_once => 0..0,
            Some(_) => {
                let first = block - block % cluster;
                let before = |end: u32| self.by_block.partition_point(|(block, _)| *block < end);
                before(first)..before(first.saturating_add(cluster))
            }
        };
        let near = self.by_block[near].iter().map(move |(releaser, clock)| (scope_of(*releaser, block, cluster), clock));
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
        key: LocationKey,
        (writer, scope): (Writer, Scope),
        keeps: bool,
        cluster: u32,
        clocks: Vec<(Scope, ScFence, Arc<VectorClock>)>,
    ) {
        if clocks.is_empty() && self.table.get_mut(key).is_none() {
            return;
        }
        let location = self.table.get_or_insert_with(key, || Location::Released(ReleasedClocks::default())).clocks();
        // Later writes of a thread to the same location release again what it released before.
        let is_same = location.last.is_some_and(|(last, _)| last == writer);
        if !is_same && (!keeps || !location.is_observed(scope, writer.0, cluster)) {
            location.released.clear();
        }
        location.last = Some((writer, scope));
        for (scope, sc, clock) in clocks {
            let (scope, block) = (scope.min(Scope::Gpu), writer.0);
            match location.released.iter_mut().find(|other| (other.scope, other.sc) == (scope, sc)) {
                Some(other) => other.add(block, &clock),
                None => location.released.push(Released { scope, sc, by_block: smallvec::smallvec![(block, clock)], all: None }),
            }
        }
    }

    /// A strong read in a scope, which acquires at once or not, by a thread of `block`, whose cluster has `cluster` blocks.
    pub fn read(
        &mut self,
        key: LocationKey,
        (scope, at_once): (Scope, bool),
        block: u32,
        cluster: u32,
    ) -> impl Iterator<Item = AcquireResult> {
        let location = self.table.get_mut(key).map(|location| &*location.clocks());
        let is_observed = location.is_some_and(|location| location.is_observed(scope, block, cluster));
        location.map_or(&[][..], |location| &location.released).iter().flat_map(move |released| {
            let at_once = at_once && scope >= Scope::Gpu;
            released.released_to(block, cluster, at_once).map(move |(needed, clock)| {
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

/// Lanes of a warp, each with a location of its own.
#[derive(Clone, Copy)]
pub struct LaneLocations<'a> {
    /// The lanes.
    pub lanes: LaneMask,
    /// 0 for global memory, or the block slot of a block plus one.
    pub memory: u32,
    /// The address of each lane.
    pub addresses: &'a PerLane<u64>,
    /// Bytes of the access.
    pub bytes: u32,
}

impl LaneLocations<'_> {
    fn key(&self, lane: usize) -> LocationKey {
        (self.memory, self.addresses[lane], self.bytes)
    }

    /// Whether they are seen to be apart, because they are in order.
    pub fn are_apart(&self) -> bool {
        let mut last = None;
        self.lanes.iter().all(|lane| {
            let address = self.addresses[lane];
            last.replace(address).is_none_or(|last: u64| last + u64::from(self.bytes) <= address)
        })
    }
}

impl Locations {
    /// The clocks that read-modify-writes by `of` in a scope as wide as the grid acquire, each with its lanes; none where a location was
    /// written in another way than by such a read-modify-write of the lane with the same number.
    pub fn read_lanewise(&self, of: &LaneLocations<'_>) -> Option<LanewiseClocks> {
        let mut clocks = LanewiseClocks::new();
        for (lane, location) in of.lanes.iter().zip(self.table.all_of(of.lanes.iter().map(|lane| of.key(lane)))) {
            let LanewiseRelease { writer, clock, .. } = match location {
                None => continue,
                Some(Location::Released(_)) => return None,
                Some(Location::Lanewise(release)) => release,
            };
            if usize::from(writer.2) != lane {
                return None;
            }
            match clocks.iter_mut().find(|(_, known)| Arc::ptr_eq(known, clock)) {
                Some((lanes, _)) => *lanes |= LaneMask::of(lane),
                None => clocks.push((LaneMask::of(lane), Arc::clone(clock))),
            }
        }
        Some(clocks)
    }

    /// Read-modify-writes by `of`, lanes of a warp of a block, release `clock` in `scope`.
    pub fn write_lanewise(&mut self, of: &LaneLocations<'_>, (block, warp): (u32, WarpId), scope: Scope, clock: &Arc<LanewiseClock>) {
        assert!(scope >= Scope::Gpu, "what is released lanewise is observed by every thread of the grid");
        self.table.set_all(of.lanes.iter().map(|lane| {
            let release = LanewiseRelease { writer: (block, warp, lane as u8), scope, clock: Arc::clone(clock) };
            (of.key(lane), Location::Lanewise(release))
        }));
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
