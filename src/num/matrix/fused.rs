//! The fused sum: all terms are aligned to the greatest exponent among them, cut there towards zero, added exactly, and rounded once.
//!
//! A term is a product of two numbers as they are encoded, or C; neither subnormal numbers nor products are normalised first, and terms
//! that are zero do not take part in the choice of the exponent. A row of A meets a block of columns at a time, in loops over columns
//! that the compiler vectorizes. Infinities and NaNs are rare: they are decoded into exponents far below all others, do no harm in the
//! sums, and replace the results afterwards.

use super::element::{INFINITE, NOT_A_NUMBER, Number, ZERO, nearest, value, widened};
use super::{Accumulator, Element, LANES, Operands, Product, Rule};
use crate::num::exact::Format;
use crate::num::half::F16;

/// Columns of a block at most.
const BLOCK: usize = 64;

/// A value for each column of a block; those behind its last column mean nothing.
type Columns<T> = [T; BLOCK];

/// An element of A, prepared: its significand is scaled to the width of the sum.
#[derive(Clone, Copy)]
struct Factor {
    number: Number,
    /// The row of B that it meets, or the one behind the last, which has zeros.
    row: usize,
}

/// Some columns of B, row by row, and behind the last row one of zeros.
struct Block {
    /// How many columns: a multiple of [`LANES`], at most [`BLOCK`].
    columns: usize,
    significand: Vec<i32>,
    exponent: Vec<i32>,
    /// Whether there are infinities or NaNs.
    is_special: bool,
}

/// How sums are made.
#[derive(Clone, Copy)]
struct Sums {
    /// Fraction bits that are kept below the greatest exponent.
    kept: i32,
    /// Fraction bits of an `f32` result.
    fraction: u32,
    /// Type of the sums, and of what they start with.
    ty: Accumulator,
}

/// Fills `d` by the product's rule, which is one of fused sums.
#[inline(always)]
pub fn multiply(product: &Product, operands: Operands<'_>, d: &mut [u32]) {
    let narrow = product.rule == Rule::FusedNarrow;
    let ty = if product.c == product.d { product.d } else { Accumulator::F32 };
    let sums = if narrow { Sums { kept: 13, fraction: 13, ty } } else { Sums { kept: 25, fraction: 23, ty } };
    let steps = Steps::new(product);
    let a = factors(product, operands, &steps, sums.kept);
    for first in (0..product.n).step_by(BLOCK) {
        let b = Block::new(product, operands.b, first);
        for (row, a) in a.chunks_exact(product.k).enumerate() {
            let place = row * product.n + first..row * product.n + first + b.columns;
            fill(product, sums, a.split_at(steps.first), &b, (&operands.c[place.clone()], &mut d[place]));
        }
    }
}

/// A row of a block of D: the sums of the elements of A one after the other, each of which starts with the one before.
#[inline(always)]
fn fill(product: &Product, sums: Sums, (first, second): (&[Factor], &[Factor]), b: &Block, (c, d): (&[u32], &mut [u32])) {
    let is_added_last = product.rule == Rule::Widened;
    let mut start = [0; BLOCK];
    if !is_added_last {
        for (start, c) in start.iter_mut().zip(c) {
            *start = if product.c == sums.ty { *c } else { nearest(sums.ty, value(product.c, *c)) };
        }
    }
    let mut result = sums.sum(start, first, b);
    if !second.is_empty() {
        result = sums.sum(result, second, b);
    }
    for ((d, c), result) in d.iter_mut().zip(c).zip(result) {
        *d = match () {
            () if is_added_last => nearest(sums.ty, value(product.c, *c) + value(sums.ty, result)),
            () if product.d == sums.ty => result,
            () => nearest(product.d, value(sums.ty, result)),
        };
    }
}

/// Which elements of a row of A form one sum: the first `first`, then the others; in the order that [`Steps::source`] puts them.
struct Steps {
    first: usize,
    by_pairs: bool,
}

impl Steps {
    #[inline(always)]
    fn new(product: &Product) -> Steps {
        let by_pairs = product.rule == Rule::Widened;
        let halves = by_pairs || product.rule == Rule::FusedHalves;
        Steps { first: if halves { product.k / 2 } else { product.k }, by_pairs }
    }

    /// The element of a row that stands at `index` once the elements of a sum stand together.
    #[inline(always)]
    fn source(&self, index: usize) -> usize {
        if !self.by_pairs {
            return index;
        }
        let (index, odd) = if index < self.first { (index, 0) } else { (index - self.first, 2) };
        index / 2 * 4 + index % 2 + odd
    }
}

/// The elements of A in the order of their sums.
#[inline(always)]
fn factors(product: &Product, operands: Operands<'_>, steps: &Steps, kept: i32) -> Vec<Factor> {
    let unpack = Unpack::new(product.a, product.rule);
    let fraction = unpack.format.fraction + Unpack::new(product.b, product.rule).format.fraction;
    let shift = kept as u32 - fraction;
    let (k, depth) = (product.k, operands.b.len() / product.n);
    let mut factors = Vec::with_capacity(product.m * k);
    for (row, elements) in operands.a.chunks_exact(k).enumerate() {
        for index in 0..k {
            let source = steps.source(index);
            let number = unpack.number(elements[source]);
            let significand = if number.is_special() { number.significand } else { number.significand << shift };
            let met = operands.row_met(row * k + source, k).min(depth);
            factors.push(Factor { number: Number { significand, ..number }, row: met });
        }
    }
    factors
}

