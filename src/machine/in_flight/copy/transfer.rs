//! What copies do when they end.

use smallvec::SmallVec;

use super::{AsyncCopy, BoxCopy, Ends, Home, POISON, Reach};
use crate::isa::{AtomicFn, ScalarType};
use crate::machine::state::lanes::{LaneMask, PerLane, lanes_of};
use crate::machine::state::mbarrier::{Arrival, Contribution, Refused};
use crate::machine::state::place::Tick;
use crate::machine::state::read_modify_write;

/// Bytes that a byte mask repeats over.
const MASKED: usize = 16;

/// Where bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Whose memory.
    pub home: Home,
    /// Address of the first byte.
    pub address: u64,
}

/// What a copy moves.
#[derive(Clone, Debug)]
pub enum Work {
    /// `cp.async`: from global memory to the shared memory of the block `to`, by lane.
    Lanes(Box<LaneCopies>),
    /// `cp.async.bulk` and `cp.reduce.async.bulk`.
    Block {
        /// Source.
        from: Destination,
        /// Where to.
        to: Destination,
        /// How many.
        bytes: u32,
        /// What combines them with the destination, if they do not replace it.
        reduction: Option<(AtomicFn, ScalarType)>,
        /// Which bytes of every 16 are written, as bits.
        mask: u16,
        /// The source's bytes, once they have been read.
        taken: Option<Box<[u8]>>,
    },
    /// `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`.
    Box(Box<BoxCopy>),
    /// `st.async` and `red.async`: these bytes.
    Store {
        /// Where to.
        to: Destination,
        /// What is stored.
        bytes: SmallVec<[u8; 16]>,
        /// What combines it with the destination, if it does not replace it.
        reduction: Option<(AtomicFn, ScalarType)>,
    },
    /// `cp.async.mbarrier.arrive`: nothing but an arrival once the `cp.async` of its lanes before it have ended.
    Arrival,
}

/// The copies of the lanes of one `cp.async`.
#[derive(Clone, Debug)]
pub struct LaneCopies {
    /// Source of each lane, in global memory.
    pub from: PerLane<u64>,
    /// Destination of each lane, in the shared memory of the block.
    pub to: PerLane<u32>,
    /// The block.
    pub home: Home,
    /// Bytes of a lane.
    pub bytes: u32,
    /// Bytes that each lane reads; zeros stand for the others.
    pub kept: PerLane<u8>,
}

impl Work {
    /// Whose shared memory it reads or writes.
    pub fn homes(&self) -> impl Iterator<Item = Home> {
        let homes = match self {
            Work::Lanes(copies) => [copies.home, Home::Global],
            Work::Block { from, to, .. } => [from.home, to.home],
            Work::Box(copy) => [copy.home, Home::Global],
            Work::Store { to, .. } => [to.home, Home::Global],
            Work::Arrival => [Home::Global; 2],
        };
        homes.into_iter()
    }

    /// Shows `visit` the ranges that it will write for `lanes`: where, and how many bytes.
    pub fn writes(&self, lanes: LaneMask, mut visit: impl FnMut(Destination, u64)) {
        match self {
            Work::Lanes(copies) => {
                for lane in lanes_of(lanes) {
                    visit(Destination { home: copies.home, address: u64::from(copies.to[lane]) }, u64::from(copies.bytes));
                }
            }
            Work::Block { to, bytes, .. } => visit(*to, u64::from(*bytes)),
            Work::Box(copy) => copy.writes(visit),
            Work::Store { to, bytes, .. } => visit(*to, bytes.len() as u64),
            Work::Arrival => {}
        }
    }

    /// Shows `visit` the ranges that it reads for `lanes`: where, and how many bytes.
    pub fn reads(&self, lanes: LaneMask, mut visit: impl FnMut(Destination, u64)) {
        match self {
            Work::Lanes(copies) => {
                for lane in lanes_of(lanes) {
                    visit(Destination { home: Home::Global, address: copies.from[lane] }, u64::from(copies.kept[lane]));
                }
            }
            Work::Block { from, bytes, .. } => visit(*from, u64::from(*bytes)),
            Work::Box(copy) => copy.reads(visit),
            Work::Store { .. } | Work::Arrival => {}
        }
    }

    /// Whether it replaces what was at its destination, and does not combine with it.
    fn replaces(&self) -> bool {
        match self {
            Work::Lanes(_) => true,
            Work::Block { reduction, mask, .. } => reduction.is_none() && *mask == u16::MAX,
            Work::Box(copy) => copy.replaces(),
            Work::Store { reduction, .. } => reduction.is_none(),
            Work::Arrival => false,
        }
    }
}

