//! What is known of a launch by files beside the module: those of Triton, and the source that it was compiled from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::made_up::Known;
use super::{cuda, triton};
use crate::base::{Diagnostic, Sources};
use crate::program::{FuncId, Program};

/// What files beside `module` say of a launch of `kernel`; its source is looked for in `folders` too. Texts are added to `sources`.
///
/// # Errors
/// Files of Triton that cannot be read, that are damaged, or that do not fit the kernel, with the place.
pub fn known(
    module: &Path,
    program: &Program,
    kernel: FuncId,
    folders: &[PathBuf],
    sources: &mut Sources,
) -> Result<Known, Vec<Diagnostic>> {
    let mut known = triton::known(module, &program.functions[kernel.index()], sources)?;
    if known.names.is_empty() {
        let cuda::Names { names, why } = cuda::names(module, program, kernel, folders);
        known.names = names;
        known.names_why = Some(why).filter(|why| !why.is_empty());
    }
    Ok(known)
}

/// The names that the sources of `module` give to the parameters of `kernel`, by index.
pub fn names(module: &Path, program: &Program, kernel: FuncId, folders: &[PathBuf]) -> BTreeMap<usize, String> {
    known(module, program, kernel, folders, &mut Sources::default()).map_or_else(|_| BTreeMap::new(), |known| known.names)
}
