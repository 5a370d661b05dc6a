//! Fragments whose lanes hold pairs of adjacent columns: C and D of `mma` and `wgmma`, A of 16 bits (PTX ISA, "Matrix Fragments for
//! mma.m16n8k16", "Register Fragments for wgmma.mma_async.m64nNk16"); and A of 8 bits, whose bytes are halves of such pairs.
//!
//! Lane l holds columns 2 (l mod 4) and 2 (l mod 4) + 1 of row l / 4 in every eight columns, and then those of row l / 4 + 8: in two
//! registers of 32-bit elements, or in the halves of one. Of bytes it holds columns 4 (l mod 4) to 4 (l mod 4) + 3 in every sixteen.
//!
//! B of `mma` with eight columns is like such an A of eight rows, transposed: lane l holds rows of column l / 4.

use std::ops::Range;

use crate::base::shuffle::{interleaved, separated};
use crate::machine::state::lanes::{LANES, PerLane};

/// Columns of which the lanes hold two each.
const COLUMNS: usize = 8;
/// Pairs of columns, one for each lane of a row.
const PAIRS: usize = COLUMNS / 2;
/// Elements of 8 bits in a register.
const BYTES: usize = 4;
/// Rows whose elements are in the same registers.
const ROWS: usize = 8;

/// The index, in 16 rows of `n`, of a lane's element of `bits` bits.
pub fn index(n: usize, bits: u32, element: usize, lane: usize) -> usize {
    let held = if bits == 8 { BYTES } else { 2 };
    place(n * 2 / held, element / held, lane / PAIRS) * PAIRS * held + lane % PAIRS * held + element % held
}

/// Sets `elements` to those in registers, row by row, in 16 rows of `n`.
pub fn rows(registers: &[&PerLane<u32>], n: usize, bits: u32, elements: &mut Vec<u32>) {
    elements.resize(2 * ROWS * n, 0);
    if bits == 8 {
        rows_of_bytes(registers, n, elements);
        return;
    }
    assert_eq!(registers.len(), of_columns(0..n, bits).len(), "the registers hold all elements");
    let eights: &mut [[u32; COLUMNS]] = elements.as_chunks_mut().0;
    if bits == 32 {
        for (number, [even, odd]) in registers.as_chunks().0.iter().enumerate() {
            for row in 0..ROWS {
                eights[place(n, number, row)] = interleaved(*lanes(even, row), *lanes(odd, row));
            }
        }
    } else {
        for (number, halves) in registers.iter().enumerate() {
            for row in 0..ROWS {
                let halves = lanes(halves, row);
                eights[place(n, number, row)] = interleaved(halves.map(|halves| halves & 0xffff), halves.map(|halves| halves >> 16));
            }
        }
    }
}

/// The same of bytes.
fn rows_of_bytes(registers: &[&PerLane<u32>], n: usize, elements: &mut [u32]) {
    assert_eq!(registers.len() * LANES * BYTES, elements.len(), "the registers hold all elements");
    let sixteens: &mut [[[u32; BYTES]; PAIRS]] = elements.as_chunks_mut().0.as_chunks_mut().0;
    for (number, words) in registers.iter().enumerate() {
        for row in 0..ROWS {
            for (bytes, word) in sixteens[place(n / 2, number, row)].iter_mut().zip(lanes(words, row)) {
                for (at, byte) in bytes.iter_mut().enumerate() {
                    *byte = *word >> (8 * at) & 0xff;
                }
            }
        }
    }
}

/// The index of a lane's element of `bits` bits of B, row by row, in rows of eight.
pub fn index_in_b(bits: u32, element: usize, lane: usize) -> usize {
    let held = (u32::BITS / bits) as usize;
    ((element / held * PAIRS + lane % PAIRS) * held + element % held) * COLUMNS + lane / PAIRS
}

/// Sets `elements` to those of B in registers, row by row, in rows of eight.
pub fn rows_of_b(registers: &[&PerLane<u32>], bits: u32, elements: &mut Vec<u32>) {
    let (held, mask) = ((u32::BITS / bits) as usize, u32::MAX >> (u32::BITS - bits));
    elements.resize(registers.len() * PAIRS * held * COLUMNS, 0);
    let rows: &mut [[u32; COLUMNS]] = elements.as_chunks_mut().0;
    for (register, rows) in registers.iter().zip(rows.chunks_exact_mut(PAIRS * held)) {
        let of_columns: &[[u32; PAIRS]] = register.as_chunks().0;
        for (lane, rows) in rows.chunks_exact_mut(held).enumerate() {
            let mut words = [0; COLUMNS];
            for (word, of_column) in words.iter_mut().zip(of_columns) {
                *word = of_column[lane];
            }
            for (element, row) in rows.iter_mut().enumerate() {
                *row = words.map(|word| word >> (element as u32 * bits) & mask);
            }
        }
    }
}

/// The registers of the elements in these columns, of which the first is a multiple of eight, and so is their number.
pub fn of_columns(columns: Range<usize>, bits: u32) -> Range<usize> {
    let per_eight = if bits == 32 { 4 } else { 2 };
    columns.start / COLUMNS * per_eight..columns.end / COLUMNS * per_eight
}

