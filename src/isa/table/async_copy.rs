//! PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy" and "Tensormap".

use super::super::form::{Row, row};
use crate::isa::Decode::{
    BulkCopy, CommitCopies, CopyArrive, LaneCopy, Nop, TensorCopy, TensorMapCopy, TensorMapReplace, TensorPrefetch, UnsupportedTensor,
    WaitCopies,
};

/// Targets that change tensor maps.
const REPLACE: &[&str] = &["90a", "100f", "101f", "110f", "120f"];

/// Targets with the tensor copies for two blocks.
const DATACENTER: &[&str] = &["100f", "101f", "110f"];

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("cp-async.ca(.shared|.shared::cta{7.8,0}).global[.L2::cache_hint{7.4,80}][<prefetch>]  [d]:at.shared, [a]:at.global, n:u32:imm:4-16[, s:any][, e:u64:with.L2::cache_hint]", (7, 0), 80, LaneCopy, "asynchronous copy"),
    row("cp-async.cg(.shared|.shared::cta{7.8,0}).global[.L2::cache_hint{7.4,80}][<prefetch>]  [d]:at.shared, [a]:at.global, n:u32:=16[, s:any][, e:u64:with.L2::cache_hint]", (7, 0), 80, LaneCopy, "asynchronous copy"),
    row("cp-async-commit_group  ", (7, 0), 80, CommitCopies, "closes a group of asynchronous copies"),
    row("cp-async-wait_group  a:imm", (7, 0), 80, WaitCopies, "waits for groups of asynchronous copies"),
    row("cp-async-wait_all  ", (7, 0), 80, WaitCopies, "waits for all asynchronous copies"),
    row("cp-async-mbarrier-arrive[.noinc][.shared|.shared::cta{7.8,0}].b64  [a]", (7, 0), 80, CopyArrive, "arrives when the asynchronous copies before have ended"),
    row("cp-async-bulk(.shared::cluster.global).mbarrier::complete_tx::bytes[.multicast::cluster][.L2::cache_hint]  [d]:at.shared::cluster, [a]:at.global, n:u32, [m]:at.shared::cluster[, mask:u16:with.multicast::cluster][, e:u64:with.L2::cache_hint]", (8, 0), 90, BulkCopy, "asynchronous copy of a block"),
    row("cp-async-bulk(.shared::cta.global).mbarrier::complete_tx::bytes[.L2::cache_hint]  [d]:at.shared::cta, [a]:at.global, n:u32, [m]:at.shared::cta[, e:u64:with.L2::cache_hint]", (8, 6), 90, BulkCopy, "asynchronous copy of a block"),
    row("cp-async-bulk(.shared::cluster.shared::cta).mbarrier::complete_tx::bytes  [d]:at.shared::cluster, [a]:at.shared::cta, n:u32, [m]:at.shared::cluster", (8, 0), 90, BulkCopy, "asynchronous copy of a block"),
    row("cp-async-bulk(.global.shared::cta).bulk_group[.L2::cache_hint][.cp_mask{8.6,100}]  [d]:at.global, [a]:at.shared::cta, n:u32[, e:u64:with.L2::cache_hint][, mask:u16:with.cp_mask]", (8, 0), 90, BulkCopy, "asynchronous copy of a block"),
    row("cp-async-bulk-commit_group  ", (8, 0), 90, CommitCopies, "closes a group of asynchronous copies of blocks"),
    row("cp-async-bulk-wait_group[.read]  a:imm", (8, 0), 90, WaitCopies, "waits for groups of asynchronous copies of blocks"),
    row("cp-async-bulk-prefetch.L2.global[.L2::cache_hint]  [a]:at.global, n:u32[, e:u64:with.L2::cache_hint]", (8, 0), 90, Nop, "brings a block into a cache"),
    row("cp-async-bulk-tensor(.1d|.2d|.3d|.4d|.5d)(.shared::cluster.global)[.tile].mbarrier::complete_tx::bytes[.multicast::cluster][.L2::cache_hint]  [d]:at.shared::cluster, t:any, [m]:at.shared::cluster[, mask:u16:with.multicast::cluster][, e:u64:with.L2::cache_hint]", (8, 0), 90, TensorCopy, "asynchronous copy of a box of a tensor"),
    row("cp-async-bulk-tensor(.3d|.4d|.5d)(.shared::cluster.global).im2col.mbarrier::complete_tx::bytes[.multicast::cluster][.L2::cache_hint]  [d]:at.shared::cluster, t:any, [m]:at.shared::cluster, o:any[, mask:u16:with.multicast::cluster][, e:u64:with.L2::cache_hint]", (8, 0), 90, TensorCopy, "asynchronous copy of a box of a tensor"),
    row("cp-async-bulk-tensor(.1d|.2d|.3d|.4d|.5d)(.shared::cta.global)[.tile].mbarrier::complete_tx::bytes[.L2::cache_hint]  [d]:at.shared::cta, t:any, [m]:at.shared::cta[, e:u64:with.L2::cache_hint]", (8, 6), 90, TensorCopy, "asynchronous copy of a box of a tensor"),
    row("cp-async-bulk-tensor(.3d|.4d|.5d)(.shared::cta.global).im2col.mbarrier::complete_tx::bytes[.L2::cache_hint]  [d]:at.shared::cta, t:any, [m]:at.shared::cta, o:any[, e:u64:with.L2::cache_hint]", (8, 6), 90, TensorCopy, "asynchronous copy of a box of a tensor"),
    row("cp-async-bulk-tensor.2d(.shared::cta.global).tile::gather4.mbarrier::complete_tx::bytes[.L2::cache_hint]  [d]:at.shared::cta, t:any, [m]:at.shared::cta[, e:u64:with.L2::cache_hint]", (8, 6), 100, UnsupportedTensor, "asynchronous copy of a box of a tensor"),
    row("cp-async-bulk-tensor(.3d|.4d|.5d)(.shared::cta.global).im2col::w.mbarrier::complete_tx::bytes[.L2::cache_hint]  [d]:at.shared::cta, t:any, [m]:at.shared::cta, o:any[, e:u64:with.L2::cache_hint]", (8, 6), 100, UnsupportedTensor, "asynchronous copy of a box of a tensor"),
    row("cp-async-bulk-tensor.2d(.shared::cluster.global).tile::gather4.mbarrier::complete_tx::bytes[.multicast::cluster][.L2::cache_hint]  [d]:at.shared::cluster, t:any, [m]:at.shared::cluster[, mask:u16:with.multicast::cluster][, e:u64:with.L2::cache_hint]", (8, 6), 100, UnsupportedTensor, "asynchronous copy of a box of a tensor").only(DATACENTER),
    row("cp-async-bulk-tensor(.3d|.4d|.5d)(.shared::cluster.global).im2col::w.mbarrier::complete_tx::bytes[.multicast::cluster][.L2::cache_hint]  [d]:at.shared::cluster, t:any, [m]:at.shared::cluster, o:any[, mask:u16:with.multicast::cluster][, e:u64:with.L2::cache_hint]", (8, 6), 100, UnsupportedTensor, "asynchronous copy of a box of a tensor").only(DATACENTER),
    row("cp-async-bulk-tensor(.3d|.4d|.5d)(.shared::cta.global).im2col::w::128.mbarrier::complete_tx::bytes[.L2::cache_hint]  [d]:at.shared::cta, t:any, [m]:at.shared::cta, o:any[, e:u64:with.L2::cache_hint]", (8, 6), 100, UnsupportedTensor, "asynchronous copy of a box of a tensor").only(DATACENTER),
    row("cp-async-bulk-tensor(.3d|.4d|.5d)(.shared::cluster.global).im2col::w::128.mbarrier::complete_tx::bytes[.multicast::cluster][.L2::cache_hint]  [d]:at.shared::cluster, t:any, [m]:at.shared::cluster, o:any[, mask:u16:with.multicast::cluster][, e:u64:with.L2::cache_hint]", (8, 6), 100, UnsupportedTensor, "asynchronous copy of a box of a tensor").only(DATACENTER),
    row("cp-async-bulk-tensor(.1d|.2d|.3d|.4d|.5d)(.shared::cta.global)[.tile].mbarrier::complete_tx::bytes(.cta_group::1|.cta_group::2)[.L2::cache_hint]  [d]:at.shared::cta, t:any, [m]:at.shared::cta[, e:u64:with.L2::cache_hint]", (8, 6), 100, UnsupportedTensor, "asynchronous copy of a box of a tensor").only(DATACENTER),
    row("cp-async-bulk-tensor.2d(.shared::cta.global).tile::gather4.mbarrier::complete_tx::bytes(.cta_group::1|.cta_group::2)[.L2::cache_hint]  [d]:at.shared::cta, t:any, [m]:at.shared::cta[, e:u64:with.L2::cache_hint]", (8, 6), 100, UnsupportedTensor, "asynchronous copy of a box of a tensor").only(DATACENTER),
    row("cp-async-bulk-tensor(.3d|.4d|.5d)(.shared::cta.global)(.im2col|.im2col::w|.im2col::w::128).mbarrier::complete_tx::bytes(.cta_group::1|.cta_group::2)[.L2::cache_hint]  [d]:at.shared::cta, t:any, [m]:at.shared::cta, o:any[, e:u64:with.L2::cache_hint]", (8, 6), 100, UnsupportedTensor, "asynchronous copy of a box of a tensor").only(DATACENTER),
    row("cp-async-bulk-tensor(.1d|.2d|.3d|.4d|.5d)(.shared::cluster.global)[.tile].mbarrier::complete_tx::bytes[.multicast::cluster](.cta_group::1|.cta_group::2)[.L2::cache_hint]  [d]:at.shared::cluster, t:any, [m]:at.shared::cluster[, mask:u16:with.multicast::cluster][, e:u64:with.L2::cache_hint]", (8, 6), 100, UnsupportedTensor, "asynchronous copy of a box of a tensor").only(DATACENTER),
    row("cp-async-bulk-tensor.2d(.shared::cluster.global).tile::gather4.mbarrier::complete_tx::bytes[.multicast::cluster](.cta_group::1|.cta_group::2)[.L2::cache_hint]  [d]:at.shared::cluster, t:any, [m]:at.shared::cluster[, mask:u16:with.multicast::cluster][, e:u64:with.L2::cache_hint]", (8, 6), 100, UnsupportedTensor, "asynchronous copy of a box of a tensor").only(DATACENTER),
    row("cp-async-bulk-tensor(.3d|.4d|.5d)(.shared::cluster.global)(.im2col|.im2col::w|.im2col::w::128).mbarrier::complete_tx::bytes[.multicast::cluster](.cta_group::1|.cta_group::2)[.L2::cache_hint]  [d]:at.shared::cluster, t:any, [m]:at.shared::cluster, o:any[, mask:u16:with.multicast::cluster][, e:u64:with.L2::cache_hint]", (8, 6), 100, UnsupportedTensor, "asynchronous copy of a box of a tensor").only(DATACENTER),
    row("cp-async-bulk-tensor(.1d|.2d|.3d|.4d|.5d)(.global.shared::cta)[.tile].bulk_group[.L2::cache_hint]  t:any, [a]:at.shared::cta[, e:u64:with.L2::cache_hint]", (8, 0), 90, TensorCopy, "asynchronous copy of a box of a tensor"),
    row("cp-async-bulk-tensor(.3d|.4d|.5d)(.global.shared::cta).im2col_no_offs.bulk_group[.L2::cache_hint]  t:any, [a]:at.shared::cta[, e:u64:with.L2::cache_hint]", (8, 0), 90, TensorCopy, "asynchronous copy of a box of a tensor"),
    row("cp-async-bulk-tensor.2d(.global.shared::cta).tile::scatter4.bulk_group[.L2::cache_hint]  t:any, [a]:at.shared::cta[, e:u64:with.L2::cache_hint]", (8, 6), 100, UnsupportedTensor, "asynchronous copy of a box of a tensor").only(DATACENTER),
    row("cp-async-bulk-prefetch-tensor(.1d|.2d|.3d|.4d|.5d).L2.global[.tile][.L2::cache_hint]  t:any[, e:u64:with.L2::cache_hint]", (8, 0), 90, TensorPrefetch, "brings a box of a tensor into a cache"),
    row("cp-async-bulk-prefetch-tensor(.3d|.4d|.5d).L2.global.im2col[.L2::cache_hint]  t:any, o:any[, e:u64:with.L2::cache_hint]", (8, 0), 90, TensorPrefetch, "brings a box of a tensor into a cache"),
    row("cp-async-bulk-prefetch-tensor.2d.L2.global.tile::gather4[.L2::cache_hint]  t:any[, e:u64:with.L2::cache_hint]", (8, 6), 100, UnsupportedTensor, "brings a box of a tensor into a cache").only(DATACENTER),
    row("cp-async-bulk-prefetch-tensor(.3d|.4d|.5d).L2.global(.im2col::w|.im2col::w::128)[.L2::cache_hint]  t:any, o:any[, e:u64:with.L2::cache_hint]", (8, 6), 100, UnsupportedTensor, "brings a box of a tensor into a cache").only(DATACENTER),
    row("cp-reduce-async-bulk(.shared::cluster.shared::cta).mbarrier::complete_tx::bytes.add(.u32|.s32|.u64)  [d]:at.shared::cluster, [a]:at.shared::cta, n:u32, [m]:at.shared::cluster", (8, 0), 90, BulkCopy, "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.shared::cluster.shared::cta).mbarrier::complete_tx::bytes(.min|.max)(.u32|.s32)  [d]:at.shared::cluster, [a]:at.shared::cta, n:u32, [m]:at.shared::cluster", (8, 0), 90, BulkCopy, "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.shared::cluster.shared::cta).mbarrier::complete_tx::bytes(.inc|.dec)(.u32)  [d]:at.shared::cluster, [a]:at.shared::cta, n:u32, [m]:at.shared::cluster", (8, 0), 90, BulkCopy, "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.shared::cluster.shared::cta).mbarrier::complete_tx::bytes(.and|.or|.xor)(.b32)  [d]:at.shared::cluster, [a]:at.shared::cta, n:u32, [m]:at.shared::cluster", (8, 0), 90, BulkCopy, "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.global.shared::cta).bulk_group[.L2::cache_hint].add(.u32|.s32|.u64|.f32|.f64)  [d]:at.global, [a]:at.shared::cta, n:u32[, e:u64:with.L2::cache_hint]", (8, 0), 90, BulkCopy, "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.global.shared::cta).bulk_group[.L2::cache_hint].add.noftz(.f16|.bf16)  [d]:at.global, [a]:at.shared::cta, n:u32[, e:u64:with.L2::cache_hint]", (8, 0), 90, BulkCopy, "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.global.shared::cta).bulk_group[.L2::cache_hint](.min|.max)(.u32|.s32|.u64|.s64|.f16|.bf16)  [d]:at.global, [a]:at.shared::cta, n:u32[, e:u64:with.L2::cache_hint]", (8, 0), 90, BulkCopy, "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.global.shared::cta).bulk_group[.L2::cache_hint](.inc|.dec)(.u32)  [d]:at.global, [a]:at.shared::cta, n:u32[, e:u64:with.L2::cache_hint]", (8, 0), 90, BulkCopy, "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.global.shared::cta).bulk_group[.L2::cache_hint](.and|.or|.xor)(.b32|.b64)  [d]:at.global, [a]:at.shared::cta, n:u32[, e:u64:with.L2::cache_hint]", (8, 0), 90, BulkCopy, "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk-tensor(.1d|.2d|.3d|.4d|.5d)(.global.shared::cta)(.add|.min|.max|.inc|.dec|.and|.or|.xor)[.tile].bulk_group[.L2::cache_hint]  t:any, [a]:at.shared::cta[, e:u64:with.L2::cache_hint]", (8, 0), 90, TensorCopy, "asynchronous reduction of a box of a tensor"),
    row("cp-reduce-async-bulk-tensor(.3d|.4d|.5d)(.global.shared::cta)(.add|.min|.max|.inc|.dec|.and|.or|.xor).im2col_no_offs.bulk_group[.L2::cache_hint]  t:any, [a]:at.shared::cta[, e:u64:with.L2::cache_hint]", (8, 0), 90, TensorCopy, "asynchronous reduction of a box of a tensor"),
    row("tensormap-replace.tile.global_address[.global|.shared::cta].b1024.b64  [a], b:b64", (8, 3), 90, TensorMapReplace, "replaces a field of a tensor map").only(REPLACE),
    row("tensormap-replace.tile.rank[.global|.shared::cta].b1024.b32  [a], b:b32", (8, 3), 90, TensorMapReplace, "replaces a field of a tensor map").only(REPLACE),
    row("tensormap-replace.tile(.box_dim|.global_dim|.element_stride)[.global|.shared::cta].b1024.b32  [a], n:u32:imm:0-4, b:b32", (8, 3), 90, TensorMapReplace, "replaces a field of a tensor map").only(REPLACE),
    row("tensormap-replace.tile.global_stride[.global|.shared::cta].b1024.b64  [a], n:u32:imm:0-4, b:b64", (8, 3), 90, TensorMapReplace, "replaces a field of a tensor map").only(REPLACE),
    row("tensormap-replace.tile.elemtype[.global|.shared::cta].b1024.b32  [a], b:b32:imm:0-15", (8, 3), 90, TensorMapReplace, "replaces a field of a tensor map").only(REPLACE),
    row("tensormap-replace.tile.interleave_layout[.global|.shared::cta].b1024.b32  [a], b:b32:imm:0-2", (8, 3), 90, TensorMapReplace, "replaces a field of a tensor map").only(REPLACE),
    row("tensormap-replace.tile.swizzle_mode[.global|.shared::cta].b1024.b32  [a], b:b32:imm:0-4", (8, 3), 90, TensorMapReplace, "replaces a field of a tensor map").only(REPLACE),
    row("tensormap-replace.tile.fill_mode[.global|.shared::cta].b1024.b32  [a], b:b32:imm:0-1", (8, 3), 90, TensorMapReplace, "replaces a field of a tensor map").only(REPLACE),
    row("tensormap-replace.tile.swizzle_atomicity[.global|.shared::cta].b1024.b32  [a], b:b32:imm:0-3", (8, 6), 100, TensorMapReplace, "replaces a field of a tensor map").only(&["100f", "101f", "110f", "120f"]),
    row("tensormap-cp_fenceproxy(.global.shared::cta).tensormap::generic.release(<scope>).sync.aligned  [d]:at.global, [a]:at.shared::cta, n:u32:=128", (8, 3), 90, TensorMapCopy, "copies a tensor map to global memory, and orders its use behind that"),
];
