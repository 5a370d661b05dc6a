//! What the elements of arrays are that a compiler declares by the byte: what the source declares.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test that cannot read its fixtures fails")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ptxdbg::base::{Diagnostic, Sources};
use ptxdbg::debug::arrays::{Inference, Inferred, TypedMemory, infer, parse_array_type, type_words, why};
use ptxdbg::isa::{ScalarType, Space};
use ptxdbg::program::{Program, short_name};

/// Types of CUDA: what their parts are, and how many they have.
const TYPES: &[(&str, &str, u64)] = &[
    ("float", "f32", 1),
    ("float2", "f32", 2),
    ("float4", "f32", 4),
    ("double", "f64", 1),
    ("half", "f16", 1),
    ("half2", "f16", 2),
    ("__nv_fp8_e4m3", "e4m3", 1),
    ("bool", "u8", 1),
    ("char", "s8", 1),
    ("__nv_bfloat16", "bf16", 1),
    ("int", "s32", 1),
    ("int4", "s32", 4),
    ("unsigned", "u32", 1),
    ("u32", "u32", 1),
    ("long long", "s64", 1),
    ("short", "s16", 1),
    ("unsigned short", "u16", 1),
    ("signed char", "s8", 1),
    ("unsigned char", "u8", 1),
    ("u8", "u8", 1),
];

fn fixture(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path)).unwrap()
}

fn program(text: &str) -> Arc<Program> {
    let (program, diagnostics) = ptxdbg::sema::load(&mut Sources::default(), "arrays.ptx", text);
    assert!(!diagnostics.iter().any(Diagnostic::is_error), "{diagnostics:#?}");
    program.unwrap()
}

/// `f32[16][16]` of `float As[16][16]`.
fn declared(declaration: &str) -> String {
    let (base, declarator) = declaration.rsplit_once(' ').unwrap();
    let (_, ty, parts) = TYPES.iter().find(|row| row.0 == base).unwrap();
    let extents = &declarator[declarator.find('[').unwrap()..];
    format!("{ty}{extents}{}", if *parts > 1 { format!("[{parts}]") } else { String::new() })
}

/// What accesses show the variable called `name` of a function, or of the module, to be, and whether its sign shows.
fn shown(program: &Program, function: &str, name: &str) -> (String, bool) {
    let known = infer(program);
    let owner = |id: Option<ptxdbg::program::FuncId>| id.map_or("-".to_string(), |id| program.functions[id.index()].name.to_string());
    let variables = || known.iter().map(|(id, known)| (&program.variables[id.index()], known));
    let is_it = |name: &str, function: &str, variable: &ptxdbg::program::Variable| {
        short_name(&variable.name) == name && owner(variable.function) == function
    };
    let found = variables().find(|(variable, _)| is_it(name, function, variable));
    let (variable, known) = found.unwrap_or_else(|| panic!("{function} has no array '{name}'"));
    match known {
        Inference::Typed(Inferred { ty, is_sign_known, .. }) => {
            (type_words(ty.ty, &ty.shape, variable.bytes == 0 && variable.location.space == Space::Shared), *is_sign_known)
        }
        Inference::Bytes(_) => ("bytes".to_string(), true),
    }
}

