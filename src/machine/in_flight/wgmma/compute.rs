//! One warp's part of a `wgmma.mma_async`: its operands are gathered from registers and shared memory, multiplied, and scattered
//! to the accumulators.

use super::{accumulators, tiles};
use crate::isa::{ScalarType, Sparsity};
use crate::machine::state::in_flight::wgmma::Wgmma;
use crate::machine::state::lanes::{LANES, PerLane};
use crate::machine::state::memory::Pages;
use crate::machine::state::prepared::{Immediates, PreparedLaunch};
use crate::machine::state::registers::{FrameBase, Registers};
use crate::machine::state::tables::matrix::{ElementTable, sparse_rows};
use crate::num::matrix::{Operands, multiply};
use crate::program::{Program, Src, SrcKind, WgmmaA};

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
        (WgmmaA::Shared(..), Some(tile)) => tiles::by_index(tile, a_type.bits(), sources.shared),
        (WgmmaA::Shared(..), None) => Vec::new(),
        (WgmmaA::Registers(fragments), _) => {
            let values: Vec<_> = fragments.iter().map(|source| value(*source, wgmma.frame, registers, sources)).collect();
            gather(&values.iter().collect::<Vec<_>>(), &table.a)
        }
    };
    let mut b = tiles::by_k(wgmma.b, b_type.bits(), sources.shared);
    negate(&mut a, a_type, op.negate_a);
    negate(&mut b, b_type, op.negate_b);
    let (n, d_bits) = (product.n, table.d.bits);
    let c = if wgmma.accumulates { accumulators::rows(values_of_d, n, d_bits) } else { vec![0; table.d.size] };
    let sparse_rows = op.metadata.map(|(_, selector)| {
        let sparsity = Sparsity::new(op.shape, a_type);
        sparse_rows(sparsity, (&wgmma.metadata, selector), product, &mut b)
    });
    let d = multiply(sources.prepared.simd, product, Operands { a: &a, b: &b, c: &c, sparse_rows: sparse_rows.as_deref() });
    accumulators::registers(&d, n, d_bits)
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

/// The elements in registers, row by row.
fn gather(registers: &[&PerLane<u32>], table: &ElementTable) -> Vec<u32> {
    let mut elements = vec![0; table.size];
    let mask = u32::MAX >> (32 - table.bits);
    for (number, positions) in table.index.as_chunks::<LANES>().0.iter().enumerate() {
        let Some(words) = registers.get(number / table.per_register) else { continue };
        let shift = (number % table.per_register) as u32 * table.bits;
        for (position, word) in positions.iter().zip(words.iter()) {
            elements[usize::from(*position)] = *word >> shift & mask;
        }
    }
    elements
}

/// Flips the signs of elements.
fn negate(elements: &mut [u32], ty: ScalarType, negated: bool) {
    if negated {
        elements.iter_mut().for_each(|element| *element ^= 1 << (ty.bits() - 1));
    }
}
