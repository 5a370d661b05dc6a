//! Release and acquire patterns through memory (PTX ISA, "Release and Acquire Patterns", "Observation order").
//!
//! A location has the clocks released by the write whose value it holds, and by the earlier writes of its chain of read-modify-writes. A
//! strong read acquires them immediately if it is an acquire, and otherwise at the reader's next fence.

use crate::base::WarpId;
use std::sync::Arc;

use smallvec::SmallVec;

use super::clock::{VectorClock, join_shared};
use super::lanewise::{LanewiseClock, LanewiseClocks};
use super::location_table::{LocationKey, LocationTable};
use crate::base::lanes::{LANES, LaneMask, PerLane};
use crate::isa::Scope;

/// A thread: block number, warp and lane.
pub type Writer = (u32, WarpId, u8);

/// The most clock entries that a location has by releasing block; beyond that, the clocks of the first blocks are only joined.
const MAX_ENTRIES: usize = 1 << 12;

/// The most blocks whose releases a chain of lanewise ones has each for itself.
const MAX_EARLIER: usize = 64;

/// The clocks released with the value of a location.
#[derive(Clone, Debug)]
enum Location {
    /// Clocks, by writes of any kind.
    Released(ReleasedClocks),
    /// The clock of one lane, by the last of a chain of read-modify-writes, each of which acquired the release of the previous one.
    Lanewise(LanewiseRelease),
}

/// A release by one lane together with the other lanes of its warp, in a scope as wide as the grid.
#[derive(Clone, Debug)]
struct LanewiseRelease {
    writer: Writer,
    scope: Scope,
    chain: Arc<Chain>,
}

/// A release of the lanes of a warp, after those of other blocks that its chain of read-modify-writes began with.
#[derive(Debug)]
struct Chain {
    /// What the lanes release.
    clock: Arc<LanewiseClock>,
    /// What other blocks have released last, in order, with their numbers: a narrow scope acquires that of its own block alone.
    earlier: SmallVec<[(u32, Arc<LanewiseClock>); 2]>,
}

impl Chain {
    /// A release of `clock` by lanes of `block`, which continues that of a location.
    fn after(previous: Option<&LanewiseRelease>, block: u32, clock: &Arc<LanewiseClock>) -> Arc<Self> {
        let last = previous.map(|release| (release.writer.0, &release.chain));
        let others = last.iter().flat_map(|(last, chain)| chain.earlier.iter().filter(move |(other, _)| other != last));
        let newest = last.iter().map(|(last, chain)| (*last, Arc::clone(&chain.clock)));
        let mut earlier: SmallVec<[_; 2]> = others.cloned().chain(newest).filter(|(other, _)| *other != block).collect();
        earlier.drain(..earlier.len().saturating_sub(MAX_EARLIER));
        Arc::new(Self { clock: Arc::clone(clock), earlier })
    }
}

/// The clocks that were released with the value of a location.
#[derive(Clone, Debug, Default)]
struct ReleasedClocks {
    /// The clocks, by scope.
    released: Vec<Released>,
    /// The thread and the scope of the last strong write.
    last: Option<(Writer, Scope)>,
}

/// The condition on a `fence.sc` after the read that acquires a write's release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScFenceCondition {
    /// None: the pattern synchronizes with any acquire pattern.
    Irrelevant,
    /// The release pattern begins with a `fence.sc`: a `fence.sc` of any thread after the read orders the two as well.
    Sufficient,
    /// A `fence.sc` precedes the write, in another thread or without a release pattern: only a `fence.sc` after the read follows it (PTX
    /// ISA, "Fence-SC Order").
    Required,
}

/// The clocks that were released through a location in one scope.
#[derive(Clone, Debug)]
struct Released {
    scope: Scope,
    sc: ScFenceCondition,
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

/// The clock that a read of a location acquires.
pub enum AcquireResult {
    /// This clock, by a fence of at least this scope.
    InScope(Scope, ScFenceCondition, Arc<VectorClock>),
    /// This clock, if the scopes were wider.
    OutOfScope(Arc<VectorClock>),
}

impl Location {
    /// Its lanewise release, if it has one.
    fn lanewise(&self) -> Option<&LanewiseRelease> {
        match self {
            Location::Lanewise(release) => Some(release),
            Location::Released(_) => None,
        }
    }

