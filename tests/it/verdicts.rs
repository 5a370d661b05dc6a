//! What is accepted and what is refused, against the verdicts of the vendor's assembler (ptxas 13.0.88).

#![allow(clippy::unwrap_used, reason = "a test that cannot read its fixture fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ptxdbg::base::Sources;
use ptxdbg::isa::match_opcode;
use ptxdbg::sema::load;

/// Instructions on which we differ from the assembler, and why.
const KNOWN: &[(&str, &str)] = &[("fence.sync_restrict::shared::cta.mbarrier_init.release.cluster ;", "the manual has no such form")];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// The lines of `text` that have errors.
fn wrong_lines(text: String) -> BTreeSet<u32> {
    let mut sources = Sources::default();
    let (_, diagnostics) = load(&mut sources, "test.ptx", text);
    diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).map(|diagnostic| sources.position(diagnostic.span).line).collect()
}

fn ptx_files(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(fixture(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|extension| extension == "ptx")).collect();
    files.sort();
    files
}

#[test]
fn refused_files_are_refused_at_their_line() {
    let files = ptx_files("refused");
    assert_eq!(files.len(), 168);
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let line = text.strip_prefix("// line ").and_then(|rest| rest.split(':').next()).unwrap().parse().unwrap();
        assert_eq!(wrong_lines(text), BTreeSet::from([line]), "{}", path.display());
    }
}

#[test]
fn accepted_files_are_accepted() {
    for folder in ["hardware", "programs", "corpus", "compilers"] {
        let files = ptx_files(folder);
        assert!(!files.is_empty(), "{folder}");
        for path in files {
            assert_eq!(wrong_lines(fs::read_to_string(&path).unwrap()), BTreeSet::new(), "{}", path.display());
        }
    }
}

/// A kernel with registers of all types called `u32_0` to `u32_7` and variables in all spaces, and `body` on a line for each.
fn module(version: &str, target: &str, body: &[&str]) -> (String, u32) {
    let types = "pred b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 f32 f64";
    let registers: String = types.split_whitespace().map(|ty| format!(".reg .{ty} {ty}_<8>; ")).collect();
    let head = format!(
        ".version {version}\n.target {target}\n.address_size 64\n.global .align 16 .b8 gm[256];\n.const .align 16 .b8 cm[64];\n\
         .visible .entry k(.param .u64 pp, .param .align 16 .b8 parr[64]) {{\n\
         .shared .align 16 .b8 sm[256];\n.local .align 16 .b8 lm[64];\n{registers}\nL0:\n"
    );
    let first = head.lines().count() as u32 + 1;
    (format!("{head}{}\nret;\n}}\n", body.join("\n")), first)
}

#[test]
fn single_instructions_have_the_assemblers_verdict() {
    let mut differing = BTreeSet::new();
    for target in ["sm_80", "sm_90a", "sm_100a"] {
        let recorded = fs::read_to_string(fixture(&format!("verdicts/{target}.txt"))).unwrap();
        let verdicts: Vec<(bool, &str)> = recorded.lines().map(|line| (line.starts_with('-'), &line[2..])).collect();
        let instructions: Vec<&str> = verdicts.iter().map(|verdict| verdict.1).collect();
        let (text, first) = module("9.0", target, &instructions);
        let wrong = wrong_lines(text);
        for (line, (refused, instruction)) in (first..).zip(verdicts) {
            if wrong.contains(&line) != refused {
                differing.insert(instruction.to_string());
            }
        }
    }
    let known: BTreeSet<String> = KNOWN.iter().map(|known| known.0.to_string()).collect();
    assert_eq!(differing, known);
}

#[test]
fn other_versions_and_targets_have_the_assemblers_verdict() {
    let recorded = ["versions", "tensor"].map(|name| fs::read_to_string(fixture(&format!("verdicts/{name}.txt"))).unwrap()).concat();
    let verdicts: Vec<Vec<&str>> = recorded.lines().map(|line| line.splitn(4, ' ').collect()).collect();
    for module_verdicts in verdicts.chunk_by(|a, b| a[..2] == b[..2]) {
        let (version, target) = (module_verdicts[0][0], module_verdicts[0][1]);
        let instructions: Vec<&str> = module_verdicts.iter().map(|verdict| verdict[3]).collect();
        let (text, first) = module(version, target, &instructions);
        let wrong = wrong_lines(text);
        for (line, verdict) in (first..).zip(module_verdicts) {
            assert_eq!(wrong.contains(&line), verdict[2] == "-", "PTX {version} for {target}: {}", verdict[3]);
        }
    }
}

