//! Grid, block, cluster and dynamic shared memory of a made-up launch.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::{Flow, slot_of};
use super::{dimensions, evidence};
use crate::isa::{IntBinary, IntTernary, IntType, Shift, Space};
use crate::program::{
    AsyncOp, BitsOp, ClusterOp, CompareOp, CopyOp, FuncId, Function, Inst, IntegerOp, MatrixOp, Mention, MoveOp, Named, Op, Pc, Program,
    Slot, Src, SrcKind, SyncOp, VarId, WarpgroupOp,
};

/// Threads of a block if neither the kernel's directives nor its code suggest a number.
const THREADS_DEFAULT: u32 = 32;
/// If threads of several warps synchronize at barriers.
const THREADS_WITH_BARRIERS: u32 = 128;
/// A warpgroup.
const THREADS_WITH_WGMMA: u32 = 128;
/// The largest tile of several warps in cooperative groups; such tiles synchronize in the reserved part of shared memory.
const THREADS_WITH_TILES: u32 = 512;
/// If the code has at least `MANY_MATRICES` matrix instructions.
const THREADS_WITH_MATRICES: u32 = 256;
const MANY_MATRICES: usize = 16;
/// Threads of a block of several dimensions.
const THREADS_WITH_DIMENSIONS: u32 = 256;
/// Maximum of threads of a block.
const THREADS_MAX: u32 = 1024;
/// Threads of a warp.
const WARP: u32 = 32;
/// Blocks of a cluster if the code is for clusters and does not determine the number.
const CLUSTER_BLOCKS: u32 = 2;
/// Maximum of other block shapes that are tried.
const SHAPES_MAX: usize = 20;
/// Possible sizes in bytes of an element in shared memory, the likeliest first.
const ELEMENT_BYTES: [u64; 5] = [4, 8, 16, 2, 1];

/// Maximum of shared memory of a block in bytes, each from this `sm_` number on (CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability").
const SHARED_BYTES: &[(u32, u32)] = &[
    (0, 48 << 10),
    (70, 96 << 10),
    (75, 64 << 10),
    (80, 163 << 10),
    (86, 99 << 10),
    (87, 163 << 10),
    (88, 99 << 10),
    (90, 227 << 10),
    (120, 99 << 10),
];

/// Features of a kernel's code that suggest the shape of its launch.
#[derive(Clone, Debug, Default)]
pub struct KernelFeatures {
    /// True for y and for z if it uses that index of `%tid` other than to linearize it.
    thread_dimensions: [bool; 2],
    /// True for x if it reads `%ctaid.x`; for y and z if it uses that index of `%ctaid` other than to linearize it.
    pub(super) ctaid_axes: [bool; 3],
    /// True if it uses clusters.
    clusters: bool,
    /// True if the whole grid synchronizes.
    pub cooperative: bool,
    /// True if it uses the reserved part of shared memory.
    names_reserved_shared: bool,
    wgmma: bool,
    matrices: usize,
    barriers: bool,
    /// Maximum of dynamic shared memory in bytes; `None` if the kernel has none.
    pub dynamic_most: Option<u32>,
    /// Small factors of index arithmetic: possible row lengths of tiles.
    factors: BTreeSet<u32>,
    /// Sizes of the arrays in shared memory, in bytes.
    arrays: Vec<u64>,
    /// The largest number, at least a warp, that the code compares `%tid.x` with or divides it by.
    thread_split: Option<u32>,
    /// Distance of adjacent blocks in x and y, if the code has it as a constant and does not read `%ntid`.
    block_strides: [Option<u32>; 2],
    /// Rows from one iteration to the next, if a thread accesses several rows of a tile.
    row_step: Option<u32>,
    /// The largest thread count of a barrier that the code has as a constant.
    barrier_threads: Option<u32>,
}