#[test]
fn accesses_show_what_the_source_declares() {
    let table = fixture("typed_arrays/types.txt");
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [module, function, declaration, rest @ ..] = &cells[..] else { panic!("{row}") };
        let source = fixture(&format!("{module}.cu"));
        let name = declaration.find('[').unwrap_or(declaration.len());
        let (base, declarator) = declaration.split_at(declaration[..name].rfind(' ').unwrap());
        let is_there = |line: &str| line.contains(base) && line.contains(declarator.trim());
        assert!(source.lines().any(is_there), "{module}.cu does not declare {declaration}");
        let name = declarator.trim().split('[').next().unwrap();
        let (name, wanted) = match rest {
            [shown, _] => shown.split_once(' ').map_or((name, (*shown).to_string()), |(name, shown)| (name, shown.to_string())),
            _ => (name, declared(declaration)),
        };
        let program = program(&fixture(&format!("{module}.ptx")));
        let (shown, is_sign_known) = shown(&program, function, name);
        // Integers whose sign does not show are taken to have one.
        let agrees = shown == wanted || !is_sign_known && shown == wanted.replacen('u', "s", 1);
        if !agrees {
            wrong.push(format!("{row}: {shown}, not {wanted}"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

/// The module of one kernel that uses `.shared .align 16 .b8 a[1024]`.
fn one(body: &str) -> Arc<Program> {
    program(&format!(
        ".version 8.0 .target sm_90 .address_size 64 .entry k(.param .u64 out) {{
         .shared .align 16 .b8 a[1024]; .shared .align 16 .b8 other[64];
         .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<3>;
         mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, a; {body} ret; }}"
    ))
}

#[track_caller]
fn assert_shows(body: &str, wanted: &str) {
    assert_eq!(shown(&one(body), "k", "a").0, wanted, "{body}");
}

#[test]
fn strides_of_indices_are_rows() {
    let column = "shl.b32 %r4, %r1, 2; add.s32 %r5, %r3, %r4;";
    assert_shows(&format!("{column} st.shared.f32 [%r5], %f1;"), "f32[256]");
    assert_shows(&format!("{column} shl.b32 %r6, %r2, 6; add.s32 %r7, %r5, %r6; st.shared.f32 [%r7], %f1;"), "f32[16][16]");
    assert_shows("mad.lo.s32 %r4, %r2, 16, %r1; shl.b32 %r4, %r4, 2; add.s32 %r5, %r3, %r4; ld.shared.f32 %f1, [%r5];", "f32[16][16]");
    // Blocks of rows that only some accesses step by, and blocks of columns, are no dimensions.
    let tiled = "shl.b32 %r6, %r2, 8; shl.b32 %r7, %r2, 6; add.s32 %r8, %r5, %r7; add.s32 %r9, %r8, %r6;";
    assert_shows(&format!("{column} {tiled} st.shared.f32 [%r9], %f1;"), "f32[4][4][16]");
    assert_shows(&format!("{column} {tiled} st.shared.f32 [%r9], %f1; ld.shared.f32 %f2, [%r8];"), "f32[16][16]");
    // A step of a loop is no row.
    assert_shows(
        &format!("{column} L: st.shared.f32 [%r5], %f1; add.s32 %r5, %r5, 128; setp.lt.u32 %p1, %r5, 2048; @%p1 bra L;"),
        "f32[256]",
    );
    // Rows that do not fill the array, and rows that do not nest.
    assert_shows(&format!("{column} mad.lo.s32 %r7, %r2, 48, %r5; st.shared.f32 [%r7], %f1;"), "f32[256]");
    assert_shows(
        &format!(
            "{column} mad.lo.s32 %r7, %r2, 64, %r5; st.shared.f32 [%r7], %f1; mad.lo.s32 %r8, %r2, 96, %r5; st.shared.f32 [%r8], %f1;"
        ),
        "f32[16][16]",
    );
}

#[test]
fn untyped_words_are_what_registers_are_taken_for() {
    let at = "shl.b32 %r4, %r1, 2; add.s32 %r5, %r3, %r4;";
    assert_shows(&format!("{at} ld.shared.b32 %r6, [%r5]; add.f32 %f1, %f2, %f3; mov.b32 %r7, %r6; add.rn.f32 %r8, %r7, %r7;"), "f32[256]");
    assert_shows(&format!("{at} ld.shared.b32 %r6, [%r5]; setp.lt.s32 %p1, %r6, 3;"), "s32[256]");
    assert_shows(&format!("{at} ld.shared.b32 %r6, [%r5]; setp.lt.u32 %p1, %r6, 3;"), "u32[256]");
    assert_shows(&format!("{at} ld.shared.b32 %r6, [%r5]; st.shared.b32 [%r5+4], %r6;"), "b32[256]");
    // A zero is one of every type.
    assert_shows(&format!("{at} mov.u32 %r9, 0; st.shared.u32 [%r5], %r9; add.s32 %r9, %r9, 1; ld.shared.f32 %f1, [%r5];"), "f32[256]");
}

#[test]
fn accesses_that_disagree_leave_bytes() {
    let at = "shl.b32 %r4, %r1, 2; add.s32 %r5, %r3, %r4;";
    assert_shows(&format!("{at} st.shared.f32 [%r5], %f1; ld.shared.u8 %h1, [%r5];"), "bytes");
    assert_shows(&format!("{at} st.shared.f32 [%r5], %f1; atom.shared.add.u32 %r6, [%r5], 1;"), "bytes");
    assert_shows(&format!("{at} st.shared.f32 [%r5], %f1; ld.shared.s16 %h1, [%r5+2];"), "bytes");
    // An address that is stored, or handed to code that is not here, may be used for anything.
    assert_shows(&format!("{at} st.shared.f32 [%r5], %f1; st.shared.u32 [other], %r5;"), "bytes");
    assert_shows(&format!("{at} st.shared.f32 [%r5], %f1; atom.shared.exch.b32 %r6, [other], %r5;"), "bytes");
    assert_shows(&format!("{at} st.shared.f32 [%r5], %f1; atom.shared.add.f32 %f2, [%r5], %f1;"), "f32[256]");
    // Half of the accesses are through another variable's register.
    assert_shows(
        &format!("{at} st.shared.f32 [%r5], %f1; mov.u32 %r6, other; selp.u32 %r7, %r5, %r6, %p1; ld.shared.f64 %rd1, [%r7];")
            .replace("f64 %rd1", "u64 %rd1"),
        "f32[256]",
    );
    assert_shows("", "bytes");
    // A member of a structure that is only copied, and one that is not.
    let pair = "shl.b32 %r4, %r1, 3; add.s32 %r5, %r3, %r4; st.shared.f32 [%r5], %f1;";
    assert_shows(&format!("{pair} ld.shared.b32 %r6, [%r5+4]; st.shared.b32 [%r5+12], %r6;"), "bytes");
    assert_shows(&format!("{pair} ld.shared.b32 %r6, [%r5]; st.shared.b32 [%r5+8], %r6; ld.shared.f32 %f2, [%r5+4];"), "f32[128][2]");
    let pair = pair.replace("st.shared.f32 [%r5], %f1;", "ld.shared.v2.b32 {%r6, %r7}, [%r5]; add.rn.f32 %r6, %r6, %r6;");
    assert_shows(&format!("{pair} st.shared.v2.b32 [%r5], {{%r6, %r7}};"), "bytes");
    assert_shows(&format!("{pair} add.rn.f32 %r7, %r7, %r7;"), "f32[128][2]");
    // Words that are written byte by byte.
    assert_shows(&format!("{at} st.shared.b32 [%r5], %r6; ld.shared.b8 %h1, [%r5];"), "bytes");
}

#[test]
fn a_given_type_fills_the_variable() {
    let program = one("");
    let variable = &program.variables[0];
    let ty = |text: &str| parse_array_type(text, TypedMemory::of(variable, None)).map(|ty| type_words(ty.ty, &ty.shape, false));
    assert_eq!(ty("f32[16][16]").as_deref(), Ok("f32[16][16]"));
    assert_eq!(ty("float").as_deref(), Ok("f32[256]"));
    assert_eq!(ty("half[][32]").as_deref(), Ok("f16[16][32]"));
    assert_eq!(ty("unsigned char [4] [256]").as_deref(), Ok("u8[4][256]"));
    assert_eq!(parse_array_type("f64", TypedMemory::of(variable, None)).unwrap().ty, ScalarType::F64);
    for wrong in [
        "",
        "flaot",
        "f32[15][16]",
        "f32[0]",
        "f32[16][]",
        "f32[16",
        "f32 16",
        "pred",
        "f32[99999999999999999999]",
        "b8[1][1][1][1][1][1][1][1][1024]",
    ] {
        assert!(ty(wrong).is_err(), "{wrong}");
    }
    assert!(ty("f32[4611686018427387904][16]").is_err());
}

/// Modules are analysed when an array is first looked at; a module of usual size must not be felt.
#[test]
fn the_analysis_is_quick() {
    for module in ["programs/tile_reduce", "programs/sha256_crc", "compilers/nvcc_language_sm_90a", "programs/vm_calls"] {
        let program = program(&fixture(&format!("{module}.ptx")));
        let start = Instant::now();
        let known = infer(&program);
        assert!(start.elapsed() < Duration::from_millis(100), "{module}: {:?}", start.elapsed());
        assert!(known.iter().all(|(_, known)| !why(&program, known).is_empty()));
    }
}

/// What CUB keeps in shared memory is used anew by each of its steps.
#[test]
fn memory_that_is_used_anew_stays_bytes() {
    let program = program(&fixture("compilers/nvcc_block_sort_sm_86.ptx"));
    let known = infer(&program);
    let shared: Vec<_> = known.iter().filter(|(id, _)| program.variables[id.index()].location.space == Space::Shared).collect();
    assert!(matches!(shared[..], [(_, Inference::Bytes(_))]), "{shared:?}");
}
