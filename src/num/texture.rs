//! The arithmetic of texture lookups: coordinates with 8 bits of fraction, weights, and weighted means (CUDA C++ Programming Guide,
//! "Texture Fetching"; what it leaves open is as an H200 was recorded to do it).

/// Bits of fraction of a coordinate in texels, and of a weight.
pub const FRACTION_BITS: u32 = 8;

/// A coordinate outside all textures.
const FAR: i64 = 1 << 60;

/// A weight of one.
const ONE: i64 = 1 << FRACTION_BITS;

/// Bits below the leading one of the greatest summand that a weighted mean still looks at.
const ALIGNED_BITS: i32 = 27;

/// Bits of fraction that are kept of a coordinate before it is scaled.
const COORDINATE_BITS: i32 = 21;

/// A coordinate scaled to texels, cut off (not rounded) to 21 bits of fraction before: the texel it falls into. NaN is zero; what is far
/// outside stays far outside.
pub fn texel(x: f64, scale: u32) -> i64 {
    scaled(x, scale) >> COORDINATE_BITS
}

/// The same with [`FRACTION_BITS`] of fraction, rounded up from halfway.
pub fn fixed(x: f64, scale: u32) -> i64 {
    const SURPLUS: i32 = COORDINATE_BITS - FRACTION_BITS as i32;
    (scaled(x, scale) + (1 << (SURPLUS - 1))) >> SURPLUS
}

fn scaled(x: f64, scale: u32) -> i64 {
    let cut = (x * (1_i64 << COORDINATE_BITS) as f64).floor() as i64;
    cut.clamp(-FAR, FAR).saturating_mul(i64::from(scale)).clamp(-FAR, FAR)
}

/// The weights of the texels around a point, from the fractions in each dimension, the first dimension changing fastest. They add up
/// to one: every product of fractions is rounded, and what is not the product is the rest.
pub fn weights(fractions: &[i64]) -> Vec<i64> {
    match *fractions {
        [] => vec![ONE],
        [x] => vec![ONE - x, x],
        [x, y] => plane(ONE, x, y, y).to_vec(),
        [x, y, z, ..] => {
            let (upper_x, upper_y) = (part(x, z), part(y, z));
            [plane(ONE - z, x - upper_x, y - upper_y, y), plane(z, upper_x, upper_y, y)].concat()
        }
    }
}

/// The weights of four texels that have `all` together, the right ones `x` and the lower ones `y`.
fn plane(all: i64, x: i64, y: i64, fraction: i64) -> [i64; 4] {
    let both = part(x, fraction);
    [all - x - y + both, x - both, y - both, both]
}

/// The part of a weight, rounded up from halfway.
fn part(weight: i64, fraction: i64) -> i64 {
    (weight * fraction + ONE / 2) >> FRACTION_BITS
}

/// The mean of values by weights that add up to one. The values are cut off at a distance below the greatest of those with a weight;
/// their sum is rounded once, away from zero at halfway.
pub fn mean(values: impl Iterator<Item = (i64, f32)> + Clone) -> f32 {
    let values = values.filter(|(weight, _)| *weight != 0);
    if let Some(special) = not_finite(values.clone()) {
        return special;
    }
    let Some(greatest) = values.clone().map(|(_, value)| exponent(value)).max() else { return 0.0 };
    let sum: i64 = values.map(|(weight, value)| weight * aligned(value, greatest)).sum();
    round(sum, greatest - ALIGNED_BITS - FRACTION_BITS as i32)
}

/// The mean of fractions of `whole` by weights that add up to one, itself a fraction of it, rounded to nearest.
pub fn mean_of_fractions(values: impl Iterator<Item = (i64, f32)>, whole: f32) -> f32 {
    let sum: i64 = values.map(|(weight, value)| weight * f64::from(value * whole).round() as i64).sum();
    ((sum + ONE / 2) >> FRACTION_BITS) as f32 / whole
}

/// A mean of halves, rounded to a half, away from zero at halfway.
pub fn to_half(mean: f32) -> f32 {
    const LAST_PLACES: u32 = 13;
    /// The place of the last bit of a subnormal half.
    const SMALLEST: f32 = 1.0 / (1 << 24) as f32;
    if mean.abs() < SMALLEST * 1024.0 {
        return (mean / SMALLEST).round() * SMALLEST;
    }
    if !mean.is_finite() {
        return mean;
    }
    f32::from_bits((mean.to_bits() + (1 << (LAST_PLACES - 1))) >> LAST_PLACES << LAST_PLACES)
}

/// The mean if a value is infinite or NaN.
fn not_finite(values: impl Iterator<Item = (i64, f32)>) -> Option<f32> {
    let mut found: Option<f32> = None;
    for (_, value) in values.filter(|(_, value)| !value.is_finite()) {
        found = Some(found.map_or(value, |other| other + value));
    }
    found.map(|value| if value.is_nan() { f32::from_bits(0x7fff_ffff) } else { value })
}

/// The exponent of the leading bit, that of the smallest normal number for what is smaller.
fn exponent(value: f32) -> i32 {
    ((value.to_bits() >> 23 & 0xff) as i32).max(1) - 127
}

/// The value in units of 2^(`greatest` - [`ALIGNED_BITS`]), cut off towards zero.
fn aligned(value: f32, greatest: i32) -> i64 {
    let bits = value.to_bits();
    let hidden = if bits >> 23 & 0xff == 0 { 0 } else { 1 << 23 };
    let magnitude = i64::from(bits & 0x7f_ffff | hidden) << (ALIGNED_BITS - 23);
    let magnitude = magnitude >> (greatest - exponent(value)).min(63);
    if value.is_sign_negative() { -magnitude } else { magnitude }
}

/// `sum` * 2^`scale`, rounded to nearest, away from zero at halfway.
fn round(sum: i64, scale: i32) -> f32 {
    let magnitude = sum.unsigned_abs();
    let surplus = (40 - magnitude.leading_zeros() as i32).max(-126 - 23 - scale);
    let kept = if surplus > 0 { (magnitude + (1 << (surplus - 1))) >> surplus << surplus } else { magnitude };
    // At most 24 bits are left, so nothing is rounded here.
    let value = (kept as f64 * power_of_two(scale)) as f32;
    if sum < 0 { -value } else { value }
}

/// 2^`power`, which must be that of a normal double.
fn power_of_two(power: i32) -> f64 {
    f64::from_bits(((power + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_rounded_up_from_halfway() {
        assert_eq!(fixed(1.5, 1), 384);
        assert_eq!(fixed(1.0 + 1.0 / 512.0, 1), 257);
        // 10/13 is a little more than that as a float, but a little less when it is cut off.
        assert_eq!((texel(f64::from(10.0_f32 / 13.0), 13), fixed(f64::from(10.0_f32 / 13.0), 13)), (9, 2560));
        assert_eq!(fixed(-1.0 - 1.0 / 512.0, 1), -256);
    }

    #[test]
    fn weights_add_up_to_one() {
        // 128 * 87 / 256 = 43.5 becomes 44.
        assert_eq!(weights(&[128, 87]), [85, 84, 43, 44]);
    }

    #[test]
    fn what_is_far_smaller_is_lost() {
        assert_eq!(mean([(128, 1.0), (128, 3.0)].into_iter()), 2.0);
        // 2^-28 is 28 places below 1.
        assert_eq!(mean([(255, 1.0), (1, 1.0 / (1 << 28) as f32)].into_iter()), 255.0 / 256.0);
    }
}
