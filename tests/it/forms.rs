//! Forms of every instruction and the borders of every feature, against the verdicts of the vendor's assembler.
//!
//! `fixtures/verdicts/forms.txt` holds forms made from the manual's syntax (words left out, added, exchanged and reordered; operands of
//! every type, constants, special registers, vectors and addresses in every place), a line each: `VERSION TARGET VERDICT FORM`, where
//! `+` is accepted and `-` refused by ptxas 13.0.88 (of targets before sm_75, by ptxas 11.8.89). `probes.txt` has the same for the
//! first PTX version and the first target of every instruction and modifier, and for those just below. `differences.txt` lists the
//! forms on which we differ, with the assembler's verdict, under the reason.

#![allow(clippy::unwrap_used, reason = "a test that cannot read its fixture fails")]

use std::collections::BTreeSet;
use std::path::Path;

use ptxdbg::base::Sources;
use ptxdbg::sema::load;

/// Forms and probes that there are at least.
const FORMS: usize = 5000;
const PROBES: usize = 3000;

/// A line of a fixture.
#[derive(Clone, Copy, Debug)]
struct Verdict<'t> {
    version: &'t str,
    /// With `,texmode_independent` after it in that mode.
    target: &'t str,
    refused: bool,
    form: &'t str,
}

fn fixture(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/verdicts").join(name)).unwrap()
}

fn verdicts(text: &str) -> Vec<Verdict<'_>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let parts = lines.map(|line| line.splitn(4, ' ').collect::<Vec<_>>());
    parts.map(|parts| Verdict { version: parts[0], target: parts[1], refused: parts[2] == "-", form: parts[3] }).collect()
}

/// The text before the forms: registers of all types the version has, called `u32_0` to `u32_7`, and variables in all spaces.
fn head(version: &str, target: &str) -> String {
    let (major, minor) = version.split_once('.').unwrap();
    let ptx: (u8, u8) = (major.parse().unwrap(), minor.parse().unwrap());
    let number: u32 = target[3..].split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
    let params = if ptx >= (1, 4) { "(.param .u64 pp, .param .align 16 .b8 parr[64])" } else { "" };
    let types = "pred b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 f32 f64";
    let is_there = |ty: &&str| !(*ty == "b128" && ptx < (8, 3) || *ty == "f16x2" && (ptx < (4, 2) || number < 53));
    let registers: String = types.split(' ').filter(is_there).map(|ty| format!(".reg .{ty} {ty}_<8>; ")).collect();
    let address_size = if ptx >= (2, 3) { ".address_size 64\n" } else { "" };
    let images = if ptx >= (1, 5) { ".global .texref tx;\n.global .surfref sf;\n" } else { "" };
    let sampler = if target.ends_with("independent") { ".global .samplerref smp;\n" } else { "" };
    format!(
        ".version {version}\n.target {}\n{address_size}.global .align 16 .b8 gm[256];\n.const .align 16 .b8 cm[64];\n{images}{sampler}\
         .func f0 {{ ret; }}\n.func (.reg .u32 r) f1 (.reg .u32 a) {{ mov.u32 r, a; ret; }}\n\
         .entry k{params} {{\n\
         .shared .align 16 .b8 sm[256];\n.local .align 16 .b8 lm[64];\n{registers}\nL0:\n",
        target.replace(',', ", ")
    )
}

/// Those of `verdicts` on which we differ.
fn differing<'t>(verdicts: &[Verdict<'t>]) -> Vec<Verdict<'t>> {
    let mut differing = Vec::new();
    for module in verdicts.chunk_by(|a, b| (a.version, a.target) == (b.version, b.target)) {
        let head = head(module[0].version, module[0].target);
        let first = head.lines().count() as u32 + 1;
        let forms: String = module.iter().map(|verdict| format!("{}\n", verdict.form)).collect();
        let mut sources = Sources::default();
        let (_, diagnostics) = load(&mut sources, "test.ptx", format!("{head}{forms}exit;\n}}\n"));
        let errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
        let wrong: BTreeSet<u32> = errors.map(|diagnostic| sources.position(diagnostic.span).line).collect();
        differing.extend((first..).zip(module).filter(|(line, verdict)| wrong.contains(line) != verdict.refused).map(|found| *found.1));
    }
    differing
}

#[test]
fn forms_have_the_assemblers_verdict() {
    let text = fixture("forms.txt");
    let verdicts = verdicts(&text);
    assert!(verdicts.len() >= FORMS, "{}", verdicts.len());
    assert!(differing(&verdicts).is_empty(), "{:#?}", differing(&verdicts));
}

#[test]
fn borders_of_versions_and_targets_are_the_assemblers() {
    let text = fixture("probes.txt");
    let verdicts = verdicts(&text);
    assert!(verdicts.len() >= PROBES, "{}", verdicts.len());
    assert!(differing(&verdicts).is_empty(), "{:#?}", differing(&verdicts));
}

/// A difference that has gone is no longer listed.
#[test]
fn differences_are_those_that_have_a_reason() {
    let text = fixture("differences.txt");
    assert!(text.starts_with("# "), "the first line says why the next ones differ");
    let verdicts = verdicts(&text);
    let found = differing(&verdicts);
    let agreeing = verdicts.iter().filter(|verdict| !found.iter().any(|other| std::ptr::eq(other.form, verdict.form)));
    assert!(agreeing.clone().next().is_none(), "{:#?}", agreeing.collect::<Vec<_>>());
}