impl KernelFeatures {
    /// The features of the functions that `flow` has followed.
    pub fn of(flow: &Flow<'_>) -> Self {
        let (mut features, mut named) = (Self::default(), BTreeSet::new());
        for (_, pc, inst) in flow.code() {
            for mention in flow.program.mentions(Pc(pc)) {
                features.read_name(mention);
                if let Named::Variable(id) = mention.named {
                    named.insert(id);
                }
            }
            features.read_operation(flow.program, inst);
        }
        features.thread_dimensions = dimensions::of_threads(flow);
        [features.ctaid_axes[1], features.ctaid_axes[2]] = dimensions::of_blocks(flow);
        features.block_strides = block_strides(flow);
        features.thread_split = thread_split(flow);
        features.row_step = evidence::row_step(flow);
        features.barrier_threads = evidence::barrier_threads(flow);
        let program = flow.program;
        let shared =
            || named.iter().map(|id: &VarId| &program.variables[id.index()]).filter(|variable| variable.location.space == Space::Shared);
        if shared().any(|variable| variable.bytes == 0) {
            let most = SHARED_BYTES.iter().rev().find(|row| row.0 <= program.target.0).map_or(48 << 10, |row| row.1);
            features.dynamic_most = Some(most.saturating_sub(flow.kernel.shared_bytes) / 16 * 16);
        }
        features.arrays = shared().map(|variable| variable.bytes).filter(|bytes| *bytes > 0).collect();
        features
    }

