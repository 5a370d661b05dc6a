//! From text to program: what is wrong with a module, where its variables lie and what is in them, and that every program holds
//! together.
//!
//! `fixtures/sema` holds modules with mistakes; after each wrong line stands ` //= ` and what must be said of it, by column. The
//! vendor's assembler refuses each of these lines too, but for `limits.ptx`. `PTXDBG_BLESS=1` writes what is said into the files,
//! to be read before it is kept.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod verify;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ptxdbg::base::{Diagnostic, Sources};
use ptxdbg::program::{
    CallArg, CallId, CallTarget, ControlOp, Function, MoveOp, Op, Param, ParamStorage, Program, Register, Slot, Variable, map,
};
use ptxdbg::sema;

/// The program of a module with this text after the directives at its head.
#[track_caller]
fn program(text: &str) -> Arc<Program> {
    let mut sources = Sources::default();
    let (program, diags) = sema::load(&mut sources, "test.ptx", format!(".version 9.0\n.target sm_90a\n.address_size 64\n{text}"));
    assert_eq!(diags, []);
    let program = program.unwrap();
    assert_eq!(verify::problems(&program), Vec::<String>::new());
    program
}

/// What is wrong with a module with this text after the directives at its head.
fn errors(text: &str) -> Vec<Diagnostic> {
    let mut sources = Sources::default();
    let (program, diags) = sema::load(&mut sources, "test.ptx", format!(".version 9.0\n.target sm_90a\n.address_size 64\n{text}"));
    assert!(program.is_none());
    diags
}

fn variable<'p>(program: &'p Program, name: &str) -> &'p Variable {
    program.variables.iter().find(|variable| &*variable.name == name).unwrap()
}

fn function<'p>(program: &'p Program, name: &str) -> &'p Function {
    &program.functions[program.function(name).unwrap().index()]
}

/// All files with this extension below `folder` of the fixtures, in order.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == extension));
    files.sort();
    assert!(!files.is_empty());
    files
}

/// `text` with what is said of each line after it.
fn annotated(text: &str) -> String {
    let mut sources = Sources::default();
    let (_, diags) = sema::load(&mut sources, "test.ptx", text);
    let mut lines: Vec<String> = text.lines().map(ToString::to_string).collect();
    for diag in &diags {
        let at = sources.position(diag.span);
        let line = &mut lines[at.line as usize - 1];
        let _ = write!(line, " //= {}: {}[{}]: {}", at.column, diag.severity.word(), diag.code, diag.message);
        for label in &diag.labels {
            let _ = write!(line, "; line {}: {}", sources.position(label.span).line, label.text);
        }
        let _ = write!(line, "{}", diag.help.as_ref().map_or(String::new(), |help| format!(" ({help})")));
    }
    lines.join("\n") + "\n"
}

#[test]
fn mistakes_are_reported_where_they_are() {
    for path in files("sema", "ptx") {
        let expected = std::fs::read_to_string(&path).unwrap();
        let bare: String = expected.lines().map(|line| line.split(" //= ").next().unwrap().to_string() + "\n").collect();
        let found = annotated(&bare);
        if std::env::var_os("PTXDBG_BLESS").is_some() {
            std::fs::write(&path, &found).unwrap();
        } else {
            assert_eq!(found, expected, "{}", path.display());
        }
    }
}

#[test]
fn what_the_assembler_accepts_is_accepted_and_holds_together() {
    for folder in ["hardware", "programs", "corpus", "faults", "small"] {
        for path in files(folder, "ptx") {
            let mut sources = Sources::default();
            let (program, diags) = sema::load_file(&mut sources, &path).unwrap();
            assert_eq!(diags, [], "{}", path.display());
            assert_eq!(verify::problems(&program.unwrap()), Vec::<String>::new(), "{}", path.display());
        }
    }
}

