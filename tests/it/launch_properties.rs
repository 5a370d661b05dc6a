//! Launch files that are broken at random: reading never panics, and every error has a place in the text.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use ptxdbg::base::{Diagnostic, Sources};
use ptxdbg::launch::{LaunchFile, Overrides, plan};
use ptxdbg::program::Program;
use ptxdbg::sema;

const MODULE: &str = ".version 9.0 .target sm_90a .address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n, .param .align 4 .b8 s[8], .param .align 64 .b8 map[128]) { ret; }
.visible .entry other(.param .u64 x) { ret; }
.global .u64 v[2];";

/// A valid file with one of everything.
const VALID: &str = r##"Sequence(
    module: "m.ptx", // the module
    launches: [
        Launch(kernel: "k", grid: (2, 1, 1), block: (32, 1, 1), cluster: (2, 1, 1), dynamic_shared: 16, cooperative: true, memory: [
            Memory(at: 0x500000000000, len: 512, init: With(Byte(1), at: {8: Alias("list"), 64: TensorMap(buffer: Alias("list"), elem: U8, dims: [16], strides: [], box: [16])})),
            Memory(name: "list", at: 0x500000000200, elem: U64, len: 4, init: With(Zero, at: {0x8: Offset("x", 4)}), expect: Values([0, 1, 2, 3]), compare: Multiset),
        ], params: [
            Buffer(name: "x", elem: F32, shape: [2, 4], init: Iota(start: 0.5, step: -1), expect: Values([1, 2, 3, 4, 5, 6, 7, 8]), tolerance: AbsOrRel(1e-7, 1e-6)),
            Offset("x", 16), U32(0xff), Bytes("00 11 22 33 44 55 66 77", at: {0: Alias("list")}),
            TensorMap(buffer: Buffer(name: r#"t"#, elem: BF16, len: 64, init: Random(seed: 7, low: -1, high: 1)), elem: BF16, dims: [8, 8],
                strides: [16], element_strides: [1, 1], interleave: None, swizzle: B32, fill: Zero, box: [8, 4]),
        ], expect_ignoring: {"x": [(0, 4), (8, 8)]}, findings: AnyOf(ids: ["trap"], line: 3)),
        Launch(kernel: "other", grid: (4, 1, 1), block: (1, 1, 1), blocks: [(3, 0, 0), (1, 0, 0)], variables: {"v": With(Zero, at: {0: Alias("list")})}, params: [Alias("x")], findings: Clean), /* the end */
    ],
)"##;

/// What a piece of the text may be replaced with.
const TOKENS: &[&str] = &[
    "",
    "(",
    ")",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "'",
    "/*",
    "//",
    "r#\"",
    "\\",
    "-1",
    "0",
    "1e999",
    "NaN",
    "-inf",
    "18446744073709551616",
    "9223372036854775807",
    "1000000000000",
    "Some(1)",
    "None",
    "true",
    "\"x\"",
    "\"\"",
    "Zero",
    "Uninit",
    "Byte(1)",
    "Fill(2)",
    "File(\"absent.bin\")",
    "Values([])",
    "Slice(file: \"absent\", offset: 3)",
    "Buffer(name: \"x\", elem: U8, init: Zero)",
    "Alias(\"x\")",
    "Alias(\"z\")",
    "len: 3,",
    "shape: [4294967296, 4294967296],",
    "kernel: \"other\",",
    "Launch(",
    "Memory(",
    "memory: [],",
    "at: ",
    "at: {",
    "0x500000000000",
    "With(Zero, at: {0: Alias(\"x\"), 4: U8(1)})",
    "Pages(\"absent.pages\")",
    "Bytes(\"00\", at: {0: U8(1)})",
    "compare: Multiset,",
    "blocks: [(0, 0, 0)],",
    "(0, 4)",
    "F16(65504)",
    "ä",
    "\u{0}",
    "{",
    "}",
];

fn module() -> Arc<Program> {
    sema::load(&mut Sources::default(), "m.ptx", MODULE).0.unwrap()
}

fn has_place(sources: &Sources, error: &Diagnostic, text: &str) -> Result<(), TestCaseError> {
    let place = sources.position(error.span);
    prop_assert!(!error.message.is_empty());
    prop_assert!(place.line as usize <= text.lines().count() + 1, "line {} of\n{text}", place.line);
    prop_assert!(error.span.start <= error.span.end && error.span.end as usize <= text.len(), "{:?} of\n{text}", error.span);
    Ok(())
}

fn read(text: String, program: &Program) -> Result<(), TestCaseError> {
    match LaunchFile::parse("a.ron", Path::new("nowhere"), text.clone()) {
        Err(wrong) => wrong.1.iter().try_for_each(|error| has_place(&wrong.0, error, &text)),
        Ok(file) => match plan(&file, program, "m.ptx", &Overrides::default()) {
            Ok(_) => Ok(()),
            Err(errors) => errors.iter().try_for_each(|error| has_place(&file.sources, error, &text)),
        },
    }
}

/// The nearest boundary of a character at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[test]
fn the_valid_file_is_valid() {
    let file = LaunchFile::parse("a.ron", Path::new(""), VALID.to_string()).unwrap();
    plan(&file, &module(), "m.ptx", &Overrides::default()).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_valid_file_with_pieces_replaced(edits in prop::collection::vec((0..VALID.len(), 0..40_usize, 0..TOKENS.len()), 1..4)) {
        let mut text = VALID.to_string();
        for (at, length, token) in edits {
            let start = floor(&text, at);
            let end = floor(&text, start + length);
            text.replace_range(start..end, TOKENS[token]);
        }
        read(text, &module())?;
    }

    #[test]
    fn random_tokens(tokens in prop::collection::vec(0..TOKENS.len(), 0..60)) {
        let text: Vec<&str> = tokens.into_iter().map(|token| TOKENS[token]).collect();
        read(format!("Launch({}", text.join(" ")), &module())?;
    }

    #[test]
    fn random_text(text in "\\PC*") {
        read(text, &module())?;
    }
}

#[test]
fn deep_nesting_is_refused() {
    let program = module();
    for bracket in ["(", "[", "Launch(", "/*", "{"] {
        read(bracket.repeat(100_000), &program).unwrap();
        read(format!("Launch(params: [U32({}", bracket.repeat(100_000)), &program).unwrap();
    }
}
