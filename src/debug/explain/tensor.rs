//! What a tensor copy does: its tensor map, the box, and what of it lies outside of the tensor.

use super::effects::number;
use crate::debug::eval_context::EvalContext;
use crate::debug::memory;
use crate::debug::names::memory_name::element;
use crate::debug::view::grouped;
use crate::isa::{OutsideFill, Space};
use crate::program::{BoxShape, TENSOR_MAP_BYTES, TensorMap};

/// The lines about the tensor map and the box of a copy whose operands are `texts`: `[%rd1, {%r2, %r3}]` is one of them. Empty where the
/// map cannot be read.
pub(super) fn lines(context: &EvalContext<'_>, texts: &[String], loads: bool) -> Vec<String> {
    let decoded = texts.iter().find_map(|text| {
        let (address, coordinates) = text.strip_prefix('[')?.strip_suffix(']')?.split_once('{')?;
        let address = number(context, address.trim_end_matches([' ', ',']))?;
        let mut bytes = [0; TENSOR_MAP_BYTES];
        memory::read(context, Space::Generic, address, &mut bytes).ok()?;
        let coordinates = coordinates.trim_end_matches('}').split(',').map(|text| Some(number(context, text.trim())? as u32 as i32));
        Some((TensorMap::decode(&bytes).ok()?, coordinates.collect::<Option<Vec<i32>>>()?))
    });
    let Some((map, coordinates)) = decoded else { return Vec::new() };
    let name = element(context, Space::Global, map.address).name;
    let name = name.split('[').next().unwrap_or(&name);
    let swizzle = map.swizzle.span().map_or("no swizzle".to_string(), |bytes| format!("swizzle of {bytes} bytes"));
    let extents = |of: &dyn Fn(usize) -> String| (0..map.rank).rev().map(|d| format!("[{}]", of(d))).collect::<String>();
    let tensor = format!("{} {name}{}", map.element.word(), extents(&|d| map.dims[d].to_string()));
    match map.shape {
        BoxShape::Tile(shape) => {
            let first = |d: usize| i64::from(coordinates.get(d).copied().unwrap_or(0));
            let place = extents(&|d| format!("{}..{}", first(d), first(d) + i64::from(shape[d]) - 1));
            vec![
                format!("tensor map: {tensor}, box {}, {swizzle}", extents(&|d| shape[d].to_string())),
                format!("box {name}{place}: {}", outside(&map, &shape, first, loads)),
            ]
        }
        BoxShape::Im2col { channels, pixels, .. } => {
            vec![format!("tensor map: {tensor}, {pixels} pixels of {channels} channels (im2col), {swizzle}")]
        }
    }
}

/// How much of a box lies outside of the tensor, and what becomes of it.
fn outside(map: &TensorMap, shape: &[u32], first: impl Fn(usize) -> i64, loads: bool) -> String {
    let (mut all, mut inside) = (1_u64, 1_u64);
    for d in 0..map.rank {
        // The step of the innermost dimension counts in interleaved tensors only.
        let step = if d == 0 { 1 } else { i64::from(map.element_strides[d].max(1)) };
        let indices = (0..i64::from(shape[d])).step_by(usize::try_from(step).unwrap_or(1));
        let is_inside = |index: &i64| u64::try_from(first(d) + index).is_ok_and(|at| at < map.dims[d]);
        all *= indices.clone().count() as u64;
        inside *= indices.filter(is_inside).count() as u64;
    }
    let becomes = match (loads, map.fill) {
        (false, _) => "is not written",
        (true, OutsideFill::Zero) => "is filled with 0",
        (true, OutsideFill::NanRequestZeroFma) => "is filled with a NaN",
    };
    match all - inside {
        0 => "all of it lies inside of the tensor".to_string(),
        count => format!("{} of {} elements lie outside of the tensor: that part {becomes}", grouped(count), grouped(all)),
    }
}
