//! The log of accesses: one record for each access of a warp, and the references by which shadow memory names them.

use crate::check::finding::{Side, SideAction};
use crate::isa::Scope;
use crate::machine::{AccessEvent, IssuePoint, LaneMask, PerLane, Proxy};
use crate::order::Operation;
use crate::program::Pc;

use super::lane_addresses::{LaneAddresses, LaneTile};
use super::records::Records;
use super::slab::Slab;

/// An access by lanes of a warp, or by an asynchronous operation that they issued.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// The operation.
    pub op: Operation,
    /// The instruction.
    pub pc: Pc,
    /// The action.
    pub action: SideAction,
    /// True if it is an operation on an mbarrier.
    pub is_mbarrier: bool,
    /// The scope, of an operation that is strong (PTX ISA, "Strong operations").
    pub strong: Option<Scope>,
    /// True if it is a volatile or relaxed load or store.
    pub is_relaxed: bool,
    /// The proxy.
    pub proxy: Proxy,
    /// Bytes a lane.
    pub bytes: u32,
    /// Bytes of a scalar, or of each element of a vector.
    pub element: u32,
    /// The address of each lane.
    pub lane_addresses: LaneAddresses,
    /// The copy, as the machine numbers it; 0 for none.
    pub copy: u64,
}

/// A reference to an access or to a list of accesses ([`Log::members`]); 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct AccessRef(pub u32);

const LIST_BIT: u32 = 1 << 31;

/// Records and nodes below which the log is not swept.
const MIN_SWEEP: usize = 1 << 9;

/// Bytes of memory with a shadow for which one record or node more is kept before a sweep.
const BYTES_OF_RECORD: usize = 256;

/// A node of a list of accesses: the newest access, and the rest.
#[derive(Clone, Copy, Debug)]
struct Node {
    access: u32,
    rest: AccessRef,
    set: AccessSet,
}

/// The accesses that a reference names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessSet {
    /// All of them.
    Exact,
    /// All of them, but a later write that was no read-modify-write has overwritten the first of them and those after it.
    Overwritten,
    /// There were more than are retained: the newest of all, and after it the newest of another block, if there was one.
    Overflowed(Overflow),
    /// Atomics by these warps of a block, of which only the newest is retained.
    AtomicsByWarps(u32),
}

/// The kind of accesses that were too many to retain all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overflow {
    /// A sequence of read-modify-writes, each of which read the value of the previous one.
    RmwSequence,
    /// Other accesses.
    Other,
}

/// All accesses that the shadow of memory refers to.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    accesses: Records,
    nodes: Slab<Node>,
    scattered: Slab<PerLane<u64>>,
    /// The node that was added last, unless there was a sweep since.
    last_node: Option<u32>,
    /// Records and nodes that were live after the last sweep.
    live: usize,
    /// The number of records and nodes beyond which [`Log::is_full`].
    sweep_at: usize,
}

impl AccessRef {
    /// True if it refers to nothing.
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// True if it refers to one access.
    pub fn is_single(self) -> bool {
        self.0 != 0 && self.0 & LIST_BIT == 0
    }
}

impl Access {
    /// A weak access through the generic proxy, of `bytes` bytes a lane.
    #[inline(always)]
    pub fn plain(op: Operation, (pc, action): (Pc, SideAction), bytes: u32, lane_addresses: LaneAddresses) -> Self {
        Self {
            op,
            pc,
            action,
            is_mbarrier: false,
            strong: None,
            is_relaxed: false,
            proxy: Proxy::Generic,
            bytes,
            element: bytes,
            lane_addresses,
            copy: 0,
        }
    }

    /// The lanes that access the byte at `address`.
    pub fn lanes_at(&self, address: u64, log: &Log) -> LaneMask {
        self.lane_addresses.lanes_at(self.op.lanes, self.bytes, address, log)
    }

    /// `lanes` of the access as a side of a finding, in the block with this index.
    pub fn side(&self, lanes: LaneMask, block: [u32; 3]) -> Side {
        let point = IssuePoint { pc: self.pc, tick: self.op.tick, block, warp: self.op.warp };
        Side { point, lanes, action: self.action, bytes: self.bytes, copy: (self.copy != 0).then_some(self.copy) }
    }
}

impl Log {
    /// The addresses of the lanes of an event whose access is about to be added.
    pub fn addresses_of(&mut self, event: &AccessEvent<'_>) -> LaneAddresses {
        LaneTile::of_event(event).map_or_else(|| self.scatter(event.addresses), LaneAddresses::Tile)
    }

    /// The addresses of the lanes of an access that is about to be added.
    pub fn lane_addresses(&mut self, lanes: LaneMask, addresses: &PerLane<u64>) -> LaneAddresses {
        LaneTile::of(lanes, addresses).map_or_else(|| self.scatter(addresses), LaneAddresses::Tile)
    }

    fn scatter(&mut self, addresses: &PerLane<u64>) -> LaneAddresses {
        LaneAddresses::Scattered(self.scattered.push(*addresses))
    }

    /// The addresses with this index in the table of scattered addresses.
    pub fn scattered(&self, index: u32) -> &PerLane<u64> {
        self.scattered.get(index)
    }

