//! Tensor maps: the arguments of `cuTensorMapEncodeTiled` and `cuTensorMapEncodeIm2col`. `bytes` makes of them the 128 bytes that a kernel
//! sees, `replace` changes a field of them, and `rules` says what the driver would reject.

mod bytes;
mod replace;
mod rules;

use crate::isa::{Interleave, L2Promotion, OutsideFill, Swizzle, TensorElement, TensorMode};

pub use bytes::NotAMap;
pub use rules::FieldError;

/// Bytes of a tensor map (PTX ISA, "Tensor-map").
pub const TENSOR_MAP_BYTES: usize = 128;

/// Dimensions of a tensor at most.
pub const RANK_MAX: usize = 5;

/// A tensor in global memory and how a box of it is taken. Dimensions go from the innermost out; those from `rank` on
/// mean nothing: one element each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// Where the tensor starts.
    pub address: u64,
    /// Its elements.
    pub element: TensorElement,
    /// How many dimensions it has.
    pub rank: usize,
    /// Elements of each dimension; of an interleaved tensor, slices in the dimension of channels, and in the others pixels.
    pub dims: [u64; RANK_MAX],
    /// Bytes from one index to the next, of all dimensions but the innermost.
    pub strides: [u64; RANK_MAX - 1],
    /// What a copy takes.
    pub shape: BoxShape,
    /// Step from one element of the box to the next in each dimension. The first counts in interleaved tensors only.
    pub element_strides: [u32; RANK_MAX],
    /// How channels are interleaved.
    pub interleave: Interleave,
    /// How 16-byte units change places in shared memory.
    pub swizzle: Swizzle,
    /// How much a load brings into the cache.
    pub promotion: L2Promotion,
    /// What elements outside the tensor read as.
    pub fill: OutsideFill,
}

/// What one copy takes of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxShape {
    /// Elements from first to last in each dimension, whether stepped over or not.
    Tile([u32; RANK_MAX]),
    /// This many channels of this many pixels, which follow each other within a bounding box.
    Im2col {
        /// First pixel of the bounding box in each spatial dimension, innermost first.
        lower: [i32; RANK_MAX - 2],
        /// Its last pixel, from the last one of the tensor.
        upper: [i32; RANK_MAX - 2],
        /// Elements of a pixel; in interleaved tensors, a slice always.
        channels: u32,
        /// Pixels of a copy.
        pixels: u32,
    },
}

impl TensorMap {
    /// What 128 zero bytes say, of which `tensormap.replace` may make a map.
    pub const EMPTY: TensorMap = TensorMap {
        address: 0,
        element: TensorElement::U8,
        rank: 1,
        dims: [1; RANK_MAX],
        strides: [0; RANK_MAX - 1],
        shape: BoxShape::Tile([1; RANK_MAX]),
        element_strides: [1; RANK_MAX],
        interleave: Interleave::None,
        swizzle: Swizzle::None,
        promotion: L2Promotion::None,
        fill: OutsideFill::Zero,
    };

    /// How a copy must walk that uses this map.
    pub fn mode(&self) -> TensorMode {
        match self.shape {
            BoxShape::Tile(_) => TensorMode::Tile,
            BoxShape::Im2col { .. } => TensorMode::Im2col,
        }
    }
}
