//! Texture and surface instructions (PTX ISA, "Texture Instructions", "Surface Instructions"). Lanes go one by one, lowest first.

use smallvec::SmallVec;

use super::{Executed, Flow, Group, WarpRun};
use crate::isa::{ChannelType, Filter, ImageKind, ImageQuery, Sampler, ScalarType, Space, SurfaceBounds};
use crate::machine::event::{AccessEvent, AccessKind, Observer};
use crate::machine::image::{Lookup, Texel, sample};
use crate::machine::lanes::{LaneMask, PerLane, lanes_of};
use crate::machine::read_modify_write::Function;
use crate::machine::trap::{Trap, TrapKind};
use crate::num::F16;
use crate::program::{Content, Handle, Image, ImageAccess, ImageFn, ImageId, Texels, Texture, Variable, find};

/// Results, one for each destination.
type Results = SmallVec<[PerLane<u64>; 4]>;

/// The operands of one lane.
type Words = SmallVec<[u32; 8]>;

impl<O: Observer> WarpRun<'_, O> {
    /// Executes a texture or surface instruction.
    pub(super) fn image(&mut self, id: ImageId, group: &Group, active: LaneMask) -> Executed {
        let program = self.program;
        let access = &program.images[id.index()];
        match access.f {
            ImageFn::Sample { to, float } => self.texture(access, float, None, to, group, active)?,
            ImageFn::Gather { component } => self.texture(access, true, Some(component), ScalarType::U32, group, active)?,
            ImageFn::Query(query, kind) => self.query(access, query, kind, group, active)?,
            ImageFn::IsHandle(kind) => self.is_handle(access, kind, group, active),
            ImageFn::Load(..) | ImageFn::Store(..) | ImageFn::StoreFormatted(_) | ImageFn::Reduce { .. } => {
                self.surface(access, group, active)?;
            }
        }
        Ok(Flow::Next)
    }

    /// `tex` and `tld4`.
    fn texture(
        &mut self,
        access: &ImageAccess,
        float: bool,
        gather: Option<usize>,
        to: ScalarType,
        group: &Group,
        active: LaneMask,
    ) -> Result<(), Box<Trap>> {
        let linked = self.linked;
        let images = self.images(access.image, ImageKind::Texture, group, active)?;
        let samplers = match access.sampler {
            Some(handle) => Some(self.images(handle, ImageKind::Sampler, group, active)?),
            None => None,
        };
        let mut results: Results = SmallVec::from_elem([0; 32], 4);
        let mut addresses: SmallVec<[(u64, usize); 64]> = SmallVec::new();
        for lane in lanes_of(active) {
            let Some(texture) = images[lane].and_then(|index| texture_of(&linked.config.images[index])) else { continue };
            let named = samplers.as_ref().and_then(|samplers| samplers[lane]).and_then(|index| sampler_of(&linked.config.images[index]));
            let place = self.place_of(access, lane, group);
            let lookup =
                Lookup { texture, sampler: named.unwrap_or(&texture.sampler), geometry: access.geometry, place: &place, float, gather };
            let Texel(components) = sample(&lookup, |address| {
                addresses.push((address, lane));
                self.texel(texture, address)
            });
            for (result, word) in results.iter_mut().zip(components) {
                result[lane] = u64::from(word);
            }
            if let Some(texture) = images[lane].and_then(|index| linked.config.images[index].texels()) {
                self.report_texels(&addresses, texture.texel_bytes(), AccessKind::Read);
            }
            addresses.clear();
        }
        let results = converted(results, to);
        self.put_results(access, &results, group, active);
        self.lanes(group, active).put_pred(access.resident, active);
        Ok(())
    }

    /// The texel at an address, whose buffer is there for the whole launch.
    fn texel(&self, texture: &Texture, address: u64) -> Texel {
        let mut bytes = [0; 16];
        let bytes = &mut bytes[..texture.texels.texel_bytes() as usize];
        if let Some(allocation) = self.global.find(address) {
            allocation.pages.read(address - allocation.base, bytes);
        }
        texture.texels.decode(bytes, texture.normalized_float)
    }

    /// Tells the observer of accesses of single lanes.
    fn report_texels(&mut self, accesses: &[(u64, usize)], bytes: u64, kind: AccessKind) {
        if O::ACCESSES {
            for (address, lane) in accesses {
                let (lanes, addresses) = (1 << lane, &[*address; 32]);
                let event = AccessEvent { place: self.place, lanes, kind, space: Space::Global, rank: 0, addresses, bytes: bytes as u32 };
                self.observer.access(&event);
            }
        }
    }

    /// `txq` and `suq`.
    fn query(
        &mut self,
        access: &ImageAccess,
        query: ImageQuery,
        kind: ImageKind,
        group: &Group,
        active: LaneMask,
    ) -> Result<(), Box<Trap>> {
        let images = &self.linked.config.images;
        let handles = self.handles(access.image, group, active);
        let mut results: Results = SmallVec::from_elem([0; 32], 1);
        for lane in lanes_of(active) {
            let image = find(images, handles[lane]).filter(|image| {
                image.kind() == kind || image.kind() == ImageKind::Sampler && kind == ImageKind::Texture && query.is_of_sampler()
            });
            let Some(image) = image else { return Err(self.wrong_handle(handles, kind, active)) };
            results[0][lane] = u64::from(answer(image, query));
        }
        self.put_results(access, &results, group, active);
        Ok(())
    }

    /// `istypep`: of the handles of variables; those that the launch makes up have no type, as on the hardware.
    fn is_handle(&mut self, access: &ImageAccess, kind: ImageKind, group: &Group, active: LaneMask) {
        let handles = self.handles(access.image, group, active);
        let is_it = |variable: &Variable, handle: u64| variable.handle == Some(kind) && variable.location.address == handle;
        let holds = |lane: &usize| self.program.variables.iter().any(|variable| is_it(variable, handles[*lane]));
        let mask = lanes_of(active).filter(holds).fold(0, |mask, lane| mask | 1 << lane);
        if let Some(d) = access.dests.first() {
            self.lanes(group, active).put_pred(*d, mask);
        }
    }

    /// `suld`, `sust` and `sured`. Nothing is done if a lane is out of bounds and must not be.
    fn surface(&mut self, access: &ImageAccess, group: &Group, active: LaneMask) -> Result<(), Box<Trap>> {
        let linked = self.linked;
        let images = self.images(access.image, ImageKind::Surface, group, active)?;
        let mut spots: PerLane<Option<u64>> = [None; 32];
        for lane in lanes_of(active) {
            let Some(texels) = images[lane].and_then(|index| linked.config.images[index].texels()) else { continue };
            let place = self.place_of(access, lane, group);
            let reach = Reach::new(access, texels);
            spots[lane] = match (reach.spot(access, texels, &place), reach.bounds) {
                (Err(message), SurfaceBounds::Trap) => return Err(self.trap(TrapKind::OutOfBounds, 1 << lane, &message)),
                (spot, _) => spot.unwrap_or(None),
            };
        }
        let values: SmallVec<[PerLane<u64>; 4]> = access
            .values
            .iter()
            .map(|source| {
                let lanes = self.lanes(group, active);
                if access.wide { *lanes.get64(*source) } else { lanes.get32(*source).map(u64::from) }
            })
            .collect();
        let mut results: Results = SmallVec::from_elem([0; 32], access.dests.len());
        for lane in lanes_of(active) {
            let (Some(address), Some(texels)) = (spots[lane], images[lane].and_then(|index| linked.config.images[index].texels())) else {
                continue;
            };
            let operands: SmallVec<[u64; 4]> = values.iter().map(|value| value[lane]).collect();
            self.touch(access, texels, (address, lane), &operands, &mut results);
        }
        self.put_results(access, &results, group, active);
        Ok(())
    }

    /// Reads or writes at `address` for one lane.
    fn touch(&mut self, access: &ImageAccess, texels: &Texels, spot: (u64, usize), operands: &[u64], results: &mut Results) {
        let (address, lane) = spot;
        let kind = match access.f {
            ImageFn::Load(..) => AccessKind::Read,
            ImageFn::Reduce { .. } => AccessKind::Atomic,
            _ => AccessKind::Write,
        };
        self.report_texels(&[spot], Reach::new(access, texels).bytes, kind);
        let Some(allocation) = self.global.find_mut(address) else { return };
        let offset = address - allocation.base;
        match access.f {
            ImageFn::Load(bits, _) => {
                let size = usize::from(bits / 8);
                for (index, result) in results.iter_mut().enumerate() {
                    let mut word = [0; 8];
                    allocation.pages.read(offset + (index * size) as u64, &mut word[..size]);
                    result[lane] = u64::from_le_bytes(word);
                }
            }
            ImageFn::Store(bits, _) => {
                let size = usize::from(bits / 8);
                for (index, operand) in operands.iter().enumerate() {
                    allocation.pages.write(offset + (index * size) as u64, &operand.to_le_bytes()[..size]);
                }
            }
            ImageFn::StoreFormatted(_) => {
                let mut components = [0; 4];
                components.iter_mut().zip(operands).for_each(|(component, operand)| *component = *operand as u32);
                allocation.pages.write(offset, &texels.encode(components));
            }
            ImageFn::Reduce { f, ty, formatted, .. } => {
                let size = ty.bytes() as usize;
                let mut word = [0; 8];
                allocation.pages.read(offset, &mut word[..size]);
                let ty = if formatted && texels.channel == ChannelType::S32 { ScalarType::S32 } else { ty };
                let function = Function { f, ty, space: Space::Global };
                let operand = operands.first().copied().unwrap_or(0);
                let new = function.apply(u64::from_le_bytes(word), operand, operand);
                allocation.pages.write(offset, &new.to_le_bytes()[..size]);
            }
            ImageFn::Sample { .. } | ImageFn::Gather { .. } | ImageFn::Query(..) | ImageFn::IsHandle(_) => {}
        }
    }

    fn put_results(&mut self, access: &ImageAccess, results: &[PerLane<u64>], group: &Group, active: LaneMask) {
        let mut lanes = self.lanes(group, active);
        for (d, values) in access.dests.iter().zip(results) {
            if access.wide { lanes.put64(*d, values) } else { lanes.put32(*d, &values.map(|value| value as u32)) }
        }
    }

    /// The layer, coordinates and offsets of one lane.
    fn place_of(&mut self, access: &ImageAccess, lane: usize, group: &Group) -> Words {
        let lanes = self.lanes(group, 1 << lane);
        access.place.iter().map(|source| lanes.get32(*source)[lane]).collect()
    }

    fn handles(&mut self, handle: Handle, group: &Group, active: LaneMask) -> PerLane<u64> {
        match handle {
            Handle::Value(source) => *self.lanes(group, active).get64(source),
            Handle::Param(offset) => {
                let params = self.linked.config.params.get(offset as usize..).and_then(|rest| rest.first_chunk());
                [params.map_or(0, |bytes| u64::from_le_bytes(*bytes)); 32]
            }
        }
    }

    /// The images of the launch that the lanes' handles stand for, which must be of this kind and, but for samplers, of the
    /// instruction's geometry.
    fn images(&mut self, handle: Handle, kind: ImageKind, group: &Group, active: LaneMask) -> Result<PerLane<Option<usize>>, Box<Trap>> {
        let handles = self.handles(handle, group, active);
        let mut found = [None; 32];
        let images = &self.linked.config.images;
        for lane in lanes_of(active) {
            let index = images.binary_search_by_key(&handles[lane], |image| image.handle).ok();
            found[lane] = index.filter(|index| images[*index].kind() == kind);
            if found[lane].is_none() {
                return Err(self.wrong_handle(handles, kind, active));
            }
        }
        Ok(found)
    }

    fn wrong_handle(&self, handles: PerLane<u64>, kind: ImageKind, active: LaneMask) -> Box<Trap> {
        let images = &self.linked.config.images;
        let wrong = |lane: &usize| find(images, handles[*lane]).is_none_or(|image| image.kind() != kind);
        let lanes: LaneMask = lanes_of(active).filter(wrong).fold(0, |mask, lane| mask | 1 << lane);
        let handle = handles[lanes.trailing_zeros() as usize % 32];
        let what = match find(images, handle) {
            Some(image) => format!("it is that of the {} '{}'", image.kind().noun(), image.name),
            None => "this launch has none with it".to_string(),
        };
        self.trap(TrapKind::Handle, lanes, &format!("{handle:#x} is not the handle of a {}: {what}", kind.noun()))
    }
}

