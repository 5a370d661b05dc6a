//! Which multiplications and additions become one operation: what ptxas 13.0 makes of these functions for sm_90a, read in their machine
//! code.

#![allow(clippy::unwrap_used, reason = "a test that cannot read its kernel fails")]

use ptxdbg::program::{Inst, Op};

/// What each multiplication and addition of `body` has become.
fn shape(target: &str, body: &str) -> String {
    let text = format!(
        ".version 9.0 .target {target} .address_size 64
        .func (.reg .b32 r) other(.reg .b32 v) {{ mov.b32 r, v; ret; }}
        .visible .entry k(.param .u64 out) {{ .reg .f32 a, b, c, d, e, f, t, u, v; .reg .pred q; .reg .b64 o; .reg .f16 h, i, j;
        .reg .f64 w, x, y; .reg .b32 n; ld.param.u64 o, [out]; {body} ret; }}"
    );
    let (program, diagnostics) = ptxdbg::sema::load(&mut ptxdbg::base::Sources::default(), "test.ptx", text);
    assert!(diagnostics.is_empty(), "{body}\n{diagnostics:?}");
    let program = program.unwrap();
    let kernel = program.functions.iter().find(|function| function.is_kernel).unwrap();
    let code = &program.code[kernel.code.start as usize..kernel.code.end as usize];
    code.iter().filter_map(name).collect::<Vec<_>>().join(" ")
}

fn name(inst: &Inst) -> Option<String> {
    match inst.op {
        Op::KeepingMul { .. } => Some("KeepingMul".to_string()),
        Op::FloatUnary { f, .. } => Some(format!("{f:?}")),
        Op::FloatBinary { f, .. } => Some(format!("{f:?}")),
        Op::FloatTernary { f, .. } => Some(format!("{f:?}")),
        _ => None,
    }
}

