//! Which elements of a sparse A are kept (PTX ISA, "Sparse wgmma.mma_async"): the metadata lie as those of `mma.sp` of the same K.
//!
//! Of 16-bit types and tf32, a row's metadata lie in two lanes of its quad, row g + 8 in the upper half of the register; of 8-bit types each
//! lane has those of one row.

use crate::isa::ScalarType;
use crate::machine::lanes::PerLane;

use super::ROWS;

/// For each kept element of A, row by row, `count` in a row, the row of B that it meets.
pub fn kept(metadata: &PerLane<u32>, selector: u8, ty: ScalarType, count: usize) -> Vec<u16> {
    let quad_lane = 2 * usize::from(selector);
    let place = |row: usize, j: usize| {
        let (g, h) = (row % 8, row / 8);
        let word = |lane: usize, low: usize| metadata[4 * g + lane % 4] >> low;
        match ty.bits() {
            32 => 2 * j + usize::from(word(quad_lane + j / 4, 16 * h + 4 * (j % 4)) & 15 == 0xe),
            16 => 4 * (j / 2) + (word(quad_lane + j / 8, 16 * h + 2 * (j % 8)) & 3) as usize,
            _ => 4 * (j / 2) + (word(2 * (j / 16) + h, 2 * (j % 16)) & 3) as usize,
        }
    };
    (0..ROWS as usize).flat_map(|row| (0..count).map(move |j| (row, j))).map(|(row, j)| place(row, j) as u16).collect()
}
