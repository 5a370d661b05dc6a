//! Statements of `--asm`: accepted and refused as nvcc and ptxas 13.0.88 do, with the reason and the place; and what they compute.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use ptxdbg::base::{Diagnostic, Severity};
use ptxdbg::debug::asm::{check_asm, open_asm};
use ptxdbg::debug::open::Module;
use ptxdbg::debug::view::{CodeText, occupancies, source_place};
use ptxdbg::debug::{OpenError, RunOptions, run_case, summarize};
use ptxdbg::program::Pc;

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_string()).collect()
}

/// What is wrong with a statement: severity, code, the text at the place, the message.
fn judged(words: &[&str], values: &[&str]) -> Vec<(Severity, &'static str, String, String)> {
    let module = check_asm(&owned(words), &owned(values));
    let Module { program, sources, diagnostics } = module.unwrap_or_else(|error| panic!("{words:?}: {error:?}"));
    assert_eq!(program.is_none(), diagnostics.iter().any(Diagnostic::is_error), "{words:?}");
    let row = |found: &Diagnostic| (found.severity, found.code, sources.text(found.span).to_string(), found.message.clone());
    diagnostics.iter().map(row).collect()
}

/// The buffers at the end of a statement, as they are reported.
fn final_buffers(words: &[&str], values: &[&str]) -> Vec<String> {
    let opened = open_asm(&owned(words), &owned(values)).unwrap_or_else(|error| panic!("{words:?}: {error:?}")).opened;
    let case = &opened.plan.cases[0];
    let summary = summarize(case, run_case(&opened.program, case, &RunOptions::unwatched()).unwrap()).unwrap();
    assert!(summary.findings.is_empty(), "{words:?}: {:?}", summary.findings);
    summary.buffers.iter().map(|buffer| format!("{} {} {}", buffer.name, buffer.ty, buffer.values.join(" "))).collect()
}

/// Why a statement cannot be executed as it is called.
fn unusable(words: &[&str], values: &[&str]) -> Vec<(String, String)> {
    match open_asm(&owned(words), &owned(values)) {
        Err(OpenError::Launch(sources, errors)) => {
            errors.iter().map(|error| (sources.text(error.span).to_string(), error.message.clone())).collect()
        }
        other => panic!("{words:?} {values:?}: {other:?}"),
    }
}

/// A line is `+ STATEMENT`, or `- CODE STATEMENT` with the kind of our first error.
#[test]
fn verdicts_are_those_of_the_compiler() {
    let path = crate::common::fixtures().join("verdicts/inline_asm.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let mut counts = [0, 0];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (expected, statement) = match line.split_once(' ').unwrap() {
            ("+", statement) => (None, statement),
            (_, refused) => refused.split_once(' ').map(|(code, statement)| (Some(code), statement)).unwrap(),
        };
        let values: &[&str] = if statement.contains("\"C\"(type)") { &[".s32"] } else { &[] };
        let errors: Vec<_> = judged(&[statement], values).into_iter().filter(|found| found.0 == Severity::Error).collect();
        assert_eq!(errors.first().map(|error| error.1), expected, "{statement}: {errors:?}");
        counts[usize::from(expected.is_some())] += 1;
    }
    assert_eq!(counts, [46, 71]);
}

