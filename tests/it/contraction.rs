//! Which multiplications and additions become one operation: what ptxas 13.0 makes of these functions for sm_90a, read in their machine
//! code.

#![allow(clippy::unwrap_used, reason = "a test that cannot read its kernel fails")]

use ptxdbg::isa::Factored;
use ptxdbg::program::{ConvertOp, FloatOp, Inst, Op};

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
        Op::Float(FloatOp::ProductWithFactors { f, .. }) => Some(kept(f).to_string()),
        Op::Convert(ConvertOp::Single { .. }) => Some("Convert".to_string()),
        Op::Float(FloatOp::Unary { f, .. }) => Some(format!("{f:?}")),
        Op::Float(FloatOp::Binary { f, .. }) => Some(format!("{f:?}")),
        Op::Float(FloatOp::Ternary { f, .. }) => Some(format!("{f:?}")),
        _ => None,
    }
}

fn kept(f: Factored) -> &'static str {
    match f {
        Factored::Mul => "KeepingMul",
        Factored::Quotient { known: false, .. } => "KeepingDiv",
        Factored::Quotient { known: true, .. } => "KeepingDivKnown",
        Factored::Reciprocal => "KeepingRcp",
        Factored::MulInverseEx2 => "KeepingInverse",
        Factored::RcpOperand | Factored::Ex2Operand => "KeepingOperand",
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
    // What nothing needs is no use.
    ("mul.f32 t, a, b; mul.f32 u, t, e; add.f32 d, t, c; st.global.f32 [o], d;", "Mul Mul Fma"),
    ("mul.f32 t, a, b; mul.f32 u, t, e; add.f32 u, u, t; neg.f32 v, u; add.f32 d, t, c; st.global.f32 [o], d;", "Mul Mul Add Neg Fma"),
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
    // Nor over what the assembler branches around where its guard is false: not for arithmetic, whose result it selects.
    ("mul.f32 t, a, b; @q ld.global.f32 c, [o]; sub.f32 d, c, t; st.global.f32 [o], d;", "Mul Sub"),
    ("mul.f32 t, a, b; @q ld.volatile.global.f32 e, [o]; add.f32 d, c, t; st.global.v2.f32 [o], {d, e};", "Mul Add"),
    ("mul.f32 t, a, b; @q st.global.f32 [o+8], c; add.f32 d, c, t; st.global.f32 [o], d;", "Mul Add"),
    ("mul.f32 t, a, b; @q red.global.add.u32 [o+8], 1; add.f32 d, c, t; st.global.f32 [o], d;", "Mul Add"),
    ("mul.f32 t, a, b; @q bar.sync 0; add.f32 d, c, t; st.global.f32 [o], d;", "Mul Add"),
    ("mul.f32 t, a, b; @q membar.gl; add.f32 d, c, t; st.global.f32 [o], d;", "Mul Add"),
    ("@q ld.global.f32 c, [o]; mul.f32 t, a, b; add.f32 d, c, t; st.global.f32 [o], d;", "Mul Fma"),
    ("mul.f32 t, a, b; ld.global.f32 c, [o]; bar.sync 0; add.f32 d, c, t; st.global.f32 [o], d;", "Mul Fma"),
    ("mul.f32 t, a, b; @q mov.f32 e, c; add.f32 d, c, t; st.global.v2.f32 [o], {d, e};", "Mul Fma"),
    // Nor over an operation for which the assembler calls a subroutine, unless a factor needs no register.
    ("mul.f32 t, a, b; div.rn.f32 u, e, f; add.f32 d, t, c; st.global.v2.f32 [o], {d, u};", "Mul Div Add"),
    ("mul.f32 t, a, b; div.rz.ftz.f32 u, e, f; add.f32 d, t, c; st.global.v2.f32 [o], {d, u};", "Mul Div Add"),
    ("mul.f32 t, a, b; rcp.rn.f32 u, e; add.f32 d, t, c; st.global.v2.f32 [o], {d, u};", "Mul Rcp Add"),
    ("mul.f32 t, a, b; sqrt.rn.f32 u, e; add.f32 d, t, c; st.global.v2.f32 [o], {d, u};", "Mul Sqrt Add"),
    ("mul.f32 t, a, b; div.rn.f64 w, x, y; add.f32 d, t, c; st.global.f32 [o], d; st.global.f64 [o+8], w;", "Mul Div Add"),
    ("mul.f32 t, a, b; rsqrt.approx.f64 w, x; add.f32 d, t, c; st.global.f32 [o], d; st.global.f64 [o+8], w;", "Mul RsqrtApprox Add"),
    ("mul.f32 t, a, 0f40400000; div.rn.f32 u, e, f; add.f32 d, t, c; st.global.v2.f32 [o], {d, u};", "Mul Div Fma"),
    ("div.approx.f32 t, a, b; div.rn.f32 u, e, f; add.f32 d, t, c; st.global.v2.f32 [o], {d, u};", "DivApprox Div Add"),
    ("div.rn.f32 u, e, f; mul.f32 t, a, b; add.f32 d, t, c; st.global.v2.f32 [o], {d, u};", "Div Mul Fma"),
    ("mul.f32 t, a, b; div.approx.f32 u, e, f; add.f32 d, t, c; st.global.v2.f32 [o], {d, u};", "Mul DivApprox Fma"),
    ("mul.f32 t, a, b; sqrt.approx.f32 u, e; add.f32 d, t, c; st.global.v2.f32 [o], {d, u};", "Mul SqrtApprox Fma"),
    // A register that takes something else afterwards is free.
    ("mul.f32 t, a, b; add.f32 d, t, c; mov.f32 t, e; st.global.v2.f32 [o], {d, t};", "Mul Fma"),
];

