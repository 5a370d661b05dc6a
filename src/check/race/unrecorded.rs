//! Reads and atomics of shared memory that are not in its shadow yet.

use smallvec::SmallVec;

use super::access::{Access, Log};
use super::lane_addresses::{LaneAddresses, LaneTile};
use crate::base::WarpId;
use crate::check::finding::SideAction;
use crate::isa::Scope;
use crate::machine::{LaneMask, PerLane, Proxy, Tick};
use crate::order::{Agent, Operation};
use crate::program::Pc;

/// The most unrecorded accesses of a block.
const MAX_ACCESSES: usize = 512;

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
    accesses: Vec<(UnrecordedAccess, Addresses)>,
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
    /// The units of [`ATOMIC_UNIT`] bytes that they access, a bit for each.
    touched: Vec<u64>,
}

/// A bit for each unit of [`UNIT`] bytes.
type Units = [u64; (UNITS / 64) as usize];

impl UnrecordedAccess {
    /// The access as one of the block of this number, by lanes with these addresses.
    fn access(&self, block: u32, lane_addresses: LaneAddresses) -> Access {
        let Self { tick, pc, warp, lanes, bytes: (bytes, element), atomic } = *self;
        Access {
            op: Operation { tick, block, warp, lanes, agent: Agent::Threads, only_reads: atomic.is_none() },
            pc,
            action: if atomic.is_some() { SideAction::Atomic } else { SideAction::Read },
            is_mbarrier: false,
            strong: atomic,
            is_relaxed: false,
            proxy: Proxy::Generic,
            bytes,
            element,
            lane_addresses,
            copy: 0,
        }
    }
}

/// The units of the `bytes` bytes from `address` on.
fn units(address: u64, bytes: u64) -> impl Iterator<Item = (usize, u64)> {
    let unit = |address: u64| (address / UNIT).min(UNITS - 1);
    (unit(address)..=unit(address + bytes - 1)).map(|unit| ((unit / 64) as usize, 1 << (unit % 64)))
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
        let words = (end / ATOMIC_UNIT / 64) as usize + 1;
        if self.touched.len() < words {
            self.touched.resize(words, 0);
        }
        let touched = &mut self.touched[..words];
        let mut touch = |unit: u64| {
            let (word, bit) = (&mut touched[(unit / 64) as usize], 1 << (unit % 64));
            let is_touched = *word & bit != 0;
            *word |= bit;
            is_touched
        };
        let last = u64::from(bytes) - 1;
        lanes.iter().fold(false, |meets, lane| {
            let (first, last) = (addresses[lane] / ATOMIC_UNIT, (addresses[lane] + last) / ATOMIC_UNIT);
            (first..=last).fold(meets, |meets, unit| touch(unit) | meets)
        })
    }

    fn clear(&mut self) {
        self.pcs.clear();
        self.touched.fill(0);
    }
}

