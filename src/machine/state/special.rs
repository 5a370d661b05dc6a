//! Values of the special registers (PTX ISA, "Special Registers").

use crate::isa::{SPECIAL_REGISTERS, Space};
use crate::machine::state::lanes::{LANES, PerLane};
use crate::machine::state::launch::LaunchConfig;
use crate::machine::state::prepared::PreparedLaunch;
use crate::program::{Function, Program, SpecialRef, map};

/// Multiprocessors of the machine that is modelled, an H200.
pub const MULTIPROCESSORS: u32 = 132;

/// Warp slots of a multiprocessor of sm_90.
const WARP_SLOTS: u32 = 64;

/// Bytes in which shared memory is given to blocks.
const SHARED_UNIT: u64 = 128;

/// Bytes of the reserved shared memory that the toolkit's libraries may use, as an H200 says; the rest is spare.
const RESERVED_IN_USE: u32 = 288;

/// Alignment of dynamic shared memory at least, to which the static part is padded.
const DYNAMIC_ALIGN: u64 = 16;

/// A special register that is the same during the whole life of a block, known by what it means and no longer by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixed {
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
    /// `%lanemask_eq` and kin: lanes below, at and above one's own.
    LaneMask {
        /// With the lanes below.
        below: bool,
        /// With the lane itself.
        own: bool,
        /// With the lanes above.
        above: bool,
    },
}

impl Fixed {
    /// The value of a special register in a launch whose blocks have `shared_bytes` bytes of shared memory, the system's and the padding
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
            return Fixed::Constant(0);
        };
        match name {
            "%tid" => Fixed::Thread(axis),
            "%ctaid" => Fixed::Block(axis),
            "%clusterid" => Fixed::Cluster(axis),
            "%cluster_ctaid" => Fixed::BlockInCluster(axis),
            "%ntid" => Fixed::Constant(config.block[axis]),
            "%nctaid" => Fixed::Constant(config.grid[axis]),
            "%nclusterid" => Fixed::Constant(config.grid[axis] / config.cluster[axis]),
            "%cluster_nctaid" => Fixed::Constant(config.cluster[axis]),
            _ => Fixed::Constant(0),
        }
    }

    fn of_scalar(name: &str, program: &Program, config: &LaunchConfig, shared_bytes: u64) -> Self {
        let lanes = |below, own, above| Fixed::LaneMask { below, own, above };
        match name {
            "%laneid" => Fixed::Lane,
            "%warpid" => Fixed::Warp,
            "%smid" => Fixed::Multiprocessor,
            "%cluster_ctarank" => Fixed::RankInCluster,
            "%lanemask_eq" => lanes(false, true, false),
            "%lanemask_lt" => lanes(true, false, false),
            "%lanemask_le" => lanes(true, true, false),
            "%lanemask_gt" => lanes(false, false, true),
            "%lanemask_ge" => lanes(false, true, true),
            "%nwarpid" => Fixed::Constant(WARP_SLOTS),
            "%nsmid" => Fixed::Constant(MULTIPROCESSORS),
            "%is_explicit_cluster" => Fixed::Constant(u32::from(config.explicit_cluster)),
            "%cluster_nctarank" => Fixed::Constant(config.cluster.iter().product()),
            "%reserved_smem_offset_end" => Fixed::Constant(RESERVED_IN_USE),
            "%reserved_smem_offset_cap" => Fixed::Constant(map::SHARED_RESERVED as u32),
            "%total_smem_size" => Fixed::Constant((shared_bytes - map::SHARED_RESERVED).next_multiple_of(SHARED_UNIT) as u32),
            "%aggr_smem_size" => Fixed::Constant(shared_bytes as u32),
            "%envreg1" if config.cooperative => Fixed::Constant((program.map.workspace >> 32) as u32),
            "%envreg2" if config.cooperative => Fixed::Constant(program.map.workspace as u32),
            "%dynamic_smem_size" => Fixed::Constant(config.dynamic_shared),
            _ => Fixed::Constant(0),
        }
    }
}