/// Quotients and reciprocals.
#[rustfmt::skip]
const QUOTIENTS: &[(&str, &str)] = &[
    ("div.full.f32 t, a, b; add.f32 d, t, c; st.global.f32 [o], d;", "KeepingDiv Fma"),
    ("div.full.f32 t, a, b; add.f32 d, c, t; st.global.f32 [o], d;", "KeepingDiv Fma"),
    ("div.full.f32 t, a, b; sub.f32 d, t, c; st.global.f32 [o], d;", "KeepingDiv MulSub"),
    ("div.approx.f32 t, a, b; sub.f32 d, c, t; st.global.f32 [o], d;", "KeepingDiv NegMulAdd"),
    ("div.full.ftz.f32 t, a, b; add.ftz.f32 d, t, c; st.global.f32 [o], d;", "KeepingDiv Fma"),
    ("div.approx.ftz.f32 t, a, b; add.ftz.sat.f32 d, t, c; st.global.f32 [o], d;", "KeepingDiv Fma"),
    ("div.full.ftz.f32 t, a, b; add.f32 d, t, c; st.global.f32 [o], d;", "DivFull Add"),
    ("div.approx.f32 t, a, b; add.ftz.f32 d, t, c; st.global.f32 [o], d;", "DivApprox Add"),
    ("div.full.f32 t, a, b; add.rn.f32 d, t, c; st.global.f32 [o], d;", "DivFull Add"),
    ("div.rn.f32 t, a, b; add.f32 d, t, c; st.global.f32 [o], d;", "Div Add"),
    ("@q div.full.f32 t, a, b; add.f32 d, t, c; st.global.f32 [o], d;", "DivFull Add"),
    ("div.full.f32 t, a, b; @q add.f32 d, t, c; st.global.f32 [o], d;", "KeepingDiv Fma"),
    ("div.full.f32 t, a, b; add.f32 d, t, c; sub.f32 u, e, t; st.global.v2.f32 [o], {d, u};", "KeepingDiv Fma NegMulAdd"),
    ("div.full.f32 t, a, b; add.f32 d, t, c; st.global.v2.f32 [o], {d, t};", "DivFull Add"),
    ("div.full.f32 t, a, b; add.f32 d, t, c; mul.f32 u, t, e; st.global.v2.f32 [o], {d, u};", "DivFull Add Mul"),
    ("div.full.f32 t, a, b; add.f32 d, t, t; st.global.f32 [o], d;", "DivFull Add"),
    ("div.full.f32 t, a, b; @q bra end; add.f32 d, t, c; st.global.f32 [o], d; end:", "DivFull Add"),
    ("div.full.f32 t, a, b; loop: add.f32 d, d, t; @q bra loop; st.global.f32 [o], d;", "DivFull Add"),
    ("div.full.f32 t, a, b; call (n), other, (n); add.f32 d, t, c; st.global.f32 [o], d;", "DivFull Add"),
    ("div.full.f32 t, a, b; mul.f32 u, c, e; add.f32 d, t, u; st.global.f32 [o], d;", "KeepingDiv Mul Fma"),
    ("div.full.f32 t, a, b; mul.f32 u, c, e; add.f32 d, u, t; st.global.f32 [o], d;", "DivFull Mul Fma"),
    ("div.full.f32 t, a, b; div.full.f32 u, c, e; sub.f32 d, u, t; st.global.f32 [o], d;", "DivFull KeepingDiv MulSub"),
    ("div.full.f32 t, a, b; mov.f32 u, t; add.f32 d, u, c; st.global.f32 [o], d;", "KeepingDiv Fma"),
    ("div.full.f32 t, a, b; neg.f32 u, t; sub.f32 d, u, c; st.global.f32 [o], d;", "KeepingDiv Neg NegMulSub"),
    ("div.full.f32 t, a, b; abs.f32 u, t; add.f32 d, u, c; st.global.f32 [o], d;", "DivFull Abs Add"),
    ("div.full.f32 a, a, b; add.f32 d, a, c; st.global.f32 [o], d;", "KeepingDiv Fma"),
    ("rcp.approx.f32 t, b; add.f32 d, t, c; st.global.f32 [o], d;", "KeepingRcp Fma"),
    ("rcp.approx.f32 t, b; sub.f32 d, c, t; st.global.f32 [o], d;", "KeepingRcp NegMulAdd"),
    ("rcp.approx.f32 t, b; add.f32 d, t, c; st.global.v2.f32 [o], {d, t};", "RcpApprox Add"),
    ("rcp.approx.ftz.f32 t, b; add.ftz.f32 d, t, c; st.global.f32 [o], d;", "RcpApprox Add"),
    ("sqrt.approx.f32 t, b; add.f32 d, t, c; st.global.f32 [o], d;", "SqrtApprox Add"),
];

