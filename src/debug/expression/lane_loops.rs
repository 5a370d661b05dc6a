//! Loops over the lanes of a warp, compiled for the vector instructions of the host.

use crate::machine::PerLane;

/// Replaces each value, with the host's vector instructions.
#[inline(always)]
pub(super) fn each(values: &mut PerLane<u64>, change: impl Fn(u64) -> u64) {
    pulp::Arch::new().dispatch(Each { values, change });
}

/// Replaces each value on the left by what it makes with that on the right, with the host's vector instructions.
#[inline(always)]
pub(super) fn zip(left: &mut PerLane<u64>, right: &PerLane<u64>, combine: impl Fn(u64, u64) -> u64) {
    pulp::Arch::new().dispatch(Zip { left, right, combine });
}

/// One bit for each lane in which it holds, with the host's vector instructions.
#[inline(always)]
pub(super) fn bits(left: &PerLane<u64>, right: &PerLane<u64>, holds: impl Fn(u64, u64) -> bool) -> u32 {
    pulp::Arch::new().dispatch(Bits { left, right, holds })
}

struct Each<'a, F> {
    values: &'a mut PerLane<u64>,
    change: F,
}

struct Zip<'a, F> {
    left: &'a mut PerLane<u64>,
    right: &'a PerLane<u64>,
    combine: F,
}

struct Bits<'a, F> {
    left: &'a PerLane<u64>,
    right: &'a PerLane<u64>,
    holds: F,
}

impl<F: Fn(u64) -> u64> pulp::WithSimd for Each<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        for value in self.values {
            *value = (self.change)(*value);
        }
    }
}

impl<F: Fn(u64, u64) -> u64> pulp::WithSimd for Zip<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        for (left, right) in self.left.iter_mut().zip(self.right) {
            *left = (self.combine)(*left, *right);
        }
    }
}

impl<F: Fn(u64, u64) -> bool> pulp::WithSimd for Bits<'_, F> {
    type Output = u32;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> u32 {
        let lanes = self.left.iter().zip(self.right).enumerate();
        lanes.fold(0, |mask, (lane, (a, b))| mask | u32::from((self.holds)(*a, *b)) << lane)
    }
}
