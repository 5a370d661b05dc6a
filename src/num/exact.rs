//! Exact numbers, and rounding.
//!
//! [`Exact`] is a sign, an integer magnitude of up to 128 bits and a power of two. Sums, products, quotients and roots of numbers of any
//! [`Format`] fit in it well enough to be rounded once and correctly: if bits must be dropped, the lowest remaining bit is sticky (set if
//! a dropped bit was one), far below the precision of every format.

use super::Rounding;

/// A binary floating-point format: sign, exponent, fraction, with subnormals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// Bits of the fraction field.
    pub fraction: u32,
    /// Bits of the exponent field.
    pub exponent: u32,
    /// The largest finite magnitude. Its successor is infinity, or NaN in a format without infinities.
    pub largest: u64,
    /// The canonical NaN: the NaN result of operations.
    pub nan: u64,
}

impl Format {
    /// `.f64`.
    pub const F64: Format = Format { fraction: 52, exponent: 11, largest: 0x7fef_ffff_ffff_ffff, nan: 0xfff8_0000_0000_0000 };
    /// `.f32`.
    pub const F32: Format = Format { fraction: 23, exponent: 8, largest: 0x7f7f_ffff, nan: 0x7fff_ffff };
    /// `.tf32`, as its upper 19 bits.
    pub const TF32: Format = Format { fraction: 10, exponent: 8, largest: 0x3fbff, nan: 0x3ffff };
    /// `.f16`.
    pub const F16: Format = Format { fraction: 10, exponent: 5, largest: 0x7bff, nan: 0x7fff };
    /// `.bf16`.
    pub const BF16: Format = Format { fraction: 7, exponent: 8, largest: 0x7f7f, nan: 0x7fff };
    /// `.e4m3`: no infinities, one NaN of each sign.
    pub const E4M3: Format = Format { fraction: 3, exponent: 4, largest: 0x7e, nan: 0x7f };
    /// `.e5m2`.
    pub const E5M2: Format = Format { fraction: 2, exponent: 5, largest: 0x7b, nan: 0x7f };

    /// The sign bit, which is also the encoding of -0.
    #[inline(always)]
    pub const fn sign(&self) -> u64 {
        1 << (self.fraction + self.exponent)
    }

    /// Exponent (of two) of the lowest fraction bit of a subnormal.
    #[inline(always)]
    pub const fn lowest_power(&self) -> i32 {
        2 - (1 << (self.exponent - 1)) - self.fraction as i32
    }

    /// Decodes a finite number.
    #[inline]
    pub fn unpack(&self, bits: u64) -> Exact {
        let hidden = 1u64 << self.fraction;
        let field = ((bits & !self.sign()) >> self.fraction) as i32;
        let fraction = bits & (hidden - 1);
        let magnitude = if field == 0 { fraction } else { fraction | hidden };
        Exact { negative: bits & self.sign() != 0, magnitude: u128::from(magnitude), power: self.lowest_power() + (field - 1).max(0) }
    }
}

/// A finite number, (-1)^negative * magnitude * 2^power. Zero has a sign, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact {
    /// True if the number is below zero or is -0.
    pub negative: bool,
    /// The integer that `power` scales.
    pub magnitude: u128,
    /// Exponent of the power of two.
    pub power: i32,
}

impl Exact {
    /// The encoding of this number rounded to `format`; infinity or the largest number if it is too large.
    pub fn round(self, format: &Format, rounding: Rounding) -> u64 {
        let sign = if self.negative { format.sign() } else { 0 };
        if self.magnitude == 0 {
            return sign;
        }
        let leading = self.power + 127 - self.magnitude.leading_zeros() as i32;
        // Exponent of the last place of the result. For normal numbers it follows from the leading bit.
        let last = (leading - format.fraction as i32).max(format.lowest_power());
        let quotient = self.rounded_to(last, rounding) as u64;
        // The hidden bit of a normal number adds one to the exponent field, and so does a carry out of the fraction.
        let bits = (((last - format.lowest_power()) as u64) << format.fraction) + quotient;
        sign | if bits > format.largest { self.overflow(format, rounding) } else { bits }
    }

    /// True if the number, rounded to the precision of `format` with an unbounded exponent, is below every normal number of `format`:
    /// `.ftz` flushes it to zero.
    pub fn is_tiny(self, format: &Format, rounding: Rounding) -> bool {
        if self.magnitude == 0 {
            return false;
        }
        let bit_length = |magnitude: u128| 128 - magnitude.leading_zeros() as i32;
        let last = self.power + bit_length(self.magnitude) - 1 - format.fraction as i32;
        let leading = last + bit_length(self.rounded_to(last, rounding)) - 1;
        leading < format.lowest_power() + format.fraction as i32
    }

