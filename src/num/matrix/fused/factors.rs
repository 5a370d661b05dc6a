//! The elements of A, B and C as `f32` with their exponents: A as [`RowFactors`], B and C as [`ColumnFactors`].
//!
//! All loops are over whole arrays, whose length the compiler does not know: it vectorizes those, and unrolls loops over a few columns.

use std::ops::Range;

use super::super::element::{Element, Number, ZERO};
use super::super::product::{Operands, Product};
use crate::num::exact::Format;

/// The elements of A whose products one sum adds, in row-major order.
#[derive(Default)]
pub struct RowFactors {
    /// The encoded elements.
    pub bits: Vec<u32>,
    exponents: Vec<i16>,
    values: Vec<f32>,
    /// The row of B that each element multiplies.
    rows: Vec<u16>,
    /// The greatest exponent of finite elements.
    pub highest: i32,
    /// The power of two by which the values are divided.
    pub scale: i32,
    /// Elements of a row.
    k: usize,
}

/// A row of [`RowFactors`].
#[derive(Clone, Copy)]
pub struct Row<'a> {
    bits: &'a [u32],
    exponents: &'a [i16],
    values: &'a [f32],
    /// The row of B that each element multiplies.
    pub rows: &'a [u16],
}

/// The elements in N adjacent columns of B or C, row by row.
#[derive(Default)]
pub struct ColumnFactors<const N: usize> {
    /// The encoded elements.
    pub bits: Vec<[u32; N]>,
    /// The exponents, not normalised for subnormals; of a zero, [`ZERO`]; of an infinity or a NaN, [`SPECIAL`].
    pub exponents: Vec<[i16; N]>,
    /// The values, divided by a power of two; those of infinities and NaNs are some finite numbers.
    pub values: Vec<[f32; N]>,
    /// That power of two.
    pub scale: i32,
    /// The greatest exponent of finite elements.
    pub highest: i32,
}

/// The least exponents to which the greatest elements of A and of B are scaled: products of such elements are far from infinity.
const LEAST_OF_A: i32 = 60;
const LEAST_OF_B: i32 = 40;

/// Exponent of an infinity or a NaN: far above every other.
pub const SPECIAL: i16 = 16_000;

/// The decoder for elements of one type.
#[derive(Clone, Copy)]
pub struct Unpack {
    /// Their format.
    pub format: Format,
    /// The number of unused low bits in the 32-bit word.
    unused_bits: u32,
}

impl RowFactors {
    /// Unpacks the elements of A in these columns.
    #[inline(always)]
    pub fn unpack(&mut self, product: &Product, operands: Operands<'_>, columns: Range<usize>) {
        let Self { bits, exponents, values, rows, highest, scale, k } = self;
        *k = columns.len();
        bits.clear();
        for row in operands.a.chunks_exact(product.k) {
            bits.extend_from_slice(&row[columns.clone()]);
        }
        exponents.resize(bits.len(), 0);
        values.resize(bits.len(), 0.0);
        let unpack = Unpack::new(product.a);
        let greatest = unpack.unpack(bits, exponents, values);
        (*highest, *scale) = (greatest, unpack.scale(values, greatest, LEAST_OF_A));
        let zero_row = (operands.b.len() / product.n) as u16;
        rows.clear();
        match operands.sparse_rows {
            Some(sparse_rows) => {
                for row in sparse_rows.chunks_exact(product.k) {
                    rows.extend_from_slice(&row[columns.clone()]);
                }
            }
            None => {
                for _ in 0..product.m {
                    rows.extend(columns.start as u16..columns.end as u16);
                }
            }
        }
        for row in rows {
            *row = zero_row.min(*row);
        }
    }

    /// The row with this index.
    #[inline(always)]
    pub fn row(&self, row: usize) -> Row<'_> {
        let range = row * self.k..(row + 1) * self.k;
        Row {
            bits: &self.bits[range.clone()],
            exponents: &self.exponents[range.clone()],
            values: &self.values[range.clone()],
            rows: &self.rows[range],
        }
    }
}

