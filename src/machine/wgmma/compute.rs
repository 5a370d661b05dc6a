//! What one warp's part of a `wgmma.mma_async` comes to: its operands gathered from registers and shared memory, multiplied, and spread over
//! the accumulators again.
//!
//! With g = lane / 4 and t = lane % 4, element i of D is row g + 8 * (i / 2 % 2), column 8 * (i / 4) + 2t + i % 2. A in registers lies as for
//! `mma.m16n8kK`.

use crate::isa::{CHUNK, Chunk, Major, ScalarType, SharedTile};
use crate::machine::lanes::{LANES, PerLane};
use crate::machine::launch::Constants;
use crate::machine::memory::Pages;
use crate::machine::registers::{FrameBase, Registers};
use crate::num::matrix::{Accumulator, Element, Operands, Product, Rule, multiply};
use crate::program::{Program, Src, SrcKind, WgmmaA, WgmmaOp};

use super::{ROWS, Wgmma, sparse};

/// What an operation reads beside its own values.
pub struct Sources<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its constants, as the block sees them.
    pub constants: &'a Constants,
    /// The block's shared memory.
    pub shared: &'a Pages,
    /// The host's vector instructions.
    pub simd: pulp::Arch,
}

/// The new values of the accumulators of `wgmma`, which hold `held`.
pub fn results(wgmma: &Wgmma, held: &[PerLane<u32>], registers: &Registers, sources: &Sources<'_>) -> Vec<PerLane<u32>> {
    let Some(op) = sources.program.wgmmas.get(wgmma.op.index()) else { return held.to_vec() };
    let product = product(op);
    let mut a = elements_of_a(wgmma, op, registers, sources);
    let mut b = rows_of_b(wgmma.b, op.b_type, product.n, sources.shared);
    negate(&mut a, op.a_type, op.negate_a);
    negate(&mut b, op.b_type, op.negate_b);
    let c = if wgmma.accumulates { tile_of(held, product.n, op.d_type) } else { vec![0; product.m * product.n] };
    let kept = op.sparsity.map(|sparsity| sparse::kept(&wgmma.metadata, sparsity.selector, op.a_type, product.k));
    let d = multiply(sources.simd, &product, Operands { a: &a, b: &b, c: &c, kept: kept.as_deref() });
    spread(&d, product.n, op)
}

/// Shape, types and rule of one warp's part.
fn product(op: &WgmmaOp) -> Product {
    let (a, b, d) = (element(op.a_type), element(op.b_type), accumulator(op.d_type));
    let rule = match a {
        Element::B1 => Rule::And,
        Element::S8 | Element::U8 => Rule::Integer { saturate: op.saturate },
        Element::E4m3 | Element::E5m2 => Rule::FusedNarrow,
        _ => Rule::Fused,
    };
    let k = if op.sparsity.is_some() { op.depth / 2 } else { op.depth };
    Product { m: ROWS as usize, n: op.columns as usize, k: k as usize, a, b, c: d, d, rule }
}

fn element(ty: ScalarType) -> Element {
    match ty {
        ScalarType::BF16 => Element::Bf16,
        ScalarType::TF32 => Element::Tf32,
        ScalarType::E4M3 => Element::E4m3,
        ScalarType::E5M2 => Element::E5m2,
        ScalarType::S8 => Element::S8,
        ScalarType::U8 => Element::U8,
        ScalarType::B32 => Element::B1,
        _ => Element::F16,
    }
}

fn accumulator(ty: ScalarType) -> Accumulator {
    match ty {
        ScalarType::F16 => Accumulator::F16,
        ScalarType::S32 => Accumulator::S32,
        _ => Accumulator::F32,
    }
}

/// The rows of A, one after the other.
fn elements_of_a(wgmma: &Wgmma, op: &WgmmaOp, registers: &Registers, sources: &Sources<'_>) -> Vec<u32> {
    match (&op.a, wgmma.a) {
        (WgmmaA::Registers(fragments), _) => {
            let value = |source: &Src| value(*source, wgmma.frame, registers, sources);
            rows_of_fragments(&fragments.iter().map(value).collect::<Vec<_>>(), op.a_type)
        }
        (WgmmaA::Shared(..), Some(tile)) => {
            let bits = op.a_type.bits();
            let (mut rows, k) = (vec![0; (ROWS * tile.bytes * 8 / bits) as usize], (tile.bytes * 8 / bits) as usize);
            for_each_element(tile, bits, sources.shared, |row, column, element| rows[row * k + column] = element);
            rows
        }
        (WgmmaA::Shared(..), None) => Vec::new(),
    }
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

/// The rows of A that four registers hold: register r, part i is row g + 8 * (r % 2), column P * t + i + 4P * (r / 2), with P parts in a
/// register.
fn rows_of_fragments(fragments: &[PerLane<u32>], ty: ScalarType) -> Vec<u32> {
    let bits = ty.bits() as usize;
    let parts = 32 / bits;
    let k = 8 * parts;
    let mut rows = vec![0; ROWS as usize * k];
    for (register, values) in fragments.iter().enumerate() {
        for (lane, value) in values.iter().enumerate() {
            let start = (lane / 4 + 8 * (register % 2)) * k + parts * (lane % 4) + 4 * parts * (register / 2);
            for part in 0..parts {
                rows[start + part] = field(*value, part * bits, bits);
            }
        }
    }
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

/// The rows of C that the accumulators hold.
fn tile_of(held: &[PerLane<u32>], columns: usize, ty: ScalarType) -> Vec<u32> {
    let mut tile = vec![0; ROWS as usize * columns];
    for_each_accumulator(columns, ty, |register, lane, shift, bits, place| {
        tile[place] = field(held[register][lane], shift, bits);
    });
    tile
}

/// The accumulators that hold the rows of D.
fn spread(d: &[u32], columns: usize, op: &WgmmaOp) -> Vec<PerLane<u32>> {
    let mut registers = vec![[0; LANES]; op.d.len()];
    for_each_accumulator(columns, op.d_type, |register, lane, shift, _, place| registers[register][lane] |= d[place] << shift);
    registers
}

/// Shows `visit` every element of D: register, lane, lowest bit and width there, and place in the rows.
#[inline(always)]
fn for_each_accumulator(columns: usize, ty: ScalarType, mut visit: impl FnMut(usize, usize, usize, usize, usize)) {
    let bits = ty.bits() as usize;
    let parts = 32 / bits;
    for element in 0..columns / 2 {
        for lane in 0..LANES {
            let row = lane / 4 + 8 * (element / 2 % 2);
            let column = 8 * (element / 4) + 2 * (lane % 4) + element % 2;
            visit(element / parts, lane, element % parts * bits, bits, row * columns + column);
        }
    }
}

/// `bits` bits of `word` from bit `low` on.
#[inline(always)]
fn field(word: u32, low: usize, bits: usize) -> u32 {
    word >> low & u32::MAX >> (32 - bits)
}
