//! The bytes that the base of an address stands for in a launch.

use std::ops::Range;

use crate::flow::address_base::AddressBase;
use crate::isa::Space;
use crate::machine::PreparedLaunch;
use crate::program::{Program, map};

/// The bytes of a variable, or of the buffer that a parameter points into; none of a parameter that is no pointer. `allocations` has the
/// buffers and variables in global memory, in order.
pub(super) fn bytes_of(program: &Program, prepared: &PreparedLaunch, allocations: &[Range<u64>], base: AddressBase) -> Option<Range<u64>> {
    match base {
        AddressBase::Variable(variable) => {
            let variable = &program.variables[variable.index()];
            let start = variable.location.address;
            Some(match (variable.location.space, variable.bytes) {
                (Space::Shared, 0) => {
                    let kernel = &program.functions[prepared.config.kernel.index()];
                    map::SHARED_RESERVED + u64::from(kernel.shared_bytes)..prepared.shared_bytes
                }
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
