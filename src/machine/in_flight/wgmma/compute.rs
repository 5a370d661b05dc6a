//! One warp's part of a `wgmma.mma_async`: its operands are gathered from registers and shared memory, multiplied, and scattered
//! to the accumulators.

use std::cell::Cell;

use super::tiles::{ColumnsForm, LastColumns, flip_signs, rows_of_a};
use crate::isa::Sparsity;
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

thread_local! {
    /// The working arrays of a thread: to allocate and clear them takes a part of the time of a multiplication that shows.
    static WORK: Cell<Option<Box<Work>>> = const { Cell::new(None) };
}

/// The working arrays.
#[derive(Default)]
struct Work {
    /// B of the last multiplications.
    last_b: LastColumns,
    /// B with its elements merged as metadata says.
    with_merged: Vec<u32>,
    /// C, and then D, of some columns.
    sums: Vec<u32>,
    /// The results.
    results: Vec<PerLane<u32>>,
}

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

/// The results of `wgmma`, whose accumulators have the values `values_of_d`; [`recycle`] takes them back.
pub fn results(wgmma: &Wgmma, values_of_d: &[&PerLane<u32>], registers: &Registers, sources: &WgmmaSources<'_>) -> Vec<PerLane<u32>> {
    let (op, table) = (&sources.program.wgmmas[wgmma.op], sources.prepared.wgmmas.get(wgmma.op));
    let (product, [_, a_type, b_type]) = (&table.product, op.types);
    let mut a = match (&op.a, wgmma.a) {
        (WgmmaA::Shared(..), Some(tile)) => rows_of_a(tile, a_type.bits(), sources.shared),
        (WgmmaA::Shared(..), None) => Vec::new(),
        (WgmmaA::Registers(fragments), _) => {
            let values: Vec<_> = fragments.iter().map(|source| value(*source, wgmma.frame, registers, sources)).collect();
            table.a.elements(&values.iter().collect::<Vec<_>>())
        }
    };
    if op.negate_a {
        flip_signs(&mut a, a_type.bits());
    }
    let d_bits = table.d.bits;
    let part = if op.metadata.is_none() { COLUMNS.min(product.n) } else { product.n };
    let form = ColumnsForm { tile: wgmma.b, bits: b_type.bits(), negated: op.negate_b, part: part as u32 };
    let mut work = WORK.take().unwrap_or_default();
    let Work { last_b, with_merged, sums, results } = &mut *work;
    // Every element is set below.
    results.resize(values_of_d.len(), [0; LANES]);
    for (b, first) in last_b.read(form, sources.shared).iter().zip((0..product.n).step_by(part)) {
        let part = Product { n: part.min(product.n - first), ..*product };
        let sparse_rows = op.metadata.map(|(_, selector)| {
            let sparsity = Sparsity::new(op.shape, a_type);
            with_merged.clone_from(b);
            sparse_rows(sparsity, (&wgmma.metadata, selector), &part, with_merged)
        });
        let registers = pairs::of_columns(first..first + part.n, d_bits);
        if wgmma.accumulates {
            pairs::rows(&values_of_d[registers.clone()], part.n, d_bits, sums);
        } else {
            sums.clear();
            sums.resize(part.m * part.n, 0);
        }
        let b = if sparse_rows.is_some() { &*with_merged } else { b };
        let operands = Operands { a: &a, b, sparse_rows: sparse_rows.as_deref() };
        *sums = multiply(sources.prepared.simd, &part, operands, std::mem::take(sums));
        pairs::set_registers(sums, part.n, d_bits, &mut results[registers]);
    }
    let results = std::mem::take(results);
    WORK.set(Some(work));
    results
}

/// Takes back the array that [`results`] has returned.
pub fn recycle(results: Vec<PerLane<u32>>) {
    let mut work = WORK.take().unwrap_or_default();
    work.results = results;
    WORK.set(Some(work));
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
