//! The fused sum: all terms are aligned to the greatest exponent among them, cut there towards zero, added exactly, and rounded once.
//!
//! A term is a product of two numbers as they are encoded, or C; neither subnormal numbers nor products are normalised first, and terms
//! that are zero do not take part in the choice of the exponent. Eight columns of D are computed at a time. Infinities and NaNs are rare:
//! they are decoded into exponents far below all others, do no harm in the sums, and replace the results afterwards.

use super::element::{INFINITE, NOT_A_NUMBER, Number, ZERO, nearest, value, widened};
use super::{Accumulator, Element, LANES, Operands, Product, Rule};
use crate::num::exact::Format;
use crate::num::half::F16;

type Column<T> = [T; LANES];

/// An element of A, prepared: its significand is scaled to the width of the sum.
#[derive(Clone, Copy)]
struct Factor {
    number: Number,
    /// The row of B that it meets.
    row: usize,
}

/// Elements of a row of B, in [`LANES`] columns.
#[derive(Clone, Copy)]
struct Slice {
    significand: Column<i32>,
    exponent: Column<i32>,
}

/// Everything about a sum that its terms do not say.
#[derive(Clone, Copy)]
struct Width {
    /// Fraction bits that are kept below the greatest exponent.
    kept: i32,
    /// Whether an `f32` result is cut to 13 fraction bits.
    narrow: bool,
}

