//! Folders of PTX: the caches of Triton and of Inductor, which have a folder for each kernel, and those of CuPy.

use std::fs;
use std::path::{Path, PathBuf};

use crate::base::save::cause;

/// How deep folders are looked into: Inductor's cache has Triton's within it.
const DEPTH: usize = 6;
/// Files that are looked at, at most.
const FILES: usize = 100_000;
/// Files that hold PTX, or may.
const EXTENSIONS: &[&str] = &["ptx", "cubin", "fatbin"];

/// The files below the folder at `path` that may hold PTX, by name. A cubin beside PTX of the same name is left out.
///
/// # Errors
/// A folder cannot be read, or there are too many files, in a line.
pub fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    let (mut found, mut seen) = (Vec::new(), 0);
    look(path, DEPTH, &mut found, &mut seen)?;
    found.sort();
    let is_second =
        |file: &PathBuf| file.extension().is_some_and(|end| end != "ptx") && found.binary_search(&file.with_extension("ptx")).is_ok();
    let kept: Vec<PathBuf> = found.iter().filter(|file| !is_second(file)).cloned().collect();
    Ok(kept)
}

fn look(folder: &Path, depth: usize, found: &mut Vec<PathBuf>, seen: &mut usize) -> Result<(), String> {
    let cannot = |error| format!("cannot read the folder {}: {}", folder.display(), cause(&error));
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(cannot)?);
        *seen += 1;
        if *seen > FILES {
            return Err(format!("{} has more than {FILES} files: name a folder in it", folder.display()));
        }
        // A link may lead around in a circle: it is followed to files only.
        if kind.is_dir() && depth > 0 {
            look(&path, depth - 1, found, seen)?;
        } else if path.extension().is_some_and(|end| EXTENSIONS.iter().any(|known| end == *known)) && path.is_file() {
            found.push(path);
        }
    }
    Ok(())
}
