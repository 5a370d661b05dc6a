//! Textures, samplers and surfaces: what handles denote in a launch.
//!
//! An image lies in a buffer of global memory, texel after texel, row after row, plane after plane (or layer, or face of a cube, or face
//! after face of layer after layer); every texel has its channels side by side. The hardware stores them in an order of its own, which no
//! program can see. A handle is an opaque 64-bit value: that of a variable of the module is its address, that of a parameter is made up
//! by the launch ([`map::image_handle`](super::map::image_handle)).

use std::sync::Arc;

use crate::isa::{ChannelType, Geometry, ImageKind, Sampler};

/// A texture, sampler or surface of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// The value that denotes it.
    pub handle: u64,
    /// How it is called in messages: the variable, or the buffer.
    pub name: Arc<str>,
    /// Its content.
    pub content: Content,
}

/// What a handle denotes.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Texels and how to read them.
    Texture(Texture),
    /// How to read texels.
    Sampler(Sampler),
    /// Texels to read and write.
    Surface(Texels),
}

/// Texels and how to read them.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// The texels.
    pub texels: Texels,
    /// How they are read where the instruction names no sampler.
    pub sampler: Sampler,
    /// Coordinates go from 0 to 1, not to the extent.
    pub normalized: bool,
    /// Integers of 8 and 16 bits are read as floats from 0 or -1 to 1.
    pub normalized_float: bool,
}

/// Texels in global memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Texels {
    /// Where the first one lies.
    pub address: u64,
    /// Type of a channel.
    pub channel: ChannelType,
    /// Channels of a texel: 1, 2 or 4.
    pub channels: u32,
    /// Width, height and depth in texels; 1 where there is no such dimension.
    pub extent: [u32; 3],
    /// What it looks like to instructions.
    pub geometry: Geometry,
    /// Layers of an array, or 1.
    pub layers: u32,
    /// Plain memory, not an array of CUDA's: only whole numbers address it.
    pub linear: bool,
}

impl Image {
    /// Which kind of handle it has.
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

    /// Whether components are read as floats.
    pub fn is_float(&self, normalized_float: bool) -> bool {
        match self.channel {
            ChannelType::F16 | ChannelType::F32 => true,
            ChannelType::U8 | ChannelType::S8 | ChannelType::U16 | ChannelType::S16 => normalized_float,
            ChannelType::U32 | ChannelType::S32 => false,
        }
    }

    /// Dimensions that have an extent of their own.
    pub fn dimensions(&self) -> usize {
        if self.geometry.is_cube() { 2 } else { self.geometry.coordinates() }
    }

    /// Planes one after the other: of the depth, or the faces, or the layers.
    pub fn planes(&self) -> u64 {
        let faces = if self.geometry.is_cube() { 6 } else { 1 };
        u64::from(self.extent[2]) * u64::from(self.layers) * faces
    }

    /// Bytes of all texels; `None` if they do not fit 64 bits.
    pub fn bytes(&self) -> Option<u64> {
        let rows = self.planes().checked_mul(u64::from(self.extent[1]))?;
        rows.checked_mul(u64::from(self.extent[0]))?.checked_mul(self.texel_bytes())
    }

    /// Where byte `x` of row `y` of plane `plane` lies.
    pub fn byte(&self, x: u64, y: u64, plane: u64) -> u64 {
        let row = u64::from(self.extent[0]) * self.texel_bytes();
        self.address + (plane * u64::from(self.extent[1]) + y) * row + x
    }
}

/// The image with this handle, among images in order of handle.
pub fn find(images: &[Image], handle: u64) -> Option<&Image> {
    images.binary_search_by_key(&handle, |image| image.handle).ok().and_then(|index| images.get(index))
}
