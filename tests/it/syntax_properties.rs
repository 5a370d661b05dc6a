//! Reading random and damaged PTX: nothing makes the reader fail, places lie inside the text, and what is not reported is in the tree.

#![expect(clippy::expect_used, reason = "a test that cannot read the fixtures fails")]

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::{Index, select};

use ptxdbg::base::SourceId;
use ptxdbg::syntax::parse;

use crate::properties::syntax::without_places;

/// The words of a text that begin with a letter and stand in no comment. Strings are words as well, by their parts.
fn words(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.split("//").next())
        .flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && !"_$".contains(c)))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()))
        .collect()
}

/// What must hold for every text.
fn check(text: &str) {
    if let Some(printed) = crate::properties::syntax::check(text) {
        check_completeness(text, &printed);
    }
}

/// No word of a text without errors is missing in the tree. The name in a prototype is of no meaning and not kept.
fn check_completeness(text: &str, printed: &str) {
    if text.contains(".callprototype") || text.contains("/*") || text.contains('#') {
        return;
    }
    let kept = words(printed);
    for word in words(text) {
        assert!(kept.contains(&word), "'{word}' is lost: {printed}\nfrom: {text}");
    }
}

/// All files of PTX under `fixtures`, but for those of the cases whose syntax is wrong.
fn fixtures() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "ptx") {
                files.push(entry);
            }
        }
    }
    let table = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases/documents.txt")).expect("a table");
    let refused: Vec<&str> = table
        .lines()
        .filter_map(|row| row.split_once('|').filter(|(_, verdict)| verdict.trim() == "refused"))
        .map(|(name, _)| name.trim())
        .collect();
    files.retain(|file| !file.file_stem().is_some_and(|name| refused.iter().any(|refused| *refused == name)));
    files.sort();
    files
}

#[test]
fn all_fixtures_are_read_and_printed() {
    let files = fixtures();
    assert!(files.len() > 26);
    for path in files {
        let text = fs::read_to_string(&path).expect("a text");
        let (module, diagnostics) = parse(SourceId::new(0), &text);
        assert_eq!(diagnostics, [], "in {}", path.display());
        let printed = module.to_string();
        let (again, _) = parse(SourceId::new(0), &printed);
        assert!(without_places(&again).0 == without_places(&module).0, "{} changes when printed and read", path.display());
        assert!(!module.items.is_empty(), "in {}", path.display());
    }
}

/// A file with most forms of the language, to be damaged.
const SAMPLE: &str = "\
.version 8.0 .target sm_80, debug .address_size 64
.file 1 \"a.cu\"
.visible .global .align 16 .v4 .f32 x[2][3] = {{1.0, 2, 0f3F800000}, {-1 + 2 * (3 - N)}}, y;
.const[2] .u64 p[2] = {generic(x) + 4, 0xFF(x)};
.extern .func (.reg .b32 r) f(.param .align 8 .b8 s[16], .reg .b32 a) .noreturn;
.entry k(.param .u64 .ptr .global .align 4 a, .param .b32 n) .maxntid 16, 16 .pragma \"nounroll\"; {
  .reg .pred p, q; .reg .b32 %r<8>;
  .loc 1 2 3, function_name L+4, inlined_at 1 2 3
  @!p bra L;
  { .reg .b64 t; ld.param.u64 t, [a]; L: }
  setp.lt.and.s32 p|q, %r1, a ? 1 : 2, !q;
  call (r), f, ({%r1, _}, 5), proto;
  tex.2d.v4.f32.f32 {a, b, c, d}|p, [t, s, {x, y}];
  ts: .branchtargets A, B; mov .u32 %r1, (.s64)-x % 2; ld.u32 a, x[3];
  ret;
}
.section .debug_str { L: .b8 1, 2 .b32 L+4 }
.alias g, f;
";

