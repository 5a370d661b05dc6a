//! Products that are chains of separately rounded operations: `mma.m8n8k4` of `f16`, which sm_90 has no tensor cores for, and `.f64`.

use super::accumulator::{Accumulator, nearest, value};
use super::product::{Operands, Product};
use crate::num::half::F16;
use crate::num::{Mode, Rounding, float};

/// D of `mma.m8n8k4` of `f16` in the place of C, as the routine that emulates it computes it.
#[inline(always)]
pub fn multiply(product: &Product, operands: Operands<'_>, mut d: Vec<u32>) -> Vec<u32> {
    for (index, d) in d.iter_mut().enumerate() {
        let (row, column) = (index / product.n, index % product.n);
        let a = |k: usize| F16(operands.a[row * product.k + k] as u16).to_f32();
        let b = |k: usize| F16(operands.b[k * product.n + column] as u16).to_f32();
        let c = *d;
        *d = if product.d == Accumulator::F16 { halves(a, b, c) } else { in_order(a, b, c, product) };
    }
    d
}

/// The sum for an `f32` D: one chain from k = 0, to which C is added last.
#[inline(always)]
fn in_order(a: impl Fn(usize) -> f32, b: impl Fn(usize) -> f32, c: u32, product: &Product) -> u32 {
    let sum = (0..product.k).fold(0.0, |sum: f32, k| a(k).mul_add(b(k), sum));
    nearest(Accumulator::F32, value(product.c, c) + f64::from(sum))
}

/// The sum for an `f16` D: two chains, of k = 0 and 1 and of k = 2 and 3, added to C one after the other.
#[inline(always)]
fn halves(a: impl Fn(usize) -> f32, b: impl Fn(usize) -> f32, c: u32) -> u32 {
    let pair = |k: usize| a(k + 1).mul_add(b(k + 1), a(k) * b(k));
    let sum = (F16(c as u16).to_f32() + pair(0)) + pair(2);
    nearest(Accumulator::F16, f64::from(sum))
}

/// D, in row-major order, for matrices of `.f64` of the shape `[m, n, k]`: a chain of `fma` in the order of K that starts with C.
#[must_use]
pub fn multiply_f64([m, n, k]: [usize; 3], a: &[f64], b: &[f64], c: &[f64], rounding: Rounding) -> Vec<f64> {
    let mode = Mode { rounding, ..Mode::default() };
    let element = |index: usize| {
        let (row, column) = (index / n, index % n);
        (0..k).fold(c[index], |sum, inner| float::fma(a[row * k + inner], b[inner * n + column], sum, mode))
    };
    (0..m * n).map(element).collect()
}
