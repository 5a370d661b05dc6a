//! Reads and atomics of shared memory that are not in its shadow yet.

use smallvec::SmallVec;

use super::access::{Access, Log};
use super::lane_addresses::{LaneAddresses, LaneTile};
use crate::base::WarpId;
use crate::check::finding::SideAction;
use crate::isa::Scope;
use crate::machine::{AccessEvent, IssuePoint, LaneMask, PerLane, PlainRead, Tick};
use crate::order::{Agent, Operation};
use crate::program::Pc;

/// The most unrecorded accesses of a block.
const MAX_ACCESSES: usize = 512;

/// The most that are compared one by one with the bytes of an access.
const SCANNED: usize = 64;

/// Places that are made at once.
const PLACES: usize = 64;

/// Bytes of a unit within which atomics count as accesses of the same location.
const ATOMIC_UNIT: u64 = 4;

/// Bytes of shared memory that one bit covers.
const UNIT: u64 = 256;

/// Bits for the shared memory of a block; the last one covers all bytes beyond as well.
const UNITS: u64 = 1024;

/// A plain read, or a relaxed atomic, in compact form.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnrecordedAccess {
    pub tick: Tick,
    pub pc: Pc,
    pub warp: WarpId,
    pub lanes: LaneMask,
    /// Bytes a lane, and of each of its elements.
    pub bytes: (u32, u32),
    /// The scope, of an atomic.
    pub atomic: Option<Scope>,
}

/// The addresses of the lanes of an access.
#[derive(Clone, Copy, Debug)]
enum Addresses {
    /// In evenly spaced rows.
    Tile(LaneTile),
    /// Irregular: an index into the scattered addresses.
    Scattered(u32),
}

/// The unrecorded accesses of the shared memory of one block.
#[derive(Clone, Debug, Default)]
pub(super) struct UnrecordedAccesses {
    /// Places for them, of which the first [`Self::len`] are taken. They are written in place: what is built elsewhere and copied
    /// at once takes longer than all the rest.
    accesses: Vec<(UnrecordedAccess, Addresses)>,
    count: usize,
    /// The addresses of the lanes of accesses that make no tile: shared memory has addresses of 32 bits.
    scattered: Vec<PerLane<u32>>,
    /// The units that reads and atomics access, a bit for each.
    read: Units,
    changed: Units,
    atomics: Atomics,
}

/// The atomics among them.
#[derive(Clone, Debug, Default)]
struct Atomics {
    /// Their instructions.
    pcs: SmallVec<[Pc; 4]>,
    /// Bytes a lane, the same for all.
    bytes: u32,
    /// Whether they access each unit of [`ATOMIC_UNIT`] bytes. Bits of one word would have to wait for each other.
    touched: Vec<bool>,
}

/// A bit for each unit of [`UNIT`] bytes.
type Units = [u64; (UNITS / 64) as usize];

impl UnrecordedAccess {
    /// A plain read by all lanes.
    #[inline(always)]
    pub fn of(read: &PlainRead<'_>) -> Self {
        let IssuePoint { tick, pc, warp, .. } = *read.point;
        Self { tick, pc, warp, lanes: LaneMask::ALL, bytes: (read.bytes, read.bytes), atomic: None }
    }

    /// The access as one of the block of this number, by lanes with these addresses.
    pub fn access(&self, block: u32, lane_addresses: LaneAddresses) -> Access {
        let Self { tick, pc, warp, lanes, bytes: (bytes, element), atomic } = *self;
        let op = Operation { tick, block, warp, lanes, agent: Agent::Threads, only_reads: atomic.is_none() };
        let action = if atomic.is_some() { SideAction::Atomic } else { SideAction::Read };
        Access { strong: atomic, element, ..Access::plain(op, (pc, action), bytes, lane_addresses) }
    }
}

/// True if `write` is by the threads that do this read, of the same bytes, each of which one thread accesses.
fn is_replaced((read, addresses): &(UnrecordedAccess, Addresses), write: &Access) -> bool {
    let Addresses::Tile(tile) = addresses else { return false };
    let is_by_same = (read.warp, read.lanes, read.bytes.0) == (write.op.warp, write.op.lanes, write.bytes);
    let lane_addresses = LaneAddresses::Tile(*tile);
    read.atomic.is_none() && is_by_same && lane_addresses == write.lane_addresses && lane_addresses.is_disjoint(write.bytes)
}

