//! What is multiplied, and by which rule.

use super::accumulator::Accumulator;
use super::element::Element;

/// Columns that are computed together: the N of every instruction is a multiple.
pub const LANES: usize = 8;

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
    /// The rule of the arithmetic.
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
    /// Of a sparse A: for each element of `a` the row of `b` that it multiplies.
    pub sparse_rows: Option<&'a [u16]>,
}
