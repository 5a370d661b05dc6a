//! The fused sum: all terms are aligned to the greatest exponent among them, truncated towards zero, added exactly, and rounded once.
//!
//! A term is a product of two numbers, or C; subnormal numbers and products are not normalised first, and terms that are zero are ignored
//! in the choice of the exponent, which is at least -133. A row of A is multiplied by some columns of B at a time, in loops over columns
//! that the compiler vectorizes. Infinities and NaNs are rare: they are put into the results afterwards.
//!
//! | file | contents |
//! | --- | --- |
//! | [`factors`] | the elements of A, B and C as `f32`, and their exponents |
//! | [`block`] | the sums of some columns, in `f32`: the greatest exponent, the aligned terms, their sum |
//! | [`truncation`] | the integer part of a term in units of the last bit |
//! | [`any_exponents`] | the sums of some columns, from significands |
//! | [`words`] | the encoding of sums that fit in 32 bits |
//! | [`round`] | the encoding of any exact sum |
//! | [`special`] | sums that are infinities or NaNs |

mod any_exponents;
mod block;
mod factors;
mod round;
mod special;
mod truncation;
mod words;

use std::cell::Cell;
use std::ops::Range;

use super::accumulator::{Accumulator, nearest, value};
use super::element::{Element, widened};
use super::product::{LANES, Operands, Product, Rule};
use block::{Block, Sums};
use factors::RowFactors;
pub use truncation::{Cast, Truncation};

/// The working arrays.
struct Work {
    a: RowFactors,
    wide: Block<WIDE>,
    narrow: Block<LANES>,
}

impl Work {
    fn new() -> Box<Self> {
        Box::new(Self { a: RowFactors::default(), wide: Block::new(), narrow: Block::new() })
    }
}

thread_local! {
    /// The working arrays of a thread: to allocate them takes longer than the arithmetic of a small product.
    static WORK: Cell<Option<Box<Work>>> = const { Cell::new(None) };
    /// The same for fp8 elements.
    static WIDENED: Cell<Option<Box<Widened>>> = const { Cell::new(None) };
}

/// The number of columns that are summed together if a row has at least as many.
const WIDE: usize = 32;

/// D in the place of C, computed by the product's rule, which is one of fused sums.
#[inline(always)]
pub fn multiply<T: Truncation>(truncation: T, product: &Product, operands: Operands<'_>, mut sums: Vec<u32>) -> Vec<u32> {
    if product.rule == Rule::ConvertedToHalves {
        return multiply_widened(truncation, product, operands, sums);
    }
    let ty = if product.c == product.d { product.d } else { Accumulator::F32 };
    if product.c != ty {
        for c in &mut sums {
            *c = nearest(ty, value(product.c, *c));
        }
    }
    add_products(truncation, product, operands, ty, &mut sums);
    if product.d != ty {
        for sum in &mut sums {
            *sum = nearest(product.d, value(ty, *sum));
        }
    }
    sums
}

/// The elements of fp8 as `f16`, in the order in which they are added.
#[derive(Default)]
struct Widened {
    /// A, in its own order.
    all: Vec<u32>,
    a: Vec<u32>,
    b: Vec<u32>,
    sums: Vec<u32>,
}

/// D for fp8 elements, converted to `f16`: even pairs of columns of A are summed first, odd ones after, and C is added last.
#[inline(always)]
fn multiply_widened<T: Truncation>(truncation: T, product: &Product, operands: Operands<'_>, mut d: Vec<u32>) -> Vec<u32> {
    let (k, n) = (product.k, product.n);
    assert!(k.is_multiple_of(4), "a row of A has as many even pairs as odd ones");
    let column = |place: usize| if place < k / 2 { place / 2 * 4 + place % 2 } else { (place - k / 2) / 2 * 4 + 2 + place % 2 };
    let mut widened = WIDENED.take().unwrap_or_default();
    let Widened { all, a, b, sums } = &mut *widened;
    all.resize(operands.a.len(), 0);
    a.resize(operands.a.len(), 0);
    widen(product.a, operands.a, all);
    for (to, from) in a.chunks_exact_mut(k).zip(all.chunks_exact(k)) {
        let (even, odd) = to.split_at_mut(k / 2);
        let pairs = even.as_chunks_mut().0.iter_mut().zip(odd.as_chunks_mut().0);
        for ((even, odd), [first, second, third, fourth]) in pairs.zip(from.as_chunks().0) {
            (*even, *odd) = ([*first, *second], [*third, *fourth]);
        }
    }
    b.resize(operands.b.len(), 0);
    let mut sparse_rows = None;
    if let Some(rows) = operands.sparse_rows {
        widen(product.b, operands.b, b);
        let in_order = sparse_rows.insert(Vec::with_capacity(rows.len()));
        for row in rows.chunks_exact(k) {
            for place in 0..k {
                in_order.push(row[column(place)]);
            }
        }
    } else {
        // The rows of B follow the columns of A.
        for (place, to) in b.chunks_exact_mut(n).enumerate() {
            let row = column(place);
            widen(product.b, &operands.b[row * n..(row + 1) * n], to);
        }
    }
    sums.clear();
    sums.resize(d.len(), 0);
    let halves = Product { a: Element::F16, b: Element::F16, ..*product };
    let operands = Operands { a, b, sparse_rows: sparse_rows.as_deref() };
    add_products(truncation, &halves, operands, product.d, sums);
    for (d, sum) in d.iter_mut().zip(sums.iter()) {
        *d = nearest(product.d, value(product.c, *d) + value(product.d, *sum));
    }
    WIDENED.set(Some(widened));
    d
}

