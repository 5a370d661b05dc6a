//! PTX 1.x and the forms that later versions dropped. Expectations follow from the manual, or from what ptxas 13.0 makes of the same
//! text; `fixtures/old` has whole modules as compilers of the time wrote them.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that cannot run its kernel fails")]

use std::path::Path;

use crate::look::one_warp::one_warp;
use ptxdbg::base::{Diagnostic, Sources};
use ptxdbg::debug::open::open;
use ptxdbg::debug::{LaunchChoice, Opened, Overrides, Request, RunOptions, verify_case};
use ptxdbg::machine::{Device, Machine, NullObserver, Step};

fn diagnostics(module: &str) -> Vec<Diagnostic> {
    ptxdbg::sema::load(&mut Sources::default(), "old.ptx", module.to_string()).1
}

/// The first words that thread 0 leaves at `out` when `body` runs in a module with these directives and declarations.
fn words<const N: usize>(head: &str, body: &str) -> [u32; N] {
    // Before PTX 1.4 the body of a kernel declares its parameters.
    let (list, declaration) = if head.starts_with(".version 1.3") { ("", ".param .u64 out;") } else { ("(.param .u64 out)", "") };
    let text = format!(
        "{head} .entry k {list} {{ {declaration} .reg .u16 h; .reg .u32 a, b, c; .reg .f32 e, f, g; .reg .f64 x; .reg .u64 d, o; .reg .pred p;
        ld.param.u64 o, [out]; {body} exit; }}"
    );
    let (program, diagnostics) = ptxdbg::sema::load(&mut Sources::default(), "old.ptx", text);
    assert!(!diagnostics.iter().any(Diagnostic::is_error), "{body}\n{diagnostics:#?}");
    let program = program.unwrap();
    let kernel = program.function("k").unwrap();
    let mut device = Device::new(program);
    let out = device.allocate("out", 16, Some(0xee)).unwrap();
    let mut machine = Machine::new(device, one_warp(kernel, out)).unwrap();
    assert_eq!(machine.run(1 << 20, &mut NullObserver), Step::Done, "{body}");
    let mut bytes = [0; 16];
    machine.device().read(out, &mut bytes).unwrap();
    std::array::from_fn(|index| u32::from_le_bytes(bytes[4 * index..4 * index + 4].try_into().unwrap()))
}

const SM_10: &str = ".version 1.4 .target sm_10";

