//! Folders of PTX: the caches of Triton and of Inductor, which have a subfolder for each kernel, and those of CuPy.

use std::fs;
use std::path::{Path, PathBuf};

use crate::base::save::cause;

/// Maximum depth of the search: Inductor's cache contains Triton's.
const DEPTH: usize = 6;
/// Maximum of files in a folder.
const FILES: usize = 100_000;
/// Extensions of files that may have PTX.
const EXTENSIONS: &[&str] = &["ptx", "cubin", "fatbin"];

/// The files below the folder at `path` that may have PTX, sorted by name. A cubin is omitted if there is PTX of the same name.
///
/// # Errors
/// A folder cannot be read, or there are too many files, in a line.
pub fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    let (mut found, mut seen) = (Vec::new(), 0);
    search(path, DEPTH, &mut found, &mut seen)?;
    found.sort();
    let has_ptx =
        |file: &PathBuf| file.extension().is_some_and(|end| end != "ptx") && found.binary_search(&file.with_extension("ptx")).is_ok();
    Ok(found.iter().filter(|file| !has_ptx(file)).cloned().collect())
}

fn search(folder: &Path, depth: usize, found: &mut Vec<PathBuf>, seen: &mut usize) -> Result<(), String> {
    let cannot = |error| format!("cannot read the folder {}: {}", folder.display(), cause(&error));
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(cannot)?);
        *seen += 1;
        if *seen > FILES {
            return Err(format!("{} has more than {FILES} files: name a folder in it", folder.display()));
        }
        // Links to folders may form a cycle: only links to files are followed.
        if kind.is_dir() && depth > 0 {
            search(&path, depth - 1, found, seen)?;
        } else if path.extension().is_some_and(|end| EXTENSIONS.iter().any(|known| end == *known)) && path.is_file() {
            found.push(path);
        }
    }
    Ok(())
}
