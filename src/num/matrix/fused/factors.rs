//! The elements of A, B and C unpacked into significands and exponents: A as [`RowFactors`], B and C as [`ColumnNumbers`].

use std::ops::Range;

use super::super::element::{Element, INFINITE, Number, ZERO};
use super::super::product::{Operands, Product};
use crate::num::exact::Format;

/// The elements of A whose products one sum adds, in row-major order.
pub struct RowFactors {
    /// Significands, scaled to the width of the sum.
    significands: Vec<i32>,
    exponents: Vec<i32>,
    /// The row of B that each element multiplies.
    rows: Vec<u16>,
    /// True if there are infinities or NaNs.
    pub is_special: bool,
    /// Elements of a row.
    k: usize,
}

/// A row of [`RowFactors`].
#[derive(Clone, Copy)]
pub struct Row<'a> {
    significands: &'a [i32],
    exponents: &'a [i32],
    rows: &'a [u16],
}

/// An element of A.
#[derive(Clone, Copy)]
pub struct Factor {
    /// The number; its significand is scaled.
    pub number: Number,
    /// The row of B that it multiplies.
    pub row: usize,
}

/// The numbers in N adjacent columns of one row of B: what a factor of A multiplies lies together.
#[derive(Clone, Copy)]
pub struct RowNumbers<const N: usize> {
    /// Significands.
    pub significand: [i32; N],
    /// Exponents.
    pub exponent: [i32; N],
}

/// The numbers in N adjacent columns of B or C, row by row.
pub struct ColumnNumbers<const N: usize> {
    /// Significands.
    pub significands: Vec<[i32; N]>,
    /// Exponents.
    pub exponents: Vec<[i32; N]>,
}

/// The decoder for numbers of one type.
#[derive(Clone, Copy)]
pub struct Unpack {
    format: Format,
    /// The number of unused low bits in the 32-bit word.
    unused_bits: u32,
}

impl RowFactors {
    /// The elements of A in these columns, for sums with `fraction_bits` fraction bits.
    #[inline(always)]
    pub fn new(product: &Product, operands: Operands<'_>, columns: Range<usize>, fraction_bits: i32) -> RowFactors {
        let [unpack, other] = [product.a, product.b].map(Unpack::new);
        let shift = fraction_bits as u32 - unpack.format.fraction - other.format.fraction;
        let (k, zero_row) = (columns.len(), (operands.b.len() / product.n) as u16);
        let size = product.m * k;
        let (mut significands, mut exponents, mut rows) = (vec![0; size], vec![ZERO; size], vec![zero_row; size]);
        let mut lowest = 0;
        for row in 0..product.m {
            let (from, to) = (row * product.k + columns.start..row * product.k + columns.end, row * k..(row + 1) * k);
            let numbers = significands[to.clone()].iter_mut().zip(&mut exponents[to.clone()]);
            for (bits, (significand, exponent)) in operands.a[from.clone()].iter().zip(numbers) {
                let number = unpack.number(*bits);
                *significand = number.significand << shift;
                *exponent = number.exponent;
                lowest = lowest.min(number.exponent);
            }
            let rows = rows[to].iter_mut();
            match operands.sparse_rows {
                Some(sparse_rows) => rows.zip(&sparse_rows[from]).for_each(|(row, row_of_b)| *row = zero_row.min(*row_of_b)),
                None => rows.zip(columns.clone()).for_each(|(row, column)| *row = zero_row.min(column as u16)),
            }
        }
        RowFactors { significands, exponents, rows, is_special: lowest <= INFINITE, k }
    }

    /// The row with this index.
    #[inline(always)]
    pub fn row(&self, row: usize) -> Row<'_> {
        let range = row * self.k..(row + 1) * self.k;
        let (significands, exponents) = (&self.significands[range.clone()], &self.exponents[range.clone()]);
        Row { significands, exponents, rows: &self.rows[range] }
    }
}

impl<'a> Row<'a> {
    /// The elements.
    #[inline(always)]
    pub fn factors(self) -> impl Iterator<Item = Factor> + use<'a> {
        let numbers = self.significands.iter().zip(self.exponents).zip(self.rows);
        numbers.map(|((&significand, &exponent), &row)| Factor { number: Number { significand, exponent }, row: usize::from(row) })
    }
}

impl<const N: usize> ColumnNumbers<N> {
    /// No rows.
    pub fn new() -> Self {
        Self { significands: Vec::new(), exponents: Vec::new() }
    }

    /// Unpacks the numbers that are encoded in `bits`; rows after these, up to `rows`, are zeros. True if there are infinities or NaNs.
    #[inline(always)]
    pub fn unpack(&mut self, unpack: &Unpack, bits: &[[u32; N]], rows: usize) -> bool {
        self.significands.truncate(bits.len());
        self.exponents.truncate(bits.len());
        self.significands.resize(rows, [0; N]);
        self.exponents.resize(rows, [ZERO; N]);
        let (bits, mut lowest) = (bits.as_flattened(), 0);
        // One loop over all rows, whose length the compiler does not know, is vectorized; one over a few columns is unrolled instead.
        let numbers = self.significands.as_flattened_mut().iter_mut().zip(self.exponents.as_flattened_mut());
        for (bits, (significand, exponent)) in bits.iter().zip(numbers) {
            let number = unpack.number(*bits);
            *significand = number.significand;
            *exponent = number.exponent;
            lowest = lowest.min(number.exponent);
        }
        lowest <= INFINITE
    }

    /// The rows, each with its significands and exponents together.
    #[inline(always)]
    pub fn rows(&self) -> impl Iterator<Item = RowNumbers<N>> {
        self.significands.iter().zip(&self.exponents).map(|(&significand, &exponent)| RowNumbers { significand, exponent })
    }

    /// The number in one of the columns of a row.
    pub fn number(&self, row: usize, column: usize) -> Number {
        Number { significand: self.significands[row][column], exponent: self.exponents[row][column] }
    }
}

impl<const N: usize> RowNumbers<N> {
    /// The number in one of the columns.
    pub fn number(&self, column: usize) -> Number {
        Number { significand: self.significand[column], exponent: self.exponent[column] }
    }
}

impl Unpack {
    /// The decoder for elements of A or B.
    #[inline(always)]
    pub fn new(element: Element) -> Unpack {
        let (format, unused_bits) = element.format().unwrap_or((Format::F16, 0));
        Unpack { format, unused_bits }
    }

    /// The decoder for numbers of a format.
    #[inline(always)]
    pub fn of(format: Format) -> Unpack {
        Unpack { format, unused_bits: 0 }
    }

    #[inline(always)]
    fn number(&self, bits: u32) -> Number {
        Number::unpack(&self.format, bits >> self.unused_bits)
    }
}