/// Divisors that the assembler knows, and products with a constant, which it moves to where they are added.
#[rustfmt::skip]
const CONSTANTS: &[(&str, &str)] = &[
    ("div.full.f32 t, a, 0f42C00000; st.global.f32 [o], t;", "DivFullKnown"),
    ("mov.f32 b, 0f42C00000; div.approx.f32 t, a, b; st.global.f32 [o], t;", "DivApproxKnown"),
    ("mov.b32 n, 0x3FB20000; mov.b32 b, n; div.full.f32 t, a, b; st.global.f32 [o], t;", "DivFullKnown"),
    ("mov.b32 n, 97; cvt.rn.f32.s32 b, n; div.full.f32 t, a, b; st.global.f32 [o], t;", "Convert DivFullKnown"),
    ("mov.f32 b, 0f3FB20000; add.f32 b, b, b; div.full.f32 t, a, b; st.global.f32 [o], t;", "Add DivFullKnown"),
    ("mov.f32 b, 0f3FB20000; @q bra l; st.global.f32 [o+4], a; l: div.full.f32 t, a, b; st.global.f32 [o], t;", "DivFullKnown"),
    ("mov.f32 b, 0f3FB20000; @q mov.f32 b, 0f40000000; div.full.f32 t, a, b; st.global.f32 [o], t;", "DivFull"),
    ("mov.f32 b, 0f3FB20000; @q bra l; mov.f32 b, 0f40000000; l: div.full.f32 t, a, b; st.global.f32 [o], t;", "DivFull"),
    ("rcp.approx.f32 t, 0f42C20000; st.global.f32 [o], t;", "RcpApproxKnown"),
    ("div.full.f32 t, a, 0f42C00000; sub.f32 d, c, t; st.global.f32 [o], d;", "KeepingDivKnown NegMulAdd"),
    ("mul.f32 t, 0f40400001, 0f3FB20001; add.f32 d, t, c; st.global.f32 [o], d;", "Mul Add"),
    ("div.full.f32 t, 0f40400000, 0f3FB20000; add.f32 d, t, c; st.global.f32 [o], d;", "DivFullKnown Add"),
    ("mul.f32 t, a, 0f40400000; @q bra end; add.f32 d, t, c; st.global.f32 [o], d; end:", "Mul Fma"),
    ("mov.f32 b, 0f40400000; mul.f32 t, a, b; @q bra end; add.f32 d, t, c; st.global.f32 [o], d; end:", "Mul Fma"),
    ("ld.param.f32 b, [out]; mul.f32 t, a, b; @q bra end; add.f32 d, t, c; st.global.f32 [o], d; end:", "Mul Fma"),
    ("ld.param.f32 b, [out]; neg.f32 b, b; mul.f32 t, a, b; @q bra end; add.f32 d, t, c; st.global.f32 [o], d; end:", "Neg Mul Fma"),
    ("ld.global.f32 b, [o]; mul.f32 t, a, b; @q bra end; add.f32 d, t, c; st.global.f32 [o], d; end:", "Mul Add"),
    ("mul.f32 t, a, a; @q bra end; add.f32 d, t, c; st.global.f32 [o], d; end:", "Mul Add"),
    ("mul.f64 w, x, 0d4008000000000000; @q bra end; add.f64 y, w, x; st.global.f64 [o], y; end:", "Mul Fma"),
    ("mul.f32 t, a, 0f40400000; loop: add.f32 d, d, t; @q bra loop; st.global.f32 [o], d;", "Mul Fma"),
    ("mul.f32 t, a, 0f40400000; call (n), other, (n); add.f32 d, t, c; st.global.f32 [o], d;", "Mul Fma"),
    ("mul.f32 t, a, 0f40400000; @q bra l; add.f32 d, t, c; st.global.f32 [o], d; bra z; l: st.global.f32 [o+4], t; z:", "Mul Add"),
    ("mul.f32 t, a, 0f40400000; @q bra l; mov.f32 t, c; bar.sync 0; l: add.f32 d, t, c; st.global.f32 [o], d;", "Mul Add"),
    ("mul.f32 t, a, 0f40400000; ld.global.f32 a, [o]; @q bra z; add.f32 d, t, a; st.global.f32 [o], d; z:", "KeepingMul Fma"),
    ("div.full.f32 t, a, 0f40400000; @q bra end; add.f32 d, t, c; st.global.f32 [o], d; end:", "KeepingDivKnown Fma"),
    ("div.approx.ftz.f32 t, 0f40400000, b; @q bra end; add.ftz.f32 d, t, c; st.global.f32 [o], d; end:", "KeepingDiv Fma"),
    ("div.full.f32 t, 0f40400000, b; @q bra end; add.f32 d, t, c; st.global.f32 [o], d; end:", "DivFull Add"),
];

