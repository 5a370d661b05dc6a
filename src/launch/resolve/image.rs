//! Textures, samplers and surfaces: their buffers, the check that they fit, and their handles.

use super::param::count;
use super::{Resolver, Scope};
use crate::isa::{self, AddressMode, ChannelType, Filter, Geometry, ImageKind};
use crate::launch::element::Element;
use crate::launch::file::{Launch, Param};
use crate::launch::image::{BufferRef, Image, ReadMode, Sampler, Surface, Texture};
use crate::launch::plan::{ParamValue, PlannedImage};
use crate::launch::value_path::ValuePath;
use crate::program::{self, Content, Texels, map};

/// Maximum of parameters of a kernel, each of which can be the handle of an image.
const PARAMS_MAX: u64 = 1 << 16;

/// Alignment of a texture or a surface (cudaDeviceProp::textureAlignment).
const TEXTURE_ALIGN: u64 = 512;

/// Maximum of texels in an extent.
const EXTENT_MAX: u32 = 1 << 27;

/// The fields that textures and surfaces have in common.
struct Extents<'a> {
    buffer: &'a BufferRef,
    shape: &'a [u32],
    layers: Option<u32>,
    cube: bool,
    linear: bool,
    channels: u32,
    elem: Option<Element>,
}

impl Resolver<'_> {
    /// The images that the launch binds to variables of the module, and the samplers that have initial values in the module.
    pub(super) fn bound_images(&mut self, index: usize, place: &ValuePath, launch: &Launch, scope: &mut Scope) -> Vec<PlannedImage> {
        let list = place.field("bind");
        let mut images = Vec::new();
        for (name, image) in &launch.bind {
            let place = list.key(name);
            let variable = self.program.variables.iter().find(|variable| &*variable.name == name.as_str());
            let Some((variable, wanted)) = variable.and_then(|variable| Some((variable, variable.opaque?))) else {
                let handles: Vec<&str> = self.program.variables.iter().filter(|v| v.opaque.is_some()).map(|v| &*v.name).collect();
                let help =
                    if handles.is_empty() { "the module declares none".to_string() } else { format!("handles: {}", handles.join(", ")) };
                self.error_with_help(&place, format!("there is no texture, sampler or surface variable '{name}'"), help);
                continue;
            };
            let address = variable.location.address;
            let Some(image) = self.image(index, &place, image, scope, address) else { continue };
            if image.image.kind() != wanted {
                self.error(&place, format!("'{name}' is a .{}, and a {} is given", wanted.word(), image.image.kind().noun()));
            }
            images.push(PlannedImage { image: program::Image { name: name.as_str().into(), ..image.image }, ..image });
        }
        for variable in self.program.variables.iter().filter(|variable| !launch.bind.contains_key(&*variable.name)) {
            if let (Some(ImageKind::Sampler), Some(sampler)) = (variable.opaque, &variable.sampler) {
                let content = Content::Sampler(**sampler);
                let image = program::Image { handle: variable.location.address, name: variable.name.clone(), content };
                images.push(PlannedImage { image, buffer: None });
            }
        }
        images
    }

    /// The images whose handles the launch gives as numbers.
    pub(super) fn images_of_handles(&mut self, index: usize, place: &ValuePath, launch: &Launch, scope: &mut Scope) -> Vec<PlannedImage> {
        let list = place.field("handles");
        let images = launch.handles.iter();
        images.filter_map(|(handle, image)| self.image(index, &list.key(&handle.to_string()), image, scope, *handle)).collect()
    }

    /// The image of parameter number `param` of a launch.
    pub(super) fn image_param(
        &mut self,
        index: usize,
        place: &ValuePath,
        image: &Image,
        scope: &mut Scope,
        param: u64,
    ) -> Option<PlannedImage> {
        self.image(index, place, image, scope, map::image_handle(param))
    }

    /// The handle of an image inside a structure, memory or a variable.
    pub(super) fn texture_part(&mut self, index: usize, place: &ValuePath, image: &Image, scope: &mut Scope) -> Option<ParamValue> {
        let handle = map::image_handle(PARAMS_MAX + scope.images.len() as u64);
        let planned = self.image(index, place, image, scope, handle)?;
        scope.images.push(planned);
        Some(ParamValue::Bytes(handle.to_le_bytes().to_vec()))
    }

    fn image(&mut self, index: usize, place: &ValuePath, image: &Image, scope: &mut Scope, handle: u64) -> Option<PlannedImage> {
        let (content, buffer, name) = match image {
            Image::Texture(texture) => self.texture(index, place, texture, scope)?,
            Image::Surface(surface) => self.surface(index, place, surface, scope)?,
            Image::Sampler(sampler) => (Content::Sampler(self.sampler(place, sampler)?), None, "sampler".to_string()),
        };
        Some(PlannedImage { image: program::Image { handle, name: name.into(), content }, buffer })
    }

    fn texture(
        &mut self,
        index: usize,
        place: &ValuePath,
        texture: &Texture,
        scope: &mut Scope,
    ) -> Option<(Content, Option<usize>, String)> {
        let extents = Extents {
            buffer: &texture.buffer,
            shape: &texture.shape,
            layers: texture.layers,
            cube: texture.cube,
            linear: texture.linear_memory,
            channels: texture.channels,
            elem: texture.elem,
        };
        let (texels, buffer) = self.texels(index, place, &extents, scope)?;
        let normalized_float = texture.read == ReadMode::NormalizedFloat;
        if texture.filter == Filter::Linear && !texels.is_float(normalized_float) {
            self.error_with_help(
                &place.field("filter"),
                "integers cannot be filtered",
                "read: NormalizedFloat makes floats of 8 and 16 bits, or filter: Point",
            );
            return None;
        }
        let name = scope.buffers[buffer].name.clone();
        let address = self.address_modes(place, &texture.address)?;
        let sampler = isa::Sampler { filter: texture.filter, address, unnormalized: false, border: texture.border };
        let content = Content::Texture(program::Texture { texels, sampler, normalized: texture.normalized, normalized_float });
        Some((content, Some(buffer), name))
    }

    fn surface(
        &mut self,
        index: usize,
        place: &ValuePath,
        surface: &Surface,
        scope: &mut Scope,
    ) -> Option<(Content, Option<usize>, String)> {
        let Surface { buffer, shape, layers, channels, elem } = surface;
        let extents = Extents { buffer, shape, layers: *layers, cube: false, linear: false, channels: *channels, elem: *elem };
        let (texels, buffer) = self.texels(index, place, &extents, scope)?;
        Some((Content::Surface(texels), Some(buffer), scope.buffers[buffer].name.clone()))
    }

    fn sampler(&mut self, place: &ValuePath, sampler: &Sampler) -> Option<isa::Sampler> {
        let address = self.address_modes(place, &sampler.address)?;
        Some(isa::Sampler { filter: sampler.filter, address, unnormalized: sampler.force_unnormalized, border: sampler.border })
    }

    fn address_modes(&mut self, place: &ValuePath, modes: &[AddressMode]) -> Option<[AddressMode; 3]> {
        match *modes {
            [] => Some([AddressMode::default(); 3]),
            [all] => Some([all; 3]),
            [x, y] => Some([x, y, AddressMode::default()]),
            [x, y, z] => Some([x, y, z]),
            _ => {
                self.error(&place.field("address"), format!("there are at most 3 dimensions, and {} modes are given", modes.len()));
                None
            }
        }
    }

    /// The texels, with their offset in the buffer as address, and the index of the buffer.
    fn texels(&mut self, index: usize, place: &ValuePath, extents: &Extents<'_>, scope: &mut Scope) -> Option<(Texels, usize)> {
        let memory = place.field("buffer");
        let (buffer, first) = self.memory_of(index, (&memory, &memory), extents.buffer, (scope, TEXTURE_ALIGN))?;
        let geometry = self.geometry(place, extents)?;
        if !matches!(extents.channels, 1 | 2 | 4) {
            self.error(&place.field("channels"), format!("a texel has 1, 2 or 4 channels, not {}", extents.channels));
            return None;
        }
        let element = extents.elem.unwrap_or(scope.buffers[buffer].element);
        let Some(channel) = channel_type(element) else {
            let help = "types: U8 S8 U16 S16 U32 S32 F16 F32";
            self.error_with_help(&place.field("elem"), format!("no channel can have type {element:?}"), help);
            return None;
        };
        let mut extent = [1; 3];
        extent.iter_mut().zip(extents.shape).for_each(|(extent, length)| *extent = *length);
        let layers = extents.layers.unwrap_or(1);
        let texels = Texels { address: first, channel, channels: extents.channels, extent, geometry, layers, linear: extents.linear };
        let (needed, there) = (texels.bytes().unwrap_or(u64::MAX), scope.buffers[buffer].bytes - first);
        if needed > there {
            let message = format!("the texels take {}, and buffer '{}' has {}", count(needed), scope.buffers[buffer].name, count(there));
            self.error(&place.field("shape"), message);
            return None;
        }
        Some((texels, buffer))
    }

    fn geometry(&mut self, place: &ValuePath, extents: &Extents<'_>) -> Option<Geometry> {
        let wrong = match (extents.shape, extents.layers) {
            (shape, _) if shape.iter().any(|extent| *extent == 0 || *extent > EXTENT_MAX) => {
                Some(("shape", format!("an extent is from 1 to {EXTENT_MAX}")))
            }
            (_, Some(0)) => Some(("layers", "there is at least one layer".to_string())),
            ([width, height], _) if extents.cube && width != height => {
                Some(("shape", format!("the faces of a cubemap are square, not {width} by {height}")))
            }
            (shape, _) if extents.cube && shape.len() != 2 => Some(("shape", "a face of a cubemap has two extents".to_string())),
            (shape, _) if extents.linear && (shape.len() != 1 || extents.layers.is_some()) => {
                Some(("shape", "linear memory has one extent and no layers".to_string()))
            }
            _ => None,
        };
        let geometry = match (extents.shape.len(), extents.layers.is_some(), extents.cube) {
            _ if wrong.is_some() => None,
            (2, layered, true) => Some(if layered { Geometry::Acube } else { Geometry::Cube }),
            (1, false, _) => Some(Geometry::D1),
            (2, false, _) => Some(Geometry::D2),
            (3, false, _) => Some(Geometry::D3),
            (1, true, _) => Some(Geometry::A1d),
            (2, true, _) => Some(Geometry::A2d),
            _ => None,
        };
        if geometry.is_none() {
            let (field, message) = wrong.unwrap_or(("shape", "there are one, two or three extents, with layers at most two".to_string()));
            self.error(&place.field(field), message);
        }
        geometry
    }
}

fn channel_type(element: Element) -> Option<ChannelType> {
    Some(match element {
        Element::U8 | Element::B8 => ChannelType::U8,
        Element::S8 => ChannelType::S8,
        Element::U16 | Element::B16 => ChannelType::U16,
        Element::S16 => ChannelType::S16,
        Element::U32 | Element::B32 => ChannelType::U32,
        Element::S32 => ChannelType::S32,
        Element::F16 => ChannelType::F16,
        Element::F32 => ChannelType::F32,
        Element::U64 | Element::S64 | Element::B64 | Element::BF16 | Element::F64 => return None,
    })
}

/// The texture, sampler or surface of an entry, if it is one.
pub(super) fn texture_image(param: &Param) -> Option<Image> {
    match param {
        Param::Texture(texture) => Some(Image::Texture(texture.clone())),
        Param::Sampler(sampler) => Some(Image::Sampler(sampler.clone())),
        Param::Surface(surface) => Some(Image::Surface(surface.clone())),
        _ => None,
    }
}
