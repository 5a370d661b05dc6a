//! Floating-point arithmetic (PTX ISA, "Floating Point Instructions" and "Half Precision Floating Point Instructions").
//!
//! The trait [`Float`] has the properties of a type: its format, its nearest-even operations, its NaN results. The instructions are
//! generic functions over it. The host processor rounds to nearest; the directed roundings use [`Exact`]. Infinities and NaNs are the
//! same in every rounding, so they are taken from the nearest result.

use super::exact::{Exact, Format};
use super::{Mode, Rounding};

/// A floating-point type: `f32`, `f64`, [`F16`](super::F16), [`Bf16`](super::Bf16).
pub trait Float: Copy + PartialOrd {
    /// The encoding of the type.
    const FORMAT: Format;
    /// +0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// The number encoded in the low bits of `word`.
    fn from_word(word: u64) -> Self;
    /// The encoding, zero-extended.
    fn word(self) -> u64;
    /// a + b to nearest. A NaN result may be any NaN.
    fn nearest_add(self, b: Self) -> Self;
    /// a * b to nearest. A NaN result may be any NaN.
    fn nearest_mul(self, b: Self) -> Self;
    /// a * b + c, rounded once, to nearest. A NaN result may be any NaN.
    fn nearest_fma(self, b: Self, c: Self) -> Self;
    /// The NaN result of an operation with these operands: for `f64` the first NaN among them, made quiet; otherwise the canonical NaN.
    fn nan_from(first: Self, second: Self, third: Self) -> Self;
    /// True if a * b + c, rounded to nearest with the precision of the type and an unbounded exponent, is below every normal number. The
    /// operands are not subnormal.
    #[inline(always)]
    fn is_tiny(a: Self, b: Self, c: Self) -> bool {
        let finite = a.is_finite() && b.is_finite() && c.is_finite();
        finite && exact(a).product(exact(b)).sum(exact(c), Rounding::Nearest).is_tiny(&Self::FORMAT, Rounding::Nearest)
    }

    /// Flips the sign bit, of a NaN as well.
    fn flip_sign(self) -> Self;
    /// The number with the sign bit of `sign`.
    fn with_sign(self, sign: Self) -> Self;
    /// True if the sign bit is set.
    fn sign_bit(self) -> bool;
    /// True for a NaN.
    fn is_nan(self) -> bool;
    /// Replaces a subnormal number by a zero of the same sign.
    fn flush(self) -> Self;

    /// True if this is neither infinite nor NaN.
    #[inline(always)]
    fn is_finite(self) -> bool {
        self.word() & !Self::FORMAT.sign() <= Self::FORMAT.largest
    }
    /// The number with a clear sign bit.
    #[inline(always)]
    fn magnitude(self) -> Self {
        self.with_sign(Self::ZERO)
    }
}

/// A type that has `div`, `rcp` and `sqrt`: `f32` and `f64`.
pub trait Divide: Float {
    /// a / b to nearest.
    fn nearest_div(self, b: Self) -> Self;
    /// The square root to nearest.
    fn nearest_sqrt(self) -> Self;
}

/// `add`.
#[inline(always)]
pub fn add<F: Float>(a: F, b: F, mode: Mode) -> F {
    let (a, b) = (input(a, mode), input(b, mode));
    output(sum(a, b, mode), [b, a, a], mode)
}

/// `sub`.
#[inline(always)]
pub fn sub<F: Float>(a: F, b: F, mode: Mode) -> F {
    let (a, b) = (input(a, mode), input(b, mode));
    output(sum(a, b.flip_sign(), mode), [b, a, a], mode)
}

#[inline(always)]
fn sum<F: Float>(a: F, b: F, mode: Mode) -> F {
    let nearest = a.nearest_add(b);
    match mode.rounding {
        Rounding::Nearest => input(nearest, mode),
        rounding => directed(nearest, mode, [a, b], || exact(a).sum(exact(b), rounding)),
    }
}

/// `mul`.
#[inline(always)]
pub fn mul<F: Float>(a: F, b: F, mode: Mode) -> F {
    let (a, b) = (input(a, mode), input(b, mode));
    let nearest = a.nearest_mul(b);
    let rounded = match mode.rounding {
        Rounding::Nearest if mode.ftz && F::is_tiny(a, b, F::ZERO) => F::ZERO.with_sign(nearest),
        Rounding::Nearest => nearest,
        _ => directed(nearest, mode, [a, b], || exact(a).product(exact(b))),
    };
    output(rounded, [b, a, a], mode)
}

