//! `mma`, `mma.sp`, `wmma.mma`: fragments become matrices, `num` multiplies them, and the result becomes a fragment.

use super::super::operands::Lanes;
use crate::isa::Sparsity;
use crate::machine::exec::warp_run::{Group, WarpRun};
use crate::machine::state::lanes::{LANES, LaneMask};
use crate::machine::state::tables::matrix::{Arithmetic, ElementTable, MultiplyTables, sparse_rows};
use crate::num::matrix::{Operands, Product, multiply, multiply_f64};
use crate::program::{Dst, MatrixId, MatrixMultiply, Src};

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// D = A * B + C.
    pub(super) fn multiply(&mut self, id: MatrixId, op: &MatrixMultiply, group: &Group) {
        let (prepared, program) = (self.prepared, self.program);
        let tables = prepared.matrices.get(id);
        let [a, b, c] = [op.a, op.b, op.c].map(|list| &*program.sources[list]);
        let dests = &*program.dests[op.d];
        let mut lanes = self.lanes(group, LaneMask::ALL);
        match &tables.arithmetic {
            Arithmetic::Double(extents, rounding) => {
                let [a, b, c] = [(a, &tables.a), (b, &tables.b), (c, &tables.c)].map(|(list, table)| gather_doubles(&lanes, list, table));
                scatter_doubles(&mut lanes, dests, &tables.d, &multiply_f64(*extents, &a, &b, &c, *rounding));
            }
            Arithmetic::Narrow(product) => {
                let [a, mut b, c] = [(a, &tables.a), (b, &tables.b), (c, &tables.c)].map(|(list, table)| gather(&lanes, list, table));
                let sparse_rows = op.metadata.map(|(metadata, selector)| {
                    let sparsity = Sparsity::new(op.kind.shape, op.kind.types[1]);
                    sparse_rows(sparsity, (lanes.get32(metadata), selector), product, &mut b)
                });
                let d = product_of_tiles(prepared.simd, product, tables, [&a, &b, &c], sparse_rows.as_deref());
                scatter(&mut lanes, dests, &tables.d, &d);
            }
        }
    }
}

/// The concatenated products of all tiles.
fn product_of_tiles(
    simd: pulp::Arch,
    product: &Product,
    tables: &MultiplyTables,
    [a, b, c]: [&[u32]; 3],
    sparse_rows: Option<&[u16]>,
) -> Vec<u32> {
    let tiles = tables.tiles;
    let part = |matrix: &'_ [u32], tile: usize| -> std::ops::Range<usize> {
        let size = matrix.len() / tiles;
        tile * size..(tile + 1) * size
    };
    let one = |tile: usize| {
        let operands = Operands { a: &a[part(a, tile)], b: &b[part(b, tile)], c: &c[part(c, tile)], sparse_rows };
        multiply(simd, product, operands)
    };
    if tiles == 1 { one(0) } else { (0..tiles).flat_map(one).collect() }
}

/// The elements of a fragment, row by row. If several registers hold an element, the first is used.
fn gather(lanes: &Lanes<'_>, registers: &[Src], table: &ElementTable) -> Vec<u32> {
    let mut elements = vec![0; table.size];
    let mask = u32::MAX >> (32 - table.bits);
    for (register, source) in registers.iter().enumerate().rev() {
        let words = lanes.get32(*source);
        for part in 0..table.per_register {
            let shift = part as u32 * table.bits;
            for (lane, index) in of_element(table, register, part).iter().enumerate() {
                elements[usize::from(*index)] = words[lane] >> shift & mask;
            }
        }
    }
    elements
}

fn scatter(lanes: &mut Lanes<'_>, registers: &[Dst], table: &ElementTable, elements: &[u32]) {
    for (register, d) in registers.iter().enumerate() {
        let mut words = [0; LANES];
        for part in 0..table.per_register {
            let shift = part as u32 * table.bits;
            for (lane, index) in of_element(table, register, part).iter().enumerate() {
                words[lane] |= elements[usize::from(*index)] << shift;
            }
        }
        lanes.put32(*d, &words);
    }
}

fn gather_doubles(lanes: &Lanes<'_>, registers: &[Src], table: &ElementTable) -> Vec<f64> {
    let mut elements = vec![0.0; table.size];
    for (register, source) in registers.iter().enumerate() {
        let words = lanes.get64(*source);
        for (lane, index) in of_element(table, register, 0).iter().enumerate() {
            elements[usize::from(*index)] = f64::from_bits(words[lane]);
        }
    }
    elements
}

fn scatter_doubles(lanes: &mut Lanes<'_>, registers: &[Dst], table: &ElementTable, elements: &[f64]) {
    for (register, d) in registers.iter().enumerate() {
        let mut words = [0; LANES];
        for (lane, index) in of_element(table, register, 0).iter().enumerate() {
            words[lane] = elements[usize::from(*index)].to_bits();
        }
        lanes.put64(*d, &words);
    }
}

/// The index in the matrix of one element of each lane.
fn of_element(table: &ElementTable, register: usize, part: usize) -> &[u16] {
    let start = (register * table.per_register + part) * LANES;
    &table.index[start..start + LANES]
}