/// Sets `to` to the `f16` of elements.
#[inline(always)]
fn widen(element: Element, from: &[u32], to: &mut [u32]) {
    for (to, bits) in to.iter_mut().zip(from) {
        *to = widened(element, *bits);
    }
}

/// Adds the products to sums of type `ty`.
#[inline(always)]
fn add_products<T: Truncation>(truncation: T, product: &Product, operands: Operands<'_>, ty: Accumulator, sums: &mut [u32]) {
    // The loops are compiled separately for each type.
    match ty {
        Accumulator::F16 => add_in_steps(truncation, product, operands, Accumulator::F16, sums),
        _ => add_in_steps(truncation, product, operands, Accumulator::F32, sums),
    }
}

#[inline(always)]
fn add_in_steps<T: Truncation>(truncation: T, product: &Product, operands: Operands<'_>, ty: Accumulator, sums: &mut [u32]) {
    let as_sums = Sums::of(product, ty);
    let mut work = WORK.take().unwrap_or_else(Work::new);
    let Work { a, wide, narrow } = &mut *work;
    let with_wide = product.n / WIDE * WIDE;
    for step in steps(product) {
        // A sparse A refers to any row of B.
        let rows = if operands.sparse_rows.is_some() { 0..operands.b.len() / product.n } else { step.clone() };
        let b = &operands.b[rows.start * product.n..rows.end * product.n];
        a.unpack(product, operands, step);
        for first in (0..with_wide).step_by(WIDE) {
            wide.add(truncation, as_sums, a, (b, &mut *sums), first..product.n);
        }
        for first in (with_wide..product.n).step_by(LANES) {
            narrow.add(truncation, as_sums, a, (b, &mut *sums), first..product.n);
        }
    }
    WORK.set(Some(work));
}

/// The columns of A of each partial sum; a partial sum adds to the result of the one before.
fn steps(product: &Product) -> impl Iterator<Item = Range<usize>> {
    let count = if matches!(product.rule, Rule::FusedHalves | Rule::ConvertedToHalves) { 2 } else { 1 };
    let each = product.k / count;
    (0..count).map(move |step| step * each..(step + 1) * each)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Random;

    /// Elements of `bits` bits with a fraction of `fraction` bits: any, near 1, tiny, huge, or with zeros and infinities among them.
    fn elements(random: &mut Random, count: usize, mode: u32, (bits, fraction): (u32, u32)) -> Vec<u32> {
        let all = u32::MAX >> (32 - bits);
        let sign = 1 << (bits - 1);
        let one = (all >> 2) & !((1 << fraction) - 1);
        let element = |random: u32| match mode {
            0 => random & all,
            1 => one ^ (random & (sign | ((4 << fraction) - 1))),
            2 => random & (sign | ((4 << fraction) - 1)),
            3 => (all >> 1) ^ (random & (sign | ((4 << fraction) - 1))),
            _ if random.is_multiple_of(7) => 0,
            _ if random.is_multiple_of(11) => ((all >> 1) & !((1 << fraction) - 1)) | (random & sign),
            _ => one ^ (random & (sign | ((2 << fraction) - 1))),
        };
        (0..count).map(|_| element(random.draw(1 << 32) as u32)).collect()
    }

    #[test]
    fn sums_of_floats_are_those_of_significands() {
        let types = [(Element::F16, (16, 10)), (Element::Bf16, (16, 7)), (Element::Tf32, (32, 23)), (Element::E5m2, (8, 2))];
        let (mut random, mut specials) = (Random::new(1), 0);
        let modes = (0..5).flat_map(|of_a| (0..5).flat_map(move |of_b| (0..5).map(move |of_c| [of_a, of_b, of_c])));
        for ([of_a, of_b, of_c], (element, form)) in modes.flat_map(|modes| types.map(|ty| (modes, ty))) {
            let rule = if element == Element::E5m2 { Rule::Fused13Bits } else { Rule::Fused };
            let (m, n, k, ty) = (3, 40, 8, Accumulator::F32);
            let product = Product { m, n, k, a: element, b: element, c: ty, d: ty, rule };
            let [a, b] = [(m * k, of_a), (k * n, of_b)].map(|(count, mode)| elements(&mut random, count, mode, form));
            let c = elements(&mut random, m * n, of_c, (32, 23));
            let found = multiply(Cast, &product, Operands { a: &a, b: &b, sparse_rows: None }, c.clone());
            let mut rows = RowFactors::default();
            rows.unpack(&product, Operands { a: &a, b: &b, sparse_rows: None }, 0..k);
            let mut wanted = c.clone();
            for first in (0..n).step_by(LANES) {
                Block::<LANES>::new().add_from_significands(Sums::of(&product, ty), &rows, (&b, &mut wanted), first..n);
            }
            assert_eq!(found, wanted, "{element:?}, {:?}", [of_a, of_b, of_c]);
            specials += wanted.iter().filter(|bits| **bits & 0x7f80_0000 == 0x7f80_0000).count();
        }
        assert!(specials > 100, "infinities and NaNs are among them");
    }
}
