//! Sums that fit in 32 bits, encoded without doubles.

use super::super::accumulator::Accumulator;
use super::block::Sums;

/// The least exponent of the greatest term of a sum for which the result is not subnormal in `f32`.
const LEAST: i16 = -100;

/// The greatest exponent of the terms of a sum for which the result is not infinite.
const HIGHEST: i16 = 110;

/// Sums of products to which a number of C, less than 2^26 units, can be added without overflow.
const PRODUCTS: u32 = (1 << 31) - (1 << 27);

/// True if the sums of products, in units of the last bit below tops between these, and of numbers that are not greater than the tops can
/// be [encoded](encode).
#[inline(always)]
pub fn hold(sums: Sums, (lowest, highest): (i16, i16), products: &[i32]) -> bool {
    let mut greatest = 0;
    for products in products {
        greatest = greatest.max(products.unsigned_abs());
    }
    let has_place = sums.ty != Accumulator::F16 || lowest >= LEAST;
    has_place && highest <= HIGHEST && greatest <= PRODUCTS
}

/// Encodes the sums of products and of the numbers of C that are encoded in `c`, none of whose tops is below `lowest`.
#[inline(always)]
pub fn encode(sums: Sums, lowest: i16, terms: (&[i16], &[i32]), c: &[u32], results: &mut [u32]) {
    if lowest >= LEAST {
        encode_sums::<false>(sums, terms, c, results);
    } else {
        encode_sums::<true>(sums, terms, c, results);
    }
}

/// The same; results may be subnormal in `f32` if `LOW`.
#[inline(always)]
fn encode_sums<const LOW: bool>(sums: Sums, (tops, products): (&[i16], &[i32]), c: &[u32], results: &mut [u32]) {
    for ((top, products), (c, result)) in tops.iter().zip(products).zip(c.iter().zip(results)) {
        let top = i32::from(*top);
        let total = *products + sums.addend(*c, top);
        let (magnitude, sign) = (total.unsigned_abs() as i32, total as u32 & 0x8000_0000);
        let lost = beyond_24_bits(magnitude);
        let truncated = ((magnitude & !lost) as f32).to_bits();
        let power = if total == 0 { 0 } else { (top - sums.aligned_bits) << 23 };
        let normal = (truncated & u32::MAX << (23 - sums.fraction)).wrapping_add_signed(power) | sign;
        *result = if sums.ty == Accumulator::F16 {
            // The last bit says that lower ones are lost, so that the second rounding is right.
            let odd = truncated | u32::from(magnitude & lost != 0);
            half(odd.wrapping_add_signed(power), sign)
        } else if LOW {
            let is_subnormal = (truncated >> 23) as i32 + top - sums.aligned_bits <= 0;
            if is_subnormal { subnormal(magnitude, sign, top - sums.aligned_bits) } else { normal }
        } else {
            normal
        };
    }
}

/// A positive number of units of 2^`unit`, truncated to a subnormal `f32`, with a sign. What becomes zero is +0.
#[inline(always)]
fn subnormal(magnitude: i32, sign: u32, unit: i32) -> u32 {
    // The least subnormal is 2^-149.
    let places = unit + 149;
    let bits = (magnitude as u32) << places.clamp(0, 31) >> (-places).clamp(0, 31);
    if bits == 0 { 0 } else { bits | sign }
}

/// The bits of a positive number below its 24 highest ones, set.
#[inline(always)]
fn beyond_24_bits(number: i32) -> i32 {
    let mut bits = number >> 24;
    bits |= bits >> 1;
    bits |= bits >> 2;
    bits | bits >> 4
}

/// The `f16` that is nearest to a positive `f32`, which is encoded in `bits`, with a sign. What rounds to zero is +0.
#[inline(always)]
fn half(bits: u32, sign: u32) -> u32 {
    /// 2^-14, the least normal `f16`.
    const LEAST: u32 = 0x3880_0000;
    /// 2^16, which is beyond the largest one.
    const BEYOND: u32 = 0x4780_0000;
    // To 0.5, the addition rounds in units of the least subnormal `f16`.
    let subnormal = (f32::from_bits(bits) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let normal = bits.wrapping_add(0xfff + (bits >> 13 & 1)).wrapping_sub(112 << 23) >> 13;
    let normal = if bits >= BEYOND { 0x7c00 } else { normal };
    let half = if bits < LEAST { subnormal } else { normal };
    if half == 0 { 0 } else { half | sign >> 16 }
}