    /// Adds an access.
    pub fn push(&mut self, access: Access) -> AccessRef {
        assert!(!access.op.lanes.is_empty(), "an access is by some lane");
        if self.accesses.len() == 0 {
            // Number 0 means none.
            self.accesses.push(&access);
        }
        AccessRef(self.accesses.push(&access))
    }

    /// The access of a reference to a single one.
    pub fn get(&self, one: AccessRef) -> Access {
        debug_assert!(!one.is_none(), "there is such an access");
        self.accesses.get(one.0 & !LIST_BIT)
    }

    /// The accesses of a reference, newest first.
    pub fn members(&self, reference: AccessRef) -> Members<'_> {
        Members { log: self, rest: reference, are_overwritten: false }
    }

    /// The way in which the accesses of a reference represent all that there were.
    pub fn access_set(&self, reference: AccessRef) -> AccessSet {
        if reference.0 & LIST_BIT == 0 { AccessSet::Exact } else { self.nodes.get(reference.0 & !LIST_BIT).set }
    }

    /// The newest of the accesses of a reference.
    pub fn newest(&self, reference: AccessRef) -> Access {
        if reference.0 & LIST_BIT == 0 { self.get(reference) } else { self.accesses.get(self.nodes.get(reference.0 & !LIST_BIT).access) }
    }

    /// The newest of the atomics by several warps that a reference names; none if it names anything else.
    pub fn newest_of_warps(&self, reference: AccessRef) -> Option<(Access, AccessRef)> {
        if reference.0 & LIST_BIT == 0 {
            return None;
        }
        let node = self.nodes.get(reference.0 & !LIST_BIT);
        matches!(node.set, AccessSet::AtomicsByWarps(_)).then(|| (self.accesses.get(node.access), AccessRef(node.access)))
    }

    /// The number of accesses that a reference names.
    pub fn count(&self, reference: AccessRef) -> usize {
        self.members(reference).count()
    }

    /// A reference to the accesses of `older` and to `access`, which is newer than all of them.
    pub fn add(&mut self, older: AccessRef, access: AccessRef) -> AccessRef {
        if older.is_none() { access } else { self.node(access, older, AccessSet::Exact) }
    }

    /// The same accesses, overwritten by a later write that is no read-modify-write.
    pub fn overwritten(&mut self, reference: AccessRef) -> AccessRef {
        if reference.is_none() || self.access_set(reference) != AccessSet::Exact {
            return reference;
        }
        let rest = self.members(reference).rest_after_first();
        let newest = self.members(reference).next().unwrap_or_default();
        self.node(newest, rest, AccessSet::Overwritten)
    }

    /// A reference to `members`, newest first, each with whether a later write has overwritten it.
    pub fn list_of(&mut self, members: &[(AccessRef, bool)]) -> AccessRef {
        members.iter().rev().fold(AccessRef::default(), |older, (member, is_overwritten)| match is_overwritten {
            true => self.node(*member, older, AccessSet::Overwritten),
            false => self.add(older, *member),
        })
    }

    /// A reference to `access` and to the newest access of another block, which stand for all of `older`: too many to retain.
    pub fn add_overflowed(&mut self, older: AccessRef, access: AccessRef, overflow: Overflow) -> AccessRef {
        let block = self.get(access).op.block;
        let other = self.members(older).find(|other| self.get(*other).op.block != block).unwrap_or_default();
        self.node(access, other, AccessSet::Overflowed(overflow))
    }

    /// A reference to the atomics of `older` and to `access`, all of the same block.
    pub fn atomics(&mut self, older: AccessRef, access: AccessRef) -> AccessRef {
        debug_assert!(self.newest(older).op.block == self.get(access).op.block, "atomics of one block are taken together");
        let warp = |access: Access| 1 << access.op.warp.number();
        let others = if let AccessSet::AtomicsByWarps(warps) = self.access_set(older) { warps } else { warp(self.newest(older)) };
        let set = AccessSet::AtomicsByWarps(others | warp(self.get(access)));
        // The lanes of an atomic mostly access locations that the same warps have accessed.
        let is_like = |last: &u32| matches!(self.nodes.get(*last), node if node.access == access.0 && node.set == set);
        match self.last_node.filter(is_like) {
            Some(last) => AccessRef(last | LIST_BIT),
            None => self.node(access, AccessRef::default(), set),
        }
    }

    fn node(&mut self, access: AccessRef, rest: AccessRef, set: AccessSet) -> AccessRef {
        assert!(access.is_single(), "a cell names one access, and the others");
        let index = self.nodes.push(Node { access: access.0, rest, set });
        self.last_node = Some(index);
        AccessRef(index | LIST_BIT)
    }

    /// The number of records and nodes.
    pub fn len(&self) -> usize {
        self.accesses.len() + self.nodes.len()
    }

    /// Bytes that the log takes.
    pub fn bytes(&self) -> usize {
        self.accesses.bytes() + self.nodes.bytes() + self.scattered.bytes()
    }

    /// True if it may be time to [`Sweep`].
    pub fn is_full(&self) -> bool {
        self.len() > self.sweep_at
    }

    /// True if enough was added for a sweep over the shadow of `covered` bytes; otherwise raises the limit of [`Log::is_full`].
    pub fn is_worth_a_sweep(&mut self, covered: usize) -> bool {
        self.sweep_at = self.live + (covered / BYTES_OF_RECORD).max(MIN_SWEEP).max(self.live / 2);
        self.is_full()
    }
}