/// What counts as the product: multiplications by 1 and -1, conversions that convert nothing.
#[rustfmt::skip]
const COPIES: &[(&str, &str)] = &[
    ("mul.f32 t, a, b; mul.f32 u, t, 0fBF800000; add.f32 d, u, c; st.global.f32 [o], d;", "Mul Mul NegMulAdd"),
    ("mul.f32 t, a, b; mul.rn.f32 u, t, 0f3F800000; add.f32 d, u, c; st.global.f32 [o], d;", "Mul Mul Fma"),
    ("mul.f32 t, a, b; mul.rn.f32 u, t, 0fBF800000; add.f32 d, u, c; st.global.f32 [o], d;", "Mul Mul Add"),
    ("mul.f32 t, a, b; mul.ftz.f32 u, t, 0f3F800000; add.f32 d, u, c; st.global.f32 [o], d;", "Mul Mul Add"),
    ("mul.f64 w, x, y; mul.f64 w, w, 0dBFF0000000000000; add.f64 y, w, x; st.global.f64 [o], y;", "Mul Mul NegMulAdd"),
    ("mul.ftz.f32 t, a, b; neg.f32 u, t; add.ftz.f32 d, u, c; st.global.f32 [o], d;", "Mul Neg NegMulAdd"),
    ("mul.f32 t, a, b; neg.ftz.f32 u, t; add.f32 d, u, c; st.global.f32 [o], d;", "Mul Neg Add"),
    ("mul.f32 t, a, b; cvt.f32.f32 u, t; add.f32 d, u, c; st.global.f32 [o], d;", "Mul Convert Fma"),
    ("mul.f32 t, a, b; min.f32 u, t, t; add.f32 d, u, c; st.global.f32 [o], d;", "Mul Min Fma"),
];

