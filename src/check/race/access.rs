//! What was done to memory: one record for each access of a warp, and references to them from the shadow of memory.

use crate::check::finding::{Deed, Side};
use crate::isa::Scope;
use crate::machine::{LaneMask, PerLane, Place, Tick, lanes_of};
use crate::program::Pc;

use super::clock::Group;

/// Who accessed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agent {
    /// The threads themselves.
    Threads,
    /// An asynchronous operation of a group that its threads wait for.
    Group(Group),
    /// A copy that completes on a barrier object; its number in its block.
    Copy(u32),
}

/// Through what memory was accessed (PTX ISA, "Proxies").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proxy {
    /// As loads and stores do.
    Generic,
    /// As bulk and tensor copies and `wgmma` do.
    Async,
    /// As textures and `ld.global.nc` do.
    ReadOnly,
}

/// An access by lanes of a warp, or by an asynchronous operation that they issued.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// When; of an asynchronous operation, when it was issued.
    pub tick: Tick,
    /// The instruction.
    pub pc: Pc,
    /// The block, in order of launch.
    pub block: u32,
    /// The warp of the block.
    pub warp: u8,
    /// The lanes.
    pub lanes: LaneMask,
    /// What was done.
    pub deed: Deed,
    /// The scope, of an operation that is strong (PTX ISA, "Strong operations").
    pub strong: Option<Scope>,
    /// Who did it.
    pub agent: Agent,
    /// Through what.
    pub proxy: Proxy,
    /// Bytes a lane.
    pub bytes: u32,
    /// Which address is whose.
    pub pattern: Pattern,
    /// The copy, as the machine numbers it; 0 for none.
    pub copy: u64,
}

/// The addresses of the lanes of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// Lane `i` is at `base + i * stride`.
    Even {
        /// Where lane 0 is or would be.
        base: u64,
        /// Bytes from a lane to the next; 0 if all are at the same place.
        stride: i32,
    },
    /// Anywhere: an index into [`Log::scattered`].
    Scattered(u32),
    /// All lanes touch all of it.
    All,
}

/// A reference to an access, or to several ([`Log::members`]); 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Ref(pub u32);

const SEVERAL: u32 = 1 << 31;

/// One of several accesses, and the others.
#[derive(Clone, Copy, Debug)]
struct Cell {
    access: u32,
    rest: Ref,
    /// There were more than are kept: the newest of all, and behind it the newest of another block, if there was one.
    many: bool,
}

/// All accesses that the shadow of memory refers to.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    accesses: Vec<Access>,
    cells: Vec<Cell>,
    scattered: Vec<PerLane<u64>>,
    /// Records and cells that were live after the last sweep.
    live: usize,
}

impl Ref {
    /// Whether it refers to nothing.
    pub fn is_none(self) -> bool {
        self.0 == 0
    }
}

impl Access {
    /// The lanes that touched the byte at `address`.
    pub fn lanes_at(&self, address: u64, log: &Log) -> LaneMask {
        let touches = |start: u64| address.wrapping_sub(start) < u64::from(self.bytes);
        match self.pattern {
            Pattern::All | Pattern::Even { stride: 0, .. } => self.lanes,
            Pattern::Even { base, stride } => {
                let start = |lane: usize| base.wrapping_add_signed(i64::from(stride) * lane as i64);
                lanes_of(self.lanes).filter(|lane| touches(start(*lane))).fold(0, |mask, lane| mask | 1 << lane)
            }
            Pattern::Scattered(index) => {
                let addresses = &log.scattered[index as usize];
                lanes_of(self.lanes).filter(|lane| touches(addresses[*lane])).fold(0, |mask, lane| mask | 1 << lane)
            }
        }
    }

    /// The access as a side of a finding about `lanes` of it, in the block with this index.
    pub fn side(&self, lanes: LaneMask, block: [u32; 3]) -> Side {
        let place = Place { pc: self.pc, tick: self.tick, block, warp: u32::from(self.warp) };
        Side { place, lanes, deed: self.deed, bytes: self.bytes, copy: (self.copy != 0).then_some(self.copy) }
    }
}

