//! Tensor maps: the arguments of `cuTensorMapEncodeTiled` and `cuTensorMapEncodeIm2col`. `bytes` encodes them into the 128 bytes that a
//! kernel receives, `replace` changes a field, and `rules` finds the errors for which the driver rejects a map.

mod bytes;
mod replace;
mod rules;

use crate::isa::{Interleave, L2Promotion, OutsideFill, Swizzle, TensorElement, TensorMode};

pub use bytes::TensorMapError;
pub use rules::FieldError;

/// Bytes of a tensor map (PTX ISA, "Tensor-map").
pub const TENSOR_MAP_BYTES: usize = 128;

/// Most dimensions of a tensor.
pub const RANK_MAX: usize = 5;

/// A tensor in global memory, and the box that one copy transfers. Dimensions are ordered from the innermost out; those from `rank` on are
/// unused and have one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// Address of the tensor.
    pub address: u64,
    /// Type of its elements.
    pub element: TensorElement,
    /// Number of dimensions.
    pub rank: usize,
    /// Elements of each dimension; in an interleaved tensor, slices in the channel dimension, and pixels in the others.
    pub dims: [u64; RANK_MAX],
    /// Bytes from one index to the next, of all dimensions but the innermost.
    pub strides: [u64; RANK_MAX - 1],
    /// The box of one copy.
    pub shape: BoxShape,
    /// Step from one element of the box to the next in each dimension. The first is used in interleaved tensors only.
    pub element_strides: [u32; RANK_MAX],
    /// The interleaving of channels.
    pub interleave: Interleave,
    /// The permutation of 16-byte units in shared memory.
    pub swizzle: Swizzle,
    /// The L2 promotion size of a load.
    pub promotion: L2Promotion,
    /// The value of elements outside the tensor.
    pub fill: OutsideFill,
}

/// The elements that one copy transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxShape {
    /// The extent of the box in each dimension, including elements that are stepped over.
    Tile([u32; RANK_MAX]),
    /// `channels` channels of `pixels` consecutive pixels of a bounding box.
    Im2col {
        /// First pixel of the bounding box in each spatial dimension, innermost first.
        lower: [i32; RANK_MAX - 2],
        /// Its last pixel, relative to the last one of the tensor.
        upper: [i32; RANK_MAX - 2],
        /// Elements of a pixel; in interleaved tensors always a slice.
        channels: u32,
        /// Pixels of a copy.
        pixels: u32,
    },
}

impl TensorMap {
    /// The map that 128 zero bytes encode, as a start for `tensormap.replace`.
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

    /// The mode that an instruction which uses this map must have.
    pub fn mode(&self) -> TensorMode {
        match self.shape {
            BoxShape::Tile(_) => TensorMode::Tile,
            BoxShape::Im2col { .. } => TensorMode::Im2col,
        }
    }
}
