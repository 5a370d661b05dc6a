//! A block of adjacent columns of D: all rows of A times columns of B, added to columns of C.
//!
//! Every step is a separate loop over arrays, which the compiler vectorizes.

use std::ops::Range;

use super::super::accumulator::Accumulator;
use super::super::element::ZERO;
use super::factors::{ColumnNumbers, Row, RowFactors, Unpack};
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
    /// The rows of B, followed by a row of zeros for elements of a sparse A without a row of B.
    b: Vec<ColumnNumbers<N>>,
    /// The rows of C.
    c: Vec<ColumnNumbers<N>>,
    /// The greatest exponent of the terms of each sum.
    top: Vec<[i32; N]>,
    /// The sums of the products, in units of the last bit to which terms are truncated.
    products: Vec<[i32; N]>,
    /// C in the same units.
    addends: Vec<[i32; N]>,
    /// The exact values of D.
    values: Vec<f64>,
    /// D, encoded.
    results: Vec<[u32; N]>,
}

impl<const N: usize> Block<N> {
    /// Empty arrays.
    pub fn new(sums: Sums, unpack_b: Unpack) -> Self {
        let [top, products, addends] = [const { Vec::new() }; 3];
        Self { sums, unpack_b, b: Vec::new(), c: Vec::new(), top, products, addends, values: Vec::new(), results: Vec::new() }
    }

    /// Adds the products of A and the first N of the `columns` of B to those of C. `columns` ends with the last column of the matrix.
    #[inline(always)]
    pub fn add(&mut self, a: &RowFactors, b: &[u32], c: &mut [u32], columns: Range<usize>) {
        let is_special = self.unpack_columns(b, c, columns.clone());
        for row in 0..self.c.len() {
            self.top[row] = top(&self.c[row], a.row(row), &self.b);
        }
        for row in 0..self.c.len() {
            self.products[row] = products(&self.top[row], a.row(row), &self.b);
        }
        let missing = self.sums.aligned_bits - self.sums.format().fraction as i32;
        for row in 0..self.c.len() {
            self.addends[row] = aligned(&self.c[row], &self.top[row], missing);
        }
        self.encode();
        if is_special || a.is_special {
            for row in 0..self.c.len() {
                replace_specials(&mut self.results[row], &self.sums.format(), &self.c[row], a.row(row), &self.b);
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
        self.b.resize(depth + 1, ColumnNumbers::ZEROS);
        self.c.resize(rows, ColumnNumbers::ZEROS);
        let mut is_special = false;
        for (row, numbers) in b.chunks_exact(width).zip(&mut self.b) {
            if let Some(bits) = row[columns.clone()].first_chunk() {
                is_special |= numbers.unpack(&self.unpack_b, bits);
            }
        }
        for (row, numbers) in c.chunks_exact(width).zip(&mut self.c) {
            if let Some(bits) = row[columns.clone()].first_chunk() {
                is_special |= numbers.unpack(&unpack_c, bits);
            }
        }
        self.top.resize(rows, [0; N]);
        self.products.resize(rows, [0; N]);
        self.addends.resize(rows, [0; N]);
        self.results.resize(rows, [0; N]);
        is_special
    }

    /// Adds the products to C and encodes the sums.
    #[inline(always)]
    fn encode(&mut self) {
        self.values.resize(self.c.len() * N, 0.0);
        let sums = self.products.as_flattened().iter().zip(self.addends.as_flattened()).zip(self.top.as_flattened());
        for (((products, addend), top), value) in sums.zip(&mut self.values) {
            // The sum of the products fits in 32 bits, and with C in a double.
            let power = (*top).max(-500) - self.sums.aligned_bits;
            *value = (f64::from(*products) + f64::from(*addend)) * f64::from_bits(((power + 1023) as u64) << 52);
        }
        let results = self.values.iter().zip(self.results.as_flattened_mut());
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
            let results = self.values.iter().zip(self.results.as_flattened_mut());
            results.filter(|(value, _)| round::is_tiny(**value)).for_each(|(value, result)| *result = round::subnormal(*value));
        }
    }
}

impl Sums {
    #[inline(always)]
    fn format(self) -> Format {
        if self.ty == Accumulator::F16 { Format::F16 } else { Format::F32 }
    }
}

/// The greatest exponent of the terms of each column.
#[inline(always)]
fn top<const N: usize>(c: &ColumnNumbers<N>, a: Row<'_>, b: &[ColumnNumbers<N>]) -> [i32; N] {
    let mut top = c.exponent;
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
fn products<const N: usize>(top: &[i32; N], a: Row<'_>, b: &[ColumnNumbers<N>]) -> [i32; N] {
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

/// C in the units of the products; its fraction has `missing` bits less.
#[inline(always)]
fn aligned<const N: usize>(c: &ColumnNumbers<N>, top: &[i32; N], missing: i32) -> [i32; N] {
    let mut addends = [0i32; N];
    for lane in 0..N {
        let significand = c.significand[lane];
        let sign = significand >> 31;
        let distance = (top[lane] - c.exponent[lane] + (-missing).max(0)) as u32;
        addends[lane] = (((significand << missing.max(0)) + sign) >> distance.min(31)) - sign;
    }
    addends
}