/// What a surface instruction touches.
struct Reach {
    /// Bytes.
    bytes: u64,
    /// Bytes of a step along x.
    step: u64,
    bounds: SurfaceBounds,
}

impl Reach {
    fn new(access: &ImageAccess, texels: &Texels) -> Self {
        let texel = texels.texel_bytes();
        match access.f {
            ImageFn::Load(bits, bounds) => Self { bytes: u64::from(bits / 8) * access.dests.len() as u64, step: 1, bounds },
            ImageFn::Store(bits, bounds) => Self { bytes: u64::from(bits / 8) * access.values.len() as u64, step: 1, bounds },
            ImageFn::Reduce { ty, formatted, bounds, .. } => {
                Self { bytes: u64::from(ty.bytes()), step: if formatted { texel } else { 1 }, bounds }
            }
            ImageFn::StoreFormatted(bounds) => Self { bytes: texel, step: texel, bounds },
            ImageFn::Sample { .. } | ImageFn::Gather { .. } | ImageFn::Query(..) | ImageFn::IsHandle(_) => {
                Self { bytes: texel, step: texel, bounds: SurfaceBounds::Zero }
            }
        }
    }

    /// The address that is touched, or `None` for nothing.
    ///
    /// # Errors
    /// What is out of bounds.
    fn spot(&self, access: &ImageAccess, texels: &Texels, place: &[u32]) -> Result<Option<u64>, String> {
        let first = usize::from(access.geometry.is_array());
        let row = u64::from(texels.extent[0]) * texels.texel_bytes();
        let x_end = i64::try_from((row.saturating_sub(self.bytes) / self.step) + 1).unwrap_or(i64::MAX);
        let mut index = [0_u64; 3];
        let axes = [("x", x_end), ("y", i64::from(texels.extent[1])), ("z", i64::from(texels.extent[2]))];
        for (dimension, word) in place[first..].iter().enumerate().take(3) {
            let (name, end) = axes[dimension];
            index[dimension] = self.inside(name, i64::from(*word as i32), end)?;
        }
        let layer = if first == 1 { self.inside("layer", i64::from(place[0]), i64::from(texels.layers))? } else { 0 };
        let x = index[0] * self.step;
        if !x.is_multiple_of(self.bytes.min(texels.texel_bytes()).max(1)) && self.step == 1 && self.bounds == SurfaceBounds::Trap {
            return Err(format!("surface access of {} bytes at byte {x} of a row, which is not a multiple of it", self.bytes));
        }
        Ok(Some(texels.byte(x, index[1], index[2] + layer)))
    }

