//! The two 16-bit floating-point formats, to and from `f64`.

/// A 16-bit format: a sign, exponent bits, and `fraction_bits` below them.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    fraction_bits: u32,
    bias: i32,
}

/// IEEE 754 binary16.
pub const F16: Format = Format { fraction_bits: 10, bias: 15 };
/// The upper half of a binary32.
pub const BF16: Format = Format { fraction_bits: 7, bias: 127 };

const F64_FRACTION_BITS: u32 = 52;
const F64_BIAS: i32 = 1023;

/// The value nearest to `value`, ties to even; infinity above the largest finite one. A NaN becomes the quiet NaN of its sign.
pub fn from_f64(value: f64, format: Format) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let infinity = 0x7fff >> format.fraction_bits << format.fraction_bits;
    if value.is_nan() {
        return sign | infinity | 1 << (format.fraction_bits - 1);
    }
    if value == 0.0 || value.is_infinite() {
        return sign | if value == 0.0 { 0 } else { infinity };
    }
    // Subnormals of f64 are far below half the smallest value of either format, so their missing leading one does not matter.
    let bits = value.to_bits();
    let exponent = (bits >> F64_FRACTION_BITS & 0x7ff) as i32 - F64_BIAS + format.bias;
    let significand = bits & ((1 << F64_FRACTION_BITS) - 1) | 1 << F64_FRACTION_BITS;
    let dropped = F64_FRACTION_BITS - format.fraction_bits + (1 - exponent).clamp(0, 63) as u32;
    if dropped > F64_FRACTION_BITS + 1 {
        return sign;
    }
    let kept = significand >> dropped;
    let rest = significand & ((1 << dropped) - 1);
    let half = 1 << (dropped - 1);
    let round_up = rest > half || rest == half && kept & 1 == 1;
    // A normal `kept` carries its leading one into the exponent field, so the exponent is less by one; so does a carry of rounding.
    let result = ((exponent.max(1) - 1) as u64) << format.fraction_bits;
    let result = result + kept + u64::from(round_up);
    sign | result.min(u64::from(infinity)) as u16
}

/// The exact value of `bits`.
pub fn to_f64(bits: u16, format: Format) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let magnitude = bits & 0x7fff;
    let exponent = i32::from(magnitude >> format.fraction_bits);
    let fraction = f64::from(magnitude & ((1 << format.fraction_bits) - 1)) / f64::from(1_u32 << format.fraction_bits);
    let exponent_max = i32::from(0x7fff_u16 >> format.fraction_bits);
    if exponent == exponent_max {
        return if fraction == 0.0 { sign * f64::INFINITY } else { f64::NAN };
    }
    let (leading, exponent) = if exponent == 0 { (0.0, 1) } else { (1.0, exponent) };
    let power = f64::from_bits(((exponent - format.bias + F64_BIAS) as u64) << F64_FRACTION_BITS);
    sign * (leading + fraction) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_survives_the_way_through_f64() {
        for format in [F16, BF16] {
            for bits in 0..=u16::MAX {
                let value = to_f64(bits, format);
                if !value.is_nan() {
                    assert_eq!(from_f64(value, format), bits, "{bits:#06x} {value}");
                }
            }
        }
    }

    #[test]
    fn halfway_goes_to_the_even_neighbour_and_anything_more_goes_up() {
        for format in [F16, BF16] {
            let infinity = 0x7fff >> format.fraction_bits << format.fraction_bits;
            for low in 0..infinity - 1 {
                let (a, b) = (to_f64(low, format), to_f64(low + 1, format));
                let middle = (a + b) / 2.0;
                assert_eq!(from_f64(middle, format), low + (low & 1), "{low:#06x}");
                assert_eq!(from_f64(middle.next_up(), format), low + 1, "{low:#06x}");
                assert_eq!(from_f64(middle.next_down(), format), low, "{low:#06x}");
            }
        }
    }

    #[test]
    fn values_outside_the_range_become_zero_and_infinity() {
        assert_eq!(from_f64(65504.0, F16), 0x7bff);
        assert_eq!(from_f64(65519.0, F16), 0x7bff);
        assert_eq!(from_f64(65520.0, F16), 0x7c00);
        assert_eq!(from_f64(-1e300, BF16), 0xff80);
        assert_eq!(from_f64(-1e-300, F16), 0x8000);
        assert_eq!(from_f64(f64::MIN_POSITIVE / 2.0, BF16), 0);
        assert_eq!(from_f64(f64::NAN, F16), 0x7e00);
        assert_eq!(from_f64(f64::NAN, BF16), 0x7fc0);
    }
}
