//! Tensor maps of a launch file. As in `file`, the doc comments are the reference of the format.

use serde::{Deserialize, Serialize};

use super::file::Buffer;
use super::image::BufferRef;
use crate::isa::{Interleave, L2Promotion, OutsideFill, Swizzle, TensorElement};

/// A tensor map (cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col): 128 opaque bytes that describe a tensor in global memory. It has
/// either `box`, for tiles, or `im2col`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorMap {
    /// The tensor's memory, from its first byte on.
    pub buffer: BufferRef,
    /// Type of the tensor's elements, independent of the buffer's.
    pub elem: TensorElement,
    /// Elements in each dimension, innermost first.
    pub dims: Vec<u64>,
    /// Bytes from one index to the next, for all dimensions but the innermost.
    pub strides: Vec<u64>,
    /// Step from one element of the box to the next in each dimension: 1 everywhere if omitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub element_strides: Vec<u32>,
    /// The interleave mode of the channels.
    #[serde(default)]
    pub interleave: Interleave,
    /// The swizzle mode: the permutation of 16-byte units in shared memory.
    #[serde(default)]
    pub swizzle: Swizzle,
    /// The L2 promotion size, which changes no result.
    #[serde(default, skip_serializing_if = "is_none")]
    pub l2_promotion: L2Promotion,
    /// The value of elements outside the tensor.
    #[serde(default)]
    pub fill: OutsideFill,
    /// Elements of the box in each dimension.
    #[serde(rename = "box", default, skip_serializing_if = "Option::is_none")]
    pub tile: Option<Vec<u32>>,
    /// The pixels of a copy, and their bounding box.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub im2col: Option<Im2col>,
}

/// The pixels of a copy, and their bounding box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Im2col {
    /// First pixel of the bounding box in each spatial dimension, innermost first.
    pub lower: Vec<i32>,
    /// Its last pixel, relative to the last one of the tensor.
    pub upper: Vec<i32>,
    /// Channels of a pixel.
    pub channels: u32,
    /// Pixels of a copy.
    pub pixels: u32,
}

impl TensorMap {
    /// Sets `buffer` as the tensor: all of it, contiguous, if its shape is known.
    pub fn describe(&mut self, buffer: Buffer) {
        if let Some(shape) = &buffer.shape {
            self.dims = shape.iter().rev().copied().collect();
            self.strides = strides(&self.dims, self.elem);
        }
        self.buffer = BufferRef::Buffer(buffer);
    }
}

/// Bytes from one index to the next, for all dimensions but the innermost, of a contiguous array.
fn strides(dims: &[u64], elem: TensorElement) -> Vec<u64> {
    let sizes = dims.iter().scan(u64::from(elem.bytes()), |bytes, extent| {
        *bytes = bytes.saturating_mul(*extent);
        Some(*bytes)
    });
    sizes.take(dims.len().saturating_sub(1)).collect()
}

fn is_none(promotion: &L2Promotion) -> bool {
    *promotion == L2Promotion::None
}
