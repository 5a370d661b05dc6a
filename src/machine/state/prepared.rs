//! The tables of a launch, computed once.

use smallvec::SmallVec;
use triomphe::Arc;

use crate::cfg;
use crate::machine::state::clocks::Clocks;
use crate::machine::state::coverage::WriteTable;
use crate::machine::state::device::Device;
use crate::machine::state::lanes::{LANES, LaneMask, PerLane};
use crate::machine::state::launch::{DivergencePolicy, FastPath, Instrumentation, LaunchConfig, LaunchError};
use crate::machine::state::special::{self, FixedSpecial};
use crate::machine::state::tables::matrix::MatrixTables;
use crate::machine::state::tables::straight::StraightCode;
use crate::machine::state::tables::wgmma::WgmmaTables;
use crate::program::{MbarrierOp, Op, Pc, Program, map};
use crate::weak::{Party, Place};

/// The default limit on the memory of the resident blocks, in bytes.
const RESIDENT_BYTES: u64 = 32 << 20;

/// The default limit on resident blocks: an H200 holds 32 on each of 132 multiprocessors.
const RESIDENT_BLOCKS: u64 = MULTIPROCESSORS * 32;

/// Multiprocessors of an H200: at least this many blocks can be resident together.
const MULTIPROCESSORS: u64 = 132;

/// The maximum number of blocks of a cluster (sm_90, non-portable size).
const CLUSTER_BLOCKS: u64 = 16;

/// The maximum number of threads of a block.
const BLOCK_THREADS: u64 = 1024;

/// The tables of a launch that the interpreter looks up at every step.
pub struct PreparedLaunch {
    /// The configuration of the launch.
    pub config: LaunchConfig,
    /// True if the user has changed its parameters since it began.
    pub(in crate::machine) has_changed_params: bool,
    /// The values of the program's immediate operands, for the block of each cluster rank.
    pub immediates: Vec<Immediates>,
    /// The values of `Program::specials` in this launch.
    pub specials: Vec<FixedSpecial>,
    /// The rank of each pc in the static order by which groups of lanes are chosen. Under the stack policy, 1 at reconvergence points and 0
    /// elsewhere.
    pub rank: Vec<u32>,
    /// The reconvergence points of a branch, by its pc, the outermost first; only under the stack policy.
    pub(in crate::machine) pushed_targets: Vec<Box<[Pc]>>,
    /// Bytes of a block's shared memory: reserved, static and dynamic.
    pub shared_bytes: u64,
    /// The first byte of it that the kernel may access: [`map::SHARED_RESERVED`], or 0 if the program uses the reserved part.
    pub shared_start: u64,
    /// The value of `%aggr_smem_size`: `shared_bytes` and padding.
    pub shared_aggregate: u64,
    /// Blocks of a cluster.
    pub cluster_blocks: usize,
    /// Blocks of the grid.
    pub blocks: u64,
    /// The numbers in the grid of the blocks that run, in ascending order; empty if all blocks run.
    only: Vec<u64>,
    /// The maximum number of resident blocks.
    pub resident: u64,
    /// True if blocks start only while the state of the resident blocks, call frames and local memory included, is below a limit.
    bounds_state: bool,
    /// The tables of asynchronous matrix multiplications.
    pub wgmmas: WgmmaTables,
    /// The registers that depend on clocks.
    pub(in crate::machine) clocks: Clocks,
    /// True if some instruction tests a phase of an mbarrier.
    pub(in crate::machine) asks_for_phases: bool,
    /// The registers that each instruction writes, if the launch records coverage.
    pub writes: Option<Arc<WriteTable>>,
    /// The positions of the elements of fragments, for each matrix instruction.
    pub matrices: MatrixTables,
    /// The instructions that run in straight stretches.
    pub(in crate::machine) straight: StraightCode,
    /// The vector instruction set of the host.
    pub(in crate::machine) simd: pulp::Arch,
}

