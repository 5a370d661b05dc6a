//! PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy" and "Tensormap".

use super::super::form::{Row, row};
use crate::isa::Decode::{BulkCopy, CommitCopies, CopyArrive, LaneCopy, Nop, Unsupported, WaitCopies};

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
    row("cp-async-bulk[-prefetch]-tensor.*  ...", (8, 0), 90, Unsupported, "asynchronous copy of a tile of a tensor"),
    row("cp-reduce-async-bulk(.shared::cluster.shared::cta).mbarrier::complete_tx::bytes.add(.u32|.s32|.u64)  [d]:at.shared::cluster, [a]:at.shared::cta, n:u32, [m]:at.shared::cluster", (8, 0), 90, BulkCopy, "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.shared::cluster.shared::cta).mbarrier::complete_tx::bytes(.min|.max)(.u32|.s32)  [d]:at.shared::cluster, [a]:at.shared::cta, n:u32, [m]:at.shared::cluster", (8, 0), 90, BulkCopy, "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.shared::cluster.shared::cta).mbarrier::complete_tx::bytes(.inc|.dec)(.u32)  [d]:at.shared::cluster, [a]:at.shared::cta, n:u32, [m]:at.shared::cluster", (8, 0), 90, BulkCopy, "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.shared::cluster.shared::cta).mbarrier::complete_tx::bytes(.and|.or|.xor)(.b32)  [d]:at.shared::cluster, [a]:at.shared::cta, n:u32, [m]:at.shared::cluster", (8, 0), 90, BulkCopy, "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.global.shared::cta).bulk_group[.L2::cache_hint].add(.u32|.s32|.u64|.f32|.f64)  [d]:at.global, [a]:at.shared::cta, n:u32[, e:u64:with.L2::cache_hint]", (8, 0), 90, BulkCopy, "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.global.shared::cta).bulk_group[.L2::cache_hint].add.noftz(.f16|.bf16)  [d]:at.global, [a]:at.shared::cta, n:u32[, e:u64:with.L2::cache_hint]", (8, 0), 90, BulkCopy, "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.global.shared::cta).bulk_group[.L2::cache_hint](.min|.max)(.u32|.s32|.u64|.s64|.f16|.bf16)  [d]:at.global, [a]:at.shared::cta, n:u32[, e:u64:with.L2::cache_hint]", (8, 0), 90, BulkCopy, "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.global.shared::cta).bulk_group[.L2::cache_hint](.inc|.dec)(.u32)  [d]:at.global, [a]:at.shared::cta, n:u32[, e:u64:with.L2::cache_hint]", (8, 0), 90, BulkCopy, "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk(.global.shared::cta).bulk_group[.L2::cache_hint](.and|.or|.xor)(.b32|.b64)  [d]:at.global, [a]:at.shared::cta, n:u32[, e:u64:with.L2::cache_hint]", (8, 0), 90, BulkCopy, "asynchronous reduction of a block"),
    row("cp-reduce-async-bulk-tensor.*     ...", (8, 0), 90, Unsupported, "asynchronous reduction of a tile of a tensor"),
    row("tensormap.*                ...", (8, 3), 90, Unsupported, "change of a tensor map"),
];
