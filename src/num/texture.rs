//! The arithmetic of texture fetches: coordinates with 8 bits of fraction, weights, and weighted means (CUDA C++ Programming Guide,
//! "Texture Fetching"; where it leaves a result undefined, as recorded on an H200).

/// Bits of fraction of a coordinate in texels, and of a weight.
pub const FRACTION_BITS: u32 = 8;

/// A coordinate outside all textures.
const FAR: i64 = 1 << 60;

/// A weight of one.
const ONE: i64 = 1 << FRACTION_BITS;

/// The number of bits below the leading bit of the greatest summand to which a weighted mean truncates its summands.
const ALIGNED_BITS: i32 = 27;

/// Bits of fraction to which a coordinate is truncated before it is scaled.
const COORDINATE_BITS: i32 = 21;

/// The index of the texel that contains a coordinate: the coordinate is truncated to 21 bits of fraction, then scaled. NaN is zero;
/// coordinates far outside are clamped.
pub fn texel(x: f64, scale: u32) -> i64 {
    scaled(x, scale) >> COORDINATE_BITS
}

/// A coordinate in texels as a fixed-point number with [`FRACTION_BITS`] of fraction; ties are rounded up.
pub fn fixed(x: f64, scale: u32) -> i64 {
    const SURPLUS: i32 = COORDINATE_BITS - FRACTION_BITS as i32;
    (scaled(x, scale) + (1 << (SURPLUS - 1))) >> SURPLUS
}

fn scaled(x: f64, scale: u32) -> i64 {
    let truncated = (x * (1_i64 << COORDINATE_BITS) as f64).floor() as i64;
    truncated.clamp(-FAR, FAR).saturating_mul(i64::from(scale)).clamp(-FAR, FAR)
}

/// The weights of the texels around a point, from its fraction in each dimension, the first dimension changing fastest. They add up to
/// one: every product of fractions is rounded, and the complementary weight is the difference.
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

/// The weights of four texels, which add up to `total`, those of the right ones to `x` and those of the lower ones to `y`.
fn plane(total: i64, x: i64, y: i64, fraction: i64) -> [i64; 4] {
    let both = part(x, fraction);
    [total - x - y + both, x - both, y - both, both]
}

/// `weight` times `fraction`; ties are rounded up.
fn part(weight: i64, fraction: i64) -> i64 {
    (weight * fraction + ONE / 2) >> FRACTION_BITS
}

/// The mean of values by weights that add up to one. The values are truncated at [`ALIGNED_BITS`] below the leading bit of the greatest;
/// their sum is rounded once, ties away from zero.
pub fn mean(values: impl Iterator<Item = (i64, f32)> + Clone) -> f32 {
    let values = values.filter(|(weight, _)| *weight != 0);
    if let Some(special) = special_mean(values.clone()) {
        return special;
    }
    let Some(greatest) = values.clone().map(|(_, value)| exponent(value)).max() else { return 0.0 };
    let sum: i64 = values.map(|(weight, value)| weight * aligned(value, greatest)).sum();
    round(sum, greatest - ALIGNED_BITS - FRACTION_BITS as i32)
}

/// The mean, by weights that add up to one, of values that are multiples of 1 / `denominator`, rounded to the nearest such multiple.
pub fn mean_of_fractions(values: impl Iterator<Item = (i64, f32)>, denominator: f32) -> f32 {
    let sum: i64 = values.map(|(weight, value)| weight * f64::from(value * denominator).round() as i64).sum();
    ((sum + ONE / 2) >> FRACTION_BITS) as f32 / denominator
}

/// A mean of `f16` values, rounded to `f16`, ties away from zero.
pub fn to_half(mean: f32) -> f32 {
    const LAST_PLACES: u32 = 13;
    /// The smallest subnormal `f16`.
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
fn special_mean(values: impl Iterator<Item = (i64, f32)>) -> Option<f32> {
    let mut found: Option<f32> = None;
    for (_, value) in values.filter(|(_, value)| !value.is_finite()) {
        found = Some(found.map_or(value, |other| other + value));
    }
    found.map(|value| if value.is_nan() { f32::from_bits(0x7fff_ffff) } else { value })
}

/// The exponent of the leading bit; for subnormal numbers, that of the smallest normal number.
fn exponent(value: f32) -> i32 {
    ((value.to_bits() >> 23 & 0xff) as i32).max(1) - 127
}

/// The value in units of 2^(`greatest` - [`ALIGNED_BITS`]), truncated towards zero.
fn aligned(value: f32, greatest: i32) -> i64 {
    let bits = value.to_bits();
    let hidden = if bits >> 23 & 0xff == 0 { 0 } else { 1 << 23 };
    let magnitude = i64::from(bits & 0x7f_ffff | hidden) << (ALIGNED_BITS - 23);
    let magnitude = magnitude >> (greatest - exponent(value)).min(63);
    if value.is_sign_negative() { -magnitude } else { magnitude }
}

/// `sum` * 2^`scale`, rounded to nearest, ties away from zero.
fn round(sum: i64, scale: i32) -> f32 {
    let magnitude = sum.unsigned_abs();
    let surplus = (40 - magnitude.leading_zeros() as i32).max(-126 - 23 - scale);
    let rounded = if surplus > 0 { (magnitude + (1 << (surplus - 1))) >> surplus << surplus } else { magnitude };
    // At most 24 bits are left, so this conversion is exact.
    let value = (rounded as f64 * power_of_two(scale)) as f32;
    if sum < 0 { -value } else { value }
}

/// 2^`power`, which must be in the range of a normal double.
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
        // 10/13 is a little more than that as a float, but a little less when it is truncated.
        assert_eq!((texel(f64::from(10.0_f32 / 13.0), 13), fixed(f64::from(10.0_f32 / 13.0), 13)), (9, 2560));
        assert_eq!(fixed(-1.0 - 1.0 / 512.0, 1), -256);
    }

    #[test]
    fn weights_add_up_to_one() {
        // 128 * 87 / 256 = 43.5 becomes 44.
        assert_eq!(weights(&[128, 87]), [85, 84, 43, 44]);
    }

    #[test]
    fn much_smaller_values_are_truncated_to_zero() {
        assert_eq!(mean([(128, 1.0), (128, 3.0)].into_iter()), 2.0);
        // 2^-28 is 28 places below 1.
        assert_eq!(mean([(255, 1.0), (1, 1.0 / (1 << 28) as f32)].into_iter()), 255.0 / 256.0);
    }
}
