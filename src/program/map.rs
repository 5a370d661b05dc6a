//! The address map: `sema` assigns variables addresses in it, and `machine` allocates memory by it.
//!
//! Addresses are fixed, so a run is the same on every host and a printed address can be typed back. Regions are far apart,
//! allocations inside a region are separated by unmapped space, and null is not mapped. A region moves only if the launch requests
//! memory at addresses that overlap it: see [`Maps::avoiding`].

use std::ops::Range;

use crate::isa::Space;

/// Regions of the address space of a module, which differ by `.address_size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Map {
    /// Start of module variables in global memory.
    pub variables: u64,
    /// Start of buffers made by the launch.
    pub buffers: u64,
    /// Generic window of constant memory: generic address = window + const address.
    pub const_window: u64,
    /// Generic window of kernel parameters.
    pub param_window: u64,
    /// Generic window of shared memory; block `r` of a cluster is at `r << 24` in it.
    pub shared_window: u64,
    /// Generic window of local memory.
    pub local_window: u64,
    /// Addresses of functions, for indirect calls.
    pub functions: u64,
    /// Start of the memory that `malloc` allocates from.
    pub heap: u64,
    /// Address of the memory through which the blocks of a cooperative launch synchronize (`%envreg1`, `%envreg2`).
    pub workspace: u64,
}

impl Default for Map {
    fn default() -> Self {
        MAP64
    }
}

/// The map of 64-bit modules.
pub const MAP64: Map = Map {
    variables: 0x7f10_0000_0000,
    buffers: 0x7f20_0000_0000,
    const_window: 0x7e10_0000_0000,
    param_window: 0x7e20_0000_0000,
    shared_window: 0x7e30_0000_0000,
    local_window: 0x7e40_0000_0000,
    functions: 0x7e50_0000_0000,
    heap: 0x7f30_0000_0000,
    workspace: 0x7f08_0000_0000,
};

/// The map of 32-bit modules.
pub const MAP32: Map = Map {
    variables: 0x1000_0000,
    buffers: 0x2000_0000,
    const_window: 0xe000_0000,
    param_window: 0xe800_0000,
    shared_window: 0xf000_0000,
    local_window: 0xf800_0000,
    functions: 0x0800_0000,
    heap: 0x1800_0000,
    workspace: 0x7f08_0000_0000,
};

/// The maps of modules of both widths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maps {
    wide: Map,
    narrow: Map,
}

impl Default for Maps {
    fn default() -> Self {
        Self { wide: MAP64, narrow: MAP32 }
    }
}

impl Maps {
    /// Maps whose regions avoid the `occupied` ranges, except the region of buffers, which are allocated around them. A region for which
    /// there is no other free range keeps its default address.
    pub fn avoiding(occupied: &[Range<u64>]) -> Self {
        Self { wide: MAP64.avoiding(occupied, 64), narrow: MAP32.avoiding(occupied, 32) }
    }

    /// The map of an existing program, for both widths.
    pub fn of(map: Map) -> Self {
        Self { wide: map, narrow: map }
    }

    /// The map for an `.address_size` of 32 or 64.
    pub fn of_width(&self, address_bits: u32) -> Map {
        if address_bits == 32 { self.narrow } else { self.wide }
    }
}

/// A region of the address space other than that of buffers.
struct FixedRegion<'m> {
    /// Its name, as the end of a sentence.
    name: &'static str,
    start: &'m mut u64,
    bytes: u64,
}

impl Map {
    fn fixed_regions(&mut self, address_bits: u32) -> [FixedRegion<'_>; 8] {
        let (variables_bytes, shared_bytes) =
            if address_bits == 32 { (MAP32.heap - MAP32.variables, WINDOW_BYTES) } else { (VARIABLES_BYTES, 2 * WINDOW_BYTES) };
        let Map { variables, buffers: _, const_window, param_window, shared_window, local_window, functions, heap, workspace } = self;
        [
            FixedRegion { name: "the variables of the module", start: variables, bytes: variables_bytes },
            FixedRegion { name: "the window of constant memory", start: const_window, bytes: WINDOW_BYTES },
            FixedRegion { name: "the window of parameters", start: param_window, bytes: WINDOW_BYTES },
            FixedRegion { name: "the window of shared memory", start: shared_window, bytes: shared_bytes },
            FixedRegion { name: "the window of local memory", start: local_window, bytes: WINDOW_BYTES },
            FixedRegion { name: "the addresses of functions", start: functions, bytes: WINDOW_BYTES },
            FixedRegion { name: "the memory of malloc", start: heap, bytes: HEAP_WINDOW },
            FixedRegion { name: "the memory of cooperative launches", start: workspace, bytes: GUARD_BYTES },
        ]
    }

