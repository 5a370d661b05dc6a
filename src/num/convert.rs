//! `cvt` and `cvt.pack` (PTX ISA, "Data Movement and Conversion Instructions").
//!
//! [`Conversion::apply`] decodes the source into an exact value and encodes that as the destination type, for all pairs of types. The
//! functions at the end are fast versions of common conversions, with the same results. Rust's casts from an integer to `f32` or `f64`
//! (`.rn`), and from `f32` to `f64` and back (without `.ftz`), have the same results, too.
//!
//! The conversion of a NaN, as recorded:
//!
//! | from | to | result |
//! | --- | --- | --- |
//! | `f64` | integer | only the top bit of the integer is set |
//! | other floats | 64-bit integer | only the top bit is set |
//! | other floats | smaller integers | zero |
//! | `f64` | any float | quiet, with the sign and the upper bits of the payload |
//! | any float | `f64` | quiet, with sign and payload; from `f32` with `.ftz`, those of the canonical `f32` NaN |
//! | `f32`, `bf16` | `f32` | unchanged; the canonical NaN with `.ftz`, `.rni .rzi .rmi .rpi` |
//! | `f32` | `tf32` by `.rna` | truncated |
//! | otherwise | | the canonical NaN of the type |

use super::exact::{Exact, Format};
use super::float::Float;
use super::{Bf16, F16, Rounding};

/// The kind of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An unsigned integer of this many bits.
    Unsigned(u32),
    /// A two's complement integer of this many bits.
    Signed(u32),
    /// A float.
    Float(Format),
}

/// A `cvt` of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// Kind of the result.
    pub to: Kind,
    /// Kind of the source.
    pub from: Kind,
    /// Rounding of the result, or to an integral value.
    pub rounding: Rounding,
    /// `.rni .rzi .rmi .rpi` between floats: round to an integral value.
    pub integral: bool,
    /// `.ftz`: an `f32` source or result that is subnormal becomes zero, except the source of a conversion to `f16`.
    pub ftz: bool,
    /// `.sat`: clamp to the range of an integer, to [0, 1] of a float.
    pub sat: bool,
    /// `.relu`: negative results become +0.
    pub relu: bool,
    /// `.satfinite`: too large results become the largest finite number.
    pub satfinite: bool,
}

/// A decoded float.
#[derive(Clone, Copy, Debug)]
enum Value {
    /// The sign, and the payload with its top bit at bit 51 as in `f64`.
    Nan {
        negative: bool,
        payload: u64,
    },
    Infinite {
        negative: bool,
    },
    Finite(Exact),
}

impl Conversion {
    /// Converts the number in the low bits of `word`; the result is in the low bits, zero-extended.
    pub fn apply(&self, word: u64) -> u64 {
        match (self.from, self.to) {
            (Kind::Float(from), Kind::Float(to)) => self.float_to_float(word, from, to),
            (Kind::Float(from), _) => self.float_to_integer(word, from),
            (_, Kind::Float(to)) => self.finish_float(integer(self.from, word).round(&to, self.rounding), &to),
            _ => self.integer_to_integer(word),
        }
    }

    fn float_to_float(&self, word: u64, from: Format, to: Format) -> u64 {
        if self.is_move(&from, &to) {
            return word << (to.fraction - from.fraction);
        }
        // A subnormal source is flushed, except in a conversion to `f16`.
        let word = if to == Format::F16 { word } else { self.flush_source(word, &from) };
        let result = match decode(word, &from) {
            Value::Nan { .. } if self.sat => 0,
            Value::Nan { negative, payload } => return self.nan(negative, payload, &from, &to),
            Value::Infinite { negative } => (to.largest + 1) | sign_if(negative, &to),
            Value::Finite(number) if self.is_flushed(number, &to) => sign_if(number.negative, &to),
            Value::Finite(number) if self.integral => self.round_to_integral(number).round(&to, Rounding::Zero),
            Value::Finite(number) => number.round(&to, self.rounding),
        };
        self.finish_float(result, &to)
    }

    /// True if the conversion is a move, which leaves a signalling NaN unchanged.
    fn is_move(&self, from: &Format, to: &Format) -> bool {
        let same = from == to && matches!(*from, Format::F32 | Format::F64);
        (same || (*from == Format::BF16 && *to == Format::F32)) && !(self.integral || self.ftz || self.sat || self.relu)
    }

