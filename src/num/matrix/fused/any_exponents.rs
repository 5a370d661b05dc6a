//! One sum of numbers of any exponents, infinities and NaNs among them, computed from significands.

use super::super::accumulator::Accumulator;
use super::super::element::{Number, ZERO};
use super::block::Sums;
use super::round;
use super::special::special;

/// The sum of a number of C and of products, encoded.
#[inline(never)]
pub fn sum(sums: Sums, c: Number, products: impl Iterator<Item = (Number, Number)> + Clone) -> u32 {
    if let Some(special) = special(c, products.clone()) {
        return special.encoded(&sums.format());
    }
    let top = products.clone().fold(c.exponent.max(2 * ZERO), |top, (a, b)| top.max(a.exponent + b.exponent));
    let [of_a, of_b] = &sums.factors;
    let shift = sums.aligned_bits as u32 - of_a.format.fraction - of_b.format.fraction;
    let term = |(a, b): (Number, Number)| truncated((a.significand << shift) * b.significand, top - a.exponent - b.exponent);
    let value = sums.value(c, products.map(term).sum(), top);
    match sums.ty {
        Accumulator::F16 => round::half(value),
        Accumulator::F32 | Accumulator::S32 if round::is_tiny(value) => round::subnormal(value),
        Accumulator::F32 | Accumulator::S32 => round::truncated(value, sums.fraction).to_bits(),
    }
}

/// A significand shifted by `distance` bits, truncated towards zero.
fn truncated(significand: i32, distance: i32) -> i32 {
    // A negative number is shifted as its ones' complement.
    let sign = significand >> 31;
    ((significand + sign) >> distance.min(31)) - sign
}

impl Sums {
    /// The exact sum of a number of C, and of products in units of the last bit below `top`.
    fn value(self, c: Number, products: i32, top: i32) -> f64 {
        // C in the units of the products has `missing` bits less in its fraction.
        let missing = self.aligned_bits - self.format().fraction as i32;
        let addend = truncated(c.significand << missing.max(0), top - c.exponent + (-missing).max(0));
        // The sum of the products fits in 32 bits, and with C in a double.
        let power = top.max(-500) - self.aligned_bits;
        (f64::from(products) + f64::from(addend)) * f64::from_bits(((power + 1023) as u64) << 52)
    }
}
