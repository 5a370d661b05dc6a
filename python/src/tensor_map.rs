//! Tensor maps as encoded by the driver.

use ptxdbg::isa::{L2Promotion, OutsideFill, Swizzle, TensorElement};
use ptxdbg::program::{BoxShape, RANK_MAX, TensorMap};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The 128 bytes of `cuTensorMapEncodeTiled`: `element`, `swizzle` and `fill` by their numbers there, dimensions from the outermost in,
/// strides in bytes of all dimensions but the innermost.
#[pyfunction]
pub fn tensor_map(
    address: u64,
    element: u32,
    dims: Vec<u64>,
    strides: Vec<u64>,
    tile: Vec<u32>,
    swizzle: usize,
    fill: usize,
) -> PyResult<Vec<u8>> {
    let rank = dims.len();
    let wrong = |what: &str| PyValueError::new_err(format!("a tensor map of {what}"));
    if rank == 0 || rank > RANK_MAX || strides.len() + 1 != rank || tile.len() != rank {
        return Err(wrong("another number of dimensions than 1 to 5, or not as many in its box and strides"));
    }
    // The driver's numbers have the doubles before the 32-bit floats that flush.
    let element = match element {
        8 => TensorElement::F64,
        9 => TensorElement::BF16,
        10 => TensorElement::F32Ftz,
        number => TensorElement::from_number(number).ok_or_else(|| wrong("elements of an unknown type"))?,
    };
    let mut map = TensorMap {
        address,
        element,
        rank,
        swizzle: *Swizzle::ALL.get(swizzle).ok_or_else(|| wrong("an unknown swizzle"))?,
        promotion: L2Promotion::B128,
        fill: *OutsideFill::ALL.get(fill).ok_or_else(|| wrong("an unknown fill"))?,
        ..TensorMap::EMPTY
    };
    let mut extents = [1; RANK_MAX];
    for (own, given) in map.dims.iter_mut().zip(dims.iter().rev()) {
        *own = *given;
    }
    for (own, given) in map.strides.iter_mut().zip(strides.iter().rev()) {
        *own = *given;
    }
    for (own, given) in extents.iter_mut().zip(tile.iter().rev()) {
        *own = *given;
    }
    map.shape = BoxShape::Tile(extents);
    Ok(map.encode().to_vec())
}