/// Fills `d` by the product's rule, which is one of fused sums.
#[inline(always)]
pub fn multiply(product: &Product, operands: Operands<'_>, d: &mut [u32]) {
    let narrow = product.rule == Rule::FusedNarrow;
    let width = Width { kept: if narrow { 13 } else { 25 }, narrow };
    let steps = Steps::new(product);
    let a = factors(product, operands, &steps, width);
    let blocks = product.n / LANES;
    for block in 0..blocks {
        let b = slices(product, operands.b, block);
        let is_special = b.iter().any(Slice::is_special);
        for row in 0..product.m {
            let a = &a[row * product.k..(row + 1) * product.k];
            let is_special = is_special || a.iter().any(|factor| factor.number.is_special());
            let place = row * product.n + block * LANES;
            let mut c = [0; LANES];
            c.copy_from_slice(&operands.c[place..place + LANES]);
            let result = if product.rule == Rule::Widened {
                added(c, chained([0; LANES], product.d, a, &steps, &b, width, is_special), product.d)
            } else if product.c == product.d {
                chained(c, product.d, a, &steps, &b, width, is_special)
            } else {
                let c = converted(c, product.c, Accumulator::F32);
                converted(chained(c, Accumulator::F32, a, &steps, &b, width, is_special), Accumulator::F32, product.d)
            };
            d[place..place + LANES].copy_from_slice(&result);
        }
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
fn factors(product: &Product, operands: Operands<'_>, steps: &Steps, width: Width) -> Vec<Factor> {
    let unpack = Unpack::new(product.a, product.rule);
    let fraction = unpack.format.fraction + Unpack::new(product.b, product.rule).format.fraction;
    let shift = width.kept as u32 - fraction;
    let k = product.k;
    let factor = |place: usize| {
        let source = place / k * k + steps.source(place % k);
        let number = unpack.number(operands.a[source]);
        let significand = if number.is_special() { number.significand } else { number.significand << shift };
        Factor { number: Number { significand, ..number }, row: operands.row_met(source, k) }
    };
    (0..product.m * k).map(factor).collect()
}

/// The rows of B in the columns of one block.
#[inline(always)]
fn slices(product: &Product, b: &[u32], block: usize) -> Vec<Slice> {
    let unpack = Unpack::new(product.b, product.rule);
    let slice = |row: &[u32]| {
        let mut slice = Slice { significand: [0; LANES], exponent: [0; LANES] };
        let columns = &row[block * LANES..(block + 1) * LANES];
        for lane in 0..LANES {
            let number = unpack.number(columns[lane]);
            slice.significand[lane] = number.significand;
            slice.exponent[lane] = number.exponent;
        }
        slice
    };
    b.chunks_exact(product.n).map(slice).collect()
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

impl Slice {
    const NOTHING: Slice = Slice { significand: [0; LANES], exponent: [ZERO; LANES] };

    fn is_special(&self) -> bool {
        self.exponent.iter().any(|&exponent| exponent <= INFINITE)
    }

    #[inline(always)]
    fn number(&self, lane: usize) -> Number {
        Number { significand: self.significand[lane], exponent: self.exponent[lane] }
    }
}

/// The sums of one row of A, each of which starts with the result of the one before.
#[inline(always)]
fn chained(c: Column<u32>, ty: Accumulator, a: &[Factor], steps: &Steps, b: &[Slice], width: Width, is_special: bool) -> Column<u32> {
    let (first, second) = a.split_at(steps.first);
    let result = sum(c, ty, first, b, width, is_special);
    if second.is_empty() { result } else { sum(result, ty, second, b, width, is_special) }
}

/// One fused sum for each of the columns.
#[inline(always)]
fn sum(c: Column<u32>, ty: Accumulator, a: &[Factor], b: &[Slice], width: Width, is_special: bool) -> Column<u32> {
    let format = format(ty);
    let c = c.map(|bits| Number::unpack(&format, bits));
    let mut top = c.map(|c| c.exponent.max(2 * ZERO));
    for factor in a {
        let slice = b.get(factor.row).unwrap_or(&Slice::NOTHING);
        for lane in 0..LANES {
            top[lane] = top[lane].max(factor.number.exponent + slice.exponent[lane]);
        }
    }
    let mut total = [0i32; LANES];
    for factor in a {
        let slice = b.get(factor.row).unwrap_or(&Slice::NOTHING);
        for lane in 0..LANES {
            let product = factor.number.significand.wrapping_mul(slice.significand[lane]);
            let distance = top[lane] - factor.number.exponent - slice.exponent[lane];
            let term = (product.unsigned_abs() >> distance.min(31)) as i32;
            total[lane] = total[lane].wrapping_add(if product < 0 { -term } else { term });
        }
    }
    let result = rounded(aligned(c, &top, width.kept - format.fraction as i32), total, &top, ty, width);
    if is_special || c.iter().any(|c| c.is_special()) { with_specials(result, c, a, b, ty) } else { result }
}

/// C as a term of sums whose exponents are `top`, `left` bits wider than its format.
#[inline(always)]
fn aligned(c: Column<Number>, top: &Column<i32>, left: i32) -> Column<i32> {
    let (left, right) = (left.max(0), (-left).max(0));
    let mut term = [0; LANES];
    for lane in 0..LANES {
        let distance = (top[lane] - c[lane].exponent + right).clamp(0, 31);
        let magnitude = ((c[lane].significand.unsigned_abs() << left) >> distance) as i32;
        term[lane] = if c[lane].significand < 0 { -magnitude } else { magnitude };
    }
    term
}

/// Half of the smallest number of `f16`, which rounds to zero.
const HALF_OF_SMALLEST: f64 = f64::from_bits((1023 - 25) << 52);

/// The encodings of (`c` + `total`) * 2^(`top` - width). Products alone fit in 32 bits, and with C in a double.
#[inline(always)]
fn rounded(c: Column<i32>, total: Column<i32>, top: &Column<i32>, to: Accumulator, width: Width) -> Column<u32> {
    let mut result = [0; LANES];
    for lane in 0..LANES {
        let power = top[lane].max(-500) - width.kept;
        let scale = f64::from_bits(((power + 1023) as u64) << 52);
        let value = (f64::from(total[lane]) + f64::from(c[lane])) * scale;
        result[lane] = match to {
            // What rounds to zero has no sign.
            Accumulator::F16 => u32::from(F16::from_f64(value).0) & if value.abs() > HALF_OF_SMALLEST { 0xffff } else { 0x7fff },
            _ => truncated(value, if width.narrow { 13 } else { 23 }),
        };
    }
    result
}

/// The `f32` of `fraction` fraction bits next to an exact value, towards zero; infinity from 2^128 on. A zero has no sign.
#[inline(always)]
fn truncated(value: f64, fraction: u32) -> u32 {
    const TINY: f64 = f32::MIN_POSITIVE as f64;
    // 2^149: the last place of a subnormal number becomes the unit.
    const UNITS: f64 = f64::from_bits((1023 + 149) << 52);
    let sign = (value.to_bits() >> 32) as u32 & 0x8000_0000;
    let magnitude = value.abs();
    let cut = f64::from_bits(magnitude.to_bits() & (u64::MAX << (52 - fraction)));
    let subnormal = (magnitude.min(TINY) * UNITS) as i32 as u32;
    let bits = if magnitude < TINY { subnormal } else { (cut as f32).to_bits() };
    if bits == 0 { 0 } else { sign | bits }
}

/// `result` with infinities and NaNs where the operands make them: a NaN, or a product of an infinity and zero, or infinities of both
/// signs make a NaN; other infinities stay.
#[inline(never)]
fn with_specials(mut result: Column<u32>, c: Column<Number>, a: &[Factor], b: &[Slice], to: Accumulator) -> Column<u32> {
    for lane in 0..LANES {
        let products = a.iter().map(|factor| (factor.number, b.get(factor.row).unwrap_or(&Slice::NOTHING).number(lane)));
        if let Some(special) = special(c[lane], products) {
            result[lane] = encoded(special, to);
        }
    }
    result
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

/// Elements of C or D of another type. A number of `f16` is normal as an `f32`.
#[inline(always)]
fn converted(column: Column<u32>, from: Accumulator, to: Accumulator) -> Column<u32> {
    column.map(|bits| if from == to { bits } else { nearest(to, value(from, bits)) })
}

/// C + `sum` as `add` rounds it.
#[inline(always)]
fn added(c: Column<u32>, sum: Column<u32>, ty: Accumulator) -> Column<u32> {
    let mut result = [0; LANES];
    for lane in 0..LANES {
        result[lane] = nearest(ty, value(ty, c[lane]) + value(ty, sum[lane]));
    }
    result
}
