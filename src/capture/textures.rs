//! Textures and surfaces that the library has written of a launch, and what a launch file says of them.

use std::collections::BTreeMap;

use super::kept::Kept;
use crate::launch::Element;
use crate::launch::file::{Init, Memory};
use crate::launch::image::{BufferRef, Image, ReadMode, Surface, Texture};
use crate::launch::{AddressMode, Filter};

/// Texels that were kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Their bytes.
    pub bytes: u64,
    /// The file with what they were before the launch.
    pub before: String,
    /// The file with what they were after it, if that is something else.
    pub after: Option<String>,
}

/// A texture or a surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Whether it is a texture.
    pub is_texture: bool,
    /// Its handle on the device.
    pub handle: u64,
    /// The index of the array that it is of; it is of linear memory without it.
    pub array: Option<usize>,
    /// Its address, of linear memory.
    pub address: u64,
    /// Its format, as the driver numbers them.
    pub format: u32,
    /// Channels of a texel.
    pub channels: u32,
    /// Width, height and depth, 0 where it has no such extent; depth counts layers and faces where there are any.
    pub extents: [u32; 3],
    /// Whether it has layers.
    pub is_layered: bool,
    /// Whether it is a cubemap.
    pub is_cube: bool,
    /// The modes for coordinates out of range, the filter and the flags, as the driver numbers them.
    pub sampling: [u32; 5],
    /// The bits of the border's channels.
    pub border: [u32; 4],
}

/// Flags of a texture: it gives integers as they are; coordinates range from 0 to 1.
const AS_INTEGER: u32 = 1;
const NORMALIZED: u32 = 2;
/// Faces of a cube.
const FACES: u32 = 6;

impl Array {
    /// What the fields of a line of the library say.
    pub fn read(fields: &[&str]) -> Option<Self> {
        let [bytes, before, after] = fields else { return None };
        let after = (!after.is_empty()).then(|| after.to_string());
        Some(Self { bytes: bytes.parse().ok()?, before: before.to_string(), after })
    }
}

impl Object {
    /// What the fields of a line of the library say, after its first word.
    pub fn read(word: &str, fields: &[&str]) -> Option<Self> {
        let [handle, array, address, fields @ ..] = fields else { return None };
        let numbers: Option<Vec<u32>> = fields.iter().map(|field| field.parse().ok()).collect();
        let [format, channels, w, h, d, layered, cube, x, y, z, filter, flags, border @ ..] = *numbers?.as_array::<16>()?;
        Some(Self {
            is_texture: word == "texture",
            handle: handle.parse().ok()?,
            array: if array.is_empty() { None } else { Some(array.parse().ok()?) },
            address: address.parse().ok()?,
            format,
            channels,
            extents: [w, h, d],
            is_layered: layered != 0,
            is_cube: cube != 0,
            sampling: [x, y, z, filter, flags],
            border,
        })
    }

    /// The type of a channel.
    fn element(&self) -> Option<Element> {
        Some(match self.format {
            1 => Element::U8,
            2 => Element::U16,
            3 => Element::U32,
            8 => Element::S8,
            9 => Element::S16,
            10 => Element::S32,
            0x10 => Element::F16,
            0x20 => Element::F32,
            _ => return None,
        })
    }

    /// The extents that a launch file gives, and the number of layers.
    fn shape(&self) -> (Vec<u32>, Option<u32>) {
        let [width, height, depth] = self.extents;
        let (counts, rest) = if self.is_layered || self.is_cube { (depth, 0) } else { (0, depth) };
        let shape = [width, height, rest].into_iter().filter(|extent| *extent > 0).collect();
        let layers = match (self.is_layered, self.is_cube && self.is_texture) {
            (true, true) => Some(counts / FACES),
            (false, true) => None,
            (true, false) => Some(counts),
            // Faces of a cube are layers to a surface.
            (false, false) => self.is_cube.then_some(counts),
        };
        (shape, layers)
    }

    /// What a launch file says of it.
    fn image(&self, buffer: BufferRef) -> Option<Image> {
        let (elem, (shape, layers), channels) = (Some(self.element()?), self.shape(), self.channels);
        if !self.is_texture {
            return Some(Image::Surface(Surface { buffer, shape, layers, channels, elem }));
        }
        let [x, y, z, filter, flags] = self.sampling;
        let mode = |number: u32| {
            Some(match number {
                0 => AddressMode::Wrap,
                1 => AddressMode::Clamp,
                2 => AddressMode::Mirror,
                3 => AddressMode::Border,
                _ => return None,
            })
        };
        let is_integer = !matches!(elem, Some(Element::F16 | Element::F32));
        let is_narrow = elem.is_some_and(|elem| elem.bytes() < 4);
        Some(Image::Texture(Texture {
            buffer,
            shape,
            layers,
            cube: self.is_cube,
            linear_memory: self.array.is_none(),
            channels,
            elem,
            filter: if filter == 0 { Filter::Point } else { Filter::Linear },
            address: vec![mode(x)?, mode(y)?, mode(z)?],
            normalized: flags & NORMALIZED != 0,
            read: if is_integer && is_narrow && flags & AS_INTEGER == 0 { ReadMode::NormalizedFloat } else { ReadMode::Element },
            border: self.border.map(f32::from_bits),
        }))
    }
}

