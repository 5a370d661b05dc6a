//! Scalar and matrix arithmetic, bit for bit as an NVIDIA H200 (sm_90a) computes it; independent of the machine.
//!
//! Everything here is a function of plain numbers. Integers are Rust's; a float is an `f32`, an `f64`, an [`F16`] or a [`Bf16`], and
//! instructions on floats take a [`Mode`]: the words `.rn .rz .rm .rp`, `.ftz` and `.sat`. Functions meant for loops over lanes are
//! always inlined, and with a literal mode they reduce to a few instructions that vectorize; directed roundings go through exact
//! integer arithmetic ([`exact`]).
//!
//! Rules that hold throughout (PTX ISA, "Floating Point Instructions"; what it leaves open is recorded on the H200):
//!
//! - A NaN result of `f32` is `0x7fffffff`, of `f16` and `bf16` `0x7fff`, whatever NaN went in. Only `f64` keeps payloads.
//! - `.ftz` takes subnormal inputs for zeros of the same sign, and a result that is subnormal once it has been rounded becomes such a zero.
//! - `.sat` clamps to [0, 1]; NaN and -0 become +0.
//! - Nothing raises an exception or depends on a processor's mode.

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

/// Rounding of a result that its type cannot hold.
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

/// The words of a floating-point instruction that change its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Mode {
    /// `.rn .rz .rm .rp`.
    pub rounding: Rounding,
    /// `.ftz`: subnormal inputs and results become zeros of the same sign.
    pub ftz: bool,
    /// `.sat`: clamp the result to [0, 1], NaN to +0.
    pub sat: bool,
}