/// Products that are scaled by a power of two.
#[rustfmt::skip]
const SCALED: &[(&str, &str)] = &[
    ("mul.f32 t, a, b; mul.f32 d, t, 0f40000000; st.global.f32 [o], d;", "Mul MulScaleUp"),
    ("mul.f32 t, a, b; mul.rn.f32 d, 0f3E000000, t; st.global.f32 [o], d;", "Mul MulScaleUp"),
    ("mul.f32 t, a, b; mov.f32 u, 0f41000000; mul.sat.f32 d, t, u; st.global.f32 [o], d;", "Mul MulScaleUp"),
    ("mul.f32 t, a, b; div.full.f32 d, t, 0f40000000; st.global.f32 [o], d;", "Mul MulScaleDown"),
    ("mul.f32 t, a, b; mul.f32 d, t, 0f41800000; st.global.f32 [o], d;", "Mul Mul"),
    ("mul.f32 t, a, b; mul.f32 d, t, 0fC0000000; st.global.f32 [o], d;", "Mul Mul"),
    ("mul.f32 t, a, b; mul.rz.f32 d, t, 0f40000000; st.global.f32 [o], d;", "Mul Mul"),
    ("mul.rn.f32 t, a, b; mul.f32 d, t, 0f40000000; st.global.f32 [o], d;", "Mul Mul"),
    ("mul.sat.f32 t, a, b; mul.f32 d, t, 0f40000000; st.global.f32 [o], d;", "Mul Mul"),
    ("@q mul.f32 t, a, b; mul.f32 d, t, 0f40000000; st.global.f32 [o], d;", "Mul Mul"),
    ("mul.f32 t, a, b; @q mul.f32 d, t, 0f40000000; st.global.f32 [o], d;", "Mul MulScaleUp"),
    ("mul.f32 t, a, b; mul.f32 d, t, 0f40000000; st.global.v2.f32 [o], {d, t};", "Mul Mul"),
    ("mul.f32 t, a, b; mul.f32 d, t, 0f40000000; mul.f32 u, t, 0f3F000000; st.global.v2.f32 [o], {d, u};", "Mul Mul Mul"),
    ("mul.f32 t, a, b; mul.f32 d, t, 0f40000000; mul.f32 d, d, 0f40000000; st.global.f32 [o], d;", "Mul MulScaleUp Mul"),
    ("mul.f32 t, a, b; mul.f32 d, t, 0f40000000; add.f32 d, d, c; st.global.f32 [o], d;", "Mul Mul Fma"),
    ("mul.f32 t, a, b; mul.f32 d, t, 0f40000000; add.f32 u, d, c; st.global.v2.f32 [o], {d, u};", "Mul MulScaleUp Add"),
    ("mul.f32 t, a, b; @q bra end; mul.f32 d, t, 0f40000000; st.global.f32 [o], d; end:", "Mul MulScaleUp"),
    ("mul.f32 t, a, b; neg.f32 t, t; mul.f32 d, t, 0f40000000; st.global.f32 [o], d;", "Mul Neg Mul"),
    ("mul.f32 t, a, b; cvt.f32.f32 u, t; mul.f32 d, u, 0f3F000000; st.global.f32 [o], d;", "Mul Convert MulScaleUp"),
    ("mul.ftz.f32 t, a, b; mul.f32 d, t, 0f40000000; st.global.f32 [o], d;", "Mul MulScaleUp"),
    ("mul.f32 t, a, b; mov.f32 a, c; mul.f32 d, t, 0f40000000; st.global.v2.f32 [o], {d, a};", "KeepingMul MulScaleUp"),
    ("div.full.f32 t, a, b; mul.f32 d, t, 0f3F000000; st.global.f32 [o], d;", "KeepingDiv MulScaleUp"),
    ("rcp.approx.f32 t, a; mul.ftz.f32 d, t, 0f3F000000; st.global.f32 [o], d;", "KeepingRcp MulScaleUp"),
    ("add.f32 t, a, b; mul.f32 d, t, 0f40000000; st.global.f32 [o], d;", "Add Mul"),
    ("fma.rn.f32 t, a, b, c; mul.f32 d, t, 0f40000000; st.global.f32 [o], d;", "Fma Mul"),
    ("mul.f64 w, x, y; mul.f64 x, w, 0d4000000000000000; st.global.f64 [o], x;", "Mul Mul"),
    ("mul.f32 t, a, b; cvt.ftz.f64.f32 w, t; st.global.f64 [o], w;", "KeepingMul Convert"),
    ("mul.f32 t, a, b; cvt.ftz.f64.f32 w, t; st.global.f64 [o], w; st.global.f32 [o+8], t;", "Mul Convert"),
];