/// The units of the `bytes` bytes from `address` on.
fn units(address: u64, bytes: u64) -> impl Iterator<Item = (usize, u64)> {
    let unit = |address: u64| (address / UNIT).min(UNITS - 1);
    (unit(address)..=unit(address + bytes - 1)).map(|unit| ((unit / 64) as usize, 1 << (unit % 64)))
}

/// Adds the units of the `bytes` bytes from `address` on.
#[inline(always)]
fn add_units(accessed: &mut Units, address: u64, bytes: u64) {
    units(address, bytes).for_each(|(word, bit)| accessed[word] |= bit);
}

/// Bytes from the first that an access touches to its last.
#[inline(always)]
pub(super) fn span(event: &AccessEvent<'_>) -> u64 {
    event.max - event.min + u64::from(event.bytes)
}

/// True if one of the `bytes` bytes from `address` on may be in a unit of `accessed`.
fn includes(accessed: &Units, address: u64, bytes: u64) -> bool {
    units(address, bytes).any(|(word, bit)| accessed[word] & bit != 0)
}

impl Atomics {
    /// Adds one by lanes with these addresses, the last of which is below `end`; true if a lane accesses a unit that another one has
    /// accessed.
    fn add(&mut self, access: &UnrecordedAccess, addresses: &PerLane<u64>, end: u64) -> bool {
        let UnrecordedAccess { pc, lanes, bytes: (bytes, _), .. } = *access;
        self.bytes = bytes;
        if !self.pcs.contains(&pc) {
            self.pcs.push(pc);
        }
        let units = (end / ATOMIC_UNIT) as usize + 1;
        if self.touched.len() < units {
            self.touched.resize(units, false);
        }
        let touched = &mut self.touched[..units];
        let mut touch = |unit: u64| std::mem::replace(&mut touched[unit as usize], true);
        let (last, mut meets) = (u64::from(bytes) - 1, false);
        for lane in lanes.iter() {
            let (mut unit, end) = (addresses[lane] / ATOMIC_UNIT, (addresses[lane] + last) / ATOMIC_UNIT);
            meets |= touch(unit);
            while unit < end {
                unit += 1;
                meets |= touch(unit);
            }
        }
        meets
    }

    fn clear(&mut self) {
        if !self.pcs.is_empty() {
            self.pcs.clear();
            self.touched.fill(false);
        }
    }
}

impl UnrecordedAccesses {
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// True if some are atomics.
    pub fn has_atomics(&self) -> bool {
        !self.atomics.pcs.is_empty()
    }

    /// True if there is no room for more.
    pub fn are_full(&self) -> bool {
        self.count >= MAX_ACCESSES
    }

    /// True if an atomic of `bytes` bytes a lane can be added: all are of one size.
    pub fn fit_atomic(&self, bytes: u32) -> bool {
        self.atomics.pcs.is_empty() || self.atomics.bytes == bytes
    }

    /// Adds a read.
    #[inline(always)]
    pub fn push_read(&mut self, read: UnrecordedAccess, event: &AccessEvent<'_>) {
        assert!(read.atomic.is_none() && !self.are_full(), "a read is no atomic, and there is room for it");
        add_units(&mut self.read, event.min, span(event));
        self.push(read, event);
    }

    /// Adds a read of shared memory whose addresses make a tile by their shape; false, without effect, if they do not, or there is no room.
    #[inline(always)]
    pub fn push_shared_read(&mut self, read: &PlainRead<'_>) -> bool {
        let tile = LaneTile::of_shape(read.shape, |lane| read.low + u64::from(read.deltas[lane]));
        let Some(tile) = tile.filter(|_| !self.are_full()) else { return false };
        add_units(&mut self.read, read.low, read.span);
        self.put(UnrecordedAccess::of(read), Addresses::Tile(tile));
        true
    }

    /// Adds an atomic. Returns the instructions of all atomics if it meets another one.
    pub fn push_atomic(&mut self, atomic: UnrecordedAccess, event: &AccessEvent<'_>) -> &[Pc] {
        assert!(atomic.atomic.is_some() && !self.are_full(), "an atomic is strong, and there is room for it");
        let span = span(event);
        add_units(&mut self.changed, event.min, span);
        self.push(atomic, event);
        if self.atomics.add(&atomic, event.addresses, event.min + span) { &self.atomics.pcs } else { &[] }
    }

