//! Files that can be read once only, as pipes are: what comes out of them is kept, since a program or a library is read here and there.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::base::read_bounded;

/// Bytes that are taken out of a pipe at most.
const PIPE_BYTES: u64 = 512 << 20;

/// What has come out of pipes, by their paths.
static KEPT: Mutex<BTreeMap<PathBuf, Arc<[u8]>>> = Mutex::new(BTreeMap::new());

/// The bytes that came out of the pipe at `path`, if it has been read.
pub fn kept(path: &Path) -> Option<Arc<[u8]>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
}

/// The same, of a pipe that has not been read yet once it has been, up to its end; none if there is something else at `path`, or nothing.
///
/// # Errors
/// What the system says, or that there is more than can be kept.
pub fn read(path: &Path) -> io::Result<Option<Arc<[u8]>>> {
    if let Some(bytes) = kept(path) {
        return Ok(Some(bytes));
    }
    if path.metadata().map_or(true, |metadata| metadata.is_file() || metadata.is_dir()) {
        return Ok(None);
    }
    let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {PIPE_BYTES} bytes come out of it"));
    let bytes: Arc<[u8]> = read_bounded(path, PIPE_BYTES)?.ok_or_else(too_large)?.into();
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf(), Arc::clone(&bytes));
    Ok(Some(bytes))
}
