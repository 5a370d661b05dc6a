//! Vector clocks: for each other thread, the tick before which its operations happen before the next operation of a thread.
//!
//! Time is the tick of the run, which is a total order, so a vector clock needs no counters of its own. It is compressed by
//! block, and in a block to one entry for the whole block, a warp or a single thread.

use std::sync::Arc;

use super::operation::{ASYNC_KINDS, Agent, AsyncKind, Operation};
use crate::base::lanes::LaneMask;
use crate::base::{Tick, WarpId};

/// A thread of a block: `warp * 32 + lane`.
pub type Thread = u16;

/// The part of a vector clock about one block: for each of its threads the tick before which its operations happen before. An entry is
/// stored for the widest unit that has it: all threads, a warp, or a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompressedClock {
    /// The tick of every thread.
    pub all_before: Tick,
    /// The ticks of warps, each for every thread of the warp.
    warps: Vec<(WarpId, Tick)>,
    /// The ticks of single threads.
    threads: Vec<(Thread, Tick)>,
}

impl CompressedClock {
    /// The lowest tick of `lanes` of a warp.
    pub fn tick_of(&self, warp: WarpId, lanes: LaneMask) -> Tick {
        let tick = self.all_before.max(find(&self.warps, warp));
        if self.threads.is_empty() {
            return tick;
        }
        lanes.iter().map(|lane| find(&self.threads, thread(warp, lane)).max(tick)).min().unwrap_or(tick)
    }

    /// Advances the entries of the lanes `lanes` of `warp` to `tick`; `all` are the lanes that the warp has.
    pub fn advance(&mut self, warp: WarpId, lanes: LaneMask, all: LaneMask, tick: Tick) {
        assert!(all.contains_all(lanes), "lanes {lanes:#x} of a warp that has {all:#x}");
        if tick <= self.all_before {
            return;
        }
        if lanes == all {
            advance_entry(&mut self.warps, warp, tick);
            self.threads.retain(|(thread, old)| thread / 32 != warp.number() as Thread || *old > tick);
        } else if find(&self.warps, warp) < tick {
            lanes.iter().for_each(|lane| advance_entry(&mut self.threads, thread(warp, lane), tick));
        }
        debug_assert!(lanes.is_empty() || self.tick_of(warp, lanes) >= tick, "what has happened is known");
    }

    /// Joins `other`: the greater of each two entries.
    pub fn join(&mut self, other: &Self) {
        if other.all_before > self.all_before {
            self.all_before = other.all_before;
            let all_before = self.all_before;
            self.warps.retain(|(_, tick)| *tick > all_before);
            self.threads.retain(|(_, tick)| *tick > all_before);
        }
        merge(&mut self.warps, &other.warps, self.all_before);
        merge(&mut self.threads, &other.threads, self.all_before);
        debug_assert!(self.covers(other), "a join holds both");
    }

    /// True if `other` <= `self`, entry by entry.
    fn covers(&self, other: &Self) -> bool {
        self.all_before >= other.all_before
            && covers(&self.warps, &other.warps, self.all_before)
            && covers(&self.threads, &other.threads, self.all_before)
    }

    /// Advances the entries of all threads to `tick`.
    pub fn advance_all(&mut self, tick: Tick) {
        self.join(&Self { all_before: tick, ..Self::default() });
    }
}

/// A proxy other than the generic one, with the memory that a proxy fence for it can be limited to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyKind {
    /// Asynchronous operations on shared memory, that of the cluster as well.
    AsyncShared,
    /// Asynchronous operations on global memory.
    AsyncGlobal,
    /// The tensor maps that tensor copies read.
    TensorMap,
}

/// Kinds of [`ProxyKind`].
pub const PROXY_KINDS: usize = 3;

/// The clock of one block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockClock {
    /// Operations that threads perform themselves.
    pub synchronous: CompressedClock,
    /// Asynchronous operations and proxy fences; none in most programs.
    asynchronous: Option<Arc<AsyncClock>>,
}

/// The clock of the asynchronous operations of one block, and of its proxy fences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AsyncClock {
    /// Operations that threads perform themselves and that a proxy fence follows, by [`ProxyKind`].
    pub proxy_fenced: [CompressedClock; PROXY_KINDS],
    /// Asynchronous operations, by `AsyncKind`.
    pub completed: [CompressedClock; ASYNC_KINDS],
    /// Copies that complete on an mbarrier, by their number in the block.
    pub copies: Intervals,
}

impl BlockClock {
    /// The clock of its asynchronous operations; none if it is empty.
    pub fn asynchronous(&self) -> Option<&AsyncClock> {
        self.asynchronous.as_deref()
    }

    /// The mutable clock, created if there is none.
    pub fn asynchronous_mut(&mut self) -> &mut AsyncClock {
        Arc::make_mut(self.asynchronous.get_or_insert_default())
    }

