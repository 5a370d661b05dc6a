//! Loading of a program from a file or a text.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::link::grid_sync::{self, GRID_SYNC};
use crate::base::{Diagnostic, SourceFile, SourceId, Sources};
use crate::container::{bundle, pipe};
use crate::program::Program;
use crate::program::map::Maps;
use crate::syntax;

/// Largest file in bytes. The largest modules in libraries have about 15 MB.
const FILE_BYTES: u64 = 512 << 20;

/// The error for a file that cannot be read as text.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The operating system reports an error.
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        cause: std::io::Error,
    },
    /// It is not text.
    #[error("{} is not a text file: byte {byte:#04x} at offset {offset}; {hint}", path.display())]
    Binary {
        /// The file.
        path: PathBuf,
        /// The first byte that is not text.
        byte: u8,
        /// The offset of the first such byte.
        offset: usize,
        /// A guess at the kind of file.
        hint: &'static str,
    },
    /// It is too large.
    #[error("{} has more than {FILE_BYTES} bytes, the most that is read", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
}

/// A program, if there is no error, and the diagnostics.
pub type Loaded = (Option<Arc<Program>>, Vec<Diagnostic>);

/// Reads and analyzes the file at `path`, which is added to `sources`.
///
/// # Errors
/// A file that cannot be read, is too large, or is not text. Errors in its text are diagnostics.
pub fn load_file(sources: &mut Sources, path: &Path) -> Result<Loaded, FileError> {
    load_file_at(sources, path, &Maps::default())
}

/// The same, with the address map of `maps`.
///
/// # Errors
/// Those of [`load_file`].
pub fn load_file_at(sources: &mut Sources, path: &Path, maps: &Maps) -> Result<Loaded, FileError> {
    let text = read_file(path)?;
    Ok(load_at(sources, path.to_string_lossy(), text, maps))
}

/// Reads the file at `path` as text.
///
/// # Errors
/// A file that cannot be read, is too large, or is not text.
pub fn read_file(path: &Path) -> Result<String, FileError> {
    if let Some(bytes) = pipe::cached(path) {
        return into_text(path, bytes.to_vec());
    }
    let unreadable = |cause| FileError::Unreadable { path: path.to_path_buf(), cause };
    let bytes = bundle::read(path, FILE_BYTES).map_err(unreadable)?.ok_or_else(|| FileError::TooLarge { path: path.to_path_buf() })?;
    into_text(path, bytes)
}

/// Removes the terminator of a C string, which programs that use NVRTC write to files: zero bytes with only white space after them.
fn without_terminator(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    if bytes[end..].iter().all(|byte| *byte == 0 || byte.is_ascii_whitespace()) {
        bytes.truncate(end);
    }
    bytes
}

fn into_text(path: &Path, bytes: Vec<u8>) -> Result<String, FileError> {
    let bytes = without_terminator(bytes);
    let is_elf = bytes.starts_with(b"\x7fELF");
    // White space is from the tab to the carriage return.
    let is_control = |byte: &u8| *byte < b' ' && !(b'\t'..=b'\r').contains(byte);
    // Nearly all texts have none: a pass without branches says so.
    let has_control = bytes.iter().fold(0, |has, byte| has | u8::from(is_control(byte))) > 0;
    let first_control = || bytes.iter().position(is_control);
    let control = if is_elf { Some(0) } else { has_control.then(first_control).flatten() };
    let hint = if is_elf { "is it a cubin or an executable? 'cuobjdump -ptx' may find PTX in it" } else { "PTX is UTF-8 text" };
    let binary = |bytes: &[u8], offset: usize| FileError::Binary {
        path: path.to_path_buf(),
        byte: bytes.get(offset).copied().unwrap_or(0),
        offset,
        hint,
    };
    if let Some(offset) = control {
        return Err(binary(&bytes, offset));
    }
    String::from_utf8(bytes).map_err(|error| binary(error.as_bytes(), error.utf8_error().valid_up_to()))
}

/// Reads and analyzes `text`, which is added to `sources` as a file called `name`.
///
/// After a syntax error unknown names are not reported: the text that could not be parsed may declare them.
pub fn load(sources: &mut Sources, name: impl Into<String>, text: impl Into<String>) -> Loaded {
    load_at(sources, name, text, &Maps::default())
}

/// The same, with the address map of `maps`.
pub fn load_at(sources: &mut Sources, name: impl Into<String>, text: impl Into<String>, maps: &Maps) -> Loaded {
    load_linked(sources, vec![(name.into(), text.into())], maps)
}

/// Reads and analyzes the text of a module, or several as linked modules, each with the name of its file, with the address map of `maps`.
/// The files are added to `sources`, in order. What modules call of the device runtime is linked with them.
pub fn load_linked(sources: &mut Sources, texts: Vec<(String, String)>, maps: &Maps) -> Loaded {
    let ids: Vec<SourceId> = texts.into_iter().map(|(name, text)| sources.add(SourceFile::new(name, text))).collect();
    let files: Vec<Arc<SourceFile>> = ids.iter().map(|id| sources.file(*id).clone()).collect();
    let (mut modules, mut diags) = (Vec::new(), Vec::new());
    for (id, file) in ids.iter().zip(&files) {
        let (module, errors) = syntax::parse(*id, file.text());
        modules.push(module);
        diags.extend(errors);
    }
    let is_complete = !diags.iter().any(Diagnostic::is_error);
    if grid_sync::is_needed(&modules) {
        let (name, text) = GRID_SYNC;
        let (module, errors) = syntax::parse(sources.add(SourceFile::new(name, text)), text);
        debug_assert!(errors.is_empty(), "the runtime is PTX");
        modules.push(module);
    }
    let (program, found) = match modules.as_slice() {
        [module] => super::analyze(sources.clone(), ids[0], module, maps),
        _ => super::analyze_linked(sources.clone(), &ids, modules, maps),
    };
    diags.extend(found.into_iter().filter(|diag| is_complete || diag.code != "name"));
    diags.sort_by_key(|diag| diag.span);
    (program.filter(|_| is_complete).map(Arc::new), diags)
}