/// Sets registers to elements, which are in 16 rows of `n`.
pub fn set_registers(elements: &[u32], n: usize, bits: u32, registers: &mut [PerLane<u32>]) {
    assert!(bits >= 16, "D has no elements of 8 bits");
    let eights: &[[u32; COLUMNS]] = elements.as_chunks().0;
    if bits == 32 {
        for (number, [even, odd]) in registers.as_chunks_mut().0.iter_mut().enumerate() {
            for row in 0..ROWS {
                [*lanes_mut(even, row), *lanes_mut(odd, row)] = separated(eights[place(n, number, row)]);
            }
        }
    } else {
        for (number, halves) in registers.iter_mut().enumerate() {
            for row in 0..ROWS {
                let [even, odd] = separated(eights[place(n, number, row)]);
                for (halves, (even, odd)) in lanes_mut(halves, row).iter_mut().zip(even.into_iter().zip(odd)) {
                    *halves = even | odd << 16;
                }
            }
        }
    }
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

/// The number, row by row, of the eight elements of a row that lie in the registers or the register of this number.
#[inline(always)]
fn place(n: usize, number: usize, row: usize) -> usize {
    (number % 2 * ROWS + row) * (n / COLUMNS) + number / 2
}

#[cfg(test)]
mod tests {
    use super::{LANES, of_columns, rows, set_registers};
    use crate::isa::{Fragment, Matrix, MatrixFamily, ScalarType, Shape};
    use crate::machine::state::tables::matrix::{ElementTable, LaneOrder};

    fn fragment(n: u32, ty: ScalarType) -> Fragment {
        Fragment { family: MatrixFamily::Wgmma, shape: Shape { m: 64, n, k: 16 }, matrix: Matrix::D, ty, swapped: false }
    }

    #[test]
    fn elements_lie_where_the_table_of_the_fragment_says() {
        for (n, ty) in [8, 24, 256].into_iter().flat_map(|n| [ScalarType::F32, ScalarType::F16].map(|ty| (n, ty))) {
            let table = ElementTable::of(&fragment(n, ty), 16);
            let elements: Vec<u32> = (0..table.size as u32).collect();
            let mut registers = vec![[0; LANES]; of_columns(0..n as usize, table.bits).len()];
            set_registers(&elements, n as usize, table.bits, &mut registers);
            assert_eq!(registers.len() * table.per_register * LANES, table.index.len());
            for (number, positions) in table.index.chunks_exact(LANES).enumerate() {
                let shift = (number % table.per_register) as u32 * table.bits;
                for (lane, position) in positions.iter().enumerate() {
                    let element = registers[number / table.per_register][lane] >> shift & u32::MAX >> (32 - table.bits);
                    assert_eq!(element, u32::from(*position), "n = {n}, element {number}, lane {lane}");
                }
            }
            let mut found = Vec::new();
            rows(&registers.iter().collect::<Vec<_>>(), n as usize, table.bits, &mut found);
            assert_eq!(found, elements);
        }
    }

    #[test]
    fn bytes_lie_where_the_table_of_the_fragment_says() {
        let shape = Shape { m: 16, n: 8, k: 32 };
        let table =
            ElementTable::of(&Fragment { family: MatrixFamily::Mma, shape, matrix: Matrix::A, ty: ScalarType::E4M3, swapped: false }, 16);
        assert_eq!((table.order, table.per_register), (LaneOrder::Pairs(32), 4));
        let mut registers = [[0; LANES]; 4];
        for (number, positions) in table.index.chunks_exact(LANES).enumerate() {
            for (lane, position) in positions.iter().enumerate() {
                registers[number / 4][lane] |= u32::from(position * 7 % 251) << (number % 4 * 8);
            }
        }
        let expected: Vec<u32> = (0..512).map(|position| position * 7 % 251).collect();
        assert_eq!(table.elements(&registers.iter().collect::<Vec<_>>()), expected);
    }

    #[test]
    fn elements_of_b_lie_where_the_table_of_the_fragment_says() {
        for (ty, k) in [(ScalarType::E4M3, 32), (ScalarType::S8, 16), (ScalarType::F16, 16), (ScalarType::F16, 8), (ScalarType::TF32, 8)] {
            let fragment = Fragment { family: MatrixFamily::Mma, shape: Shape { m: 16, n: 8, k }, matrix: Matrix::B, ty, swapped: false };
            let table = ElementTable::of(&fragment, k);
            assert_eq!(table.order, LaneOrder::ColumnsOfB, "{ty:?}");
            let value = |position: usize| position as u32 * 7 % 251;
            let mut registers = vec![[0; LANES]; table.index.len() / LANES / table.per_register];
            for (number, positions) in table.index.chunks_exact(LANES).enumerate() {
                for (lane, position) in positions.iter().enumerate() {
                    let shift = (number % table.per_register) as u32 * table.bits;
                    registers[number / table.per_register][lane] |= value(usize::from(*position)) << shift;
                }
            }
            let expected: Vec<u32> = (0..8 * k as usize).map(value).collect();
            assert_eq!(table.elements(&registers.iter().collect::<Vec<_>>()), expected, "{ty:?}");
        }
    }
}
