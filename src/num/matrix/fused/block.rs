//! A block of adjacent columns of D: all rows of A times columns of B, added to columns of C.
//!
//! Every step is a separate loop over arrays, which the compiler vectorizes.

use std::ops::Range;

use super::super::accumulator::Accumulator;
use super::super::element::ZERO;
use super::factors::{ColumnNumbers, Row, RowFactors, RowNumbers, Unpack};
use super::round;
use super::special::replace_specials;
use crate::num::exact::Format;

/// The precision and the type of sums.
#[derive(Clone, Copy)]
pub struct Sums {
    /// Fraction bits below the greatest exponent, to which terms are truncated.
    pub aligned_bits: i32,
    /// Fraction bits of an `f32` result.
    pub fraction: u32,
    /// Type of the sums and of their initial values.
    pub ty: Accumulator,
}

/// The working arrays for N columns.
pub struct Block<const N: usize> {
    sums: Sums,
    unpack_b: Unpack,
    /// The encoded elements of these columns of B or C.
    bits: Vec<[u32; N]>,
    /// The rows of B, followed by a row of zeros for elements of a sparse A without a row of B.
    b: Vec<RowNumbers<N>>,
    /// The rows of C; before them, those of B.
    c: ColumnNumbers<N>,
    /// The greatest exponent of the terms of each sum.
    tops: Vec<[i32; N]>,
    /// The sums of the products, in units of the last bit to which terms are truncated.
    products: Vec<[i32; N]>,
    /// The exact values of D.
    values: Vec<f64>,
    /// D, encoded.
    results: Vec<[u32; N]>,
}

impl<const N: usize> Block<N> {
    /// Empty arrays.
    pub fn new(sums: Sums, unpack_b: Unpack) -> Self {
        let [tops, products] = [const { Vec::new() }; 2];
        Self {
            sums,
            unpack_b,
            bits: Vec::new(),
            b: Vec::new(),
            c: ColumnNumbers::new(),
            tops,
            products,
            values: Vec::new(),
            results: Vec::new(),
        }
    }

    /// Adds the products of A and the first N of the `columns` of B to those of C. `columns` ends with the last column of the matrix.
    #[inline(always)]
    pub fn add(&mut self, a: &RowFactors, b: &[u32], c: &mut [u32], columns: Range<usize>) {
        let is_special = self.unpack_columns(b, c, columns.clone());
        let rows = self.c.exponents.len();
        self.tops.resize(rows, [0; N]);
        self.products.resize(rows, [0; N]);
        for row in 0..rows {
            let factors = a.row(row);
            let top = top(&self.c.exponents[row], factors, &self.b);
            let products = products(&top, factors, &self.b);
            (self.tops[row], self.products[row]) = (top, products);
        }
        self.add_to_c();
        self.encode();
        if is_special || a.is_special {
            for row in 0..rows {
                replace_specials(&mut self.results[row], &self.sums.format(), (&self.c, row), a.row(row), &self.b);
            }
        }
        for (row, result) in c.chunks_exact_mut(columns.end).zip(&self.results) {
            row[columns.start..columns.start + N].copy_from_slice(result);
        }
    }

    /// Decodes B and C. True if there are infinities or NaNs.
    #[inline(always)]
    fn unpack_columns(&mut self, b: &[u32], c: &[u32], columns: Range<usize>) -> bool {
        let (width, unpack_c) = (columns.end, Unpack::of(self.sums.format()));
        let (depth, rows) = (b.len() / width, c.len() / width);
        let of_columns = |row: &[u32]| row[columns.clone()].first_chunk().copied();
        self.bits.clear();
        self.bits.extend(b.chunks_exact(width).filter_map(of_columns));
        let is_b_special = self.c.unpack(&self.unpack_b, &self.bits, depth + 1);
        self.b.clear();
        self.b.extend(self.c.rows());
        self.bits.clear();
        self.bits.extend(c.chunks_exact(width).filter_map(of_columns));
        is_b_special | self.c.unpack(&unpack_c, &self.bits, rows)
    }