#[test]
fn errors_stand_at_their_place() {
    for (words, place, message) in [
        (&["asm(\"add.s32 %0, %1, %1;\" : \"=r\"(x) : \"r\"(3L));"][..], "3L", "'3L', long of 8 bytes"),
        (&["add.s32 %0, %1, %3;", "\"=r\"(x) : \"r\"(3), \"r\"(4)"], "%3", "the last one is %2"),
        (&["add.s32 %0, %1, %2;", "\"=rl\"(x) : \"r\"(3), \"r\"(4)"], "\"=rl\"", "several constraint letters"),
        (&["add.s32 %0, %1;", "=r, r=3"], "add.s32 %0, %1;", "takes 3 operands, not 2"),
        (&["asm(\"{ mov.u32 %0, 1;\\n\\t\" \"add.x32 %0, %0, 1; }\" : \"=r\"(x));"], ".x32", "x32"),
        (&["mov.u32 %0, 1", "=r"], "1", "has no ';'"),
        (&["mov.u32 %0, %q;", "=r"], "%q", "%q"),
        (&["mov.u32 %0, %1;", "=r, z=3"], "z", "unknown asm constraint letter 'z'"),
        (&["mov.u32 %0, %1;", "=r, r=1.5"], "1.5", "1.5 is not a 32-bit integer"),
        (&["mov.u32 %0, %1;", "=r, r=4294967296"], "4294967296", "is not a 32-bit integer"),
        (&["mov.u32 %0, %1;", "=r, r=u64=3"], "u64=3", "does not fit the constraint 'r'"),
        (&["mov.u32 %0, %1;", "=r, r=u32[4]=iota"], "u32[4]=iota", "one for each of the 32 lanes"),
        (&["mov.u32 %0, %1;", "r=3, =r"], "=r", "outputs stand before inputs"),
        (&["mov.u32 %0, 1;", "=r=3"], "3", "only written"),
        (&["asm(\"mov.u32 %0, 1;\" : \"=r\"(x)) + 1;"], "+", "expected nothing more, found '+'"),
        (&["asm(\"bar.sync 0;\"); asm(\"bar.sync 0;\");"], "a", "expected nothing more, found 'a'"),
        (&["asm goto (\"bar.sync 0;\");"], "goto", "cannot stand here"),
        (&["asm(\"bar.sync 0;"], "\"", "the string has no end"),
        (&["tcgen05.wait::ld.sync.aligned;"], "tcgen05.wait::ld.sync.aligned", "requires sm_100"),
    ] {
        let found = judged(words, &[]);
        let error = found.iter().find(|found| found.0 == Severity::Error).unwrap_or_else(|| panic!("{words:?} is accepted"));
        assert!(error.2 == place && error.3.contains(message), "{words:?}: {error:?}");
    }
}

#[test]
fn what_may_go_wrong_is_a_warning() {
    let at = |code: &'static str, place: &str| (Severity::Warning, code, place.to_string());
    for (words, expected) in [
        (&["{ .reg .u32 t; L: mov.u32 t, 1; }"][..], vec![]),
        (&[".reg .u32 t; mov.u32 t, 1;"], vec![at("scope", ".reg")]),
        (&["mov.u32 %0, 1; { M: } $L: bra.uni $L;", "=r"], vec![at("scope", "$L")]),
        (&["asm(\"st.global.u32 [%0], 1;\" :: \"l\"(p));"], vec![at("clobber", "st.global.u32 [%0], 1")]),
        (&["asm(\"st.global.u32 [%0], 1;\" :: \"l\"(p) : \"memory\");"], vec![]),
        (
            &["{ .reg .pred p; setp.eq.u32 p, %0, 0; @p red.global.add.u32 [%1], 1; }", "r, l"],
            vec![at("clobber", "@p red.global.add.u32 [%1], 1")],
        ),
        (&["mov.u32 %0, %laneid;", "=r"], vec![at("template", "%laneid")]),
        (&["%{ mov.u32 %0, 1; %}", "=r"], vec![at("template", "%{"), at("template", "%}")]),
    ] {
        let found: Vec<_> = judged(words, &[]).into_iter().map(|(severity, code, place, _)| (severity, code, place)).collect();
        assert_eq!(found, expected, "{words:?}");
    }
}

/// The guide's 1.2.2: what a compiler may do to a statement that is not volatile, and to accesses around one without `"memory"`.
#[test]
fn what_a_statement_does_not_declare_is_a_warning() {
    let clock = "'mov.u32' reads %clock, which changes, and the statement is not volatile";
    let bar = "'bar.sync' orders accesses to memory, and the statement does not say so";
    for (statement, expected) in [
        ("asm(\"mov.u32 %0, %%clock;\" : \"=r\"(x));", &[("volatile", "mov.u32 %0, %%clock", clock)][..]),
        ("asm volatile(\"mov.u32 %0, %%clock;\" : \"=r\"(x));", &[]),
        ("__asm__ __volatile__(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(x));", &[]),
        ("asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(x));", &[]),
        (
            "asm(\"shfl.sync.down.b32 %0, %1, 1, 31, -1;\" : \"=r\"(x) : \"r\"(3));",
            &[(
                "volatile",
                "shfl.sync.down.b32 %0, %1, 1, 31, -1",
                "the result of 'shfl.sync.down.b32' depends on the lanes that execute it together, and the statement is not volatile",
            )],
        ),
        (
            "asm(\"ld.global.u32 %0, [%1];\" : \"=r\"(x) : \"l\"(p));",
            &[(
                "volatile",
                "ld.global.u32 %0, [%1]",
                "'ld.global.u32' reads memory, where the value may change, and the statement is not volatile",
            )],
        ),
        ("asm(\"ld.global.nc.u32 %0, [%1];\" : \"=r\"(x) : \"l\"(p));", &[]),
        // Without outputs a statement is never left out; a barrier wants "memory" all the same.
        ("asm(\"bar.sync 0;\");", &[("clobber", "bar.sync 0", bar)]),
        ("asm volatile(\"bar.sync 0;\");", &[("clobber", "bar.sync 0", bar)]),
        ("asm volatile(\"bar.sync 0;\" ::: \"memory\");", &[]),
        (
            "asm volatile(\"membar.gl;\");",
            &[("clobber", "membar.gl", "'membar.gl' orders accesses to memory, and the statement does not say so")],
        ),
        (
            "asm(\"atom.global.add.u32 %0, [%1], 1;\" : \"=r\"(x) : \"l\"(p) : \"memory\");",
            &[("volatile", "atom.global.add.u32 %0, [%1], 1", "'atom.global.add.u32' writes memory, and the statement is not volatile")],
        ),
        ("bar.sync 0;", &[]),
    ] {
        let found = judged(&[statement], &[]);
        let found: Vec<_> = found.iter().map(|(_, code, place, message)| (*code, place.as_str(), message.as_str())).collect();
        assert_eq!(found, expected, "{statement}");
    }
}

