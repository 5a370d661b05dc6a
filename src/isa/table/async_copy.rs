//! PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy" and "Tensormap".

use super::super::form::{Row, row};
use crate::isa::Decode::Unsupported;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("cp-async.ca(.shared|.shared::cta).global[.L2::cache_hint{7.4,80}][<prefetch>]  d:any, a:any, n:u32:imm:4-16[, s:any][, e:u64:with.L2::cache_hint]", (7, 0), 80, Unsupported, "asynchronous copy"),
    row("cp-async.cg(.shared|.shared::cta).global[.L2::cache_hint{7.4,80}][<prefetch>]  d:any, a:any, n:u32:=16[, s:any][, e:u64:with.L2::cache_hint]", (7, 0), 80, Unsupported, "asynchronous copy"),
    row("cp-async-commit_group  ", (7, 0), 80, Unsupported, "closes a group of asynchronous copies"),
    row("cp-async-wait_group  a:imm", (7, 0), 80, Unsupported, "waits for groups of asynchronous copies"),
    row("cp-async-wait_all  ", (7, 0), 80, Unsupported, "waits for all asynchronous copies"),
    row("cp-async-mbarrier-arrive[.noinc][.shared|.shared::cta{7.8,0}].b64  [a]", (7, 0), 80, Unsupported, "arrives when the asynchronous copies before have ended"),
    row("cp-async-bulk(.shared::cluster.global).mbarrier::complete_tx::bytes[.multicast::cluster][.L2::cache_hint]  d:any, a:any, n:u32, m:any[, mask:u16:with.multicast::cluster][, e:u64:with.L2::cache_hint]", (8, 0), 90, Unsupported, "asynchronous copy of a block"),
    row("cp-async-bulk(.shared::cta.global).mbarrier::complete_tx::bytes[.L2::cache_hint]  d:any, a:any, n:u32, m:any[, e:u64:with.L2::cache_hint]", (8, 6), 90, Unsupported, "asynchronous copy of a block"),
    row("cp-async-bulk(.shared::cluster.shared::cta).mbarrier::complete_tx::bytes  d:any, a:any, n:u32, m:any", (8, 0), 90, Unsupported, "asynchronous copy of a block"),
    row("cp-async-bulk(.global.shared::cta).bulk_group[.L2::cache_hint][.cp_mask{8.6,100}]  d:any, a:any, n:u32[, e:u64:with.L2::cache_hint][, mask:u16:with.cp_mask]", (8, 0), 90, Unsupported, "asynchronous copy of a block"),
    row("cp-async-bulk-commit_group  ", (8, 0), 90, Unsupported, "closes a group of asynchronous copies of blocks"),
    row("cp-async-bulk-wait_group[.read]  a:imm", (8, 0), 90, Unsupported, "waits for groups of asynchronous copies of blocks"),
    row("cp-async-bulk-prefetch.L2.global[.L2::cache_hint]  a:any, n:u32[, e:u64:with.L2::cache_hint]", (8, 0), 90, Unsupported, "brings a block into a cache"),
    row("cp-async-bulk[-prefetch]-tensor.*  ...", (8, 0), 90, Unsupported, "asynchronous copy of a tile of a tensor"),
    row("cp-reduce-async-bulk.*     ...", (8, 0), 90, Unsupported, "asynchronous reduction of a block or tile"),
    row("tensormap.*                ...", (8, 3), 90, Unsupported, "change of a tensor map"),
];
