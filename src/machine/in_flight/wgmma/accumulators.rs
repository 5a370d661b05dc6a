//! The rows of D that a warp holds, and its registers (PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16", accumulator D; the same
//! for every K).
//!
//! Lane l holds columns 2 (l mod 4) and 2 (l mod 4) + 1 of row l / 4 in every eight columns, and then those of row l / 4 + 8: in two
//! registers of 32-bit elements, or in the halves of one.

use std::ops::Range;

use crate::machine::state::lanes::{LANES, PerLane};

/// Columns of which the lanes hold two each.
const COLUMNS: usize = 8;
/// Pairs of columns, one for each lane of a row.
const PAIRS: usize = COLUMNS / 2;
/// Rows whose elements are in the same registers.
const ROWS: usize = 8;

/// The elements in registers, row by row, in rows of `n`.
pub fn rows(registers: &[&PerLane<u32>], n: usize, bits: u32) -> Vec<u32> {
    let mut elements = vec![0; 2 * ROWS * n];
    if bits == 32 {
        for (number, [even, odd]) in registers.as_chunks().0.iter().enumerate() {
            for row in 0..ROWS {
                let (even, odd) = (lanes(even, row), lanes(odd, row));
                let to = &mut elements[place(n, number, row)];
                for pair in 0..PAIRS {
                    (to[2 * pair], to[2 * pair + 1]) = (even[pair], odd[pair]);
                }
            }
        }
    } else {
        for (number, halves) in registers.iter().enumerate() {
            for row in 0..ROWS {
                let halves = lanes(halves, row);
                let to = &mut elements[place(n, number, row)];
                for pair in 0..PAIRS {
                    (to[2 * pair], to[2 * pair + 1]) = (halves[pair] & 0xffff, halves[pair] >> 16);
                }
            }
        }
    }
    elements
}

/// The registers for elements, which are in rows of `n`.
pub fn registers(elements: &[u32], n: usize, bits: u32) -> Vec<PerLane<u32>> {
    let numbers = 2 * n / COLUMNS;
    let mut registers = vec![[0; LANES]; numbers * if bits == 32 { 2 } else { 1 }];
    if bits == 32 {
        for (number, [even, odd]) in registers.as_chunks_mut().0.iter_mut().enumerate() {
            for row in 0..ROWS {
                let from = &elements[place(n, number, row)];
                let (even, odd) = (lanes_mut(even, row), lanes_mut(odd, row));
                for pair in 0..PAIRS {
                    (even[pair], odd[pair]) = (from[2 * pair], from[2 * pair + 1]);
                }
            }
        }
    } else {
        for (number, halves) in registers.iter_mut().enumerate() {
            for row in 0..ROWS {
                let from = &elements[place(n, number, row)];
                let halves = lanes_mut(halves, row);
                for pair in 0..PAIRS {
                    halves[pair] = from[2 * pair] | from[2 * pair + 1] << 16;
                }
            }
        }
    }
    registers
}

/// The values of the lanes that hold elements of a row.
#[inline(always)]
fn lanes(register: &PerLane<u32>, row: usize) -> &[u32; PAIRS] {
    &register.as_chunks().0[row]
}

#[inline(always)]
fn lanes_mut(register: &mut PerLane<u32>, row: usize) -> &mut [u32; PAIRS] {
    &mut register.as_chunks_mut().0[row]
}

/// Where the eight elements of a row are that lie in the registers or the register of this number.
#[inline(always)]
fn place(n: usize, number: usize, row: usize) -> Range<usize> {
    let start = (number % 2 * ROWS + row) * n + number / 2 * COLUMNS;
    start..start + COLUMNS
}

#[cfg(test)]
mod tests {
    use super::{registers, rows};
    use crate::isa::{Fragment, Matrix, MatrixFamily, ScalarType, Shape};
    use crate::machine::state::lanes::LANES;
    use crate::machine::state::tables::matrix::ElementTable;

    fn fragment(n: u32, ty: ScalarType) -> Fragment {
        Fragment { family: MatrixFamily::Wgmma, shape: Shape { m: 64, n, k: 16 }, matrix: Matrix::D, ty, swapped: false }
    }

    #[test]
    fn elements_lie_where_the_table_of_the_fragment_says() {
        for (n, ty) in [8, 24, 256].into_iter().flat_map(|n| [ScalarType::F32, ScalarType::F16].map(|ty| (n, ty))) {
            let table = ElementTable::of(&fragment(n, ty), 16);
            let elements: Vec<u32> = (0..table.size as u32).collect();
            let registers = registers(&elements, n as usize, table.bits);
            assert_eq!(registers.len() * table.per_register * LANES, table.index.len());
            for (number, positions) in table.index.chunks_exact(LANES).enumerate() {
                let shift = (number % table.per_register) as u32 * table.bits;
                for (lane, position) in positions.iter().enumerate() {
                    let element = registers[number / table.per_register][lane] >> shift & u32::MAX >> (32 - table.bits);
                    assert_eq!(element, u32::from(*position), "n = {n}, element {number}, lane {lane}");
                }
            }
            assert_eq!(rows(&registers.iter().collect::<Vec<_>>(), n as usize, table.bits), elements);
        }
    }
}
