//! The vocabulary of texture and surface instructions (PTX ISA, "Texture Instructions", "Surface Instructions", "Texture Sampler and
//! Surface Types").
//!
//! An *image* is what a handle denotes: a texture (texels and how to read them), a sampler (only how to read), or a surface (texels to read
//! and write).

#![allow(missing_docs, reason = "variants are the words of PTX itself")]

/// The kinds of opaque handles, `.texref`, `.samplerref` and `.surfref`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageKind {
    Texture,
    Sampler,
    Surface,
}

impl ImageKind {
    /// The type that declares such a handle, without its dot.
    pub fn word(self) -> &'static str {
        match self {
            ImageKind::Texture => "texref",
            ImageKind::Sampler => "samplerref",
            ImageKind::Surface => "surfref",
        }
    }

    /// What it is called in messages.
    pub fn noun(self) -> &'static str {
        match self {
            ImageKind::Texture => "texture",
            ImageKind::Sampler => "sampler",
            ImageKind::Surface => "surface",
        }
    }
}

/// The geometry that an instruction names: how many coordinates there are, and what else chooses a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum Geometry { D1, D2, D3, A1d, A2d, Cube, Acube }

impl Geometry {
    /// The words of all.
    #[rustfmt::skip]
    pub const WORDS: &'static [(&'static str, Geometry)] = &[
        ("1d", Geometry::D1), ("2d", Geometry::D2), ("3d", Geometry::D3), ("a1d", Geometry::A1d), ("a2d", Geometry::A2d),
        ("cube", Geometry::Cube), ("acube", Geometry::Acube),
    ];

    /// The word, without its dot.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize].0
    }

    /// Coordinates, without the index of the layer.
    pub fn coordinates(self) -> usize {
        match self {
            Geometry::D1 | Geometry::A1d => 1,
            Geometry::D2 | Geometry::A2d => 2,
            Geometry::D3 | Geometry::Cube | Geometry::Acube => 3,
        }
    }

    /// Whether the index of a layer comes before the coordinates.
    pub fn is_array(self) -> bool {
        matches!(self, Geometry::A1d | Geometry::A2d | Geometry::Acube)
    }

    /// Whether the coordinates are a direction that chooses a face of a cube.
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

/// How texels are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Filter {
    /// The nearest one.
    #[default]
    Point,
    /// A weighted mean of the two nearest in each dimension.
    Linear,
}

/// The addressing mode: how a coordinate out of range is mapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum AddressMode {
    /// It starts again at the other side; of normalized coordinates only, otherwise as `Clamp`.
    Wrap,
    /// The texel at the edge.
    #[default]
    Clamp,
    /// It goes back from the edge; of normalized coordinates only, otherwise as `Clamp`.
    Mirror,
    /// The border's color.
    Border,
}

/// How a texture is read (PTX ISA, "Texture Sampler and Surface Types").
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

/// What `txq` and `suq` ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum ImageQuery {
    Width, Height, Depth, ChannelDataType, ChannelOrder, NormalizedCoords, ArraySize, NumMipmapLevels, NumSamples,
    ForceUnnormalizedCoords, FilterMode, AddrMode0, AddrMode1, AddrMode2, MemoryLayout,
}

impl ImageQuery {
    /// The words of all.
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

    /// Whether samplers answer it.
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

    /// Values of `addr_mode_0` and kin.
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