/// The accesses of a reference, newest first.
pub(super) struct Members<'a> {
    log: &'a Log,
    rest: AccessRef,
    are_overwritten: bool,
}

impl Members<'_> {
    /// True if a later write has overwritten the last access returned and those after it.
    pub fn are_overwritten(&self) -> bool {
        self.are_overwritten
    }

    /// The accesses after the first.
    fn rest_after_first(mut self) -> AccessRef {
        self.next();
        self.rest
    }
}

impl Iterator for Members<'_> {
    type Item = AccessRef;

    fn next(&mut self) -> Option<AccessRef> {
        let now = self.rest;
        if now.is_none() {
            return None;
        }
        if now.0 & LIST_BIT == 0 {
            self.rest = AccessRef::default();
            return Some(now);
        }
        let node = *self.log.nodes.get(now.0 & !LIST_BIT);
        self.rest = node.rest;
        self.are_overwritten |= node.set == AccessSet::Overwritten;
        Some(AccessRef(node.access))
    }
}

/// Mark and sweep of the log: all references are passed to [`Sweep::mark`], and [`Sweep::finish`] frees the accesses that are not marked.
pub(super) struct Sweep<'a> {
    log: &'a mut Log,
    accesses: Vec<bool>,
    nodes: Vec<bool>,
}

impl<'a> Sweep<'a> {
    /// Begins to sweep `log`.
    pub fn new(log: &'a mut Log) -> Self {
        let (accesses, nodes) = (log.accesses.unmarked(), log.nodes.unmarked());
        Self { log, accesses, nodes }
    }

    /// Marks the accesses that `reference` names as live.
    pub fn mark(&mut self, mut reference: AccessRef) {
        while reference.0 & LIST_BIT != 0 {
            let index = reference.0 & !LIST_BIT;
            if std::mem::replace(&mut self.nodes[index as usize], true) {
                return;
            }
            let node = self.log.nodes.get(index);
            self.accesses[node.access as usize] = true;
            reference = node.rest;
        }
        self.accesses[reference.0 as usize] = true;
    }

    /// Frees the accesses that are not marked.
    pub fn finish(mut self) {
        // Number 0 means none, and is retained.
        self.accesses.iter_mut().take(1).for_each(|first| *first = true);
        let mut scattered = self.log.scattered.unmarked();
        for (index, _) in self.accesses.iter().enumerate().filter(|(_, is_live)| **is_live) {
            if let LaneAddresses::Scattered(addresses) = self.log.accesses.get(index as u32).lane_addresses {
                scattered[addresses as usize] = true;
            }
        }
        self.log.accesses.retain(&self.accesses);
        self.log.nodes.retain(&self.nodes);
        self.log.scattered.retain(&scattered);
        self.log.last_node = None;
        self.log.live = self.log.len();
        self.log.sweep_at = self.log.live + MIN_SWEEP;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::WarpId;
    use crate::machine::{LaneMask, Tick};
    use crate::order::Agent;

    fn access(log: &mut Log, tick: Tick) -> AccessRef {
        let lane_addresses = log.scatter(&[tick.0; 32]);
        let op = Operation { tick, block: 0, warp: WarpId::new(0), lanes: LaneMask::ALL, agent: Agent::Threads, only_reads: true };
        log.push(Access::plain(op, (Pc(0), SideAction::Read), 1, lane_addresses))
    }

    #[test]
    fn a_sweep_keeps_what_is_marked_and_nothing_else() {
        let mut log = Log::default();
        let refs: Vec<AccessRef> = (1..=4).map(|tick| access(&mut log, Tick(tick))).collect();
        let dropped = log.add(refs[0], refs[1]);
        let kept = log.add(refs[1], refs[3]);
        assert_eq!((log.count(dropped), log.len()), (2, 5 + 2));
        let mut sweep = Sweep::new(&mut log);
        sweep.mark(kept);
        sweep.finish();
        let ticks: Vec<Tick> = log.members(kept).map(|member| log.get(member).op.tick).collect();
        assert_eq!((ticks, log.len()), (vec![Tick(4), Tick(2)], 3 + 1));
        assert_eq!((log.get(refs[3]).lanes_at(4, &log), log.newest(kept).lanes_at(2, &log)), (LaneMask::ALL, LaneMask::NONE));
        // What was freed is used again, with its addresses.
        assert_eq!([5, 6, 7].map(|tick| access(&mut log, Tick(tick))), [refs[0], refs[2], AccessRef(5)]);
        assert_eq!((log.get(refs[0]).lanes_at(5, &log), log.get(refs[1]).lanes_at(2, &log)), (LaneMask::ALL, LaneMask::ALL));
    }
}
