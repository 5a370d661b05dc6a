//! Tensor maps: their buffers, and the checks that they fit and that the driver would accept them.

use super::param::count;
use super::{Resolver, Scope};
use crate::isa::Interleave;
use crate::launch::image::BufferRef;
use crate::launch::plan::ParamValue;
use crate::launch::tensor_map::{Im2col, TensorMap};
use crate::launch::value_path::ValuePath;
use crate::program::{self, BoxShape, RANK_MAX};

/// Alignment of a tensor (cuTensorMapEncodeTiled).
const TENSOR_ALIGN: u64 = 16;

impl Resolver<'_> {
    /// The map of an entry.
    pub(super) fn tensor_map(&mut self, launch_index: usize, place: &ValuePath, map: &TensorMap, scope: &mut Scope) -> Option<ParamValue> {
        let memory = place.field("buffer");
        let (buffer, first) = self.memory_of(launch_index, (&memory, &memory.item(0)), &map.buffer, (scope, TENSOR_ALIGN))?;
        if !self.lengths_agree(place, map) {
            return None;
        }
        let planned = program::TensorMap {
            address: first,
            element: map.elem,
            rank: map.dims.len(),
            dims: filled(&map.dims, 1),
            strides: filled(&map.strides, 0),
            shape: self.box_shape(place, map)?,
            element_strides: filled(&map.element_strides, 1),
            interleave: map.interleave,
            swizzle: map.swizzle,
            promotion: map.l2_promotion,
            fill: map.fill,
        };
        let broken = planned.check();
        for error in &broken {
            self.error(&place.field(error.field), error.message.clone());
        }
        let fits = broken.is_empty() && self.tensor_fits(place, &planned, scope.buffers[buffer].bytes - first);
        fits.then(|| ParamValue::TensorMap { buffer, map: Box::new(planned) })
    }

    /// The buffer of a tensor, a texture or a surface, and its offset there, a multiple of `align`; the paths are those of the reference
    /// and of a buffer that is defined in its stead.
    pub(super) fn memory_of(
        &mut self,
        launch_index: usize,
        (place, defined): (&ValuePath, &ValuePath),
        memory: &BufferRef,
        (scope, align): (&mut Scope, u64),
    ) -> Option<(usize, u64)> {
        let (name, first) = match memory {
            BufferRef::Buffer(buffer) => return self.define_buffer(launch_index, defined, buffer, scope).map(|buffer| (buffer, 0)),
            BufferRef::Alias(name) => (name, 0),
            BufferRef::Offset(name, first) => (name, *first),
        };
        let Some(&buffer) = scope.by_name.get(name) else {
            self.no_buffer(&place.item(0), name, scope);
            return None;
        };
        let bytes = scope.buffers[buffer].bytes;
        if first > bytes || !first.is_multiple_of(align) {
            let message =
                format!("it begins at a multiple of {align} bytes in buffer '{name}', which has {}, not at {first}", count(bytes));
            self.error(&place.item(1), message);
            return None;
        }
        Some((buffer, first))
    }

    /// Checks that every list has an entry for each dimension.
    fn lengths_agree(&mut self, place: &ValuePath, map: &TensorMap) -> bool {
        let rank = map.dims.len();
        if !(1..=RANK_MAX).contains(&rank) {
            self.error(&place.field("dims"), format!("a tensor has 1 to {RANK_MAX} dimensions, not {rank}"));
            return false;
        }
        let given = |list: &Option<Vec<u32>>| list.as_ref().map_or(rank, Vec::len);
        let steps = if map.element_strides.is_empty() { rank } else { map.element_strides.len() };
        let lengths = [("strides", map.strides.len(), rank - 1), ("element_strides", steps, rank), ("box", given(&map.tile), rank)];
        let wrong: Vec<_> = lengths.into_iter().filter(|(_, given, wanted)| given != wanted).collect();
        for (field, given, wanted) in &wrong {
            let message = format!("{field} has {given} {}, and of {rank} dimensions it has {wanted}", entries(*given));
            self.error(&place.field(field), message);
        }
        wrong.is_empty()
    }

    fn box_shape(&mut self, place: &ValuePath, map: &TensorMap) -> Option<BoxShape> {
        match (&map.tile, &map.im2col) {
            (Some(extents), None) => Some(BoxShape::Tile(filled(extents, 1))),
            (None, Some(im2col)) => self.pixels(&place.field("im2col"), map.dims.len(), im2col),
            (Some(_), Some(_)) => {
                self.error(&place.field("im2col"), "a tensor map has either 'box' or 'im2col'");
                None
            }
            (None, None) => {
                let help = "box: [64, 32] takes that many elements of each dimension, innermost first";
                self.error_with_help(place, "a tensor map needs 'box' or 'im2col'", help);
                None
            }
        }
    }

    fn pixels(&mut self, place: &ValuePath, rank: usize, im2col: &Im2col) -> Option<BoxShape> {
        let spatial = rank.saturating_sub(2);
        let mut agree = true;
        for (field, corner) in [("lower", &im2col.lower), ("upper", &im2col.upper)] {
            if corner.len() != spatial {
                let given = corner.len();
                let ones = if spatial == 1 { "one" } else { "ones" };
                let message = format!("{field} has {given} {}, and {rank} dimensions have {spatial} spatial {ones}", entries(given));
                self.error(&place.field(field), message);
                agree = false;
            }
        }
        let (lower, upper) = (filled(&im2col.lower, 0), filled(&im2col.upper, 0));
        agree.then_some(BoxShape::Im2col { lower, upper, channels: im2col.channels, pixels: im2col.pixels })
    }

    /// Checks that the last element is in the buffer; interleaved tensors are accepted.
    fn tensor_fits(&mut self, place: &ValuePath, map: &program::TensorMap, bytes: u64) -> bool {
        let last =
            |d: usize| u128::from(map.dims[d] - 1) * u128::from(if d == 0 { u64::from(map.element.bytes()) } else { map.strides[d - 1] });
        let end = (0..map.rank).map(last).sum::<u128>() + u128::from(map.element.bytes());
        let fits = end <= u128::from(bytes) || map.interleave != Interleave::None;
        if !fits {
            self.error(&place.field("dims"), format!("the tensor has {end} bytes from first to last, and its buffer {}", count(bytes)));
        }
        fits
    }
}

/// The entries of `list`, padded with `rest`.
fn filled<T: Copy, const N: usize>(list: &[T], rest: T) -> [T; N] {
    std::array::from_fn(|index| list.get(index).copied().unwrap_or(rest))
}

fn entries(count: usize) -> &'static str {
    if count == 1 { "entry" } else { "entries" }
}