    /// The end of the addresses of variables in global memory.
    pub fn variables_end(&self, address_bits: u32) -> u64 {
        self.variables + if address_bits == 32 { MAP32.buffers - MAP32.variables } else { VARIABLES_BYTES }
    }

    /// Name and range of each region except that of buffers.
    pub fn regions(mut self, address_bits: u32) -> [(&'static str, Range<u64>); 8] {
        self.fixed_regions(address_bits).map(|region| (region.name, *region.start..*region.start + region.bytes))
    }

    fn avoiding(mut self, occupied: &[Range<u64>], address_bits: u32) -> Self {
        let (first, end) = if address_bits == 32 { (WINDOW_BYTES, 1 << 32) } else { (1 << 40, ADDRESSES_END) };
        let regions = self.regions(address_bits);
        let overlaps = |range: &Range<u64>| occupied.iter().any(|occupied| overlap(occupied, range));
        let mut used: Vec<Range<u64>> = occupied.to_vec();
        used.extend(regions.iter().map(|(_, range)| range.clone()).filter(|range| !overlaps(range)));
        for region in self.fixed_regions(address_bits) {
            if overlaps(&(*region.start..*region.start + region.bytes))
                && let Some(found) = free(&used, region.bytes, first, end)
            {
                *region.start = found;
                used.push(found..found + region.bytes);
            }
        }
        self
    }
}

/// True if two ranges have an address in common.
pub fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

/// The lowest address from `first` on where `bytes` bytes fit below `end` without overlapping a range in `used`.
fn free(used: &[Range<u64>], bytes: u64, first: u64, end: u64) -> Option<u64> {
    let mut at = first;
    while at.checked_add(bytes)? <= end {
        let Some(next) = used.iter().filter(|range| overlap(range, &(at..at + bytes))).map(|range| range.end).max() else {
            return Some(at);
        };
        at = next.checked_next_multiple_of(WINDOW_BYTES)?;
    }
    None
}

impl Map {
    /// Start of the generic window of a space; global addresses are generic as they are.
    pub fn window_start(&self, space: Space) -> u64 {
        match space {
            Space::Generic | Space::Global => 0,
            Space::Const => self.const_window,
            Space::Shared | Space::SharedCluster => self.shared_window,
            Space::Local | Space::ParamFunc => self.local_window,
            Space::Param => self.param_window,
        }
    }

    /// Bytes of the generic window of a space: of shared memory for 16 blocks of a cluster, or for 8 if addresses have 32 bits.
    fn window_bytes(&self, space: Space) -> u64 {
        if space == Space::Shared && self.shared_window > u64::from(u32::MAX) { 2 * WINDOW_BYTES } else { WINDOW_BYTES }
    }

