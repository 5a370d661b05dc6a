//! Conflicting strong accesses that nothing orders: no race, but results may depend on the schedule.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::Pc;

/// The conflicting strong accesses of a case that are not ordered, so that their results may depend on the schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnorderedAccesses {
    /// Pairs of instructions whose accesses were morally strong, conflicted, and were not ordered; the lower first.
    pairs: BTreeSet<(Pc, Pc)>,
    /// The pair that was added last.
    last: Option<(Pc, Pc)>,
    /// For pairs of a read and a write of which the write is by a block that starts later, in another cluster: the numbers of the two
    /// blocks that were found first.
    later_writers: BTreeMap<(Pc, Pc), (u64, u64)>,
    /// The same for the launches that have ended, without cooperative ones.
    pub forward_reads: Vec<ForwardRead>,
    /// The number of accesses that could not be compared, because too many had accessed the same bytes.
    pub uncompared: u64,
    /// True if the reserved part of shared memory was accessed, which is not compared.
    pub has_reserved: bool,
    /// An access that raced with another one on bytes that the launch ignores (`expect_ignoring`).
    pub ignored: Option<Pc>,
}

/// A read of what a block that starts later writes, not ordered with the write, in a launch that is not cooperative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForwardRead {
    /// The instruction that reads.
    pub reader: Pc,
    /// The instruction that writes.
    pub writer: Pc,
    /// The block that reads.
    pub block: [u32; 3],
    /// The block that writes.
    pub later: [u32; 3],
    /// The number of blocks of the launch.
    pub blocks: u64,
}

impl UnorderedAccesses {
    /// Adds a pair.
    #[inline]
    pub fn add(&mut self, one: Pc, other: Pc) {
        let pair = (one.min(other), one.max(other));
        if self.last != Some(pair) {
            self.last = Some(pair);
            self.pairs.insert(pair);
        }
    }

    /// Adds a pair of a read and a write, each with the number of its block, if the write is by a block that starts later. `cluster` is the
    /// number of blocks of a cluster, which start together.
    pub fn add_read(&mut self, cluster: u32, (reader, block): (Pc, u64), (writer, later): (Pc, u64)) {
        let cluster = u64::from(cluster.max(1));
        if block / cluster < later / cluster {
            self.later_writers.entry((reader, writer)).or_insert((block, later));
        }
    }

    /// Ends a launch of `blocks` blocks, of which `index_of` has the index by number; of a cooperative launch all blocks are resident.
    pub fn end_launch(&mut self, blocks: u64, is_cooperative: bool, index_of: impl Fn(u64) -> [u32; 3]) {
        let found = self.later_writers.iter().filter(|_| !is_cooperative);
        let forward_read = |((reader, writer), (block, later)): (&(Pc, Pc), &(u64, u64))| {
            assert!(block < later && *later < blocks, "blocks start in the order of their numbers");
            ForwardRead { reader: *reader, writer: *writer, block: index_of(*block), later: index_of(*later), blocks }
        };
        self.forward_reads = found.map(forward_read).collect();
    }

    /// True if this is the pair that was added last.
    #[inline]
    pub fn is_last_pair(&self, one: Pc, other: Pc) -> bool {
        self.last == Some((one.min(other), one.max(other)))
    }

    /// Adds the accesses of another launch.
    pub fn join(&mut self, other: &Self) {
        self.pairs.extend(&other.pairs);
        self.forward_reads.extend(&other.forward_reads);
        self.uncompared += other.uncompared;
        self.has_reserved |= other.has_reserved;
        self.ignored = self.ignored.or(other.ignored);
    }

    /// The instructions whose accesses conflicted with those of `pc` and were not ordered.
    pub fn unordered_with(&self, pc: Pc) -> impl Iterator<Item = Pc> + '_ {
        let other = move |(one, other): &(Pc, Pc)| match (*one == pc, *other == pc) {
            (true, _) => Some(*other),
            (false, true) => Some(*one),
            (false, false) => None,
        };
        self.pairs.iter().filter_map(other)
    }
}