impl<'a> Row<'a> {
    /// The encoded elements, and the row of B that each multiplies.
    pub fn bits(self) -> impl Iterator<Item = (u32, usize)> + Clone + use<'a> {
        self.bits.iter().copied().zip(self.rows.iter().map(|row| usize::from(*row)))
    }

    /// The exponents, and the row of B that each multiplies.
    #[inline(always)]
    pub fn exponents(self) -> impl Iterator<Item = (i16, usize)> + use<'a> {
        self.exponents.iter().copied().zip(self.rows.iter().map(|row| usize::from(*row)))
    }

    /// The values, and the row of B that each multiplies.
    #[inline(always)]
    pub fn values(self) -> impl Iterator<Item = (f32, usize)> + use<'a> {
        self.values.iter().copied().zip(self.rows.iter().map(|row| usize::from(*row)))
    }
}

impl<const N: usize> ColumnFactors<N> {
    /// Unpacks the first N of the `columns` of B, which ends with the last of them, and a row of zeros after it, for elements of a sparse A
    /// without a row of B.
    #[inline(always)]
    pub fn unpack_b(&mut self, unpack: Unpack, b: &[u32], columns: Range<usize>) {
        self.unpack(unpack, b, columns, 1);
        self.scale = unpack.scale(self.values.as_flattened_mut(), self.highest, LEAST_OF_B);
    }

    /// Unpacks the first N of the `columns` of C, which ends with the last of them.
    #[inline(always)]
    pub fn unpack_c(&mut self, unpack: Unpack, c: &[u32], columns: Range<usize>) {
        self.unpack(unpack, c, columns, 0);
    }

    #[inline(always)]
    fn unpack(&mut self, unpack: Unpack, matrix: &[u32], columns: Range<usize>, zeros: usize) {
        let Self { bits, exponents, values, highest, .. } = self;
        bits.clear();
        for row in matrix.chunks_exact(columns.end) {
            bits.extend(row[columns.clone()].first_chunk());
        }
        bits.resize(bits.len() + zeros, [0; N]);
        exponents.resize(bits.len(), [0; N]);
        values.resize(bits.len(), [0.0; N]);
        *highest = unpack.unpack(bits.as_flattened(), exponents.as_flattened_mut(), values.as_flattened_mut());
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

    /// The number that is encoded in `bits`.
    #[inline(always)]
    pub fn number(self, bits: u32) -> Number {
        Number::unpack(&self.format, bits >> self.unused_bits)
    }

    /// Unpacks the elements that are encoded in `bits`, and returns the greatest exponent of finite ones.
    #[inline(always)]
    fn unpack(self, bits: &[u32], exponents: &mut [i16], values: &mut [f32]) -> i32 {
        let Format { fraction, exponent: width, largest, .. } = self.format;
        let (sign, bias) = (fraction + width, (1 << (width - 1)) - 1);
        // The fields of an element in their places in an `f32` are its value, but for the bias.
        let scale = power_of_two(127 - bias);
        let mut highest = ZERO;
        for (bits, (to, value)) in bits.iter().zip(exponents.iter_mut().zip(values)) {
            let bits = *bits >> self.unused_bits;
            let magnitude = bits & ((1 << sign) - 1);
            let exponent = ((magnitude >> fraction) as i32).max(1) - bias;
            let exponent = if magnitude == 0 { ZERO } else { exponent };
            let is_special = magnitude > largest as u32;
            highest = highest.max(if is_special { ZERO } else { exponent });
            *to = if is_special { SPECIAL } else { exponent as i16 };
            *value = f32::from_bits(magnitude << (23 - fraction) | bits >> sign << 31) * scale;
        }
        highest
    }

    /// If products of elements may have exponents beyond those of `f32`, multiplies the values by a power of two, so that the greatest of
    /// them, which has the exponent `highest`, has at least the exponent `least`: then few products underflow. Returns the power by which
    /// the values are divided.
    #[inline(always)]
    fn scale(self, values: &mut [f32], highest: i32, least: i32) -> i32 {
        if self.format.exponent < Format::F32.exponent || highest <= ZERO || highest >= least {
            return 0;
        }
        let power = (least - highest).min(127);
        for value in values {
            *value *= power_of_two(power);
        }
        -power
    }
}

/// 2^`exponent`, or the nearest power of two that is normal.
#[inline(always)]
pub fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent.clamp(-126, 127) + 127) as u32) << 23)
}
