//! Texture lookups: which texels, with which weights, and their mean.

use smallvec::SmallVec;

use super::place::{Axis, face};
use super::texel::Texel;
use crate::isa::{AddressMode, ChannelType, Filter, Geometry, Sampler};
use crate::num::texture::{mean, mean_of_fractions, to_half, weights};
use crate::program::{Texels, Texture};

/// Order of the texels of `tld4`, by their place in a square of which x changes fastest.
const GATHERED: [usize; 4] = [2, 3, 1, 0];

/// A lookup of one lane.
#[derive(Clone, Debug)]
pub struct Lookup<'a> {
    /// The texture.
    pub texture: &'a Texture,
    /// The sampling modes.
    pub sampler: &'a Sampler,
    /// The geometry of the instruction.
    pub geometry: Geometry,
    /// Index of the layer, then the coordinates, then the offsets in texels.
    pub place: &'a [u32],
    /// Coordinates are `.f32`, not `.s32`.
    pub float: bool,
    /// The component that is gathered from four texels.
    pub gather: Option<usize>,
}

/// A texel at the address, or the border.
type Corner = Option<u64>;

/// The result of a lookup; `read` reads the texel at an address.
pub fn sample(lookup: &Lookup<'_>, mut read: impl FnMut(u64) -> Texel) -> Texel {
    if lookup.is_nowhere() {
        return Texel::default();
    }
    let (plane, axes, coordinates) = lookup.planar();
    let linear = lookup.is_linear();
    let is_float = lookup.texture.texels.is_float(lookup.texture.normalized_float);
    let mut lows: SmallVec<[(i64, i64); 3]> = SmallVec::new();
    for ((axis, coordinate), offset) in axes.iter().zip(&coordinates).zip(lookup.offsets()) {
        let (low, fraction) = coordinate.texels(*axis, linear);
        lows.push((low + offset, fraction));
    }
    let corners = if linear { 1 << lows.len() } else { 1 };
    let mut texels: SmallVec<[Texel; 8]> = SmallVec::new();
    for corner in 0..corners {
        texels.push(match lookup.corner(corner, &axes, &lows, plane) {
            Some(address) => read(address),
            None => lookup.border(),
        });
    }
    let texel = match lookup.gather {
        Some(component) => Texel(GATHERED.map(|index| texels[index].0[component])),
        None if linear && is_float => blend(&texels, &lows, lookup.texture.texels.channel),
        None => texels[0],
    };
    match lookup.texture.texels.channel {
        ChannelType::S8 | ChannelType::S16 if is_float => Texel(texel.0.map(|word| f32::from_bits(word).max(-1.0).to_bits())),
        ChannelType::U8
        | ChannelType::S8
        | ChannelType::U16
        | ChannelType::S16
        | ChannelType::U32
        | ChannelType::S32
        | ChannelType::F16
        | ChannelType::F32 => texel,
    }
}

/// A coordinate as the instruction gives it.
#[derive(Clone, Copy)]
enum Coordinate {
    Float(f32),
    Int(i64),
}

impl Coordinate {
    /// The lower of the texels that are read, and the fraction of the upper one.
    fn texels(self, axis: Axis, linear: bool) -> (i64, i64) {
        match self {
            Coordinate::Int(index) => (index, 0),
            Coordinate::Float(x) if linear => axis.lower(x),
            Coordinate::Float(x) => (axis.whole(x), 0),
        }
    }
}