    /// Joins `other`: the greater of each two entries.
    pub fn join(&mut self, other: &Self) {
        self.synchronous.join(&other.synchronous);
        let Some(more) = &other.asynchronous else { return };
        match &mut self.asynchronous {
            None => self.asynchronous = Some(Arc::clone(more)),
            Some(own) if Arc::ptr_eq(own, more) => {}
            Some(own) => Arc::make_mut(own).join(more),
        }
    }

    /// True if `other` <= `self`, entry by entry.
    fn covers(&self, other: &Self) -> bool {
        let covers_asynchronous = match (&self.asynchronous, &other.asynchronous) {
            (_, None) => true,
            (None, Some(other)) => **other == AsyncClock::default(),
            (Some(own), Some(other)) => Arc::ptr_eq(own, other) || own.covers(other),
        };
        self.synchronous.covers(&other.synchronous) && covers_asynchronous
    }
}

impl AsyncClock {
    fn join(&mut self, other: &Self) {
        self.proxy_fenced.iter_mut().zip(&other.proxy_fenced).for_each(|(own, other)| own.join(other));
        self.completed.iter_mut().zip(&other.completed).for_each(|(own, other)| own.join(other));
        self.copies.join(&other.copies);
    }

    fn covers(&self, other: &Self) -> bool {
        self.proxy_fenced.iter().zip(&other.proxy_fenced).all(|(own, other)| own.covers(other))
            && self.completed.iter().zip(&other.completed).all(|(own, other)| own.covers(other))
            && self.copies.covers(&other.copies)
    }
}

/// A vector clock: the operations that happen before, by block number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VectorClock {
    /// Shared among clocks: most entries for other blocks are those of another clock, unchanged.
    blocks: Vec<(u32, Arc<BlockClock>)>,
    /// The clock that the next `fence.sc` acquires: the releases after a `fence.sc` of their thread that were read since the last one.
    pub after_fence: Option<Arc<VectorClock>>,
    /// The part of the clock before a `fence.sc` of at least `.gpu` scope that a barrier follows. A later write passes it to the
    /// `fence.sc` of its reader (PTX ISA, "Fence-SC Order"). Its own `before_fence` is none.
    pub before_fence: Option<Arc<VectorClock>>,
}

impl VectorClock {
    /// The clock without those of fences.
    #[must_use]
    pub fn without_fences(self) -> Self {
        Self { after_fence: None, before_fence: None, ..self }
    }

    /// The clock of a block, if it has an entry.
    pub fn get(&self, block: u32) -> Option<&BlockClock> {
        self.blocks.binary_search_by_key(&block, |(number, _)| *number).ok().map(|index| &*self.blocks[index].1)
    }

    /// The mutable clock, created if there is none.
    pub fn get_mut(&mut self, block: u32) -> &mut BlockClock {
        let index = match self.blocks.binary_search_by_key(&block, |(number, _)| *number) {
            Ok(index) => index,
            Err(index) => {
                self.blocks.insert(index, (block, Arc::default()));
                index
            }
        };
        Arc::make_mut(&mut self.blocks[index].1)
    }

    /// Joins `other`: the greater of each two entries.
    pub fn join(&mut self, other: &Self) {
        if let Some(after) = &other.after_fence {
            join_into(&mut self.after_fence, after);
        }
        if let Some(before) = &other.before_fence {
            join_into(&mut self.before_fence, before);
        }
        if self.blocks.is_empty() {
            self.blocks.clone_from(&other.blocks);
            return;
        }
        let mut at = 0;
        for (block, theirs) in &other.blocks {
            at += self.blocks[at..].iter().take_while(|(own, _)| own < block).count();
            match self.blocks.get_mut(at).filter(|(own, _)| own == block) {
                Some((_, own)) => join_block(own, theirs),
                None => self.blocks.insert(at, (*block, Arc::clone(theirs))),
            }
        }
        debug_assert!(self.blocks.is_sorted_by(|(one, _), (next, _)| one < next), "blocks are in order");
    }