#[rustfmt::skip]
const CASES: &[(&str, &str)] = &[
    ("mul.f32 t, a, b; add.f32 d, t, c; st.global.f32 [o], d;", "Mul Fma"),
    ("mul.f32 t, a, b; add.f32 d, c, t; st.global.f32 [o], d;", "Mul Fma"),
    ("mul.f32 t, a, b; sub.f32 d, t, c; st.global.f32 [o], d;", "Mul MulSub"),
    ("mul.f32 t, a, b; sub.f32 d, c, t; st.global.f32 [o], d;", "Mul NegMulAdd"),
    ("mul.f64 w, x, y; add.f64 x, w, y; st.global.f64 [o], x;", "Mul Fma"),
    ("mul.f16 h, i, j; sub.f16 i, h, j; st.global.b16 [o], i;", "Mul MulSub"),
    ("mul.f32 t, a, b; add.sat.f32 d, t, 0f40E00000; st.global.f32 [o], d;", "Mul Fma"),
    ("mul.f32 t, a, b; bar.sync 0; @q add.f32 d, t, c; st.global.f32 [o], d;", "Mul Fma"),
    ("mul.f32 t, a, b; bra.uni next; next: add.f32 d, t, c; st.global.f32 [o], d;", "Mul Fma"),
    // A rounding, another mode, a clamped or guarded product.
    ("mul.rn.f32 t, a, b; add.f32 d, t, c; st.global.f32 [o], d;", "Mul Add"),
    ("mul.f32 t, a, b; add.rn.f32 d, t, c; st.global.f32 [o], d;", "Mul Add"),
    ("mul.ftz.f32 t, a, b; add.f32 d, t, c; st.global.f32 [o], d;", "Mul Add"),
    ("mul.sat.f32 t, a, b; add.f32 d, t, c; st.global.f32 [o], d;", "Mul Add"),
    ("@q mul.f32 t, a, b; add.f32 d, t, c; st.global.f32 [o], d;", "Mul Add"),
    // All uses, or none.
    ("mul.f32 t, a, b; add.f32 d, t, c; sub.f32 u, e, t; st.global.v2.f32 [o], {d, u};", "Mul Fma NegMulAdd"),
    ("mul.f32 t, a, b; add.f32 d, t, c; st.global.v2.f32 [o], {d, t};", "Mul Add"),
    ("mul.f32 t, a, b; add.f32 d, t, c; mul.f32 u, t, e; st.global.v2.f32 [o], {d, u};", "Mul Add Mul"),
    ("mul.f32 t, a, b; add.f32 d, t, c; fma.rn.f32 u, e, f, t; st.global.v2.f32 [o], {d, u};", "Mul Add Fma"),
    ("mul.f32 t, a, b; add.f32 d, t, t; st.global.f32 [o], d;", "Mul Add"),
    ("mul.f32 t, a, b; add.f32 d, t, c; @q bra end; add.f32 u, t, e; st.global.f32 [o], u; end: st.global.f32 [o+4], d;", "Mul Add Add"),
    ("mul.f32 t, a, b; loop: add.f32 d, d, t; @q bra loop; st.global.f32 [o], d;", "Mul Add"),
    ("mul.f32 t, a, b; call (n), other, (n); add.f32 d, t, c; st.global.f32 [o], d;", "Mul Add"),
    // Sums of two products.
    ("mul.f32 t, a, b; mul.f32 u, c, e; add.f32 d, t, u; st.global.f32 [o], d;", "Mul Mul Fma"),
    ("mul.f32 t, a, b; mul.f32 u, c, e; sub.f32 d, u, t; st.global.f32 [o], d;", "Mul Mul MulSub"),
    ("mul.f32 t, a, b; mul.f32 u, c, e; add.f32 d, t, u; st.global.v2.f32 [o], {d, t};", "Mul Mul Fma"),
    ("mul.f32 t, a, b; mul.f32 u, c, e; add.f32 d, t, u; add.f32 v, u, f; st.global.v2.f32 [o], {d, v};", "Mul Mul Fma Add"),
    ("mul.f32 t, a, b; mul.f32 u, c, e; add.f32 d, t, u; add.f32 v, t, f; st.global.v2.f32 [o], {d, v};", "Mul Mul Fma Add"),
    ("mul.f32 t, a, b; mul.f32 u, c, e; add.f32 d, t, u; sub.f32 v, t, u; st.global.v2.f32 [o], {d, v};", "Mul Mul Fma MulSub"),
    // A factor that is overwritten was a factor all the same.
    ("mul.f32 t, a, b; mov.f32 a, c; add.f32 d, t, a; st.global.f32 [o], d;", "KeepingMul Fma"),
    ("mul.f32 a, a, b; add.f32 d, a, c; st.global.f32 [o], d;", "KeepingMul Fma"),
    ("mul.f32 a, a, b; sub.f32 a, c, a; st.global.f32 [o], a;", "KeepingMul NegMulAdd"),
    ("mul.f32 t, a, a; mul.f32 t, t, a; add.f32 d, t, c; st.global.f32 [o], d;", "Mul KeepingMul Fma"),
    // Copies and negatives of a product.
    ("mul.f32 t, a, b; mov.f32 u, t; add.f32 d, u, c; st.global.f32 [o], d;", "Mul Fma"),
    ("mul.f32 t, a, b; mov.b32 n, t; mov.b32 u, n; add.f32 d, u, c; st.global.f32 [o], d;", "Mul Fma"),
    ("mul.f32 t, a, b; neg.f32 u, t; add.f32 d, u, c; st.global.f32 [o], d;", "Mul Neg NegMulAdd"),
    ("mul.f32 t, a, b; neg.f32 u, t; sub.f32 d, u, c; st.global.f32 [o], d;", "Mul Neg NegMulSub"),
    ("mul.f32 t, a, b; neg.f32 u, t; sub.f32 d, c, u; st.global.f32 [o], d;", "Mul Neg Fma"),
    ("mul.f64 w, x, y; neg.f64 w, w; add.f64 x, w, y; st.global.f64 [o], x;", "Mul Neg NegMulAdd"),
    ("mul.f32 t, a, b; abs.f32 u, t; add.f32 d, u, c; st.global.f32 [o], d;", "Mul Abs Add"),
    ("mul.f32 t, a, b; selp.f32 u, t, c, q; add.f32 d, u, e; st.global.f32 [o], d;", "Mul Add"),
    ("mul.f32 t, a, b; @q mov.f32 t, c; add.f32 d, t, c; st.global.f32 [o], d;", "Mul Add"),
    ("@q mul.f32 t, a, b; @q add.f32 d, t, c; st.global.f32 [o], d;", "Mul Add"),
    // Not over the end of a block.
    ("mul.f32 t, a, b; @q bra end; add.f32 d, t, c; st.global.f32 [o], d; end:", "Mul Add"),
    ("mul.f32 t, a, b; @q bra join; st.global.f32 [o], c; join: add.f32 d, t, c; st.global.f32 [o+4], d;", "Mul Add"),
    // A register that takes something else afterwards is free.
    ("mul.f32 t, a, b; add.f32 d, t, c; mov.f32 t, e; st.global.v2.f32 [o], {d, t};", "Mul Fma"),
];

