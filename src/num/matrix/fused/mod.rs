//! The fused sum: all terms are aligned to the greatest exponent among them, truncated towards zero, added exactly, and rounded once.
//!
//! A term is a product of two numbers, or C; subnormal numbers and products are not normalised first, and terms that are zero are ignored
//! in the choice of the exponent. A row of A is multiplied by some columns of B at a time, in loops over columns that the compiler
//! vectorizes. Infinities and NaNs are rare: they are decoded into exponents far below all others, so that they do not change the sums,
//! and are put into the results afterwards.
//!
//! | file | contents |
//! | --- | --- |
//! | [`factors`] | the decoding of A, B and C |
//! | [`block`] | the sums of some columns: the greatest exponent, the aligned terms, their sum |
//! | [`round`] | the encoding of an exact sum |
//! | [`special`] | results that are infinities or NaNs |

mod block;
mod factors;
mod round;
mod special;

use std::ops::Range;

use super::accumulator::{Accumulator, nearest, value};
use super::element::{Element, widened};
use super::product::{LANES, Operands, Product, Rule};
use block::{Block, Sums};
use factors::{RowFactors, Unpack};

/// The number of columns that are summed together if a row has at least as many.
const WIDE: usize = 32;

/// D, computed by the product's rule, which is one of fused sums.
#[inline(always)]
pub fn multiply(product: &Product, operands: Operands<'_>) -> Vec<u32> {
    if product.rule == Rule::ConvertedToHalves {
        return multiply_widened(product, operands);
    }
    let ty = if product.c == product.d { product.d } else { Accumulator::F32 };
    let mut sums = operands.c.to_vec();
    if product.c != ty {
        sums.iter_mut().for_each(|c| *c = nearest(ty, value(product.c, *c)));
    }
    add_products(product, operands, ty, &mut sums);
    if product.d != ty {
        sums.iter_mut().for_each(|sum| *sum = nearest(product.d, value(ty, *sum)));
    }
    sums
}

/// D for fp8 elements, converted to `f16`: even pairs of columns of A are summed first, odd ones after, and C is added last.
#[inline(always)]
fn multiply_widened(product: &Product, operands: Operands<'_>) -> Vec<u32> {
    let (k, n) = (product.k, product.n);
    let [even, odd] = [0, 2].map(|pair| (0..k).filter(move |column| column & 2 == pair));
    let order: Vec<usize> = even.chain(odd).collect();
    let mut a = vec![0; operands.a.len()];
    for (to, from) in a.chunks_exact_mut(k).zip(operands.a.chunks_exact(k)) {
        to.iter_mut().zip(&order).for_each(|(to, column)| *to = widened(product.a, from[*column]));
    }
    let mut b: Vec<u32> = operands.b.iter().map(|bits| widened(product.b, *bits)).collect();
    let sparse_rows: Option<Vec<u16>> = match operands.sparse_rows {
        Some(rows) => Some(rows.chunks_exact(k).flat_map(|row| order.iter().map(|column| row[*column])).collect()),
        None => {
            // The rows of B follow the columns of A.
            b = order.iter().filter_map(|row| b.get(row * n..(row + 1) * n)).flatten().copied().collect();
            None
        }
    };
    let mut sums = vec![0; operands.c.len()];
    let halves = Product { a: Element::F16, b: Element::F16, ..*product };
    add_products(&halves, Operands { a: &a, b: &b, c: operands.c, sparse_rows: sparse_rows.as_deref() }, product.d, &mut sums);
    let last = |(sum, c): (&u32, &u32)| nearest(product.d, value(product.c, *c) + value(product.d, *sum));
    sums.iter().zip(operands.c).map(last).collect()
}

/// Adds the products to sums of type `ty`.
#[inline(always)]
fn add_products(product: &Product, operands: Operands<'_>, ty: Accumulator, sums: &mut [u32]) {
    // The loops are compiled separately for each type.
    match ty {
        Accumulator::F16 => add_in_steps(product, operands, Accumulator::F16, sums),
        _ => add_in_steps(product, operands, Accumulator::F32, sums),
    }
}

#[inline(always)]
fn add_in_steps(product: &Product, operands: Operands<'_>, ty: Accumulator, sums: &mut [u32]) {
    let (aligned_bits, fraction) = if product.rule == Rule::Fused13Bits { (13, 13) } else { (25, 23) };
    let (sums_type, b) = (Sums { aligned_bits, fraction, ty }, Unpack::new(product.b));
    let (mut wide, mut narrow) = (Block::<WIDE>::new(sums_type, b), Block::<LANES>::new(sums_type, b));
    let with_wide = product.n / WIDE * WIDE;
    for step in steps(product) {
        let a = RowFactors::new(product, operands, step, aligned_bits);
        for first in (0..with_wide).step_by(WIDE) {
            wide.add(&a, operands.b, sums, first..product.n);
        }
        for first in (with_wide..product.n).step_by(LANES) {
            narrow.add(&a, operands.b, sums, first..product.n);
        }
    }
}

/// The columns of A of each partial sum; a partial sum adds to the result of the one before.
fn steps(product: &Product) -> impl Iterator<Item = Range<usize>> {
    let count = if matches!(product.rule, Rule::FusedHalves | Rule::ConvertedToHalves) { 2 } else { 1 };
    let each = product.k / count;
    (0..count).map(move |step| step * each..(step + 1) * each)
}