impl Log {
    /// Adds an access whose lanes are anywhere.
    pub fn scatter(&mut self, addresses: &PerLane<u64>) -> Pattern {
        self.scattered.push(*addresses);
        Pattern::Scattered(self.scattered.len() as u32 - 1)
    }

    /// Adds an access.
    pub fn push(&mut self, access: Access) -> Ref {
        if self.accesses.is_empty() {
            // Number 0 means none.
            self.accesses.push(access);
        }
        self.accesses.push(access);
        Ref(self.accesses.len() as u32 - 1)
    }

    /// The access of a reference to one.
    pub fn get(&self, one: Ref) -> &Access {
        &self.accesses[(one.0 & !SEVERAL) as usize]
    }

    /// The accesses of a reference, newest first, and whether those are all that there were.
    pub fn members(&self, of: Ref) -> Members<'_> {
        Members { log: self, rest: of }
    }

    /// Whether more accesses stand behind the reference than it can name.
    pub fn is_many(&self, of: Ref) -> bool {
        of.0 & SEVERAL != 0 && self.cells[(of.0 & !SEVERAL) as usize].many
    }

    /// How many accesses a reference names.
    pub fn count(&self, of: Ref) -> usize {
        self.members(of).count()
    }

    /// A reference to those of `older` and `access`, which is newer than all of them.
    pub fn add(&mut self, older: Ref, access: Ref) -> Ref {
        self.cell(access, older, false)
    }

    /// A reference to `access` that remembers that there were too many to name, and the newest one of another block than its own.
    pub fn too_many(&mut self, older: Ref, access: Ref) -> Ref {
        let block = self.get(access).block;
        let other = self.members(older).find(|other| self.get(*other).block != block).unwrap_or_default();
        self.cell(access, other, true)
    }

    fn cell(&mut self, access: Ref, rest: Ref, many: bool) -> Ref {
        if rest.is_none() && !many {
            return access;
        }
        self.cells.push(Cell { access: access.0, rest, many });
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

    /// Whether so much was added that it is time to [`Sweep`], when the shadow has `entries`.
    pub fn is_full(&self, entries: usize) -> bool {
        self.len() > 2 * self.live + entries / 8 + (1 << 16)
    }
}

/// The accesses of a reference, newest first.
pub(super) struct Members<'a> {
    log: &'a Log,
    rest: Ref,
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
        Some(Ref(cell.access))
    }
}

/// Throws away the accesses that nothing refers to any more: references are taken from the old log to the new one, one by one.
pub(super) struct Sweep {
    old: Log,
    new: Log,
    accesses: Vec<u32>,
    cells: Vec<u32>,
}

impl Sweep {
    /// Begins to sweep `log`.
    pub fn new(log: &mut Log) -> Self {
        let old = std::mem::take(log);
        let (accesses, cells) = (vec![0; old.accesses.len()], vec![0; old.cells.len()]);
        Self { old, new: Log::default(), accesses, cells }
    }

    /// The reference that means in the new log what `of` meant in the old one.
    pub fn keep(&mut self, of: Ref) -> Ref {
        if of.is_none() {
            return of;
        }
        let index = (of.0 & !SEVERAL) as usize;
        if of.0 & SEVERAL == 0 {
            return Ref(self.keep_access(index));
        }
        if self.cells[index] == 0 {
            let Cell { access, rest, many } = self.old.cells[index];
            let rest = self.keep(rest);
            let access = self.keep_access(access as usize);
            self.new.cells.push(Cell { access, rest, many });
            self.cells[index] = (self.new.cells.len() as u32 - 1) | SEVERAL;
        }
        Ref(self.cells[index])
    }

    fn keep_access(&mut self, index: usize) -> u32 {
        if self.accesses[index] == 0 {
            let mut access = self.old.accesses[index];
            if let Pattern::Scattered(at) = access.pattern {
                access.pattern = self.new.scatter(&self.old.scattered[at as usize]);
            }
            self.accesses[index] = self.new.push(access).0;
        }
        self.accesses[index]
    }

    /// The new log.
    pub fn end(mut self) -> Log {
        self.new.live = self.new.len();
        self.new
    }
}
