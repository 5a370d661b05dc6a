//! Textures, samplers and surfaces: the objects that handles denote in a launch.
//!
//! An image is stored in a buffer of global memory in row-major order, plane after plane (planes of the depth, layers, or faces of a cube;
//! of layered cubes all faces of a layer, then the next layer); the channels of a texel are adjacent. The layout of the hardware is
//! different, but no program can observe it. A handle is an opaque 64-bit value: for a module variable its address, for a parameter one
//! that the launch assigns ([`map::image_handle`](super::map::image_handle)).

use std::sync::Arc;

use crate::isa::{ChannelType, Geometry, ImageKind, Sampler};

/// A texture, sampler or surface of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// Its handle.
    pub handle: u64,
    /// Its name in messages: that of the variable, or of the buffer.
    pub name: Arc<str>,
    /// Its content.
    pub content: Content,
}

/// The object that a handle denotes.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Texels with their sampling parameters.
    Texture(Texture),
    /// The sampling parameters.
    Sampler(Sampler),
    /// Texels to read and write.
    Surface(Texels),
}

/// Texels with their sampling parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// The texels.
    pub texels: Texels,
    /// The sampler if the instruction names none.
    pub sampler: Sampler,
    /// Coordinates are normalized: from 0 to 1, not to the extent.
    pub normalized: bool,
    /// Integers of 8 and 16 bits are read as floats from 0 or -1 to 1.
    pub normalized_float: bool,
}

/// Texels in global memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Texels {
    /// Address of the first one.
    pub address: u64,
    /// Type of a channel.
    pub channel: ChannelType,
    /// Channels of a texel: 1, 2 or 4.
    pub channels: u32,
    /// Width, height and depth in texels; 1 if there is no such dimension.
    pub extent: [u32; 3],
    /// The geometry that instructions must name.
    pub geometry: Geometry,
    /// Layers of an array, or 1.
    pub layers: u32,
    /// Linear memory, not a CUDA array: coordinates are integers.
    pub linear: bool,
}

impl Image {
    /// The kind of its handle.
    pub fn kind(&self) -> ImageKind {
        match self.content {
            Content::Texture(_) => ImageKind::Texture,
            Content::Sampler(_) => ImageKind::Sampler,
            Content::Surface(_) => ImageKind::Surface,
        }
    }

    /// The texels of a texture or surface.
    pub fn texels(&self) -> Option<&Texels> {
        match &self.content {
            Content::Texture(texture) => Some(&texture.texels),
            Content::Surface(texels) => Some(texels),
            Content::Sampler(_) => None,
        }
    }
}

impl Texels {
    /// Bytes of a texel.
    pub fn texel_bytes(&self) -> u64 {
        u64::from(self.channel.bytes()) * u64::from(self.channels)
    }

    /// True if components are read as floats.
    pub fn is_float(&self, normalized_float: bool) -> bool {
        match self.channel {
            ChannelType::F16 | ChannelType::F32 => true,
            ChannelType::U8 | ChannelType::S8 | ChannelType::U16 | ChannelType::S16 => normalized_float,
            ChannelType::U32 | ChannelType::S32 => false,
        }
    }

    /// Number of dimensions; 2 for the faces of a cube.
    pub fn dimensions(&self) -> usize {
        if self.geometry.is_cube() { 2 } else { self.geometry.coordinates() }
    }

    /// Number of planes: depth times faces times layers.
    pub fn planes(&self) -> u64 {
        let faces = if self.geometry.is_cube() { 6 } else { 1 };
        u64::from(self.extent[2]) * u64::from(self.layers) * faces
    }

    /// Bytes of all texels; `None` if they do not fit 64 bits.
    pub fn bytes(&self) -> Option<u64> {
        let rows = self.planes().checked_mul(u64::from(self.extent[1]))?;
        rows.checked_mul(u64::from(self.extent[0]))?.checked_mul(self.texel_bytes())
    }

    /// Address of byte `x` of row `y` of plane `plane`.
    pub fn byte(&self, x: u64, y: u64, plane: u64) -> u64 {
        let row = u64::from(self.extent[0]) * self.texel_bytes();
        self.address + (plane * u64::from(self.extent[1]) + y) * row + x
    }
}

/// The image with this handle, in a list sorted by handle.
pub fn find(images: &[Image], handle: u64) -> Option<&Image> {
    images.binary_search_by_key(&handle, |image| image.handle).ok().and_then(|index| images.get(index))
}
