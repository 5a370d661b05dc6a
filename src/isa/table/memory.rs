//! PTX ISA, "Data Movement and Conversion Instructions" that load, store and prefetch.

use super::super::form::{Row, row};
use crate::isa::AsyncDecode::AsyncStore;
use crate::isa::Decode::{Async, Memory, Nop, Unsupported};
use crate::isa::MemoryDecode::{Load, Store};

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("ld[.weak{6.0,70}][.global][<cop>][.L2::cache_hint{7.4,80}][<prefetch>][<vector>](<memory>|.b128{8.3,70})   d:+:vec, [a][, c:u64:with.L2::cache_hint]", (1, 0), 0, Memory(Load), "load"),
    row("ld[.weak{6.0,70}][.global][<evict>][<evict_l2>][.L2::cache_hint{7.4,80}][<prefetch>][<vector>](<memory>|.b128{8.3,70})   d:+:vec, [a][, c:u64:with.L2::cache_hint]", (1, 0), 0, Memory(Load), "load"),
    row("ld[.weak{6.0,70}](.local|<shared>|.const|<param>)[<cop>][<vector>](<memory>|.b128{8.3,70})   d:+:vec, [a]", (1, 0), 0, Memory(Load), "load"),
    row("ld.volatile[.global][<prefetch>][<vector>](<memory>|.b128{8.3,70})   d:+:vec, [a]", (1, 1), 0, Memory(Load), "load that is neither dropped nor repeated"),
    row("ld.volatile(<shared>)[<vector>](<memory>|.b128{8.3,70})   d:+:vec, [a]", (1, 1), 0, Memory(Load), "load that is neither dropped nor repeated"),
    row("ld(.relaxed|.acquire)(<scope>)[.global][<evict>][<evict_l2>][.L2::cache_hint{7.4,80}][<prefetch>][<vector>](<memory>|.b128{8.3,70})   d:+:vec, [a][, c:u64:with.L2::cache_hint]", (6, 0), 70, Memory(Load), "load with memory ordering"),
    row("ld(.relaxed|.acquire)(<scope>)(<shared>)[<vector>](<memory>|.b128{8.3,70})   d:+:vec, [a]", (6, 0), 70, Memory(Load), "load with memory ordering"),
    row("ld.mmio.relaxed.sys[.global](<memory>)           d:+, [a]", (8, 2), 70, Memory(Load), "load from a device"),
    row("ld.global[.ca|.cg|.cs].nc[.L2::cache_hint{7.4,80}][<prefetch>][<vector>](<memory>|.b128{8.3,70})    d:+:vec, [a][, c:u64:with.L2::cache_hint]", (3, 1), 32, Memory(Load), "load through the read-only cache"),
    row("ld.global.nc[<evict>][<evict_l2>][.L2::cache_hint{7.4,80}][<prefetch>][<vector>](<memory>|.b128{8.3,70})    d:+:vec, [a][, c:u64:with.L2::cache_hint]", (7, 4), 70, Memory(Load), "load through the read-only cache"),
    row("ldu[.global][.v2|.v4](<memory>|.b128{8.3,70})   d:+:vec, [a]", (2, 0), 20, Memory(Load), "load of data that is the same for all lanes"),

    row("st[.weak{6.0,70}][.global][.wb{2.0,20}|.cg{2.0,20}|.cs{2.0,20}|.wt{2.0,20}][.L2::cache_hint{7.4,80}][<vector>](<memory>|.b128{8.3,70})   [a], b:+:vec[, c:u64:with.L2::cache_hint]", (1, 0), 0, Memory(Store), "store"),
    row("st[.weak{6.0,70}][.global][<evict>][<evict_l2>][.L2::cache_hint{7.4,80}][<vector>](<memory>|.b128{8.3,70})   [a], b:+:vec[, c:u64:with.L2::cache_hint]", (1, 0), 0, Memory(Store), "store"),
    row("st[.weak{6.0,70}](.local|<shared>|.param|.param::func{8.3,0})[.wb{2.0,20}|.cg{2.0,20}|.cs{2.0,20}|.wt{2.0,20}][<vector>](<memory>|.b128{8.3,70})   [a], b:+:vec", (1, 0), 0, Memory(Store), "store"),
    row("st.volatile[.global|<shared>][<vector>](<memory>|.b128{8.3,70})   [a], b:+:vec", (1, 1), 0, Memory(Store), "store that is neither dropped nor repeated"),
    row("st(.relaxed|.release)(<scope>)[.global][<evict>][<evict_l2>][.L2::cache_hint{7.4,80}][<vector>](<memory>|.b128{8.3,70})   [a], b:+:vec[, c:u64:with.L2::cache_hint]", (6, 0), 70, Memory(Store), "store with memory ordering"),
    row("st(.relaxed|.release)(<scope>)(<shared>)[<vector>](<memory>|.b128{8.3,70})   [a], b:+:vec", (6, 0), 70, Memory(Store), "store with memory ordering"),
    row("st.mmio.relaxed.sys[.global](<memory>)           [a], b:+", (8, 2), 70, Memory(Store), "store to a device"),
    row("st-async[.weak][.shared::cluster].mbarrier::complete_tx::bytes[.v2|.v4](.b32|.u32|.s32|.f32)  [a]:in.cluster, b:vec, [m]:in.cluster", (8, 1), 90, Async(AsyncStore), "asynchronous store to the shared memory of the cluster"),
    row("st-async[.weak][.shared::cluster].mbarrier::complete_tx::bytes[.v2](.b64|.u64|.s64|.f64)  [a]:in.cluster, b:vec, [m]:in.cluster", (8, 1), 90, Async(AsyncStore), "asynchronous store to the shared memory of the cluster"),
    row("st-async[.mmio].release(.gpu|.sys)[.global](.b8|.b16|.b32|.b64|.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64|.f32|.f64)  [a], b:+", (8, 7), 100, Unsupported, "asynchronous store that others see in order"),
    row("st.bulk[.weak].shared::cta                        [a]:reg, n:u64:*8:0-16777216, b:u64:=0", (8, 6), 100, Unsupported, "zeroes a block of shared memory"),
    row("st.bulk[.weak]                                    [a], n:u64:*8:0-16777216, b:u64:=0", (8, 6), 100, Unsupported, "zeroes a block of shared memory"),

    row("prefetch[.global|.local](.L1|.L2)                [a]", (2, 0), 20, Nop, "brings a line into a cache"),
    row("prefetch[.global](.L2::evict_last|.L2::evict_normal) [a]", (7, 4), 80, Nop, "brings a line into a cache"),
    row("prefetch[.const|.param].tensormap                [a]:narrow", (8, 0), 90, Nop, "brings a tensor map into a cache"),
    row("prefetchu.L1                                     [a]:in.global", (2, 0), 20, Nop, "brings a line into the uniform cache"),
    row("applypriority[.global].L2::evict_normal          [a], b:b32:=128", (7, 4), 80, Nop, "changes the priority of a line in the cache"),
    row("discard[.global].L2                              [a], b:b32:=128", (7, 4), 80, Nop, "allows 128 bytes to be lost; here they stay as they are"),
];