    /// Adds the sums of the products to C, in all rows together: a loop over the few columns of one is unrolled, and not vectorized.
    #[inline(always)]
    fn add_to_c(&mut self) {
        let c = self.c.significands.as_flattened().iter().zip(self.c.exponents.as_flattened());
        let sums = self.products.as_flattened().iter().zip(self.tops.as_flattened());
        self.values.resize(self.products.len() * N, 0.0);
        for (((significand, exponent), (products, top)), value) in c.zip(sums).zip(&mut self.values) {
            *value = self.sums.value((*significand, *exponent), *products, *top);
        }
    }

    /// Encodes the sums.
    #[inline(always)]
    fn encode(&mut self) {
        let values = &self.values;
        self.results.resize(self.products.len(), [0; N]);
        let results = values.iter().zip(self.results.as_flattened_mut());
        if self.sums.ty == Accumulator::F16 {
            for (value, result) in results {
                *result = round::half(*value);
            }
            return;
        }
        let mut is_tiny = false;
        for (value, result) in results {
            *result = round::truncated(*value, self.sums.fraction);
            is_tiny |= round::is_tiny(*value);
        }
        if is_tiny {
            let results = values.iter().zip(self.results.as_flattened_mut());
            results.filter(|(value, _)| round::is_tiny(**value)).for_each(|(value, result)| *result = round::subnormal(*value));
        }
    }
}

impl Sums {
    #[inline(always)]
    fn format(self) -> Format {
        if self.ty == Accumulator::F16 { Format::F16 } else { Format::F32 }
    }

    /// The exact sum of a number of C, given by significand and exponent, and of products in units of the last bit below `top`.
    #[inline(always)]
    fn value(self, (significand, exponent): (i32, i32), products: i32, top: i32) -> f64 {
        // C in the units of the products has `missing` bits less in its fraction.
        let missing = self.aligned_bits - self.format().fraction as i32;
        let sign = significand >> 31;
        let distance = (top - exponent + (-missing).max(0)) as u32;
        let addend = (((significand << missing.max(0)) + sign) >> distance.min(31)) - sign;
        // The sum of the products fits in 32 bits, and with C in a double.
        let power = top.max(-500) - self.aligned_bits;
        (f64::from(products) + f64::from(addend)) * f64::from_bits(((power + 1023) as u64) << 52)
    }
}

/// The greatest exponent of the terms of each column, of which those of C are `of_c`.
#[inline(always)]
fn top<const N: usize>(of_c: &[i32; N], a: Row<'_>, b: &[RowNumbers<N>]) -> [i32; N] {
    let mut top = *of_c;
    for top in &mut top {
        *top = (*top).max(2 * ZERO);
    }
    for factor in a.factors() {
        let numbers = &b[factor.row];
        for lane in 0..N {
            top[lane] = top[lane].max(factor.number.exponent + numbers.exponent[lane]);
        }
    }
    top
}

/// The sums of the products, in units of the last bit to which terms are truncated.
#[inline(always)]
fn products<const N: usize>(top: &[i32; N], a: Row<'_>, b: &[RowNumbers<N>]) -> [i32; N] {
    let mut total = [0i32; N];
    for factor in a.factors() {
        let numbers = &b[factor.row];
        for lane in 0..N {
            let product = factor.number.significand.wrapping_mul(numbers.significand[lane]);
            let distance = top[lane] - factor.number.exponent - numbers.exponent[lane];
            // A negative number is shifted as its ones' complement, which truncates it towards zero.
            let sign = product >> 31;
            let term = (product.wrapping_add(sign) >> (distance as u32).min(31)).wrapping_sub(sign);
            total[lane] = total[lane].wrapping_add(term);
        }
    }
    total
}