fn name(special: SpecialRef) -> &'static str {
    SPECIAL_REGISTERS.get(special.0 as usize).map_or("", |register| register.name)
}

/// Whether code of a program names the reserved part of shared memory (`%reserved_smem_offset_*`), and may access it then.
pub fn names_reserved_shared(program: &Program) -> bool {
    program.specials.iter().any(|special| name(*special).starts_with("%reserved_smem_offset_"))
}

/// Bytes of shared memory of a block of `kernel` as `%aggr_smem_size` has them: the reserved part, the static part, padded to the largest
/// alignment of dynamic shared memory in the module where it has any, and the dynamic part.
pub fn aggregate_shared(program: &Program, kernel: &Function, dynamic: u32) -> u64 {
    let open = program.variables.iter().filter(|variable| variable.location.space == Space::Shared && variable.bytes == 0);
    let align = open.map(|variable| u64::from(variable.align).max(DYNAMIC_ALIGN)).max().unwrap_or(1);
    map::SHARED_RESERVED + u64::from(kernel.shared_bytes).next_multiple_of(align) + u64::from(dynamic)
}

/// The values of `Program::specials` for one warp, in that order.
pub fn fixed_values(prepared: &PreparedLaunch, block: [u32; 3], number: u64, warp: u32) -> Vec<PerLane<u32>> {
    prepared.specials.iter().map(|fixed| fixed_value(fixed, &prepared.config, block, number, warp)).collect()
}

/// The values for the lanes of one warp.
pub fn fixed_value(fixed: &Fixed, config: &LaunchConfig, block: [u32; 3], number: u64, warp: u32) -> PerLane<u32> {
    let in_cluster: [u32; 3] = std::array::from_fn(|axis| block[axis] % config.cluster[axis]);
    match *fixed {
        Fixed::Constant(value) => [value; LANES],
        // Most blocks have one dimension, and a division for every lane of every warp would show.
        Fixed::Thread(axis) if config.block[1..] == [1, 1] => {
            std::array::from_fn(|lane| if axis == 0 { warp * LANES as u32 + lane as u32 } else { 0 })
        }
        Fixed::Thread(axis) => std::array::from_fn(|lane| thread_index(config.block, warp, lane as u32)[axis]),
        Fixed::Block(axis) => [block[axis]; LANES],
        Fixed::Cluster(axis) => [block[axis] / config.cluster[axis]; LANES],
        Fixed::BlockInCluster(axis) => [in_cluster[axis]; LANES],
        Fixed::RankInCluster => [in_cluster[0] + config.cluster[0] * (in_cluster[1] + config.cluster[1] * in_cluster[2]); LANES],
        Fixed::Multiprocessor => [(number % u64::from(MULTIPROCESSORS)) as u32; LANES],
        Fixed::Warp => [warp; LANES],
        Fixed::Lane => std::array::from_fn(|lane| lane as u32),
        Fixed::LaneMask { below, own, above } => std::array::from_fn(|lane| lane_mask(lane as u32, below, own, above)),
    }
}

/// The index in a block of these extents of the thread that is `lane` of `warp`.
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

/// Whether special register number `register` of the table says what time it is.
pub fn is_clock(register: u16) -> bool {
    let name = SPECIAL_REGISTERS.get(register as usize).map_or("", |register| register.name);
    name.starts_with("%clock") || name.starts_with("%globaltimer")
}

/// The value of special register number `register` of the table, one that changes or has 64 bits, when clocks say `clock`.
pub fn changing_value(register: u16, clock: u64) -> u64 {
    match SPECIAL_REGISTERS.get(register as usize).map_or("", |register| register.name) {
        "%clock" | "%clock64" | "%globaltimer" => clock,
        "%globaltimer_lo" => clock & u64::from(u32::MAX),
        "%clock_hi" | "%globaltimer_hi" => clock >> 32,
        "%gridid" => 1,
        _ => 0,
    }
}
