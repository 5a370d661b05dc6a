//! Folders for as long as a program is captured.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::TempDir;

/// Begins their names.
const PREFIX: &str = ".ptxdbg-capture-";
/// A file of each that is locked while it is used.
const LOCK: &str = "lock";

/// A folder that is removed when it is dropped.
pub struct Folder {
    folder: TempDir,
    _lock: File,
}

impl Folder {
    /// A new one in `parent`. Those of processes that were killed are removed.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(parent: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        remove_unused(parent);
        // A folder without a lock is one that is just being made.
        let being_made = folder.path().join("lock.part");
        let lock = File::create(&being_made)?;
        lock.lock()?;
        fs::rename(being_made, folder.path().join(LOCK))?;
        Ok(Self { folder, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes what processes have left that were killed. What cannot be removed is another user's.
fn remove_unused(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_one = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let is_unused = || File::open(entry.path().join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok());
        if is_one && is_unused() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_are_used_stay() {
        let parent = tempfile::tempdir().unwrap();
        let killed = parent.path().join(".ptxdbg-capture-killed");
        fs::create_dir(&killed).unwrap();
        fs::write(killed.join(LOCK), "").unwrap();
        let other = parent.path().join(".ptxdbg-other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join(LOCK), "").unwrap();
        let first = Folder::new(parent.path()).unwrap();
        assert!(!killed.exists() && other.exists());
        let second = Folder::new(parent.path()).unwrap();
        assert!(first.path().exists() && second.path().exists());
        drop((first, second));
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }
}
