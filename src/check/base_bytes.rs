//! The bytes that the base of an address stands for in a launch.

use std::ops::Range;

use crate::flow::address_base::AddressBase;
use crate::flow::written_bases::written_bases;
use crate::isa::Space;
use crate::machine::{LaunchStart, PreparedLaunch};
use crate::program::{Program, map};

/// The bytes of a variable, or of the buffer that a parameter points into; none of a parameter that is no pointer, and of the local memory
/// of a function that is called. `allocations` has the buffers and variables in global memory, in order.
pub(super) fn bytes_of(program: &Program, prepared: &PreparedLaunch, allocations: &[Range<u64>], base: AddressBase) -> Option<Range<u64>> {
    match base {
        AddressBase::Variable(variable) => {
            let variable = &program.variables[variable.index()];
            let start = variable.location.address;
            // The memory of a function that is called lies where the calls before it end.
            if variable.location.space == Space::Local && variable.function != Some(prepared.config.kernel) {
                return None;
            }
            Some(match (variable.location.space, variable.bytes) {
                (Space::Shared, 0) => {
                    let kernel = &program.functions[prepared.config.kernel.index()];
                    map::SHARED_RESERVED + u64::from(kernel.shared_bytes)..prepared.shared_bytes
                }
                (Space::Local, bytes) => map::LOCAL_BASE + start..map::LOCAL_BASE + start + bytes,
                (_, bytes) => start..start + bytes,
            })
        }
        AddressBase::Param(offset) => {
            let bytes = prepared.config.params.get(offset as usize..)?;
            let pointer = match program.address_bits {
                32 => u64::from(u32::from_le_bytes(*bytes.first_chunk()?)),
                _ => u64::from_le_bytes(*bytes.first_chunk()?),
            };
            let after = allocations.partition_point(|range| range.start <= pointer);
            allocations[..after].last().filter(|range| range.contains(&pointer)).cloned()
        }
    }
}

/// The buffers and variables in global memory at which no write of the launch's kernel has its address start; none if that is not known.
/// An index that is out of bounds may bring a write to one nevertheless.
pub fn read_only_buffers<'a>(program: &Program, start: &'a LaunchStart) -> impl Iterator<Item = Range<u64>> + use<'a> {
    let LaunchStart { prepared, allocations, .. } = start;
    let is_pointer = |base| bytes_of(program, prepared, allocations, base).is_some();
    let written: Option<Vec<Range<u64>>> = written_bases(program, prepared.config.kernel)
        .and_then(|bases| bases.iter().map(|bases| bytes_of(program, prepared, allocations, bases.unique(is_pointer)?)).collect());
    let known = if written.is_some() { &allocations[..] } else { &[] };
    known.iter().filter(move |buffer| written.iter().flatten().all(|written| !map::overlap(buffer, written))).cloned()
}
