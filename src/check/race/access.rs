//! The log of accesses: one record for each access of a warp, and references to them from the shadow memory.

use crate::base::WarpId;
use crate::check::finding::{Side, SideAction};
use crate::isa::Scope;
use crate::machine::{IssuePoint, LaneMask, PerLane, Proxy};
use crate::order::Operation;
use crate::program::Pc;

use super::lane_addresses::{LaneAddresses, Strided};

/// An access by lanes of a warp, or by an asynchronous operation that they issued.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// The operation.
    pub op: Operation,
    /// The instruction.
    pub pc: Pc,
    /// The action.
    pub action: SideAction,
    /// Whether it is an operation on an mbarrier.
    pub is_mbarrier: bool,
    /// The scope, of an operation that is strong (PTX ISA, "Strong operations").
    pub strong: Option<Scope>,
    /// Whether it is a volatile or relaxed load or store.
    pub is_relaxed: bool,
    /// Through what.
    pub proxy: Proxy,
    /// Bytes a lane.
    pub bytes: u32,
    /// Bytes of the scalar that it accesses, or of each of those that a vector has.
    pub element: u32,
    /// The address of each lane.
    pub lane_addresses: LaneAddresses,
    /// The copy, as the machine numbers it; 0 for none.
    pub copy: u64,
}

/// A reference to an access, or to several ([`Log::members`]); 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Ref(pub u32);

const SEVERAL: u32 = 1 << 31;

/// Records and cells that are never too many.
const SMALL: usize = 1 << 8;

/// One of several accesses, and the others.
#[derive(Clone, Copy, Debug)]
struct Cell {
    access: u32,
    rest: Ref,
    what: AccessSet,
}

/// The accesses that a reference names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessSet {
    /// All of them.
    Exact,
    /// The same, but a later write that was no read-modify-write has replaced what the first of them wrote, and those after it.
    Overwritten,
    /// There were more than are kept: the newest of all, and after it the newest of another block, if there was one.
    Overflowed(Overflow),
    /// Atomics by these warps of a block, of which only the newest is kept.
    AtomicsByWarps(u32),
}

/// The kinds of accesses of which there were too many to refer to each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overflow {
    /// Read-modify-writes, each of which read what the one before it wrote.
    Chain,
    /// Any.
    Mixed,
}

/// All accesses that the shadow of memory refers to.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    accesses: Vec<Access>,
    cells: Vec<Cell>,
    scattered: Vec<PerLane<u64>>,
    /// Records and cells that were live after the last sweep.
    live: usize,
    /// The number of records and cells at which [`Log::is_full`] proposes a sweep.
    sweep_at: usize,
}

impl Ref {
    /// Whether it refers to nothing.
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether it refers to one access.
    pub fn is_one(self) -> bool {
        self.0 != 0 && self.0 & SEVERAL == 0
    }
}

impl Access {
    /// The lanes that touched the byte at `address`.
    pub fn lanes_at(&self, address: u64, log: &Log) -> LaneMask {
        self.lane_addresses.lanes_at(self.op.lanes, self.bytes, address, log)
    }

    /// The access as a side of a finding about `lanes` of it, in the block with this index.
    pub fn side(&self, lanes: LaneMask, block: [u32; 3]) -> Side {
        let place = IssuePoint { pc: self.pc, tick: self.op.tick, block, warp: WarpId::new(self.op.warp.number()) };
        Side { place, lanes, action: self.action, bytes: self.bytes, copy: (self.copy != 0).then_some(self.copy) }
    }
}

impl Log {
    /// The addresses of the lanes of an access that is about to be added.
    pub fn lane_addresses(&mut self, lanes: LaneMask, addresses: &PerLane<u64>) -> LaneAddresses {
        Strided::of(lanes, addresses).map_or_else(|| self.scatter(addresses), LaneAddresses::Tile)
    }

    fn scatter(&mut self, addresses: &PerLane<u64>) -> LaneAddresses {
        self.scattered.push(*addresses);
        LaneAddresses::Scattered(self.scattered.len() as u32 - 1)
    }

    /// The addresses of an access whose lanes are anywhere.
    pub fn scattered(&self, index: u32) -> &PerLane<u64> {
        &self.scattered[index as usize]
    }

    fn scattered_indices(&mut self) -> impl Iterator<Item = &mut u32> {
        self.accesses.iter_mut().filter_map(|access| access.lane_addresses.scattered())
    }

    /// Adds an access.
    pub fn push(&mut self, access: Access) -> Ref {
        assert!(!access.op.lanes.is_empty(), "an access is by some lane");
        assert!(self.accesses.len() < SEVERAL as usize, "a reference has room for every access");
        if self.accesses.is_empty() {
            // Number 0 means none.
            self.accesses.push(access);
        }
        self.accesses.push(access);
        Ref(self.accesses.len() as u32 - 1)
    }

    /// The access of a reference to one.
    pub fn get(&self, one: Ref) -> &Access {
        debug_assert!(!one.is_none(), "there is such an access");
        &self.accesses[(one.0 & !SEVERAL) as usize]
    }

