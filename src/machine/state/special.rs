//! Values of the special registers (PTX ISA, "Special Registers").

use crate::isa::{SPECIAL_REGISTERS, Space};
use crate::machine::state::lanes::{LANES, PerLane};
use crate::machine::state::launch::LaunchConfig;
use crate::machine::state::prepared::PreparedLaunch;
use crate::program::{Function, Program, SpecialRef, map};

/// Multiprocessors of the modelled GPU, an H200.
pub const MULTIPROCESSORS: u32 = 132;

/// Warp slots of a multiprocessor of sm_90.
const WARP_SLOTS: u32 = 64;

/// The granularity of shared memory allocation, in bytes.
const SHARED_UNIT: u64 = 128;

/// The bytes of the reserved shared memory that are in use, as an H200 reports them.
const RESERVED_IN_USE: u32 = 288;

/// The minimum alignment of dynamic shared memory, to which the static part is padded.
const DYNAMIC_ALIGN: u64 = 16;

/// A special register whose value is constant during the life of a block, resolved from its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixedSpecial {
    /// The same in every lane of every block.
    Constant(u32),
    /// `%tid`, by axis.
    Thread(usize),
    /// `%ctaid`, by axis.
    Block(usize),
    /// `%clusterid`, by axis.
    Cluster(usize),
    /// `%cluster_ctaid`, by axis.
    BlockInCluster(usize),
    /// `%cluster_ctarank`.
    RankInCluster,
    /// `%smid`.
    Multiprocessor,
    /// `%warpid`.
    Warp,
    /// `%laneid`.
    Lane,
    /// `%lanemask_eq`, `_lt`, `_le`, `_gt` and `_ge`.
    LaneMask {
        /// True if the mask has the lanes below.
        below: bool,
        /// True if the mask has the lane itself.
        own: bool,
        /// True if the mask has the lanes above.
        above: bool,
    },
}

impl FixedSpecial {
    /// Resolves a special register in a launch whose blocks have `shared_bytes` bytes of shared memory, reserved bytes and padding
    /// included.
    pub fn new(special: SpecialRef, program: &Program, config: &LaunchConfig, shared_bytes: u64) -> Self {
        let name = name(special);
        match name.split_once('.') {
            Some((vector, axis)) => Self::of_vector(vector, ["x", "y", "z"].iter().position(|letter| *letter == axis), config),
            None => Self::of_scalar(name, program, config, shared_bytes),
        }
    }

    /// A component of a vector register; `axis` is none for `.w`.
    fn of_vector(name: &str, axis: Option<usize>, config: &LaunchConfig) -> Self {
        let Some(axis) = axis else {
            return FixedSpecial::Constant(0);
        };
        match name {
            "%tid" => FixedSpecial::Thread(axis),
            "%ctaid" => FixedSpecial::Block(axis),
            "%clusterid" => FixedSpecial::Cluster(axis),
            "%cluster_ctaid" => FixedSpecial::BlockInCluster(axis),
            "%ntid" => FixedSpecial::Constant(config.block[axis]),
            "%nctaid" => FixedSpecial::Constant(config.grid[axis]),
            "%nclusterid" => FixedSpecial::Constant(config.grid[axis] / config.cluster[axis]),
            "%cluster_nctaid" => FixedSpecial::Constant(config.cluster[axis]),
            _ => FixedSpecial::Constant(0),
        }
    }

    /// True if warps with the same number in two blocks may have different values.
    fn depends_on_block(&self) -> bool {
        match self {
            FixedSpecial::Block(_)
            | FixedSpecial::Cluster(_)
            | FixedSpecial::BlockInCluster(_)
            | FixedSpecial::RankInCluster
            | FixedSpecial::Multiprocessor => true,
            FixedSpecial::Constant(_)
            | FixedSpecial::Thread(_)
            | FixedSpecial::Warp
            | FixedSpecial::Lane
            | FixedSpecial::LaneMask { .. } => false,
        }
    }

    fn of_scalar(name: &str, program: &Program, config: &LaunchConfig, shared_bytes: u64) -> Self {
        let lanes = |below, own, above| FixedSpecial::LaneMask { below, own, above };
        match name {
            "%laneid" => FixedSpecial::Lane,
            "%warpid" => FixedSpecial::Warp,
            "%smid" => FixedSpecial::Multiprocessor,
            "%cluster_ctarank" => FixedSpecial::RankInCluster,
            "%lanemask_eq" => lanes(false, true, false),
            "%lanemask_lt" => lanes(true, false, false),
            "%lanemask_le" => lanes(true, true, false),
            "%lanemask_gt" => lanes(false, false, true),
            "%lanemask_ge" => lanes(false, true, true),
            "%nwarpid" => FixedSpecial::Constant(WARP_SLOTS),
            "%nsmid" => FixedSpecial::Constant(MULTIPROCESSORS),
            "%is_explicit_cluster" => FixedSpecial::Constant(u32::from(config.explicit_cluster)),
            "%cluster_nctarank" => FixedSpecial::Constant(config.cluster.iter().product()),
            "%reserved_smem_offset_end" => FixedSpecial::Constant(RESERVED_IN_USE),
            "%reserved_smem_offset_cap" => FixedSpecial::Constant(map::SHARED_RESERVED as u32),
            "%total_smem_size" => FixedSpecial::Constant((shared_bytes - map::SHARED_RESERVED).next_multiple_of(SHARED_UNIT) as u32),
            "%aggr_smem_size" => FixedSpecial::Constant(shared_bytes as u32),
            "%envreg1" if config.cooperative => FixedSpecial::Constant((program.map.workspace >> 32) as u32),
            "%envreg2" if config.cooperative => FixedSpecial::Constant(program.map.workspace as u32),
            "%dynamic_smem_size" => FixedSpecial::Constant(config.dynamic_shared),
            _ => FixedSpecial::Constant(0),
        }
    }
}