#[test]
fn what_is_joined_is_what_the_assembler_joins() {
    for (body, expected) in CASES {
        assert_eq!(shape("sm_90a", body), *expected, "{body}");
    }
}

/// The second product of the sum is joined where the first one is needed elsewhere.
#[test]
fn the_product_with_one_use_is_joined() {
    let text = "mul.f32 t, a, b; mul.f32 u, c, e; add.f32 d, t, u; add.f32 v, t, f; st.global.v2.f32 [o], {d, v};";
    let module = format!(
        ".version 9.0 .target sm_90a .address_size 64 .visible .entry k(.param .u64 out) {{
        .reg .f32 a, b, c, d, e, f, t, u, v; .reg .b64 o; ld.param.u64 o, [out]; {text} ret; }}"
    );
    let (program, _) = ptxdbg::sema::load(&mut ptxdbg::base::Sources::default(), "test.ptx", module);
    let program = program.unwrap();
    let factors = |inst: &Inst| match inst.op {
        Op::FloatBinary { a, b, .. } | Op::FloatTernary { a, b, .. } => (a, b),
        other => unreachable!("{other:?}"),
    };
    assert_eq!(factors(&program.code[3]), factors(&program.code[2]));
    assert_ne!(factors(&program.code[3]), factors(&program.code[1]));
}

#[test]
fn code_for_the_debugger_is_left_as_it_is() {
    assert_eq!(shape("sm_90a, debug", CASES[0].0), "Mul Add");
}

/// Which addition belongs to which multiplication is known, and nothing else is.
#[test]
fn what_was_joined_is_listed() {
    let body = "mul.f32 t, a, b; mul.f32 u, c, e; add.f32 d, t, c; sub.f32 v, d, t; mul.f32 t, u, f; st.global.v2.f32 [o], {v, t};";
    let module = format!(
        ".version 9.0 .target sm_90a .address_size 64 .visible .entry k(.param .u64 out) {{
        .reg .f32 a, b, c, d, e, f, t, u, v; .reg .b64 o; ld.param.u64 o, [out]; {body} ret; }}"
    );
    let (program, _) = ptxdbg::sema::load(&mut ptxdbg::base::Sources::default(), "test.ptx", module);
    let program = program.unwrap();
    let pc = |index: u32| ptxdbg::program::Pc(index);
    assert_eq!(program.joined_sums(pc(1)).collect::<Vec<_>>(), [pc(3), pc(4)]);
    assert_eq!((program.joined_product(pc(3)), program.joined_product(pc(4))), (Some(pc(1)), Some(pc(1))));
    assert_eq!(program.joined.len(), 2);
}
