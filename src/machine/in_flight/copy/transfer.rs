//! The completion of copies.

use crate::machine::state::in_flight::copy::{CopyKind, LaneCopies, MemoryAddress};
use smallvec::SmallVec;

use crate::isa::{AtomicFn, ScalarType};
use crate::machine::in_flight::copy::view::MemoryView;
use crate::machine::state::digest::Digest;
use crate::machine::state::in_flight::copy::{AsyncCopy, CopyCompletion, MemoryOwner, POISON};
use crate::machine::state::issue_point::Tick;
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::mbarrier::{Contribution, MbarrierError, MbarrierOperation};
use crate::machine::state::read_modify_write;

/// The period of a byte mask, in bytes.
const MASK_PERIOD: u64 = 16;

impl AsyncCopy {
    /// Poisons the destination until the copy ends.
    pub fn poison(&self, view: &mut MemoryView<'_>) {
        if let CopyKind::Tensor(copy) = &self.kind {
            return copy.poison(view);
        }
        if self.kind.replaces() {
            self.kind.visit_writes(self.lanes, |to, bytes| {
                let poison: SmallVec<[u8; 256]> = SmallVec::from_elem(POISON, bytes as usize);
                view.write(to.owner, to.address, &poison);
            });
        }
    }

    /// Reads the source, which may be overwritten from then on.
    pub fn read_source(&mut self, view: &mut MemoryView<'_>) {
        match &mut self.kind {
            CopyKind::Bulk { from, bytes, source_bytes, .. } if source_bytes.is_none() => {
                let mut data = vec![0; *bytes as usize];
                view.read(from.owner, from.address, &mut data);
                *source_bytes = Some(data.into_boxed_slice());
            }
            CopyKind::Tensor(copy) => copy.read_source(view),
            CopyKind::CpAsync(_) | CopyKind::Bulk { .. } | CopyKind::StAsync { .. } | CopyKind::CpAsyncArrive => {}
        }
        self.read = true;
    }

    /// A digest of the bytes and addresses that it overwrites in global memory; none if it overwrites none.
    pub fn replaces_global(&self, view: &mut MemoryView<'_>) -> Option<u64> {
        if !self.kind.replaces() {
            return None;
        }
        let mut digest = Digest::default();
        match &self.kind {
            CopyKind::Bulk { from, to: MemoryAddress { owner: MemoryOwner::Global, address }, bytes, .. } => {
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

    /// Ends the copy for `lanes`: moves their bytes, and signals its mbarrier, if it has one.
    ///
    /// # Errors
    /// If the contribution to the mbarrier is invalid; the bytes have moved nevertheless.
    pub fn end(&self, lanes: LaneMask, tick: Tick, view: &mut MemoryView<'_>) -> Result<(), MbarrierError> {
        match &self.kind {
            CopyKind::CpAsync(copies) => copies.move_bytes(lanes, view),
            CopyKind::Bulk { from, to, bytes, reduction, mask, source_bytes } => {
                let mut data;
                let source = match source_bytes {
                    Some(source_bytes) => &source_bytes[..],
                    None => {
                        data = vec![0; *bytes as usize];
                        view.read(from.owner, from.address, &mut data);
                        &data
                    }
                };
                write_or_reduce(*to, source, *reduction, *mask, view);
            }
            CopyKind::Tensor(copy) => copy.move_bytes(view),
            CopyKind::StAsync { to, bytes, reduction } => write_or_reduce(*to, bytes, *reduction, u16::MAX, view),
            CopyKind::CpAsyncArrive => {}
        }
        self.signal(lanes, tick, view)
    }

    /// Signals the mbarrier that the copy has ended.
    fn signal(&self, lanes: LaneMask, tick: Tick, view: &mut MemoryView<'_>) -> Result<(), MbarrierError> {
        let CopyCompletion::Mbarrier { owner: MemoryOwner::Block { block_slot, .. }, address, bytes } = self.completion else {
            return Ok(());
        };
        let operation = |what| MbarrierOperation { what, point: self.issued, lanes, copy: Some(self.id), tick };
        let bytes = match &self.kind {
            CopyKind::CpAsyncArrive => return view.contribute(block_slot, address, operation(Contribution::Arrived(lanes.count()))),
            CopyKind::Tensor(copy) => match copy.bytes_to_complete_phase(bytes, block_slot, address, view) {
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
            let source_size = usize::from(self.source_sizes[lane]);
            if source_size > 0 {
                view.read(MemoryOwner::Global, self.from[lane], &mut data[..source_size]);
            }
            view.write(self.owner, u64::from(self.to[lane]), &data[..bytes]);
        }
    }
}

/// Writes `bytes`, or reduces them with the destination.
fn write_or_reduce(to: MemoryAddress, bytes: &[u8], reduction: Option<(AtomicFn, ScalarType)>, mask: u16, view: &mut MemoryView<'_>) {
    if reduction.is_none() && mask == u16::MAX {
        return view.write(to.owner, to.address, bytes);
    }
    let Some((f, ty)) = reduction else {
        let selected = bytes.iter().zip(0..).filter(|(_, at)| mask >> (at % MASK_PERIOD) & 1 != 0);
        return selected.for_each(|(byte, at)| view.write(to.owner, to.address + at, &[*byte]));
    };
    let mut memory = vec![0; bytes.len()];
    view.read(to.owner, to.address, &mut memory);
    read_modify_write::all(f, ty, &mut memory, bytes);
    view.write(to.owner, to.address, &memory);
}
