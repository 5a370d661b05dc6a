//! Tensor copies that the hardware rejects, according to the manual, or to recordings and probes on an H200.

use super::extent;
use super::request::{Direction, Request, SHARED_ALIGNMENT};
use crate::isa::{Interleave, TensorMode};
use crate::program::{BoxShape, RANK_MAX, TensorMap};

/// The fault of a tensor copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of fault, as the driver reports it.
    pub kind: FaultKind,
    /// The message, in one sentence.
    pub message: String,
}

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An illegal instruction.
    Illegal,
    /// A misaligned address.
    Misaligned,
}

/// Checks that the map is valid, and valid for this request.
pub(super) fn check(map: &TensorMap, request: &Request) -> Result<(), Fault> {
    if let Some(error) = map.check().first() {
        return illegal(format!("the tensor map cannot be used: {}", error.message));
    }
    if request.rank != map.rank {
        let count = |n: usize, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
        let (given, wanted) = (count(request.rank, "coordinate"), count(map.rank, "dimension"));
        return illegal(format!("the instruction has {given}, and the tensor map {wanted}"));
    }
    if request.mode != map.mode() {
        let (wanted, made) = (request.mode.word(), map.mode().word());
        return illegal(format!("the instruction is .{wanted}, and the tensor map was made for {made}"));
    }
    if !request.shared.is_multiple_of(SHARED_ALIGNMENT) {
        let message = format!("the box lies at shared address {:#x}, which is not a multiple of {SHARED_ALIGNMENT}", request.shared);
        return Err(Fault { kind: FaultKind::Misaligned, message });
    }
    innermost(map, request)?;
    match request.direction {
        Direction::Load => {}
        Direction::Reduce(f) if !map.element.reduces_by(f) => {
            return illegal(format!("the instruction's reduction is not one of elements of type .{}", map.element.word()));
        }
        Direction::Store | Direction::Reduce(_) => negative(map, request)?,
    }
    if let BoxShape::Im2col { lower, upper, .. } = map.shape {
        bounding_box(map, request, lower, upper)?;
    }
    Ok(())
}

fn illegal(message: String) -> Result<(), Fault> {
    Err(Fault { kind: FaultKind::Illegal, message })
}

/// Checks that the innermost coordinate is at a multiple of 16 bytes.
fn innermost(map: &TensorMap, request: &Request) -> Result<(), Fault> {
    let (first, size) = (i64::from(request.coordinates[0]), i64::from(map.element.bytes()));
    if map.interleave == Interleave::None && first * size % 16 != 0 {
        let bytes = first * size;
        return illegal(format!(
            "the innermost coordinate is {first}: {bytes} bytes from the start of a row, which is not a multiple of 16"
        ));
    }
    Ok(())
}

/// Checks that a store does not begin before the tensor.
fn negative(map: &TensorMap, request: &Request) -> Result<(), Fault> {
    if let Some((d, coordinate)) = request.coordinates[..map.rank].iter().enumerate().find(|(_, coordinate)| **coordinate < 0) {
        return illegal(format!("coordinate {d} is {coordinate}, and a store or reduction cannot begin before the tensor"));
    }
    if let BoxShape::Im2col { lower, .. } = map.shape
        && let Some(corner) = lower[..map.rank.saturating_sub(2)].iter().find(|corner| **corner < 0)
    {
        return illegal(format!("a lower corner is {corner}, and a store or reduction cannot begin before the tensor"));
    }
    Ok(())
}

/// Checks that the first pixel is in the bounding box, and that offsets are in range.
fn bounding_box(map: &TensorMap, request: &Request, lower: [i32; RANK_MAX - 2], upper: [i32; RANK_MAX - 2]) -> Result<(), Fault> {
    for (index, d) in extent::spatial(map).enumerate() {
        let (first, last) = extent::bounds(map, d, lower[index], upper[index]);
        let coordinate = i64::from(request.coordinates[d]);
        if !(first..=last).contains(&coordinate) {
            return illegal(format!("coordinate {d} is {coordinate}, and the bounding box goes from {first} to {last} there"));
        }
    }
    let most = match map.rank {
        4 => 255,
        5 => 31,
        _ => u16::MAX,
    };
    match request.offsets.iter().find(|offset| request.mode == TensorMode::Im2col && **offset > most) {
        Some(offset) => illegal(format!("an im2col offset is {offset}, and with {} dimensions it is {most} at most", map.rank)),
        None => Ok(()),
    }
}