    /// The accesses of a reference, newest first, and whether those are all that there were.
    pub fn members(&self, reference: Ref) -> Members<'_> {
        Members { log: self, rest: reference, are_overwritten: false }
    }

    /// The accesses that a reference names.
    pub fn what(&self, reference: Ref) -> AccessSet {
        if reference.0 & SEVERAL == 0 { AccessSet::Exact } else { self.cells[(reference.0 & !SEVERAL) as usize].what }
    }

    /// The newest of the accesses of a reference.
    pub fn newest(&self, reference: Ref) -> &Access {
        if reference.0 & SEVERAL == 0 {
            self.get(reference)
        } else {
            &self.accesses[self.cells[(reference.0 & !SEVERAL) as usize].access as usize]
        }
    }

    /// The number of accesses that a reference names.
    pub fn count(&self, reference: Ref) -> usize {
        self.members(reference).count()
    }

    /// A reference to those of `older` and `access`, which is newer than all of them.
    pub fn add(&mut self, older: Ref, access: Ref) -> Ref {
        if older.is_none() { access } else { self.cell(access, older, AccessSet::Exact) }
    }

    /// The same reference, whose values a later write has replaced that is no read-modify-write.
    pub fn overwritten(&mut self, reference: Ref) -> Ref {
        if reference.is_none() || self.what(reference) != AccessSet::Exact {
            return reference;
        }
        let rest = self.members(reference).rest_after_first();
        let newest = self.members(reference).next().unwrap_or_default();
        self.cell(newest, rest, AccessSet::Overwritten)
    }

    /// A reference to those of `members`, newest first, each with whether a later write has replaced what it wrote.
    pub fn several(&mut self, members: &[(Ref, bool)]) -> Ref {
        members.iter().rev().fold(Ref::default(), |older, (member, is_overwritten)| match is_overwritten {
            true => self.cell(*member, older, AccessSet::Overwritten),
            false => self.add(older, *member),
        })
    }

    /// A reference to `access` that remembers that there were too many to name, and the newest one of another block than its own.
    pub fn too_many(&mut self, older: Ref, access: Ref, overflow: Overflow) -> Ref {
        let block = self.get(access).op.block;
        let other = self.members(older).find(|other| self.get(*other).op.block != block).unwrap_or_default();
        self.cell(access, other, AccessSet::Overflowed(overflow))
    }

    /// A reference to the atomics of `older` and `access`, all of them of the same block.
    pub fn atomics(&mut self, older: Ref, access: Ref) -> Ref {
        debug_assert!(self.newest(older).op.block == self.get(access).op.block, "atomics of one block are taken together");
        let warp = |access: &Access| 1 << access.op.warp.number();
        let others = if let AccessSet::AtomicsByWarps(warps) = self.what(older) { warps } else { warp(self.newest(older)) };
        let what = AccessSet::AtomicsByWarps(others | warp(self.get(access)));
        // The lanes of an atomic mostly access places where the same warps have been.
        match self.cells.last() {
            Some(last) if last.access == access.0 && last.what == what => Ref((self.cells.len() as u32 - 1) | SEVERAL),
            _ => self.cell(access, Ref::default(), what),
        }
    }

    fn cell(&mut self, access: Ref, rest: Ref, what: AccessSet) -> Ref {
        assert!(access.is_one(), "a cell names one access, and the others");
        self.cells.push(Cell { access: access.0, rest, what });
        Ref((self.cells.len() as u32 - 1) | SEVERAL)
    }

    /// Records and cells.
    pub fn len(&self) -> usize {
        self.accesses.len() + self.cells.len()
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        let scattered = self.scattered.len() * size_of::<PerLane<u64>>();
        self.accesses.len() * size_of::<Access>() + self.cells.len() * size_of::<Cell>() + scattered
    }

    /// Whether it may be time to [`Sweep`].
    pub fn is_full(&self) -> bool {
        self.len() > self.sweep_at
    }

    /// Whether so much was added that a sweep over `entries` of the shadow is worth its time; otherwise it is full later.
    pub fn is_worth_a_sweep(&mut self, entries: usize) -> bool {
        self.sweep_at = self.live + entries / 16 + SMALL;
        self.is_full()
    }
}

/// The accesses of a reference, newest first.
pub(super) struct Members<'a> {
    log: &'a Log,
    rest: Ref,
    are_overwritten: bool,
}

impl Members<'_> {
    /// Whether a later write has replaced what the accesses from the last one on wrote.
    pub fn are_overwritten(&self) -> bool {
        self.are_overwritten
    }

    /// The accesses after the first.
    fn rest_after_first(mut self) -> Ref {
        self.next();
        self.rest
    }
}

impl Iterator for Members<'_> {
    type Item = Ref;

    fn next(&mut self) -> Option<Ref> {
        let now = self.rest;
        if now.is_none() {
            return None;
        }
        if now.0 & SEVERAL == 0 {
            self.rest = Ref::default();
            return Some(now);
        }
        let cell = self.log.cells[(now.0 & !SEVERAL) as usize];
        self.rest = cell.rest;
        self.are_overwritten |= cell.what == AccessSet::Overwritten;
        Some(Ref(cell.access))
    }
}

