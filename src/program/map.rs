//! Where things lie: the address map that `sema` places variables in and `machine` serves.
//!
//! Addresses are made up but fixed, so a run is the same everywhere and a printed address can be typed back. Regions are far
//! apart, allocations inside a region are separated by unmapped space, and null is mapped nowhere.

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
    /// Start of the memory that `malloc` gives.
    pub heap: u64,
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
};

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

    /// Bytes of the generic window of a space: of shared memory for 16 blocks of a cluster, or for 8 where addresses have 32 bits.
    fn window_bytes(&self, space: Space) -> u64 {
        if space == Space::Shared && self.shared_window > u64::from(u32::MAX) { 2 * WINDOW_BYTES } else { WINDOW_BYTES }
    }

    /// The space whose generic window holds `address`, and where the window starts; global if none does.
    pub fn window_of(&self, address: u64) -> (Space, u64) {
        let windows = [Space::Shared, Space::Local, Space::Const, Space::Param].map(|space| (space, self.window_start(space)));
        let found = windows.into_iter().find(|(space, start)| (*start..*start + self.window_bytes(*space)).contains(&address));
        found.unwrap_or((Space::Global, 0))
    }
}

/// The map for `.address_size` 32 or 64.
pub fn map(address_bits: u32) -> &'static Map {
    if address_bits == 32 { &MAP32 } else { &MAP64 }
}

/// Bytes of every window, but for that of shared memory in 64-bit modules.
pub const WINDOW_BYTES: u64 = 1 << 27;

/// Bits of an address inside the shared memory of one block of a cluster; the bits above them are the block's rank.
pub const SHARED_OFFSET_BITS: u32 = 24;

/// Where the shared memory of the block of rank `rank` begins in the window of shared memory.
pub fn shared_base(rank: u32) -> u64 {
    u64::from(rank) << SHARED_OFFSET_BITS
}

/// Unmapped bytes kept between two allocations, and their common alignment.
pub const GUARD_BYTES: u64 = 4096;

/// Alignment of allocations in global memory, as the CUDA driver gives it at least.
pub const ALLOCATION_ALIGN: u64 = 512;

/// Shared memory that is reserved at the start of every block's window (sm_80 and later: 1 KiB). Programs that name it by
/// `%reserved_smem_offset_*` may access it: barriers of cooperative groups' tiles of several warps are there. It starts as zeros, where
/// an H200 leaves what was there before; those barriers work with both.
pub const SHARED_RESERVED: u64 = 1024;

/// First address of constant variables in the const space; null is not one.
pub const CONST_BASE: u64 = 256;

/// First address of a thread's local memory in the local space.
pub const LOCAL_BASE: u64 = 256;

/// Bytes of local memory of one thread at most, all frames together.
pub const LOCAL_BYTES: u64 = 512 << 10;

/// Where the blocks of a cooperative launch find the memory over which they synchronize (`%envreg1`, `%envreg2`), and its bytes.
pub const GRID_WORKSPACE: (u64, u64) = (0x7f08_0000_0000, 64);

/// Bytes of addresses that `malloc` can give.
pub const HEAP_WINDOW: u64 = 1 << 27;

/// Distance between addresses of functions.
pub const FUNCTION_STRIDE: u64 = 128;

/// The address that `mov` gives for function number `index`.
pub fn function_address(map: &Map, index: u32) -> u64 {
    map.functions + u64::from(index) * FUNCTION_STRIDE
}

/// The handle of texture, sampler or surface number `index` of a launch, in modules of 32 bits too.
pub fn image_handle(index: u64) -> u64 {
    IMAGE_HANDLES + index * IMAGE_STRIDE
}

/// The first handle that a launch makes up; no memory is there.
const IMAGE_HANDLES: u64 = 0x7e60_0000_0000;

/// Distance between handles.
const IMAGE_STRIDE: u64 = 64;

/// The function number whose address this is, if it is one.
pub fn function_of_address(map: &Map, address: u64) -> Option<u32> {
    let offset = address.checked_sub(map.functions)?;
    (offset % FUNCTION_STRIDE == 0).then_some(offset / FUNCTION_STRIDE).and_then(|index| u32::try_from(index).ok())
}

/// Shared memory of a block at most, the reserved part included (sm_90: 228 KiB).
pub const SHARED_LIMIT: u64 = 228 << 10;
