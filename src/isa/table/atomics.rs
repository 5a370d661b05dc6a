//! PTX ISA, "Parallel Synchronization and Communication Instructions": `atom` and `red`.

use super::super::form::{Row, row};
use crate::isa::AsyncDecode::AsyncStore;
use crate::isa::AtomicDecode::{Reducing, ReducingVector, Returning, ReturningVector};
use crate::isa::AtomicFn::{Add, And, Cas, Dec, Exch, Inc, Max, Min, Or, Xor};
use crate::isa::Decode::{Async, Atomic, Unsupported};

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("atom[<atom_order>][<atom_scope>][<atom_space>].and[.L2::cache_hint{7.4,80}](.b32|.b64{3.1,32})     d:_, [a], b[, c:u64:with.L2::cache_hint]", (1, 1), 11, Atomic(Returning(And)), "bitwise and; d = old value"),
    row("atom[<atom_order>][<atom_scope>][<atom_space>].or[.L2::cache_hint{7.4,80}](.b32|.b64{3.1,32})      d:_, [a], b[, c:u64:with.L2::cache_hint]", (1, 1), 11, Atomic(Returning(Or)), "bitwise or; d = old value"),
    row("atom[<atom_order>][<atom_scope>][<atom_space>].xor[.L2::cache_hint{7.4,80}](.b32|.b64{3.1,32})     d:_, [a], b[, c:u64:with.L2::cache_hint]", (1, 1), 11, Atomic(Returning(Xor)), "bitwise exclusive or; d = old value"),
    row("atom[<atom_order>][<atom_scope>][<atom_space>].cas(.b16{6.3,70}|.b32|.b64{1.2,12}|.b128{8.3,90})  d:_, [a], b, c", (1, 1), 11, Atomic(Returning(Cas)), "becomes c if it was b; d = old value"),
    row("atom[<atom_order>][<atom_scope>][<atom_space>].exch[.L2::cache_hint{7.4,80}](.b32|.b64{1.2,12}|.b128{8.3,90})  d:_, [a], b[, c:u64:with.L2::cache_hint]", (1, 1), 11, Atomic(Returning(Exch)), "becomes b; d = old value"),
    row("atom[<atom_order>][<atom_scope>][<atom_space>].add[.L2::cache_hint{7.4,80}](.u32|.s32|.u64{1.2,12}|.f32{2.0,20}|.f64{5.0,60})  d:_, [a], b[, c:u64:with.L2::cache_hint]", (1, 1), 11, Atomic(Returning(Add)), "adds b; d = old value"),
    row("atom[<atom_order>][<atom_scope>][<atom_space>].add.noftz[.L2::cache_hint{7.4,80}](.f16{6.3,70}|.f16x2|.bf16{7.8,90}|.bf16x2{7.8,90})  d:_, [a], b:reg[, c:u64:with.L2::cache_hint]", (6, 2), 60, Atomic(Returning(Add)), "adds b; d = old value"),
    row("atom[<atom_order>][<atom_scope>][<atom_space>].inc[.L2::cache_hint{7.4,80}].u32            d:_, [a], b[, c:u64:with.L2::cache_hint]", (1, 1), 11, Atomic(Returning(Inc)), "counts up to b and from 0 again; d = old value"),
    row("atom[<atom_order>][<atom_scope>][<atom_space>].dec[.L2::cache_hint{7.4,80}].u32            d:_, [a], b[, c:u64:with.L2::cache_hint]", (1, 1), 11, Atomic(Returning(Dec)), "counts down to 0 and from b again; d = old value"),
    row("atom[<atom_order>][<atom_scope>][<atom_space>].min[.L2::cache_hint{7.4,80}](.u32|.s32|.u64{3.1,32}|.s64{3.1,32})  d:_, [a], b[, c:u64:with.L2::cache_hint]", (1, 1), 11, Atomic(Returning(Min)), "becomes the lesser; d = old value"),
    row("atom[<atom_order>][<atom_scope>][<atom_space>].max[.L2::cache_hint{7.4,80}](.u32|.s32|.u64{3.1,32}|.s64{3.1,32})  d:_, [a], b[, c:u64:with.L2::cache_hint]", (1, 1), 11, Atomic(Returning(Max)), "becomes the greater; d = old value"),
    row("atom[<atom_order>][<atom_scope>][.global].add[.L2::cache_hint](.v2|.v4).f32                d:_:vec, [a], b:vec:reg[, c:u64:with.L2::cache_hint]", (8, 1), 90, Atomic(ReturningVector), "adds the elements of b; d = old values"),
    row("atom[<atom_order>][<atom_scope>][.global](.add|.min|.max).noftz[.L2::cache_hint](.v2|.v4|.v8)(.f16|.bf16)  d:_:vec, [a], b:vec:reg[, c:u64:with.L2::cache_hint]", (8, 1), 90, Atomic(ReturningVector), "combines the elements of b; d = old values"),
    row("atom[<atom_order>][<atom_scope>][.global](.add|.min|.max).noftz[.L2::cache_hint](.v2|.v4)(.f16x2|.bf16x2)  d:_:vec, [a], b:vec:reg[, c:u64:with.L2::cache_hint]", (8, 1), 90, Atomic(ReturningVector), "combines the elements of b; d = old values"),

    row("red[<red_order>][<atom_scope>][<atom_space>].and[.L2::cache_hint{7.4,80}](.b32|.b64{3.1,32})       [a], b[, c:u64:with.L2::cache_hint]", (1, 2), 11, Atomic(Reducing(And)), "bitwise and in memory"),
    row("red[<red_order>][<atom_scope>][<atom_space>].or[.L2::cache_hint{7.4,80}](.b32|.b64{3.1,32})        [a], b[, c:u64:with.L2::cache_hint]", (1, 2), 11, Atomic(Reducing(Or)), "bitwise or in memory"),
    row("red[<red_order>][<atom_scope>][<atom_space>].xor[.L2::cache_hint{7.4,80}](.b32|.b64{3.1,32})       [a], b[, c:u64:with.L2::cache_hint]", (1, 2), 11, Atomic(Reducing(Xor)), "bitwise exclusive or in memory"),
    row("red[<red_order>][<atom_scope>][<atom_space>].add[.L2::cache_hint{7.4,80}](.u32|.s32|.u64{1.2,12}|.f32{2.0,20}|.f64{5.0,60})  [a], b[, c:u64:with.L2::cache_hint]", (1, 2), 11, Atomic(Reducing(Add)), "adds b in memory"),
    row("red[<red_order>][<atom_scope>][<atom_space>].add.noftz[.L2::cache_hint{7.4,80}](.f16{6.3,70}|.f16x2|.bf16{7.8,90}|.bf16x2{7.8,90})  [a], b:reg[, c:u64:with.L2::cache_hint]", (6, 2), 60, Atomic(Reducing(Add)), "adds b in memory"),
    row("red[<red_order>][<atom_scope>][<atom_space>].inc[.L2::cache_hint{7.4,80}].u32              [a], b[, c:u64:with.L2::cache_hint]", (1, 2), 11, Atomic(Reducing(Inc)), "counts up to b and from 0 again"),
    row("red[<red_order>][<atom_scope>][<atom_space>].dec[.L2::cache_hint{7.4,80}].u32              [a], b[, c:u64:with.L2::cache_hint]", (1, 2), 11, Atomic(Reducing(Dec)), "counts down to 0 and from b again"),
    row("red[<red_order>][<atom_scope>][<atom_space>].min[.L2::cache_hint{7.4,80}](.u32|.s32|.u64{3.1,32}|.s64{3.1,32})  [a], b[, c:u64:with.L2::cache_hint]", (1, 2), 11, Atomic(Reducing(Min)), "becomes the lesser"),
    row("red[<red_order>][<atom_scope>][<atom_space>].max[.L2::cache_hint{7.4,80}](.u32|.s32|.u64{3.1,32}|.s64{3.1,32})  [a], b[, c:u64:with.L2::cache_hint]", (1, 2), 11, Atomic(Reducing(Max)), "becomes the greater"),
    row("red[<red_order>][<atom_scope>][.global].add[.L2::cache_hint](.v2|.v4).f32                  [a], b:vec:reg[, c:u64:with.L2::cache_hint]", (8, 1), 90, Atomic(ReducingVector), "adds the elements of b in memory"),
    row("red[<red_order>][<atom_scope>][.global](.add|.min|.max).noftz[.L2::cache_hint](.v2|.v4|.v8)(.f16|.bf16)  [a], b:vec:reg[, c:u64:with.L2::cache_hint]", (8, 1), 90, Atomic(ReducingVector), "combines the elements of b in memory"),
    row("red[<red_order>][<atom_scope>][.global](.add|.min|.max).noftz[.L2::cache_hint](.v2|.v4)(.f16x2|.bf16x2)  [a], b:vec:reg[, c:u64:with.L2::cache_hint]", (8, 1), 90, Atomic(ReducingVector), "combines the elements of b in memory"),
    row("red-async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes(.inc|.dec).u32  [a]:in.cluster, b, [m]:in.cluster", (8, 1), 90, Async(AsyncStore), "asynchronous reduction in the shared memory of the cluster"),
    row("red-async.relaxed.cluster.mbarrier::complete_tx::bytes(.inc|.dec).u32  [a], b, [m]", (8, 1), 90, Async(AsyncStore), "asynchronous reduction in the shared memory of the cluster"),
    row("red-async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes(.min|.max)(.u32|.s32)  [a]:in.cluster, b, [m]:in.cluster", (8, 1), 90, Async(AsyncStore), "asynchronous reduction in the shared memory of the cluster"),
    row("red-async.relaxed.cluster.mbarrier::complete_tx::bytes(.min|.max)(.u32|.s32)  [a], b, [m]", (8, 1), 90, Async(AsyncStore), "asynchronous reduction in the shared memory of the cluster"),
    row("red-async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes(<bitwise>).b32  [a]:in.cluster, b, [m]:in.cluster", (8, 1), 90, Async(AsyncStore), "asynchronous reduction in the shared memory of the cluster"),
    row("red-async.relaxed.cluster.mbarrier::complete_tx::bytes(<bitwise>).b32  [a], b, [m]", (8, 1), 90, Async(AsyncStore), "asynchronous reduction in the shared memory of the cluster"),
    row("red-async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add(.u32|.s32|.u64)  [a]:in.cluster, b, [m]:in.cluster", (8, 1), 90, Async(AsyncStore), "asynchronous reduction in the shared memory of the cluster"),
    row("red-async.relaxed.cluster.mbarrier::complete_tx::bytes.add(.u32|.s32|.u64)  [a], b, [m]", (8, 1), 90, Async(AsyncStore), "asynchronous reduction in the shared memory of the cluster"),
    row("red-async[.mmio].release(.gpu|.sys)[.global].add(.u32|.s32|.u64)  [a], b", (8, 7), 100, Unsupported, "asynchronous addition that others see in order"),
];