/// The compiler goes on with a register that holds an input as if it had not been written.
#[test]
fn a_written_input_is_a_warning() {
    let described = |number: u32| format!("the input operand %{number} is written, and the compiler does not expect that");
    for (statement, expected) in [
        ("asm(\"add.u32 %1, %1, 1; mov.u32 %0, %1;\" : \"=r\"(x) : \"r\"(3));", vec![("add.u32 %1, %1, 1;", described(1))]),
        (
            "asm(\"mov.b64 {%1, %0}, %2; mov.u32 %1, 0;\" : \"=r\"(x) : \"r\"(3), \"l\"(5LL));",
            vec![("mov.b64 {%1, %0}, %2;", described(1))],
        ),
        ("asm(\"add.u32 %0, %0, 1;\" : \"+r\"(x) : \"r\"(3));", vec![]),
        ("asm(\"{ .reg .u32 t; mov.u32 t, %1; add.u32 t, t, 1; mov.u32 %0, t; }\" : \"=r\"(x) : \"r\"(3));", vec![]),
    ] {
        let found = judged(&[statement], &[]);
        let found: Vec<_> = found.iter().map(|(_, _, place, message)| (place.as_str(), message.clone())).collect();
        assert_eq!(found, expected, "{statement}");
    }
}

#[test]
fn statements_compute() {
    for (words, values, expected) in [
        (&["asm(\"add.s32 %0, %1, %2;\" : \"=r\"(x) : \"r\"(3), \"r\"(4));"][..], &[][..], &["x s32[32] 7 7 7 7 7 7 7 7"][..]),
        (&["\"sub.s32 %0, %1, %2;\" : \"=r\"(x) : \"r\"(3), \"r\"(a)"], &["5"], &["x s32[32] -2 -2 -2 -2 -2 -2 -2 -2"]),
        (
            &["sub.s32 %0, %2, %1;", ": \"=r\"((unsigned)x) : \"r\"(a), \"r\"(b)"],
            &["1", "u32=0"],
            &["operand0 u32[32] 4294967295 4294967295 4294967295 4294967295 4294967295 4294967295 4294967295 4294967295"],
        ),
        (
            &["mad.lo.s32 %0, %0, %1, %2;", "+r=10, r=s32[32]=iota, n=-1"],
            &[],
            &["operand0 s32[32] -1 9 19 29 39 49 59 69", "operand1 s32[32] 0 1 2 3 4 5 6 7"],
        ),
        (&["add%1 %0, %2, %2;", "\"=d\"(y) : \"C\"(type), \"d\"(1.5)"], &[".f64"], &["y f64[32] 3 3 3 3 3 3 3 3"]),
        (
            &["mov.b64 {%0, %1}, %2;", "=r, =r, l=0x700000005"],
            &[],
            &["operand0 s32[32] 5 5 5 5 5 5 5 5", "operand1 s32[32] 7 7 7 7 7 7 7 7"],
        ),
        (
            &["ld.global.f32 %0, [%1+4];", "=f, l=f32[]=1.5,2.5"],
            &[],
            &["operand0 f32[32] 2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5", "operand1 f32[2] 1.5 2.5"],
        ),
        (&["add.f16 %0, %1, %1;", "=h, h=f16=0.5"], &[], &["operand0 s16[32] 15360 15360 15360 15360 15360 15360 15360 15360"]),
        (
            &["shfl.sync.down.b32 %0, %1, 1, 31, 0xffffffff;", "=r : r=s32[32]=iota(5,5)"],
            &[],
            &["operand0 s32[32] 10 15 20 25 30 35 40 45", "operand1 s32[32] 5 10 15 20 25 30 35 40"],
        ),
        (
            &["mov.b128 %0, %1;", "=q, q=-2"],
            &[],
            &[
                "operand0 b64[32][2] 0xfffffffffffffffe 0xffffffffffffffff 0xfffffffffffffffe 0xffffffffffffffff 0xfffffffffffffffe 0xffffffffffffffff 0xfffffffffffffffe 0xffffffffffffffff",
            ],
        ),
        // Several instructions: (5 + 1) << 2.
        (&["add.s32 %0, %1, 1; shl.b32 %0, %0, 2;", "=r, r=5"], &[], &["operand0 s32[32] 24 24 24 24 24 24 24 24"]),
        (&["bar.sync 0;"], &[], &[]),
    ] {
        assert_eq!(final_buffers(words, values), expected, "{words:?}");
    }
}

