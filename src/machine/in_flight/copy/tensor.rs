//! Tensor copies: the bytes of a box move when the copy ends.

use crate::machine::state::in_flight::copy::BoxCopy;
use std::ops::Range;

use smallvec::SmallVec;

use crate::machine::in_flight::copy::view::MemoryView;
use crate::machine::in_flight::tensor::{ByteRun, Direction, UNIT};
use crate::machine::state::in_flight::copy::{MemoryAddress, MemoryOwner, POISON};
use crate::machine::state::read_modify_write;
use crate::num::convert;

/// The bytes of a run.
type Bytes = SmallVec<[u8; 256]>;

impl BoxCopy {
    /// True if it overwrites its destination, without a reduction.
    pub fn replaces(&self) -> bool {
        !matches!(self.shape.direction(), Direction::Reduce(_))
    }

    fn is_load(&self) -> bool {
        self.shape.direction() == Direction::Load
    }

    /// True if the destination is global memory.
    pub fn is_store(&self) -> bool {
        !self.is_load()
    }

    fn in_shared(&self, run: &ByteRun) -> MemoryAddress {
        MemoryAddress { owner: self.owner, address: run.shared }
    }

    /// The address of a run in global memory; none if it is outside the tensor.
    fn in_global(run: &ByteRun) -> Option<MemoryAddress> {
        run.global.map(|address| MemoryAddress { owner: MemoryOwner::Global, address })
    }

    /// Calls `visit` for each range that it writes: its start and its length in bytes.
    pub fn visit_writes(&self, mut visit: impl FnMut(MemoryAddress, u64)) {
        self.shape.swizzled_runs(|run| {
            let to = if self.is_load() { Some(self.in_shared(&run)) } else { Self::in_global(&run) };
            to.into_iter().for_each(|to| visit(to, run.bytes));
        });
    }

    /// Calls `visit` for each range that it reads: its start and its length in bytes.
    pub fn visit_reads(&self, mut visit: impl FnMut(MemoryAddress, u64)) {
        self.shape.swizzled_runs(|run| {
            let from = if self.is_load() { Self::in_global(&run) } else { Some(self.in_shared(&run)) };
            from.into_iter().for_each(|from| visit(from, run.bytes));
        });
    }

    /// Poisons the destination, if the copy overwrites it.
    pub fn poison(&self, view: &mut MemoryView<'_>) {
        if self.is_load() {
            self.change_shared(view, |_, bytes| bytes.fill(POISON));
        } else if self.replaces() {
            self.shape.unswizzled_runs(|run| {
                let poison = Bytes::from_elem(POISON, run.bytes as usize);
                Self::in_global(&run).into_iter().for_each(|to| view.write(to.owner, to.address, &poison));
            });
        }
    }

    /// Reads the source, which may be overwritten from then on.
    pub fn read_source(&mut self, view: &mut MemoryView<'_>) {
        if self.source_bytes.is_none() {
            self.source_bytes = Some(self.source(view));
        }
    }

    /// The bytes of the source: its contiguous runs, concatenated in the order of the box.
    fn source(&self, view: &mut MemoryView<'_>) -> Box<[u8]> {
        let mut all = Vec::new();
        if self.is_load() {
            self.shape.unswizzled_runs(|run| {
                let mut bytes = Bytes::from_elem(0, run.bytes as usize);
                match run.global {
                    Some(address) => view.read(MemoryOwner::Global, address, &mut bytes),
                    None => bytes.iter_mut().zip(self.shape.fill().iter().cycle()).for_each(|(byte, fill)| *byte = *fill),
                }
                if run.global.is_some() && self.shape.element().is_tf32() {
                    round_to_tf32(&mut bytes);
                }
                all.extend_from_slice(&bytes);
            });
        } else {
            let mut image = vec![0; self.shape.shared_bytes() as usize];
            view.read(self.owner, self.shape.shared_start(), &mut image);
            self.units(|range| all.extend_from_slice(image.get(range).unwrap_or(&[])));
        }
        all.into_boxed_slice()
    }

