//! The completion of copies.

use crate::machine::state::in_flight::copy::{CopyKind, Destination, LaneCopies};
use smallvec::SmallVec;

use crate::isa::{AtomicFn, ScalarType};
use crate::machine::in_flight::copy::view::MemoryView;
use crate::machine::state::digest::Digest;
use crate::machine::state::in_flight::copy::{AsyncCopy, CopyCompletion, MemoryOwner, POISON};
use crate::machine::state::issue_point::Tick;
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::mbarrier::{Contribution, MbarrierOperation, Refused};
use crate::machine::state::read_modify_write;

/// Bytes that a byte mask repeats over.
const MASKED: u64 = 16;

impl AsyncCopy {
    /// Makes the destination read as poison until the copy ends.
    pub fn poison(&self, view: &mut MemoryView<'_>) {
        if let CopyKind::Tensor(copy) = &self.work {
            return copy.poison(view);
        }
        if self.work.replaces() {
            self.work.writes(self.lanes, |to, bytes| {
                let poison: SmallVec<[u8; 256]> = SmallVec::from_elem(POISON, bytes as usize);
                view.write(to.owner, to.address, &poison);
            });
        }
    }

    /// Reads the source, so that it may be overwritten.
    pub fn take(&mut self, view: &mut MemoryView<'_>) {
        match &mut self.work {
            CopyKind::Bulk { from, bytes, taken, .. } if taken.is_none() => {
                let mut data = vec![0; *bytes as usize];
                view.read(from.owner, from.address, &mut data);
                *taken = Some(data.into_boxed_slice());
            }
            CopyKind::Tensor(copy) => copy.take(view),
            CopyKind::CpAsync(_) | CopyKind::Bulk { .. } | CopyKind::StAsync { .. } | CopyKind::CpAsyncArrive => {}
        }
        self.read = true;
    }

    /// A digest of the bytes that it puts in the place of others in global memory, and of their addresses; none if it does not.
    pub fn replaces_global(&self, view: &mut MemoryView<'_>) -> Option<u64> {
        if !self.work.replaces() {
            return None;
        }
        let mut digest = Digest::default();
        match &self.work {
            CopyKind::Bulk { from, to: Destination { owner: MemoryOwner::Global, address }, bytes, .. } => {
                let mut data = vec![0; *bytes as usize];
                view.read(from.owner, from.address, &mut data);
                digest.word(*address);
                digest.bytes(&data);
            }
            CopyKind::Tensor(copy) if copy.is_store() => copy.visit_stored(view, |address, bytes| {
                digest.word(address);
                digest.bytes(bytes);
            }),
            CopyKind::CpAsync(_) | CopyKind::Bulk { .. } | CopyKind::Tensor(_) | CopyKind::StAsync { .. } | CopyKind::CpAsyncArrive => {
                return None;
            }
        }
        Some(digest.value())
    }

    /// Ends the copy for `lanes`: moves their bytes, and signals the mbarrier, if one waits for it.
    ///
    /// # Errors
    /// If the mbarrier cannot take it; the bytes have moved all the same.
    pub fn end(&self, lanes: LaneMask, tick: Tick, view: &mut MemoryView<'_>) -> Result<(), Refused> {
        match &self.work {
            CopyKind::CpAsync(copies) => copies.move_bytes(lanes, view),
            CopyKind::Bulk { from, to, bytes, reduction, mask, taken } => {
                let mut data;
                let source = match taken {
                    Some(taken) => &taken[..],
                    None => {
                        data = vec![0; *bytes as usize];
                        view.read(from.owner, from.address, &mut data);
                        &data
                    }
                };
                deliver(*to, source, *reduction, *mask, view);
            }
            CopyKind::Tensor(copy) => copy.move_bytes(view),
            CopyKind::StAsync { to, bytes, reduction } => deliver(*to, bytes, *reduction, u16::MAX, view),
            CopyKind::CpAsyncArrive => {}
        }
        self.signal(lanes, tick, view)
    }

    /// Signals the mbarrier that the copy has ended.
    fn signal(&self, lanes: LaneMask, tick: Tick, view: &mut MemoryView<'_>) -> Result<(), Refused> {
        let CopyCompletion::Mbarrier { owner: MemoryOwner::Block { block_slot, .. }, address, bytes } = self.ends else { return Ok(()) };
        let operation = |what| MbarrierOperation { what, place: self.issued, lanes, copy: Some(self.id), tick };
        let bytes = match &self.work {
            CopyKind::CpAsyncArrive => return view.contribute(block_slot, address, operation(Contribution::Arrived(lanes.count()))),
            CopyKind::Tensor(copy) => match copy.bytes_that_end_the_phase(bytes, block_slot, address, view) {
                Some(first) => {
                    view.contribute(block_slot, address, operation(Contribution::CompleteTx(first)))?;
                    bytes - first
                }
                None => bytes,
            },
            CopyKind::CpAsync(_) | CopyKind::Bulk { .. } | CopyKind::StAsync { .. } => bytes,
        };
        view.contribute(block_slot, address, operation(Contribution::CompleteTx(bytes)))
    }
}

impl LaneCopies {
    fn move_bytes(&self, lanes: LaneMask, view: &mut MemoryView<'_>) {
        let bytes = self.bytes as usize;
        for lane in lanes.iter() {
            let mut data = [0; 16];
            let kept = usize::from(self.kept[lane]);
            if kept > 0 {
                view.read(MemoryOwner::Global, self.from[lane], &mut data[..kept]);
            }
            view.write(self.owner, u64::from(self.to[lane]), &data[..bytes]);
        }
    }
}

/// Writes `bytes`, or combines them with what is there.
fn deliver(to: Destination, bytes: &[u8], reduction: Option<(AtomicFn, ScalarType)>, mask: u16, view: &mut MemoryView<'_>) {
    if reduction.is_none() && mask == u16::MAX {
        return view.write(to.owner, to.address, bytes);
    }
    let Some((f, ty)) = reduction else {
        let kept = bytes.iter().zip(0..).filter(|(_, at)| mask >> (at % MASKED) & 1 != 0);
        return kept.for_each(|(byte, at)| view.write(to.owner, to.address + at, &[*byte]));
    };
    let mut now = vec![0; bytes.len()];
    view.read(to.owner, to.address, &mut now);
    read_modify_write::all(f, ty, &mut now, bytes);
    view.write(to.owner, to.address, &now);
}
