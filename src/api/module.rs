//! PTX that was read and checked.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{Error, Problem, problems};
use crate::debug::open::{self, read_module, read_module_at, read_text_module, read_text_module_at};
use crate::launch::nvcc::Compiler;
use crate::program::Program;
use crate::program::map::Maps;

/// A PTX module that can be run. Clones share it.
#[derive(Clone, Debug)]
pub struct Module {
    path: PathBuf,
    program: Arc<Program>,
    warnings: Arc<[Problem]>,
}

impl Module {
    /// Reads the PTX file at `path`; CUDA C++ (`.cu`) is compiled by `nvcc` first.
    ///
    /// # Errors
    /// The file cannot be read, or holds mistakes.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        Self::checked(path.to_path_buf(), read_module(path)?)
    }

    /// The same, with what the interpreter places in the address space, variables and the windows of shared and local memory, out of the
    /// `occupied` ranges.
    ///
    /// # Errors
    /// As of [`Self::load`].
    pub fn load_avoiding(path: impl AsRef<Path>, occupied: &[Range<u64>]) -> Result<Self, Error> {
        let path = path.as_ref();
        Self::checked(path.to_path_buf(), read_module_at(path, &Compiler::default(), &Maps::avoiding(occupied))?)
    }

    /// Reads PTX from memory. `name` stands for it in messages; files that a launch names are relative to its folder.
    ///
    /// ```
    /// use ptxdbg::api::{Error, Module};
    ///
    /// let text = ".version 8.0\n.target sm_80\n.visible .entry k() {\n  bra NOWHERE;\n}";
    /// let Err(Error::Rejected(problems)) = Module::from_text("k.ptx", text) else { panic!() };
    /// assert_eq!((problems[0].line, problems[0].column), (4, 7));
    /// ```
    ///
    /// # Errors
    /// The text holds mistakes.
    pub fn from_text(name: impl Into<PathBuf>, text: impl Into<String>) -> Result<Self, Error> {
        let name = name.into();
        let read = read_text_module(&name, text.into());
        Self::checked(name, read)
    }

    /// The same, with what the interpreter places in the address space, variables and the windows of shared and local memory, out of the
    /// `occupied` ranges.
    ///
    /// # Errors
    /// As of [`Self::from_text`].
    pub fn from_text_avoiding(name: impl Into<PathBuf>, text: impl Into<String>, occupied: &[Range<u64>]) -> Result<Self, Error> {
        let name = name.into();
        let read = read_text_module_at(&name, text.into(), &Maps::avoiding(occupied));
        Self::checked(name, read)
    }

    fn checked(path: PathBuf, module: open::Module) -> Result<Self, Error> {
        let problems = problems(&module.sources, &module.diagnostics);
        match module.program {
            Some(program) => Ok(Self { path, program, warnings: problems.into() }),
            None => Err(Error::Rejected(problems)),
        }
    }

    /// The name it was read under.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is worth a warning, in order of the text.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// The names of its kernels, in order of the text.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.program.kernels().map(|kernel| &*self.program.functions[kernel.index()].name)
    }

    /// Its executable form.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }
}