/// How elements of one type are taken apart under a rule.
struct Unpack {
    element: Element,
    format: Format,
    below: u32,
    widened: bool,
}

impl Unpack {
    #[inline(always)]
    fn new(element: Element, rule: Rule) -> Unpack {
        let widened = rule == Rule::Widened;
        let (format, below) = element.format().filter(|_| !widened).unwrap_or((Format::F16, 0));
        Unpack { element, format, below, widened }
    }

    #[inline(always)]
    fn number(&self, bits: u32) -> Number {
        let bits = if self.widened { widened(self.element, bits) } else { bits >> self.below };
        Number::unpack(&self.format, bits)
    }
}

impl Block {
    /// The columns from `first` on.
    #[inline(always)]
    fn new(product: &Product, b: &[u32], first: usize) -> Block {
        let unpack = Unpack::new(product.b, product.rule);
        let columns = BLOCK.min(product.n - first) / LANES * LANES;
        let size = (b.len() / product.n + 1) * columns;
        let (mut significand, mut exponent) = (vec![0; size], vec![ZERO; size]);
        let mut lowest = 0;
        let rows = significand.chunks_exact_mut(columns).zip(exponent.chunks_exact_mut(columns));
        for ((significand, exponent), row) in rows.zip(b.chunks_exact(product.n)) {
            for ((significand, exponent), bits) in significand.iter_mut().zip(exponent).zip(&row[first..first + columns]) {
                let number = unpack.number(*bits);
                *significand = number.significand;
                *exponent = number.exponent;
                lowest = lowest.min(number.exponent);
            }
        }
        Block { columns, significand, exponent, is_special: lowest <= INFINITE }
    }

    /// Significands and exponents of a row.
    #[inline(always)]
    fn row(&self, row: usize) -> (&[i32], &[i32]) {
        let range = row * self.columns..(row + 1) * self.columns;
        (&self.significand[range.clone()], &self.exponent[range])
    }

    fn number(&self, row: usize, column: usize) -> Number {
        let (significand, exponent) = self.row(row);
        Number { significand: significand[column], exponent: exponent[column] }
    }
}

impl Sums {
    /// One fused sum for each column: the elements of `a` times what they meet in `b`, and C.
    #[inline(always)]
    fn sum(self, c: Columns<u32>, a: &[Factor], b: &Block) -> Columns<u32> {
        // Whole vectors, which spares the compiler a loop over the rest.
        let columns = b.columns.min(BLOCK) / LANES * LANES;
        let addends = match self.ty {
            Accumulator::F16 => Addends::new(&c[..columns], &Format::F16),
            _ => Addends::new(&c[..columns], &Format::F32),
        };
        let mut top = addends.exponent;
        top.iter_mut().for_each(|top| *top = (*top).max(2 * ZERO));
        let mut is_special = b.is_special || addends.is_special;
        for factor in a {
            let (_, exponent) = b.row(factor.row);
            for (top, exponent) in top[..columns].iter_mut().zip(exponent) {
                *top = (*top).max(factor.number.exponent + exponent);
            }
        }
        let mut total = [0i32; BLOCK];
        for factor in a {
            is_special |= factor.number.is_special();
            let (significand, exponent) = b.row(factor.row);
            let columns = total[..columns].iter_mut().zip(&top[..columns]).zip(significand.iter().zip(exponent));
            for ((total, top), (significand, exponent)) in columns {
                let product = factor.number.significand.wrapping_mul(*significand);
                let distance = top - factor.number.exponent - exponent;
                let term = (product.unsigned_abs() >> distance.min(31)) as i32;
                // The sign of the product, as all ones or zeros.
                let sign = product >> 31;
                *total = total.wrapping_add((term ^ sign).wrapping_sub(sign));
            }
        }
        // Products alone fit in 32 bits, and with C in a double.
        let mut values = [0.0; BLOCK];
        for column in 0..columns {
            let addend = addends.aligned(column, top[column], self.kept);
            let power = top[column].max(-500) - self.kept;
            values[column] = (f64::from(total[column]) + f64::from(addend)) * f64::from_bits(((power + 1023) as u64) << 52);
        }
        let mut result = self.rounded(&values[..columns]);
        if is_special {
            self.replace_specials(&mut result[..columns], &addends, a, b);
        }
        result
    }