/// Throws away the accesses that nothing refers to any more. First all references are shown to [`Sweep::mark`], then what is not marked
/// goes, and then all references are taken to where their accesses are now by [`Swept::moved`].
pub(super) struct Sweep<'a> {
    log: &'a mut Log,
    accesses: Vec<u32>,
    cells: Vec<u32>,
}

impl<'a> Sweep<'a> {
    /// Begins to sweep `log`.
    pub fn new(log: &'a mut Log) -> Self {
        let (accesses, cells) = (vec![0; log.accesses.len()], vec![0; log.cells.len()]);
        Self { log, accesses, cells }
    }

    /// Marks the accesses that `reference` names as live.
    pub fn mark(&mut self, mut reference: Ref) {
        while reference.0 & SEVERAL != 0 {
            let index = (reference.0 & !SEVERAL) as usize;
            if self.cells[index] != 0 {
                return;
            }
            self.cells[index] = 1;
            self.accesses[self.log.cells[index].access as usize] = 1;
            reference = self.log.cells[index].rest;
        }
        self.accesses[reference.0 as usize] = 1;
    }

    /// Throws away what was not marked.
    pub fn end(mut self) -> Swept {
        // Number 0 means none, and stays.
        self.accesses.iter_mut().take(1).for_each(|first| *first = 1);
        keep(&mut self.log.accesses, &mut self.accesses);
        let mut scattered = vec![0; self.log.scattered.len()];
        self.log.scattered_indices().for_each(|index| scattered[*index as usize] = 1);
        keep(&mut self.log.scattered, &mut scattered);
        self.log.scattered_indices().for_each(|index| *index = scattered[*index as usize]);
        keep(&mut self.log.cells, &mut self.cells);
        let swept = Swept { accesses: self.accesses, cells: self.cells };
        for cell in &mut self.log.cells {
            (cell.access, cell.rest) = (swept.accesses[cell.access as usize], swept.moved(cell.rest));
        }
        self.log.live = self.log.len();
        self.log.sweep_at = self.log.live + SMALL;
        swept
    }
}

/// The new positions of accesses after a sweep.
pub(super) struct Swept {
    accesses: Vec<u32>,
    cells: Vec<u32>,
}

impl Swept {
    /// The reference that means what `of` meant before.
    pub fn moved(&self, reference: Ref) -> Ref {
        let index = (reference.0 & !SEVERAL) as usize;
        match reference {
            Ref(0) => reference,
            _ if reference.is_one() => {
                assert!(self.accesses[index] != 0, "what is referred to was marked");
                Ref(self.accesses[index])
            }
            _ => Ref(self.cells[index] | SEVERAL),
        }
    }
}

/// Keeps those of `items` that are marked, and puts where each is now in place of its mark.
fn keep<T: Copy>(items: &mut Vec<T>, marks: &mut [u32]) {
    let mut kept = 0;
    for (index, mark) in marks.iter_mut().enumerate().filter(|(_, mark)| **mark != 0) {
        items[kept] = items[index];
        *mark = kept as u32;
        kept += 1;
    }
    items.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{LaneMask, Tick};
    use crate::order::Agent;

    fn access(log: &mut Log, tick: Tick) -> Ref {
        let lane_addresses = log.scatter(&[tick.0; 32]);
        let op = Operation { tick, block: 0, warp: WarpId::new(0), lanes: LaneMask::ALL, agent: Agent::Threads, only_reads: true };
        log.push(Access {
            op,
            pc: Pc(0),
            action: SideAction::Read,
            is_mbarrier: false,
            strong: None,
            is_relaxed: false,
            proxy: Proxy::Generic,
            bytes: 1,
            element: 1,
            lane_addresses,
            copy: 0,
        })
    }

    #[test]
    fn a_sweep_keeps_what_is_marked_and_nothing_else() {
        let mut log = Log::default();
        let refs: Vec<Ref> = (1..=4).map(|tick| access(&mut log, Tick(tick))).collect();
        let dropped = log.add(refs[0], refs[1]);
        let kept = log.add(refs[1], refs[3]);
        assert_eq!((log.count(dropped), log.len()), (2, 5 + 2));
        let mut sweep = Sweep::new(&mut log);
        sweep.mark(kept);
        let swept = sweep.end();
        let kept = swept.moved(kept);
        let ticks: Vec<Tick> = log.members(kept).map(|member| log.get(member).op.tick).collect();
        assert_eq!((ticks, log.len(), swept.moved(Ref::default())), (vec![Tick(4), Tick(2)], 3 + 1, Ref::default()));
        assert_eq!((log.get(swept.moved(refs[3])).lanes_at(4, &log), log.newest(kept).lanes_at(2, &log)), (LaneMask::ALL, LaneMask::NONE));
    }
}