impl UnrecordedAccesses {
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.accesses.is_empty()
    }

    /// True if there is no room for more.
    pub fn are_full(&self) -> bool {
        self.accesses.len() >= MAX_ACCESSES
    }

    /// True if an atomic of `bytes` bytes a lane can be added: all are of one size.
    pub fn fit_atomic(&self, bytes: u32) -> bool {
        self.atomics.pcs.is_empty() || self.atomics.bytes == bytes
    }

    /// Adds an access by lanes with these addresses, of some of the `bytes` bytes from `address` on. Of an atomic, returns the instructions
    /// of all atomics if it meets another one.
    pub fn push(&mut self, access: UnrecordedAccess, addresses: &PerLane<u64>, (address, bytes): (u64, u64)) -> &[Pc] {
        assert!(bytes > 0 && !self.are_full(), "an access touches something, and there is room for it");
        let accessed = if access.atomic.is_some() { &mut self.changed } else { &mut self.read };
        units(address, bytes).for_each(|(word, bit)| accessed[word] |= bit);
        let tile = LaneTile::of(access.lanes, addresses);
        let lane_addresses = tile.map_or_else(|| self.scatter(addresses), Addresses::Tile);
        self.accesses.push((access, lane_addresses));
        let meets = access.atomic.is_some() && self.atomics.add(&access, addresses, address + bytes);
        if meets { &self.atomics.pcs } else { &[] }
    }

    fn scatter(&mut self, addresses: &PerLane<u64>) -> Addresses {
        self.scattered.push(addresses.map(|address| address as u32));
        Addresses::Scattered(self.scattered.len() as u32 - 1)
    }

    /// The number of accesses.
    pub fn len(&self) -> usize {
        self.accesses.len()
    }

    /// The one at `index` as an access of this block that is about to be added to `log`, and the addresses of its lanes.
    pub fn access(&self, index: usize, block: u32, log: &mut Log) -> (Access, PerLane<u64>) {
        let (access, addresses) = &self.accesses[index];
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
        !self.accesses.is_empty() && (includes(&self.read, address, bytes) || self.may_change(address, bytes))
    }

    /// True if an atomic may access the `bytes` bytes from `address` on.
    pub fn may_change(&self, address: u64, bytes: u64) -> bool {
        !self.atomics.pcs.is_empty() && includes(&self.changed, address, bytes)
    }

    /// True if a read may access the `bytes` bytes from `address` on.
    pub fn may_read(&self, address: u64, bytes: u64) -> bool {
        !self.accesses.is_empty() && includes(&self.read, address, bytes)
    }

    /// Takes all of them, oldest first.
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Removes all of them: all later accesses are ordered after them.
    pub fn clear(&mut self) {
        (self.read, self.changed) = Default::default();
        self.accesses.clear();
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

    #[test]
    fn a_read_is_found_by_what_it_touches() {
        let addresses = std::array::from_fn(|lane| 0x3fc + lane as u64 * 4);
        let (warp, lanes) = (WarpId::new(0), LaneMask::ALL);
        let read = UnrecordedAccess { tick: Tick(3), pc: Pc(1), warp, lanes, bytes: (4, 4), atomic: None };
        let mut accesses = UnrecordedAccesses::default();
        assert!(!accesses.may_access(0, 1 << 20) && accesses.is_empty());
        accesses.push(read, &addresses, (0x3fc, 0x80));
        let accessed = |accesses: &UnrecordedAccesses| [0x2ff, 0x300, 0x400, 0x4ff, 0x500].map(|address| accesses.may_access(address, 1));
        assert_eq!(accessed(&accesses), [false, true, true, true, false]);
        assert!(accesses.may_access(0, 0x301) && !accesses.may_access(0, 0x300));
        assert_eq!(accesses.take().len(), 1);
        assert_eq!(accessed(&accesses), [false; 5]);
        accesses.push(read, &addresses, (UNIT * UNITS * 2, 4));
        assert!(accesses.may_access(UNIT * UNITS, 1) && accesses.may_access(UNIT * UNITS - 1, 1) && !accesses.may_access(0, UNIT));
    }

    #[test]
    fn an_atomic_meets_those_of_its_locations() {
        let at = |start: u64| -> PerLane<u64> { std::array::from_fn(|lane| start + lane as u64 * 4) };
        let (warp, lanes, atomic) = (WarpId::new(0), LaneMask::ALL, Some(Scope::Gpu));
        let add = |pc: u32| UnrecordedAccess { tick: Tick(3), pc: Pc(pc), warp, lanes, bytes: (4, 4), atomic };
        let mut accesses = UnrecordedAccesses::default();
        assert!(accesses.push(add(1), &at(0), (0, 128)).is_empty() && accesses.push(add(1), &at(128), (128, 128)).is_empty());
        assert_eq!(accesses.push(add(2), &at(252), (252, 128)), [Pc(1), Pc(2)]);
        assert!(accesses.fit_atomic(4) && !accesses.fit_atomic(8) && accesses.may_change(0, 4) && !accesses.may_read(0, 4));
        accesses.clear();
        assert!(accesses.fit_atomic(8) && accesses.push(add(2), &at(0), (0, 128)).is_empty());
        // Lanes of one instruction meet each other.
        accesses.clear();
        assert_eq!(accesses.push(add(3), &[8; 32], (8, 4)), [Pc(3)]);
    }

    #[test]
    fn an_access_is_small() {
        assert_eq!(size_of::<(UnrecordedAccess, Addresses)>(), 56);
    }
}
