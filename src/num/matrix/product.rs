//! The description of a matrix product: shape, types, rule and operands.

use super::accumulator::Accumulator;
use super::element::Element;

/// The number of columns that are computed together: the N of every instruction is a multiple of it.
pub const LANES: usize = 8;

/// The rule by which sums are formed and rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// All products and C in one sum of 25 fraction bits. If C and D have different types, the sum is computed with both as `f32`.
    Fused,
    /// Two sums as in `Fused`, of the lower and of the upper half of K; the second adds to the result of the first: `wmma` of `.tf32`.
    FusedHalves,
    /// All products and C in one sum of 13 fraction bits; an `f32` result has 13 fraction bits: `wgmma` of fp8.
    Fused13Bits,
    /// Elements are converted to `f16`; products of even pairs of columns are summed first, those of odd pairs after; C is added last,
    /// rounded as by `add`: `mma` of fp8.
    ConvertedToHalves,
    /// A chain of `f32` operations in the order of K: `mma.m8n8k4` of `f16`.
    Chain,
    /// The exact sum of integers, modulo 2^32 or, if it saturates, clamped once.
    Integer {
        /// `.satfinite`.
        saturate: bool,
    },
    /// C plus the number of bits that differ.
    Xor,
    /// C plus the number of bits set in both.
    And,
}

/// A matrix product: its shape, its types and its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Product {
    /// Rows of A, C and D.
    pub m: usize,
    /// Columns of B, C and D: a multiple of [`LANES`].
    pub n: usize,
    /// Elements in a row of A; for a sparse A, those that are stored. For `b1`, 32-bit words.
    pub k: usize,
    /// Type of the elements of A.
    pub a: Element,
    /// Type of the elements of B.
    pub b: Element,
    /// Type of the elements of C.
    pub c: Accumulator,
    /// Type of the elements of D.
    pub d: Accumulator,
    /// The rule of the arithmetic.
    pub rule: Rule,
}

/// The matrices that are multiplied, in row-major order.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a> {
    /// M rows of K elements.
    pub a: &'a [u32],
    /// Rows of N elements: K of them, or more if A is sparse.
    pub b: &'a [u32],
    /// For a sparse A: the row of `b` that each element of `a` multiplies.
    pub sparse_rows: Option<&'a [u16]>,
}
