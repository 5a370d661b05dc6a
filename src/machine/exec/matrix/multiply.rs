//! `mma`, `mma.sp`, `wmma.mma`: fragments become matrices, `num` multiplies them, and the result becomes a fragment.

use smallvec::SmallVec;

use super::super::operands::Lanes;
use crate::isa::Sparsity;
use crate::machine::exec::warp_run::{Group, WarpRun};
use crate::machine::state::lanes::{LANES, LaneMask, PerLane};
use crate::machine::state::tables::matrix::{Arithmetic, ElementTable, sparse_rows};
use crate::num::matrix::{Operands, Product, multiply, multiply_f64};
use crate::program::{Dst, MatrixId, MatrixMultiply, Src};

/// The registers of a fragment.
type Registers<'a> = SmallVec<[&'a PerLane<u32>; 8]>;

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
                let [a, mut b, c] = [(a, &tables.a), (b, &tables.b), (c, &tables.c)].map(|(list, table)| {
                    let registers: Registers<'_> = list.iter().map(|source| lanes.get32(*source)).collect();
                    table.elements(&registers)
                });
                let sparse_rows = op.metadata.map(|(metadata, selector)| {
                    let sparsity = Sparsity::new(op.kind.shape, op.kind.types[1]);
                    sparse_rows(sparsity, (lanes.get32(metadata), selector), product, &mut b)
                });
                let d = product_of_tiles(prepared.simd, product, tables.tiles, [&a, &b], c, sparse_rows.as_deref());
                for (d, values) in dests.iter().zip(tables.d.registers(&d)) {
                    lanes.put32(*d, &values);
                }
            }
        }
    }
}

/// The concatenated products of all tiles.
fn product_of_tiles(
    simd: pulp::Arch,
    product: &Product,
    tiles: usize,
    [a, b]: [&[u32]; 2],
    c: Vec<u32>,
    sparse_rows: Option<&[u16]>,
) -> Vec<u32> {
    if tiles == 1 {
        return multiply(simd, product, Operands { a, b, sparse_rows }, c);
    }
    let part = |matrix: &'_ [u32], tile: usize| -> std::ops::Range<usize> {
        let size = matrix.len() / tiles;
        tile * size..(tile + 1) * size
    };
    let one = |tile: usize| {
        let operands = Operands { a: &a[part(a, tile)], b: &b[part(b, tile)], sparse_rows };
        multiply(simd, product, operands, c[part(&c, tile)].to_vec())
    };
    (0..tiles).flat_map(one).collect()
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
