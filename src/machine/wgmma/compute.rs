//! What one warp's part of a `wgmma.mma_async` comes to: its operands gathered from registers and shared memory, multiplied, and spread
//! over the accumulators again.

use super::Wgmma;
use crate::isa::{CHUNK, Chunk, Major, ScalarType, SharedTile, Sparsity};
use crate::machine::lanes::{LANES, PerLane};
use crate::machine::launch::{Constants, Linked};
use crate::machine::matrix::{ElementTable, kept_rows};
use crate::machine::memory::Pages;
use crate::machine::registers::{FrameBase, Registers};
use crate::num::matrix::{Operands, multiply};
use crate::program::{Program, Src, SrcKind, WgmmaA};

/// What a multiplication reads beside its registers.
pub struct Sources<'a> {
    /// The program.
    pub program: &'a Program,
    /// What was worked out for the launch.
    pub linked: &'a Linked,
    /// The program's constants, as the block sees them.
    pub constants: &'a Constants,
    /// The block's shared memory.
    pub shared: &'a Pages,
}

/// The new values of the accumulators of `wgmma`, which hold `held`.
pub fn results(wgmma: &Wgmma, held: &[PerLane<u32>], registers: &Registers, sources: &Sources<'_>) -> Vec<PerLane<u32>> {
    let (op, table) = (sources.program.wgmmas.get(wgmma.op.index()), sources.linked.wgmmas.get(wgmma.op));
    let (Some(op), Some(table)) = (op, table) else { return held.to_vec() };
    let (product, [_, a_type, b_type]) = (&table.product, op.types);
    let mut a = match (&op.a, wgmma.a) {
        (WgmmaA::Shared(..), Some(tile)) => rows_of_a(tile, a_type, product.k, sources.shared),
        (WgmmaA::Shared(..), None) => Vec::new(),
        (WgmmaA::Registers(fragments), _) => {
            let values: Vec<_> = fragments.iter().map(|source| value(*source, wgmma.frame, registers, sources)).collect();
            gather(&values, &table.a)
        }
    };
    let mut b = rows_of_b(wgmma.b, b_type, product.n, sources.shared);
    negate(&mut a, a_type, op.negate_a);
    negate(&mut b, b_type, op.negate_b);
    let c = if wgmma.accumulates { gather(held, &table.d) } else { vec![0; table.d.size] };
    let kept = op.metadata.map(|(_, selector)| {
        let sparsity = Sparsity::new(op.shape, a_type);
        kept_rows(sparsity, (&wgmma.metadata, selector), product, &mut b)
    });
    let d = multiply(sources.linked.simd, product, Operands { a: &a, b: &b, c: &c, kept: kept.as_deref() });
    scatter(&d, held.len(), &table.d)
}

/// What the lanes read from an operand of 32 bits.
fn value(source: Src, frame: FrameBase, registers: &Registers, sources: &Sources<'_>) -> PerLane<u32> {
    let value = match source.kind() {
        SrcKind::Reg(slot) => registers.b32.get((frame.b32 + slot) as usize),
        SrcKind::Const(index) => sources.constants.narrow.get(index as usize),
        SrcKind::Special(_) => None,
    };
    value.copied().unwrap_or([0; LANES])
}

/// The elements that registers hold, row by row.
fn gather(registers: &[PerLane<u32>], table: &ElementTable) -> Vec<u32> {
    let mut elements = vec![0; table.size];
    let mask = u32::MAX >> (32 - table.bits);
    for (number, places) in table.index.chunks_exact(LANES).enumerate() {
        let Some(words) = registers.get(number / table.per_register) else { continue };
        let shift = (number % table.per_register) as u32 * table.bits;
        for lane in 0..LANES {
            elements[usize::from(places[lane])] = words[lane] >> shift & mask;
        }
    }
    elements
}

/// The registers that hold elements.
fn scatter(elements: &[u32], count: usize, table: &ElementTable) -> Vec<PerLane<u32>> {
    let mut registers = vec![[0; LANES]; count];
    for (number, places) in table.index.chunks_exact(LANES).enumerate() {
        let Some(words) = registers.get_mut(number / table.per_register) else { continue };
        let shift = (number % table.per_register) as u32 * table.bits;
        for lane in 0..LANES {
            words[lane] |= elements[usize::from(places[lane])] << shift;
        }
    }
    registers
}

/// The warp's rows of A, of `k` elements each.
fn rows_of_a(tile: SharedTile, ty: ScalarType, k: usize, shared: &Pages) -> Vec<u32> {
    let mut rows = vec![0; tile.count as usize * k];
    for_each_element(tile, ty.bits(), shared, |row, column, element| rows[row * k + column] = element);
    rows
}

/// The rows of B, of `columns` elements each.
fn rows_of_b(tile: SharedTile, ty: ScalarType, columns: usize, shared: &Pages) -> Vec<u32> {
    let mut rows = vec![0; columns * (tile.bytes * 8 / ty.bits()) as usize];
    for_each_element(tile, ty.bits(), shared, |column, row, element| rows[row * columns + column] = element);
    rows
}

/// Shows `put` every element of a tile: its index, its k, and its bits.
#[inline(always)]
fn for_each_element(tile: SharedTile, bits: u32, shared: &Pages, mut put: impl FnMut(usize, usize, u32)) {
    let each = (CHUNK * 8 / bits) as usize;
    for Chunk { address, index, k } in tile.chunks() {
        let mut bytes = [0; CHUNK as usize];
        shared.read(u64::from(address), &mut bytes);
        let word = u128::from_le_bytes(bytes);
        for element in 0..each {
            let value = (word >> (element * bits as usize)) as u32 & (u32::MAX >> (32 - bits));
            match tile.major {
                Major::K => put(index as usize, (k * 8 / bits) as usize + element, value),
                Major::MN => put(index as usize + element, k as usize, value),
            }
        }
    }
}

/// Flips the signs of elements.
fn negate(elements: &mut [u32], ty: ScalarType, negated: bool) {
    if negated {
        elements.iter_mut().for_each(|element| *element ^= 1 << (ty.bits() - 1));
    }
}