    fn nan(&self, negative: bool, payload: u64, from: &Format, to: &Format) -> u64 {
        const QUIET: u64 = 1 << 51;
        let infinity = to.largest + 1;
        let upper = |payload: u64| infinity | payload >> (52 - to.fraction);
        if self.rounding == Rounding::NearestAway {
            let truncated = upper(payload) - u64::from(self.satfinite);
            return truncated | sign_if(negative, to);
        }
        if self.ftz && *from == Format::F32 && *to == Format::F64 {
            return upper((from.nan & ones(from.fraction)) << (52 - from.fraction));
        }
        if *from == Format::F64 || *to == Format::F64 {
            return upper(payload | QUIET) | sign_if(negative, to);
        }
        to.nan
    }

    /// Rounds to an integer; a zero result keeps the sign.
    fn round_to_integral(&self, number: Exact) -> Exact {
        if number.power >= 0 {
            return number;
        }
        Exact { magnitude: number.rounded_to(0, self.rounding), power: 0, ..number }
    }

    /// `.relu`, `.sat` and `.satfinite` of a result that is not NaN.
    fn finish_float(&self, result: u64, to: &Format) -> u64 {
        let negative = result & to.sign() != 0;
        if negative && (self.relu || self.sat) {
            return 0;
        }
        let one = ((to.largest + 1) >> 1) & !ones(to.fraction);
        let result = if self.sat { result.min(one) } else { result };
        let too_large = result & !to.sign() > to.largest;
        if self.satfinite && too_large { result - 1 } else { result }
    }

    /// `.ftz` of an `f32` source.
    fn flush_source(&self, word: u64, from: &Format) -> u64 {
        let subnormal = word & !from.sign() < 1 << from.fraction;
        if self.ftz && *from == Format::F32 && subnormal { word & from.sign() } else { word }
    }

    /// `.ftz` of an `f32` result.
    fn is_flushed(&self, number: Exact, to: &Format) -> bool {
        self.ftz && *to == Format::F32 && number.is_tiny(to, self.rounding)
    }

    fn float_to_integer(&self, word: u64, from: Format) -> u64 {
        let (bits, signed) = match self.to {
            Kind::Signed(bits) => (bits, true),
            Kind::Unsigned(bits) => (bits, false),
            Kind::Float(_) => return word,
        };
        let top = 1u64 << (bits - 1);
        match decode(self.flush_source(word, &from), &from) {
            Value::Nan { .. } => {
                if from == Format::F64 || bits == 64 {
                    top
                } else {
                    0
                }
            }
            Value::Infinite { negative } => clamp(negative, u128::MAX, bits, signed),
            Value::Finite(number) if number.power > 64 => clamp(number.negative, u128::MAX, bits, signed),
            Value::Finite(number) => clamp(number.negative, number.rounded_to(0, self.rounding), bits, signed),
        }
    }

    fn integer_to_integer(&self, word: u64) -> u64 {
        let (bits, signed) = match self.to {
            Kind::Signed(bits) => (bits, true),
            Kind::Unsigned(bits) => (bits, false),
            Kind::Float(_) => return word,
        };
        let number = integer(self.from, word);
        if self.sat {
            return clamp(number.negative, number.magnitude, bits, signed);
        }
        let value = if number.negative { (number.magnitude as u64).wrapping_neg() } else { number.magnitude as u64 };
        value & ones(bits)
    }
}

/// The integer in the low bits of `word`; callers pass no float kind.
fn integer(kind: Kind, word: u64) -> Exact {
    let (negative, magnitude) = match kind {
        Kind::Signed(bits) => {
            let value = (word << (64 - bits)) as i64 >> (64 - bits);
            (value < 0, value.unsigned_abs())
        }
        Kind::Unsigned(bits) => (false, word & ones(bits)),
        Kind::Float(_) => (false, word),
    };
    Exact { negative, magnitude: u128::from(magnitude), power: 0 }
}

fn decode(word: u64, format: &Format) -> Value {
    let negative = word & format.sign() != 0;
    let magnitude = word & !format.sign() & ones(format.fraction + format.exponent);
    if magnitude <= format.largest {
        return Value::Finite(format.unpack(word));
    }
    let has_infinity = *format != Format::E4M3;
    if has_infinity && magnitude == format.largest + 1 {
        return Value::Infinite { negative };
    }
    let fraction = magnitude & ones(format.fraction);
    Value::Nan { negative, payload: fraction << (52 - format.fraction) }
}

