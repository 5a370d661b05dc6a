//! A block of adjacent columns of D: all rows of A times columns of B, added to columns of C.
//!
//! Products of elements with up to 11 bits of significand are exact in `f32`, and so are they and C in units of the last bit to which
//! terms are truncated: what underflows is less than a unit, unless exponents are very large, or some sums far below others. The sums of
//! such a block are computed from significands ([`any_exponents`]). There are loops over lanes where closures could be: only what is
//! inlined here is compiled for the host's vector instructions.

use std::ops::Range;

use super::super::accumulator::Accumulator;
use super::super::element::ZERO;
use super::super::product::{LANES, Product, Rule};
use super::any_exponents;
use super::factors::{Addends, Aligned, ColumnFactors, Row, RowFactors, SPECIAL, Unpack, power_of_two};
use super::round;
use super::special::special;
use super::truncation::Truncation;
use super::words;
use crate::num::exact::Format;

/// The greatest exponent of scaled products that are far from infinity.
const HIGHEST: i32 = 110;

/// The least exponent of the terms of a sum, beside scaled products: products that underflow are less than its last bit.
const LOWEST: i32 = -100;

/// Sums of zeros have lower tops.
const ZEROS: i16 = (ZERO / 2) as i16;

/// The least exponent to which terms are aligned, however low theirs are, as recorded on an H200: no term has bits below 2^-158.
pub const LEAST_TOP: i16 = -133;

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
pub struct Block<const N: usize> {
    /// The rows of B.
    b: ColumnFactors<N>,
    /// The rows of C.
    c: Addends<N>,
    /// The greatest exponent of the terms of each sum.
    tops: Aligned<[i16; N]>,
    /// The least and the greatest of them, without those of sums of zeros and of sums with an infinity or a NaN.
    extremes: (i16, i16),
    /// True if a sum has an infinity or a NaN.
    has_special: bool,
    /// The sums of the products, in units of the last bit to which terms are truncated.
    products: Aligned<[i32; N]>,
    /// The exact values of D.
    values: Aligned<f64>,
    /// D, encoded.
    results: Aligned<[u32; N]>,
}

impl<const N: usize> Block<N> {
    /// Without elements.
    pub fn new() -> Self {
        Self {
            b: ColumnFactors::new(),
            c: Addends::new(),
            tops: Aligned::new(0),
            extremes: (0, 0),
            has_special: false,
            products: Aligned::new(0),
            values: Aligned::new(0),
            results: Aligned::new(0),
        }
    }

    /// Adds the products of A and the first N of the `columns` of B to those of C. `columns` ends with the last column of the matrix.
    #[inline(always)]
    pub fn add<T: Truncation>(&mut self, truncation: T, sums: Sums, a: &RowFactors, (b, c): (&[u32], &mut [u32]), columns: Range<usize>) {
        self.unpack(sums, a, (b, c), columns.clone());
        if self.is_in_range(a) {
            self.add_in_range(truncation, sums, a);
        } else {
            self.add_of_any_exponents(sums, a);
        }
        self.put(sums, a, c, columns);
    }

    /// The same from significands only.
    #[cfg(test)]
    pub fn add_from_significands(&mut self, sums: Sums, a: &RowFactors, (b, c): (&[u32], &mut [u32]), columns: Range<usize>) {
        self.unpack(sums, a, (b, c), columns.clone());
        self.add_of_any_exponents(sums, a);
        self.put(sums, a, c, columns);
    }

    /// Unpacks B and C, and finds the greatest exponents.
    #[inline(always)]
    fn unpack(&mut self, sums: Sums, a: &RowFactors, (b, c): (&[u32], &[u32]), columns: Range<usize>) {
        self.b.unpack(sums.factors[1], b, columns.clone());
        self.c.unpack(Unpack::of(sums.format()), c, columns);
        self.find_tops(a);
    }

    /// Puts the results into columns of C.
    #[inline(always)]
    fn put(&mut self, sums: Sums, a: &RowFactors, c: &mut [u32], columns: Range<usize>) {
        self.replace_specials(sums, a);
        for (row, result) in c.chunks_exact_mut(columns.end).zip(self.results.iter()) {
            row[columns.start..columns.start + N].copy_from_slice(result);
        }
    }

