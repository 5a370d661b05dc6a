//! Generates the parser from `src/syntax/grammar.lalrpop`, and compiles the library of `ptxdbg capture`.

use std::env;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the library of `ptxdbg capture` lies.
const CAPTURE: &str = "capture/src";
/// The systems for which there is one: those with the dynamic linker of glibc.
const SYSTEMS: [(&str, &str); 2] = [("x86_64", "x86_64-unknown-linux-gnu"), ("aarch64", "aarch64-unknown-linux-gnu")];

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let file = out.join("libptxdbg_capture.so");
    // Without the library the program is built all the same: `ptxdbg capture` then says why.
    let why = compile_capture(&file).err().unwrap_or_default();
    if !why.is_empty() {
        fs::write(&file, [])?;
    }
    fs::write(out.join("libptxdbg_capture.why"), &why)?;
    // A path that is not there would have the script run each time.
    if Path::new(CAPTURE).is_dir() {
        writeln!(std::io::stdout(), "cargo::rerun-if-changed={CAPTURE}")?;
    }
    lalrpop::Configuration::new().emit_rerun_directives(true).process_dir("src")
}

/// Compiles the library with the same compiler; why it cannot be in one line.
fn compile_capture(file: &Path) -> Result<(), String> {
    let of = |name: &str| env::var(name).map_err(|error| format!("{name}: {error}"));
    let (system, architecture) = (of("CARGO_CFG_TARGET_OS")?, of("CARGO_CFG_TARGET_ARCH")?);
    let triple = SYSTEMS.iter().find(|(name, _)| system == "linux" && architecture == *name).map(|(_, triple)| *triple);
    let triple = triple.ok_or("it is for Linux on x86-64 and aarch64")?;
    let sources = Path::new(&of("CARGO_MANIFEST_DIR")?).join(CAPTURE);
    if !sources.is_dir() {
        return Err(format!("{CAPTURE} was not there as it was built: build it from the repository, a package of crates.io lacks it"));
    }
    let mut command = Command::new(of("RUSTC")?);
    command.args(["--edition=2024", "--crate-name=ptxdbg_capture", "--crate-type=cdylib"]);
    command.args(["-Copt-level=2", "-Cpanic=abort", "-Cstrip=symbols", "-Awarnings"]);
    if of("HOST")? != triple {
        command.arg(format!("--target={triple}"));
    }
    if let (true, Ok(linker)) = (of("TARGET")? == triple, env::var("RUSTC_LINKER")) {
        command.arg(format!("-Clinker={linker}"));
    }
    let run = command.arg("-o").arg(file).arg("lib.rs").current_dir(sources).output();
    let run = run.map_err(|error| format!("the compiler cannot be run: {error}"))?;
    if run.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    let error = said.lines().find(|line| line.starts_with("error")).unwrap_or("the compiler refuses it");
    Err(format!("compiling capture/ for {triple}: {error}"))
}
