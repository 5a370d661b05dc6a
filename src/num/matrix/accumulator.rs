//! The elements of C and D.

use crate::num::exact::Format;
use crate::num::half::F16;

/// The type of C or of D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accumulator {
    /// `.f16`.
    F16,
    /// `.f32`.
    F32,
    /// `.s32`.
    S32,
}

/// The value of an element of C or D.
#[inline(always)]
pub(super) fn value(ty: Accumulator, bits: u32) -> f64 {
    match ty {
        Accumulator::F16 => f64::from(F16(bits as u16).to_f32()),
        Accumulator::F32 => f64::from(f32::from_bits(bits)),
        Accumulator::S32 => f64::from(bits as i32),
    }
}

/// The element of C or D nearest to `x`; a NaN becomes the canonical one.
#[inline(always)]
pub(super) fn nearest(ty: Accumulator, x: f64) -> u32 {
    match ty {
        Accumulator::F16 => u32::from(F16::from_f64(x).0),
        Accumulator::F32 if x.is_nan() => Format::F32.nan as u32,
        Accumulator::F32 => (x as f32).to_bits(),
        Accumulator::S32 => x as i32 as u32,
    }
}
