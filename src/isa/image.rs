//! The vocabulary of texture and surface instructions (PTX ISA, "Texture Instructions", "Surface Instructions", "Texture Sampler and
//! Surface Types").
//!
//! An *image* is the object that a handle denotes: a texture (texels and a sampler), a sampler, or a surface (texels to read and write).

#![allow(missing_docs, reason = "variants are the words of PTX itself")]

/// The opaque types `.texref`, `.samplerref` and `.surfref`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageKind {
    Texture,
    Sampler,
    Surface,
}

impl ImageKind {
    /// The opaque type, without its dot.
    pub fn word(self) -> &'static str {
        match self {
            ImageKind::Texture => "texref",
            ImageKind::Sampler => "samplerref",
            ImageKind::Surface => "surfref",
        }
    }

    /// The noun in messages.
    pub fn noun(self) -> &'static str {
        match self {
            ImageKind::Texture => "texture",
            ImageKind::Sampler => "sampler",
            ImageKind::Surface => "surface",
        }
    }
}

/// The geometry modifier of an instruction: the number of coordinates, and whether it selects a layer or a cube face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum Geometry { D1, D2, D3, A1d, A2d, Cube, Acube }

impl Geometry {
    /// The modifiers, without their dots.
    #[rustfmt::skip]
    pub const WORDS: &'static [(&'static str, Geometry)] = &[
        ("1d", Geometry::D1), ("2d", Geometry::D2), ("3d", Geometry::D3), ("a1d", Geometry::A1d), ("a2d", Geometry::A2d),
        ("cube", Geometry::Cube), ("acube", Geometry::Acube),
    ];

    /// The modifier, without its dot.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize].0
    }

    /// Number of coordinates, without the layer index.
    pub fn coordinates(self) -> usize {
        match self {
            Geometry::D1 | Geometry::A1d => 1,
            Geometry::D2 | Geometry::A2d => 2,
            Geometry::D3 | Geometry::Cube | Geometry::Acube => 3,
        }
    }

    /// True if a layer index precedes the coordinates.
    pub fn is_array(self) -> bool {
        matches!(self, Geometry::A1d | Geometry::A2d | Geometry::Acube)
    }

    /// True if the coordinates are a direction that selects a face of a cube.
    pub fn is_cube(self) -> bool {
        matches!(self, Geometry::Cube | Geometry::Acube)
    }
}

/// The mode of surface accesses out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SurfaceBounds {
    Trap,
    Clamp,
    Zero,
}

/// The filter mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Filter {
    /// The nearest one.
    #[default]
    Point,
    /// The weighted mean of the two nearest ones in each dimension.
    Linear,
}

/// The addressing mode: how a coordinate out of range is mapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum AddressMode {
    /// It wraps around; with normalized coordinates only, otherwise as `Clamp`.
    Wrap,
    /// The texel at the edge.
    #[default]
    Clamp,
    /// It is mirrored at the edge; with normalized coordinates only, otherwise as `Clamp`.
    Mirror,
    /// The border's color.
    Border,
}

/// The sampling parameters of a texture (PTX ISA, "Texture Sampler and Surface Types").
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampler {
    /// `filter_mode`.
    pub filter: Filter,
    /// `addr_mode_0`, `addr_mode_1`, `addr_mode_2`.
    pub address: [AddressMode; 3],
    /// `force_unnormalized_coords`.
    pub unnormalized: bool,
    /// The border's color.
    pub border: [f32; 4],
}

/// The properties that `txq` and `suq` query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum ImageQuery {
    Width, Height, Depth, ChannelDataType, ChannelOrder, NormalizedCoords, ArraySize, NumMipmapLevels, NumSamples,
    ForceUnnormalizedCoords, FilterMode, AddrMode0, AddrMode1, AddrMode2, MemoryLayout,
}

impl ImageQuery {
    /// The modifiers, without their dots.
    #[rustfmt::skip]
    pub const WORDS: &'static [(&'static str, ImageQuery)] = {
        use ImageQuery::*;
        &[
            ("width", Width), ("height", Height), ("depth", Depth), ("channel_data_type", ChannelDataType),
            ("channel_order", ChannelOrder), ("normalized_coords", NormalizedCoords), ("array_size", ArraySize),
            ("num_mipmap_levels", NumMipmapLevels), ("num_samples", NumSamples), ("force_unnormalized_coords", ForceUnnormalizedCoords),
            ("filter_mode", FilterMode), ("addr_mode_0", AddrMode0), ("addr_mode_1", AddrMode1), ("addr_mode_2", AddrMode2),
            ("memory_layout", MemoryLayout),
        ]
    };

    /// True if it is a property of a sampler.
    pub fn is_of_sampler(self) -> bool {
        use ImageQuery::{AddrMode0, AddrMode1, AddrMode2, FilterMode, ForceUnnormalizedCoords};
        matches!(self, ForceUnnormalizedCoords | FilterMode | AddrMode0 | AddrMode1 | AddrMode2)
    }
}

/// The fields of the initializer of a `.samplerref`, with the values that enumerated ones take.
pub mod sampler_field {
    use super::{AddressMode, Filter};

    /// Values of `filter_mode`.
    pub const FILTERS: &[(&str, Filter)] = &[("nearest", Filter::Point), ("linear", Filter::Linear)];

    /// Values of `addr_mode_0`, `addr_mode_1` and `addr_mode_2`.
    pub const ADDRESS_MODES: &[(&str, AddressMode)] = &[
        ("wrap", AddressMode::Wrap),
        ("mirror", AddressMode::Mirror),
        ("clamp_ogl", AddressMode::Clamp),
        ("clamp_to_edge", AddressMode::Clamp),
        ("clamp_to_border", AddressMode::Border),
    ];
}

/// The type of one channel of a texel in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum ChannelType { U8, S8, U16, S16, U32, S32, F16, F32 }

impl ChannelType {
    /// Size in bytes.
    pub fn bytes(self) -> u32 {
        match self {
            ChannelType::U8 | ChannelType::S8 => 1,
            ChannelType::U16 | ChannelType::S16 | ChannelType::F16 => 2,
            ChannelType::U32 | ChannelType::S32 | ChannelType::F32 => 4,
        }
    }
}
