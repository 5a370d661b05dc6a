//! Error messages for files without PTX: the kind of the file, and how to get PTX for it.

use std::path::Path;

use crate::base::{SourceFile, counted};
use crate::container::{Container, first_token};
use crate::sema::FileError;

/// Advice on compiling so that the file contains PTX next to machine code.
const COMPILE: &str = "compile with -lineinfo, which keeps the PTX in a cubin, or for a virtual architecture too, such as \
                       -gencode arch=compute_90,code=compute_90";

/// The error for the file at `path`, which contains no module, with advice.
pub(super) fn without_ptx(path: &Path, container: &Container) -> String {
    let (name, what) = (path.display(), container.what());
    match (container.cubins(), container.lto_targets()) {
        (0, []) if !container.has_device_sections() => format!(
            "{name} is {what} without code for a GPU: it has no section of fat binaries (.nv_fatbin), which nvcc makes; give the program, \
             the library or the object that has the kernels, or their PTX"
        ),
        (0, []) => format!("{name} is {what}, and has no PTX: no code for a GPU is in it; {COMPILE}"),
        (0, [target, ..]) => {
            let number = target.trim_start_matches("sm_");
            format!(
                "{name} is {what}, and has no PTX: it has LTO IR alone, for {target}, which becomes machine code at link time; link with \
                 nvcc -dlto, or compile with -gencode arch=compute_{number},code=compute_{number}"
            )
        }
        (count, _) => {
            format!("{name} is {what}, and has no PTX: it has machine code alone, in {}; {COMPILE}", counted(count as u64, "cubin"))
        }
    }
}

/// Checks that `text`, of the file at `path`, begins with `.version`.
///
/// # Errors
/// The text begins with something else: the message has its position.
pub(super) fn check_is_ptx(path: &Path, text: &str) -> Result<(), String> {
    let (at, word) = match first_token(text) {
        Some((_, ".version")) => return Ok(()),
        Some(found) => found,
        None if text.is_empty() => return Err(format!("{} is empty: a module begins with .version", path.display())),
        None => (0, ""),
    };
    let place = SourceFile::new("", text).position(at as u32);
    let here = if word.is_empty() { "white space and comments alone".to_string() } else { format!("'{}'", word.escape_debug()) };
    Err(format!("{}:{}:{}: this is no PTX: a module begins with .version, and here is {here}", path.display(), place.line, place.column))
}

/// The error for the file at `path`, which cannot be read as text.
pub(super) fn unreadable(path: &Path, error: &FileError) -> String {
    match error {
        FileError::Unreadable { .. } if path == Path::new("-") => "'-' is no file: give standard input as /dev/stdin".to_string(),
        FileError::Binary { .. } | FileError::Unreadable { .. } | FileError::TooLarge { .. } => error.to_string(),
    }
}
