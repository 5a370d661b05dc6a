//! The elements of A, B and C as `f32` with their exponents: A as [`RowFactors`], B and C as [`ColumnFactors`].
//!
//! All loops are over whole arrays, whose length the compiler does not know: it vectorizes those, and unrolls loops over a few columns.

use std::ops::Range;

use aligned_vec::{AVec, ConstAlign};

use super::super::element::{Element, Number, ZERO, greatest};
use super::super::product::{Operands, Product};
use crate::num::exact::Format;

/// An array whose vectors do not lie across two lines of the cache.
pub type Aligned<T> = AVec<T, ConstAlign<64>>;

/// The elements of A whose products one sum adds, in row-major order.
#[derive(Default)]
pub struct RowFactors {
    /// The encoded elements.
    pub bits: Vec<u32>,
    exponents: Vec<i16>,
    values: Vec<f32>,
    /// For a sparse A: the row of B that each element multiplies.
    sparse_rows: Vec<u16>,
    /// The greatest exponent of finite elements.
    pub highest: i32,
    /// The power of two by which the values are divided.
    pub scale: i32,
    /// Elements of a row.
    k: usize,
    /// The type of the elements, if they are a whole dense A.
    whole: Option<Element>,
}

/// A row of [`RowFactors`].
#[derive(Clone, Copy)]
pub struct Row<'a> {
    bits: &'a [u32],
    /// The exponents of its elements.
    pub exponents: &'a [i16],
    /// The values of its elements.
    pub values: &'a [f32],
    /// The row of B that each element multiplies, if A is sparse; otherwise the elements multiply one row after the other.
    pub sparse_rows: Option<&'a [u16]>,
}

/// The elements in N adjacent columns of B, row by row, and a row of zeros for elements of a sparse A without a row of B.
pub struct ColumnFactors<const N: usize> {
    /// The encoded elements.
    pub bits: Aligned<[u32; N]>,
    /// The exponents, not normalised for subnormals; of a zero, [`ZERO`]; of an infinity or a NaN, [`SPECIAL`].
    pub exponents: Aligned<[i16; N]>,
    /// The values, divided by a power of two; those of infinities and NaNs are some finite numbers.
    pub values: Aligned<[f32; N]>,
    /// That power of two.
    pub scale: i32,
    /// The greatest exponent of finite elements.
    pub highest: i32,
}

/// The elements in N adjacent columns of C, row by row.
pub struct Addends<const N: usize> {
    /// The encoded elements.
    pub bits: Aligned<[u32; N]>,
    /// The exponents, not normalised for subnormals; of a zero, [`ZERO`]; of an infinity or a NaN, [`SPECIAL`].
    pub exponents: Aligned<[i16; N]>,
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
    /// Unpacks the elements of A in these columns. Parts of one product have the same A one after the other.
    #[inline(always)]
    pub fn unpack(&mut self, product: &Product, operands: Operands<'_>, columns: Range<usize>) {
        let Self { bits, exponents, values, sparse_rows, highest, scale, k, whole } = self;
        let of_whole = (operands.sparse_rows.is_none() && columns.len() == product.k).then_some(product.a);
        if of_whole.is_some() && *whole == of_whole && *k == columns.len() && bits == operands.a {
            return;
        }
        (*whole, *k) = (of_whole, columns.len());
        bits.clear();
        for row in operands.a.chunks_exact(product.k) {
            bits.extend_from_slice(&row[columns.clone()]);
        }
        exponents.resize(bits.len(), 0);
        values.resize(bits.len(), 0.0);
        let unpack = Unpack::new(product.a);
        let greatest = unpack.unpack(bits, exponents, values);
        (*highest, *scale) = (greatest, unpack.scale(values, greatest, LEAST_OF_A));
        sparse_rows.clear();
        let zero_row = (operands.b.len() / product.n) as u16;
        for row in operands.sparse_rows.unwrap_or_default().chunks_exact(product.k) {
            sparse_rows.extend(row[columns.clone()].iter().map(|row| zero_row.min(*row)));
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
            sparse_rows: self.sparse_rows.get(range),
        }
    }
}

impl<'a> Row<'a> {
    /// The encoded elements, and the row of B that each multiplies.
    pub fn bits(self) -> impl Iterator<Item = (u32, usize)> + Clone + use<'a> {
        self.bits.iter().enumerate().map(move |(element, bits)| (*bits, self.row_of(element)))
    }

    /// True if one of its elements, which `unpack` decodes, is a NaN.
    #[inline(always)]
    pub fn has_nan(self, unpack: Unpack) -> bool {
        let mut found = false;
        for bits in self.bits {
            found |= unpack.is_nan(*bits);
        }
        found
    }

    /// The row of B that an element multiplies.
    #[inline(always)]
    pub fn row_of(self, element: usize) -> usize {
        self.sparse_rows.map_or(element, |rows| usize::from(rows[element]))
    }
}

