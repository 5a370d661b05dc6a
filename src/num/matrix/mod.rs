//! D = A * B + C, bit for bit as the tensor cores of an H200 (sm_90a) compute it; independent of registers and memory.
//!
//! A matrix is a tile of encoded elements in row-major order, each in the low bits of a `u32`. A [`Product`] has shape, types and
//! [`Rule`]; [`multiply`] computes all products except those of `.f64`, which are [`multiply_f64`].
//!
//! | rule | instructions | file |
//! | --- | --- | --- |
//! | one or two sums of products, whose terms are aligned, added exactly and rounded once | `f16 bf16 tf32`, fp8 | [`fused`] |
//! | a chain of `f32` operations | `mma.m8n8k4` of `f16` | [`chain`] |
//! | a chain of `fma.f64` | `.f64` | [`chain`] |
//! | exact sums of integers, or of bit counts | `s8 u8 s4 u4`, `b1` | [`integer`] |
//!
//! A sparse A has only its nonzero elements: [`Operands::sparse_rows`] is the row of B that each of them multiplies. Rows of B without
//! such an element are never multiplied, so an infinity or a NaN there has no effect.

mod accumulator;
mod chain;
mod element;
mod fused;
mod integer;
mod product;

use fused::{Cast, Truncation};

pub use accumulator::Accumulator;
pub use chain::multiply_f64;
pub use element::Element;
pub use product::{LANES, Operands, Product, Rule};

/// D from C, both M rows of N elements. A row of B that `sparse_rows` refers to and that does not exist is taken as zeros.
pub fn multiply(simd: pulp::Arch, product: &Product, operands: Operands<'_>, c: Vec<u32>) -> Vec<u32> {
    match simd {
        #[cfg(target_arch = "x86_64")]
        pulp::Arch::V3(simd) => pulp::Simd::vectorize(simd, Multiply { product, operands, c, truncation: simd }),
        _ => simd.dispatch(Multiply { product, operands, c, truncation: Cast }),
    }
}

struct Multiply<'a, T> {
    product: &'a Product,
    operands: Operands<'a>,
    c: Vec<u32>,
    truncation: T,
}

impl<T: Truncation> pulp::WithSimd for Multiply<'_, T> {
    type Output = Vec<u32>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> Vec<u32> {
        let Self { product, operands, c, truncation } = self;
        match product.rule {
            Rule::Fused | Rule::FusedHalves | Rule::Fused13Bits | Rule::ConvertedToHalves => {
                fused::multiply(truncation, product, operands, c)
            }
            Rule::Chain => chain::multiply(product, operands, c),
            Rule::Integer { .. } | Rule::Xor | Rule::And => integer::multiply(product, operands, c),
        }
    }
}
