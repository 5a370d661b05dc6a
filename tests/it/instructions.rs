//! Forms of instructions that no recording covers: each runs once, and its results are derived by hand.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that cannot run its kernel fails")]

use std::sync::Arc;

use crate::look::one_warp::one_warp;
use ptxdbg::check::FindingId;
use ptxdbg::machine::{Device, LaneMask, Machine, NullObserver, Step, Trap};
use ptxdbg::program::Program;

const THREADS: u32 = 32;

/// What a kernel may use beside what it declares: `o` is where its thread has 16 bytes, all 0xee, for results.
const PROLOGUE: &str = ".reg .b32 a, b, c, d, t; .reg .b64 o, x, y, z; .reg .f32 e, f, g; .reg .pred p, q;
    ld.param.u64 o, [out]; mov.u32 t, %tid.x; mul.wide.u32 x, t, 16; add.u64 o, o, x;";

/// Declarations before the kernel.
const MODULE: &str = ".version 9.0 .target sm_90a .address_size 64
    .extern .func (.param .b64 r) malloc(.param .b64 bytes); .extern .func free(.param .b64 p);
    .extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
    .extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
    .extern .func undefined(.param .b32 a);
    .global .align 16 .b8 gm[64]; .shared .align 16 .b8 sm[40]; .const .b32 cm = 5;
    .global .b8 text[4] = {104, 105, 33, 0};";

fn program(body: &str) -> Arc<Program> {
    let text = format!("{MODULE} .visible .entry k(.param .u64 out) {{ {PROLOGUE} {body} ret; }}");
    let (program, diagnostics) = ptxdbg::sema::load(&mut ptxdbg::base::Sources::default(), "form.ptx", text);
    assert!(diagnostics.is_empty(), "{body}\n{diagnostics:#?}");
    program.unwrap()
}

/// The machine after `body` was run by one warp, and what came of it.
fn run(body: &str) -> (Machine, u64, Step) {
    let program = program(body);
    let kernel = program.function("k").unwrap();
    let mut device = Device::new(program);
    let out = device.allocate("out", u64::from(THREADS) * 16, Some(0xee)).unwrap();
    let mut machine = Machine::new(device, one_warp(kernel, out)).unwrap();
    let step = machine.run(1 << 20, &mut NullObserver);
    (machine, out, step)
}