impl AsyncCopy {
    /// Makes the destination read as poison until the copy ends.
    pub fn poison(&self, reach: &mut Reach<'_>) {
        if let Work::Box(copy) = &self.work {
            return copy.poison(reach);
        }
        if self.work.replaces() {
            self.work.writes(self.lanes, |to, bytes| {
                let poison: SmallVec<[u8; 256]> = SmallVec::from_elem(POISON, bytes as usize);
                reach.write(to.home, to.address, &poison);
            });
        }
    }

    /// Reads the source, so that it may be overwritten.
    pub fn take(&mut self, reach: &mut Reach<'_>) {
        match &mut self.work {
            Work::Block { from, bytes, taken, .. } if taken.is_none() => {
                let mut data = vec![0; *bytes as usize];
                reach.read(from.home, from.address, &mut data);
                *taken = Some(data.into_boxed_slice());
            }
            Work::Box(copy) => copy.take(reach),
            _ => {}
        }
        self.read = true;
    }

    /// Ends the copy for `lanes`: moves their bytes, and tells the barrier object, if one waits for it.
    ///
    /// # Errors
    /// If the barrier object cannot take it; the bytes have moved all the same.
    pub fn end(&self, lanes: LaneMask, tick: Tick, reach: &mut Reach<'_>) -> Result<(), Refused> {
        match &self.work {
            Work::Lanes(copies) => copies.move_bytes(lanes, reach),
            Work::Block { from, to, bytes, reduction, mask, taken } => {
                let mut data;
                let source = match taken {
                    Some(taken) => &taken[..],
                    None => {
                        data = vec![0; *bytes as usize];
                        reach.read(from.home, from.address, &mut data);
                        &data
                    }
                };
                deliver(*to, source, *reduction, *mask, reach);
            }
            Work::Box(copy) => copy.move_bytes(reach),
            Work::Store { to, bytes, reduction } => deliver(*to, bytes, *reduction, u16::MAX, reach),
            Work::Arrival => {}
        }
        self.tell(lanes, tick, reach)
    }

    /// Tells the barrier object that the copy has ended.
    fn tell(&self, lanes: LaneMask, tick: Tick, reach: &mut Reach<'_>) -> Result<(), Refused> {
        let Ends::Mbarrier { home: Home::Block { slot, .. }, address, bytes } = self.ends else { return Ok(()) };
        let arrival = |what| Arrival { what, place: self.issued, lanes, copy: Some(self.id), tick };
        let bytes = match &self.work {
            Work::Arrival => return reach.contribute(slot, address, arrival(Contribution::Arrived(lanes.count_ones()))),
            Work::Box(copy) => match copy.bytes_that_end_the_phase(bytes, slot, address, reach) {
                Some(first) => {
                    reach.contribute(slot, address, arrival(Contribution::Brought(first)))?;
                    bytes - first
                }
                None => bytes,
            },
            _ => bytes,
        };
        reach.contribute(slot, address, arrival(Contribution::Brought(bytes)))
    }
}

impl LaneCopies {
    fn move_bytes(&self, lanes: LaneMask, reach: &mut Reach<'_>) {
        let bytes = self.bytes as usize;
        for lane in lanes_of(lanes) {
            let mut data = [0; 16];
            let kept = usize::from(self.kept[lane]);
            if kept > 0 {
                reach.read(Home::Global, self.from[lane], &mut data[..kept]);
            }
            reach.write(self.home, u64::from(self.to[lane]), &data[..bytes]);
        }
    }
}

/// Writes `bytes`, or combines them with what is there.
fn deliver(to: Destination, bytes: &[u8], reduction: Option<(AtomicFn, ScalarType)>, mask: u16, reach: &mut Reach<'_>) {
    if reduction.is_none() && mask == u16::MAX {
        return reach.write(to.home, to.address, bytes);
    }
    let mut now = vec![0; bytes.len()];
    reach.read(to.home, to.address, &mut now);
    match reduction {
        Some((f, ty)) => read_modify_write::all(f, ty, &mut now, bytes),
        None => {
            let kept = now.iter_mut().zip(bytes).enumerate().filter(|(at, _)| mask >> (at % MASKED) & 1 != 0);
            kept.for_each(|(_, (now, byte))| *now = *byte);
        }
    }
    reach.write(to.home, to.address, &now);
}
