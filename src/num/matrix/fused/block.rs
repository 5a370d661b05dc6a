//! A block of adjacent columns of D: all rows of A times columns of B, added to columns of C.
//!
//! Products of elements with up to 11 bits of significand are exact in `f32`, and so are they and C in units of the last bit to which
//! terms are truncated: what underflows is less than a unit. Sums that are very large, very small, or far below others of the block are
//! computed one by one ([`any_exponents`]). There are loops over lanes where closures could be: only what is inlined here is compiled for
//! the host's vector instructions.

use std::ops::Range;

use super::super::accumulator::Accumulator;
use super::super::element::ZERO;
use super::any_exponents;
use super::factors::{ColumnFactors, Row, RowFactors, Unpack, power_of_two};
use super::round;
use super::truncation::Truncation;
use crate::num::exact::Format;

/// The greatest exponent of the terms of a sum that is computed in `f32`.
const HIGHEST: i16 = 127;

/// The least: the last bit of the sum is a normal number, and products that underflow are less than it.
const LOWEST: i16 = -100;

/// The precision and the type of sums.
#[derive(Clone, Copy)]
pub struct Sums {
    /// Fraction bits below the greatest exponent, to which terms are truncated.
    pub aligned_bits: i32,
    /// Fraction bits of an `f32` result.
    pub fraction: u32,
    /// Type of the sums and of their initial values.
    pub ty: Accumulator,
    /// The decoders for elements of A and of B.
    pub factors: [Unpack; 2],
}

/// The working arrays for N columns.
#[derive(Default)]
pub struct Block<const N: usize> {
    /// The rows of B, followed by a row of zeros for elements of a sparse A without a row of B.
    b: ColumnFactors<N>,
    /// The rows of C.
    c: ColumnFactors<N>,
    /// The greatest exponent of the terms of each sum.
    tops: Vec<[i16; N]>,
    /// The sums of the products, in units of the last bit to which terms are truncated.
    products: Vec<[i32; N]>,
    /// The elements of C in the same units.
    addends: Vec<[i32; N]>,
    /// D, encoded.
    results: Vec<[u32; N]>,
}

impl<const N: usize> Block<N> {
    /// Adds the products of A and the first N of the `columns` of B to those of C. `columns` ends with the last column of the matrix.
    #[inline(always)]
    pub fn add<T: Truncation>(&mut self, truncation: T, sums: Sums, a: &RowFactors, (b, c): (&[u32], &mut [u32]), columns: Range<usize>) {
        self.b.unpack_b(sums.factors[1], b, columns.clone());
        self.c.unpack_c(Unpack::of(sums.format()), c, columns.clone());
        self.results.resize(self.c.bits.len(), [0; N]);
        self.find_tops(a);
        self.add_in_range(truncation, sums, a);
        self.replace_others(sums, a);
        for (row, result) in c.chunks_exact_mut(columns.end).zip(&self.results) {
            row[columns.start..columns.start + N].copy_from_slice(result);
        }
    }

    /// Sets the greatest exponent of the terms of each sum.
    #[inline(always)]
    fn find_tops(&mut self, a: &RowFactors) {
        let Self { b, c, tops, .. } = self;
        tops.resize(c.bits.len(), [0; N]);
        for (row, tops) in tops.iter_mut().enumerate() {
            *tops = top(&c.exponents[row], a.row(row), b);
        }
    }

    /// Sets the results, those of sums in range rightly. Every step is a separate loop.
    #[inline(always)]
    fn add_in_range<T: Truncation>(&mut self, truncation: T, sums: Sums, a: &RowFactors) {
        let Self { b, c, tops, products, addends, results } = self;
        products.resize(results.len(), [0; N]);
        addends.resize(results.len(), [0; N]);
        for (row, (top, products)) in tops.iter().zip(products.iter_mut()).enumerate() {
            *products = sums.products(truncation, top, (a.row(row), a.scale), b);
        }
        for ((values, tops), addends) in c.values.iter().zip(tops.iter()).zip(addends.iter_mut()) {
            *addends = sums.addends(truncation, values, tops);
        }
        let of_products = products.as_flattened().iter().zip(addends.as_flattened());
        let terms = tops.as_flattened().iter().zip(of_products).zip(results.as_flattened_mut());
        // The sum of the products fits in 32 bits, and with C in a double.
        if sums.ty == Accumulator::F16 {
            for ((top, (products, addend)), result) in terms {
                let sum = f64::from(*products) + f64::from(*addend);
                *result = round::half(sum * f64::from(sums.power(*top)));
            }
        } else {
            // No sum but zero is below the normal numbers.
            for ((top, (products, addend)), result) in terms {
                let sum = f64::from(*products) + f64::from(*addend);
                *result = (round::truncated(sum, sums.fraction) * sums.power(*top)).to_bits();
            }
        }
    }