/// The memory of arrays, and what handles stand for; with `is_known`, what arrays must hold at the end. `memory` is what is kept besides.
pub fn images(kept: &Kept, memory: &[Memory], is_known: bool) -> Result<(Vec<Memory>, BTreeMap<u64, Image>), String> {
    let name = |index: usize| format!("array{index}");
    let mut handles = BTreeMap::new();
    for object in &kept.textures {
        let word = if object.is_texture { "texture" } else { "surface" };
        let wrong = |what: &str| format!("{word} {:#x} {what}", object.handle);
        let buffer = match object.array {
            Some(index) => BufferRef::Alias(name(index)),
            None => {
                let within = |memory: &&Memory| memory.at.zip(memory.len).is_some_and(|(at, len)| (at..at + len).contains(&object.address));
                let found = memory.iter().find(within).and_then(|memory| Some((memory.name()?, object.address - memory.at?)));
                let (name, offset) = found.ok_or_else(|| wrong("lies in memory that is not kept"))?;
                BufferRef::Offset(name, offset)
            }
        };
        let image = object.image(buffer).ok_or_else(|| wrong("is of a kind that is not known"))?;
        if handles.insert(object.handle, image).is_some() {
            return Err(wrong("has the handle of another one"));
        }
    }
    let array = |(index, array): (usize, &Array)| {
        let element = kept.textures.iter().find(|object| object.array == Some(index)).and_then(Object::element).unwrap_or(Element::B8);
        let expect = is_known.then(|| Init::File(array.after.as_ref().unwrap_or(&array.before).clone()));
        let texels = Memory::at(0, array.bytes / u64::from(element.bytes()), Init::File(array.before.clone()));
        Memory { name: Some(name(index)), at: None, elem: element, expect, ..texels }
    };
    Ok((kept.arrays.iter().enumerate().map(array).collect(), handles))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(line: &str) -> Object {
        let fields: Vec<&str> = line.split(' ').collect();
        Object::read(fields[0], &fields[1..].iter().map(|field| if *field == "-" { "" } else { field }).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn extents_of_layers_and_faces_differ() {
        for (line, shape, layers) in [
            ("texture 1 0 0 32 1 8 0 0 0 0 0 0 0 0 0 0 0 0 0", vec![8], None),
            ("texture 1 0 0 32 1 8 4 3 0 0 0 0 0 0 0 0 0 0 0", vec![8, 4, 3], None),
            ("texture 1 0 0 32 1 8 4 3 1 0 0 0 0 0 0 0 0 0 0", vec![8, 4], Some(3)),
            ("texture 1 0 0 32 1 8 0 3 1 0 0 0 0 0 0 0 0 0 0", vec![8], Some(3)),
            ("texture 1 0 0 32 1 8 8 6 0 1 0 0 0 0 0 0 0 0 0", vec![8, 8], None),
            ("texture 1 0 0 32 1 8 8 12 1 1 0 0 0 0 0 0 0 0 0", vec![8, 8], Some(2)),
            ("surface 1 0 0 32 1 8 8 6 0 1 0 0 0 0 0 0 0 0 0", vec![8, 8], Some(6)),
        ] {
            assert_eq!(object(line).shape(), (shape, layers), "{line}");
        }
    }

    #[test]
    fn bytes_are_floats_unless_they_are_asked_for() {
        for (format, flags, read) in [
            (1, 0, ReadMode::NormalizedFloat),
            (1, AS_INTEGER, ReadMode::Element),
            (9, NORMALIZED, ReadMode::NormalizedFloat),
            (10, 0, ReadMode::Element),
            (0x20, 0, ReadMode::Element),
            (0x10, 0, ReadMode::Element),
        ] {
            let object = object(&format!("texture 1 - 4096 {format} 4 8 0 0 0 0 1 1 1 0 {flags} 0 0 0 0"));
            let Some(Image::Texture(texture)) = object.image(BufferRef::Alias(String::new())) else { panic!("it is a texture") };
            assert_eq!((texture.read, texture.normalized), (read, flags == NORMALIZED), "{format}");
            assert!(texture.linear_memory && texture.address == vec![AddressMode::Clamp; 3]);
        }
    }
}