    /// The encodings of exact sums.
    #[inline(always)]
    fn rounded(self, values: &[f64]) -> Columns<u32> {
        let mut result = [0; BLOCK];
        if self.ty == Accumulator::F16 {
            for (result, value) in result.iter_mut().zip(values) {
                // What rounds to zero has no sign.
                *result = u32::from(F16::from_f64(*value).0) & if value.abs() > HALF_OF_SMALLEST { 0xffff } else { 0x7fff };
            }
            return result;
        }
        let mut is_tiny = false;
        for (result, value) in result.iter_mut().zip(values) {
            is_tiny |= value.abs() < TINY && *value != 0.0;
            *result = truncated(*value, self.fraction);
        }
        if is_tiny {
            result.iter_mut().zip(values).filter(|(_, value)| value.abs() < TINY).for_each(|(result, value)| *result = subnormal(*value));
        }
        result
    }

    /// Puts infinities and NaNs where the operands make them: a NaN, or a product of an infinity and zero, or infinities of both signs
    /// make a NaN; other infinities stay.
    #[inline(never)]
    fn replace_specials(self, result: &mut [u32], c: &Addends, a: &[Factor], b: &Block) {
        for (column, result) in result.iter_mut().enumerate() {
            let products = a.iter().map(|factor| (factor.number, b.number(factor.row, column)));
            if let Some(special) = special(c.number(column), products) {
                *result = encoded(special, self.ty);
            }
        }
    }
}

/// Elements of C as terms.
struct Addends {
    significand: Columns<i32>,
    exponent: Columns<i32>,
    /// Fraction bits of their format.
    fraction: i32,
    /// Whether there are infinities or NaNs.
    is_special: bool,
}

impl Addends {
    #[inline(always)]
    fn new(c: &[u32], format: &Format) -> Addends {
        let (mut significand, mut exponent, mut lowest) = ([0; BLOCK], [ZERO; BLOCK], 0);
        for (bits, (significand, exponent)) in c.iter().zip(significand.iter_mut().zip(&mut exponent)) {
            let number = Number::unpack(format, *bits);
            *significand = number.significand;
            *exponent = number.exponent;
            lowest = lowest.min(number.exponent);
        }
        Addends { significand, exponent, fraction: format.fraction as i32, is_special: lowest <= INFINITE }
    }

    /// The term in a sum whose exponent is `top` and which keeps `kept` bits below.
    #[inline(always)]
    fn aligned(&self, column: usize, top: i32, kept: i32) -> i32 {
        let left = kept - self.fraction;
        let significand = self.significand[column];
        let distance = (top - self.exponent[column] + (-left).max(0)).clamp(0, 31);
        let (magnitude, sign) = (((significand.unsigned_abs() << left.max(0)) >> distance) as i32, significand >> 31);
        (magnitude ^ sign).wrapping_sub(sign)
    }

    fn number(&self, column: usize) -> Number {
        Number { significand: self.significand[column], exponent: self.exponent[column] }
    }
}

/// Half of the smallest number of `f16`, which rounds to zero.
const HALF_OF_SMALLEST: f64 = f64::from_bits((1023 - 25) << 52);

/// The smallest normal `f32`.
const TINY: f64 = f32::MIN_POSITIVE as f64;

/// The `f32` of `fraction` fraction bits next to an exact value that is not below the normal ones, towards zero; infinity from 2^128 on.
#[inline(always)]
fn truncated(value: f64, fraction: u32) -> u32 {
    (f64::from_bits(value.to_bits() & (u64::MAX << (52 - fraction))) as f32).to_bits()
}

/// The subnormal `f32` next to an exact value, towards zero. A zero has no sign.
fn subnormal(value: f64) -> u32 {
    // 2^149: the last place becomes the unit.
    const UNITS: f64 = f64::from_bits((1023 + 149) << 52);
    let sign = (value.to_bits() >> 32) as u32 & 0x8000_0000;
    match (value.abs() * UNITS) as u32 {
        0 => 0,
        bits => sign | bits,
    }
}

enum Special {
    Infinity { negative: bool },
    Nan,
}

/// What infinities and NaNs among the operands make of a sum, if there are any.
fn special(c: Number, products: impl Iterator<Item = (Number, Number)>) -> Option<Special> {
    let (mut plus, mut minus) = (false, false);
    let mut collect = |negative: bool| if negative { minus = true } else { plus = true };
    if c.exponent == NOT_A_NUMBER {
        return Some(Special::Nan);
    }
    if c.exponent == INFINITE {
        collect(c.significand < 0);
    }
    for (a, b) in products {
        if a.exponent == NOT_A_NUMBER || b.exponent == NOT_A_NUMBER {
            return Some(Special::Nan);
        }
        if a.is_special() || b.is_special() {
            if a.significand == 0 || b.significand == 0 {
                return Some(Special::Nan);
            }
            collect((a.significand < 0) != (b.significand < 0));
        }
    }
    match (plus, minus) {
        (true, true) => Some(Special::Nan),
        (false, false) => None,
        _ => Some(Special::Infinity { negative: minus }),
    }
}

fn encoded(special: Special, to: Accumulator) -> u32 {
    let format = format(to);
    match special {
        Special::Nan => format.nan as u32,
        Special::Infinity { negative } => (format.largest + 1) as u32 | if negative { format.sign() as u32 } else { 0 },
    }
}

#[inline(always)]
fn format(accumulator: Accumulator) -> Format {
    if accumulator == Accumulator::F16 { Format::F16 } else { Format::F32 }
}