    fn read_name(&mut self, mention: &Mention) {
        let Named::Special(special) = mention.named else { return };
        match special.name() {
            "%ctaid.x" => self.ctaid_axes[0] = true,
            "%cluster_ctarank" | "%cluster_nctarank" => self.clusters = true,
            "%cluster_ctaid.x" | "%cluster_ctaid.y" | "%cluster_ctaid.z" => self.clusters = true,
            // The driver puts the address of the grid's barrier there in cooperative launches only.
            "%envreg1" | "%envreg2" => self.cooperative = true,
            name => self.names_reserved_shared |= name.starts_with("%reserved_smem_offset"),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the other operations say nothing of the shape")]
    fn read_operation(&mut self, program: &Program, inst: &Inst) {
        match inst.op {
            Op::Cluster(ClusterOp::MapShared { .. } | ClusterOp::Rank { .. } | ClusterOp::Arrive { .. }) => self.clusters = true,
            Op::Async(AsyncOp::Copy { copy }) => {
                self.clusters |= match &program.copies[copy] {
                    CopyOp::Bulk { multicast, .. } => multicast.is_some(),
                    CopyOp::Tensor(copy) => copy.multicast.is_some(),
                    CopyOp::Lanes { .. } | CopyOp::Store { .. } | CopyOp::Arrive { .. } => false,
                };
            }
            Op::Wgmma(WarpgroupOp::Multiply { .. }) => self.wgmma = true,
            Op::Sync(SyncOp::Barrier { .. }) => self.barriers = true,
            Op::Matrix { matrix } => {
                self.matrices += usize::from(matches!(program.matrices[matrix], MatrixOp::Multiply(_)));
            }
            Op::Integer(IntegerOp::Binary { f: IntBinary::MulLo, ty, a, b, .. }) => self.factor(program, ty, &[a, b]),
            Op::Integer(IntegerOp::Ternary { f: IntTernary::MadLo, ty, a, b, .. }) => self.factor(program, ty, &[a, b]),
            Op::Integer(IntegerOp::MulWide { ty, a, b, .. } | IntegerOp::MadWide { ty, a, b, .. }) => self.factor(program, ty, &[a, b]),
            _ => {}
        }
    }

    fn factor(&mut self, program: &Program, ty: IntType, sources: &[Src]) {
        for source in sources {
            let SrcKind::Const(index) = source.kind() else { continue };
            let value = match ty {
                IntType::U64 | IntType::S64 => program.consts64.get(index as usize).copied(),
                IntType::U16 | IntType::S16 | IntType::U32 | IntType::S32 | IntType::U16x2 | IntType::S16x2 => {
                    program.consts32.get(index as usize).map(|value| u64::from(*value))
                }
            };
            self.factors.extend(value.filter(|value| (3..=264).contains(value)).map(|value| value as u32));
        }
    }

    /// True if tiles in shared memory are operands of `wgmma`, which reads them swizzled.
    pub fn has_wgmma(&self) -> bool {
        self.wgmma
    }

    /// True if the kernel has arrays in shared memory.
    pub fn has_tiles(&self) -> bool {
        !self.arrays.is_empty() || self.dynamic_most.is_some()
    }

    /// True if a block has several dimensions.
    pub fn has_rows(&self) -> bool {
        self.thread_dimensions != [false, false]
    }

    /// The block to try first, the reason, and true if the code determines it.
    pub fn block(&self, kernel: &Function) -> ([u32; 3], String, bool) {
        let limits = &kernel.limits;
        if let Some(required) = limits.required_block {
            return (required, ".reqntid says so".to_string(), true);
        }
        let most = limits.max_block.map(|[x, y, z]| x.saturating_mul(y).saturating_mul(z).clamp(1, 1024));
        let [y, z] = self.thread_dimensions;
        if let Some(extents) = limits.max_block.filter(|[_, y, z]| *y > 1 || *z > 1) {
            return (extents, ".maxntid allows it".to_string(), true);
        }
        if let Some(block) = self.strided(kernel).filter(|block| block.iter().product::<u32>() <= most.unwrap_or(1024)) {
            let why = match self.block_strides[1] {
                Some(rows) if rows > block[1] => {
                    format!("the code has its blocks so far apart, with {} rows for each thread", rows / block[1])
                }
                _ => "the code has its blocks so far apart".to_string(),
            };
            return (block, why, false);
        }
        if y || z {
            let threads = most.unwrap_or(THREADS_WITH_DIMENSIONS).min(THREADS_WITH_DIMENSIONS.max(most.unwrap_or(0)));
            let (read, block) = if z { ("%tid.z", cuboid(threads)) } else { ("%tid.y", rectangle(threads)) };
            let allowed = if most.is_some() { ", and .maxntid allows that many threads" } else { "" };
            return (block, format!("the code reads {read}{allowed}"), false);
        }
        let (threads, why) = match most {
            Some(most) => (most, ".maxntid allows that many"),
            None if self.wgmma => (THREADS_WITH_WGMMA, "wgmma takes a warpgroup"),
            None if self.names_reserved_shared => (THREADS_WITH_TILES, "tiles of several warps have up to that many"),
            None if self.matrices >= MANY_MATRICES => (THREADS_WITH_MATRICES, "the code is full of matrix instructions"),
            None if let Some(threads) = self.barrier_threads.filter(|threads| self.thread_split.is_none_or(|at| *threads > at)) => {
                (threads, "a barrier is for that many")
            }
            None if let Some(at) = self.thread_split => {
                ((2 * at).clamp(THREADS_WITH_BARRIERS, THREADS_MAX), "the code distinguishes warps of a block")
            }
            None if self.barriers => (THREADS_WITH_BARRIERS, "warps meet at barriers"),
            None => (THREADS_DEFAULT, "one warp, as nothing asks for more"),
        };
        ([threads, 1, 1], why.to_string(), false)
    }

    /// A block with the distance of adjacent blocks as extent, if that is a valid shape: a tile may have more elements than threads.
    fn strided(&self, kernel: &Function) -> Option<[u32; 3]> {
        let block = match (self.block_strides, self.thread_dimensions) {
            ([Some(x), _], [false, false]) if kernel.shared_bytes == 0 && self.dynamic_most.is_none() => [x, 1, 1],
            // A thread may process several rows of a tile.
            ([Some(x), Some(y)], [true, false]) => [x, self.row_step.filter(|step| y % step == 0).unwrap_or(y), 1],
            _ => return None,
        };
        (32..=1024).contains(&block.iter().map(|extent| u64::from(*extent)).product::<u64>()).then_some(block)
    }

    /// Other blocks, for a kernel for which the first one is wrong: first those with a thread for each element of a tile, then those
    /// that process a tile in several iterations, then those without its borders.
    pub fn other_blocks(&self, kernel: &Function) -> Vec<[u32; 3]> {
        if kernel.limits.required_block.is_some() {
            return Vec::new();
        }
        let most = kernel.limits.max_block.map_or(1024, |[x, y, z]| x.saturating_mul(y).saturating_mul(z));
        let least = self.least_threads();
        let mut blocks: Vec<[u32; 3]> = Vec::new();
        let mut add = |x: u32, y: u32| {
            let threads = u64::from(x) * u64::from(y);
            if (u64::from(least)..=u64::from(most)).contains(&threads) && !blocks.contains(&[x, y, 1]) {
                blocks.push([x, y, 1]);
            }
        };
        if self.thread_dimensions == [false, false] {
            let elements = || ELEMENT_BYTES.into_iter().flat_map(|unit| self.arrays.iter().map(move |bytes| bytes / unit));
            elements().filter(|threads| (32..=1024).contains(threads)).for_each(|threads| add(threads as u32, 1));
            [256, 512, 1024, 128, 64, 32, 192, 96].into_iter().for_each(|threads| add(threads, 1));
            // An array with fewer elements than a warp has threads seldom has one for each thread.
            elements().filter(|threads| (2..32).contains(threads)).for_each(|threads| add(threads as u32, 1));
            blocks.truncate(SHAPES_MAX);
            return blocks;
        }
        let tiles = self.tiles();
        // A column without a thread is padding that avoids bank conflicts.
        let width = |columns: u32| if columns.is_power_of_two() { columns } else { columns.saturating_sub(1) };
        tiles.iter().for_each(|[columns, rows]| {
            add(*columns, *rows);
            add(width(*columns), *rows);
        });
        for iterations in [2, 4] {
            let divisible = tiles.iter().filter(|[_, rows]| rows % iterations == 0);
            divisible.for_each(|[columns, rows]| add(width(*columns), rows / iterations));
        }
        for border in [1, 2] {
            tiles.iter().for_each(|[columns, rows]| add(columns.saturating_sub(border), rows.saturating_sub(border)));
        }
        [[32, 8], [8, 8], [32, 4], [32, 32], [32, 1]].into_iter().for_each(|[x, y]| add(x, y));
        blocks.truncate(SHAPES_MAX);
        blocks
    }

    /// The least number of threads of a block in which no branch of the code is left out that is for other warps, and no barrier waits for
    /// more threads than there are: fewer could hide that they hang.
    fn least_threads(&self) -> u32 {
        let beyond_split = self.thread_split.map_or(1, |at| at + 1);
        beyond_split.max(self.barrier_threads.unwrap_or(1))
    }

    /// Possible columns and rows of the arrays in shared memory: a factor of the index arithmetic is taken for the bytes of a row.
    fn tiles(&self) -> Vec<[u32; 2]> {
        let mut tiles = Vec::new();
        for (factor, bytes) in self.factors.iter().rev().flat_map(|factor| self.arrays.iter().map(move |bytes| (*factor, *bytes))) {
            let rows = bytes / u64::from(factor);
            if bytes % u64::from(factor) != 0 || !(2..=64).contains(&rows) {
                continue;
            }
            for unit in [4, 2, 1, 8].into_iter().filter(|unit| factor % unit == 0) {
                let tile = [factor / unit, rows as u32];
                if tile[0] > 1 && !tiles.contains(&tile) {
                    tiles.push(tile);
                }
            }
        }
        tiles
    }

    /// Blocks of a cluster, and the reason if there are several.
    pub fn cluster(&self, kernel: &Function) -> ([u32; 3], Option<&'static str>) {
        match kernel.limits.required_cluster {
            Some(required) => (required, Some(".reqnctapercluster says so")),
            None if self.clusters => ([CLUSTER_BLOCKS, 1, 1], Some("the code is for clusters")),
            None => ([1; 3], None),
        }
    }

    /// Two blocks in x and in y if the code distinguishes them there, in z if only there; or one cluster.
    pub fn grid(&self, cluster: [u32; 3]) -> [u32; 3] {
        let blocks = |reads: bool, cluster: u32| if reads && cluster == 1 { 2 } else { cluster };
        let [x, y, z] = self.ctaid_axes;
        [blocks(x, cluster[0]), blocks(y, cluster[1]), blocks(z && !x && !y, cluster[2])]
    }

    /// True if tiles of matrices are multiplied.
    pub fn multiplies(&self) -> bool {
        self.wgmma || self.matrices > 0
    }
}

/// The constants by which the code multiplies `%ctaid.x` and `%ctaid.y`, if there is exactly one for each.
#[expect(clippy::wildcard_enum_match_arm, reason = "compilers compute the index of a thread with these operations")]
fn block_strides(flow: &Flow<'_>) -> [Option<u32>; 2] {
    let program = flow.program;
    let mut held: BTreeMap<(FuncId, Slot), usize> = BTreeMap::new();
    for (function, _, inst) in flow.code() {
        let Op::Move(MoveOp::Move { d, a, .. }) = inst.op else { continue };
        if let SrcKind::Special(index) = a.kind() {
            let name = program.specials[index as usize].name();
            if name.starts_with("%ntid.") {
                return [None; 2];
            }
            let axis = ["%ctaid.x", "%ctaid.y"].into_iter().position(|special| special == name);
            held.extend(axis.map(|axis| ((function, d.0), axis)));
        }
    }
    let mut found = [BTreeSet::new(), BTreeSet::new()];
    for (function, _, inst) in flow.code() {
        let axis = |source: Src| slot_of(source).and_then(|slot| held.get(&(function, slot)).copied());
        let number = |source: Src| match source.kind() {
            SrcKind::Const(index) => program.consts32.get(index as usize).copied(),
            SrcKind::Reg(_) | SrcKind::Special(_) => None,
        };
        let step = match inst.op {
            Op::Integer(IntegerOp::Binary { f: IntBinary::MulLo, a, b, .. } | IntegerOp::Ternary { f: IntTernary::MadLo, a, b, .. }) => {
                axis(a).zip(number(b)).or_else(|| axis(b).zip(number(a)))
            }
            Op::Bits(BitsOp::Shift { f: Shift::Left, a, b, .. }) => axis(a).zip(number(b).and_then(|by| 1_u32.checked_shl(by))),
            _ => None,
        };
        if let Some((axis, step)) = step {
            found[axis].insert(step);
        }
    }
    found.map(|steps| steps.first().copied().filter(|step| steps.len() == 1 && *step > 0))
}

/// The largest number, at least a warp, that `%tid.x` itself is compared with or divided by.
#[expect(clippy::wildcard_enum_match_arm, reason = "compilers distinguish warps by these operations")]
fn thread_split(flow: &Flow<'_>) -> Option<u32> {
    let program = flow.program;
    let is_thread = |source: Src| matches!(source.kind(), SrcKind::Special(index) if program.specials[index as usize].name() == "%tid.x");
    let mut held: BTreeSet<(FuncId, Slot)> = BTreeSet::new();
    for (function, _, inst) in flow.code() {
        if let Op::Move(MoveOp::Move { d, a, .. }) = inst.op
            && is_thread(a)
        {
            held.insert((function, d.0));
        }
    }
    let at = |(function, _, inst): (FuncId, u32, &Inst)| {
        let holds = |source: Src| is_thread(source) || slot_of(source).is_some_and(|slot| held.contains(&(function, slot)));
        let number = |source: Src| match source.kind() {
            SrcKind::Const(index) => program.consts32.get(index as usize).copied(),
            SrcKind::Reg(_) | SrcKind::Special(_) => None,
        };
        match inst.op {
            Op::Compare(CompareOp::SetpInt { ty: IntType::U32 | IntType::S32, a, b, .. }) if holds(a) => {
                // Threads up to 31 are those below 32.
                number(b).map(|number| number.checked_next_multiple_of(WARP).unwrap_or(number))
            }
            Op::Bits(BitsOp::Shift { f: Shift::Right, a, b, .. }) if holds(a) => number(b).and_then(|by| 1_u32.checked_shl(by)),
            Op::Integer(IntegerOp::Binary { f: IntBinary::Div, a, b, .. }) if holds(a) => number(b),
            _ => None,
        }
    };
    flow.code().filter_map(at).filter(|number| (WARP..THREADS_MAX).contains(number)).max()
}

/// `threads` as a square, or as a rectangle that is twice as wide as high.
fn rectangle(threads: u32) -> [u32; 3] {
    let mut width = 1;
    while width * width < threads {
        width *= 2;
    }
    [width, (threads / width).max(1), 1]
}

fn cuboid(threads: u32) -> [u32; 3] {
    let [x, y, _] = rectangle((threads / 4).max(1));
    [x, y, (threads / (x * y)).clamp(1, 64)]
}