    /// Its clocks, lane by lane.
    fn clocks(&mut self) -> &mut ReleasedClocks {
        if let Location::Lanewise(LanewiseRelease { writer, scope, chain }) = self {
            let (block, _, lane) = *writer;
            let (scope, sc, by_block) = (*scope, ScFenceCondition::Irrelevant, SmallVec::new());
            let mut released = Released { scope: scope.min(Scope::Gpu), sc, by_block, all: None };
            let last = (block, Arc::clone(&chain.clock));
            for (block, clock) in chain.earlier.iter().chain([&last]) {
                released.add(*block, &Arc::new(clock.joined(LaneMask::of(usize::from(lane)))));
            }
            *self = Location::Released(ReleasedClocks { released: vec![released], last: Some((*writer, scope)) });
        }
        let Location::Released(clocks) = self else { unreachable!("what was released lanewise is clocks now") };
        clocks
    }
}

impl ReleasedClocks {
    /// True if a thread of `block` observes the last write by a read in `scope`: the two are morally strong.
    fn is_observed(&self, scope: Scope, block: u32, cluster: u32) -> bool {
        self.last.is_none_or(|((writer, ..), write_scope)| write_scope.min(scope) >= scope_of(writer, block, cluster))
    }
}

impl Released {
    /// Adds a clock that a thread of `block` released.
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
            self.limit_entries();
        }
        assert!(self.by_block.is_sorted_by(|(one, _), (next, _)| one < next), "releases are by block");
    }

    /// Drops the clocks of the first blocks beyond [`MAX_ENTRIES`]; the joined clock has them.
    fn limit_entries(&mut self) {
        let mut entries = 0;
        let mut dropped = self.by_block.len();
        while dropped > 0 && entries + self.by_block[dropped - 1].1.block_count() <= MAX_ENTRIES {
            dropped -= 1;
            entries += self.by_block[dropped].1.block_count();
        }
        self.by_block.drain(..dropped);
    }

    /// The clocks that a thread of `block` may acquire, each with the scope that this needs. If the read `acquires` in the widest scope,
    /// the joined clock of several blocks replaces theirs.
    fn released_to(&self, block: u32, cluster: u32, acquires: bool) -> impl Iterator<Item = (Scope, &Arc<VectorClock>)> {
        let in_cluster = match self.all {
            None => 0..self.by_block.len(),
            Some(_) if acquires => 0..0,
            Some(_) => {
                let first = block - block % cluster;
                let before = |end: u32| self.by_block.partition_point(|(block, _)| *block < end);
                before(first)..before(first.saturating_add(cluster))
            }
        };
        let in_cluster = self.by_block[in_cluster].iter().map(move |(releaser, clock)| (scope_of(*releaser, block, cluster), clock));
        in_cluster.chain(self.all.iter().map(|all| (Scope::Gpu, all)))
    }
}

