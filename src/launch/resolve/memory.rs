//! Memory that exists before a launch, and values inside structures and memory.

use super::image::texture_image;
use super::param::count;
use super::{Resolver, Scope, UnresolvedParts};
use crate::launch::file::{Init, Launch, Memory, Param, Parts};
use crate::launch::plan::{ParamValue, PlannedPart};
use crate::launch::value_path::ValuePath;
use crate::program::TENSOR_MAP_BYTES;
use crate::program::map::{ADDRESSES_END, ADDRESSES_START, REQUESTED_ALIGN, overlap};

/// Alignment of a tensor map in a structure.
const TENSOR_MAP_ALIGN: u64 = 64;

impl Resolver<'_> {
    /// Adds the memory of the launch to the scope.
    pub(super) fn memory(&mut self, index: usize, place: &ValuePath, launch: &Launch, scope: &mut Scope) {
        let list = place.field("memory");
        for (number, memory) in launch.memory.iter().enumerate() {
            let place = list.item(number);
            let Some(name) = memory.name() else {
                self.error_with_help(&place, "memory has a name or an address, or both", "name: \"a\" or at: 0x7f1234000000");
                continue;
            };
            let Some(buffer) = self.define_buffer_at((index, memory.at), &place, &memory.as_buffer(name), scope) else { continue };
            if let Some(at) = self.address_of_memory(&place, memory, scope.buffers[buffer].bytes, scope) {
                scope.buffers[buffer].at = Some(at);
            }
        }
    }

    /// The requested address of `memory`, of `bytes` bytes, if it is valid.
    fn address_of_memory(&mut self, place: &ValuePath, memory: &Memory, bytes: u64, scope: &Scope) -> Option<u64> {
        let at = memory.at?;
        let place = place.field("at");
        let bits = self.program.address_bits;
        let limit = if bits == 32 { 1 << 32 } else { ADDRESSES_END };
        let is_part = matches!(memory.init, Init::Pages(_)) && at.is_multiple_of(memory.elem.bytes().into());
        if !at.is_multiple_of(REQUESTED_ALIGN) && !is_part {
            let help = format!("memory that begins elsewhere is a part of an allocation: Offset(\"a\", {})", at % REQUESTED_ALIGN);
            self.error_with_help(&place, format!("{at:#x} is not a multiple of {REQUESTED_ALIGN}, and no allocation begins there"), help);
            return None;
        }
        let Some(end) = at.checked_add(bytes).filter(|end| *end <= limit && at >= ADDRESSES_START) else {
            let message =
                format!("{} at {at:#x} are not among the addresses of a device, {ADDRESSES_START:#x} to {limit:#x}", count(bytes));
            self.error(&place, message);
            return None;
        };
        let range = at..end;
        let other = scope.buffers.iter().enumerate().find(|(_, other)| other.at.is_some_and(|at| overlap(&range, &(at..at + other.bytes))));
        if let Some((index, other)) = other {
            let start = other.at.unwrap_or_default();
            let message = format!("{at:#x} to {end:#x} overlaps '{}', which is {start:#x} to {:#x}", other.name, start + other.bytes);
            let first = self.file.span(&scope.places[index].field("at"));
            self.error(&place, message);
            if let Some(error) = self.errors.pop() {
                self.errors.push(error.with_label(first, "the other one"));
            }
            return None;
        }
        let regions = self.program.map.regions(bits);
        if let Some((what, region)) = regions.into_iter().find(|(_, region)| overlap(region, &range)) {
            let message =
                format!("{at:#x} to {end:#x} overlaps {what}, {:#x} to {:#x}, where the module was placed", region.start, region.end);
            self.error_with_help(&place, message, "a module that is opened together with this file is placed elsewhere, if there is room");
            return None;
        }
        Some(at)
    }

    /// Resolves the values inside the launch's buffers; those of buffers that are defined inside others come last.
    pub(super) fn resolve_parts(&mut self, index: usize, scope: &mut Scope) {
        while let Some(UnresolvedParts { buffer, place, parts }) = scope.unresolved.pop() {
            let (bytes, name) = (scope.buffers[buffer].bytes, format!("buffer '{}'", scope.buffers[buffer].name));
            let parts = self.parts(index, &place, &parts, (bytes, &name), scope);
            scope.buffers[buffer].parts = parts;
        }
    }

    /// The values inside the `bytes` bytes of `what`.
    pub(super) fn parts(
        &mut self,
        index: usize,
        place: &ValuePath,
        parts: &Parts,
        (bytes, what): (u64, &str),
        scope: &mut Scope,
    ) -> Vec<PlannedPart> {
        let mut planned: Vec<PlannedPart> = Vec::new();
        for (offset, param) in parts {
            let place = place.key(&offset.to_string());
            let Some(value) = self.part(index, &place, param, scope) else { continue };
            let size = self.bytes_of(&value);
            if offset.checked_add(size).is_none_or(|end| end > bytes) {
                self.error(&place, format!("{} at byte {offset} are outside {what}, which has {}", count(size), count(bytes)));
            } else if matches!(value, ParamValue::TensorMap { .. }) && !offset.is_multiple_of(TENSOR_MAP_ALIGN) {
                self.error(&place, format!("a tensor map begins at a multiple of {TENSOR_MAP_ALIGN} bytes, not at byte {offset}"));
            } else if let Some(before) = planned.last().filter(|before| before.offset + u64::from(before.bytes) > *offset) {
                let (first, size) = (before.offset, count(before.bytes.into()));
                self.error(&place, format!("byte {offset} is one of the {size} that stand at byte {first}"));
            } else {
                planned.push(PlannedPart { offset: *offset, bytes: size as u32, value });
            }
        }
        planned
    }

    fn part(&mut self, index: usize, place: &ValuePath, param: &Param, scope: &mut Scope) -> Option<ParamValue> {
        match texture_image(param) {
            Some(image) => self.texture_part(index, place, &image, scope),
            None => self.value(index, place, param, scope),
        }
    }

    /// Bytes of a value.
    pub(super) fn bytes_of(&self, value: &ParamValue) -> u64 {
        match value {
            ParamValue::Bytes(bytes) | ParamValue::Struct { bytes, .. } => bytes.len() as u64,
            ParamValue::TensorMap { .. } => TENSOR_MAP_BYTES as u64,
            ParamValue::Address { .. } => u64::from(self.program.address_bits / 8),
        }
    }
}