/// Reciprocals of fast reciprocals and of powers.
#[rustfmt::skip]
const INVERSES: &[(&str, &str)] = &[
    ("ex2.approx.ftz.f32 t, a; rcp.approx.ftz.f32 d, t; st.global.f32 [o], d;", "Ex2Approx InverseEx2Approx"),
    ("ex2.approx.ftz.f32 t, a; rcp.approx.ftz.f32 d, t; st.global.v2.f32 [o], {d, t};", "Ex2Approx RcpApprox"),
    ("ex2.approx.ftz.f32 t, a; @q bra end; rcp.approx.ftz.f32 d, t; st.global.f32 [o], d; end:", "Ex2Approx InverseEx2Approx"),
    ("ex2.approx.ftz.f32 t, a; mov.f32 u, t; rcp.approx.ftz.f32 d, u; st.global.f32 [o], d;", "Ex2Approx InverseEx2Approx"),
    ("ex2.approx.f32 t, a; rcp.approx.ftz.f32 d, t; st.global.f32 [o], d;", "Ex2Approx RcpApprox"),
    ("ex2.approx.ftz.f32 t, a; rcp.approx.f32 d, t; st.global.f32 [o], d;", "Ex2Approx RcpApprox"),
    ("@q ex2.approx.ftz.f32 t, a; rcp.approx.ftz.f32 d, t; st.global.f32 [o], d;", "Ex2Approx RcpApprox"),
    ("ex2.approx.ftz.f32 t, a; neg.ftz.f32 t, t; rcp.approx.ftz.f32 d, t; st.global.f32 [o], d;", "Ex2Approx Neg RcpApprox"),
    ("ex2.approx.ftz.f32 t, a; div.full.ftz.f32 d, c, t; st.global.f32 [o], d;", "Ex2Approx DivFull"),
    ("ex2.approx.ftz.f32 t, a; div.approx.ftz.f32 d, c, t; st.global.f32 [o], d;", "Ex2Approx MulInverseEx2"),
    ("ex2.approx.ftz.f32 t, a; div.approx.ftz.f32 d, t, t; st.global.f32 [o], d;", "Ex2Approx DivApprox"),
    ("ex2.approx.ftz.f32 t, a; div.approx.ftz.f32 d, c, t; add.ftz.f32 d, d, b; st.global.f32 [o], d;", "Ex2Approx KeepingInverse Fma"),
    ("ex2.approx.ftz.f32 a, a; rcp.approx.ftz.f32 d, a; st.global.f32 [o], d;", "KeepingOperand InverseEx2Approx"),
    ("rcp.approx.ftz.f32 t, a; rcp.approx.ftz.f32 d, t; st.global.f32 [o], d;", "RcpApprox"),
    ("rcp.approx.ftz.f32 t, a; rcp.approx.ftz.f32 d, t; st.global.v2.f32 [o], {d, t};", "RcpApprox"),
    ("rcp.approx.ftz.f32 t, a; rcp.approx.ftz.f32 d, t; rcp.approx.ftz.f32 d, d; st.global.f32 [o], d;", "RcpApprox RcpApprox"),
    ("rcp.approx.ftz.f32 a, a; rcp.approx.ftz.f32 d, a; st.global.f32 [o], d;", "KeepingOperand"),
    ("rcp.approx.ftz.f32 t, a; div.approx.ftz.f32 d, c, t; add.ftz.f32 d, d, b; st.global.f32 [o], d;", "RcpApprox Mul Fma"),
    ("rcp.approx.ftz.f32 t, a; div.approx.f32 d, c, t; st.global.f32 [o], d;", "RcpApprox DivApprox"),
    ("rcp.approx.ftz.f32 t, a; neg.f32 t, t; rcp.approx.ftz.f32 d, t; st.global.f32 [o], d;", "RcpApprox Neg RcpApprox"),
    ("rcp.approx.f32 t, a; rcp.approx.ftz.f32 d, t; st.global.f32 [o], d;", "RcpApprox RcpApprox"),
    ("div.approx.ftz.f32 t, b, a; rcp.approx.ftz.f32 d, t; st.global.f32 [o], d;", "DivApprox RcpApprox"),
];

#[test]
fn what_is_joined_is_what_the_assembler_joins() {
    for (body, expected) in [CASES, QUOTIENTS, CONSTANTS, COPIES, SCALED, INVERSES].concat() {
        assert_eq!(shape("sm_90a", body), expected, "{body}");
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
        Op::Float(FloatOp::Binary { a, b, .. } | FloatOp::Ternary { a, b, .. }) => (a, b),
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
    assert_eq!(program.contractions_from(pc(1)).map(|contraction| contraction.second).collect::<Vec<_>>(), [pc(3), pc(4)]);
    let given = |taker| program.contraction_into(taker).map(|contraction| contraction.first);
    assert_eq!((given(pc(3)), given(pc(4))), (Some(pc(1)), Some(pc(1))));
    assert_eq!(program.contractions.len(), 2);
}