/// The first word that each thread left, or four of thread 0.
fn results(body: &str) -> Vec<u32> {
    let (machine, out, step) = run(body);
    assert_eq!(step, Step::Done, "{body}");
    let mut bytes = [0; 16 * THREADS as usize];
    machine.device().read(out, &mut bytes).unwrap();
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn trap(body: &str) -> Box<Trap> {
    match run(body).2 {
        Step::Trapped(trap) => trap,
        other => panic!("{body}: {other:?}"),
    }
}

/// Forms, and the first words of thread 0's results.
#[rustfmt::skip]
const FORMS: &[(&str, &[u32])] = &[
    // Halves and bytes: 0x8001 + 3; the lower half is cut out, byte 1 of b is 3.
    ("mov.b32 a, 0x00ff8001; mov.b32 b, 0x01020304; vadd.u32.u32.u32 d, a.h0, b.b1; st.global.b32 [o], d;", &[0x8004]),
    // -1 of byte 3, taken as signed, minus 2 is -3; byte 1 of c becomes 0xfd.
    ("mov.b32 a, 0xff000000; mov.b32 c, 0x11223344; vsub.s32.s32.s32 d.b1, a.b3, 2, c; st.global.b32 [o], d;", &[0x1122_fd44]),
    // 3 * 4 + 5 + 1
    ("mov.b32 a, 3; mov.b32 b, 4; mov.b32 c, 5; vmad.u32.u32.u32.po d, a, b, c; st.global.b32 [o], d;", &[18]),
    // -(3 * 4) + 100 = 88, and 88 >> 7 = 0; 3 * 4 - 5 = 7.
    ("mov.b32 a, 3; mov.b32 b, 4; mov.b32 c, 100; vmad.s32.s32.s32.shr7 d, -a, b, c; st.global.b32 [o], d;
      mov.b32 c, 5; vmad.s32.s32.s32 d, a, b, -c; st.global.b32 [o+4], d;", &[0, 7]),
    // Halves 2 < 2 and 1 < 2: one holds; 10 + 1.
    ("mov.b32 a, 0x00010002; mov.b32 b, 0x00020002; mov.b32 c, 10; vset2.u32.u32.lt.add d, a, b, c; st.global.b32 [o], d;", &[11]),
    // Bytes 250 + 10 are clamped to 255 in lane 0 alone.
    ("mov.b32 a, 250; mov.b32 b, 10; mov.b32 c, 0x01010101; vadd4.u32.u32.u32.sat d.b0, a, b, c; st.global.b32 [o], d;", &[0x0101_01ff]),
    // The mean of 3 and 4 is rounded up, that of -3 and -4 down.
    ("mov.b32 a, 0xfffd0003; mov.b32 b, 0xfffc0004; mov.b32 c, 0; vavrg2.s32.s32.s32 d, a, b, c; st.global.b32 [o], d;", &[0xfffc_0004]),

    // Two halves compared: 0x3c00 = 0x3c00, 0x4000 != 0x3c00.
    ("mov.b32 a, 0x3c004000; mov.b32 b, 0x3c003c00; set.eq.u32.f16x2 d, a, b; st.global.b32 [o], d;", &[0xffff_0000]),
    // The square of 1 + 2^-12 is 1 + 2^-11 + 2^-24, half a last place above 1 + 2^-11: rounded at once nothing is left of it.
    ("mov.b32 e, 0x3f800800; mov.b32 f, 0xbf801000; mul.rn.f32 g, e, e; add.rn.f32 g, g, f; st.global.f32 [o], g;", &[0]),
    ("mov.b32 e, 0x3f800800; st.global.b32 [o], e; ld.global.f32 e, [o]; mov.b32 f, 0x3f801000;
      mul.f32 g, e, e; sub.f32 g, g, f; st.global.f32 [o], g;", &[0x3380_0000]),
    ("mov.b32 e, 0x3f800800; st.global.b32 [o], e; ld.global.f32 e, [o]; mov.b32 f, 0x3f801000;
      mul.f32 g, e, e; sub.f32 f, f, g; st.global.f32 [o], f;", &[0xb380_0000]),
    // What is computed of constants alone the assembler computes, one operation after the other.
    ("mov.b32 e, 0x3f800800; mov.b32 f, 0x3f801000; mul.f32 g, e, e; sub.f32 g, g, f; st.global.f32 [o], g;", &[0]),
    // Rounded once where the factors are overwritten, the product is copied, or its negative is taken.
    ("mov.b32 e, 0x3f800800; st.global.b32 [o], e; ld.global.f32 e, [o]; mov.b32 f, 0x3f801000;
      mul.f32 e, e, e; sub.f32 e, e, f; st.global.f32 [o], e;", &[0x3380_0000]),
    ("mov.b32 e, 0x3f800800; st.global.b32 [o], e; ld.global.f32 e, [o]; mov.b32 f, 0x3f801000;
      mul.f32 g, e, e; mov.b32 a, g; mov.b32 e, a; sub.f32 e, e, f;
      st.global.f32 [o], e;", &[0x3380_0000]),
    ("mov.b32 e, 0x3f800800; st.global.b32 [o], e; ld.global.f32 e, [o]; mov.b32 f, 0xbf801000;
      mul.f32 g, e, e; neg.f32 g, g; sub.f32 g, g, f; st.global.f32 [o], g;", &[0xb380_0000]),
    ("mov.b32 e, 0x3f800800; st.global.b32 [o], e; ld.global.f32 e, [o]; mov.b32 f, 0x3f801000;
      mul.f32 g, e, e; neg.f32 g, g; add.f32 g, g, f; st.global.f32 [o], g;", &[0xb380_0000]),
    // In f64 the square of 1 + 2^-27 is 1 + 2^-26 + 2^-54.
    ("mov.b64 x, 0x3ff0000002000000; st.global.b64 [o], x; ld.global.f64 x, [o]; mov.b64 y, 0x3ff0000004000000;
      mul.f64 x, x, x; sub.f64 x, x, y; st.global.f64 [o], x;",
        &[0, 0x3c90_0000]),
    // A product that is stored as well is rounded.
    ("mov.b32 e, 0x3f800800; mov.b32 f, 0x3f801000; mul.f32 g, e, e; sub.f32 f, g, f; st.global.v2.f32 [o], {f, g};", &[0, 0x3f80_1000]),

    (".reg .v2 .b32 v, w; mov.v2.b32 w, {t, t}; mov.b32 v.x, 1; mov.b32 v.y, 2; mov.v2.b32 w, v; st.global.v2.b32 [o], w;", &[1, 2]),
    ("mov.u32 a, sm; mapa.shared::cluster.u32 b, a, 0; sub.u32 d, a, b; st.global.b32 [o], d;", &[0]),
    ("mov.u32 a, sm; mapa.shared::cluster.u32 b, a, 1; sub.u32 d, b, a; getctarank.shared::cluster.u32 c, b; st.global.v2.b32 [o], {d, c};",
        &[1 << 24, 1]),
    ("mov.u64 x, sm; cvta.shared.u64 x, x; mapa.u64 y, x, 0; getctarank.u64 d, y; sub.u64 y, y, x; cvt.u32.u64 a, y;
      st.global.v2.b32 [o], {a, d};", &[0, 0]),
    ("createpolicy.fractional.L2::evict_first.b64 x; createpolicy.fractional.L2::evict_last.L2::evict_first.b64 y, 0.25;
      st.global.v2.b64 [o], {x, y};", &[0, 0x12f0_0000, 0, 0x1530_0000]),
    // A fraction in a register: 0.25 of 15.99 steps are 3.
    ("mov.b32 e, 0x3e800000; createpolicy.fractional.L2::evict_first.b64 x, e; st.global.b64 [o], x;", &[0, 0x1230_0000]),
    ("mov.b32 e, 0x3f800000; createpolicy.fractional.L2::evict_last.L2::evict_first.b64 x, e; st.global.b64 [o], x;", &[0, 0x15f0_0000]),
    ("cvt.u64.u32 x, %ntid.x; cvt.s64.s32 y, %nwarpid; st.global.v2.b64 [o], {x, y};", &[32, 0, 64, 0]),
    (".reg .b16 h; cvt.u16.u32 h, %ntid.x; cvt.u32.u16 a, h; cvt.u32.u16 b, %nctaid.x; cvt.u64.u64 x, %gridid; cvt.u32.u64 c, x;
      mov.u32 d, %gridid; st.global.v4.b32 [o], {a, b, c, d};", &[32, 1, 1, 1]),
    ("cvt.u32.u64 d, %clock64; setp.gt.u32 p, d, 0; selp.u32 d, 1, 0, p; st.global.b32 [o], d;", &[1]),

    // Special registers: 40 bytes of shared memory make one unit of 128, and 1,024 more are the system's.
    ("mov.u32 a, %total_smem_size; mov.u32 b, %aggr_smem_size; mov.u32 c, %dynamic_smem_size; mov.u32 d, sm;
      st.shared.b32 [d], d; st.global.v2.b32 [o], {a, b}; st.global.b32 [o+8], c;", &[128, 1064, 0]),
    ("mov.u32 a, %nwarpid; mov.u32 b, %nsmid; mov.u32 c, %ntid.w; mov.b32 d, %envreg2; st.global.v4.b32 [o], {a, b, c, d};",
        &[64, 132, 0, 0]),
    ("mov.b32 a, %reserved_smem_offset_begin; mov.b32 b, %reserved_smem_offset_end; mov.b32 c, %reserved_smem_offset_cap;
      mov.b32 d, %reserved_smem_offset_1; st.global.v4.b32 [o], {a, b, c, d};", &[0, 288, 1024, 0]),
    // Time is a number of ticks, of which this takes no 2^32; nothing counts performance.
    ("mov.u32 a, %clock_hi; mov.u32 b, %globaltimer_hi; mov.u32 c, %pm7; mov.u64 x, %pm0_64; cvt.u32.u64 d, x; mov.u32 t, %clock;
      mov.u64 y, %clock64; cvt.u32.u64 t, y; st.global.v4.b32 [o], {a, b, c, d};", &[0, 0, 0, 0]),
    ("mov.u32 a, %clock; mov.u32 b, %globaltimer_lo; sub.u32 b, b, a; mov.b32 c, %envreg0; mov.b32 d, %envreg31;
      st.global.v2.b32 [o], {b, c}; st.global.b32 [o+8], d;", &[1, 0, 0]),
    ("mov.u64 x, out; cvta.param.u64 x, x; isspacep.param::entry p, x; isspacep.global q, x; selp.u32 a, 1, 0, p; selp.u32 b, 1, 0, q;
      ld.u64 y, [x]; isspacep.param::entry p, y; selp.u32 c, 1, 0, p; st.global.v2.b32 [o], {a, b}; st.global.b32 [o+8], c;", &[1, 0, 0]),
    // Threads 0 to 15 exchange with their neighbours over shared memory, and wait for each other alone.
    (".reg .b32 s; mov.b32 b, 0; setp.gt.u32 p, t, 15; @p bra end; and.b32 a, t, 7; shl.b32 a, a, 2; mov.u32 s, sm; add.u32 a, a, s;
      setp.gt.u32 q, t, 7; @q bra wait; add.u32 c, t, 10; st.shared.b32 [a], c; wait: bar.warp.sync 0xffff; xor.b32 a, a, 4;
      ld.shared.b32 b, [a]; end: st.global.b32 [o], b;", &[11]),
    ("mov.pred p, %is_explicit_cluster; selp.u32 a, 1, 0, p; mov.u32 b, %cluster_nctarank; mov.u64 x, %current_graph_exec;
      cvt.u32.u64 c, x; st.global.v2.b32 [o], {a, b}; st.global.b32 [o+8], c;", &[0, 1, 0]),

    // Atomics: 16 bytes hold 1, 2 (as 64-bit words); compared with 1, 2 they become 3, 4, and then 5, 6 of the exchange.
    (".reg .b128 w, v; mov.u64 x, 1; mov.u64 y, 2; mov.b128 w, {x, y}; mov.u64 x, 3; mov.u64 y, 4; mov.b128 v, {x, y};
      st.global.v2.b64 [o], {1, 2}; atom.global.cas.b128 w, [o], w, v; mov.u64 x, 5; mov.u64 y, 6; mov.b128 v, {x, y};
      atom.acq_rel.gpu.global.exch.b128 w, [o], v; mov.b128 {x, y}, w; cvt.u32.u64 a, x; cvt.u32.u64 b, y;
      ld.global.b32 c, [o]; ld.global.b32 d, [o+8]; st.global.v4.b32 [o], {a, b, c, d};", &[3, 4, 5, 6]),
    ("st.global.v2.f32 [o], {0f3F800000, 0f40000000}; mov.f32 e, 0f3F800000; atom.global.add.v2.f32 {f, g}, [o], {e, e};
      st.global.v2.f32 [o+8], {f, g};", &[0x4000_0000, 0x4040_0000, 0x3f80_0000, 0x4000_0000]),
    // Of halves 1 and 2 with 2 and 1 the greater is 2 in both.
    ("mov.b32 a, 0x3c004000; mov.b32 b, 0x40003c00; st.global.v2.b32 [o], {a, a}; red.relaxed.gpu.global.max.noftz.v2.f16x2 [o], {b, b};",
        &[0x4000_4000, 0x4000_4000]),

    // The heap: 0 for what does not fit, memory that can be used, nothing for null.
    (".param .b64 n; .param .b64 r; st.param.b64 [n], 9000000; call (r), malloc, (n); ld.param.b64 x, [r]; st.param.b64 [n], 100;
      call (r), malloc, (n); ld.param.b64 y, [r]; st.b32 [y+96], 7; ld.b32 a, [y+96]; cvt.u32.u64 b, x; and.b64 z, y, 15;
      cvt.u32.u64 c, z; st.global.v2.b32 [o], {a, b}; st.global.b32 [o+8], c; st.param.b64 [n], 0; call free, (n);
      st.param.b64 [n], y; call free, (n);", &[7, 0, 0]),
    // The stack: what alloca gives is local memory, and the pointer comes back.
    (".reg .b64 s; stacksave.u64 s; alloca.u64 x, 16, 16; st.local.b32 [x+12], 9; ld.local.b32 a, [x+12]; stackrestore.u64 s;
      stacksave.u64 y; sub.u64 y, y, s; cvt.u32.u64 b, y; st.global.v2.b32 [o], {a, b};", &[9, 0]),
    // Spaces: of a shared, a global, a constant and a local generic address.
    (".local .b32 l; mov.u64 x, sm; cvta.shared.u64 x, x; isspacep.shared p, x; isspacep.global q, x; selp.u32 a, 1, 0, p;
      selp.u32 b, 1, 0, q; mov.u64 x, cm; cvta.const.u64 x, x; isspacep.const p, x; selp.u32 c, 1, 0, p; mov.u64 x, l;
      cvta.local.u64 x, x; isspacep.local p, x; selp.u32 d, 1, 0, p; st.global.v4.b32 [o], {a, b, c, d};", &[1, 0, 1, 1]),
    ("mov.u64 x, cm; cvta.const.u64 x, x; ld.b32 a, [x]; cvta.to.const.u64 x, x; ld.const.b32 b, [x]; st.global.v2.b32 [o], {a, b};", &[5, 5]),
    // Printing counts its values; without a format it gives -1.
    (".param .b64 fm; .param .b64 v; .param .b32 r; st.param.b64 [fm], 0; st.param.b64 [v], 0; call (r), vprintf, (fm, v);
      ld.param.b32 a, [r]; st.global.b32 [o], a;", &[u32::MAX]),
];

#[test]
fn forms_compute_what_they_should() {
    for (body, expected) in FORMS {
        let words = results(body);
        assert_eq!(&words[..expected.len()], *expected, "{body}");
    }
}

/// Stores and loads of every kind move the same number.
#[test]
fn every_store_and_load_moves_its_value() {
    let global = [
        "st.global",
        "st.weak.global",
        "st.volatile.global",
        "st.relaxed.sys.global",
        "st.release.gpu.global",
        "st.mmio.relaxed.sys.global",
        "st.global.wb",
        "st.global.cg",
        "st.global.cs",
        "st.global.wt",
        "st.global.L1::no_allocate",
        "st",
    ];
    let loads = [
        "ld.global",
        "ld.weak.global",
        "ld.volatile.global",
        "ld.relaxed.cta.global",
        "ld.acquire.cluster.global",
        "ld.mmio.relaxed.sys.global",
        "ld.global.ca",
        "ld.global.cg",
        "ld.global.cs",
        "ld.global.lu",
        "ld.global.cv",
        "ld.global.nc",
        "ld.global.L1::evict_last.L2::128B",
        "ld.global.nc.L1::no_allocate.L2::256B",
        "ldu.global",
        "ld",
    ];
    for store in global {
        for load in loads {
            let words = results(&format!("add.u32 a, t, 77; {store}.b32 [o], a; {load}.b32 b, [o]; st.global.b32 [o+4], b;"));
            assert_eq!(words[4..6], [78, 78], "{store}, {load}");
        }
    }
    let hinted = "createpolicy.fractional.L2::evict_last.b64 x; st.global.L2::cache_hint.b32 [o], t, x; ld.global.L2::cache_hint.b32 a, [o], x;
        red.global.add.L2::cache_hint.u32 [o], a, x; prefetch.global.L2 [o]; prefetchu.L1 [o]; applypriority.global.L2::evict_normal [gm], 128;
        discard.global.L2 [gm], 128;";
    assert_eq!(results(hinted)[4], 2);
}

/// What orders memory, hints and waits leaves no trace.
#[test]
fn fences_and_hints_change_nothing() {
    let statements = [
        "membar.cta",
        "membar.gl",
        "membar.sys",
        "membar.proxy.alias",
        "fence.sc.cta",
        "fence.acq_rel.gpu",
        "fence.acq_rel.cluster",
        "fence.sys",
        "fence.acquire.gpu",
        "fence.release.sys",
        "fence.proxy.alias",
        "fence.proxy.async",
        "fence.proxy.async.shared::cta",
        "fence.mbarrier_init.release.cluster",
        "fence.proxy.tensormap::generic.release.gpu",
        "fence.proxy.tensormap::generic.acquire.gpu [gm], 128",
        "nanosleep.u32 100",
        "pmevent 3",
        "pmevent.mask 3",
        "griddepcontrol.wait",
        "griddepcontrol.launch_dependents",
        "setmaxnreg.inc.sync.aligned.u32 64",
        "bar.warp.sync -1",
        "barrier.sync.aligned 1",
        "barrier.cta.sync 2, 32",
        "bar.cta.sync 0",
        "bar.arrive 3, 64",
    ];
    for statement in statements {
        assert_eq!(results(&format!("{statement}; st.global.b32 [o], 1;"))[0], 1, "{statement}");
    }
}

/// Every thread of the block takes part in a reduction at a barrier, whichever way it is written.
#[test]
fn barriers_reduce() {
    for opcode in ["bar.red", "barrier.red", "barrier.cta.red", "bar.cta.red"] {
        let aligned = if opcode.starts_with("barrier") { ".aligned" } else { "" };
        let body = format!(
            "setp.lt.u32 p, t, 10; {opcode}.popc{aligned}.u32 a, 0, p; {opcode}.and{aligned}.pred q, 1, 32, p; selp.u32 b, 1, 0, q;
             {opcode}.or{aligned}.pred q, 2, !p; selp.u32 c, 1, 0, q; st.global.v2.b32 [o], {{a, b}}; st.global.b32 [o+8], c;"
        );
        assert_eq!(results(&body)[4 * 31..4 * 31 + 3], [10, 0, 1], "{opcode}");
    }
}

#[test]
fn printf_is_kept_in_order_and_goes_back_with_time() {
    let body = ".param .b64 fm; .param .b64 v; .param .b32 r; mov.u64 x, text; cvta.global.u64 x, x; setp.gt.u32 p, t, 1; @p bra end;
        st.param.b64 [fm], x; st.param.b64 [v], 0; call (r), vprintf, (fm, v); ld.param.b32 a, [r]; st.global.b32 [o], a; end:";
    let (machine, _, step) = run(body);
    assert_eq!(step, Step::Done);
    assert_eq!(machine.device().printed().bytes(), b"hi!hi!");
    assert_eq!(machine.device().printed().lost(), 0);
    assert_eq!(results(body)[..5], [0, 0xeeee_eeee, 0xeeee_eeee, 0xeeee_eeee, 0], "nothing is formatted, by thread 0 and by thread 1");
}

#[test]
fn what_goes_wrong_is_said() {
    let failed = trap(
        ".param .b64 m; .param .b64 fm; .param .b32 l; .param .b64 n; .param .b64 s; mov.u64 x, text; cvta.global.u64 x, x;
         st.param.b64 [m], x; st.param.b64 [fm], x; st.param.b32 [l], 12; st.param.b64 [n], x; st.param.b64 [s], 1;
         setp.ne.u32 p, t, 3; @p bra end; call __assertfail, (m, fm, l, n, s); end:",
    );
    assert_eq!((FindingId::from(failed.kind).word(), failed.lanes), ("assert", LaneMask::of(3)));
    assert_eq!(failed.message, "hi!:12: hi!: block: [0,0,0], thread: [3,0,0] Assertion `hi!` failed.");

    let twice = ".param .b64 n; .param .b64 r; setp.ne.u32 p, t, 0; @p exit; st.param.b64 [n], 8; call (r), malloc, (n);
         ld.param.b64 x, [r]; st.param.b64 [n], x; call free, (n);";
    let freed = trap(&format!("{twice} call free, (n);"));
    assert_eq!(freed.message, "free of 0x7f3000000010: it was freed at form.ptx:9, time 10");
    let used = trap(&format!("{twice} ld.b32 a, [x];"));
    assert_eq!(FindingId::from(used.kind).word(), "memory.out_of_bounds");
    assert!(used.message.contains("this memory was freed at form.ptx:9, time 10"), "{}", used.message);
    let wild = trap(".param .b64 n; st.param.b64 [n], o; call free, (n);");
    assert!(wild.message.ends_with("malloc did not give this address"), "{}", wild.message);

    let unknown = trap(".param .b32 n; st.param.b32 [n], 1; call undefined, (n);");
    assert_eq!(FindingId::from(unknown.kind).word(), "unsupported");
    assert!(unknown.message.contains("'undefined'") && unknown.message.contains("only declares it"), "{}", unknown.message);
}

/// Lanes on both sides of a branch exchange with each other: the lower half in one instruction, the upper half in another one, of which
/// each has its own operands. What is said of thread t by the lower half's instruction is doubled, by the upper half's tripled.
#[test]
fn lanes_at_two_places_exchange_with_each_other() {
    let both = |lower: &str, upper: &str| {
        results(&format!(
            "mov.u32 a, t; add.u32 b, t, 100; setp.lt.u32 p, t, 16; setp.eq.u32 q, t, 20; @p bra L;
             {upper} mul.lo.u32 d, d, 3; bra E; L: {lower} mul.lo.u32 d, d, 2; E: st.global.u32 [o], d;"
        ))
    };
    let first = |words: &[u32], thread: usize| words[4 * thread];
    let shuffled = both("shfl.sync.bfly.b32 d, a, 16, 31, -1;", "shfl.sync.bfly.b32 d, b, 16, 31, -1;");
    assert_eq!([0, 3, 16, 31].map(|thread| first(&shuffled, thread)), [2 * 116, 2 * 119, 0, 3 * 15]);
    let summed = both("redux.sync.add.u32 d, a, -1;", "redux.sync.add.u32 d, b, -1;");
    let sum = (0..32).sum::<u32>() + 16 * 100;
    assert_eq!([0, 31].map(|thread| first(&summed, thread)), [2 * sum, 3 * sum]);
    // Lanes 0 to 15 vote for p, which holds for all of them; of the others lane 20 alone for q.
    let voted = both("vote.sync.ballot.b32 d, p, -1;", "vote.sync.ballot.b32 d, q, -1;");
    let ballot = 0xffff_u32 | 1 << 20;
    assert_eq!([0, 31].map(|thread| first(&voted, thread)), [ballot.wrapping_mul(2), ballot.wrapping_mul(3)]);
    let matched = both("and.b32 a, a, 3; match.any.sync.b32 d, a, -1;", "and.b32 a, a, 3; match.any.sync.b32 d, a, -1;");
    assert_eq!([0, 31].map(|thread| first(&matched, thread)), [0x1111_1111_u32.wrapping_mul(2), 0x8888_8888_u32.wrapping_mul(3)]);
}

/// Instructions that exchange in different ways do not meet, and neither do those that name different masks.
#[test]
fn lanes_that_exchange_differently_wait_for_ever() {
    for upper in ["shfl.sync.up.b32 d, a, 16, 0, -1;", "vote.sync.ballot.b32 d, p, -1;", "shfl.sync.bfly.b32 d, a, 16, 31, 0xffff0001;"] {
        let body = format!("mov.u32 a, t; setp.lt.u32 p, t, 16; @p bra L; {upper} bra E; L: shfl.sync.bfly.b32 d, a, 16, 31, -1; E: ret;");
        assert!(matches!(run(&body).2, Step::Deadlock(_)), "{upper}");
    }
}
