//! Texture lookups: the texels, their weights, and the weighted mean.

use smallvec::SmallVec;

use super::place::{Axis, face};
use super::texel::Texel;
use crate::isa::{AddressMode, ChannelType, Filter, Geometry, Sampler};
use crate::num::texture::{mean, mean_of_fractions, to_half, weights};
use crate::program::{Texels, Texture};

/// The order of the texels of `tld4`, by their index in the 2 x 2 footprint, x fastest.
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
    /// The index of the layer, then the coordinates, then the offsets in texels.
    pub coordinates: &'a [u32],
    /// True if coordinates are `.f32`, false if `.s32`.
    pub float: bool,
    /// The component that `tld4` gathers from four texels.
    pub gather: Option<usize>,
}

/// The address of a texel; none for the border.
type Corner = Option<u64>;

/// The result of a lookup; `read` reads the texel at an address.
pub fn sample(lookup: &Lookup<'_>, mut read: impl FnMut(u64) -> Texel) -> Texel {
    if lookup.returns_zero() {
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

/// A coordinate of the instruction.
#[derive(Clone, Copy)]
enum Coordinate {
    Float(f32),
    Int(i64),
}

impl Coordinate {
    /// The lower texel, and the fraction of the upper one.
    fn texels(self, axis: Axis, linear: bool) -> (i64, i64) {
        match self {
            Coordinate::Int(index) => (index, 0),
            Coordinate::Float(x) if linear => axis.lower(x),
            Coordinate::Float(x) => (axis.nearest(x), 0),
        }
    }
}

impl Lookup<'_> {
    /// True if every lookup returns zero, as recorded on hardware: in one dimension, linear memory needs integer coordinates and arrays
    /// need floats; with integer coordinates, the layer must exist.
    fn returns_zero(&self) -> bool {
        let texels = &self.texture.texels;
        let no_layer = !self.float && self.geometry.is_array() && self.coordinates[0] >= texels.layers;
        no_layer || self.geometry == Geometry::D1 && texels.linear == self.float
    }

    /// True if it reads all texels around the coordinate.
    fn is_linear(&self) -> bool {
        self.gather.is_some() || self.sampler.filter == Filter::Linear && self.float
    }

    /// The plane of the lookup, its dimensions, and the coordinates in it.
    fn planar(&self) -> (u64, SmallVec<[Axis; 3]>, SmallVec<[Coordinate; 3]>) {
        let texels = &self.texture.texels;
        let layer = if self.geometry.is_array() { u64::from(self.coordinates[0].min(texels.layers.saturating_sub(1))) } else { 0 };
        let first = usize::from(self.geometry.is_array());
        let words = &self.coordinates[first..first + self.geometry.coordinates()];
        if self.geometry.is_cube() {
            let direction = [0, 1, 2].map(|index| f32::from_bits(words[index]));
            let (face, position) = face(direction);
            let axes = [0, 1].map(|index| self.axis(index, true)).into_iter().collect();
            return (layer * 6 + face, axes, position.into_iter().map(Coordinate::Float).collect());
        }
        let normalized = self.texture.normalized && !self.sampler.unnormalized && self.float;
        let mut axes: SmallVec<[Axis; 3]> = (0..words.len()).map(|index| self.axis(index, normalized)).collect();
        let coordinate = |word: &u32| {
            if self.float { Coordinate::Float(f32::from_bits(*word)) } else { Coordinate::Int(i64::from(*word as i32)) }
        };
        let mut coordinates: SmallVec<[Coordinate; 3]> = words.iter().map(coordinate).collect();
        if self.geometry == Geometry::D1 && self.is_linear() {
            // The hardware treats it as a plane of one row, sampled at its upper edge: half of the result is from above the edge.
            axes.push(self.axis(1, normalized));
            coordinates.push(Coordinate::Float(0.0));
        }
        (layer, axes, coordinates)
    }

    fn axis(&self, index: usize, normalized: bool) -> Axis {
        // Integer coordinates are texel indices, without texels out of range.
        let mode = if self.float { self.sampler.address[index] } else { AddressMode::Border };
        Axis { extent: self.texture.texels.extent[index], mode, normalized }
    }

    /// The offsets in texels, 0 where there are none.
    fn offsets(&self) -> impl Iterator<Item = i64> + '_ {
        // The hardware ignores the offset of a single coordinate, which ptxas accepts.
        let is_used = self.geometry != Geometry::D1;
        let first = if is_used { usize::from(self.geometry.is_array()) + self.geometry.coordinates() } else { self.coordinates.len() };
        let offsets = self.coordinates[first..].iter().map(|word| i64::from(*word as i32));
        offsets.chain(std::iter::repeat(0))
    }

    /// The address of one of the texels around the coordinate.
    fn corner(&self, corner: usize, axes: &[Axis], lows: &[(i64, i64)], plane: u64) -> Corner {
        let mut index = [0, 0, 0];
        for (dimension, (axis, (low, _))) in axes.iter().zip(lows).enumerate() {
            index[dimension] = u64::from(axis.texel(low + (corner as i64 >> dimension & 1))?);
        }
        let texels: &Texels = &self.texture.texels;
        Some(texels.byte(index[0] * texels.texel_bytes(), index[1], plane + index[2]))
    }

    /// The border color, rounded to the channel type; zero for integers.
    fn border(&self) -> Texel {
        let texture = self.texture;
        if !self.float || !texture.texels.is_float(texture.normalized_float) {
            return Texel::default();
        }
        let quantize = |component: f32, low: f32, whole: f32| (component.max(low).min(1.0) * whole).trunc() / whole;
        let quantized = |component: f32| match texture.texels.channel {
            ChannelType::U8 => quantize(component, 0.0, f32::from(u8::MAX)),
            ChannelType::S8 => quantize(component, -1.0, f32::from(i8::MAX)),
            ChannelType::U16 => quantize(component, 0.0, f32::from(u16::MAX)),
            ChannelType::S16 => quantize(component, -1.0, f32::from(i16::MAX)),
            ChannelType::U32 | ChannelType::S32 | ChannelType::F16 | ChannelType::F32 => component,
        };
        Texel(self.sampler.border.map(|component| quantized(component).to_bits()))
    }
}

/// The weighted mean of texels, in the precision of the channel: 16 bits for integers, halves for halves.
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
