//! Everything in a launch file that can be compared at the end: memory, buffers of parameters, and buffers in structures, tensor maps,
//! images and the contents of memory.

use super::element::{Element, Kind};
use super::file::{Buffer, Compare, Init, Launch, Memory, Param, Parts, Tolerance};
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
    /// The expected element with which each is compared.
    pub compare: &'a mut Compare,
}

/// Removes all that the launch is to leave in memory and variables; true if there was anything.
pub fn forget_expected(launch: &mut Launch) -> bool {
    let mut is_any = !launch.expect_variables.is_empty();
    launch.expect_variables.clear();
    launch.variable_tolerances.clear();
    for buffer in described(launch, &ValuePath::default()) {
        is_any |= buffer.expect.is_some();
        (*buffer.expect, *buffer.tolerance, *buffer.compare) = (None, None, Compare::default());
    }
    is_any
}

/// Gives all expected buffers of numbers this tolerance; the number of them, and of buffers of bytes, which may be numbers.
pub fn loosen(launch: &mut Launch, tolerance: Tolerance) -> usize {
    let mut count = 0;
    for buffer in described(launch, &ValuePath::default()).into_iter().filter(|buffer| buffer.expect.is_some()) {
        let is_number = buffer.elem.kind() != Kind::Bits;
        if is_number {
            *buffer.tolerance = Some(tolerance);
        }
        count += usize::from(is_number || buffer.elem == Element::B8);
    }
    count
}

/// The buffers and memory of the launch at `place`, in the order of definition.
pub(super) fn described<'a>(launch: &'a mut Launch, place: &ValuePath) -> Vec<Described<'a>> {
    let mut all = Vec::new();
    let mut later = Vec::new();
    for (index, memory) in launch.memory.iter_mut().enumerate() {
        let place = place.field("memory").item(index);
        let name = memory.name();
        let Memory { at, elem, init, expect, tolerance, compare, .. } = memory;
        let Some(name) = name else { continue };
        of_init(init, &place.field("init"), &mut later);
        all.push(Described { place, name, at: *at, elem: *elem, expect, tolerance, compare });
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
    let Buffer { name, elem, init, expect, tolerance, compare, .. } = buffer;
    all.push(Described { place: place.clone(), name: name.clone(), at: None, elem: *elem, expect, tolerance, compare });
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
