//! What copies do when they end.

use crate::machine::state::in_flight::copy::{Destination, LaneCopies, Work};
use smallvec::SmallVec;

use crate::isa::{AtomicFn, ScalarType};
use crate::machine::in_flight::copy::reach::Reach;
use crate::machine::state::in_flight::copy::{AsyncCopy, Ends, Home, POISON};
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::mbarrier::{Arrival, Contribution, Refused};
use crate::machine::state::place::Tick;
use crate::machine::state::read_modify_write;

/// Bytes that a byte mask repeats over.
const MASKED: usize = 16;

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
            Work::Lanes(_) | Work::Block { .. } | Work::Store { .. } | Work::Arrival => {}
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
            Work::Arrival => return reach.contribute(slot, address, arrival(Contribution::Arrived(lanes.count()))),
            Work::Box(copy) => match copy.bytes_that_end_the_phase(bytes, slot, address, reach) {
                Some(first) => {
                    reach.contribute(slot, address, arrival(Contribution::Brought(first)))?;
                    bytes - first
                }
                None => bytes,
            },
            Work::Lanes(_) | Work::Block { .. } | Work::Store { .. } => bytes,
        };
        reach.contribute(slot, address, arrival(Contribution::Brought(bytes)))
    }
}

impl LaneCopies {
    fn move_bytes(&self, lanes: LaneMask, reach: &mut Reach<'_>) {
        let bytes = self.bytes as usize;
        for lane in lanes.iter() {
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
