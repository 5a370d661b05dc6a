//! Scalar and matrix arithmetic, bit for bit as an NVIDIA H200 (sm_90a) computes it; independent of the machine.
//!
//! All functions here are functions of plain numbers. Integers are Rust's; a float is an `f32`, an `f64`, an [`F16`] or a [`Bf16`], and
//! instructions on floats take a [`Mode`]: the modifiers `.rn .rz .rm .rp`, `.ftz` and `.sat`. Functions for loops over lanes are always
//! inlined; with a literal mode they compile to a few instructions, and the loop is vectorized. Directed roundings use exact integer
//! arithmetic ([`exact`]).
//!
//! Rules that hold for all of them (PTX ISA, "Floating Point Instructions"; where it leaves a result undefined, as recorded on the H200):
//!
//! - A NaN result is canonical: `0x7fffffff` for `f32`, `0x7fff` for `f16` and `bf16`. Only `f64` operations propagate payloads.
//! - `.ftz` replaces subnormal inputs, and results that are subnormal after rounding, by zeros of the same sign.
//! - `.sat` clamps to [0, 1]; NaN and -0 become +0.
//! - No function raises an exception or depends on a mode of the host processor.

pub mod atomic;
pub mod bits;
pub mod compare;
pub mod convert;
pub mod exact;
pub mod float;
pub mod half;
pub mod int;
pub mod matrix;
pub mod special;
pub mod texture;
pub mod video;

pub use half::{Bf16, F16};

/// Rounding of a result that its type cannot represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Rounding {
    /// `.rn`: to nearest, ties to even.
    #[default]
    Nearest,
    /// `.rz`: towards zero.
    Zero,
    /// `.rm`: towards minus infinity.
    Down,
    /// `.rp`: towards plus infinity.
    Up,
    /// `.rna`: to nearest, ties away from zero.
    NearestAway,
}

/// The modifiers of a floating-point instruction that change its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Mode {
    /// `.rn .rz .rm .rp`.
    pub rounding: Rounding,
    /// `.ftz`: subnormal inputs and results become zeros of the same sign.
    pub ftz: bool,
    /// `.sat`: clamp the result to [0, 1], NaN to +0.
    pub sat: bool,
}