    /// True if `other` <= `self`, entry by entry.
    pub fn covers(&self, other: &Self) -> bool {
        let covers_fence = |own: &Option<Arc<Self>>, other: &Option<Arc<Self>>| match (own, other) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(own), Some(other)) => Arc::ptr_eq(own, other) || own.covers(other),
        };
        let covers_fences = covers_fence(&self.after_fence, &other.after_fence) && covers_fence(&self.before_fence, &other.before_fence);
        covers_fences && other.blocks.iter().all(|(block, theirs)| self.covers_block(*block, theirs))
    }

    fn covers_block(&self, block: u32, other: &Arc<BlockClock>) -> bool {
        let own = self.blocks.binary_search_by_key(&block, |(number, _)| *number).ok().map(|index| &self.blocks[index].1);
        own.is_some_and(|own| Arc::ptr_eq(own, other) || own.covers(other))
    }

    /// The number of blocks that have an entry.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// True if a block other than `block` has an entry.
    pub fn has_other_blocks(&self, block: u32) -> bool {
        self.blocks.iter().any(|(number, _)| *number != block)
    }

    /// A proxy fence: everything in the clock is fenced now.
    pub fn fence(&mut self, proxies: &[ProxyKind]) {
        for (_, clock) in &mut self.blocks {
            let clock = Arc::make_mut(clock);
            let synchronous = clock.synchronous.clone();
            proxies.iter().for_each(|proxy| clock.asynchronous_mut().proxy_fenced[*proxy as usize].join(&synchronous));
        }
    }
}

/// The kinds whose entry, if it is after `operation` of kind `kind`, shows that the operation happens before.
pub fn sufficient_kinds(kind: AsyncKind, operation: &Operation) -> impl Iterator<Item = AsyncKind> {
    let read = kind == AsyncKind::Bulk && operation.only_reads;
    [Some(kind), read.then_some(AsyncKind::BulkRead)].into_iter().flatten()
}

/// True if `lanes` of `operation` happen before, by `clock`.
pub fn includes(clock: &VectorClock, operation: &Operation, lanes: LaneMask) -> bool {
    let Some(block_clock) = clock.get(operation.block) else { return false };
    let is_before = |ticks: &CompressedClock| ticks.tick_of(operation.warp, lanes) > operation.tick;
    let asynchronous = block_clock.asynchronous();
    match operation.agent {
        Agent::Threads => is_before(&block_clock.synchronous),
        Agent::Async(kind) => asynchronous
            .is_some_and(|asynchronous| sufficient_kinds(kind, operation).any(|kind| is_before(&asynchronous.completed[kind as usize]))),
        Agent::Copy(number) => asynchronous.is_some_and(|asynchronous| asynchronous.copies.contains(number)),
    }
}

/// Joins `more` into a shared clock. If one of the two covers the other, the result shares it instead of copying.
fn join_block(shared: &mut Arc<BlockClock>, more: &Arc<BlockClock>) {
    if Arc::ptr_eq(shared, more) || shared.covers(more) {
        return;
    }
    if more.covers(shared) {
        *shared = Arc::clone(more);
    } else {
        Arc::make_mut(shared).join(more);
    }
}

/// Joins `more` into a shared clock; shares `more` if there was none.
pub fn join_into(shared: &mut Option<Arc<VectorClock>>, more: &Arc<VectorClock>) {
    match shared {
        None => *shared = Some(Arc::clone(more)),
        Some(shared) => join_shared(shared, more),
    }
}

/// Joins `more` into a shared clock.
pub fn join_shared(shared: &mut Arc<VectorClock>, more: &Arc<VectorClock>) {
    // A thread that spins on a location acquires the same clock each time.
    if !Arc::ptr_eq(shared, more) && !shared.covers(more) {
        Arc::make_mut(shared).join(more);
    }
    debug_assert!(shared.covers(more), "a join holds both");
}

/// A set of numbers that mostly come in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intervals {
    /// From each first number up to but not including the second, in order and disjoint.
    ranges: Vec<(u32, u32)>,
}

impl Intervals {
    /// True if it holds `number`.
    pub fn contains(&self, number: u32) -> bool {
        let after = self.ranges.partition_point(|(first, _)| *first <= number);
        after > 0 && number < self.ranges[after - 1].1
    }

    /// Adds `number`.
    pub fn insert(&mut self, number: u32) {
        self.add((number, number + 1));
    }

    /// Adds all of `other`.
    pub fn join(&mut self, other: &Self) {
        other.ranges.iter().for_each(|range| self.add(*range));
    }

    /// True if all of `other` is part of it.
    fn covers(&self, other: &Self) -> bool {
        let inside = |(first, end): &(u32, u32)| {
            let after = self.ranges.partition_point(|(start, _)| start <= first);
            after > 0 && *end <= self.ranges[after - 1].1
        };
        other.ranges.iter().all(inside)
    }

    fn add(&mut self, (mut first, mut end): (u32, u32)) {
        assert!(first < end, "a range holds something");
        let from = self.ranges.partition_point(|(_, end)| *end < first);
        let to = self.ranges.partition_point(|(start, _)| *start <= end);
        if from < to {
            first = first.min(self.ranges[from].0);
            end = end.max(self.ranges[to - 1].1);
        }
        self.ranges.splice(from..to, [(first, end)]);
        debug_assert!(self.ranges.is_sorted_by(|one, next| one.1 < next.0), "ranges are in order and apart");
    }
}

