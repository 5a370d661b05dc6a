//! The extent of a box along a dimension.

use crate::isa::Interleave;
use crate::program::{RANK_MAX, TensorMap};

/// The spatial dimensions: without interleave, those between channels and images; with it, those inside of slices and images.
pub(super) fn spatial(map: &TensorMap) -> std::ops::Range<usize> {
    let first = usize::from(map.interleave == Interleave::None);
    first..first + map.rank.saturating_sub(2)
}

/// The first and the last pixel of the bounding box in spatial dimension `d`.
pub(super) fn bounds(map: &TensorMap, d: usize, lower: i32, upper: i32) -> (i64, i64) {
    let extent = i64::try_from(map.dims[d]).unwrap_or(i64::MAX).min(1 << 32);
    (i64::from(lower), extent - 1 + i64::from(upper))
}

/// The number of elements that a copy takes along dimension `d`. The innermost has an element stride in interleaved tensors only.
pub(super) fn count(map: &TensorMap, extents: &[u32; RANK_MAX], d: usize) -> u64 {
    let slice = slice_dimension(map);
    match slice {
        Some(slice) if slice == d => 1,
        None if d == 0 => u64::from(extents[0]),
        _ => u64::from(extents[d].div_ceil(map.element_strides[d].max(1))),
    }
}

/// The dimension of slices of an interleaved tensor. A copy takes one slice.
pub(super) fn slice_dimension(map: &TensorMap) -> Option<usize> {
    (map.interleave != Interleave::None).then(|| map.rank.saturating_sub(2))
}
