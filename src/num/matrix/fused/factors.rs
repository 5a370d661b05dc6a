//! A and B, taken apart into significands and exponents.

use super::super::element::{INFINITE, Number, ZERO};
use super::super::{Element, Operands, Product};
use crate::num::exact::Format;

/// Those elements of A that take part in one sum, row by row.
pub struct Factors {
    /// Significands, scaled to the width of the sum.
    significands: Vec<i32>,
    exponents: Vec<i32>,
    /// The rows of B that they meet.
    met: Vec<u16>,
    /// Whether there are infinities or NaNs.
    pub is_special: bool,
    /// Elements of a row.
    k: usize,
}

/// A row of [`Factors`].
#[derive(Clone, Copy)]
pub struct Row<'a> {
    significands: &'a [i32],
    exponents: &'a [i32],
    met: &'a [u16],
}

/// An element of A.
#[derive(Clone, Copy)]
pub struct Factor {
    /// The number; its significand is scaled.
    pub number: Number,
    /// The row of B that it meets.
    pub met: usize,
}

/// Neighbouring columns of a row of B or C.
#[derive(Clone, Copy)]
pub struct Line<const N: usize> {
    /// Significands.
    pub significand: [i32; N],
    /// Exponents.
    pub exponent: [i32; N],
}

/// How numbers of one type are taken apart.
#[derive(Clone, Copy)]
pub struct Unpack {
    format: Format,
    /// Bits of a word below the number.
    below: u32,
}

impl Factors {
    /// The elements of A in these columns, for sums that keep `kept` bits below the greatest exponent.
    #[inline(always)]
    pub fn new(product: &Product, operands: Operands<'_>, columns: &[usize], kept: i32) -> Factors {
        let [unpack, other] = [product.a, product.b].map(Unpack::new);
        let shift = kept as u32 - unpack.format.fraction - other.format.fraction;
        let (k, behind) = (columns.len(), operands.b.len() / product.n);
        let (mut bits, mut met) = (Vec::with_capacity(product.m * k), Vec::with_capacity(product.m * k));
        for row in 0..product.m {
            for column in columns {
                let place = row * product.k + column;
                bits.push(operands.a[place]);
                met.push(operands.kept.map_or(*column, |kept| usize::from(kept[place])).min(behind) as u16);
            }
        }
        let (mut significands, mut exponents) = (vec![0; bits.len()], vec![ZERO; bits.len()]);
        for (bits, (significand, exponent)) in bits.iter().zip(significands.iter_mut().zip(&mut exponents)) {
            let number = unpack.number(*bits);
            *significand = number.significand << shift;
            *exponent = number.exponent;
        }
        let is_special = exponents.iter().any(|exponent| *exponent <= INFINITE);
        Factors { significands, exponents, met, is_special, k }
    }

    /// A row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> Row<'_> {
        let range = row * self.k..(row + 1) * self.k;
        let (significands, exponents) = (&self.significands[range.clone()], &self.exponents[range.clone()]);
        Row { significands, exponents, met: &self.met[range] }
    }
}

impl<'a> Row<'a> {
    /// The elements.
    #[inline(always)]
    pub fn factors(self) -> impl Iterator<Item = Factor> + use<'a> {
        let numbers = self.significands.iter().zip(self.exponents).zip(self.met);
        numbers.map(|((&significand, &exponent), &met)| Factor { number: Number { significand, exponent }, met: usize::from(met) })
    }
}

impl<const N: usize> Line<N> {
    /// Zeros.
    pub const ZEROS: Line<N> = Line { significand: [0; N], exponent: [ZERO; N] };

    /// The numbers that are encoded in `bits`.
    #[inline(always)]
    pub fn new(unpack: &Unpack, bits: &[u32; N]) -> Line<N> {
        let mut line = Line::ZEROS;
        for lane in 0..N {
            let number = unpack.number(bits[lane]);
            line.significand[lane] = number.significand;
            line.exponent[lane] = number.exponent;
        }
        line
    }

    /// Whether there are infinities or NaNs.
    #[inline(always)]
    pub fn is_special(&self) -> bool {
        let mut is_special = false;
        for exponent in &self.exponent {
            is_special |= *exponent <= INFINITE;
        }
        is_special
    }

    /// One of the columns.
    pub fn number(&self, lane: usize) -> Number {
        Number { significand: self.significand[lane], exponent: self.exponent[lane] }
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