    fn overflow(self, format: &Format, rounding: Rounding) -> u64 {
        let outward = match rounding {
            Rounding::Nearest | Rounding::NearestAway => true,
            Rounding::Zero => false,
            Rounding::Down => self.negative,
            Rounding::Up => !self.negative,
        };
        format.largest + u64::from(outward)
    }

    /// The magnitude as a multiple of 2^`last`, rounded. The caller ensures that the result fits.
    pub fn rounded_to(self, last: i32, rounding: Rounding) -> u128 {
        let shift = last - self.power;
        if shift <= 0 {
            return self.magnitude << -shift;
        }
        let (quotient, dropped, half) = match shift {
            1..=127 => (self.magnitude >> shift, self.magnitude & ((1 << shift) - 1), 1u128 << (shift - 1)),
            // All bits are dropped. Beyond 128 they are less than half of the last place.
            128 => (0, self.magnitude, 1 << 127),
            _ => (0, u128::from(self.magnitude != 0), u128::MAX),
        };
        let up = match rounding {
            Rounding::Nearest => dropped > half || (dropped == half && quotient & 1 != 0),
            Rounding::NearestAway => dropped >= half,
            Rounding::Zero => false,
            Rounding::Down => self.negative && dropped != 0,
            Rounding::Up => !self.negative && dropped != 0,
        };
        quotient + u128::from(up)
    }

    /// Shifts the leading bit to bit `top`; right shifts are sticky. Zero stays zero.
    fn normalize(self, top: u32) -> Exact {
        if self.magnitude == 0 {
            return self;
        }
        let shift = self.magnitude.leading_zeros() as i32 - (127 - top as i32);
        let magnitude = if shift >= 0 { self.magnitude << shift } else { shift_right_sticky(self.magnitude, -shift as u32) };
        Exact { magnitude, power: self.power - shift, ..self }
    }

    /// The sum; its lowest bit may be sticky. The sum of opposite numbers is +0, or -0 if `rounding` is down.
    pub fn sum(self, other: Exact, rounding: Rounding) -> Exact {
        // Two bits above the leading bits leave room for a carry.
        let (a, b) = (self.normalize(125), other.normalize(125));
        if a.magnitude == 0 || b.magnitude == 0 {
            let other = if a.magnitude == 0 { b } else { a };
            let both_zero = a.magnitude == b.magnitude;
            let negative = if both_zero { zero_sign(a.negative, b.negative, rounding) } else { other.negative };
            return Exact { negative, ..other };
        }
        let (a, b) = if a.power < b.power { (b, a) } else { (a, b) };
        let smaller = shift_right_sticky(b.magnitude, (a.power - b.power) as u32);
        if a.negative == b.negative {
            return Exact { magnitude: a.magnitude + smaller, ..a };
        }
        let difference = a.magnitude.abs_diff(smaller);
        let negative = match difference {
            0 => rounding == Rounding::Down,
            _ => a.negative == (a.magnitude > smaller),
        };
        Exact { negative, magnitude: difference, power: a.power }
    }

    /// The product of two numbers of at most 64 bits each.
    pub fn product(self, other: Exact) -> Exact {
        let magnitude = self.magnitude * other.magnitude;
        Exact { negative: self.negative != other.negative, magnitude, power: self.power + other.power }
    }

    /// The quotient of two numbers of at most 53 bits each, sticky; the divisor is not zero.
    pub fn quotient(self, other: Exact) -> Exact {
        let (a, b) = (self.normalize(125), other.normalize(53));
        let sticky = u128::from(a.magnitude % b.magnitude != 0);
        let magnitude = (a.magnitude / b.magnitude) | sticky;
        Exact { negative: self.negative != other.negative, magnitude, power: a.power - b.power }
    }

    /// The square root of a number of at most 53 bits that is not negative (or is -0), sticky.
    pub fn square_root(self) -> Exact {
        let a = self.normalize(125);
        let a = if a.power & 1 != 0 { Exact { magnitude: a.magnitude << 1, power: a.power - 1, ..a } } else { a };
        let root = a.magnitude.isqrt();
        let sticky = u128::from(root * root != a.magnitude);
        // The sticky bit goes below the last bit of the root.
        Exact { negative: a.negative, magnitude: (root << 1) | sticky, power: a.power / 2 - 1 }
    }
}

/// Sign of the sum of two zeros.
fn zero_sign(a: bool, b: bool, rounding: Rounding) -> bool {
    if a == b { a } else { rounding == Rounding::Down }
}

/// Shifts right; the lowest bit of the result is also set if a one was dropped.
fn shift_right_sticky(magnitude: u128, shift: u32) -> u128 {
    match magnitude.checked_shr(shift) {
        Some(quotient) => quotient | u128::from(quotient << shift != magnitude),
        None => u128::from(magnitude != 0),
    }
}
