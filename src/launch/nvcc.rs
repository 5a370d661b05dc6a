//! CUDA C++ to PTX by `nvcc`, where there is one.

use std::path::{Path, PathBuf};
use std::process::Command;

/// How `nvcc` is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compiler {
    /// The program, if there is one.
    pub nvcc: Option<PathBuf>,
    /// Arguments beside `-ptx -lineinfo`, as words.
    pub arguments: Vec<String>,
}

/// Whether the file at `path` is CUDA C++ by its name.
pub fn is_cuda(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "cu")
}

/// The PTX that `nvcc` makes of the CUDA C++ file at `path`.
///
/// # Errors
/// There is no `nvcc`, with the command that would do; or what it says.
pub fn compile(path: &Path, compiler: &Compiler) -> Result<String, String> {
    let name = path.display();
    if !path.is_file() {
        return Err(format!("cannot read {name}: no such file"));
    }
    let Some(nvcc) = &compiler.nvcc else {
        let others = compiler.arguments.iter().filter(|word| !["-ptx", "-lineinfo"].contains(&word.as_str()));
        let words = others.map(|word| format!(" {word}")).collect::<String>();
        return Err(format!("{name} is CUDA C++ and no nvcc is found; where there is one: nvcc -ptx -lineinfo{words} {name}"));
    };
    let folder = tempfile::tempdir().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
    run(nvcc, path, compiler, &folder.path().join("kernel.ptx"))
}

fn run(nvcc: &Path, path: &Path, compiler: &Compiler, to: &Path) -> Result<String, String> {
    let mut command = Command::new(nvcc);
    command.args(["-ptx", "-lineinfo"]).args(&compiler.arguments).arg("-o").arg(to).arg(path);
    let output = command.output().map_err(|error| format!("cannot run {}: {error}", nvcc.display()))?;
    if !output.status.success() {
        let said = [output.stderr, output.stdout].concat();
        return Err(format!("nvcc does not compile {}:\n{}", path.display(), String::from_utf8_lossy(&said).trim_end()));
    }
    std::fs::read_to_string(to).map_err(|error| format!("nvcc leaves no PTX of {}: {error}", path.display()))
}
