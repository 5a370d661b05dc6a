//! `ldmatrix`, `stmatrix`, `movmatrix`: matrices of 8 rows of 16 bytes, each in one register.
//!
//! Lanes 8q to 8q + 7 hold the row addresses of matrix q. Lane l holds the elements 2 (l mod 4) and 2 (l mod 4) + 1 of row l / 4 of every
//! matrix or, transposed, of column l / 4.

use crate::isa::Space;
use crate::machine::event::AccessKind;
use crate::machine::event_kind::EventKind;
use crate::machine::exec::load_store::AccessSegment;
use crate::machine::exec::warp_run::{Group, WarpRun};
use crate::machine::state::lanes::{LANES, LaneMask, PerLane};
use crate::machine::state::trap::{Trap, TrapKind};
use crate::program::{Dst, RowsAccess, Src};

/// A row in memory: 8 elements of 16 bits.
type Row = [u8; 16];

/// Rows of a matrix.
const ROWS: usize = 8;

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    pub(super) fn load_rows(&mut self, op: &RowsAccess, group: &Group) -> Result<(), Box<Trap>> {
        let program = self.program;
        let dests = &*program.dests[op.registers];
        let mut rows = [Row::default(); LANES];
        for AccessSegment { space, access } in self.row_segments(op, dests.len(), false, group)? {
            self.report(space, &access, AccessKind::Read);
            self.read(space, &access, 0, |lane, bytes: Row| {
                if access.mask.contains(lane) {
                    rows[lane] = bytes;
                }
            });
        }
        let mut lanes = self.lanes(group, LaneMask::ALL);
        for (rows, d) in rows.chunks_exact(ROWS).zip(dests) {
            lanes.put32(*d, &words_of(rows, op.transposed));
        }
        Ok(())
    }

    pub(super) fn store_rows(&mut self, op: &RowsAccess, group: &Group) -> Result<(), Box<Trap>> {
        let program = self.program;
        let sources = &*program.sources[op.registers];
        let segments = self.row_segments(op, sources.len(), true, group)?;
        let lanes = self.lanes(group, LaneMask::ALL);
        let mut rows = [Row::default(); LANES];
        for (rows, source) in rows.chunks_exact_mut(ROWS).zip(sources) {
            rows.copy_from_slice(&rows_of(lanes.get32(*source), op.transposed));
        }
        let word = |row: &Row, half: usize| u64::from_le_bytes(std::array::from_fn(|at| row[8 * half + at]));
        let words: [PerLane<u64>; 2] = [0, 1].map(|half| std::array::from_fn(|lane| word(&rows[lane], half)));
        for AccessSegment { space, access } in segments {
            if self.wants(EventKind::Access) {
                self.report_elements(space, &access, op.access, (8, &words));
            }
            self.write(space, &access, 0, |lane, bytes: &mut Row| *bytes = rows[lane]);
        }
        Ok(())
    }

    pub(super) fn transpose(&mut self, d: Dst, a: Src, group: &Group) {
        let mut lanes = self.lanes(group, LaneMask::ALL);
        let rows = rows_of(lanes.get32(a), false);
        lanes.put32(d, &words_of(&rows, true));
    }

    /// The memory of the rows of `matrices` matrices, all in shared memory.
    fn row_segments(&mut self, op: &RowsAccess, matrices: usize, write: bool, group: &Group) -> Result<Vec<AccessSegment>, Box<Trap>> {
        let address_lanes = LaneMask::lowest((ROWS * matrices.clamp(1, LANES / ROWS)) as u32);
        let mut access = self.access(&op.address, group, address_lanes, size_of::<Row>() as u32);
        let space = op.access.space;
        let segments = self.locate(&mut access, space, write, group)?.with(access);
        let elsewhere = |segment: &AccessSegment| segment.space != Space::Shared;
        match segments.iter().find(|segment| elsewhere(segment)) {
            None => Ok(segments),
            Some(segment) => {
                let lane = segment.access.mask.first();
                let message = format!(
                    "rows of matrices must be in the block's shared memory; the address of lane {lane} is in {} memory",
                    segment.space.word()
                );
                Err(self.trap(TrapKind::Space, segment.access.mask, &message))
            }
        }
    }
}

/// The register values of a matrix.
fn words_of(rows: &[Row], transposed: bool) -> PerLane<u32> {
    let mut words = [0; LANES];
    for lane in LaneMask::ALL.iter() {
        let halves = [0, 1].map(|half| {
            let (row, column) = row_and_column(lane, half, transposed);
            u32::from(u16::from_le_bytes([rows[row][2 * column], rows[row][2 * column + 1]]))
        });
        words[lane] = halves[0] | halves[1] << 16;
    }
    words
}

/// The matrix in a register.
fn rows_of(words: &PerLane<u32>, transposed: bool) -> [Row; ROWS] {
    let mut rows = [Row::default(); ROWS];
    for lane in LaneMask::ALL.iter() {
        for half in [0, 1] {
            let (row, column) = row_and_column(lane, half, transposed);
            let bytes = ((words[lane] >> (16 * half)) as u16).to_le_bytes();
            rows[row][2 * column..2 * column + 2].copy_from_slice(&bytes);
        }
    }
    rows
}

/// The row and the column of element `half` (0 or 1) of lane `lane`.
fn row_and_column(lane: usize, half: usize, transposed: bool) -> (usize, usize) {
    let (across, along) = (lane / 4, 2 * (lane % 4) + half);
    if transposed { (along, across) } else { (across, along) }
}