/// Words and signs of PTX, valid next to one another or not.
const TOKENS: &[&str] = &[
    ".version 8.0",
    ".target",
    "sm_80",
    ".entry",
    ".func",
    "k",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "{",
    "}",
    ";",
    ";",
    ";",
    ",",
    ",",
    ":",
    "?",
    "=",
    "@",
    "!",
    "~",
    "+",
    "-",
    "*",
    "|",
    "||",
    "<",
    ">",
    "<<",
    "%",
    "%r1",
    "add.u32",
    "ld.const[3].f32",
    "mov",
    ".u32",
    ".v4",
    ".pred",
    ".reg",
    ".param",
    ".shared",
    ".global",
    ".const",
    ".tex",
    ".align",
    ".ptr",
    ".attribute",
    ".managed",
    ".maxntid",
    ".noreturn",
    ".pragma",
    "\"s\"",
    ".loc",
    ".file",
    ".section",
    ".debug_str",
    ".weak",
    ".extern",
    ".branchtargets",
    ".calltargets",
    "1",
    "0x1F",
    "0f3F800000",
    "1.5",
    "99999999999999999999",
    "089",
    "generic",
    "(.s64)",
    "%tid.x",
    "_",
    "\"",
    "/*",
    "//",
    "\n",
    "\0",
    "é",
    "#",
    "@@dwarf x\n",
];

/// A change of a text.
#[derive(Clone, Debug)]
enum Damage {
    Delete(Index, usize),
    Insert(Index, &'static str),
    Repeat(Index, usize),
    Truncate(Index),
}

impl Damage {
    fn any() -> impl Strategy<Value = Self> {
        prop_oneof![
            (any::<Index>(), 1..20usize).prop_map(|(at, length)| Damage::Delete(at, length)),
            (any::<Index>(), select(TOKENS)).prop_map(|(at, token)| Damage::Insert(at, token)),
            (any::<Index>(), 1..200usize).prop_map(|(at, length)| Damage::Repeat(at, length)),
            any::<Index>().prop_map(Damage::Truncate),
        ]
    }

    fn apply(self, text: &mut String) {
        let boundary = |at: usize| (0..=at.min(text.len())).rfind(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let place = |at: Index| boundary(at.index(text.len() + 1));
        let after = |start: usize, length: usize| boundary(start + length);
        match self {
            Damage::Delete(at, length) => {
                let start = place(at);
                let end = after(start, length);
                text.replace_range(start..end, "");
            }
            Damage::Insert(at, token) => text.insert_str(place(at), token),
            Damage::Repeat(at, length) => {
                let start = place(at);
                let end = after(start, length);
                let copy = text[start..end].to_owned();
                text.insert_str(end, &copy);
            }
            Damage::Truncate(at) => text.truncate(place(at)),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_tokens(tokens in prop::collection::vec(select(TOKENS), 0..60), separator in select(&[" ", ""][..])) {
        check(&tokens.join(separator));
    }

    #[test]
    fn random_tokens_in_a_body(tokens in prop::collection::vec(select(TOKENS), 0..60)) {
        check(&format!(".entry k() {{ {} }}", tokens.join(" ")));
    }

    #[test]
    fn random_text(text in "\\PC*") {
        check(&text);
    }

    #[test]
    fn a_damaged_sample(damages in prop::collection::vec(Damage::any(), 1..6)) {
        let mut text = SAMPLE.to_owned();
        damages.into_iter().for_each(|damage| damage.apply(&mut text));
        check(&text);
    }
}

#[test]
fn the_sample_is_whole() {
    assert_eq!(parse(SourceId::new(0), SAMPLE).1, []);
    check(SAMPLE);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_fixture(file in any::<Index>(), damages in prop::collection::vec(Damage::any(), 1..4)) {
        let small: Vec<_> = fixtures().into_iter().filter(|path| path.metadata().is_ok_and(|data| data.len() < 50_000)).collect();
        let mut text = fs::read_to_string(file.get(&small)).expect("a text");
        damages.into_iter().for_each(|damage| damage.apply(&mut text));
        check(&text);
    }
}
