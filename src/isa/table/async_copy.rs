//! PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy" and "Tensormap".

use super::super::form::{Row, row};
use crate::isa::AsyncDecode::{BulkCopy, CommitCopies, CopyArrive, LaneCopy, WaitCopies};
use crate::isa::Decode::{Async, Nop, Tensor, Unsupported};
use crate::isa::TensorDecode::{TensorCopy, TensorMapCopy, TensorMapReplace};

/// Targets whose tensor copies support gather, scatter and CTA pairs.
const BLACKWELL_TENSOR: &[&str] = &["100f", "101f", "110f"];

/// Targets that have `tensormap` instructions.
const TENSOR_MAP: &[&str] = &["90a", "100f", "101f", "110f", "120f"];

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("cp-async.ca(.shared.global|.shared::cta.global)[.L2::cache_hint{7.4,80}][<prefetch>]  [d]:in.shared, [a]:in.global:narrow, n:u32:=4|8|16[, s:u32:or-pred:0-16][, e:u64:with.L2::cache_hint]", (7, 0), 80, Async(LaneCopy), "asynchronous copy"),
    row("cp-async.cg(.shared.global|.shared::cta.global)[.L2::cache_hint{7.4,80}][<prefetch>]  [d]:in.shared, [a]:in.global:narrow, n:u32:=16[, s:u32:or-pred:0-16][, e:u64:with.L2::cache_hint]", (7, 0), 80, Async(LaneCopy), "asynchronous copy"),
    row("cp-async-commit_group  ", (7, 0), 80, Async(CommitCopies), "closes a group of asynchronous copies"),
    row("cp-async-wait_group  a:imm", (7, 0), 80, Async(WaitCopies), "waits for groups of asynchronous copies"),
    row("cp-async-wait_all  ", (7, 0), 80, Async(WaitCopies), "waits for all asynchronous copies"),
    row("cp-async-mbarrier-arrive[.noinc][.shared|.shared::cta{7.8,0}].b64  [a]:narrow", (7, 0), 80, Async(CopyArrive), "arrives when the asynchronous copies before have ended"),
    row("cp-async-bulk(.shared::cluster.global).mbarrier::complete_tx::bytes[.multicast::cluster][.L2::cache_hint]  [d]:in.cluster, [a]:in.global, n:u32:*16, [m]:in.shared[, mask:u16:with.multicast::cluster][, e:u64:with.L2::cache_hint]", (8, 0), 90, Async(BulkCopy), "asynchronous copy of a block"),
    row("cp-async-bulk(.shared::cta.global).mbarrier::complete_tx::bytes[.L2::cache_hint]  [d]:in.shared, [a]:in.global, n:u32:*16, [m]:in.shared[, e:u64:with.L2::cache_hint]", (8, 6), 90, Async(BulkCopy), "asynchronous copy of a block"),
    row("cp-async-bulk(.shared::cluster.shared::cta).mbarrier::complete_tx::bytes  [d]:in.cluster, [a]:in.shared, n:u32:*16, [m]:in.cluster", (8, 0), 90, Async(BulkCopy), "asynchronous copy of a block"),
    row("cp-async-bulk(.global.shared::cta).bulk_group[.L2::cache_hint][.cp_mask{8.6,100}]  [d]:in.global, [a]:in.shared, n:u32:*16[, e:u64:with.L2::cache_hint][, mask:u16:with.cp_mask]", (8, 0), 90, Async(BulkCopy), "asynchronous copy of a block"),
    row("cp-async-bulk-commit_group  ", (8, 0), 90, Async(CommitCopies), "closes a group of asynchronous copies of blocks"),
    row("cp-async-bulk-wait_group[.read]  a:imm", (8, 0), 90, Async(WaitCopies), "waits for groups of asynchronous copies of blocks"),
    row("cp-async-bulk-prefetch.L2.global[.L2::cache_hint]  [a]:in.global, n:u32:*16[, e:u64:with.L2::cache_hint]", (8, 0), 90, Nop, "brings a block into a cache"),
    row("cp-async-bulk-tensor(<dims>)(.shared::cluster.global)[.tile].mbarrier::complete_tx::bytes[.multicast::cluster][.L2::cache_hint]  [d]:in.cluster, [a, c]:s32:xd, [m]:in.shared[, mask:u16:with.multicast::cluster][, e:u64:with.L2::cache_hint]", (8, 0), 90, Tensor(TensorCopy), "asynchronous copy of a tile of a tensor"),
    row("cp-async-bulk-tensor(<dims>)(.shared::cta.global)[.tile].mbarrier::complete_tx::bytes[.L2::cache_hint]  [d]:in.shared, [a, c]:s32:xd, [m]:in.shared[, e:u64:with.L2::cache_hint]", (8, 6), 90, Tensor(TensorCopy), "asynchronous copy of a tile of a tensor"),
    row("cp-async-bulk-tensor(.3d|.4d|.5d)(.shared::cluster.global).im2col.mbarrier::complete_tx::bytes[.multicast::cluster][.L2::cache_hint]  [d]:in.cluster, [a, c]:s32:xd, [m]:in.shared, o:u16:xd-2[, mask:u16:with.multicast::cluster][, e:u64:with.L2::cache_hint]", (8, 0), 90, Tensor(TensorCopy), "asynchronous copy of a tile of a tensor"),
    row("cp-async-bulk-tensor(.3d|.4d|.5d)(.shared::cta.global).im2col.mbarrier::complete_tx::bytes[.L2::cache_hint]  [d]:in.shared, [a, c]:s32:xd, [m]:in.shared, o:u16:xd-2[, e:u64:with.L2::cache_hint]", (8, 6), 90, Tensor(TensorCopy), "asynchronous copy of a tile of a tensor"),
    row("cp-async-bulk-tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes[.L2::cache_hint]  [d]:in.shared, [a, c]:s32:x5, [m]:in.shared[, e:u64:with.L2::cache_hint]", (8, 6), 100, Unsupported, "asynchronous copy of a tile of a tensor"),
    row("cp-async-bulk-tensor(<dims>)(.shared::cluster.global)[.tile].mbarrier::complete_tx::bytes[.multicast::cluster](.cta_group::1|.cta_group::2)[.L2::cache_hint]  [d]:in.cluster, [a, c]:s32:xd, [m]:in.shared[, mask:u16:with.multicast::cluster][, e:u64:with.L2::cache_hint]", (8, 6), 100, Unsupported, "asynchronous copy of a tile of a tensor").only(BLACKWELL_TENSOR),
    row("cp-async-bulk-tensor(<dims>)(.shared::cta.global)[.tile].mbarrier::complete_tx::bytes(.cta_group::1|.cta_group::2)[.L2::cache_hint]  [d]:in.shared, [a, c]:s32:xd, [m]:in.shared[, e:u64:with.L2::cache_hint]", (8, 6), 100, Unsupported, "asynchronous copy of a tile of a tensor").only(BLACKWELL_TENSOR),
    row("cp-async-bulk-tensor(.3d|.4d|.5d)(.shared::cluster.global).im2col.mbarrier::complete_tx::bytes[.multicast::cluster](.cta_group::1|.cta_group::2)[.L2::cache_hint]  [d]:in.cluster, [a, c]:s32:xd, [m]:in.shared, o:u16:xd-2[, mask:u16:with.multicast::cluster][, e:u64:with.L2::cache_hint]", (8, 6), 100, Unsupported, "asynchronous copy of a tile of a tensor").only(BLACKWELL_TENSOR),
    row("cp-async-bulk-tensor(.3d|.4d|.5d)(.shared::cta.global).im2col.mbarrier::complete_tx::bytes(.cta_group::1|.cta_group::2)[.L2::cache_hint]  [d]:in.shared, [a, c]:s32:xd, [m]:in.shared, o:u16:xd-2[, e:u64:with.L2::cache_hint]", (8, 6), 100, Unsupported, "asynchronous copy of a tile of a tensor").only(BLACKWELL_TENSOR),
    row("cp-async-bulk-tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes(.cta_group::1|.cta_group::2)[.L2::cache_hint]  [d]:in.shared, [a, c]:s32:x5, [m]:in.shared[, e:u64:with.L2::cache_hint]", (8, 6), 100, Unsupported, "asynchronous copy of a tile of a tensor").only(BLACKWELL_TENSOR),
    row("cp-async-bulk-tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes[.multicast::cluster][.cta_group::1|.cta_group::2][.L2::cache_hint]  [d]:in.cluster, [a, c]:s32:x5, [m]:in.shared[, mask:u16:with.multicast::cluster][, e:u64:with.L2::cache_hint]", (8, 6), 100, Unsupported, "asynchronous copy of a tile of a tensor").only(BLACKWELL_TENSOR),
    row("cp-async-bulk-tensor(.3d|.4d|.5d)(.shared::cluster.global)(.im2col::w|.im2col::w::128).mbarrier::complete_tx::bytes[.multicast::cluster][.cta_group::1|.cta_group::2][.L2::cache_hint]  [d]:in.cluster, [a, c]:s32:xd, [m]:in.shared, o:u16:x2[, mask:u16:with.multicast::cluster][, e:u64:with.L2::cache_hint]", (8, 6), 100, Unsupported, "asynchronous copy of a tile of a tensor").only(BLACKWELL_TENSOR),
    row("cp-async-bulk-tensor(.3d|.4d|.5d)(.shared::cta.global).im2col::w.mbarrier::complete_tx::bytes[.L2::cache_hint]  [d]:in.shared, [a, c]:s32:xd, [m]:in.shared, o:u16:x2[, e:u64:with.L2::cache_hint]", (8, 6), 100, Unsupported, "asynchronous copy of a tile of a tensor"),
    row("cp-async-bulk-tensor(.3d|.4d|.5d)(.shared::cta.global).im2col::w.mbarrier::complete_tx::bytes(.cta_group::1|.cta_group::2)[.L2::cache_hint]  [d]:in.shared, [a, c]:s32:xd, [m]:in.shared, o:u16:x2[, e:u64:with.L2::cache_hint]", (8, 6), 100, Unsupported, "asynchronous copy of a tile of a tensor").only(BLACKWELL_TENSOR),
    row("cp-async-bulk-tensor(.3d|.4d|.5d)(.shared::cta.global).im2col::w::128.mbarrier::complete_tx::bytes[.cta_group::1|.cta_group::2][.L2::cache_hint]  [d]:in.shared, [a, c]:s32:xd, [m]:in.shared, o:u16:x2[, e:u64:with.L2::cache_hint]", (8, 6), 100, Unsupported, "asynchronous copy of a tile of a tensor").only(BLACKWELL_TENSOR),
    row("cp-async-bulk-tensor(<dims>)(.global.shared::cta)[.tile].bulk_group[.L2::cache_hint]  [d, c]:s32:xd, [a]:in.shared[, e:u64:with.L2::cache_hint]", (8, 0), 90, Tensor(TensorCopy), "asynchronous copy of a tile of a tensor"),
    row("cp-async-bulk-tensor(.3d|.4d|.5d)(.global.shared::cta).im2col_no_offs.bulk_group[.L2::cache_hint]  [d, c]:s32:xd, [a]:in.shared[, e:u64:with.L2::cache_hint]", (8, 0), 90, Tensor(TensorCopy), "asynchronous copy of a tile of a tensor"),
    row("cp-async-bulk-tensor.2d(.global.shared::cta).tile::scatter4.bulk_group[.L2::cache_hint]  [d, c]:s32:x5, [a]:in.shared[, e:u64:with.L2::cache_hint]", (8, 6), 100, Unsupported, "asynchronous copy of a tile of a tensor").only(BLACKWELL_TENSOR),
    row("cp-async-bulk-prefetch-tensor(<dims>).L2.global[.tile][.L2::cache_hint]  [a, c]:s32:xd[, e:u64:with.L2::cache_hint]", (8, 0), 90, Nop, "brings a tile of a tensor into a cache"),
    row("cp-async-bulk-prefetch-tensor(.3d|.4d|.5d).L2.global.im2col[.L2::cache_hint]  [a, c]:s32:xd, o:u16:xd-2[, e:u64:with.L2::cache_hint]", (8, 0), 90, Nop, "brings a tile of a tensor into a cache"),
    row("cp-async-bulk-prefetch-tensor(.3d|.4d|.5d).L2.global(.im2col::w|.im2col::w::128)[.L2::cache_hint]  [a, c]:s32:xd, o:u16:x2[, e:u64:with.L2::cache_hint]", (8, 6), 100, Unsupported, "brings a tile of a tensor into a cache").only(BLACKWELL_TENSOR),
    row("cp-async-bulk-prefetch-tensor.2d.L2.global.tile::gather4[.L2::cache_hint]  [a, c]:s32:x5[, e:u64:with.L2::cache_hint]", (8, 6), 100, Unsupported, "brings a tile of a tensor into a cache").only(BLACKWELL_TENSOR),
    row("cp-reduce-async-bulk(.shared::cluster.shared::cta).mbarrier::complete_tx::bytes(<bitwise>).b32  [d]:in.cluster, [a]:in.shared, n:u32:*16, [m]:in.cluster", (8, 0), 90, Async(BulkCopy), "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.shared::cluster.shared::cta).mbarrier::complete_tx::bytes.add(.u32|.s32|.u64)  [d]:in.cluster, [a]:in.shared, n:u32:*16, [m]:in.cluster", (8, 0), 90, Async(BulkCopy), "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.shared::cluster.shared::cta).mbarrier::complete_tx::bytes(.inc|.dec).u32  [d]:in.cluster, [a]:in.shared, n:u32:*16, [m]:in.cluster", (8, 0), 90, Async(BulkCopy), "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.shared::cluster.shared::cta).mbarrier::complete_tx::bytes(.min|.max)(.u32|.s32)  [d]:in.cluster, [a]:in.shared, n:u32:*16, [m]:in.cluster", (8, 0), 90, Async(BulkCopy), "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.global.shared::cta).bulk_group[.L2::cache_hint](<bitwise>)(.b32|.b64)  [d]:in.global, [a]:in.shared, n:u32:*16[, e:u64:with.L2::cache_hint]", (8, 0), 90, Async(BulkCopy), "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.global.shared::cta).bulk_group[.L2::cache_hint].add(.u32|.s32|.u64|.f32|.f64)  [d]:in.global, [a]:in.shared, n:u32:*16[, e:u64:with.L2::cache_hint]", (8, 0), 90, Async(BulkCopy), "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.global.shared::cta).bulk_group[.L2::cache_hint].add.noftz(.f16|.bf16)  [d]:in.global, [a]:in.shared, n:u32:*16[, e:u64:with.L2::cache_hint]", (8, 0), 90, Async(BulkCopy), "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.global.shared::cta).bulk_group[.L2::cache_hint](.inc|.dec).u32  [d]:in.global, [a]:in.shared, n:u32:*16[, e:u64:with.L2::cache_hint]", (8, 0), 90, Async(BulkCopy), "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.global.shared::cta).bulk_group[.L2::cache_hint](.min|.max)(.u32|.s32|.u64|.s64|.f16|.bf16)  [d]:in.global, [a]:in.shared, n:u32:*16[, e:u64:with.L2::cache_hint]", (8, 0), 90, Async(BulkCopy), "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk-tensor(<dims>)(.global.shared::cta)(<bitwise>|.add|.min|.max|.inc|.dec)[.tile].bulk_group[.L2::cache_hint]  [d, c]:s32:xd, [a]:in.shared[, e:u64:with.L2::cache_hint]", (8, 0), 90, Tensor(TensorCopy), "asynchronous reduction of a tile of a tensor"),
    row("cp-reduce-async-bulk-tensor(.3d|.4d|.5d)(.global.shared::cta)(<bitwise>|.add|.min|.max|.inc|.dec).im2col_no_offs.bulk_group[.L2::cache_hint]  [d, c]:s32:xd, [a]:in.shared[, e:u64:with.L2::cache_hint]", (8, 0), 90, Tensor(TensorCopy), "asynchronous reduction of a tile of a tensor"),
    row("tensormap-replace.tile.global_address[.global|.shared::cta].b1024.b64  [a], b", (8, 3), 90, Tensor(TensorMapReplace), "change of a tensor map").only(TENSOR_MAP),
    row("tensormap-replace.tile.rank[.global|.shared::cta].b1024.b32  [a], b", (8, 3), 90, Tensor(TensorMapReplace), "change of a tensor map").only(TENSOR_MAP),
    row("tensormap-replace.tile(.box_dim|.global_dim|.element_stride)[.global|.shared::cta].b1024.b32  [a], o:u32:imm:0-4, b", (8, 3), 90, Tensor(TensorMapReplace), "change of a tensor map").only(TENSOR_MAP),
    row("tensormap-replace.tile.global_stride[.global|.shared::cta].b1024.b64  [a], o:u32:imm:0-4, b", (8, 3), 90, Tensor(TensorMapReplace), "change of a tensor map").only(TENSOR_MAP),
    row("tensormap-replace.tile.elemtype[.global|.shared::cta].b1024.b32  [a], b:imm:0-15", (8, 3), 90, Tensor(TensorMapReplace), "change of a tensor map").only(TENSOR_MAP),
    row("tensormap-replace.tile.interleave_layout[.global|.shared::cta].b1024.b32  [a], b:imm:0-2", (8, 3), 90, Tensor(TensorMapReplace), "change of a tensor map").only(TENSOR_MAP),
    row("tensormap-replace.tile.swizzle_mode[.global|.shared::cta].b1024.b32  [a], b:imm:0-4", (8, 3), 90, Tensor(TensorMapReplace), "change of a tensor map").only(TENSOR_MAP),
    row("tensormap-replace.tile.fill_mode[.global|.shared::cta].b1024.b32  [a], b:imm:0-1", (8, 3), 90, Tensor(TensorMapReplace), "change of a tensor map").only(TENSOR_MAP),
    row("tensormap-replace.tile.swizzle_atomicity[.global|.shared::cta].b1024.b32  [a], b:imm:0-3", (8, 6), 100, Tensor(TensorMapReplace), "change of a tensor map").only(TENSOR_MAP),
    row("tensormap-cp_fenceproxy(.global.shared::cta).tensormap::generic.release(<scope>).sync.aligned  [d]:in.global, [a]:in.shared, n:b32:=128", (8, 3), 90, Tensor(TensorMapCopy), "copies a tensor map and orders the change and its use"),
];