/// The number of a thread.
pub fn thread(warp: WarpId, lane: usize) -> Thread {
    warp.number() as Thread * 32 + lane as Thread
}

fn find<K: Ord + Copy>(list: &[(K, Tick)], key: K) -> Tick {
    list.binary_search_by_key(&key, |(key, _)| *key).map_or(Tick::START, |index| list[index].1)
}

fn advance_entry<K: Ord + Copy>(list: &mut Vec<(K, Tick)>, key: K, tick: Tick) {
    match list.binary_search_by_key(&key, |(key, _)| *key) {
        Ok(index) => list[index].1 = list[index].1.max(tick),
        Err(index) => list.insert(index, (key, tick)),
    }
}

/// Merges the entries of `more` into `list`, both sorted: the later tick of each key, if it is later than `all_before`.
fn merge<K: Ord + Copy>(list: &mut Vec<(K, Tick)>, more: &[(K, Tick)], all_before: Tick) {
    let mut at = 0;
    let mut missing = smallvec::SmallVec::<[(K, Tick); 32]>::new();
    for (key, tick) in more.iter().copied().filter(|(_, tick)| *tick > all_before) {
        at += list[at..].iter().take_while(|(other, _)| *other < key).count();
        match list.get_mut(at).filter(|(other, _)| *other == key) {
            Some((_, old)) => *old = (*old).max(tick),
            None => missing.push((key, tick)),
        }
    }
    if !missing.is_empty() {
        list.extend(missing);
        list.sort_unstable_by_key(|(key, _)| *key);
    }
}

/// True if no entry of `more` is later than that of `list`, both sorted, or than `all_before`.
fn covers<K: Ord + Copy>(list: &[(K, Tick)], more: &[(K, Tick)], all_before: Tick) -> bool {
    let mut rest = list.iter();
    more.iter()
        .filter(|(_, tick)| *tick > all_before)
        .all(|(key, tick)| rest.find(|(other, _)| other >= key).is_some_and(|entry| entry.0 == *key && entry.1 >= *tick))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_grow_together() {
        let mut set = Intervals::default();
        [3, 5, 4, 9].into_iter().for_each(|number| set.insert(number));
        assert_eq!(set.ranges, [(3, 6), (9, 10)]);
        assert!(set.contains(5) && !set.contains(6) && !set.contains(2) && set.contains(9));
        let mut other = Intervals::default();
        [6, 7, 8, 20].into_iter().for_each(|number| other.insert(number));
        set.join(&other);
        assert_eq!(set.ranges, [(3, 10), (20, 21)]);
    }

    #[test]
    fn what_is_covered_adds_nothing() {
        let timed = |pairs: &[(Thread, u64)]| pairs.iter().map(|(thread, tick)| (*thread, Tick(*tick))).collect::<Vec<_>>();
        let list = |pairs: &[(Thread, u64)]| CompressedClock { all_before: Tick(3), warps: Vec::new(), threads: timed(pairs) };
        let old = list(&[(1, 5), (4, 9)]);
        for (more, is_covered, joined) in [
            (list(&[]), true, vec![(1, 5), (4, 9)]),
            (list(&[(1, 5), (2, 3), (4, 7)]), true, vec![(1, 5), (4, 9)]),
            (list(&[(4, 10)]), false, vec![(1, 5), (4, 10)]),
            (list(&[(0, 4), (2, 8), (5, 4)]), false, vec![(0, 4), (1, 5), (2, 8), (4, 9), (5, 4)]),
        ] {
            let mut both = old.clone();
            both.join(&more);
            assert_eq!((old.covers(&more), &both.threads), (is_covered, &timed(&joined)));
            assert!(both.covers(&more) && both.covers(&old));
        }
        assert!(!old.covers(&CompressedClock { all_before: Tick(4), ..CompressedClock::default() }));
    }

    #[test]
    fn the_widest_unit_counts() {
        let mut ticks = CompressedClock::default();
        ticks.advance(WarpId::new(1), LaneMask::lowest(2), LaneMask::ALL, Tick(5));
        assert_eq!(
            (
                ticks.tick_of(WarpId::new(1), LaneMask::lowest(2)),
                ticks.tick_of(WarpId::new(1), LaneMask::lowest(3)),
                ticks.tick_of(WarpId::new(0), LaneMask::of(0))
            ),
            (Tick(5), Tick::START, Tick::START)
        );
        ticks.advance(WarpId::new(1), LaneMask::ALL, LaneMask::ALL, Tick(7));
        assert_eq!((ticks.tick_of(WarpId::new(1), LaneMask::lowest(2)), ticks.threads.len()), (Tick(7), 0));
        ticks.advance_all(Tick(9));
        assert_eq!((ticks.tick_of(WarpId::new(0), LaneMask::of(0)), ticks.warps.len()), (Tick(9), 0));
    }
}
