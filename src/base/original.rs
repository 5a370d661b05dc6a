//! Where the text lies that a PTX file was made from.

use std::path::{Path, PathBuf};

/// Where a text that `.file` calls `name` may lie: where its name says, and beside the file `ptx` and in each of `folders`, with its whole
/// name and with its last part.
pub fn original_places(name: &str, ptx: &Path, folders: &[PathBuf]) -> Vec<PathBuf> {
    let name = Path::new(name);
    let beside = ptx.parent().map(Path::to_path_buf);
    let folders = beside.iter().chain(folders);
    let inside = folders.flat_map(|folder| [Some(folder.join(name)), name.file_name().map(|last| folder.join(last))]);
    std::iter::once(name.to_path_buf()).chain(inside.flatten()).collect()
}