    /// The index within bounds.
    fn inside(&self, name: &str, index: i64, end: i64) -> Result<u64, String> {
        match self.bounds {
            SurfaceBounds::Clamp => Ok(index.clamp(0, end - 1) as u64),
            SurfaceBounds::Zero | SurfaceBounds::Trap if (0..end).contains(&index) => Ok(index as u64),
            SurfaceBounds::Zero | SurfaceBounds::Trap => {
                Err(format!("surface access of {} bytes with {name} = {index}, which must be below {end}", self.bytes))
            }
        }
    }
}

fn texture_of(image: &Image) -> Option<&Texture> {
    if let Content::Texture(texture) = &image.content { Some(texture) } else { None }
}

fn sampler_of(image: &Image) -> Option<&Sampler> {
    if let Content::Sampler(sampler) = &image.content { Some(sampler) } else { None }
}

/// Four components as the instruction wants them: pairs of halves, single halves, or as they are.
fn converted(results: Results, to: ScalarType) -> Results {
    let half = |word: u64| u64::from(F16::from_f64(f64::from(f32::from_bits(word as u32))).0);
    match to {
        ScalarType::F16x2 => [0, 2]
            .map(|first| std::array::from_fn(|lane| half(results[first][lane]) | half(results[first + 1][lane]) << 16))
            .into_iter()
            .collect(),
        ScalarType::F16 => results.iter().map(|words| words.map(half)).collect(),
        _ => results,
    }
}