impl Locations {
    /// True if nothing was released through any location.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// A strong write by a thread in a scope, which releases `clocks`, each in a scope. A write that is part of a read-modify-write retains
    /// the clocks of the location. A cluster has `cluster` blocks.
    pub fn write(
        &mut self,
        key: LocationKey,
        (writer, scope): (Writer, Scope),
        is_read_modify_write: bool,
        cluster: u32,
        clocks: Vec<(Scope, ScFenceCondition, Arc<VectorClock>)>,
    ) {
        if clocks.is_empty() && self.table.get_mut(key).is_none() {
            return;
        }
        let location = self.table.get_or_insert_with(key, || Location::Released(ReleasedClocks::default())).clocks();
        // Later writes of a thread to the same location release its earlier releases as well.
        let is_same_writer = location.last.is_some_and(|(last, _)| last == writer);
        if !is_same_writer && (!is_read_modify_write || !location.is_observed(scope, writer.0, cluster)) {
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

    /// A strong read in a scope, which is an acquire if `acquires`, by a thread of `block`, whose cluster has `cluster` blocks.
    pub fn read(
        &mut self,
        key: LocationKey,
        (scope, acquires): (Scope, bool),
        block: u32,
        cluster: u32,
    ) -> impl Iterator<Item = AcquireResult> {
        let location = self.table.get_mut(key).map(|location| &*location.clocks());
        let is_observed = location.is_some_and(|location| location.is_observed(scope, block, cluster));
        location.map_or(&[][..], |location| &location.released).iter().flat_map(move |released| {
            let acquires = acquires && scope >= Scope::Gpu;
            released.released_to(block, cluster, acquires).map(move |(needed, clock)| {
                let clock = Arc::clone(clock);
                if is_observed && released.sc == ScFenceCondition::Required {
                    AcquireResult::InScope(Scope::Gpu, released.sc, clock)
                } else if is_observed && released.scope.min(scope) >= needed {
                    AcquireResult::InScope(needed, released.sc, clock)
                } else {
                    AcquireResult::OutOfScope(clock)
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

    /// True if the locations are in ascending order and do not overlap.
    pub fn are_disjoint(&self) -> bool {
        let mut last = None;
        self.lanes.iter().all(|lane| {
            let address = self.addresses[lane];
            last.replace(address).is_none_or(|last: u64| last + u64::from(self.bytes) <= address)
        })
    }
}

impl Locations {
    /// The clocks that read-modify-writes of `locations` in a scope as wide as the grid acquire, each with its lanes; none if the last
    /// write of a location was not such a read-modify-write by the lane with the same number.
    pub fn read_lanewise(&self, locations: &LaneLocations<'_>) -> Option<LanewiseClocks> {
        let mut clocks = LanewiseClocks::new();
        for (lane, location) in locations.lanes.iter().zip(self.table.all_of(locations.lanes.iter().map(|lane| locations.key(lane)))) {
            let LanewiseRelease { writer, chain, .. } = match location {
                None => continue,
                Some(Location::Released(_)) => return None,
                Some(Location::Lanewise(release)) => release,
            };
            if usize::from(writer.2) != lane {
                return None;
            }
            let clock = &chain.clock;
            match clocks.iter_mut().find(|(_, other)| Arc::ptr_eq(other, clock)) {
                Some((lanes, _)) => *lanes |= LaneMask::of(lane),
                None => clocks.push((LaneMask::of(lane), Arc::clone(clock))),
            }
        }
        Some(clocks)
    }

    /// Read-modify-writes of `locations` by lanes of a warp of a block release `clock` in `scope`.
    pub fn write_lanewise(
        &mut self,
        locations: &LaneLocations<'_>,
        (block, warp): (u32, WarpId),
        scope: Scope,
        clock: &Arc<LanewiseClock>,
    ) {
        assert!(scope >= Scope::Gpu, "what is released lanewise is observed by every thread of the grid");
        let mut chains: SmallVec<[Arc<Chain>; LANES]> = SmallVec::new();
        // Neighbours mostly continue the release of one warp.
        let mut last: Option<Option<&LanewiseRelease>> = None;
        for location in self.table.all_of(locations.lanes.iter().map(|lane| locations.key(lane))) {
            let previous = location.and_then(Location::lanewise);
            let chain = if let (Some(last), Some(chain)) = (last, chains.last())
                && is_one_release(last, previous)
            {
                Arc::clone(chain)
            } else {
                Chain::after(previous, block, clock)
            };
            chains.push(chain);
            last = Some(previous);
        }
        self.table.set_all(locations.lanes.iter().zip(chains).map(|(lane, chain)| {
            (locations.key(lane), Location::Lanewise(LanewiseRelease { writer: (block, warp, lane as u8), scope, chain }))
        }));
    }
}

/// True if two locations have the release of one instruction, or none.
fn is_one_release(one: Option<&LanewiseRelease>, other: Option<&LanewiseRelease>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(&one.chain, &other.chain),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// The narrowest scope that includes threads of both blocks.
pub fn scope_of(a: u32, b: u32, cluster: u32) -> Scope {
    if a == b {
        Scope::Cta
    } else if a / cluster == b / cluster {
        Scope::Cluster
    } else {
        Scope::Gpu
    }
}
