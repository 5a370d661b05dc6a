//! Everything in a launch file that can be compared at the end: memory, buffers of parameters, and buffers in structures, tensor maps,
//! images and the contents of memory.

use super::element::Element;
use super::file::{Buffer, Init, Launch, Memory, Param, Parts, Tolerance};
use super::image::{BufferRef, Image, Surface, Texture};
use super::tensor_map::TensorMap;
use super::value_path::ValuePath;

/// A buffer, or a range of memory.
pub(super) struct Described<'a> {
    /// The path of its value in the launch file.
    pub place: ValuePath,
    /// Its name.
    pub name: String,
    /// Its address, if the file has one.
    pub at: Option<u64>,
    /// The element type by which it is compared.
    pub elem: Element,
    /// What it must hold at the end.
    pub expect: &'a mut Option<Init>,
    /// The tolerance of the comparison.
    pub tolerance: &'a mut Option<Tolerance>,
}

/// The buffers and memory of the launch at `place`, in the order of definition.
pub(super) fn described<'a>(launch: &'a mut Launch, place: &ValuePath) -> Vec<Described<'a>> {
    let mut all = Vec::new();
    let mut later = Vec::new();
    for (index, memory) in launch.memory.iter_mut().enumerate() {
        let place = place.field("memory").item(index);
        let name = memory.name();
        let Memory { at, elem, init, expect, tolerance, .. } = memory;
        let Some(name) = name else { continue };
        of_init(init, &place.field("init"), &mut later);
        all.push(Described { place, name, at: *at, elem: *elem, expect, tolerance });
    }
    for (index, param) in launch.params.iter_mut().enumerate() {
        of_param(param, &place.param(index), &mut all);
    }
    let bound = launch.bind.iter_mut().map(|(name, image)| (place.field("bind").key(name), image));
    let of_handles = launch.handles.iter_mut().map(|(handle, image)| (place.field("handles").key(&handle.to_string()), image));
    for (place, image) in bound.chain(of_handles) {
        if let Image::Texture(Texture { buffer: BufferRef::Buffer(buffer), .. })
        | Image::Surface(Surface { buffer: BufferRef::Buffer(buffer), .. }) = image
        {
            of_buffer(buffer, &place.field("buffer"), &mut all);
        }
    }
    for (name, init) in &mut launch.variables {
        of_init(init, &place.field("variables").key(name), &mut all);
    }
    all.extend(later);
    all
}

fn of_param<'a>(param: &'a mut Param, place: &ValuePath, all: &mut Vec<Described<'a>>) {
    match param {
        Param::Bytes(_, parts) => of_parts(parts, &place.field("at"), all),
        Param::Buffer(buffer) => of_buffer(buffer, place, all),
        Param::TensorMap(TensorMap { buffer: BufferRef::Buffer(buffer), .. }) => of_buffer(buffer, &place.field("buffer").item(0), all),
        other => other.buffer_mut().into_iter().for_each(|buffer| of_buffer(buffer, &place.field("buffer"), all)),
    }
}

fn of_buffer<'a>(buffer: &'a mut Buffer, place: &ValuePath, all: &mut Vec<Described<'a>>) {
    let Buffer { name, elem, init, expect, tolerance, .. } = buffer;
    all.push(Described { place: place.clone(), name: name.clone(), at: None, elem: *elem, expect, tolerance });
    of_init(init, &place.field("init"), all);
}

fn of_init<'a>(init: &'a mut Init, place: &ValuePath, all: &mut Vec<Described<'a>>) {
    if let Init::With(_, parts) = init {
        of_parts(parts, &place.field("at"), all);
    }
}

fn of_parts<'a>(parts: &'a mut Parts, place: &ValuePath, all: &mut Vec<Described<'a>>) {
    for (offset, param) in parts {
        of_param(param, &place.key(&offset.to_string()), all);
    }
}
