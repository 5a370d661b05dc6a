//! Paths of the source from which a PTX file was compiled.

use std::path::{Path, PathBuf};

/// Candidate paths of a source file that `.file` calls `name`: the name itself, and in the folder of the file `ptx` and each of
/// `folders`, the name and its last component.
pub fn source_paths(name: &str, ptx: &Path, folders: &[PathBuf]) -> Vec<PathBuf> {
    let name = Path::new(name);
    let parent = ptx.parent().map(Path::to_path_buf);
    let folders = parent.iter().chain(folders);
    let inside = folders.flat_map(|folder| [Some(folder.join(name)), name.file_name().map(|last| folder.join(last))]);
    std::iter::once(name.to_path_buf()).chain(inside.flatten()).collect()
}
