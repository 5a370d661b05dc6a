//! Reading files whole, up to a bound: a device, a pipe or a sparse file may have no end that memory could hold.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The bytes of the file at `path`; none if there are more than `bytes_max`.
///
/// # Errors
/// What the system says of the file.
pub fn read_bounded(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let file = File::open(path)?;
    // A regular file says its size; what has no size is read up to the bound.
    if file.metadata()?.len() > bytes_max {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= bytes_max).then_some(bytes))
}