fn name(special: SpecialRef) -> &'static str {
    SPECIAL_REGISTERS.get(special.0 as usize).map_or("", |register| register.name)
}

/// True if a program reads `%reserved_smem_offset_*`, and so may access the reserved part of shared memory.
pub fn names_reserved_shared(program: &Program) -> bool {
    program.specials.iter().any(|special| name(*special).starts_with("%reserved_smem_offset_"))
}

/// The value of `%aggr_smem_size` for a block of `kernel`: the bytes of the reserved part, of the static part, padded to the largest
/// alignment of dynamic shared memory in the module, and of the dynamic part.
pub fn aggregate_shared(program: &Program, kernel: &Function, dynamic: u32) -> u64 {
    let open = program.variables.iter().filter(|variable| variable.location.space == Space::Shared && variable.bytes == 0);
    let align = open.map(|variable| u64::from(variable.align).max(DYNAMIC_ALIGN)).max().unwrap_or(1);
    map::SHARED_RESERVED + u64::from(kernel.shared_bytes).next_multiple_of(align) + u64::from(dynamic)
}

/// Makes `values` those of `Program::specials` for one warp, in that order. They are none yet, or those of the warp with the same number
/// in another block.
pub fn set_fixed_values(values: &mut Vec<PerLane<u32>>, prepared: &PreparedLaunch, block: [u32; 3], number: u64, warp: u32) {
    let value = |fixed: &FixedSpecial| fixed_value(fixed, &prepared.config, block, number, warp);
    if values.len() == prepared.specials.len() {
        let changed = values.iter_mut().zip(&prepared.specials).filter(|(_, fixed)| fixed.depends_on_block());
        changed.for_each(|(values, fixed)| *values = value(fixed));
    } else {
        assert!(values.is_empty(), "the special registers of another program");
        values.extend(prepared.specials.iter().map(value));
    }
}

/// The values for the lanes of one warp.
pub fn fixed_value(fixed: &FixedSpecial, config: &LaunchConfig, block: [u32; 3], number: u64, warp: u32) -> PerLane<u32> {
    let in_cluster = |axis: usize| block[axis] % config.cluster[axis];
    match *fixed {
        FixedSpecial::Constant(value) => [value; LANES],
        // Most blocks have one dimension; a division for every lane of every warp would cost time.
        FixedSpecial::Thread(axis) if config.block[1..] == [1, 1] => {
            std::array::from_fn(|lane| if axis == 0 { warp * LANES as u32 + lane as u32 } else { 0 })
        }
        FixedSpecial::Thread(axis) => std::array::from_fn(|lane| thread_index(config.block, warp, lane as u32)[axis]),
        FixedSpecial::Block(axis) => [block[axis]; LANES],
        FixedSpecial::Cluster(axis) => [block[axis] / config.cluster[axis]; LANES],
        FixedSpecial::BlockInCluster(axis) => [in_cluster(axis); LANES],
        FixedSpecial::RankInCluster => [in_cluster(0) + config.cluster[0] * (in_cluster(1) + config.cluster[1] * in_cluster(2)); LANES],
        FixedSpecial::Multiprocessor => [(number % u64::from(MULTIPROCESSORS)) as u32; LANES],
        FixedSpecial::Warp => [warp; LANES],
        FixedSpecial::Lane => std::array::from_fn(|lane| lane as u32),
        FixedSpecial::LaneMask { below, own, above } => std::array::from_fn(|lane| lane_mask(lane as u32, below, own, above)),
    }
}

/// The index of the thread in lane `lane` of `warp`, in a block with extents `block`.
pub fn thread_index(block: [u32; 3], warp: u32, lane: u32) -> [u32; 3] {
    debug_assert!(lane < LANES as u32, "a lane that no warp has");
    let number = warp * LANES as u32 + lane;
    let [x, y, _] = block.map(|extent| extent.max(1));
    [number % x, number / x % y, number / (x * y)]
}

fn lane_mask(lane: u32, below: bool, own: bool, above: bool) -> u32 {
    let bit = 1_u32 << lane;
    let part = |wanted: bool, mask: u32| if wanted { mask } else { 0 };
    part(below, bit - 1) | part(own, bit) | part(above, !(bit | (bit - 1)))
}

/// True if special register number `register` of the table is a clock or timer.
pub fn is_clock(register: u16) -> bool {
    let name = SPECIAL_REGISTERS.get(register as usize).map_or("", |register| register.name);
    name.starts_with("%clock") || name.starts_with("%globaltimer")
}

/// The value of special register number `register` of the table, one that changes or has 64 bits, at clock value `clock`.
pub fn changing_value(register: u16, clock: u64) -> u64 {
    match SPECIAL_REGISTERS.get(register as usize).map_or("", |register| register.name) {
        "%clock" | "%clock64" | "%globaltimer" => clock,
        "%globaltimer_lo" => clock & u64::from(u32::MAX),
        "%clock_hi" | "%globaltimer_hi" => clock >> 32,
        "%gridid" => 1,
        _ => 0,
    }
}
