//! Sums of numbers of any exponents, computed from significands. Every step is a separate loop over arrays, which the compiler vectorizes.

use super::super::element::{Number, ZERO};
use super::block::{LEAST_TOP, Sums};
use super::factors::{Row, RowFactors, Unpack};

/// The elements of A as significands and exponents, in row-major order.
struct RowNumbers {
    significands: Vec<i32>,
    exponents: Vec<i32>,
}

/// Numbers in N adjacent columns, row by row.
struct ColumnNumbers<const N: usize> {
    significands: Vec<[i32; N]>,
    exponents: Vec<[i32; N]>,
}

impl RowNumbers {
    /// The numbers of A.
    #[inline(always)]
    fn new(a: &RowFactors, unpack: Unpack) -> Self {
        let (mut significands, mut exponents) = (vec![0; a.bits.len()], vec![ZERO; a.bits.len()]);
        unpack.numbers(&a.bits, &mut significands, &mut exponents);
        Self { significands, exponents }
    }

    /// The numbers of the row with this index, and the row of B that each multiplies.
    #[inline(always)]
    fn row<'a>(&'a self, index: usize, row: Row<'a>) -> impl Iterator<Item = (Number, usize)> + use<'a> {
        let k = row.values.len();
        let (significands, exponents) = (&self.significands[index * k..(index + 1) * k], &self.exponents[index * k..(index + 1) * k]);
        let numbers = significands.iter().zip(exponents).map(|(&significand, &exponent)| Number { significand, exponent });
        numbers.enumerate().map(move |(element, number)| (number, row.row_of(element)))
    }
}

impl<const N: usize> ColumnNumbers<N> {
    /// The numbers that are encoded in `bits`.
    #[inline(always)]
    fn new(unpack: Unpack, bits: &[[u32; N]]) -> Self {
        let (mut significands, mut exponents) = (vec![[0; N]; bits.len()], vec![[ZERO; N]; bits.len()]);
        unpack.numbers(bits.as_flattened(), significands.as_flattened_mut(), exponents.as_flattened_mut());
        Self { significands, exponents }
    }
}

/// Sets `values` to the sums of the products of A, B and of C.
#[inline(always)]
pub fn add<const N: usize>(sums: Sums, a: &RowFactors, b: &[[u32; N]], c_bits: &[[u32; N]], values: &mut [f64]) {
    let [of_a, of_b] = sums.factors;
    let (numbers, b, c) = (RowNumbers::new(a, of_a), ColumnNumbers::new(of_b, b), ColumnNumbers::new(Unpack::of(sums.format()), c_bits));
    let (mut tops, mut products) = (vec![[0; N]; c.exponents.len()], vec![[0; N]; c.exponents.len()]);
    for row in 0..tops.len() {
        let top = top(&c.exponents[row], numbers.row(row, a.row(row)), &b);
        products[row] = self::products(sums, &top, numbers.row(row, a.row(row)), &b);
        tops[row] = top;
    }
    let terms = c_bits.as_flattened().iter().zip(products.as_flattened().iter().zip(tops.as_flattened()));
    for ((c, (products, top)), value) in terms.zip(values) {
        *value = sums.value(*c, *products, *top);
    }
}

/// The greatest exponent of the terms of each column, of which those of C are `of_c`.
#[inline(always)]
fn top<const N: usize>(of_c: &[i32; N], a: impl Iterator<Item = (Number, usize)>, b: &ColumnNumbers<N>) -> [i32; N] {
    let mut top = [2 * ZERO; N];
    for (number, row) in a {
        let exponents = &b.exponents[row];
        for lane in 0..N {
            top[lane] = top[lane].max(number.exponent + exponents[lane]);
        }
    }
    for lane in 0..N {
        top[lane] = top[lane].max(of_c[lane]).max(i32::from(LEAST_TOP));
    }
    top
}

/// The sums of the products, in units of the last bit to which terms are truncated.
#[inline(always)]
fn products<const N: usize>(sums: Sums, top: &[i32; N], a: impl Iterator<Item = (Number, usize)>, b: &ColumnNumbers<N>) -> [i32; N] {
    let [of_a, of_b] = &sums.factors;
    let shift = sums.aligned_bits as u32 - of_a.format.fraction - of_b.format.fraction;
    let mut total = [0i32; N];
    for (number, row) in a {
        let (significands, exponents) = (&b.significands[row], &b.exponents[row]);
        let significand = number.significand << shift;
        for lane in 0..N {
            let product = significand.wrapping_mul(significands[lane]);
            let distance = top[lane] - number.exponent - exponents[lane];
            // A negative number is shifted as its ones' complement, which truncates it towards zero.
            let sign = product >> 31;
            let term = (product.wrapping_add(sign) >> (distance as u32).min(31)).wrapping_sub(sign);
            total[lane] = total[lane].wrapping_add(term);
        }
    }
    total
}

impl Unpack {
    /// Unpacks the numbers that are encoded in `bits`.
    #[inline(always)]
    fn numbers(self, bits: &[u32], significands: &mut [i32], exponents: &mut [i32]) {
        for (bits, (significand, exponent)) in bits.iter().zip(significands.iter_mut().zip(exponents)) {
            let number = self.number(*bits);
            (*significand, *exponent) = (number.significand, number.exponent);
        }
    }
}
