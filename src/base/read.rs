//! Reading whole files up to a size limit: a device, a pipe or a sparse file may not fit in memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The bytes of the file at `path`; `None` if there are more than `bytes_max`.
///
/// # Errors
/// The error of the operating system.
pub fn read_bounded(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let file = File::open(path)?;
    // A file without a size, such as a pipe, is read up to the limit.
    if file.metadata()?.len() > bytes_max {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= bytes_max).then_some(bytes))
}
