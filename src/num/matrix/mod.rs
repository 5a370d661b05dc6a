//! D = A * B + C, bit for bit as the tensor cores of an H200 (sm_90a) compute it; no registers and no memory in sight.
//!
//! A matrix here is a tile of raw elements, row by row, each in the low bits of a word, whatever registers or memory it came from. A
//! [`Product`] says shape, types and [`Rule`]; [`multiply`] does the work for everything but `.f64`, which is [`multiply_f64`].
//!
//! | rule | which instructions | file |
//! | --- | --- | --- |
//! | one or several sums of products, each aligned, added exactly and rounded once | `f16 bf16 tf32`, fp8 | [`fused`] |
//! | a chain of `f32` operations | `mma.m8n8k4` of `f16` | [`chain`] |
//! | a chain of `fma.f64` | `.f64` | [`chain`] |
//! | exact sums of integers, or of counted bits | `s8 u8 s4 u4`, `b1` | [`integer`] |
//!
//! A sparse A keeps some of its columns: [`Operands::kept`] says for each of its elements which row of B it meets. What was not kept is
//! never multiplied, so an infinity or a NaN there has no effect.

mod chain;
mod element;
mod fused;
mod integer;

pub use chain::multiply_f64;
pub use element::Element;

/// Columns that are computed together: the N of every instruction is a multiple.
pub const LANES: usize = 8;

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

/// What forms one sum, and how it is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// All products and C in one sum of 25 fraction bits. Where C and D have different types, both are `f32` in it, and the one that is
    /// not is converted.
    Fused,
    /// The same in two sums, of the lower and of the upper half of K, the second of which starts with the first: `wmma` of `.tf32`.
    FusedHalves,
    /// All products and C in one sum of 13 fraction bits; an `f32` result keeps 13: `wgmma` of fp8.
    FusedNarrow,
    /// Elements become `f16`; products of even pairs of columns are summed first, those of odd pairs after; C is added last, as `add`
    /// does: `mma` of fp8.
    Widened,
    /// A chain of `f32` operations in the order of K: `mma.m8n8k4` of `f16`.
    Chain,
    /// The exact sum of integers, modulo 2^32 or, if it saturates, clamped once.
    Integer {
        /// `.satfinite`.
        saturate: bool,
    },
    /// C and the number of bits that differ.
    Xor,
    /// C and the number of bits set in both.
    And,
}

/// What is multiplied, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Product {
    /// Rows of A, C and D.
    pub m: usize,
    /// Columns of B, C and D: a multiple of [`LANES`].
    pub n: usize,
    /// Elements in a row of A: of a sparse A, those that are kept. Of `b1` the elements are words of 32 bits.
    pub k: usize,
    /// Elements of A.
    pub a: Element,
    /// Elements of B.
    pub b: Element,
    /// Elements of C.
    pub c: Accumulator,
    /// Elements of D.
    pub d: Accumulator,
    /// How.
    pub rule: Rule,
}

/// The matrices, row by row.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a> {
    /// M rows of K elements.
    pub a: &'a [u32],
    /// Rows of N elements: K of them, or more if A is sparse.
    pub b: &'a [u32],
    /// M rows of N elements.
    pub c: &'a [u32],
    /// Of a sparse A: for each element of `a` the row of `b` that it meets.
    pub kept: Option<&'a [u16]>,
}

/// D, row by row. Rows of B that `kept` names and that are not there count as zeros.
pub fn multiply(simd: pulp::Arch, product: &Product, operands: Operands<'_>) -> Vec<u32> {
    simd.dispatch(Multiply { product, operands })
}

struct Multiply<'a> {
    product: &'a Product,
    operands: Operands<'a>,
}

impl pulp::WithSimd for Multiply<'_> {
    type Output = Vec<u32>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> Vec<u32> {
        let Self { product, operands } = self;
        match product.rule {
            Rule::Fused | Rule::FusedHalves | Rule::FusedNarrow | Rule::Widened => fused::multiply(product, operands),
            Rule::Chain => chain::multiply(product, operands),
            Rule::Integer { .. } | Rule::Xor | Rule::And => integer::multiply(product, operands),
        }
    }
}