#[test]
fn values_that_are_missing_or_of_no_use_are_named() {
    let add = &["add.s32 %0, %1, %2;", "\"=r\"(x) : \"r\"(a), \"r\"(b)"];
    let lacks = |place: &str, number: u32| (place.to_string(), format!("operand %{number} is read, and nothing says what it holds"));
    assert_eq!(unusable(add, &[]), [lacks("\"r\"(a)", 1), lacks("\"r\"(b)", 2)]);
    assert_eq!(unusable(add, &["1"]), [lacks("\"r\"(b)", 2)]);
    assert_eq!(unusable(add, &["1", "2", "3"]), [("3".to_string(), "there is no operand left that wants a value".to_string())]);
    assert_eq!(unusable(add, &["1", "f32=2"])[0].0, "f32=2");
    assert_eq!(unusable(add, &["1", "many"])[0].0, "many");
    assert_eq!(unusable(add, &["1", "s32[]=@nothing.npy"])[0].0, "s32[]=@nothing.npy");
}

/// `inline_asm.ptx`: the statement of lines 41-46 has three instructions, the second of which stands on line 44.
#[test]
fn instructions_of_inline_asm_know_it() {
    let session = crate::common::session("debug/inline_asm.ron", 0);
    let (context, program) = (session.eval_context(), session.program());
    let at_line = |line: u32| (0..program.code.len()).map(Pc::new).find(|pc| program.line(*pc) == line).unwrap();
    let asm = source_place(&context, at_line(44), 0).unwrap().inline_asm.unwrap();
    assert_eq!((asm.lines, asm.number, asm.count), ((41, 46), 2, 3));
    assert_eq!(source_place(&context, at_line(49), 0).unwrap().inline_asm, None);
    let file = program.spans[0].source;
    let occupancies = occupancies(&context, &session.breakpoints, CodeText::Ptx(file), 36..50, false);
    let marked: Vec<u32> = (36..50).zip(&occupancies).filter(|(_, occupancy)| occupancy.inline_asm).map(|(line, _)| line).collect();
    assert_eq!(marked, [37, 41, 42, 43, 44, 45, 46]);
}

#[test]
fn lines_of_an_asm_text_are_none_of_the_source() {
    // As LLVM writes in Triton 3.9 a load, before each line of the text that the compiler asked for: the load is of line 4 as well.
    let text = ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<3>;\n.reg .b64 %d<2>;\n\
                .loc 1 3 0\nld.param.b64 %d1, [p];\n.loc 1 4 20\n// begin inline asm\n.loc 1 4 20\nmov.u32 %r1, 0x0;\n.loc 1 5 20\n\
                ld.global.b32 { %r1 }, [ %d1 + 0 ];\n\n// end inline asm\nadd.s32 %r2, %r1, 1;\n// begin inline asm\n.loc 1 9 7\n\
                mov.u32 %r2, 1;\n// end inline asm\nret;\n}\n.file 1 \"k.py\"\n";
    let module = ptxdbg::api::Module::from_text("k.ptx", text).unwrap();
    let lines: Vec<u32> = module.program().source_lines.iter().filter_map(|line| Some((*line)?.line)).collect();
    assert_eq!(lines[..6], [3, 4, 4, 4, 9, 9], "those of another column are the source's");
}
