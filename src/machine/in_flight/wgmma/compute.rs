//! One warp's part of a `wgmma.mma_async`: its operands are gathered from registers and shared memory, multiplied, and scattered
//! to the accumulators.

use super::tiles::TileElements;
use crate::isa::{ScalarType, SharedTile, Sparsity};
use crate::machine::state::in_flight::wgmma::Wgmma;
use crate::machine::state::lanes::{LANES, PerLane};
use crate::machine::state::memory::Pages;
use crate::machine::state::prepared::{Immediates, PreparedLaunch};
use crate::machine::state::registers::{FrameBase, Registers};
use crate::machine::state::tables::matrix::sparse_rows;
use crate::machine::state::tables::pairs;
use crate::num::matrix::{Operands, Product, multiply};
use crate::program::{Program, Src, SrcKind, WgmmaA};

/// The columns of D that are computed together: what belongs to them stays in the nearest cache.
const COLUMNS: usize = 32;

/// The sources of a multiplication except registers.
pub struct WgmmaSources<'a> {
    /// The program.
    pub program: &'a Program,
    /// The tables of the launch.
    pub prepared: &'a PreparedLaunch,
    /// The program's immediates, for the rank of the block.
    pub immediates: &'a Immediates,
    /// The block's shared memory.
    pub shared: &'a Pages,
}

/// The results of `wgmma`, whose accumulators have the values `values_of_d`.
pub fn results(wgmma: &Wgmma, values_of_d: &[&PerLane<u32>], registers: &Registers, sources: &WgmmaSources<'_>) -> Vec<PerLane<u32>> {
    let (op, table) = (&sources.program.wgmmas[wgmma.op], sources.prepared.wgmmas.get(wgmma.op));
    let (product, [_, a_type, b_type]) = (&table.product, op.types);
    let mut a = match (&op.a, wgmma.a) {
        (WgmmaA::Shared(..), Some(tile)) => {
            let mut of_tile = TileElements::default();
            of_tile.read_by_index(tile, a_type.bits(), sources.shared);
            of_tile.elements
        }
        (WgmmaA::Shared(..), None) => Vec::new(),
        (WgmmaA::Registers(fragments), _) => {
            let values: Vec<_> = fragments.iter().map(|source| value(*source, wgmma.frame, registers, sources)).collect();
            table.a.elements(&values.iter().collect::<Vec<_>>())
        }
    };
    negate(&mut a, a_type, op.negate_a);
    let d_bits = table.d.bits;
    let mut results = vec![[0; LANES]; values_of_d.len()];
    let (mut of_b, mut c, mut first) = (TileElements::default(), Vec::new(), 0);
    while first < product.n {
        let part = Product { n: (product.n - first).min(if op.metadata.is_none() { COLUMNS } else { product.n }), ..*product };
        let tile = SharedTile { first: wgmma.b.first + first as u32, count: part.n as u32, ..wgmma.b };
        of_b.read_by_k(tile, b_type.bits(), sources.shared);
        let b = &mut of_b.elements;
        negate(b, b_type, op.negate_b);
        let sparse_rows = op.metadata.map(|(_, selector)| {
            let sparsity = Sparsity::new(op.shape, a_type);
            sparse_rows(sparsity, (&wgmma.metadata, selector), &part, b)
        });
        let registers = pairs::of_columns(first..first + part.n, d_bits);
        if wgmma.accumulates {
            pairs::rows(&values_of_d[registers.clone()], part.n, d_bits, &mut c);
        } else {
            c.clear();
            c.resize(part.m * part.n, 0);
        }
        let operands = Operands { a: &a, b, sparse_rows: sparse_rows.as_deref() };
        c = multiply(sources.prepared.simd, &part, operands, c);
        pairs::set_registers(&c, part.n, d_bits, &mut results[registers]);
        first += part.n;
    }
    results
}

/// The values of an operand of 32 bits.
fn value(source: Src, frame: FrameBase, registers: &Registers, sources: &WgmmaSources<'_>) -> PerLane<u32> {
    let value = match source.kind() {
        SrcKind::Reg(slot) => registers.b32.get(slot.in_frame(frame.b32).index()),
        SrcKind::Const(index) => sources.immediates.narrow.get(index as usize),
        SrcKind::Special(_) => None,
    };
    value.copied().unwrap_or([0; LANES])
}

/// Flips the signs of elements.
fn negate(elements: &mut [u32], ty: ScalarType, negated: bool) {
    if negated {
        elements.iter_mut().for_each(|element| *element ^= 1 << (ty.bits() - 1));
    }
}
