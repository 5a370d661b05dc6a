//! The arithmetic of `atom` and `red` (PTX ISA, "atom", "red").

use super::Mode;
use super::float::{self, Extremum, Float};

/// `.inc`: counts up to `limit`, then restarts at 0.
#[inline(always)]
pub fn increment(old: u64, limit: u64) -> u64 {
    if old >= limit { 0 } else { old + 1 }
}

/// `.dec`: counts down to 0, then restarts at `limit`.
#[inline(always)]
pub fn decrement(old: u64, limit: u64) -> u64 {
    if old == 0 || old > limit { limit } else { old - 1 }
}

/// `.add` of floats; `ftz` flushes subnormal numbers, as `.f32` in global memory does. If both operands are NaN, the result is the old one.
#[inline(always)]
pub fn add<F: Float>(old: F, b: F, ftz: bool) -> F {
    float::add(b, old, Mode { ftz, ..Mode::default() })
}

/// `.add.f64` in global memory, whose adder returns a NaN operand unchanged, even a signalling one; if both are NaN, the new one.
#[inline(always)]
pub fn add_in_global_memory(old: f64, b: f64) -> f64 {
    match (Float::is_nan(b), Float::is_nan(old)) {
        (true, _) => b,
        (false, true) => old,
        (false, false) => add(old, b, false),
    }
}

/// `.min` of floats.
#[inline(always)]
pub fn min<F: Float>(old: F, b: F) -> F {
    float::min(old, b, Extremum::default())
}

/// `.max` of floats.
#[inline(always)]
pub fn max<F: Float>(old: F, b: F) -> F {
    float::max(old, b, Extremum::default())
}
