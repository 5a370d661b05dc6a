//! Reads of shared memory that are not in its shadow yet.

use super::access::{Access, Log};
use super::lane_addresses::{LaneAddresses, LaneTile};
use crate::base::WarpId;
use crate::check::finding::SideAction;
use crate::machine::{LaneMask, PerLane, Proxy, Tick};
use crate::order::{Agent, Operation};
use crate::program::Pc;

/// The most unrecorded reads of a block.
const MAX_READS: usize = 512;

/// Bytes of shared memory that one bit covers.
const UNIT: u64 = 256;

/// Bits for the shared memory of a block; the last one covers all bytes beyond as well.
const UNITS: u64 = 1024;

/// A plain read, in compact form.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnrecordedRead {
    pub tick: Tick,
    pub pc: Pc,
    pub warp: WarpId,
    pub lanes: LaneMask,
    /// Bytes a lane, and of each of its elements.
    pub bytes: (u32, u32),
}

/// The addresses of the lanes of a read.
#[derive(Clone, Copy, Debug)]
enum Addresses {
    /// In evenly spaced rows.
    Tile(LaneTile),
    /// Irregular: an index into the scattered addresses.
    Scattered(u32),
}

/// The unrecorded reads of the shared memory of one block.
#[derive(Clone, Debug, Default)]
pub(super) struct UnrecordedReads {
    reads: Vec<(UnrecordedRead, Addresses)>,
    /// The addresses of the lanes of reads that make no tile: shared memory has addresses of 32 bits.
    scattered: Vec<PerLane<u32>>,
    /// The units that they access, a bit for each.
    accessed: [u64; (UNITS / 64) as usize],
}

impl UnrecordedRead {
    /// The read as an access of the block of this number, by lanes with these addresses.
    fn access(&self, block: u32, lane_addresses: LaneAddresses) -> Access {
        let Self { tick, pc, warp, lanes, bytes: (bytes, element) } = *self;
        Access {
            op: Operation { tick, block, warp, lanes, agent: Agent::Threads, only_reads: true },
            pc,
            action: SideAction::Read,
            is_mbarrier: false,
            strong: None,
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

impl UnrecordedReads {
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty()
    }

    /// True if there is no room for more.
    pub fn are_full(&self) -> bool {
        self.reads.len() >= MAX_READS
    }

    /// Adds a read by lanes with these addresses, of some of the `bytes` bytes from `address` on.
    pub fn push(&mut self, read: UnrecordedRead, addresses: &PerLane<u64>, (address, bytes): (u64, u64)) {
        assert!(bytes > 0 && !self.are_full(), "a read touches something, and there is room for it");
        units(address, bytes).for_each(|(word, bit)| self.accessed[word] |= bit);
        let addresses = LaneTile::of(read.lanes, addresses).map_or_else(|| self.scatter(addresses), Addresses::Tile);
        self.reads.push((read, addresses));
    }

    fn scatter(&mut self, addresses: &PerLane<u64>) -> Addresses {
        self.scattered.push(addresses.map(|address| address as u32));
        Addresses::Scattered(self.scattered.len() as u32 - 1)
    }

    /// The number of reads.
    pub fn len(&self) -> usize {
        self.reads.len()
    }

    /// The read at `index` as an access of this block that is about to be added to `log`, and the addresses of its lanes.
    pub fn access(&self, index: usize, block: u32, log: &mut Log) -> (Access, PerLane<u64>) {
        let (read, addresses) = &self.reads[index];
        match addresses {
            Addresses::Tile(tile) => (read.access(block, LaneAddresses::Tile(*tile)), tile.addresses()),
            Addresses::Scattered(index) => {
                let addresses = self.scattered[*index as usize].map(u64::from);
                (read.access(block, log.lane_addresses(read.lanes, &addresses)), addresses)
            }
        }
    }

    /// True if one of them may access the `bytes` bytes from `address` on.
    pub fn may_access(&self, address: u64, bytes: u64) -> bool {
        !self.reads.is_empty() && units(address, bytes).any(|(word, bit)| self.accessed[word] & bit != 0)
    }

    /// Takes all of them, oldest first.
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Removes all of them: all later accesses are ordered after them.
    pub fn clear(&mut self) {
        self.accessed = Default::default();
        self.reads.clear();
        self.scattered.clear();
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.reads[..]) + size_of_val(&self.scattered[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_is_found_by_what_it_touches() {
        let addresses = std::array::from_fn(|lane| 0x3fc + lane as u64 * 4);
        let (warp, lanes) = (WarpId::new(0), LaneMask::ALL);
        let read = UnrecordedRead { tick: Tick(3), pc: Pc(1), warp, lanes, bytes: (4, 4) };
        let mut reads = UnrecordedReads::default();
        assert!(!reads.may_access(0, 1 << 20) && reads.is_empty());
        reads.push(read, &addresses, (0x3fc, 0x80));
        let accessed = |reads: &UnrecordedReads| [0x2ff, 0x300, 0x400, 0x4ff, 0x500].map(|address| reads.may_access(address, 1));
        assert_eq!(accessed(&reads), [false, true, true, true, false]);
        assert!(reads.may_access(0, 0x301) && !reads.may_access(0, 0x300));
        assert_eq!(reads.take().len(), 1);
        assert_eq!(accessed(&reads), [false; 5]);
        reads.push(read, &addresses, (UNIT * UNITS * 2, 4));
        assert!(reads.may_access(UNIT * UNITS, 1) && reads.may_access(UNIT * UNITS - 1, 1) && !reads.may_access(0, UNIT));
    }

    #[test]
    fn a_read_is_small() {
        assert_eq!(size_of::<(UnrecordedRead, Addresses)>(), 56);
    }
}