    #[inline(always)]
    fn push(&mut self, access: UnrecordedAccess, event: &AccessEvent<'_>) {
        match event.shape.and_then(|shape| LaneTile::of_shape(shape, |lane| event.addresses[lane])) {
            Some(tile) => self.put(access, Addresses::Tile(tile)),
            None => self.push_irregular(access, event),
        }
    }

    /// [`Self::push`] of addresses of no known shape.
    #[inline(never)]
    fn push_irregular(&mut self, access: UnrecordedAccess, event: &AccessEvent<'_>) {
        let tile = LaneTile::of(event.lanes, event.addresses);
        let addresses = tile.map_or_else(|| self.scatter(event.addresses), Addresses::Tile);
        self.put(access, addresses);
    }

    #[inline(always)]
    fn put(&mut self, access: UnrecordedAccess, addresses: Addresses) {
        if self.count == self.accesses.len() {
            self.grow();
        }
        self.accesses[self.count] = (access, addresses);
        self.count += 1;
    }

    #[cold]
    fn grow(&mut self) {
        const NONE: UnrecordedAccess =
            UnrecordedAccess { tick: Tick(0), pc: Pc(0), warp: WarpId::new(0), lanes: LaneMask::NONE, bytes: (0, 0), atomic: None };
        let count = (self.accesses.len() + PLACES).min(MAX_ACCESSES);
        self.accesses.resize(count, (NONE, Addresses::Scattered(0)));
    }

    fn scatter(&mut self, addresses: &PerLane<u64>) -> Addresses {
        self.scattered.push(addresses.map(|address| address as u32));
        Addresses::Scattered(self.scattered.len() as u32 - 1)
    }

    /// The number of accesses.
    pub fn len(&self) -> usize {
        self.count
    }

    /// The one at `index` as an access of this block that is about to be added to `log`, and the addresses of its lanes.
    pub fn access(&self, index: usize, block: u32, log: &mut Log) -> (Access, PerLane<u64>) {
        let (access, addresses) = &self.accesses[..self.count][index];
        match addresses {
            Addresses::Tile(tile) => (access.access(block, LaneAddresses::Tile(*tile)), tile.addresses()),
            Addresses::Scattered(index) => {
                let addresses = self.scattered[*index as usize].map(u64::from);
                (access.access(block, log.lane_addresses(access.lanes, &addresses)), addresses)
            }
        }
    }

    /// True if one of them may access the `bytes` bytes from `address` on.
    pub fn may_access(&self, address: u64, bytes: u64) -> bool {
        let is_near = self.count > 0 && (includes(&self.read, address, bytes) || self.may_change(address, bytes));
        is_near && (self.count > SCANNED || (0..self.count).any(|index| self.overlaps(index, address, bytes)))
    }