/// Modules on which we differ from the assembler, and why.
const KNOWN_MODULES: &[(&str, &str)] = &[
    ("- form: 1.4 mul /**/ .lo /**/.s32 r1,r1,r2;", "the assembler loses '.lo' after a comment"),
    ("- form: 7.8 mul /**/ .lo /**/.s32 r1,r1,r2;", "the assembler loses '.lo' after a comment"),
    ("- fv2: v.x to scalar", "a component of a vector is a register"),
    ("- par: 2.0 mov addr param", "the address of a '.param' variable is one in its frame"),
    ("- dw: 1.4 .entry j() {\\n@@DWARF .byte 0\\nexit; }", "lines of '@@DWARF' are not read"),
    ("- dw: 1.4 @@DWARF .section .debug_info", "lines of '@@DWARF' are not read"),
    ("- dw: 1.4 @@dwarf .byte 1", "lines of '@@DWARF' are not read"),
    ("- proto: section after 1.4", "lines of '@@DWARF' are not read"),
    ("- form: 1.4 mov.u64 d1,(A)+4;", "parentheses around names are read"),
    ("- form: 7.8 mov.u64 d1,(A)+4;", "parentheses around names are read"),
    ("- form: 1.4 setp.eq.s32 p1|(p2),r1,r2;", "parentheses around names are read"),
    ("- form: 7.8 setp.eq.s32 p1|(p2),r1,r2;", "parentheses around names are read"),
    ("- decl: .global .u64 gg = (x);", "parentheses around names are read"),
    ("- decl: .global .u64 gg = (x)+4;", "parentheses around names are read"),
    ("- decl: .global .u64 gg = (x+4);", "parentheses around names are read"),
    ("- decl: .global .u64 gg = generic((x));", "parentheses around names are read"),
    ("- decl: .global .u64 gg = (generic(x));", "parentheses around names are read"),
];

#[test]
fn whole_modules_have_the_assemblers_verdict() {
    let recorded = fs::read_to_string(fixture("verdicts/modules.txt")).unwrap();
    let modules: Vec<(&str, &str)> = recorded.split("=== ").skip(1).map(|module| module.split_once('\n').unwrap()).collect();
    assert!(modules.len() > 1000);
    let differing: BTreeSet<&str> = modules
        .iter()
        .filter(|(head, text)| wrong_lines((*text).to_string()).is_empty() != head.starts_with('+'))
        .map(|(head, _)| *head)
        .collect();
    assert_eq!(differing, KNOWN_MODULES.iter().map(|known| known.0).collect());
}

/// Every spelling of `cvt` with one source: types, roundings and modifiers in all combinations.
fn conversions() -> Vec<String> {
    let types = "u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 tf32 f32 f64";
    let mut all = Vec::new();
    for to in types.split_whitespace() {
        for from in types.split_whitespace().filter(|from| *from != "tf32" && (to != "tf32" || *from == "f32")) {
            for rounding in ["", ".rn", ".rz", ".rm", ".rp", ".rna", ".rni", ".rzi", ".rmi", ".rpi"] {
                for modifiers in 0..16 {
                    let words = [".ftz", ".sat", ".relu", ".satfinite"].iter().enumerate();
                    let words: String = words.filter(|(bit, _)| modifiers & 1 << bit != 0).map(|(_, word)| *word).collect();
                    all.push(format!("cvt{rounding}{words}.{to}.{from}"));
                }
            }
        }
    }
    all
}

#[test]
fn conversions_are_those_of_the_assembler() {
    let recorded = fs::read_to_string(fixture("verdicts/cvt.txt")).unwrap();
    let recorded: BTreeSet<&str> = recorded.lines().collect();
    let all = conversions();
    assert_eq!(all.len(), 23_200);
    // On sm_90a, for which the verdicts are.
    let accepts = |opcode: &str| {
        let matched = match_opcode(opcode, 2).ok()?;
        let words = matched.modifiers.iter().flatten();
        words.map(|word| word.sm).chain([matched.form.row.sm]).all(|sm| sm <= 90).then_some(())
    };
    let accepted: BTreeSet<&str> = all.iter().map(String::as_str).filter(|opcode| accepts(opcode).is_some()).collect();
    assert_eq!(accepted.symmetric_difference(&recorded).collect::<Vec<_>>(), Vec::<&&str>::new());
}