    /// Sets the greatest exponent of the terms of each sum.
    #[inline(always)]
    fn find_tops(&mut self, a: &RowFactors) {
        let Self { b, c, tops, results, .. } = self;
        tops.resize(c.bits.len(), [0; N]);
        results.resize(c.bits.len(), [0; N]);
        for (row, tops) in tops.iter_mut().enumerate() {
            *tops = top(&c.exponents[row], a.row(row), b);
        }
        let (mut lowest, mut highest, mut has_special) = (i16::MAX, i16::MIN, false);
        for top in tops.as_flattened() {
            lowest = lowest.min(if *top < ZEROS { i16::MAX } else { *top });
            highest = highest.max(if is_special(*top) { i16::MIN } else { *top });
            has_special |= is_special(*top);
        }
        (self.extremes, self.has_special) = ((lowest, highest), has_special);
    }

    /// True if the arithmetic in `f32` is exact for all sums that are finite.
    #[inline(always)]
    fn is_in_range(&self, a: &RowFactors) -> bool {
        let scale = a.scale + self.b.scale;
        i32::from(self.extremes.0) >= LOWEST + scale && a.highest + self.b.highest <= HIGHEST + scale
    }

    /// Sets the results. Every step is a separate loop.
    #[inline(always)]
    fn add_in_range<T: Truncation>(&mut self, truncation: T, sums: Sums, a: &RowFactors) {
        let Self { b, c, tops, extremes, products, values, results, .. } = self;
        products.resize(tops.len(), [0; N]);
        for (row, (top, products)) in tops.iter().zip(products.iter_mut()).enumerate() {
            *products = sums.products(truncation, top, (a.row(row), a.scale), b);
        }
        let (tops, products) = (tops.as_flattened(), products.as_flattened());
        if words::hold(sums, *extremes, products) {
            words::encode(sums, extremes.0, (tops, products), c.bits.as_flattened(), results.as_flattened_mut());
            return;
        }
        values.resize(tops.len(), 0.0);
        for ((top, products), (c, value)) in tops.iter().zip(products).zip(c.bits.as_flattened().iter().zip(values.iter_mut())) {
            *value = sums.value(*c, *products, i32::from(*top));
        }
        sums.encode(values, results.as_flattened_mut());
    }

    /// Sets the results, computed from significands.
    #[inline(always)]
    fn add_of_any_exponents(&mut self, sums: Sums, a: &RowFactors) {
        self.values.resize(self.c.bits.len() * N, 0.0);
        any_exponents::add(sums, a, &self.b.bits, &self.c.bits, &mut self.values);
        sums.encode(&self.values, self.results.as_flattened_mut());
    }

    /// Replaces the results that are infinities or NaNs because elements are.
    #[inline(always)]
    fn replace_specials(&mut self, sums: Sums, a: &RowFactors) {
        if !self.has_special {
            return;
        }
        let Self { b, c, tops, results, .. } = self;
        let ([of_a, of_b], nan) = (sums.factors, sums.format().nan as u32);
        let nan_columns = b.nan_columns(of_b);
        for (row, (tops, results)) in tops.iter().zip(results.iter_mut()).enumerate() {
            let of_row = a.row(row);
            // A product of a NaN is one. The elements of a sparse A do not multiply all rows of B.
            let (is_nan_row, is_dense) = (of_row.has_nan(of_a), of_row.sparse_rows.is_none());
            let (mut is_other, mut is_any_other) = ([false; N], false);
            for lane in 0..N {
                let (is_special, is_nan) = (is_special(tops[lane]), is_nan_row | (is_dense & nan_columns[lane]));
                results[lane] = if is_special & is_nan { nan } else { results[lane] };
                is_other[lane] = is_special & !is_nan;
                is_any_other |= is_other[lane];
            }
            if !is_any_other {
                continue;
            }
            for lane in (0..N).filter(|lane| is_other[*lane]) {
                let products = of_row.bits().map(|(bits, row)| (of_a.number(bits), of_b.number(b.bits[row][lane])));
                let special = special(Unpack::of(sums.format()).number(c.bits[row][lane]), products);
                results[lane] = special.map_or(results[lane], |special| special.encoded(&sums.format()));
            }
        }
    }
}

/// True if a term of a sum, of which this is the greatest exponent, has an infinity or a NaN.
#[inline(always)]
fn is_special(top: i16) -> bool {
    top >= SPECIAL / 4
}