/// a * b * scale, rounded once to nearest; `scale` is a power of two from an eighth to eight, which keeps the product exact in an `f64`.
#[inline(always)]
pub fn mul_scaled(a: f32, b: f32, scale: f64, mode: Mode) -> f32 {
    // Scaled up, the result is not subnormal and has the full precision.
    const UP: f64 = 16_777_216.0;
    let (a, b) = (input(a, mode), input(b, mode));
    let product = f64::from(a) * f64::from(b) * scale;
    let tiny = mode.ftz && ((product * UP) as f32).abs() < f32::MIN_POSITIVE * UP as f32;
    let nearest = product as f32;
    output(if tiny { f32::ZERO.with_sign(nearest) } else { nearest }, [b, a, a], mode)
}

/// `fma` and `mad`: a * b + c, rounded once.
#[inline(always)]
pub fn fma<F: Float>(a: F, b: F, c: F, mode: Mode) -> F {
    let (a, b, c) = (input(a, mode), input(b, mode), input(c, mode));
    output(fused(a, b, c, mode), [b, c, a], mode)
}

/// a * b - c, rounded once. A NaN operand keeps its sign here and below: the hardware negates numbers only.
#[inline(always)]
pub fn mul_sub<F: Float>(a: F, b: F, c: F, mode: Mode) -> F {
    let (a, b, c) = (input(a, mode), input(b, mode), input(c, mode));
    output(fused(a, b, c.flip_sign(), mode), [b, c, a], mode)
}

/// c - a * b, rounded once.
#[inline(always)]
pub fn neg_mul_add<F: Float>(a: F, b: F, c: F, mode: Mode) -> F {
    let (a, b, c) = (input(a, mode), input(b, mode), input(c, mode));
    output(fused(a.flip_sign(), b, c, mode), [b, c, a], mode)
}

/// -(a * b) - c, rounded once.
#[inline(always)]
pub fn neg_mul_sub<F: Float>(a: F, b: F, c: F, mode: Mode) -> F {
    let (a, b, c) = (input(a, mode), input(b, mode), input(c, mode));
    output(fused(a.flip_sign(), b, c.flip_sign(), mode), [b, c, a], mode)
}

/// a * b + c, rounded once; a NaN may be any NaN.
#[inline(always)]
fn fused<F: Float>(a: F, b: F, c: F, mode: Mode) -> F {
    let nearest = a.nearest_fma(b, c);
    match mode.rounding {
        Rounding::Nearest if mode.ftz && F::is_tiny(a, b, c) => F::ZERO.with_sign(nearest),
        Rounding::Nearest => nearest,
        rounding => directed(nearest, mode, [a, b, c], || exact(a).product(exact(b)).sum(exact(c), rounding)),
    }
}

/// `div`.
#[inline(always)]
pub fn div<F: Divide>(a: F, b: F, mode: Mode) -> F {
    let (a, b) = (input(a, mode), input(b, mode));
    let nearest = a.nearest_div(b);
    let rounded = match mode.rounding {
        // No quotient of normal numbers is so close below the normal numbers that rounding before the flush makes a difference.
        Rounding::Nearest => input(nearest, mode),
        _ if b == F::ZERO => nearest,
        _ => directed(nearest, mode, [a, b], || exact(a).quotient(exact(b))),
    };
    output(rounded, [a, b, a], mode)
}

/// `rcp`: 1 / a.
#[inline(always)]
pub fn rcp<F: Divide>(a: F, mode: Mode) -> F {
    div(F::ONE, a, mode)
}

/// `sqrt`; a root is never subnormal.
#[inline(always)]
pub fn sqrt<F: Divide>(a: F, mode: Mode) -> F {
    let a = input(a, mode);
    let nearest = a.nearest_sqrt();
    let rounded = match mode.rounding {
        Rounding::Nearest => nearest,
        _ if a < F::ZERO => nearest,
        _ => directed(nearest, mode, [a], || exact(a).square_root()),
    };
    output(rounded, [a, a, a], mode)
}

/// `neg`.
#[inline(always)]
pub fn neg<F: Float>(a: F, mode: Mode) -> F {
    let a = input(a, mode);
    canonical(a.flip_sign(), [a, a, a])
}

/// `abs`.
#[inline(always)]
pub fn abs<F: Float>(a: F, mode: Mode) -> F {
    let a = input(a, mode);
    canonical(a.magnitude(), [a, a, a])
}

/// `copysign`: `b` with the sign of `a`; NaNs are otherwise unchanged.
#[inline(always)]
pub fn copysign<F: Float>(a: F, b: F) -> F {
    b.with_sign(a)
}

