//! Bundles: one file with everything needed to reproduce a session, a tar archive compressed with zstd, in a sequence of frames.
//!
//! A member of a bundle is named by a path below it, as if the bundle were a folder: `bug.ptxcap/launch.ron`. [`read`], [`member`] and
//! [`is_file`] accept such paths as well as those of ordinary files, so that callers need not distinguish them. A bundle is read as a
//! stream, up to the requested member: only that member is in memory. It is written as a stream, too.

mod frames;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};

use tar::EntryType;

use self::frames::{Frames, MAGIC, Packer};
use crate::base::{read_bounded, save};

/// Maximum of members of a bundle.
const MEMBERS_MAX: usize = 1 << 12;
/// Maximum bytes of all members of a bundle: a small file may unpack to any size.
const BYTES_MAX: u64 = 16 << 30;
/// The modification time of all members: equal sessions give equal bundles.
const MODIFIED: u64 = 0;

/// A bundle cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}", path.display())]
pub struct BundleError {
    path: PathBuf,
    what: String,
}

/// The member of a bundle that is its launch file.
pub const LAUNCH: &str = "launch.ron";

/// The launch file of the bundle at `path`.
pub fn launch_of(path: &Path) -> PathBuf {
    path.join(LAUNCH)
}

/// The members of a bundle: names and sizes in bytes, in order.
pub type Members = Vec<(String, u64)>;

/// The bundle and the name of the member that `path` refers to.
fn member_of(path: &Path) -> Option<(&Path, String)> {
    let bundle = path.ancestors().skip(1).find(|above| above.is_file()).filter(|above| is_bundle(above))?;
    let name = path.strip_prefix(bundle).ok()?;
    Some((bundle, plain_name(name)?))
}

/// True if a file is a bundle, by its first bytes.
pub fn is_bundle(path: &Path) -> bool {
    let mut head = [0; MAGIC.len()];
    path.is_file() && File::open(path).is_ok_and(|mut file| file.read_exact(&mut head).is_ok()) && head == MAGIC
}

/// The name of a member, if it is a relative path without `..`.
fn plain_name(name: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = name
        .components()
        // `./name`, as `tar -c .` writes it, is `name`.
        .filter(|part| *part != Component::CurDir)
        .map(|part| match part {
            Component::Normal(part) => part.to_str(),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
        })
        .collect();
    parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join("/"))
}

/// True if `path` is below a bundle.
pub fn is_inside(path: &Path) -> bool {
    member_of(path).is_some()
}

/// True if `name` can be the name of a member.
pub fn is_member_name(name: &str) -> bool {
    plain_name(Path::new(name)).is_some()
}

/// True if `path` is a file or a member of a bundle.
pub fn is_file(path: &Path) -> bool {
    path.is_file() || member_of(path).is_some_and(|(bundle, name)| matches!(find(bundle, &name, |_, _| Ok(())), Ok(Some(()))))
}

/// Calls `take` with the size and the bytes of the member at `path`; `None` if `path` is not below a bundle.
///
/// # Errors
/// The bundle cannot be used, or has no such member; those of `take`.
pub fn member<T>(path: &Path, take: impl FnOnce(u64, &mut dyn Read) -> io::Result<T>) -> Option<io::Result<T>> {
    let (bundle, name) = member_of(path)?;
    Some(found(find(bundle, &name, take)))
}

/// The bytes of the file at `path`, or of the member of a bundle; `None` if there are more than `bytes_max`.
///
/// # Errors
/// The error of the operating system, or a defect of the bundle.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let Some((bundle, name)) = member_of(path) else { return read_bounded(path, bytes_max) };
    let taken = find(bundle, &name, |bytes, member| {
        if bytes > bytes_max {
            return Ok(None);
        }
        let mut content = Vec::new();
        member.read_to_end(&mut content)?;
        match content.len() as u64 == bytes {
            true => Ok(Some(content)),
            false => Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("'{name}' ends before its {bytes} bytes"))),
        }
    });
    found(taken)
}

fn found<T>(found: Result<Option<T>, BundleError>) -> io::Result<T> {
    match found {
        Ok(Some(found)) => Ok(found),
        Ok(None) => Err(io::Error::new(io::ErrorKind::NotFound, "there is no such member of the bundle")),
        Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error.what)),
    }
}

/// Calls `take` with the size and the bytes of the member `name`; `None` if there is no such member.
fn find<T>(bundle: &Path, name: &str, take: impl FnOnce(u64, &mut dyn Read) -> io::Result<T>) -> Result<Option<T>, BundleError> {
    let mut take = Some(take);
    let mut taken = None;
    let file = File::open(bundle).map(BufReader::new);
    let walked = file.and_then(|file| {
        walk(file, |member, bytes, content| {
            if member == name
                && let Some(take) = take.take()
            {
                taken = Some(take(bytes, content)?);
            }
            Ok(take.is_some())
        })
    });
    walked.map_err(|error| BundleError { path: bundle.to_path_buf(), what: cause(&error) })?;
    Ok(taken)
}

/// The members of the bundle at `path`, all of which are unpacked once to find damage.
///
/// # Errors
/// The file is damaged, is not a bundle, or has members that no bundle has.
pub fn members(path: &Path) -> Result<Members, BundleError> {
    let file = File::open(path).map(BufReader::new);
    file.and_then(members_of).map_err(|error| BundleError { path: path.to_path_buf(), what: cause(&error) })
}

