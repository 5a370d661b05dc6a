//! The special registers (PTX ISA, "Special Registers").

use super::ScalarType;

/// The variability of a special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialKind {
    /// Constant while a block runs; may differ by lane.
    Fixed,
    /// It changes while the block runs.
    Changing,
}

/// A predefined read-only register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecialRegister {
    /// Its name with `%`; vector registers have one entry per component.
    pub name: &'static str,
    /// Type of a read.
    pub ty: ScalarType,
    /// Its variability.
    pub kind: SpecialKind,
    /// First PTX version.
    pub ptx: (u8, u8),
    /// First target.
    pub sm: u32,
    /// One line of help.
    pub help: &'static str,
}

const fn row(name: &'static str, ty: ScalarType, kind: SpecialKind, ptx: (u8, u8), sm: u32, help: &'static str) -> SpecialRegister {
    SpecialRegister { name, ty, kind, ptx, sm, help }
}

/// All special registers. `machine` computes their values; an index into this table is a `program::SpecialRef`.
#[rustfmt::skip]
pub const SPECIAL_REGISTERS: &[SpecialRegister] = {
    use ScalarType::*;
    use SpecialKind::*;
    &[
        row("%tid.x", U32, Fixed, (1, 0), 0, "thread index in the block, x"),
        row("%tid.y", U32, Fixed, (1, 0), 0, "thread index in the block, y"),
        row("%tid.z", U32, Fixed, (1, 0), 0, "thread index in the block, z"),
        row("%tid.w", U32, Fixed, (1, 0), 0, "zero"),
        row("%ntid.x", U32, Fixed, (1, 0), 0, "threads of a block, x"),
        row("%ntid.y", U32, Fixed, (1, 0), 0, "threads of a block, y"),
        row("%ntid.z", U32, Fixed, (1, 0), 0, "threads of a block, z"),
        row("%ntid.w", U32, Fixed, (1, 0), 0, "zero"),
        row("%laneid", U32, Fixed, (1, 3), 0, "lane of the thread in its warp"),
        row("%warpid", U32, Fixed, (1, 3), 0, "warp slot of the thread; here the warp of the block"),
        row("%nwarpid", U32, Fixed, (2, 0), 20, "number of warp slots"),
        row("%ctaid.x", U32, Fixed, (1, 0), 0, "block index in the grid, x"),
        row("%ctaid.y", U32, Fixed, (1, 0), 0, "block index in the grid, y"),
        row("%ctaid.z", U32, Fixed, (1, 0), 0, "block index in the grid, z"),
        row("%ctaid.w", U32, Fixed, (1, 0), 0, "zero"),
        row("%nctaid.x", U32, Fixed, (1, 0), 0, "blocks of the grid, x"),
        row("%nctaid.y", U32, Fixed, (1, 0), 0, "blocks of the grid, y"),
        row("%nctaid.z", U32, Fixed, (1, 0), 0, "blocks of the grid, z"),
        row("%nctaid.w", U32, Fixed, (1, 0), 0, "zero"),
        row("%smid", U32, Fixed, (1, 3), 0, "multiprocessor of the block; here the block's number modulo %nsmid"),
        row("%nsmid", U32, Fixed, (2, 0), 20, "number of multiprocessors; here 132"),
        row("%gridid", U64, Fixed, (1, 0), 0, "number of the grid; here 1"),
        row("%is_explicit_cluster", Pred, Fixed, (7, 8), 90, "whether the launch named a cluster"),
        row("%clusterid.x", U32, Fixed, (7, 8), 90, "cluster index in the grid, x"),
        row("%clusterid.y", U32, Fixed, (7, 8), 90, "cluster index in the grid, y"),
        row("%clusterid.z", U32, Fixed, (7, 8), 90, "cluster index in the grid, z"),
        row("%clusterid.w", U32, Fixed, (7, 8), 90, "zero"),
        row("%nclusterid.x", U32, Fixed, (7, 8), 90, "clusters of the grid, x"),
        row("%nclusterid.y", U32, Fixed, (7, 8), 90, "clusters of the grid, y"),
        row("%nclusterid.z", U32, Fixed, (7, 8), 90, "clusters of the grid, z"),
        row("%nclusterid.w", U32, Fixed, (7, 8), 90, "zero"),
        row("%cluster_ctaid.x", U32, Fixed, (7, 8), 90, "block index in the cluster, x"),
        row("%cluster_ctaid.y", U32, Fixed, (7, 8), 90, "block index in the cluster, y"),
        row("%cluster_ctaid.z", U32, Fixed, (7, 8), 90, "block index in the cluster, z"),
        row("%cluster_ctaid.w", U32, Fixed, (7, 8), 90, "zero"),
        row("%cluster_nctaid.x", U32, Fixed, (7, 8), 90, "blocks of a cluster, x"),
        row("%cluster_nctaid.y", U32, Fixed, (7, 8), 90, "blocks of a cluster, y"),
        row("%cluster_nctaid.z", U32, Fixed, (7, 8), 90, "blocks of a cluster, z"),
        row("%cluster_nctaid.w", U32, Fixed, (7, 8), 90, "zero"),
        row("%cluster_ctarank", U32, Fixed, (7, 8), 90, "rank of the block in its cluster"),
        row("%cluster_nctarank", U32, Fixed, (7, 8), 90, "blocks of a cluster"),
        row("%lanemask_eq", U32, Fixed, (2, 0), 20, "mask with the lane's own bit"),
        row("%lanemask_le", U32, Fixed, (2, 0), 20, "mask of this and lower lanes"),
        row("%lanemask_lt", U32, Fixed, (2, 0), 20, "mask of lower lanes"),
        row("%lanemask_ge", U32, Fixed, (2, 0), 20, "mask of this and higher lanes"),
        row("%lanemask_gt", U32, Fixed, (2, 0), 20, "mask of higher lanes"),
        row("%clock", U32, Changing, (1, 0), 0, "low half of %clock64"),
        row("%clock_hi", U32, Changing, (5, 0), 20, "high half of %clock64"),
        row("%clock64", U64, Changing, (2, 0), 20, "cycles; here the tick"),
        row("%globaltimer", U64, Changing, (3, 1), 30, "nanoseconds; here the tick"),
        row("%globaltimer_lo", U32, Changing, (3, 1), 30, "low half of %globaltimer"),
        row("%globaltimer_hi", U32, Changing, (3, 1), 30, "high half of %globaltimer"),
        row("%pm0", U32, Changing, (1, 3), 0, "performance counter; here 0"),
        row("%pm1", U32, Changing, (1, 3), 0, "performance counter; here 0"),
        row("%pm2", U32, Changing, (1, 3), 0, "performance counter; here 0"),
        row("%pm3", U32, Changing, (1, 3), 0, "performance counter; here 0"),
        row("%pm4", U32, Changing, (3, 0), 20, "performance counter; here 0"),
        row("%pm5", U32, Changing, (3, 0), 20, "performance counter; here 0"),
        row("%pm6", U32, Changing, (3, 0), 20, "performance counter; here 0"),
        row("%pm7", U32, Changing, (3, 0), 20, "performance counter; here 0"),
        row("%pm0_64", U64, Changing, (4, 0), 50, "performance counter; here 0"),
        row("%pm1_64", U64, Changing, (4, 0), 50, "performance counter; here 0"),
        row("%pm2_64", U64, Changing, (4, 0), 50, "performance counter; here 0"),
        row("%pm3_64", U64, Changing, (4, 0), 50, "performance counter; here 0"),
        row("%pm4_64", U64, Changing, (4, 0), 50, "performance counter; here 0"),
        row("%pm5_64", U64, Changing, (4, 0), 50, "performance counter; here 0"),
        row("%pm6_64", U64, Changing, (4, 0), 50, "performance counter; here 0"),
        row("%pm7_64", U64, Changing, (4, 0), 50, "performance counter; here 0"),
        row("%reserved_smem_offset_begin", B32, Fixed, (7, 6), 80, "start of the shared memory the system keeps"),
        row("%reserved_smem_offset_end", B32, Fixed, (7, 6), 80, "end of the shared memory the system keeps"),
        row("%reserved_smem_offset_cap", B32, Fixed, (7, 6), 80, "size of the shared memory the system keeps"),
        row("%reserved_smem_offset_0", B32, Fixed, (7, 6), 80, "offset of a region the system keeps"),
        row("%reserved_smem_offset_1", B32, Fixed, (7, 6), 80, "offset of a region the system keeps"),
        row("%total_smem_size", U32, Fixed, (4, 1), 20, "shared memory of the block in bytes, static and dynamic, in units of 128"),
        row("%aggr_smem_size", U32, Fixed, (8, 1), 90, "shared memory of the block in bytes, with what the system keeps"),
        row("%dynamic_smem_size", U32, Fixed, (4, 1), 20, "dynamic shared memory of the block in bytes"),
        row("%envreg0", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg1", B32, Fixed, (1, 5), 0, "upper half of the address of the grid's workspace in a cooperative launch, else 0"),
        row("%envreg2", B32, Fixed, (1, 5), 0, "lower half of the address of the grid's workspace in a cooperative launch, else 0"),
        row("%envreg3", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg4", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg5", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg6", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg7", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg8", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg9", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg10", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg11", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg12", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg13", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg14", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg15", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg16", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg17", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg18", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg19", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg20", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg21", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg22", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg23", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg24", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg25", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg26", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg27", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg28", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg29", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg30", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%envreg31", B32, Fixed, (1, 5), 0, "set by the driver; here 0"),
        row("%current_graph_exec", U64, Fixed, (8, 0), 50, "graph execution; here 0"),
    ]
};

/// The components of vector registers that have two names (PTX ISA, "Vectors").
const COLORS: &[(&str, &str)] = &[(".r", ".x"), (".g", ".y"), (".b", ".z"), (".a", ".w")];

/// The index of the special register called `name` (with `%`); `%tid.r` is another name of `%tid.x`.
pub fn special_register(name: &str) -> Option<usize> {
    let position = |name: &str| SPECIAL_REGISTERS.iter().position(|register| register.name == name);
    let color = |(color, component): &(&str, &str)| position(&format!("{}{component}", name.strip_suffix(color)?));
    position(name).or_else(|| COLORS.iter().find_map(color))
}
