//! The text of findings on memory that was not written.

use crate::check::finding::MemoryRange;
use crate::isa::Space;
use crate::program::{Program, map};

/// The reason why memory is undefined, and the fix.
pub(super) fn unwritten_text(memory: MemoryRange, program: &Program) -> (&'static str, &'static str) {
    let start = program.map.heap;
    let heap = start..start + map::HEAP_WINDOW;
    match memory.space {
        Space::Shared | Space::SharedCluster => (
            "no thread or copy has written these bytes since the block started; shared memory holds anything then",
            "write them first, and order the writes before this read with a barrier",
        ),
        Space::Local => {
            ("the thread has not written these bytes of its local memory", "give the variable a value on every path to this read")
        }
        _ if heap.contains(&memory.address) => {
            ("no thread has written these bytes since malloc returned them", "write them before they are read")
        }
        Space::Generic | Space::Global | Space::Const | Space::Param | Space::ParamFunc => (
            "neither the host nor a kernel has written these bytes of the buffer",
            "fill the buffer before the launch, or write them before they are read",
        ),
    }
}