#[test]
fn modules_of_the_time_run() {
    for name in ["filter", "reduce", "scan", "body_params", "module_scope", "elements", "vector_params"] {
        let launch = LaunchChoice::File(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/old/{name}.ron")));
        let opened = open(&Request { modules: Vec::new(), launch, overrides: Overrides::default() });
        let Ok(Opened { program, plan, .. }) = opened else { panic!("{name}: {opened:?}") };
        let report = verify_case(&program, &plan.cases[0], &RunOptions::unwatched(), false).unwrap();
        assert!(report.failures.is_empty(), "{name}: {:#?}", report.failures);
    }
}

/// Without `.address_size` the registers that are addresses say how wide these are.
#[test]
fn the_code_says_how_wide_addresses_are() {
    let bits = |body: &str| {
        let text = format!(".version 1.4 .target sm_10 .global .u32 v; .entry k(.param .u32 n, .param .u64 w) {{ {body} exit; }}");
        ptxdbg::sema::load(&mut Sources::default(), "old.ptx", text).0.unwrap().address_bits
    };
    assert_eq!(bits(".reg .u32 %r<4>; ld.param.u32 %r1, [n]; st.global.u32 [%r1+4], %r1;"), 32);
    assert_eq!(bits(".reg .u32 r; .reg .u64 d; ld.param.u64 d, [w]; ld.global.u32 r, [d+4];"), 64);
    assert_eq!(
        bits(".reg .u32 r; .reg .u64 d; .shared .u32 s[4]; mov.u32 r, s; st.shared.u32 [r], r; ld.param.u64 d, [w]; st.global.u64 [d], d;"),
        64
    );
    assert_eq!(bits(".reg .u32 r; st.global.u32 [v], 1; { .reg .u64 r; ld.param.u64 r, [w]; st.global.u64 [r], r; }"), 64);
}

/// `mad.f32` is what ptxas makes of it on every GPU of today: 1 + 2^-12 squared keeps its 2^-24, and subnormal numbers are zero.
#[test]
fn early_targets_flush_and_fuse() {
    let mad = "mov.f32 e, 0f3F800800; mov.f32 f, 0fBF801000; mad.f32 g, e, e, f; st.global.f32 [o], g;";
    assert_eq!(words(SM_10, mad), [0x3380_0000]);
    let flushed = "mov.f32 e, 0f00800000; mov.f32 f, 0f3F000000; mov.f32 g, 0f00000000; mad.f32 g, e, f, g; st.global.f32 [o], g;
        mov.f32 g, 0f80000001; add.f32 g, g, g; st.global.f32 [o+4], g; setp.gt.f32 p, e, g; selp.u32 a, 1, 0, p; st.global.u32 [o+8], a;";
    assert_eq!(words(SM_10, flushed), [0, 0x8000_0000, 1]);
}

/// Conversions from and to types of 64 bits keep subnormal numbers until PTX 1.4; those to 32 bits never did, and from 1.5 on none does.
#[test]
fn conversions_of_64_bits_keep_subnormal_numbers_until_1_4() {
    let body =
        "mov.f32 e, 0f00000001; cvt.f64.f32 x, e; st.global.f64 [o], x; cvt.rpi.s64.f32 d, e; cvt.u32.u64 b, d; st.global.u32 [o+8], b;
        cvt.rpi.s32.f32 a, e; st.global.u32 [o+12], a;";
    let narrow = "mov.f64 x, 0d36a0000000000000; cvt.rn.f32.f64 e, x; st.global.f32 [o], e; mov.f32 e, 0f00000001;
        cvt.rpi.u64.f32 d, e; cvt.u32.u64 b, d; st.global.u32 [o+4], b; cvt.rpi.s16.f32 h, e; cvt.u32.u16 a, h; st.global.u32 [o+8], a;";
    for version in ["1.3", "1.4"] {
        let head = format!(".version {version} .target sm_13");
        assert_eq!(words(&head, body), [0, 0x36a0_0000, 1, 0], "{version}");
        assert_eq!(words(&head, narrow), [1, 1, 0], "{version}");
    }
    for version in ["1.5", "3.0"] {
        let head = format!(".version {version} .target sm_13");
        assert_eq!(words(&head, body), [0; 4], "{version}");
        assert_eq!(words(&head, narrow), [0; 3], "{version}");
    }
}

/// Before PTX 1.4 the fast functions had no `.approx`; of powers of two they are exact.
#[test]
fn functions_without_a_modifier_are_the_fast_ones() {
    let body = "mov.f32 e, 0f40000000; mov.f32 f, 0f40800000; rcp.f32 g, e; st.global.f32 [o], g; sqrt.f32 g, f; st.global.f32 [o+4], g;
        ex2.f32 g, e; st.global.f32 [o+8], g; lg2.f32 g, f; st.global.f32 [o+12], g;";
    assert_eq!(words(".version 1.3 .target sm_13", body), [0x3f00_0000, 0x4000_0000, 0x4080_0000, 0x4000_0000]);
}

/// Indices of threads and blocks had 16 bits.
#[test]
fn narrow_special_registers_are_read() {
    let body = "mov.u16 h, %ntid.x; cvt.u32.u16 a, h; cvt.u32.u16 b, %tid.y; mov.u16 h, %gridid; cvt.u32.u16 c, h;
        st.global.u32 [o], a; st.global.u32 [o+4], b; st.global.u32 [o+8], c;";
    assert_eq!(words(SM_10, body), [32, 0, 1]);
    let wide = format!("{SM_10} .entry k(.param .u64 out) {{ .reg .u16 h; mov.u16 h, %laneid; exit; }}");
    assert_eq!(diagnostics(&wide)[0].message, "this special register is .u32, not .u16");
}

/// An array of a numbered bank is all of its 64 KiB, and those of one bank are the same.
#[test]
fn arrays_of_a_constant_bank_are_the_whole_bank() {
    let head = ".version 1.5 .target sm_10 .extern .const[3] .b32 table[]; .extern .const[3] .f32 other[];";
    let body = "mov.u32 a, table; mov.u32 b, other; sub.u32 a, a, b; ld.const[3].u32 b, [table+65532]; st.global.u32 [o], a;
        st.global.u32 [o+4], b;";
    assert_eq!(words(head, body), [0, 0]);
    let warned = diagnostics(&format!("{head} .entry k {{ exit; }}"));
    assert_eq!(
        warned.iter().map(|warning| (warning.is_error(), warning.code)).collect::<Vec<_>>(),
        [(false, "linkage"), (false, "linkage")]
    );
}

/// What ptxas 13.0 refuses of old modules too, with our words.
#[test]
fn what_never_was_is_refused() {
    let refused = [
        (".version 1.4 .target sm_10 .const[2] .u32 c[2] = {1, 2};", "constant bank 2 requires PTX 1.5"),
        (".version 1.5 .target sm_10 .const[2] .u32 c[2] = {1, 2};", "constant bank 2 is for '.extern' arrays without a size"),
        (".version 1.4 .target sm_13, map_f64_to_f32", "'map_f64_to_f32' is for targets before sm_13"),
        (".version 4.0 .target sm_30 .func f(.param .texref t) { ret; }", "only kernels have parameters of type '.texref'"),
        (
            ".version 4.0 .target sm_30 .global .surfref s; .entry j { .reg .u32 a; tex.1d.v4.u32.s32 {a, a, a, a}, [s, {a}]; exit; }",
            "a '.surfref' where 'tex.1d.v4.u32.s32' takes a '.texref'",
        ),
        (
            ".version 4.0 .target sm_30 .global .texref s; .entry j { .reg .u32 a; suld.b.1d.b32.trap a, [s, {a}]; exit; }",
            "a '.texref' where 'suld.b.1d.b32.trap' takes a '.surfref'",
        ),
        (
            ".version 4.0 .target sm_30 .global .surfref s; .entry j { .reg .u32 a; txq.width.b32 a, [s]; exit; }",
            "a '.surfref' where 'txq.width.b32' takes a '.texref'",
        ),
        (
            ".version 4.0 .target sm_30, texmode_independent .global .texref t; .entry j { .reg .u32 a;
             tex.1d.v4.u32.s32 {a, a, a, a}, [t, t, {a}]; exit; }",
            "a '.texref' where 'tex.1d.v4.u32.s32' takes a '.samplerref'",
        ),
    ];
    for (text, message) in refused {
        let messages: Vec<String> = diagnostics(&format!("{text} .entry k {{ exit; }}")).into_iter().map(|error| error.message).collect();
        assert_eq!(messages, [message], "{text}");
    }
}
