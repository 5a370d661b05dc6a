//! Asynchronous matrix multiplications of a warpgroup (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"). There are few of
//! them, so what they do lies in a table beside the code.

use super::{Dst, PredSrc, Src};
use crate::base::define_id;
use crate::isa::{Major, ScalarType};

define_id!(
    /// A `wgmma.mma_async`: an index into [`Program::wgmmas`](super::Program).
    WgmmaId, "wgmma"
);

/// `wgmma.mma_async`: D = A * B + D, of 64 by `columns` elements, 16 rows of which belong to each warp of the warpgroup.
#[derive(Clone, Debug, PartialEq)]
pub struct WgmmaOp {
    /// Type of D.
    pub d_type: ScalarType,
    /// Type of the elements of A; of `.b1`, of which elements are 32 neighbouring ones, `B32`.
    pub a_type: ScalarType,
    /// Type of the elements of B.
    pub b_type: ScalarType,
    /// N.
    pub columns: u32,
    /// K, in elements of that type.
    pub depth: u32,
    /// The registers of the warp's part of D, 32 bits each.
    pub d: Box<[Dst]>,
    /// A.
    pub a: WgmmaA,
    /// The descriptor of B, a 64-bit value.
    pub b: Src,
    /// How B lies.
    pub b_major: Major,
    /// What says which elements of A are kept, if it is sparse.
    pub sparsity: Option<Sparsity>,
    /// `scale-d`: whether D is added.
    pub accumulate: PredSrc,
    /// `imm-scale-a` is -1.
    pub negate_a: bool,
    /// `imm-scale-b` is -1.
    pub negate_b: bool,
    /// `.satfinite`.
    pub saturate: bool,
}

/// Operand A of a `wgmma`.
#[derive(Clone, Debug, PartialEq)]
pub enum WgmmaA {
    /// In shared memory: its descriptor, a 64-bit value, and how it lies.
    Shared(Src, Major),
    /// In four registers of 32 bits.
    Registers(Box<[Src]>),
}

/// Which elements of a sparse A are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sparsity {
    /// The metadata, a 32-bit value.
    pub metadata: Src,
    /// Whose lanes' metadata count.
    pub selector: u8,
}
