//! Textures, samplers and surfaces of a launch file. As in `file`, the doc comments are the reference of the format.

use serde::{Deserialize, Serialize};

use super::element::Element;
use super::file::Buffer;
use crate::isa::{AddressMode, Filter};

/// The object that the handle of a variable or parameter refers to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Image {
    /// Texels and how to read them.
    Texture(Texture),
    /// How to read texels.
    Sampler(Sampler),
    /// Texels to read and write.
    Surface(Surface),
}

impl Image {
    /// The word for it in messages.
    pub fn noun(&self) -> &'static str {
        match self {
            Image::Texture(_) => "texture",
            Image::Sampler(_) => "sampler",
            Image::Surface(_) => "surface",
        }
    }
}

/// The memory of a texture or surface.
#[expect(clippy::large_enum_variant, reason = "a launch has few of them")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum BufferRef {
    /// A buffer defined here.
    Buffer(Buffer),
    /// A buffer defined before.
    Alias(String),
    /// A buffer defined before, from this byte on.
    Offset(String, u64),
}

/// Texels and how to read them (cudaCreateTextureObject).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Texture")]
pub struct Texture {
    /// The memory of the texels: row after row, plane, layer or face after the other.
    pub buffer: BufferRef,
    /// Width, height and depth in texels: one, two or three extents.
    pub shape: Vec<u32>,
    /// Layers of a layered texture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<u32>,
    /// True for a cubemap, of six square faces: +x, -x, +y, -y, +z, -z.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cube: bool,
    /// True for linear memory (cudaResourceTypeLinear): one extent, no filtering, and zero outside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub linear_memory: bool,
    /// Channels of a texel: 1, 2 or 4.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub channels: u32,
    /// Type of a channel, if it is not that of the buffer's elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elem: Option<Element>,
    /// How texels are combined.
    #[serde(default)]
    pub filter: Filter,
    /// The mode for coordinates out of range: one for all dimensions, or one for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub address: Vec<AddressMode>,
    /// True if coordinates range from 0 to 1, false if to the extent.
    #[serde(default)]
    pub normalized: bool,
    /// The type that reads return.
    #[serde(default)]
    pub read: ReadMode,
    /// The border's color.
    #[serde(default, skip_serializing_if = "is_black")]
    pub border: [f32; 4],
}

/// How to read texels, for instructions with a separate sampler operand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Sampler")]
pub struct Sampler {
    /// How texels are combined.
    #[serde(default)]
    pub filter: Filter,
    /// The mode for coordinates out of range: one for all dimensions, or one for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub address: Vec<AddressMode>,
    /// True if coordinates range to the extent even for textures with normalized coordinates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force_unnormalized: bool,
    /// The border's color.
    #[serde(default, skip_serializing_if = "is_black")]
    pub border: [f32; 4],
}

/// Texels to read and write (cudaCreateSurfaceObject).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Surface")]
pub struct Surface {
    /// The memory of the texels.
    pub buffer: BufferRef,
    /// Width, height and depth in texels: one, two or three extents.
    pub shape: Vec<u32>,
    /// Layers of a layered surface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<u32>,
    /// Channels of a texel: 1, 2 or 4.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub channels: u32,
    /// Type of a channel, if it is not that of the buffer's elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elem: Option<Element>,
}

/// The type that reads of texels return (cudaTextureReadMode).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReadMode {
    /// The type of the texels.
    #[default]
    Element,
    /// Integers of 8 and 16 bits as floats from 0 or -1 to 1.
    NormalizedFloat,
}

fn one() -> u32 {
    1
}

fn is_one(channels: &u32) -> bool {
    *channels == 1
}

fn is_black(border: &[f32; 4]) -> bool {
    *border == [0.0; 4]
}