    /// Replaces the results of sums that are not in range.
    #[inline(always)]
    fn replace_others(&mut self, sums: Sums, a: &RowFactors) {
        let Self { b, c, tops, results, .. } = self;
        let lowest = LOWEST.max(LOWEST + (a.scale + b.scale) as i16);
        let mut are_in_range = true;
        for top in tops.as_flattened() {
            are_in_range &= is_in_range(*top, lowest);
        }
        if are_in_range {
            return;
        }
        let [of_a, of_b] = sums.factors;
        for (row, (tops, results)) in tops.iter().zip(results).enumerate() {
            for lane in (0..N).filter(|lane| !is_in_range(tops[*lane], lowest)) {
                let products = a.row(row).bits().map(|(bits, row)| (of_a.number(bits), of_b.number(b.bits[row][lane])));
                results[lane] = any_exponents::sum(sums, Unpack::of(sums.format()).number(c.bits[row][lane]), products);
            }
        }
    }
}

/// True if the greatest exponent of the terms of a sum is in range, which begins at `lowest`, or all of them are zero.
#[inline(always)]
fn is_in_range(top: i16, lowest: i16) -> bool {
    const ZEROS: i16 = (ZERO / 2) as i16;
    (top >= lowest && top <= HIGHEST) | (top < ZEROS)
}

impl Sums {
    /// The format of the sums.
    #[inline(always)]
    pub fn format(self) -> Format {
        if self.ty == Accumulator::F16 { Format::F16 } else { Format::F32 }
    }

    /// The sums of the products of a row of A, in units of the last bit to which terms are truncated.
    #[inline(always)]
    fn products<const N: usize, T: Truncation>(
        self,
        truncation: T,
        top: &[i16; N],
        (a, scale): (Row<'_>, i32),
        b: &ColumnFactors<N>,
    ) -> [i32; N] {
        let (mut units, mut total, mut scaled) = ([0.0; N], [0i32; N], [0.0; N]);
        for lane in 0..N {
            units[lane] = power_of_two(self.aligned_bits - i32::from(top[lane]) + scale + b.scale);
        }
        for (value, row) in a.values() {
            let values = &b.values[row];
            for lane in 0..N {
                scaled[lane] = value * values[lane] * units[lane];
            }
            let terms = truncation.truncated(&scaled);
            for lane in 0..N {
                total[lane] = total[lane].wrapping_add(terms[lane]);
            }
        }
        total
    }

    /// Elements of C, in units of the last bit to which terms are truncated.
    #[inline(always)]
    fn addends<const N: usize, T: Truncation>(self, truncation: T, c: &[f32; N], tops: &[i16; N]) -> [i32; N] {
        let mut scaled = [0.0; N];
        for lane in 0..N {
            scaled[lane] = c[lane] * power_of_two(self.aligned_bits - i32::from(tops[lane]));
        }
        truncation.truncated(&scaled)
    }

    /// The value of the last bit to which terms are truncated.
    #[inline(always)]
    fn power(self, top: i16) -> f32 {
        power_of_two(i32::from(top) - self.aligned_bits)
    }
}

/// The greatest exponent of the terms of each column, of which those of C are `of_c`.
#[inline(always)]
fn top<const N: usize>(of_c: &[i16; N], a: Row<'_>, b: &ColumnFactors<N>) -> [i16; N] {
    let mut top = [2 * ZERO as i16; N];
    for (exponent, row) in a.exponents() {
        let exponents = &b.exponents[row];
        for lane in 0..N {
            top[lane] = top[lane].max(exponent.saturating_add(exponents[lane]));
        }
    }
    for lane in 0..N {
        top[lane] = top[lane].max(of_c[lane]);
    }
    top
}
