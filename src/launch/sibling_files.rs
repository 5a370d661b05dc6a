//! Facts about a launch from files in the module's folder: those of Triton, and the source that it was compiled from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::made_up::LaunchFacts;
use super::{cuda, triton};
use crate::base::{Diagnostic, Sources};
use crate::program::{FuncId, Program};

/// Reads what files in the folder of `module` say of a launch of `kernel`; its source is looked for in `folders` too. Texts are added
/// to `sources`.
///
/// # Errors
/// A file of Triton cannot be read, is damaged, or does not match the kernel; each error has its file and line.
pub fn facts(
    module: &Path,
    program: &Program,
    kernel: FuncId,
    folders: &[PathBuf],
    sources: &mut Sources,
) -> Result<LaunchFacts, Vec<Diagnostic>> {
    let mut facts = triton::facts(module, &program.functions[kernel.index()], sources)?;
    if facts.names.is_empty() {
        let cuda::Names { names, why } = cuda::names(module, program, kernel, folders);
        facts.names = names;
        facts.names_why = Some(why).filter(|why| !why.is_empty());
    }
    Ok(facts)
}

/// The names that the sources of `module` give to the parameters of `kernel`, by index.
pub fn names(module: &Path, program: &Program, kernel: FuncId, folders: &[PathBuf]) -> BTreeMap<usize, String> {
    facts(module, program, kernel, folders, &mut Sources::default()).map_or_else(|_| BTreeMap::new(), |facts| facts.names)
}