impl Sums {
    /// The sums of type `ty` of a product.
    #[inline(always)]
    pub fn of(product: &Product, ty: Accumulator) -> Self {
        let (aligned_bits, fraction) = if product.rule == Rule::Fused13Bits { (13, 13) } else { (25, 23) };
        Self { aligned_bits, fraction, ty, factors: [product.a, product.b].map(Unpack::new) }
    }

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
        let (mut units, mut total) = ([0.0; N], [0i32; N]);
        for lane in 0..N {
            let unit = power_of_two(self.aligned_bits - i32::from(top[lane]) + scale + b.scale);
            // Products with the least power would be subnormal, and arithmetic on those takes many cycles.
            units[lane] = if is_special(top[lane]) { 0.0 } else { unit };
        }
        if let Some(rows) = a.sparse_rows {
            for (value, row) in a.values.iter().zip(rows) {
                add_terms(truncation, *value, &b.values[usize::from(*row)], &units, &mut total);
            }
        } else {
            for (value, values) in a.values.iter().zip(b.values.iter()) {
                add_terms(truncation, *value, values, &units, &mut total);
            }
        }
        total
    }

    /// An element of C, in units of the last bit to which terms are truncated. An infinity or a NaN gives any number.
    #[inline(always)]
    pub fn addend(self, bits: u32, top: i32) -> i32 {
        let Format { fraction, exponent: width, .. } = self.format();
        let (field, sign) = (bits >> fraction & ((1 << width) - 1), ((bits >> (fraction + width)) as i32).wrapping_neg());
        let significand = bits & ((1 << fraction) - 1) | u32::from(field != 0) << fraction;
        let exponent = field.max(1) as i32 - ((1 << (width - 1)) - 1);
        // C in the units of the products has `missing` bits less in its fraction.
        let missing = self.aligned_bits - fraction as i32;
        let distance = top - exponent + (-missing).max(0);
        let magnitude = (significand << missing.max(0)) >> distance.clamp(0, 31);
        (magnitude as i32 ^ sign) - sign
    }

    /// The exact sum of an element of C and of products in units of the last bit below `top`: these fit in 32 bits, and with C in a double.
    #[inline(always)]
    pub fn value(self, c: u32, products: i32, top: i32) -> f64 {
        (f64::from(products) + f64::from(self.addend(c, top))) * self.power(top)
    }

    /// The value of the last bit to which terms are truncated.
    #[inline(always)]
    fn power(self, top: i32) -> f64 {
        f64::from_bits(((top.clamp(-500, 500) - self.aligned_bits + 1023) as u64) << 52)
    }

    /// Encodes sums.
    #[inline(always)]
    fn encode(self, values: &[f64], results: &mut [u32]) {
        if self.ty == Accumulator::F16 {
            for (value, result) in values.iter().zip(results) {
                *result = round::half(*value);
            }
            return;
        }
        let mut is_tiny = false;
        for (value, result) in values.iter().zip(results.iter_mut()) {
            *result = round::truncated(*value, self.fraction);
            is_tiny |= round::is_tiny(*value);
        }
        if is_tiny {
            for (value, result) in values.iter().zip(results).filter(|(value, _)| round::is_tiny(**value)) {
                *result = round::subnormal(*value);
            }
        }
    }
}

/// The greatest exponent of the terms of each column, of which those of C are `of_c`.
#[inline(always)]
fn top<const N: usize>(of_c: &[i16; N], a: Row<'_>, b: &ColumnFactors<N>) -> [i16; N] {
    let mut top = [2 * ZERO as i16; N];
    if let Some(rows) = a.sparse_rows {
        for (exponent, row) in a.exponents.iter().zip(rows) {
            raise(&mut top, *exponent, &b.exponents[usize::from(*row)]);
        }
    } else {
        for (exponent, exponents) in a.exponents.iter().zip(b.exponents.iter()) {
            // Else the compiler puts several rows of few columns into a vector, which takes twice the time.
            raise(&mut top, *exponent, if N == LANES { std::hint::black_box(exponents) } else { exponents });
        }
    }
    for lane in 0..N {
        let highest = top[lane].max(of_c[lane]);
        top[lane] = if highest < ZEROS { highest } else { highest.max(LEAST_TOP) };
    }
    top
}

/// Raises the tops to the exponents of the products of an element of A and a row of B.
#[inline(always)]
fn raise<const N: usize>(top: &mut [i16; N], exponent: i16, exponents: &[i16; N]) {
    for lane in 0..N {
        top[lane] = top[lane].max(exponent.saturating_add(exponents[lane]));
    }
}

/// Adds the products of an element of A and a row of B, truncated to integers of these units.
#[inline(always)]
fn add_terms<const N: usize, T: Truncation>(truncation: T, value: f32, values: &[f32; N], units: &[f32; N], total: &mut [i32; N]) {
    let mut scaled = [0.0; N];
    for lane in 0..N {
        scaled[lane] = value * values[lane] * units[lane];
    }
    let terms = truncation.truncated(&scaled);
    for lane in 0..N {
        total[lane] = total[lane].wrapping_add(terms[lane]);
    }
}