impl<const N: usize> ColumnFactors<N> {
    /// Without elements.
    pub fn new() -> Self {
        Self { bits: Aligned::new(0), exponents: Aligned::new(0), values: Aligned::new(0), scale: 0, highest: 0 }
    }

    /// Unpacks the first N of the `columns` of B, which ends with the last of them.
    #[inline(always)]
    pub fn unpack(&mut self, unpack: Unpack, matrix: &[u32], columns: Range<usize>) {
        let Self { bits, exponents, values, scale, highest } = self;
        let rows = matrix.len() / columns.end;
        bits.resize(rows + 1, [0; N]);
        bits[rows] = [0; N];
        copy_columns(matrix, columns, bits);
        exponents.resize(bits.len(), [0; N]);
        values.resize(bits.len(), [0.0; N]);
        *highest = unpack.unpack(bits.as_flattened(), exponents.as_flattened_mut(), values.as_flattened_mut());
        *scale = unpack.scale(values.as_flattened_mut(), *highest, LEAST_OF_B);
    }

    /// True for the columns with an element, which `unpack` decodes, that is a NaN.
    #[inline(always)]
    pub fn nan_columns(&self, unpack: Unpack) -> [bool; N] {
        let mut found = [false; N];
        for row in self.bits.iter() {
            for lane in 0..N {
                found[lane] |= unpack.is_nan(row[lane]);
            }
        }
        found
    }
}

impl<const N: usize> Addends<N> {
    /// Without elements.
    pub fn new() -> Self {
        Self { bits: Aligned::new(0), exponents: Aligned::new(0) }
    }

    /// Unpacks the first N of the `columns` of C, which ends with the last of them.
    #[inline(always)]
    pub fn unpack(&mut self, unpack: Unpack, matrix: &[u32], columns: Range<usize>) {
        self.bits.resize(matrix.len() / columns.end, [0; N]);
        copy_columns(matrix, columns, &mut self.bits);
        self.exponents.resize(self.bits.len(), [0; N]);
        unpack.unpack_exponents(self.bits.as_flattened(), self.exponents.as_flattened_mut());
    }
}

/// Copies the first N of the `columns` of a matrix, which ends with the last of them.
#[inline(always)]
fn copy_columns<const N: usize>(matrix: &[u32], columns: Range<usize>, to: &mut [[u32; N]]) {
    for (row, to) in matrix.chunks_exact(columns.end).zip(to) {
        to.copy_from_slice(&row[columns.start..columns.start + N]);
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
        let Format { fraction, exponent: width, .. } = self.format;
        let sign = fraction + width;
        let (rebias, least) = ((127 - self.bias()) as u32, power_of_two(1 - self.bias()));
        let mut highest = ZERO;
        for (bits, (to, value)) in bits.iter().zip(exponents.iter_mut().zip(values)) {
            let bits = *bits >> self.unused_bits;
            let magnitude = bits & ((1 << sign) - 1);
            let (exponent, is_special) = (self.exponent(magnitude), self.is_special(magnitude));
            highest = highest.max(if is_special { ZERO } else { exponent });
            *to = if is_special { SPECIAL } else { exponent as i16 };
            // The fields of an element in their places in an `f32` are its value, but for the bias. A subnormal is what it adds to the
            // least normal number: arithmetic on subnormals of `f32` takes many cycles.
            let is_subnormal = magnitude >> fraction == 0;
            let raised = f32::from_bits((magnitude << (23 - fraction)) + ((rebias + u32::from(is_subnormal)) << 23));
            let absolute = raised - if is_subnormal { least } else { 0.0 };
            *value = f32::from_bits(absolute.to_bits() | bits >> sign << 31);
        }
        highest
    }

    /// Sets the exponents of the elements that are encoded in `bits`.
    #[inline(always)]
    fn unpack_exponents(self, bits: &[u32], exponents: &mut [i16]) {
        for (bits, to) in bits.iter().zip(exponents) {
            let magnitude = self.magnitude(*bits);
            *to = if self.is_special(magnitude) { SPECIAL } else { self.exponent(magnitude) as i16 };
        }
    }

    /// The exponent of a finite number, not normalised for subnormals; of a zero, [`ZERO`].
    #[inline(always)]
    fn exponent(self, magnitude: u32) -> i32 {
        let exponent = ((magnitude >> self.format.fraction) as i32).max(1) - self.bias();
        if magnitude == 0 { ZERO } else { exponent }
    }

    /// True for an infinity or a NaN.
    #[inline(always)]
    fn is_special(self, magnitude: u32) -> bool {
        magnitude > self.format.largest as u32
    }

    /// The encoding of an element without its sign.
    #[inline(always)]
    fn magnitude(self, bits: u32) -> u32 {
        bits >> self.unused_bits & ((1 << (self.format.fraction + self.format.exponent)) - 1)
    }

    /// True for a NaN.
    #[inline(always)]
    fn is_nan(self, bits: u32) -> bool {
        self.magnitude(bits) > greatest(&self.format)
    }

    #[inline(always)]
    fn bias(self) -> i32 {
        (1 << (self.format.exponent - 1)) - 1
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
