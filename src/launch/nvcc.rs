//! CUDA C++ to PTX by `nvcc`, if it is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The command line of `nvcc`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compiler {
    /// The program, if there is one.
    pub nvcc: Option<PathBuf>,
    /// Arguments in addition to `-ptx -lineinfo`.
    pub arguments: Vec<String>,
}

/// True if the file at `path` is CUDA C++ by its name.
pub fn is_cuda(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "cu")
}

/// The PTX that `nvcc` makes of the CUDA C++ file at `path`.
///
/// # Errors
/// There is no `nvcc`, with the command to run; or the output of `nvcc`.
pub fn compile(path: &Path, compiler: &Compiler) -> Result<String, String> {
    let name = path.display();
    if !path.is_file() {
        return Err(format!("cannot read {name}: no such file"));
    }
    let Some(nvcc) = &compiler.nvcc else {
        let others = compiler.arguments.iter().filter(|argument| !["-ptx", "-lineinfo"].contains(&argument.as_str()));
        let others = others.map(|argument| format!(" {argument}")).collect::<String>();
        return Err(format!("{name} is CUDA C++ and no nvcc is found; where there is one: nvcc -ptx -lineinfo{others} {name}"));
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
