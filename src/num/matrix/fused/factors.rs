//! The elements of A, B and C unpacked into significands and exponents: those of A as [`RowFactors`], those of B and C as [`Line`]s.

use std::ops::Range;

use super::super::element::{Element, INFINITE, Number, ZERO};
use super::super::product::{Operands, Product};
use crate::num::exact::Format;

/// The elements of A that one sum adds products of, row by row.
pub struct RowFactors {
    /// Significands, scaled to the width of the sum.
    significands: Vec<i32>,
    exponents: Vec<i32>,
    /// The row of B that each multiplies.
    rows: Vec<u16>,
    /// Whether there are infinities or NaNs.
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

/// Neighbouring columns of a row of B or C.
#[derive(Clone, Copy)]
pub struct Line<const N: usize> {
    /// Significands.
    pub significand: [i32; N],
    /// Exponents.
    pub exponent: [i32; N],
}

/// How numbers of one type are unpacked.
#[derive(Clone, Copy)]
pub struct Unpack {
    format: Format,
    /// Bits of the 32 below the number.
    below: u32,
}

impl RowFactors {
    /// The elements of A in these columns, for sums with `fraction_bits` bits below the greatest exponent.
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

    /// A row.
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

impl<const N: usize> Line<N> {
    /// Zeros.
    pub const ZEROS: Line<N> = Line { significand: [0; N], exponent: [ZERO; N] };

    /// Unpacks the numbers that are encoded in `bits`. True if there are infinities or NaNs.
    #[inline(always)]
    pub fn unpack(&mut self, unpack: &Unpack, bits: &[u32; N]) -> bool {
        let mut is_special = false;
        for column in 0..N {
            let number = unpack.number(bits[column]);
            self.significand[column] = number.significand;
            self.exponent[column] = number.exponent;
            is_special |= number.is_special();
        }
        is_special
    }

    /// One of the columns.
    pub fn number(&self, column: usize) -> Number {
        Number { significand: self.significand[column], exponent: self.exponent[column] }
    }
}

impl Unpack {
    /// Of elements of A or B.
    #[inline(always)]
    pub fn new(element: Element) -> Unpack {
        let (format, below) = element.format().unwrap_or((Format::F16, 0));
        Unpack { format, below }
    }

    /// Of numbers of a format.
    #[inline(always)]
    pub fn of(format: Format) -> Unpack {
        Unpack { format, below: 0 }
    }

    #[inline(always)]
    fn number(&self, bits: u32) -> Number {
        Number::unpack(&self.format, bits >> self.below)
    }
}
