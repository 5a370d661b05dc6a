//! Arrays shorter than the size parameters of the same launch: an access past the end is an error of the launch.

use super::FaultedLaunch;
use crate::isa::Space;
use crate::launch::{Origins, ParamValue, PlannedBuffer};
use crate::machine::{Machine, Trap, TrapKind};

/// The note on a fault past the end of an array, if the parameters that bound the index imply a longer array:
/// `x holds 100 elements, n = 128: ..`.
pub fn too_short(launched: FaultedLaunch<'_>, trap: &Trap, machine: &Machine) -> Option<String> {
    let access = trap.access.filter(|access| matches!(access.space, Space::Global | Space::Generic))?;
    if trap.kind != TrapKind::OutOfBounds {
        return None;
    }
    let launch = launched.launch;
    let origins = Origins::new(launched.program, launch.kernel);
    let (base, index) = base_of(launched, &origins.of(trap.point.pc).0, machine)?;
    let (start, buffer) = base;
    let bytes = u64::from(buffer.element.bytes());
    let (elements, at) = (buffer.bytes / bytes, access.address.checked_sub(start)? / bytes);
    let sizes = origins.sizes(trap.point.pc).into_iter();
    let sizes: Vec<(usize, u64)> = sizes.filter_map(|size| Some((size, number(launched, size)?))).collect();
    let expected = sizes.iter().fold(1_u64, |product, (_, size)| product.saturating_mul(*size));
    if launched.is_made_up(index) || sizes.is_empty() || !(elements..expected).contains(&at) {
        return None;
    }
    let text = |(index, size): &(usize, u64)| format!("{} = {size}", launched.name(*index));
    let numbers = sizes.iter().map(text).collect::<Vec<_>>().join(", ");
    let array = &buffer.name;
    let remedy = match sizes.as_slice() {
        [(index, _)] if buffer.shape.len() == 1 => {
            format!("give an array of {expected} elements, or -a {}={elements}", launched.name(*index))
        }
        _ => format!("give an array of {expected} elements, or smaller numbers"),
    };
    Some(format!("{array} holds {elements} elements, {numbers}: the kernel goes on to element {at}; {remedy}; {}", trap.message))
}

/// The start and the buffer that one of the parameters `values` points to, and the index of that parameter; none if there are several.
fn base_of<'a>(launched: FaultedLaunch<'a>, values: &[usize], machine: &Machine) -> Option<((u64, &'a PlannedBuffer), usize)> {
    let params = &launched.launch.params;
    let pointer = |index: &usize| match params.get(*index)?.value {
        ParamValue::Address { buffer, add } => Some((*index, params[*index].offset, buffer, add)),
        ParamValue::Bytes(_) | ParamValue::Struct { .. } | ParamValue::TensorMap { .. } => None,
    };
    let mut pointers = values.iter().filter_map(pointer);
    let (index, offset, buffer, add) = pointers.next()?;
    if pointers.next().is_some() {
        return None;
    }
    let bytes = machine.config().params.get(offset as usize..)?.get(..params[index].bytes as usize)?;
    let address = little_endian(bytes)?;
    Some(((address.checked_sub(add)?, launched.buffers.get(buffer)?), index))
}

/// The number that parameter `index` holds, if it is one.
fn number(launched: FaultedLaunch<'_>, index: usize) -> Option<u64> {
    let ParamValue::Bytes(bytes) = &launched.launch.params.get(index)?.value else { return None };
    little_endian(bytes).filter(|number| *number > 0)
}

/// The number in up to eight bytes.
fn little_endian(bytes: &[u8]) -> Option<u64> {
    let mut word = [0; 8];
    word.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(word))
}