/// The integer nearest to (-1)^negative * magnitude that the type can represent.
fn clamp(negative: bool, magnitude: u128, bits: u32, signed: bool) -> u64 {
    let largest = if signed { ones(bits) >> 1 } else { ones(bits) };
    let lowest_magnitude = if signed { largest + 1 } else { 0 };
    if negative {
        let magnitude = magnitude.min(u128::from(lowest_magnitude)) as u64;
        magnitude.wrapping_neg() & ones(bits)
    } else {
        magnitude.min(u128::from(largest)) as u64
    }
}

fn sign_if(negative: bool, format: &Format) -> u64 {
    if negative { format.sign() } else { 0 }
}

/// `bits` ones in the low bits; `bits` is from 1 to 64.
fn ones(bits: u32) -> u64 {
    !0 >> (64 - bits)
}

/// `cvt.pack.sat`: `a` and `b` clamped to fields of `bits` bits; `b` is in the lowest bits, then `a`, then the low bits of `c`.
pub fn pack(a: i32, b: i32, c: u32, bits: u32, signed: bool) -> u32 {
    let field = |x: i32| clamp(x < 0, u128::from(x.unsigned_abs()), bits, signed);
    ((u64::from(c) << (2 * bits)) | field(a) << bits | field(b)) as u32
}

/// `.rni .rzi .rmi .rpi` of an `f32`.
#[inline(always)]
pub fn integral_f32(a: f32, rounding: Rounding) -> f32 {
    match rounding {
        Rounding::Nearest => a.round_ties_even(),
        Rounding::NearestAway => a.round(),
        Rounding::Zero => a.trunc(),
        Rounding::Down => a.floor(),
        Rounding::Up => a.ceil(),
    }
}

/// `cvt.s32.f32` with any rounding.
#[inline(always)]
pub fn f32_to_i32(a: f32, rounding: Rounding) -> i32 {
    integral_f32(a, rounding) as i32
}

/// `cvt.u32.f32` with any rounding.
#[inline(always)]
pub fn f32_to_u32(a: f32, rounding: Rounding) -> u32 {
    integral_f32(a, rounding) as u32
}

/// `cvt.f32.f16`.
#[inline(always)]
pub fn f16_to_f32(a: F16) -> f32 {
    if a.is_nan() { f32::nan_from(0.0, 0.0, 0.0) } else { a.to_f32() }
}

/// `cvt.rn.f16.f32`.
#[inline(always)]
pub fn f32_to_f16(a: f32) -> F16 {
    F16::from_f64(f64::from(a))
}

/// `cvt.rn.bf16.f32`.
#[inline(always)]
pub fn f32_to_bf16(a: f32) -> Bf16 {
    Bf16::from_f64(f64::from(a))
}

/// The `.tf32` number nearest to the `f32` with these bits, ties to even, as tensor copies round; a NaN becomes the canonical one.
pub fn round_to_tf32(bits: u32) -> u32 {
    const DROPPED: u32 = 0x1fff;
    if f32::from_bits(bits).is_nan() {
        return 0x7fff_e000;
    }
    let even = bits >> 13 & 1;
    bits.wrapping_add(DROPPED / 2 + even) & !DROPPED
}

#[cfg(test)]
mod tests {
    use super::round_to_tf32;

    /// The results on an H200 for elements that it loaded as `.tf32`.
    #[test]
    fn tf32_is_rounded_as_the_hardware_rounds() {
        let pairs = [
            (0x0000_0001, 0x0000_0000),
            (0x0040_0000, 0x0040_0000),
            (0x807f_ffff, 0x8080_0000),
            (0x3f80_0001, 0x3f80_0000),
            (0x3f80_1000, 0x3f80_0000),
            (0x3f80_1001, 0x3f80_2000),
            (0x3f80_3000, 0x3f80_4000),
            (0x7f80_0001, 0x7fff_e000),
            (0xff81_2345, 0x7fff_e000),
            (0x8000_0000, 0x8000_0000),
            (0x7f7f_ffff, 0x7f80_0000),
        ];
        for (from, to) in pairs {
            assert_eq!(round_to_tf32(from), to, "{from:#010x}");
        }
    }
}