    /// Drops the reads that `write` stands for, which is about to be recorded: those by the same threads of the same bytes.
    pub fn replace_by(&mut self, write: &Access) {
        if self.count > SCANNED || !self.accesses[..self.count].iter().any(|read| is_replaced(read, write)) {
            return;
        }
        let mut kept = 0;
        for index in 0..self.count {
            let access = self.accesses[index];
            if !is_replaced(&access, write) {
                self.accesses[kept] = access;
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// True if the one at `index` may access the `bytes` bytes from `address` on: bytes between those of its lanes count.
    fn overlaps(&self, index: usize, address: u64, bytes: u64) -> bool {
        let (UnrecordedAccess { lanes, bytes: (of_lane, _), .. }, addresses) = &self.accesses[index];
        let (low, high) = match addresses {
            Addresses::Tile(tile) => tile.bounds(*lanes),
            Addresses::Scattered(index) => {
                let addresses = &self.scattered[*index as usize];
                lanes.iter().map(|lane| u64::from(addresses[lane])).fold((u64::MAX, 0), |(low, high), at| (low.min(at), high.max(at)))
            }
        };
        low < address.saturating_add(bytes) && address < high.saturating_add(u64::from(*of_lane))
    }

    /// True if an atomic may access the `bytes` bytes from `address` on.
    pub fn may_change(&self, address: u64, bytes: u64) -> bool {
        self.has_atomics() && includes(&self.changed, address, bytes)
    }

    /// True if a read may access the `bytes` bytes from `address` on.
    pub fn may_read(&self, address: u64, bytes: u64) -> bool {
        self.count > 0 && includes(&self.read, address, bytes)
    }

    /// Takes all of them, oldest first.
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Gets the memory of those that were taken and are recorded now.
    pub fn reuse(&mut self, mut taken: Self) {
        if self.is_empty() {
            taken.clear();
            *self = taken;
        }
    }

    /// Removes all of them: all later accesses are ordered after them.
    pub fn clear(&mut self) {
        (self.read, self.changed) = Default::default();
        self.count = 0;
        self.scattered.clear();
        self.atomics.clear();
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.accesses[..]) + size_of_val(&self.scattered[..]) + size_of_val(&self.atomics.touched[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Space;
    use crate::machine::{AccessKind, BlockId, Proxy};

    /// An access by all lanes, of 4 bytes each.
    fn event(addresses: &PerLane<u64>) -> AccessEvent<'_> {
        let (min, max) = addresses.iter().fold((u64::MAX, 0), |(min, max), address| (min.min(*address), max.max(*address)));
        let point = IssuePoint { tick: Tick(3), pc: Pc(1), block: [0; 3], warp: WarpId::new(0) };
        AccessEvent {
            point,
            block_id: BlockId { number: 0, block_slot: 0 },
            lanes: LaneMask::ALL,
            lockstep: LaneMask::NONE,
            kind: AccessKind::Read,
            semantics: crate::program::Access::default(),
            proxy: Proxy::Generic,
            space: Space::Shared,
            owner: (0, 0),
            addresses,
            shape: None,
            min,
            max,
            bytes: 4,
            depth: 0,
            store: None,
        }
    }

    fn access(pc: u32, atomic: Option<Scope>) -> UnrecordedAccess {
        UnrecordedAccess { tick: Tick(3), pc: Pc(pc), warp: WarpId::new(0), lanes: LaneMask::ALL, bytes: (4, 4), atomic }
    }

    fn row(start: u64) -> PerLane<u64> {
        std::array::from_fn(|lane| start + lane as u64 * 4)
    }

    #[test]
    fn a_read_is_found_by_what_it_touches() {
        let mut accesses = UnrecordedAccesses::default();
        assert!(!accesses.may_access(0, 1 << 20) && accesses.is_empty());
        accesses.push_read(access(1, None), &event(&row(0x3fc)));
        let accessed = |accesses: &UnrecordedAccesses| [0x2ff, 0x300, 0x400, 0x4ff, 0x500].map(|address| accesses.may_access(address, 1));
        assert_eq!(accessed(&accesses), [false, false, true, false, false]);
        assert!(accesses.may_access(0, 0x3fd) && !accesses.may_access(0, 0x3fc));
        assert_eq!(accesses.take().len(), 1);
        assert_eq!(accessed(&accesses), [false; 5]);
        accesses.push_read(access(1, None), &event(&[UNIT * UNITS * 2; 32]));
        assert!(accesses.may_access(UNIT * UNITS * 2 + 3, 1) && !accesses.may_access(UNIT * UNITS - 1, 1) && !accesses.may_access(0, UNIT));
        // Of more than can be compared one by one, those in the units of an access count.
        (0..SCANNED).for_each(|_| accesses.push_read(access(1, None), &event(&row(0x3fc))));
        assert_eq!(accessed(&accesses), [false, true, true, true, false]);
    }

    #[test]
    fn an_atomic_meets_those_of_its_locations() {
        let add = |accesses: &mut UnrecordedAccesses, pc: u32, addresses: &PerLane<u64>| {
            accesses.push_atomic(access(pc, Some(Scope::Gpu)), &event(addresses)).to_vec()
        };
        let mut accesses = UnrecordedAccesses::default();
        assert!(add(&mut accesses, 1, &row(0)).is_empty() && add(&mut accesses, 1, &row(128)).is_empty());
        assert_eq!(add(&mut accesses, 2, &row(252)), [Pc(1), Pc(2)]);
        assert!(accesses.fit_atomic(4) && !accesses.fit_atomic(8) && accesses.may_change(0, 4) && !accesses.may_read(0, 4));
        accesses.clear();
        assert!(accesses.fit_atomic(8) && add(&mut accesses, 2, &row(0)).is_empty());
        // Lanes of one instruction meet each other.
        accesses.clear();
        assert_eq!(add(&mut accesses, 3, &[8; 32]), [Pc(3)]);
    }

    #[test]
    fn an_access_is_small() {
        assert_eq!(size_of::<(UnrecordedAccess, Addresses)>(), 56);
    }
}