/// The modifiers of `min` and `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Extremum {
    /// `.ftz`.
    pub ftz: bool,
    /// `.NaN`: the result is NaN if one operand is; otherwise the other operand is the result.
    pub nan: bool,
    /// `.xorsign.abs`: compares magnitudes; the sign of the result is the product's.
    pub xorsign_abs: bool,
}

/// `min`; -0 is below +0.
#[inline(always)]
pub fn min<F: Float>(a: F, b: F, modifiers: Extremum) -> F {
    extremum(a, b, modifiers, |a, b| a < b || (a == b && a.sign_bit()))
}

/// `max`; +0 is above -0.
#[inline(always)]
pub fn max<F: Float>(a: F, b: F, modifiers: Extremum) -> F {
    extremum(a, b, modifiers, |a, b| a > b || (a == b && b.sign_bit()))
}

#[inline(always)]
fn extremum<F: Float>(a: F, b: F, modifiers: Extremum, first_wins: impl Fn(F, F) -> bool) -> F {
    let mode = Mode { ftz: modifiers.ftz, ..Mode::default() };
    let (a, b) = (input(a, mode), input(b, mode));
    let (x, y) = if modifiers.xorsign_abs { (a.magnitude(), b.magnitude()) } else { (a, b) };
    let chosen = if first_wins(x, y) || y.is_nan() { x } else { y };
    let chosen = if modifiers.xorsign_abs && (a.sign_bit() != b.sign_bit()) { chosen.flip_sign() } else { chosen };
    let chosen = if modifiers.nan && a.is_nan() { a } else { chosen };
    let chosen = if modifiers.nan && b.is_nan() { b } else { chosen };
    canonical(chosen, [b, a, a])
}

/// `.relu`: a negative number becomes +0; a NaN stays.
#[inline(always)]
pub fn relu<F: Float>(a: F) -> F {
    if a > F::ZERO || a.is_nan() { a } else { F::ZERO }
}

/// `.sat`: clamps to [0, 1]; NaN and -0 become +0.
#[inline(always)]
pub fn saturate<F: Float>(a: F) -> F {
    let above = if a > F::ZERO { a } else { F::ZERO };
    if above < F::ONE { above } else { F::ONE }
}

/// The properties that `testp` tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TestProperty {
    /// Neither infinite nor NaN.
    Finite,
    /// Plus or minus infinity.
    Infinite,
    /// Not NaN.
    Number,
    /// NaN.
    NotANumber,
    /// Finite and not subnormal. Zero is normal, as recorded.
    Normal,
    /// Smaller than every normal number, but not zero.
    Subnormal,
}

/// `testp`.
#[inline(always)]
pub fn test<F: Float>(a: F, property: TestProperty) -> bool {
    let subnormal = a != F::ZERO && a.flush() == F::ZERO;
    match property {
        TestProperty::Finite => a.is_finite(),
        TestProperty::Infinite => !a.is_finite() && !a.is_nan(),
        TestProperty::Number => !a.is_nan(),
        TestProperty::NotANumber => a.is_nan(),
        TestProperty::Normal => a.is_finite() && !subnormal,
        TestProperty::Subnormal => subnormal,
    }
}

/// Applies `.ftz` to an operand, or to a result that was not rounded.
#[inline(always)]
fn input<F: Float>(a: F, mode: Mode) -> F {
    if mode.ftz { a.flush() } else { a }
}

/// Applies `.sat`; without it, replaces a NaN by the NaN result for `operands`.
#[inline(always)]
fn output<F: Float>(a: F, operands: [F; 3], mode: Mode) -> F {
    if mode.sat { saturate(a) } else { canonical(a, operands) }
}

/// Replaces a NaN by the NaN result for the operands.
#[inline(always)]
fn canonical<F: Float>(a: F, [first, second, third]: [F; 3]) -> F {
    if a.is_nan() { F::nan_from(first, second, third) } else { a }
}

fn exact<F: Float>(a: F) -> Exact {
    F::FORMAT.unpack(a.word())
}

/// The exact result rounded, unless an operand is infinite or NaN: then the result to nearest is exact as well.
#[inline(never)]
fn directed<F: Float, const N: usize>(nearest: F, mode: Mode, operands: [F; N], result: impl Fn() -> Exact) -> F {
    if operands.iter().any(|operand| !operand.is_finite()) {
        return nearest;
    }
    let result = result();
    let tiny = mode.ftz && result.is_tiny(&F::FORMAT, mode.rounding);
    let result = if tiny { Exact { magnitude: 0, ..result } } else { result };
    F::from_word(result.round(&F::FORMAT, mode.rounding))
}