    /// The space whose generic window contains `address`, and the start of the window; global if none does.
    pub fn window_of(&self, address: u64) -> (Space, u64) {
        let windows = [Space::Shared, Space::Local, Space::Const, Space::Param].map(|space| (space, self.window_start(space)));
        let found = windows.into_iter().find(|(space, start)| address.wrapping_sub(*start) < self.window_bytes(*space));
        found.unwrap_or((Space::Global, 0))
    }
}

/// Bytes of every window, but for that of shared memory in 64-bit modules.
pub const WINDOW_BYTES: u64 = 1 << 27;

/// Bytes of addresses of variables in global memory, in 64-bit modules.
const VARIABLES_BYTES: u64 = MAP64.buffers - MAP64.variables;

/// Alignment of the addresses that a launch may request for its memory. The driver allocates at multiples of 256, a host program at
/// multiples of 16; memory whose pages were saved may be a part of an allocation, and begins anywhere.
pub const REQUESTED_ALIGN: u64 = 16;

/// The lowest address that a launch may request for its memory.
pub const ADDRESSES_START: u64 = 256;

/// The end of the addresses of the devices that are modelled.
pub const ADDRESSES_END: u64 = 1 << 49;

/// Bits of an address inside the shared memory of one block of a cluster; the bits above them are the block's rank.
pub const SHARED_OFFSET_BITS: u32 = 24;

/// Offset of the shared memory of the block of rank `rank` in the window of shared memory.
pub fn shared_base(rank: u32) -> u64 {
    u64::from(rank) << SHARED_OFFSET_BITS
}

/// Unmapped bytes between two allocations, and the alignment of both.
pub const GUARD_BYTES: u64 = 4096;

/// Alignment of allocations in global memory, the least that the CUDA driver guarantees.
pub const ALLOCATION_ALIGN: u64 = 512;

/// Shared memory that is reserved at the start of every block's window (sm_80 and later: 1 KiB). Programs that name it by
/// `%reserved_smem_offset_*` may access it: cooperative groups put the barriers of multi-warp tiles there. It starts as zeros; on an
/// H200 it holds what the previous block left. Those barriers work with both.
pub const SHARED_RESERVED: u64 = 1024;

/// First address of constant variables in the const space; it is not null.
pub const CONST_BASE: u64 = 256;

/// First address of a thread's local memory in the local space.
pub const LOCAL_BASE: u64 = 256;

/// Bytes of local memory of one thread at most, all frames together.
pub const LOCAL_BYTES: u64 = 512 << 10;

/// Bytes of the memory through which the blocks of a cooperative launch synchronize.
pub const WORKSPACE_BYTES: u64 = 64;

/// Bytes of the address range of `malloc`.
pub const HEAP_WINDOW: u64 = 1 << 27;

/// Distance between addresses of functions.
pub const FUNCTION_STRIDE: u64 = 128;

/// The address that `mov` gives for function number `index`.
pub fn function_address(map: &Map, index: u32) -> u64 {
    map.functions + u64::from(index) * FUNCTION_STRIDE
}

/// The handle of texture, sampler or surface number `index` of a launch, in 32-bit modules too.
pub fn image_handle(index: u64) -> u64 {
    IMAGE_HANDLES + index * IMAGE_STRIDE
}

/// The first handle that a launch assigns; no memory is mapped there.
const IMAGE_HANDLES: u64 = 0x7e60_0000_0000;

/// Distance between handles.
const IMAGE_STRIDE: u64 = 64;

/// The number of the function at `address`, if there is one.
pub fn function_of_address(map: &Map, address: u64) -> Option<u32> {
    let offset = address.checked_sub(map.functions)?;
    (offset % FUNCTION_STRIDE == 0).then_some(offset / FUNCTION_STRIDE).and_then(|index| u32::try_from(index).ok())
}

/// Shared memory of a block at most, the reserved part included (sm_90: 228 KiB).
pub const SHARED_LIMIT: u64 = 228 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_of_a_map_are_apart() {
        for (map, bits) in [(MAP64, 64), (MAP32, 32)] {
            let regions = map.regions(bits);
            for (index, (what, range)) in regions.iter().enumerate() {
                let other = regions[index + 1..].iter().find(|(_, other)| overlap(range, other));
                assert_eq!(other, None, "{what} in a map of {bits} bits");
            }
        }
    }

    #[test]
    fn what_lies_in_memory_that_is_named_goes_elsewhere() {
        let occupied =
            [0x7e30_0000_1000..0x7e30_0000_2000, MAP64.variables..MAP64.variables + 1, MAP32.local_window..MAP32.local_window + 8];
        let maps = Maps::avoiding(&occupied);
        let Map { shared_window, variables, local_window, .. } = maps.of_width(64);
        assert_eq!(Map { shared_window: MAP64.shared_window, variables: MAP64.variables, ..maps.of_width(64) }, MAP64);
        assert_eq!((variables, shared_window, local_window), (1 << 40, (1 << 40) + VARIABLES_BYTES, MAP64.local_window));
        let narrow = maps.of_width(32);
        assert_eq!(Map { local_window: MAP32.local_window, ..narrow }, MAP32);
        assert_eq!(narrow.local_window, MAP32.heap + HEAP_WINDOW, "after the addresses of functions, the variables and the heap");
    }

    #[test]
    fn what_finds_no_other_place_stays() {
        let all = 0..u64::MAX;
        assert_eq!(Maps::avoiding(std::slice::from_ref(&all)), Maps::default());
    }
}
