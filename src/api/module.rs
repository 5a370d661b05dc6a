//! Modules: PTX that has been parsed and checked.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{Error, Problem, problems};
use crate::debug::open::{self, load_linked, read_module, read_module_at, read_text_module, read_text_module_at, variables_of};
use crate::launch::Element;
use crate::launch::nvcc::Compiler;
use crate::launch::variable_args::VariableFormal;
use crate::program::Program;
use crate::program::map::Maps;

/// A PTX module that can be run. Clones share it.
#[derive(Clone, Debug)]
pub struct Module {
    path: PathBuf,
    program: Arc<Program>,
    warnings: Arc<[Problem]>,
    tensors: Option<Arc<str>>,
}

/// A variable of a module that a launch can assign contents to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleVariable {
    /// Its name in the module.
    pub name: String,
    /// Its name in the source.
    pub short: String,
    /// The type of its elements, if it is declared or all accesses show it.
    pub element: Option<Element>,
    /// Its size in bytes.
    pub bytes: u64,
}

impl Module {
    /// Reads the PTX file at `path`; CUDA C++ (`.cu`) is compiled by `nvcc` first.
    ///
    /// # Errors
    /// The file cannot be read, or has mistakes.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        Self::checked(path.to_path_buf(), read_module(path)?)
    }

    /// [`Self::load`], with the interpreter's variables and windows of shared and local memory outside of the `occupied` ranges of
    /// the address space.
    ///
    /// # Errors
    /// As of [`Self::load`].
    pub fn load_avoiding(path: impl AsRef<Path>, occupied: &[Range<u64>]) -> Result<Self, Error> {
        let path = path.as_ref();
        Self::checked(path.to_path_buf(), read_module_at(path, &Compiler::default(), &Maps::avoiding(occupied))?)
    }

    /// Parses PTX from memory. `name` is its name in messages; files that a launch names are relative to its folder.
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
    /// The text has mistakes.
    pub fn from_text(name: impl Into<PathBuf>, text: impl Into<String>) -> Result<Self, Error> {
        let name = name.into();
        let read = read_text_module(&name, text.into());
        Self::checked(name, read)
    }

    /// [`Self::from_text`], with the interpreter's variables and windows of shared and local memory outside of the `occupied` ranges of
    /// the address space.
    ///
    /// # Errors
    /// As of [`Self::from_text`].
    pub fn from_text_avoiding(name: impl Into<PathBuf>, text: impl Into<String>, occupied: &[Range<u64>]) -> Result<Self, Error> {
        let name = name.into();
        let read = read_text_module_at(&name, text.into(), &Maps::avoiding(occupied));
        Self::checked(name, read)
    }

    /// Links the modules of several texts, each after its name in messages, as the linker of the driver does: functions and variables that
    /// one declares `.extern` are those that another defines. The first name is that of the whole; variables and windows are as of
    /// [`Self::from_text_avoiding`].
    ///
    /// ```
    /// use ptxdbg::api::Module;
    ///
    /// let head = ".version 8.0\n.target sm_80\n.address_size 64\n";
    /// let caller = format!("{head}.extern .func twice();\n.visible .entry k() {{ call twice; ret; }}");
    /// let callee = format!("{head}.visible .func twice() {{ ret; }}");
    /// let linked = Module::linked(vec![("k.ptx".into(), caller), ("twice.ptx".into(), callee)], &[]).unwrap();
    /// assert_eq!(linked.kernels().collect::<Vec<_>>(), ["k"]);
    /// ```
    ///
    /// # Errors
    /// There is no text, a text has mistakes, or they do not fit together.
    pub fn linked(texts: Vec<(String, String)>, occupied: &[Range<u64>]) -> Result<Self, Error> {
        let Some((first, _)) = texts.first() else { return Err(Error::File("no module is given".to_string())) };
        let name = PathBuf::from(first);
        let read = load_linked(texts, &Maps::avoiding(occupied));
        Self::checked(name, read)
    }

    fn checked(path: PathBuf, module: open::Module) -> Result<Self, Error> {
        let problems = problems(&module.sources, &module.diagnostics);
        match module.program {
            Some(program) => Ok(Self { path, program, warnings: problems.into(), tensors: None }),
            None => Err(Error::Rejected(problems)),
        }
    }

    /// The module with the text of Triton's intermediate code (`.ttgir`), out of which tensors are put together.
    #[must_use]
    pub fn with_tensors(self, text: &str) -> Self {
        Self { tensors: Some(text.into()), ..self }
    }

    /// The text of Triton's intermediate code, if it was given.
    pub fn tensors(&self) -> Option<&str> {
        self.tensors.as_deref()
    }

    /// Its path or name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The warnings, in order of the text.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// The names of its kernels, in order of the text.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.program.kernels().map(|kernel| &*self.program.functions[kernel.index()].name)
    }

    /// Its `.const` and `.global` variables, to which a launch can assign contents, in order of the text.
    pub fn variables(&self) -> Vec<ModuleVariable> {
        let of = |formal: VariableFormal| ModuleVariable {
            short: formal.short().to_string(),
            element: formal.element(),
            bytes: formal.bytes(),
            name: formal.name,
        };
        variables_of(&self.program).into_iter().map(of).collect()
    }

    /// Its executable form.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }
}
