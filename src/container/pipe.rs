//! Files that can be read only once, such as pipes: their bytes are cached, since a program or a library is read at random offsets.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::base::read_bounded;

/// Maximum bytes that are read from a pipe.
const PIPE_BYTES: u64 = 512 << 20;

/// The bytes that were read from pipes, by path.
static CACHE: Mutex<BTreeMap<PathBuf, Arc<[u8]>>> = Mutex::new(BTreeMap::new());

/// The cached bytes of the pipe at `path`, if it has been read.
pub fn cached(path: &Path) -> Option<Arc<[u8]>> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
}

/// The bytes of the pipe at `path`, which is read to its end the first time; `None` if `path` is not a pipe.
///
/// # Errors
/// The error of the operating system, or the limit is exceeded.
pub fn read(path: &Path) -> io::Result<Option<Arc<[u8]>>> {
    if let Some(bytes) = cached(path) {
        return Ok(Some(bytes));
    }
    if path.metadata().map_or(true, |metadata| metadata.is_file() || metadata.is_dir()) {
        return Ok(None);
    }
    let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {PIPE_BYTES} bytes come out of it"));
    let bytes: Arc<[u8]> = read_bounded(path, PIPE_BYTES)?.ok_or_else(too_large)?.into();
    CACHE.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf(), Arc::clone(&bytes));
    Ok(Some(bytes))
}