/// Bytes that the vendor's assembler lays down for these initializers.
#[test]
fn initial_bytes_are_the_assemblers() {
    let cases = [
        (".b8 $ = 0.1", "9a"),
        (".b16 $ = 0.1", "9a99"),
        (".b16 $ = 0f3FC01234", "3412"),
        (".b32 $ = 1.5", "0000c03f"),
        (".b32 $ = 0d3ff8000000000000", "0000c03f"),
        (".b32 $ = 1e300", "0000807f"),
        (".b32 $ = 0d7FF8000000000001", "0000c07f"),
        (".b64 $ = 1.5", "000000000000f83f"),
        (".b64 $ = 0f3FC00000", "0000c03f00000000"),
        (".b128 $ = -1", "ffffffffffffffff0000000000000000"),
        (".f32 $ = 0d3ff8000000000001", "0000c03f"),
        (".f32 $ = 0.1", "cdcccc3d"),
        (".f32 $ = -0.0", "00000080"),
        (".f32 $ = 16777217.0", "0000804b"),
        (".f32 $ = 0f7FA00001", "0100a07f"),
        (".f32 $ = 0d7FF4000000000001", "0000e07f"),
        (".f64 $ = 0f3FC00000", "0000c03f00000000"),
        (".f64 $ = 1.5*2.0-0.25", "0000000000000640"),
        (".f64 $ = 1.0/3.0", "555555555555d53f"),
        (".b8 $[5] = {1,2,3}", "010203"),
        (".b16 $[2][3] = {{1,2},{3}}", "0100020000000300"),
        (".v2 .b16 $[2] = {{1,2},{3,4}}", "0100020003000400"),
        (".b8 $ = 300", "2c"),
        (".u8 $[2] = {0xFF(1000 + 546), 0xFF00(131187)}", "0a00"),
        (".u16 $[2] = {0xFF0000(0x123456), 0xFF(-1)}", "1200ff00"),
        (".u64 $ = 0x123456789abcdef01", "01efcdab89674523"),
    ];
    for (declaration, bytes) in cases {
        let program = program(&format!(".global {};", declaration.replace('$', "v")));
        let found: String = variable(&program, "v").init.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, bytes, "{declaration}");
    }
}

/// Values that the vendor's assembler computes.
#[test]
fn constant_expressions_are_the_assemblers() {
    let cases: [(&str, u64); 37] = [
        ("1<<64", 1),
        ("1<<63", 1 << 63),
        ("1<<-1", 1 << 63),
        ("1<<65", 2),
        ("-8>>1", -4_i64 as u64),
        ("-8>>65", -4_i64 as u64),
        ("0x8000000000000000>>1", 1 << 62),
        ("-8/3", -2_i64 as u64),
        ("-8/3U", 0x5555_5555_5555_5552),
        ("-7 % 4", 1),
        ("10 % -3", 10),
        ("-1 < 1U", 0),
        ("-1 < 1", 1),
        ("18446744073709551615", u64::MAX),
        ("9223372036854775807+1", 1 << 63),
        ("9223372036854775808 > 0", 1),
        ("-9223372036854775808 < 0", 0),
        ("5 && 0", 0),
        ("5 || 0", 1),
        ("!5", 0),
        ("~5", !5),
        ("-0x8000000000000000 / -1", 0),
        ("(.u64) -8 >> 1", 0x7fff_ffff_ffff_fffc),
        ("(.s64) 0xFFFFFFFFFFFFFFFF >> 1", u64::MAX),
        ("(1 ? -2 : 2U) >> 1", u64::MAX),
        ("1.5 > 1.0", 1),
        ("1+2*3", 7),
        ("7 - 2 - 1", 4),
        ("8 / 2 / 2", 2),
        ("1 << 2 + 1", 8),
        ("6 & 3 == 3", 0),
        ("1 | 2 ^ 3 & 4", 3),
        ("-1U", u64::MAX),
        ("WARP_SZ*2", 64),
        ("(-8 >> 1U)", -4_i64 as u64),
        ("(-8U >> 1)", 0x7fff_ffff_ffff_fffc),
        ("(-1 == 0xFFFFFFFFFFFFFFFF)", 1),
    ];
    for (expression, value) in cases {
        let program = program(&format!(".global .u64 v = {expression};"));
        assert_eq!(variable(&program, "v").init, value.to_le_bytes(), "{expression}");
    }
    // The assembler itself dies of this one; arithmetic wraps.
    assert_eq!(variable(&program(".global .u64 v = (.s64)0x8000000000000000 / -1;"), "v").init, (1_u64 << 63).to_le_bytes());
}