    /// Calls `visit` for each run of bytes that a store would write now, with its address in global memory.
    pub fn visit_stored(&self, view: &mut MemoryView<'_>, mut visit: impl FnMut(u64, &[u8])) {
        assert!(self.is_store(), "a load is looked at as a store");
        let source = self.source(view);
        self.visit_runs(&source, |to, bytes| visit(to.address, bytes));
    }

    /// Moves all bytes.
    pub fn move_bytes(&self, view: &mut MemoryView<'_>) {
        let read = self.source_bytes.is_none().then(|| self.source(view));
        let Some(source) = self.source_bytes.as_ref().or(read.as_ref()) else { return };
        if self.is_load() {
            self.change_shared(view, |done, bytes| {
                if let Some(source) = source.get(done..done + bytes.len()) {
                    bytes.copy_from_slice(source);
                }
            });
            return;
        }
        self.visit_runs(source, |to, bytes| self.write_or_reduce(to, bytes, view));
    }

    /// Calls `visit` for each run in global memory, with its bytes of `source`.
    fn visit_runs(&self, source: &[u8], mut visit: impl FnMut(MemoryAddress, &[u8])) {
        let mut done = 0;
        self.shape.unswizzled_runs(|run| {
            let end = done + run.bytes as usize;
            if let (Some(to), Some(bytes)) = (Self::in_global(&run), source.get(done..end)) {
                visit(to, bytes);
            }
            done = end;
        });
    }

    /// Calls `change` for the bytes of each swizzle unit of the box in shared memory, with the offset of the unit in the box.
    fn change_shared(&self, view: &mut MemoryView<'_>, mut change: impl FnMut(usize, &mut [u8])) {
        let mut image = vec![0; self.shape.shared_bytes() as usize];
        view.read(self.owner, self.shape.shared_start(), &mut image);
        let mut done = 0;
        self.units(|range| {
            let bytes = range.len();
            if let Some(unit) = image.get_mut(range) {
                change(done, unit);
            }
            done += bytes;
        });
        view.write(self.owner, self.shape.shared_start(), &image);
    }

    /// Calls `visit` for the byte range of each swizzle unit, relative to the start of the box in shared memory, in the order of the runs.
    fn units(&self, mut visit: impl FnMut(Range<usize>)) {
        let box_start = self.shape.shared_start();
        self.shape.unswizzled_runs(|run| {
            let mut done = 0;
            while done < run.bytes {
                let at = run.shared + done;
                let bytes = if self.shape.is_swizzled() { (UNIT - at % UNIT).min(run.bytes - done) } else { run.bytes - done };
                let start = (self.shape.apply_swizzle(at) - box_start) as usize;
                visit(start..start + bytes as usize);
                done += bytes;
            }
        });
    }

    /// Writes `bytes`, or reduces them with the destination.
    fn write_or_reduce(&self, to: MemoryAddress, bytes: &[u8], view: &mut MemoryView<'_>) {
        let Direction::Reduce(f) = self.shape.direction() else { return view.write(to.owner, to.address, bytes) };
        let mut memory = Bytes::from_elem(0, bytes.len());
        view.read(to.owner, to.address, &mut memory);
        read_modify_write::of_tensor(f, self.shape.element(), &mut memory, bytes);
        view.write(to.owner, to.address, &memory);
    }

    /// The part of its `bytes` that completes the current phase of the mbarrier at `address` of the block in `block_slot`; `None` if all or
    /// none of them do. The hardware signals row by row, so a phase that expects some whole rows of the box completes midway, and the next
    /// phase gets the other rows.
    pub fn bytes_to_complete_phase(&self, bytes: u32, block_slot: u32, address: u32, view: &mut MemoryView<'_>) -> Option<u32> {
        let barrier = view.shared(block_slot)?.mbarrier(address).ok()?;
        let missing = u32::try_from(barrier.tx_count).ok()?;
        let is_rows = u64::from(missing).is_multiple_of(self.shape.row_bytes().max(1));
        (barrier.pending == 0 && missing > 0 && missing < bytes && is_rows).then_some(missing)
    }
}

/// Rounds the `.tf32` elements of a load.
fn round_to_tf32(bytes: &mut [u8]) {
    for element in bytes.chunks_exact_mut(4) {
        let bits = element.iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte));
        element.copy_from_slice(&convert::round_to_tf32(bits).to_le_bytes());
    }
}