/// What an image says of itself, as OpenCL numbers channel types and orders (PTX ISA, "Channel Data Type and Channel Order Fields").
fn answer(image: &Image, query: ImageQuery) -> u32 {
    use crate::isa::ChannelType::{F16, F32, S8, S16, S32, U8, U16, U32};
    let sampler = match &image.content {
        Content::Texture(texture) => texture.sampler,
        Content::Sampler(sampler) => *sampler,
        Content::Surface(_) => Sampler::default(),
    };
    let extent = |index: usize| image.texels().map_or(0, |texels| if index < texels.dimensions() { texels.extent[index] } else { 0 });
    let normalized = matches!(&image.content, Content::Texture(texture) if texture.normalized);
    let unorm = matches!(&image.content, Content::Texture(texture) if texture.normalized_float);
    match query {
        ImageQuery::Width => extent(0),
        ImageQuery::Height => extent(1).max(u32::from(image.kind() == ImageKind::Texture)),
        // The hardware counts layers as depth.
        ImageQuery::Depth => extent(2).max(image.texels().map_or(0, layers)),
        ImageQuery::ChannelDataType => image.texels().map_or(0, |texels| match (texels.channel, unorm) {
            (S8, true) => 0x10d0,
            (S16, true) => 0x10d1,
            (U8, true) => 0x10d2,
            (U16, true) => 0x10d3,
            (S8, false) => 0x10d7,
            (S16, false) => 0x10d8,
            (S32, _) => 0x10d9,
            (U8, false) => 0x10da,
            (U16, false) => 0x10db,
            (U32, _) => 0x10dc,
            (F16, _) => 0x10dd,
            (F32, _) => 0x10de,
        }),
        ImageQuery::ChannelOrder => match image.texels().map_or(0, |texels| texels.channels) {
            1 => 0x10b0,
            2 => 0x10b2,
            _ => 0x10b5,
        },
        ImageQuery::NormalizedCoords => u32::from(normalized),
        ImageQuery::ArraySize => image.texels().map_or(0, layers),
        ImageQuery::NumMipmapLevels | ImageQuery::NumSamples => 1,
        ImageQuery::ForceUnnormalizedCoords => u32::from(sampler.unnormalized),
        ImageQuery::FilterMode => u32::from(sampler.filter == Filter::Linear),
        ImageQuery::AddrMode0 => sampler.address[0] as u32,
        ImageQuery::AddrMode1 => sampler.address[1] as u32,
        ImageQuery::AddrMode2 => sampler.address[2] as u32,
        ImageQuery::MemoryLayout => 0,
    }
}

/// Layers of an array, 0 of what is none.
fn layers(texels: &Texels) -> u32 {
    if texels.geometry.is_array() { texels.layers } else { 0 }
}