#[test]
fn initializers_hold_addresses() {
    let program = program(
        ".global .u32 x[4]; .const .u32 c; .func f() { ret; }
        .global .u64 a[3] = {x, x+8, generic(x)+4};
        .global .u64 b[2] = {c, generic(c)};
        .global .u64 d = f;
        .global .u8 e[8] = {0xFF(x), 0xFF00(x), 0xFF0000(x), 0xFF000000(x), 0xFF00000000(x), 0xFF0000000000(x)};",
    );
    let words = |name: &str| -> Vec<u64> {
        variable(&program, name).init.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
    };
    let (x, c) = (variable(&program, "x").location.address, variable(&program, "c").location.address);
    assert_eq!(words("a"), [x, x + 8, x + 4]);
    assert_eq!(words("b"), [c, map::MAP64.const_window + c]);
    assert_eq!(words("d"), [map::function_address(&map::MAP64, 0)]);
    assert_eq!(variable(&program, "e").init[..6], x.to_le_bytes()[..6]);
}

#[test]
fn global_variables_lie_apart() {
    let program = program(".global .b8 a[100]; .global .align 2048 .b8 b[1]; .global .u32 c;");
    let places: Vec<(u64, u64)> = program.variables.iter().map(|variable| (variable.location.address, variable.bytes)).collect();
    assert_eq!(places, [(0x7f10_0000_0000, 100), (0x7f10_0000_1800, 1), (0x7f10_0000_2a00, 4)]);
}

#[test]
fn a_kernel_pays_for_the_shared_memory_it_reaches() {
    let program = program(
        ".shared .align 16 .b8 both[48];
        .shared .b32 unused[1000];
        .func inner() { .shared .b8 i[32]; ret; }
        .func outer() { call inner; ret; }
        .entry one() { .shared .b8 o[8]; .reg .b64 %d; mov.u64 %d, both; call outer; ret; }
        .entry two() { .shared .b8 t[24]; .reg .b64 %d; mov.u64 %d, both; ret; }
        .entry three() { .shared .b8 h[24]; ret; }
        .entry four() { ret; }",
    );
    let address = |name: &str| variable(&program, name).location.address - map::SHARED_RESERVED;
    assert_eq!(["both", "i", "o", "t", "h"].map(address), [0, 48, 80, 48, 0]);
    assert_eq!(["one", "two", "three", "four", "inner"].map(|name| function(&program, name).shared_bytes), [88, 72, 24, 0, 0]);
}

#[test]
fn indirect_calls_reach_every_function_whose_address_is_taken() {
    let program = program(
        ".func taken() { .shared .b8 s[64]; ret; }
        .func other() { .shared .b8 s[4]; ret; }
        .global .u64 table = taken;
        .entry k(.param .u64 p) { .reg .b64 %d; ld.param.u64 %d, [p]; proto: .callprototype _ (); call %d, (), proto; ret; }",
    );
    assert_eq!(function(&program, "k").shared_bytes, 64);
}

#[test]
fn dynamic_shared_memory_follows_the_static() {
    let program = program(
        ".extern .shared .align 32 .b8 dyn[];
        .func use() { .reg .b64 %d; mov.u64 %d, dyn; ret; }
        .entry alone() { .shared .b8 a[40]; .reg .b64 %d; mov.u64 %d, dyn; ret; }
        .entry small() { .shared .b8 b[4]; call use; ret; }
        .entry large() { .shared .b8 c[100]; call use; ret; }
        .entry none() { .shared .b8 d[5]; ret; }",
    );
    assert_eq!(["alone", "small", "large", "none"].map(|name| function(&program, name).shared_bytes), [64, 128, 128, 5]);
    let start = |name: &str| {
        let first = program.code[function(&program, name).code.start as usize].op;
        let Op::Move(MoveOp::Move { a, .. }) = first else { panic!("{first:?}") };
        let ptxdbg::program::SrcKind::Const(index) = a.kind() else { panic!("{a:?}") };
        program.consts64[index as usize] - map::SHARED_RESERVED
    };
    assert_eq!([start("alone"), start("use")], [64, 128]);
}

#[test]
fn parameters_have_their_places() {
    let program = program(
        ".func (.param .b64 r) f(.reg .b32 a, .param .align 8 .b8 b[12], .reg .pred c) { .local .align 16 .b8 l[4]; ret; }
        .entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20], .param .u64 .ptr .global .align 8 d) { ret; }",
    );
    let places = |params: &[Param]| params.iter().map(|param| param.storage).collect::<Vec<_>>();
    let (f, k) = (function(&program, "f"), function(&program, "k"));
    let bank = ptxdbg::program::Bank::B32;
    let pred = ptxdbg::program::Bank::Pred;
    assert_eq!(places(&f.results), [ParamStorage::Frame(0)]);
    assert_eq!(places(&f.params), [ParamStorage::Register(bank, Slot(0)), ParamStorage::Frame(8), ParamStorage::Register(pred, Slot(0))]);
    assert_eq!((variable(&program, "l").location.address, f.frame_bytes), (32, 48));
    assert_eq!(places(&k.params), [0, 8, 16, 40].map(ParamStorage::Kernel));
    assert_eq!((k.param_bytes, k.params[3].pointer), (48, Some(ptxdbg::isa::Space::Global)));
}