impl Float for f32 {
    const FORMAT: Format = Format::F32;
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;

    #[inline(always)]
    fn from_word(word: u64) -> f32 {
        f32::from_bits(word as u32)
    }
    #[inline(always)]
    fn word(self) -> u64 {
        u64::from(self.to_bits())
    }
    #[inline(always)]
    fn nearest_add(self, b: f32) -> f32 {
        self + b
    }
    #[inline(always)]
    fn nearest_mul(self, b: f32) -> f32 {
        self * b
    }
    #[inline(always)]
    fn nearest_fma(self, b: f32, c: f32) -> f32 {
        self.mul_add(b, c)
    }
    #[inline(always)]
    fn nan_from(_: f32, _: f32, _: f32) -> f32 {
        f32::from_bits(Self::FORMAT.nan as u32)
    }
    #[inline(always)]
    fn is_tiny(a: f32, b: f32, c: f32) -> bool {
        // Scaled up, the result is not subnormal and has the full precision. If it overflows, the true result cannot be tiny.
        const SCALE: f32 = 16_777_216.0;
        (a * SCALE).mul_add(b, c * SCALE).abs() < f32::MIN_POSITIVE * SCALE
    }
    #[inline(always)]
    fn flip_sign(self) -> f32 {
        f32::from_bits(self.to_bits() ^ 0x8000_0000)
    }
    #[inline(always)]
    fn with_sign(self, sign: f32) -> f32 {
        f32::from_bits(self.to_bits() & 0x7fff_ffff | sign.to_bits() & 0x8000_0000)
    }
    #[inline(always)]
    fn sign_bit(self) -> bool {
        self.to_bits() >> 31 != 0
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        // Compares the bits: the compiler may remove the comparison of a result with itself, and keep a NaN of any payload.
        self.to_bits() & 0x7fff_ffff > 0x7f80_0000
    }
    #[inline(always)]
    fn flush(self) -> f32 {
        let bits = self.to_bits();
        f32::from_bits(if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits })
    }
}

impl Float for f64 {
    const FORMAT: Format = Format::F64;
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    #[inline(always)]
    fn from_word(word: u64) -> f64 {
        f64::from_bits(word)
    }
    #[inline(always)]
    fn word(self) -> u64 {
        self.to_bits()
    }
    #[inline(always)]
    fn nearest_add(self, b: f64) -> f64 {
        self + b
    }
    #[inline(always)]
    fn nearest_mul(self, b: f64) -> f64 {
        self * b
    }
    #[inline(always)]
    fn nearest_fma(self, b: f64, c: f64) -> f64 {
        self.mul_add(b, c)
    }
    #[inline(always)]
    fn nan_from(first: f64, second: f64, third: f64) -> f64 {
        const QUIET: u64 = 1 << 51;
        let canonical = f64::from_bits(Self::FORMAT.nan);
        let quiet = |x: f64, other: f64| if x.is_nan() { f64::from_bits(x.to_bits() | QUIET) } else { other };
        quiet(first, quiet(second, quiet(third, canonical)))
    }
    #[inline(always)]
    fn flip_sign(self) -> f64 {
        f64::from_bits(self.to_bits() ^ 1 << 63)
    }
    #[inline(always)]
    fn with_sign(self, sign: f64) -> f64 {
        f64::from_bits(self.to_bits() & !(1 << 63) | sign.to_bits() & 1 << 63)
    }
    #[inline(always)]
    fn sign_bit(self) -> bool {
        self.to_bits() >> 63 != 0
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        self.to_bits() & !(1 << 63) > 0x7ff0_0000_0000_0000
    }
    #[inline(always)]
    fn flush(self) -> f64 {
        let bits = self.to_bits();
        f64::from_bits(if bits & 0x7ff0_0000_0000_0000 == 0 { bits & 1 << 63 } else { bits })
    }
}

impl Divide for f32 {
    #[inline(always)]
    fn nearest_div(self, b: f32) -> f32 {
        self / b
    }
    #[inline(always)]
    fn nearest_sqrt(self) -> f32 {
        self.sqrt()
    }
}

impl Divide for f64 {
    #[inline(always)]
    fn nearest_div(self, b: f64) -> f64 {
        self / b
    }
    #[inline(always)]
    fn nearest_sqrt(self) -> f64 {
        self.sqrt()
    }
}
