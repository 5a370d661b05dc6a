//! `surface.c`, compiled against the header and linked with the library; with a sanitizer as well, where the compiler has one.

#![expect(clippy::expect_used, reason = "a test that cannot begin fails")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where cargo puts the library: beside the test.
fn library_folder() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    test.parent().expect("a test lies in a folder").to_path_buf()
}

/// Compiles and runs it: whether it ends well, and what it says. None where there is no compiler that can.
fn outcome(flags: &[&str]) -> Option<(bool, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = library_folder();
    let name = flags.join("").replace(['=', ',', '-'], "");
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("surface{name}"));
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-g"])
        .args(flags)
        .arg("-I")
        .arg(root.join("include"))
        .arg(root.join("tests/surface.c"))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(&folder)
        .arg("-lptxdbg_c")
        .arg(format!("-Wl,-rpath,{}", folder.display()))
        .output()
        .ok()?;
    if !compiled.status.success() {
        let said = String::from_utf8_lossy(&compiled.stderr).into_owned();
        // Where the sanitizer's library is missing the linker says so.
        let is_missing = flags.iter().any(|flag| flag.starts_with("-fsanitize")) && said.contains("cannot find -lasan");
        return (!is_missing).then_some((false, said));
    }
    let run = Command::new(&program).env("ASAN_OPTIONS", "detect_leaks=0").output().expect("what was compiled can be run");
    Some((run.status.success(), format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr))))
}

#[test]
fn a_c_program_can_use_it() {
    match outcome(&[]) {
        None => println!("skipped: no C compiler"),
        Some((is_right, said)) => assert!(is_right, "{said}"),
    }
}

#[test]
fn a_sanitizer_finds_nothing() {
    match outcome(&["-fsanitize=address,undefined"]) {
        None => println!("skipped: no C compiler with a sanitizer"),
        Some((is_right, said)) => assert!(is_right, "{said}"),
    }
}