/// [`members`] for the bytes of a bundle.
///
/// # Errors
/// As those of [`members`].
pub fn members_of(bundle: impl BufRead) -> io::Result<Members> {
    let mut members = Members::new();
    walk(bundle, |name, bytes, content| {
        let unpacked = io::copy(content, &mut io::sink())?;
        if unpacked != bytes {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("'{name}' ends after {unpacked} of its {bytes} bytes")));
        }
        if members.iter().any(|(other, _)| other == name) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("'{name}' is there twice")));
        }
        members.push((name.to_string(), bytes));
        Ok(true)
    })?;
    Ok(members)
}

/// Calls `visit` for the members in order, until it returns false; an error names the member.
fn walk(bundle: impl BufRead, mut visit: impl FnMut(&str, u64, &mut dyn Read) -> io::Result<bool>) -> io::Result<()> {
    let mut archive = tar::Archive::new(Frames::new(bundle)?.take(BYTES_MAX));
    // Raw: extensions of the format such as long names, which a bundle does not have, are not read into memory.
    for (number, entry) in archive.entries()?.raw(true).enumerate() {
        let wrong = |error: io::Error| io::Error::new(error.kind(), format!("member {}: {}", number + 1, cause(&error)));
        if number == MEMBERS_MAX {
            return Err(io::Error::other(format!("a bundle has at most {MEMBERS_MAX} members")));
        }
        let mut entry = entry.map_err(wrong)?;
        match entry.header().entry_type() {
            // The folders of other members.
            EntryType::Directory => continue,
            EntryType::XHeader | EntryType::XGlobalHeader | EntryType::GNULongName | EntryType::GNULongLink => {
                return Err(wrong(io::Error::other("it is an extension of the archive's format: pack with tar --format=ustar")));
            }
            _ => {}
        }
        let name = plain_name(&entry.path()?).filter(|_| entry.header().entry_type().is_file());
        let name = name.ok_or_else(|| wrong(io::Error::other("it is not a regular file with a plain name")))?;
        let bytes = entry.size();
        if !visit(&name, bytes, &mut entry).map_err(wrong)? {
            return Ok(());
        }
    }
    let mut frames = archive.into_inner();
    let after = first_nonzero_byte(&mut frames)?;
    if frames.limit() == 0 {
        return Err(io::Error::other(format!("it unpacks to more than {BYTES_MAX} bytes")));
    }
    match after {
        Some(byte) => Err(io::Error::other(format!("after the end of its archive there is more: byte {byte:#04x}"))),
        None => Ok(()),
    }
}

/// Reads `rest`, the zero padding of an archive, to its end; returns the first nonzero byte.
fn first_nonzero_byte(rest: &mut impl Read) -> io::Result<Option<u8>> {
    let (mut found, mut chunk) = (None, vec![0; 64 << 10]);
    loop {
        match rest.read(&mut chunk)? {
            0 => return Ok(found),
            count => found = found.or_else(|| chunk[..count].iter().copied().find(|byte| *byte != 0)),
        }
    }
}

/// The message of a system error, without its number.
fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_string()
}

/// The content of a member.
#[derive(Clone, Debug)]
pub enum Content {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The content of the file or member at this path when the bundle is written; an error if it has more than this many bytes.
    File(PathBuf, u64),
}

/// Writes a bundle of these members to `path` atomically. Files are read in chunks.
///
/// # Errors
/// It cannot be written, a file cannot be read, or a member is too large.
pub fn write(path: &Path, members: &[(String, Content)]) -> Result<(), BundleError> {
    assert!(members.len() <= MEMBERS_MAX, "a bundle of {} members", members.len());
    let fail = |error: io::Error| BundleError { path: path.to_path_buf(), what: cause(&error) };
    save::save_with(path, |file| {
        let mut archive = tar::Builder::new(Packer::new(file));
        for (name, content) in members {
            assert!(plain_name(Path::new(name)).is_some_and(|plain| plain == *name), "'{name}' is not the name of a member");
            append_content(&mut archive, name, content)?;
        }
        archive.into_inner()?.finish()
    })
    .map_err(fail)
}

fn append_content(archive: &mut tar::Builder<impl Write>, name: &str, content: &Content) -> io::Result<()> {
    let (path, most) = match content {
        Content::Bytes(bytes) => return append(archive, name, bytes.len() as u64, &mut &bytes[..]),
        Content::File(path, most) => (path, *most),
    };
    let mut copy = |bytes: u64, content: &mut dyn Read| match bytes > most {
        true => Err(io::Error::other(format!("it has more than {most} bytes"))),
        false => append(archive, name, bytes, content),
    };
    let copied = member(path, &mut copy).unwrap_or_else(|| {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_file() {
            return copy(metadata.len(), &mut file);
        }
        // A pipe has no size: it is read as a whole.
        let bytes = read_bounded(path, most)?.ok_or_else(|| io::Error::other(format!("it has more than {most} bytes")))?;
        copy(bytes.len() as u64, &mut &bytes[..])
    });
    copied.map_err(|error| io::Error::new(error.kind(), format!("cannot read {}: {}", path.display(), cause(&error))))
}

/// Adds a member of `bytes` bytes, which `content` must have.
fn append(archive: &mut tar::Builder<impl Write>, name: &str, bytes: u64, content: &mut dyn Read) -> io::Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_path(name)?;
    header.set_size(bytes);
    header.set_mode(0o644);
    header.set_mtime(MODIFIED);
    header.set_cksum();
    let mut counted = content.take(bytes);
    archive.append(&header, &mut counted)?;
    match counted.limit() {
        0 => Ok(()),
        left => Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("it ends {left} bytes before the size that it had"))),
    }
}

/// The frames of a bundle with the content `archive`.
pub fn packed(archive: &[u8]) -> Vec<u8> {
    frames::packed(archive)
}
