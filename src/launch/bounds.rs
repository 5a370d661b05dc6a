//! Launch limits of a device of compute capability 9.0 and of a kernel's directives (CUDA C++ Programming Guide, "Technical
//! Specifications per Compute Capability"; PTX ISA, "Performance-Tuning Directives" and "Cluster Dimension Directives").

use crate::program::{Function, Limits, map};

const BLOCK_THREADS_MAX: u64 = 1024;
const BLOCK_MAX: [u32; 3] = [1024, 1024, 64];
const GRID_MAX: [u32; 3] = [0x7fff_ffff, 65_535, 65_535];
const CLUSTER_BLOCKS_MAX: u64 = 16;
const SHARED_BYTES_MAX: u64 = 227 << 10;
/// Multiprocessors of an H200; the next three are limits of each of them.
const MULTIPROCESSORS: u64 = 132;
const RESIDENT_BLOCKS_MAX: u64 = 32;
const RESIDENT_WARPS_MAX: u64 = 64;
const RESIDENT_SHARED_BYTES_MAX: u64 = 228 << 10;

/// The parts of a launch configuration that have limits.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Blocks of a cluster in x, y and z.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// True if the whole grid must be resident at once.
    pub cooperative: bool,
}

/// The reason why `kernel` cannot be launched in this shape, if there is one.
pub fn violation(kernel: &Function, shape: &Shape) -> Option<String> {
    let checks =
        [device_extents(shape), directives(&kernel.limits, shape), clusters(shape), shared(kernel, shape), resident(kernel, shape)];
    checks.into_iter().flatten().next()
}

fn device_extents(shape: &Shape) -> Option<String> {
    let threads = volume(shape.block);
    if threads > BLOCK_THREADS_MAX {
        return Some(format!("a block of {} has {threads} threads; at most {BLOCK_THREADS_MAX} are possible", show(shape.block)));
    }
    for (what, extents, most) in [("block", shape.block, BLOCK_MAX), ("grid", shape.grid, GRID_MAX)] {
        if extents.iter().zip(most).any(|(extent, most)| *extent > most) {
            return Some(format!("a {what} of {} is too large: at most {} is possible", show(extents), show(most)));
        }
    }
    None
}

fn directives(limits: &Limits, shape: &Shape) -> Option<String> {
    if let Some(required) = limits.required_block.filter(|required| *required != shape.block) {
        return Some(format!("the block is {}, but .reqntid says {}", show(shape.block), show(required)));
    }
    if let Some(most) = limits.max_block.filter(|most| volume(shape.block) > volume(*most)) {
        let (threads, most_threads) = (volume(shape.block), volume(most));
        return Some(format!("a block of {} has {threads} threads, but .maxntid allows {most_threads}", show(shape.block)));
    }
    if let Some(most) = limits.max_cluster.filter(|most| volume(shape.cluster) > u64::from(*most)) {
        let blocks = volume(shape.cluster);
        return Some(format!("a cluster of {} has {blocks} blocks, but .maxclusterrank allows {most}", show(shape.cluster)));
    }
    let required = limits.required_cluster.filter(|required| *required != shape.cluster)?;
    Some(format!("the cluster is {}, but .reqnctapercluster says {}", show(shape.cluster), show(required)))
}

fn clusters(shape: &Shape) -> Option<String> {
    let blocks = volume(shape.cluster);
    if blocks > CLUSTER_BLOCKS_MAX {
        return Some(format!("a cluster of {} has {blocks} blocks; at most {CLUSTER_BLOCKS_MAX} are possible", show(shape.cluster)));
    }
    let divides = shape.grid.iter().zip(shape.cluster).all(|(grid, cluster)| grid.is_multiple_of(cluster));
    (!divides).then(|| format!("a grid of {} cannot be divided into clusters of {}", show(shape.grid), show(shape.cluster)))
}

fn shared(kernel: &Function, shape: &Shape) -> Option<String> {
    let total = u64::from(kernel.shared_bytes) + u64::from(shape.dynamic_shared);
    (total > SHARED_BYTES_MAX).then(|| {
        let (fixed, dynamic) = (kernel.shared_bytes, shape.dynamic_shared);
        format!("a block needs {total} bytes of shared memory ({fixed} static, {dynamic} dynamic); at most {SHARED_BYTES_MAX} are possible")
    })
}

/// A cooperative grid must fit the device as a whole (cudaErrorCooperativeLaunchTooLarge). Registers, of which PTX does not give the
/// number, may lower the bound further.
fn resident(kernel: &Function, shape: &Shape) -> Option<String> {
    let shared = map::SHARED_RESERVED + u64::from(kernel.shared_bytes) + u64::from(shape.dynamic_shared);
    let warps = volume(shape.block).div_ceil(32);
    let each = RESIDENT_BLOCKS_MAX.min(RESIDENT_WARPS_MAX / warps).min(RESIDENT_SHARED_BYTES_MAX / shared);
    let (blocks, most) = (volume(shape.grid), MULTIPROCESSORS * each);
    (shape.cooperative && blocks > most).then(|| {
        let grid = show(shape.grid);
        format!(
            "a cooperative grid of {grid} has {blocks} blocks, all of which must be resident; at most {most} of this block fit the device"
        )
    })
}

fn volume(extents: [u32; 3]) -> u64 {
    // 96 bits at most; anything that saturates is out of bounds anyway.
    extents.iter().fold(1_u64, |product, extent| product.saturating_mul(u64::from(*extent)))
}

fn show(extents: [u32; 3]) -> String {
    let [x, y, z] = extents;
    format!("({x}, {y}, {z})")
}