impl PreparedLaunch {
    pub(in crate::machine) fn new(device: &Device, config: LaunchConfig) -> Result<Self, LaunchError> {
        let program = &*device.program;
        check_kernel(program, &config)?;
        check_dimensions(&config, program.address_bits)?;
        let kernel = &program.functions[config.kernel.index()];
        let shared_bytes = map::SHARED_RESERVED + u64::from(kernel.shared_bytes) + u64::from(config.dynamic_shared);
        if shared_bytes > map::SHARED_LIMIT {
            return Err(LaunchError::SharedMemory { bytes: shared_bytes, limit: map::SHARED_LIMIT });
        }
        let mut only: Vec<u64> = config.only.iter().map(|index| number_in_grid(&config, *index)).collect();
        only.sort_unstable();
        only.dedup();
        let all = config.grid.iter().map(|extent| u64::from(*extent)).product();
        let blocks = if only.is_empty() { all } else { only.len() as u64 };
        let pushed_targets = match config.divergence {
            DivergencePolicy::Independent => Vec::new(),
            DivergencePolicy::Stack => cfg::pushed_targets_of(program, config.kernel),
        };
        let resident = resident_blocks(program, &config, shared_bytes, blocks);
        let shared_aggregate = special::aggregate_shared(program, kernel, config.dynamic_shared);
        let rank = match config.divergence {
            DivergencePolicy::Independent => cfg::frontier_order_of(program, config.kernel),
            DivergencePolicy::Stack => reconvergence_points(&pushed_targets),
        };
        Ok(Self {
            immediates: (0..config.blocks_of_cluster()).map(|rank| Immediates::new(program, rank)).collect(),
            specials: program.specials.iter().map(|special| FixedSpecial::new(*special, program, &config, shared_aggregate)).collect(),
            straight: StraightCode::new(program, &rank, config.fast_paths.has(FastPath::Runs)),
            rank,
            pushed_targets,
            shared_bytes,
            shared_aggregate,
            shared_start: if special::names_reserved_shared(program) { 0 } else { map::SHARED_RESERVED },
            cluster_blocks: config.blocks_of_cluster() as usize,
            blocks,
            only,
            resident,
            bounds_state: !config.cooperative && config.resident.is_none(),
            wgmmas: WgmmaTables::new(program),
            clocks: Clocks::new(program),
            asks_for_phases: program.code.iter().any(|inst| matches!(inst.op, Op::Mbarrier(MbarrierOp::Wait { .. }))),
            writes: (config.instrumentation == Instrumentation::RunsAndWrites).then(|| Arc::new(WriteTable::new(program))),
            matrices: MatrixTables::new(program),
            simd: pulp::Arch::new(),
            has_changed_params: false,
            config,
        })
    }
}

/// The constants of a program, broadcast to the lanes.
pub struct Immediates {
    /// `Program::consts32`.
    pub narrow: Vec<PerLane<u32>>,
    /// `Program::consts64`.
    pub wide: Vec<PerLane<u64>>,
}

impl Immediates {
    /// The constants for the block of rank `rank` in its cluster: shared addresses contain the rank.
    fn new(program: &Program, rank: u32) -> Self {
        let mut narrow: Vec<_> = program.consts32.iter().map(|value| [*value; LANES]).collect();
        let mut wide: Vec<_> = program.consts64.iter().map(|value| [*value; LANES]).collect();
        let base = map::shared_base(rank);
        let addresses = &program.shared_addresses;
        addresses.narrow.iter().for_each(|index| narrow[*index as usize] = narrow[*index as usize].map(|value| value + base as u32));
        addresses.wide.iter().for_each(|index| wide[*index as usize] = wide[*index as usize].map(|value| value + base));
        Self { narrow, wide }
    }
}

impl PreparedLaunch {
    /// True if a cluster may start beside `resident` blocks with `state_bytes` bytes of simulated state.
    pub(in crate::machine) fn has_room(&self, resident: u64, state_bytes: u64) -> bool {
        resident < self.resident && (!self.bounds_state || resident < MULTIPROCESSORS || state_bytes < RESIDENT_BYTES)
    }
}

impl PreparedLaunch {
    /// The index in the grid of block `number` in order of launch: cluster after cluster, and by rank in a cluster.
    pub fn block_index(&self, number: u64) -> [u32; 3] {
        assert!(number < self.blocks, "block {number} of {}", self.blocks);
        let number = self.only.get(number as usize).copied().unwrap_or(number);
        let (grid, cluster) = (self.config.grid, self.config.cluster);
        let size = u64::from(self.config.blocks_of_cluster());
        let clusters = std::array::from_fn(|axis| grid[axis] / cluster[axis]);
        let (outer, inner) = (index_of(number / size, clusters), index_of(number % size, cluster));
        std::array::from_fn(|axis| outer[axis] * cluster[axis] + inner[axis])
    }

    /// A thread of block `number` as weak memory knows it.
    pub(in crate::machine) fn place(&self, number: u64, thread: usize) -> Place {
        let cluster = number - number % self.cluster_blocks as u64;
        Place { gpu: 0, cluster: cluster as u32, block: number as u32, thread: thread as u32 }
    }

    /// Lanes of a warp that meet: the warp, if these are all of it, or each alone.
    pub(in crate::machine) fn parties(&self, number: u64, warp: usize, lanes: LaneMask) -> SmallVec<[Party; 4]> {
        let (first, threads) = (warp * LANES, self.config.block.iter().product::<u32>());
        if lanes == LaneMask::lowest(threads.saturating_sub(first as u32)) {
            return SmallVec::from_slice(&[Party::Warp(self.place(number, first))]);
        }
        lanes.iter().map(|lane| Party::Thread(self.place(number, first + lane))).collect()
    }