impl Lookup<'_> {
    /// Whether it gives zero wherever it is, as recorded: of one dimension, plain memory is read by whole numbers, and all else by floats;
    /// and whole numbers name a layer that is there.
    fn is_nowhere(&self) -> bool {
        let texels = &self.texture.texels;
        let no_layer = !self.float && self.geometry.is_array() && self.place[0] >= texels.layers;
        no_layer || self.geometry == Geometry::D1 && texels.linear == self.float
    }

    /// Whether it takes all the texels around the point.
    fn is_linear(&self) -> bool {
        self.gather.is_some() || self.sampler.filter == Filter::Linear && self.float
    }

    /// The plane that is read, the dimensions in it, and the coordinates.
    fn planar(&self) -> (u64, SmallVec<[Axis; 3]>, SmallVec<[Coordinate; 3]>) {
        let texels = &self.texture.texels;
        let layer = if self.geometry.is_array() { u64::from(self.place[0].min(texels.layers.saturating_sub(1))) } else { 0 };
        let first = usize::from(self.geometry.is_array());
        let words = &self.place[first..first + self.geometry.coordinates()];
        if self.geometry.is_cube() {
            let direction = [0, 1, 2].map(|index| f32::from_bits(words[index]));
            let (face, place) = face(direction);
            let axes = [0, 1].map(|index| self.axis(index, true)).into_iter().collect();
            return (layer * 6 + face, axes, place.into_iter().map(Coordinate::Float).collect());
        }
        let normalized = self.texture.normalized && !self.sampler.unnormalized && self.float;
        let mut axes: SmallVec<[Axis; 3]> = (0..words.len()).map(|index| self.axis(index, normalized)).collect();
        let coordinate = |word: &u32| {
            if self.float { Coordinate::Float(f32::from_bits(*word)) } else { Coordinate::Int(i64::from(*word as i32)) }
        };
        let mut coordinates: SmallVec<[Coordinate; 3]> = words.iter().map(coordinate).collect();
        if self.geometry == Geometry::D1 && self.is_linear() {
            // To the hardware it is a plane of one row, read at its upper edge: half of the result is what lies above.
            axes.push(self.axis(1, normalized));
            coordinates.push(Coordinate::Float(0.0));
        }
        (layer, axes, coordinates)
    }

    fn axis(&self, index: usize, normalized: bool) -> Axis {
        // Whole numbers name texels, and outside there are none.
        let mode = if self.float { self.sampler.address[index] } else { AddressMode::Border };
        Axis { extent: self.texture.texels.extent[index], mode, normalized }
    }

    /// The offsets in texels, 0 where there are none.
    fn offsets(&self) -> impl Iterator<Item = i64> + '_ {
        // The vendor's assembler takes an offset of a single coordinate, and the hardware does nothing with it.
        let is_used = self.geometry != Geometry::D1;
        let first = if is_used { usize::from(self.geometry.is_array()) + self.geometry.coordinates() } else { self.place.len() };
        let offsets = self.place[first..].iter().map(|word| i64::from(*word as i32));
        offsets.chain(std::iter::repeat(0))
    }

    /// The address of one of the texels around the point.
    fn corner(&self, corner: usize, axes: &[Axis], lows: &[(i64, i64)], plane: u64) -> Corner {
        let mut index = [0, 0, 0];
        for (dimension, (axis, (low, _))) in axes.iter().zip(lows).enumerate() {
            index[dimension] = u64::from(axis.texel(low + (corner as i64 >> dimension & 1))?);
        }
        let texels: &Texels = &self.texture.texels;
        Some(texels.byte(index[0] * texels.texel_bytes(), index[1], plane + index[2]))
    }

    /// The border's color, as far as the type of the texels can hold it; integers have none.
    fn border(&self) -> Texel {
        let texture = self.texture;
        if !self.float || !texture.texels.is_float(texture.normalized_float) {
            return Texel::default();
        }
        let cut = |component: f32, low: f32, whole: f32| (component.max(low).min(1.0) * whole).trunc() / whole;
        let held = |component: f32| match texture.texels.channel {
            ChannelType::U8 => cut(component, 0.0, f32::from(u8::MAX)),
            ChannelType::S8 => cut(component, -1.0, f32::from(i8::MAX)),
            ChannelType::U16 => cut(component, 0.0, f32::from(u16::MAX)),
            ChannelType::S16 => cut(component, -1.0, f32::from(i16::MAX)),
            ChannelType::U32 | ChannelType::S32 | ChannelType::F16 | ChannelType::F32 => component,
        };
        Texel(self.sampler.border.map(|component| held(component).to_bits()))
    }
}

/// The mean of texels by their nearness, in the precision of the channel: integers have 16 bits then, halves remain halves.
fn blend(texels: &[Texel], lows: &[(i64, i64)], channel: ChannelType) -> Texel {
    let fractions: SmallVec<[i64; 3]> = lows.iter().map(|(_, fraction)| *fraction).collect();
    let weights = weights(&fractions);
    let component = |index: usize| {
        let values = weights.iter().zip(texels).map(|(weight, texel)| (*weight, f32::from_bits(texel.0[index])));
        let mean = match channel {
            ChannelType::U8 | ChannelType::U16 => mean_of_fractions(values, f32::from(u16::MAX)),
            ChannelType::S8 | ChannelType::S16 => mean_of_fractions(values, f32::from(i16::MAX)),
            ChannelType::F16 => to_half(mean(values)),
            ChannelType::U32 | ChannelType::S32 | ChannelType::F32 => mean(values),
        };
        mean.to_bits()
    };
    Texel([0, 1, 2, 3].map(component))
}
