//! Some neighbouring columns of D: all rows of A times columns of B, added to columns of C.
//!
//! Every step is a loop of its own from memory to memory, which the compiler makes one over vectors.

use std::ops::Range;

use super::super::accumulator::Accumulator;
use super::super::element::ZERO;
use super::factors::{Line, Row, RowFactors, Unpack};
use super::round;
use super::special::replace_specials;
use crate::num::exact::Format;

/// How sums are made.
#[derive(Clone, Copy)]
pub struct Sums {
    /// Fraction bits that are kept below the greatest exponent.
    pub kept: i32,
    /// Fraction bits of an `f32` result.
    pub fraction: u32,
    /// Type of the sums, and of what they start with.
    pub ty: Accumulator,
}

/// N columns.
pub struct Block<const N: usize> {
    how: Sums,
    unpack_b: Unpack,
    /// B, row by row, and after the last a row of zeros, for elements of a sparse A without a row.
    b: Vec<Line<N>>,
    /// C, row by row.
    c: Vec<Line<N>>,
    /// The greatest exponents.
    top: Vec<[i32; N]>,
    /// The sums of the products, in units of the last bit that is kept below the greatest exponent.
    products: Vec<[i32; N]>,
    /// C in the same units.
    addends: Vec<[i32; N]>,
    /// D, exactly.
    values: Vec<f64>,
    /// D, encoded.
    results: Vec<[u32; N]>,
}

impl<const N: usize> Block<N> {
    /// Nothing yet.
    pub fn new(how: Sums, unpack_b: Unpack) -> Self {
        let [top, products, addends] = [const { Vec::new() }; 3];
        Self { how, unpack_b, b: Vec::new(), c: Vec::new(), top, products, addends, values: Vec::new(), results: Vec::new() }
    }

    /// Adds the products of A and the first N of these columns of B to those of C. The range ends with the last column there is.
    #[inline(always)]
    pub fn add(&mut self, a: &RowFactors, b: &[u32], c: &mut [u32], columns: Range<usize>) {
        let is_special = self.take(b, c, columns.clone());
        for row in 0..self.c.len() {
            self.top[row] = top(&self.c[row], a.row(row), &self.b);
        }
        for row in 0..self.c.len() {
            self.products[row] = products(&self.top[row], a.row(row), &self.b);
        }
        let missing = self.how.kept - self.how.format().fraction as i32;
        for row in 0..self.c.len() {
            self.addends[row] = aligned(&self.c[row], &self.top[row], missing);
        }
        self.encode();
        if is_special || a.is_special {
            for row in 0..self.c.len() {
                replace_specials(&mut self.results[row], &self.how.format(), &self.c[row], a.row(row), &self.b);
            }
        }
        for (row, result) in c.chunks_exact_mut(columns.end).zip(&self.results) {
            row[columns.start..columns.start + N].copy_from_slice(result);
        }
    }

    /// Takes B and C apart. True if there are infinities or NaNs.
    #[inline(always)]
    fn take(&mut self, b: &[u32], c: &[u32], columns: Range<usize>) -> bool {
        let (width, unpack_c) = (columns.end, Unpack::of(self.how.format()));
        let (depth, rows) = (b.len() / width, c.len() / width);
        self.b.resize(depth + 1, Line::ZEROS);
        self.c.resize(rows, Line::ZEROS);
        let mut is_special = false;
        for (row, line) in b.chunks_exact(width).zip(&mut self.b) {
            if let Some(bits) = row[columns.clone()].first_chunk() {
                is_special |= line.unpack(&self.unpack_b, bits);
            }
        }
        for (row, line) in c.chunks_exact(width).zip(&mut self.c) {
            if let Some(bits) = row[columns.clone()].first_chunk() {
                is_special |= line.unpack(&unpack_c, bits);
            }
        }
        self.top.resize(rows, [0; N]);
        self.products.resize(rows, [0; N]);
        self.addends.resize(rows, [0; N]);
        self.results.resize(rows, [0; N]);
        is_special
    }

    /// Adds everything up, and encodes it.
    #[inline(always)]
    fn encode(&mut self) {
        self.values.resize(self.c.len() * N, 0.0);
        let sums = self.products.as_flattened().iter().zip(self.addends.as_flattened()).zip(self.top.as_flattened());
        for (((products, addend), top), value) in sums.zip(&mut self.values) {
            // Products alone fit in 32 bits, and with C in a double.
            let power = (*top).max(-500) - self.how.kept;
            *value = (f64::from(*products) + f64::from(*addend)) * f64::from_bits(((power + 1023) as u64) << 52);
        }
        let results = self.values.iter().zip(self.results.as_flattened_mut());
        if self.how.ty == Accumulator::F16 {
            for (value, result) in results {
                *result = round::half(*value);
            }
            return;
        }
        let mut is_tiny = false;
        for (value, result) in results {
            *result = round::truncated(*value, self.how.fraction);
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
fn top<const N: usize>(c: &Line<N>, a: Row<'_>, b: &[Line<N>]) -> [i32; N] {
    let mut top = c.exponent;
    for top in &mut top {
        *top = (*top).max(2 * ZERO);
    }
    for factor in a.factors() {
        let line = &b[factor.row];
        for lane in 0..N {
            top[lane] = top[lane].max(factor.number.exponent + line.exponent[lane]);
        }
    }
    top
}

/// The sums of the products, in units of the last bit that is kept below `top`.
#[inline(always)]
fn products<const N: usize>(top: &[i32; N], a: Row<'_>, b: &[Line<N>]) -> [i32; N] {
    let mut total = [0i32; N];
    for factor in a.factors() {
        let line = &b[factor.row];
        for lane in 0..N {
            let product = factor.number.significand.wrapping_mul(line.significand[lane]);
            let distance = top[lane] - factor.number.exponent - line.exponent[lane];
            // Shifted as its ones' complement, a negative number is cut towards zero.
            let sign = product >> 31;
            let term = (product.wrapping_add(sign) >> (distance as u32).min(31)).wrapping_sub(sign);
            total[lane] = total[lane].wrapping_add(term);
        }
    }
    total
}

/// C in the same units; its fraction has `missing` bits less than that.
#[inline(always)]
fn aligned<const N: usize>(c: &Line<N>, top: &[i32; N], missing: i32) -> [i32; N] {
    let mut addends = [0i32; N];
    for lane in 0..N {
        let significand = c.significand[lane];
        let sign = significand >> 31;
        let distance = (top[lane] - c.exponent[lane] + (-missing).max(0)) as u32;
        addends[lane] = (((significand << missing.max(0)) + sign) >> distance.min(31)) - sign;
    }
    addends
}
