//! The C programs of this folder and those of `docs/c.md`, compiled against the header and linked with the library; those of this folder
//! also with sanitizers, if the compiler has them.

#![expect(clippy::expect_used, reason = "a test that cannot begin fails")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Flags of all compilations.
const STRICT: [&str; 6] = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g"];

/// The command that panics in a build with debug assertions.
const PROVOKED: &str = "info target";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn scratch() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

/// The folder of the library: that of the test.
fn library_folder() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    test.parent().expect("a test lies in a folder").to_path_buf()
}

/// Compiles and runs a program: true if it succeeds, and its output. `None` without a compiler.
fn outcome(source: &Path, name: &str, flags: &[&str]) -> Option<(bool, String)> {
    let folder = library_folder();
    let suffix = flags.join("").replace(['=', ',', '-'], "");
    let program = scratch().join(format!("c_{name}{suffix}"));
    let mut compile = Command::new("cc");
    compile.args(STRICT).args(flags).arg("-pthread").arg(format!("-DFIXTURES=\"{}\"", root().join("../fixtures").display()));
    if cfg!(debug_assertions) {
        compile.arg(format!("-DPROVOKED=\"{PROVOKED}\""));
    }
    compile.arg("-I").arg(root().join("include")).arg("-I").arg(root().join("tests")).arg(source).arg("-o").arg(&program);
    compile.arg("-L").arg(&folder).arg("-lptxdbg_c").arg(format!("-Wl,-rpath,{}", folder.display()));
    let compiled = compile.output().ok()?;
    if !compiled.status.success() {
        let said = String::from_utf8_lossy(&compiled.stderr).into_owned();
        // The linker reports a missing sanitizer library.
        let is_missing = flags.iter().any(|flag| flag.starts_with("-fsanitize")) && said.contains("cannot find -lasan");
        return (!is_missing).then_some((false, said));
    }
    let files = scratch().join(format!("c_{name}{suffix}.files"));
    std::fs::create_dir_all(&files).expect("the folder of the tests can be written");
    let mut run = Command::new(&program);
    run.env("ASAN_OPTIONS", "detect_leaks=0").env("PTXDBG_PANIC_AT", PROVOKED).arg(&files).current_dir(root().join(".."));
    let run = run.output().expect("what was compiled can be run");
    Some((run.status.success(), format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr))))
}

fn holds(name: &str, flags: &[&str]) {
    match outcome(&root().join(format!("tests/{name}.c")), name, flags) {
        None => println!("skipped: no C compiler{}", if flags.is_empty() { "" } else { " with a sanitizer" }),
        Some((is_right, said)) => assert!(is_right, "{said}"),
    }
}

const SANITIZERS: &[&str] = &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

#[test]
fn a_c_program_can_use_it() {
    holds("surface", &[]);
}

#[test]
fn a_c_program_has_plans_and_sessions() {
    holds("plans", &[]);
}

#[test]
fn ten_thousand_launches_leave_no_memory() {
    holds("launches", &[]);
}

#[test]
fn hostile_use_has_a_status() {
    holds("hostile", &[]);
}

#[test]
fn sanitizers_find_nothing() {
    for name in ["surface", "plans", "hostile"] {
        holds(name, SANITIZERS);
    }
}

/// C as strict as it gets, and C++.
#[test]
fn the_header_alone_gives_no_warning() {
    let header = root().join("include/ptxdbg.h");
    for (compiler, language, standard) in [("cc", "c", "-std=c11"), ("c++", "c++", "-std=c++17"), ("c++", "c++", "-std=c++11")] {
        let strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-x", language, standard];
        match Command::new(compiler).args(strict).arg(&header).output() {
            Err(_) => println!("skipped: no {compiler}"),
            Ok(said) => assert!(said.status.success(), "{language}: {}", String::from_utf8_lossy(&said.stderr)),
        }
    }
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect("the project can be read")
}

/// The names of the C interface after each `before`.
fn names(text: &str, before: &str) -> BTreeSet<String> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let name = |rest: &str| rest.split(|letter| !is_part(letter)).next().unwrap_or_default().to_string();
    let all = text.match_indices(before).map(|(at, _)| name(&text[at + before.len()..]));
    all.filter(|name| name.starts_with("ptxdbg_") || name == "ptx_run").collect()
}

/// The functions of the header: names before an opening parenthesis.
fn declared() -> BTreeSet<String> {
    let header = read("include/ptxdbg.h");
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let before = header.split('(').map(|part| part.rsplit(|letter| !is_part(letter)).next().unwrap_or_default().to_string());
    before.filter(|name| name.starts_with("ptxdbg_") || name == "ptx_run").collect()
}

#[test]
fn header_library_and_documentation_have_the_same_functions() {
    let mut defined = BTreeSet::new();
    for file in std::fs::read_dir(root().join("src")).expect("the sources are there") {
        let path = file.expect("the sources are there").path();
        let text = std::fs::read_to_string(path).expect("the sources can be read");
        defined.append(&mut names(&text, "extern \"C\" fn "));
    }
    assert_eq!(declared(), defined);
    assert_eq!(declared(), names(&read("../docs/c.md"), "`"));
}

/// The programs of the documentation, with the output in it.
#[test]
fn the_programs_of_the_documentation_do_what_it_says() {
    let text = read("../docs/c.md");
    let programs = text.split("```c\n").skip(1).filter(|part| part.contains("int main")).collect::<Vec<_>>();
    assert_eq!(programs.len(), 2);
    for (number, part) in programs.iter().enumerate() {
        let (program, rest) = part.split_once("```\n").expect("a program ends");
        let printed = rest.split("```\n").nth(1).expect("what a program prints follows it");
        let source = scratch().join(format!("documented{number}.c"));
        std::fs::write(&source, program).expect("the folder of the tests can be written");
        match outcome(&source, &format!("documented{number}"), &[]) {
            None => println!("skipped: no C compiler"),
            Some((_, said)) => assert_eq!(said, printed),
        }
    }
}
