//! The records of accesses, in compact form: what accesses of one instruction have in common is stored once.

use super::access::Access;
use super::lane_addresses::LaneAddresses;
use super::slab::Slab;
use crate::base::WarpId;
use crate::check::finding::SideAction;
use crate::isa::Scope;
use crate::machine::{LaneMask, Proxy, Tick};
use crate::order::{Agent, Operation};
use crate::program::Pc;

/// What differs from one access of an instruction to the next.
#[derive(Clone, Copy, Debug)]
struct Record {
    tick: Tick,
    /// The origin of its lane addresses.
    origin: u64,
    block: u32,
    lanes: LaneMask,
    /// The rest, an index.
    common: u32,
    warp: WarpId,
}

/// What the accesses of an instruction mostly have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Common {
    pc: Pc,
    action: SideAction,
    agent: Agent,
    only_reads: bool,
    is_mbarrier: bool,
    strong: Option<Scope>,
    is_relaxed: bool,
    proxy: Proxy,
    bytes: u32,
    element: u32,
    /// Relative to the origin.
    lane_addresses: LaneAddresses,
    copy: u64,
}

/// The number of instructions whose last [`Common`] is looked up at once.
const RECENT: usize = 64;

/// Accesses by index.
#[derive(Clone, Debug)]
pub(super) struct Records {
    records: Slab<Record>,
    commons: Slab<Common>,
    /// The index of the last one that an instruction has used, by its number modulo [`RECENT`].
    recent: [Option<u32>; RECENT],
}

impl Default for Records {
    fn default() -> Self {
        Self { records: Slab::default(), commons: Slab::default(), recent: [None; RECENT] }
    }
}

impl Records {
    /// Adds an access, and returns its index.
    pub fn push(&mut self, access: &Access) -> u32 {
        let Access { op, pc, action, is_mbarrier, strong, is_relaxed, proxy, bytes, element, lane_addresses, copy } = *access;
        let Operation { tick, block, warp, lanes, agent, only_reads } = op;
        let (lane_addresses, origin) = lane_addresses.relative();
        let common = Common { pc, action, agent, only_reads, is_mbarrier, strong, is_relaxed, proxy, bytes, element, lane_addresses, copy };
        let common = self.index_of(common);
        self.records.push(Record { tick, origin, block, lanes, common, warp })
    }

    fn index_of(&mut self, common: Common) -> u32 {
        let recent = &mut self.recent[common.pc.index() % RECENT];
        let commons = &mut self.commons;
        match recent.filter(|index| *commons.get(*index) == common) {
            Some(index) => index,
            None => *recent.insert(commons.push(common)),
        }
    }

    /// The access at `index`.
    #[inline]
    pub fn get(&self, index: u32) -> Access {
        let Record { tick, origin, block, lanes, common, warp } = *self.records.get(index);
        let Common { pc, action, agent, only_reads, is_mbarrier, strong, is_relaxed, proxy, bytes, element, lane_addresses, copy } =
            *self.commons.get(common);
        Access {
            op: Operation { tick, block, warp, lanes, agent, only_reads },
            pc,
            action,
            is_mbarrier,
            strong,
            is_relaxed,
            proxy,
            bytes,
            element,
            lane_addresses: lane_addresses.at(origin),
            copy,
        }
    }

    /// The number of accesses.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        self.records.bytes() + self.commons.bytes()
    }

    /// A mark for each place: none is set.
    pub fn unmarked(&self) -> Vec<bool> {
        self.records.unmarked()
    }

    /// Frees the accesses without a mark.
    pub fn retain(&mut self, marks: &[bool]) {
        let mut commons = self.commons.unmarked();
        for (index, _) in marks.iter().enumerate().filter(|(_, is_marked)| **is_marked) {
            commons[self.records.get(index as u32).common as usize] = true;
        }
        self.records.retain(marks);
        self.commons.retain(&commons);
        self.recent = [None; RECENT];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::race::lane_addresses::LaneTile;

    #[test]
    fn an_access_comes_back_as_it_was() {
        let mut records = Records::default();
        let tile =
            |base: u64| LaneAddresses::Tile(LaneTile::of(LaneMask::ALL, &std::array::from_fn(|lane| base + lane as u64 * 8)).unwrap());
        let access = |tick: u64, lane_addresses: LaneAddresses, copy: u64| Access {
            op: Operation {
                tick: Tick(tick),
                block: 7,
                warp: WarpId::new(3),
                lanes: LaneMask::lowest(9),
                agent: Agent::Copy(4),
                only_reads: true,
            },
            pc: Pc(70),
            action: SideAction::Read,
            is_mbarrier: false,
            strong: Some(Scope::Gpu),
            is_relaxed: true,
            proxy: Proxy::Async,
            bytes: 8,
            element: 4,
            lane_addresses,
            copy,
        };
        let all = [
            access(1, tile(0x1000), 0),
            access(2, tile(0x2000), 0),
            access(3, LaneAddresses::Scattered(5), 0),
            access(4, LaneAddresses::All, 9),
            access(5, tile(0x3000), 0),
        ];
        let indices = all.map(|access| records.push(&access));
        let text = |access: &Access| format!("{access:?}");
        let are_same = |records: &Records, which: &[usize]| which.iter().all(|i| text(&records.get(indices[*i])) == text(&all[*i]));
        assert!(are_same(&records, &[0, 1, 2, 3, 4]));
        assert_eq!((records.len(), records.commons.len(), size_of::<Record>()), (5, 4, 32));
        let mut marks = records.unmarked();
        marks[4] = true;
        records.retain(&marks);
        assert_eq!((records.len(), records.commons.len()), (1, 1));
        assert!(
            are_same(&records, &[4]) && records.push(&all[2]) == 0 && text(&records.get(0)) == text(&all[2]) && are_same(&records, &[4])
        );
    }
}
