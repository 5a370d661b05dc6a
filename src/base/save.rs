//! Atomic writes of files.
//!
//! The content is written to a temporary file in the same folder, synced, and renamed over the old file: even after a full disk or a
//! crash, the name has either all of the old or all of the new content. A device, a FIFO or a descriptor of the process cannot be
//! replaced and is written directly.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Maximum of symbolic links that are followed, as on Linux.
const LINKS_MAX: usize = 40;

/// The file that a path denotes.
enum Target {
    /// A regular file, with its metadata if it exists.
    Name(PathBuf, Option<Metadata>),
    /// A file that can be written but not replaced.
    Stream(PathBuf),
}

/// Writes `parts`, concatenated, as the content of the file at `path`. Symbolic links are followed; an old file keeps its permissions,
/// and its owner if the system allows it.
///
/// # Errors
/// The error of the system call that failed. An old regular file is then unchanged.
pub fn save(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    save_with(path, |file| parts.iter().try_for_each(|part| file.write_all(part)))
}

/// [`save`] with the content that `write` writes.
///
/// # Errors
/// As of [`save`], and those of `write`.
pub fn save_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    match target(path)? {
        Target::Name(name, old) => replace(&name, old.as_ref(), write),
        Target::Stream(name) => write(&mut stream(&name)?),
    }
}

fn target(path: &Path) -> io::Result<Target> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS_MAX {
        let found = match fs::symlink_metadata(&path) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Target::Name(path, None)),
            Err(error) => return Err(error),
        };
        if found.is_dir() {
            return Err(ErrorKind::IsADirectory.into());
        }
        if found.is_file() {
            return Ok(Target::Name(path, Some(found)));
        }
        // A link in /proc denotes an open file, not a name.
        if !found.is_symlink() || fs::canonicalize(folder_of(&path))?.starts_with("/proc") {
            return Ok(Target::Stream(path));
        }
        path = folder_of(&path).join(fs::read_link(&path)?);
    }
    Err(io::Error::other("too many symbolic links"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Opens a stream: standard output and standard error are duplicated, with their file position; anything else is opened without truncating.
fn stream(name: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let (out, err) = (io::stdout(), io::stderr());
        let own = match name.file_name().and_then(|name| name.to_str()) {
            Some("1") => Some(out.as_fd()),
            Some("2") => Some(err.as_fd()),
            _ => None,
        };
        if let Some(fd) = own.filter(|_| fs::canonicalize(folder_of(name)).is_ok_and(|folder| is_ours(&folder))) {
            return Ok(File::from(fd.try_clone_to_owned()?));
        }
    }
    OpenOptions::new().append(true).open(name)
}

/// True if `folder` lists the descriptors of this process.
#[cfg(unix)]
fn is_ours(folder: &Path) -> bool {
    folder.starts_with(format!("/proc/{}", std::process::id()))
}

fn replace(name: &Path, old: Option<&Metadata>, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let folder = folder_of(name);
    fs::metadata(folder)?;
    let mut new = temporary(folder)
        .map_err(|error| io::Error::new(error.kind(), format!("no temporary file can be made beside it: {}", cause(&error))))?;
    write(new.as_file_mut())?;
    if let Some(old) = old {
        keep_owner(new.as_file(), old);
        new.as_file().set_permissions(old.permissions())?;
    }
    new.as_file().sync_all()?;
    new.persist(name).map_err(|error| error.error)?;
    // The rename is durable when the folder is synced. Not every file system syncs folders.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ptxdbg-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Mode 0666 without the bits of the umask, as for any new file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder).map_err(|error| error.kind().into())
}

/// Gives the new file the owner of the old one; this fails silently without privileges.
fn keep_owner(new: &File, old: &Metadata) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        if let Ok(now) = new.metadata()
            && (now.uid(), now.gid()) != (old.uid(), old.gid())
        {
            let _ = fchown(new, Some(old.uid()), Some(old.gid()));
        }
    }
    #[cfg(not(unix))]
    let _ = (new, old);
}

/// The message of a system error, in lower case and without its number.
pub fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}