    /// The number in order of launch of the block with this index in the grid; none if it does not run.
    pub fn block_number(&self, index: [u32; 3]) -> Option<u64> {
        let number = number_in_grid(&self.config, index);
        if self.only.is_empty() { Some(number) } else { self.only.binary_search(&number).ok().map(|number| number as u64) }
    }
}

/// The number in order of launch of the block with this index in the grid, if all blocks run.
fn number_in_grid(config: &LaunchConfig, index: [u32; 3]) -> u64 {
    let (grid, cluster) = (config.grid, config.cluster);
    let clusters = std::array::from_fn(|axis| grid[axis] / cluster[axis]);
    let (outer, inner) = (std::array::from_fn(|axis| index[axis] / cluster[axis]), std::array::from_fn(|axis| index[axis] % cluster[axis]));
    number_of(outer, clusters) * u64::from(config.blocks_of_cluster()) + number_of(inner, cluster)
}

/// For every pc, 1 if it is the reconvergence point of a branch.
fn reconvergence_points(pushed_targets: &[Box<[Pc]>]) -> Vec<u32> {
    let mut places = vec![0; pushed_targets.len()];
    pushed_targets.iter().flatten().for_each(|pc| places[pc.index()] = 1);
    places
}

/// The index of element `number` of a grid with extents `grid`, x fastest.
fn index_of(number: u64, grid: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(grid[0]), u64::from(grid[1]));
    [(number % x) as u32, (number / x % y) as u32, (number / x / y) as u32]
}

/// The inverse of [`index_of`].
fn number_of(index: [u32; 3], grid: [u32; 3]) -> u64 {
    let [x, y, z] = index.map(u64::from);
    x + u64::from(grid[0]) * (y + u64::from(grid[1]) * z)
}

fn check_kernel(program: &Program, config: &LaunchConfig) -> Result<(), LaunchError> {
    let kernel = &program.functions[config.kernel.index()];
    if !kernel.is_kernel || kernel.code.is_empty() {
        return Err(LaunchError::NotAKernel(kernel.name.to_string()));
    }
    if config.params.len() != kernel.param_bytes as usize {
        return Err(LaunchError::Params { wanted: kernel.param_bytes, given: config.params.len() });
    }
    Ok(())
}

fn check_dimensions(config: &LaunchConfig, address_bits: u32) -> Result<(), LaunchError> {
    let reject = |what, value, limit: &str| Err(LaunchError::Dimension { what, value, limit: limit.to_string() });
    let threads: u64 = config.block.iter().map(|extent| u64::from(*extent)).product();
    let [x, y, z] = config.block;
    if threads == 0 || x > 1024 || y > 1024 || z > 64 || threads > BLOCK_THREADS {
        return reject("block", config.block, "each extent is at least 1, x and y at most 1024, z at most 64, and 1024 threads in all");
    }
    let [x, y, z] = config.grid;
    if config.grid.contains(&0) || x > i32::MAX as u32 || y > 65_535 || z > 65_535 {
        return reject("grid", config.grid, "each extent is at least 1, x at most 2147483647, y and z at most 65535");
    }
    if config.cluster.contains(&0) || (0..3).any(|axis| !config.grid[axis].is_multiple_of(config.cluster[axis].max(1))) {
        return reject("cluster", config.cluster, "each extent is at least 1 and divides the grid's");
    }
    let limit = if address_bits == 32 { 8 } else { CLUSTER_BLOCKS };
    if config.cluster.iter().map(|extent| u64::from(*extent)).product::<u64>() > limit {
        return reject("cluster", config.cluster, &format!("at most {limit} blocks in all"));
    }
    Ok(())
}

fn resident_blocks(program: &Program, config: &LaunchConfig, shared_bytes: u64, blocks: u64) -> u64 {
    if config.cooperative {
        return blocks;
    }
    // The blocks of a cluster are resident together.
    let whole = |resident: u64| resident.next_multiple_of(u64::from(config.blocks_of_cluster())).min(blocks);
    assert!(blocks > 0 && blocks.is_multiple_of(u64::from(config.blocks_of_cluster())), "a grid is of whole clusters");
    if let Some(resident) = config.resident {
        return whole(u64::from(resident).clamp(1, blocks));
    }
    let slots = program.functions[config.kernel.index()].slots;
    let warp_bytes = u64::from(slots.b32) * 128 + u64::from(slots.b64) * 256 + 1024;
    let warps = config.block.iter().product::<u32>().div_ceil(LANES as u32);
    let block_bytes = u64::from(warps) * warp_bytes + shared_bytes;
    whole((RESIDENT_BYTES / block_bytes).clamp(1, RESIDENT_BLOCKS).min(blocks))
}