#[test]
fn every_register_that_is_named_has_slots_of_its_own() {
    let program = program(
        ".entry k() { .reg .b32 %r<9>; .reg .v2 .b32 %v<2>; { .reg .b16 %s; mov.b16 %s, 1; } { .reg .b16 %s; mov.b16 %s, 2; }
         .reg .b64 %d; .reg .b128 %q<2>; mov.b64 %d, 1; mov.b128 %q1, {%d, %d}; mov.b32 %r7, %r2; mov.b32 %v1.y, %r7; ret; }",
    );
    let k = function(&program, "k");
    let place = |register: &Register, number: u32| k.placement.slot(register.bank, number);
    let all = k.registers.iter().flat_map(|register| register.components().map(move |(name, number)| (name, place(register, number))));
    let named: Vec<(String, u32)> = all.filter_map(|(name, slot)| Some((name, slot?.0))).collect();
    let expected = [("%r2", 3), ("%r7", 2), ("%v1.y", 4), ("%s", 0), ("%s", 1), ("%d", 0), ("%q1", 1)];
    assert_eq!(named, expected.map(|(name, slot)| (name.to_string(), slot)));
    assert_eq!((k.slots.b32, k.slots.b64, k.slots.pred), (5, 3, 0));
}

#[test]
fn calls_say_how_arguments_travel() {
    let program = program(
        ".func (.reg .u32 o) f(.reg .u32 a, .reg .f32 b) { mov.u32 o, a; ret; }
        .func (.param .b32 o) g(.param .b32 a, .param .align 8 .b8 b[16]) { ret; }
        .func alias(.reg .pred p); .func real(.reg .pred p) { ret; } .alias alias, real;
        .entry k() {
            .reg .u32 %r<3>; .reg .u64 %d; .reg .pred %p; .param .b32 x; .param .align 8 .b8 y[16];
            call (%r1), f, (%r2, 0f3F800000);
            call (_), g, (7, y);
            call (x), f, (x, 1.0);
            list: .calltargets g;
            call.uni (x), %d, (%r1, y), list;
            call alias, (%p);
            ret;
        }",
    );
    let id = |name: &str| program.function(name).unwrap();
    let targets: Vec<_> = program.calls.iter().map(|call| call.target.clone()).collect();
    assert_eq!(targets[..3], [id("f"), id("g"), id("f")].map(CallTarget::Direct));
    assert!(matches!(&targets[3], CallTarget::Indirect { wide: true, candidates, .. } if *candidates == [id("g")]));
    assert_eq!(targets[4], CallTarget::Direct(id("real")));
    let text = |call: u32| format!("{:?} <- {:?}", program.calls[CallId(call)].results, program.calls[CallId(call)].args);
    assert_eq!(text(0), "[Value(B32, r0)] <- [Value(B32, r1), Value(B32, c0)]");
    assert_eq!(text(1), "[Ignored] <- [Value(B32, c1), Frame { offset: 8, bytes: 16 }]");
    assert_eq!(text(2), "[Frame { offset: 0, bytes: 4 }] <- [Frame { offset: 0, bytes: 4 }, Value(B32, c0)]");
    assert_eq!(program.consts32, [1.0_f32.to_bits(), 7]);
    assert!(matches!(program.calls[CallId(4)].args[..], [CallArg::Pred(_)]));
}

#[test]
fn a_function_without_a_body_stops_the_run_that_calls_it() {
    let program = program(
        ".extern .func (.param .b32 r) other(.param .b64 a); .entry k() { .param .b32 r; .param .b64 a; call (r), other, (a); ret; }",
    );
    let reason = "function 'other' is called, but this module only declares it, and the device runtime has none like it";
    assert_eq!(program.unsupported.to_vec(), [reason]);
    assert!(program.calls.is_empty());
}

#[test]
fn a_function_of_the_device_runtime_is_called_as_it_is_declared_there() {
    let program = program(
        ".extern .func (.param .b64 r) malloc(.param .b64 n); .extern .func free(.param .b64 p, .param .b64 q);
        .entry k() { .param .b64 a; call (a), malloc, (a); call free, (a, a); ret; }",
    );
    assert!(matches!(program.code[0].op, Op::Control(ControlOp::SystemCall { .. })), "{:?}", program.code[0]);
    assert!(matches!(program.code[1].op, Op::Unsupported { .. }), "{:?}", program.code[1]);
}

#[test]
fn lines_of_the_source_language_are_kept() {
    let program = program(".file 1 \"a.cu\"\n.entry k() {\n.loc 1 7 3\nexit;\n{ .loc 1 8 5\n }\nexit;\n}");
    let lines: Vec<_> = program.source_lines.iter().map(|line| line.map(|line| (line.file, line.line, line.column))).collect();
    assert_eq!(lines, [Some((1, 7, 3)), Some((1, 8, 5)), Some((1, 8, 5))]);
    assert_eq!(program.source_files, [(1, "a.cu".to_string())]);
}

#[test]
fn an_unknown_name_is_reported_once_in_a_function() {
    let kernel = |name: &str| format!(".entry {name}() {{ .reg .b32 %r<2>; {} ret; }}", "add.u32 %r1, %x, %x;\n".repeat(50));
    let diags = errors(&(kernel("a") + &kernel("b")));
    let messages: Vec<&str> = diags.iter().map(|diag| diag.message.as_str()).collect();
    assert_eq!(messages, ["unknown register '%x'"; 2]);
}

#[test]
fn names_lost_in_an_unreadable_line_are_not_missed() {
    let diags = errors(".entry k() { .reg b32 %r<2>; mov.u32 %r1, 5; .reg .f33 %f; ret; }");
    let codes: Vec<&str> = diags.iter().map(|diag| diag.code).collect();
    assert_eq!(codes, ["syntax", "type"]);
}

#[test]
fn large_numbers_and_depths_are_errors_and_no_harm() {
    let nested = format!(".entry k() {}{}", "{".repeat(100_000), "}".repeat(100_000));
    let inner = format!(".global .u64 v = {}1;", "-".repeat(100_000));
    let dimensions = format!(".global .b8 v{};", "[2]".repeat(100_000));
    let texts = [
        ".entry k() { .reg .b32 %r<18446744073709551615>; ret; }".to_string(),
        ".entry k() { .reg .b64 %a<600000>; .reg .b128 %b<600000>; ret; }".to_string(),
        ".entry k() { .param .b8 x[9223372036854775807]; .local .b8 y[18446744073709551615]; ret; }".to_string(),
        ".func f(.param .b8 x[9223372036854775807]) { ret; }".to_string(),
        ".shared .b8 x[18446744073709551615]; .entry k() { .reg .b64 %d; mov.u64 %d, x; ret; }".to_string(),
        ".global .align 2147483648 .b8 x[68719476737];".to_string(),
        nested,
        inner,
        dimensions,
    ];
    for text in texts {
        assert!(errors(&text).iter().any(Diagnostic::is_error), "{}", &text[..60]);
    }
}

#[test]
fn files_that_are_no_text_are_named() {
    let folder = std::env::temp_dir().join(format!("ptxdbg-sema-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let message = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        let error = sema::load_file(&mut Sources::default(), &path).unwrap_err();
        error.to_string().replace(&*path.to_string_lossy(), name)
    };
    assert_eq!(
        message("a.cubin", b"\x7fELF\x02\x01"),
        "a.cubin is not a text file: byte 0x7f at offset 0; is it a cubin or an executable? 'cuobjdump -ptx' may find PTX in it"
    );
    assert_eq!(message("b.ptx", b".version 9.0 // \xff"), "b.ptx is not a text file: byte 0xff at offset 16; PTX is UTF-8 text");
    assert_eq!(message("c.ptx", b".version\0 9.0"), "c.ptx is not a text file: byte 0x00 at offset 8; PTX is UTF-8 text");
    // What ends a string of C is no part of the text.
    let path = folder.join("d.ptx");
    std::fs::write(&path, b".version 9.0\n.target sm_90\n.entry k () { ret; }\n\0\0\n").unwrap();
    assert!(sema::load_file(&mut Sources::default(), &path).unwrap().0.is_some());
    let missing = sema::load_file(&mut Sources::default(), &folder.join("missing.ptx")).unwrap_err();
    assert!(missing.to_string().starts_with("cannot read "));
    std::fs::remove_dir_all(&folder).unwrap();
}
