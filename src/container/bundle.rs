//! Bundles: one file with all that a session follows from, an archive (tar) packed with zstd, in a row of frames.
//!
//! What lies in a bundle is named by a path below it, as if the bundle were a folder: `bug.ptxcap/launch.ron`. [`read`], [`member`] and
//! [`is_file`] take such paths and those of ordinary files alike, so that what reads a file need not know where it lies. A bundle is read
//! as a stream, up to the member that is asked for: memory is needed for the member alone. It is written as a stream, too.

mod frames;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};

use tar::EntryType;

use self::frames::{Frames, MAGIC, Packer};
use crate::base::{read_bounded, save};

/// Members of a bundle at most.
const MEMBERS_MAX: usize = 1 << 12;
/// Bytes of all members of a bundle at most: a small file may unpack to any size.
const BYTES_MAX: u64 = 16 << 30;
/// When all bundles were made: equal sessions give equal bundles.
const MADE: u64 = 0;

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

/// What a bundle holds: names and sizes in bytes, in order.
pub type Members = Vec<(String, u64)>;

/// The bundle in which `path` lies, and the name of what lies there.
fn member_of(path: &Path) -> Option<(&Path, String)> {
    let bundle = path.ancestors().skip(1).find(|above| above.is_file()).filter(|above| is_bundle(above))?;
    let name = path.strip_prefix(bundle).ok()?;
    Some((bundle, plain_name(name)?))
}

/// Whether a file is a bundle, by its first bytes.
pub fn is_bundle(path: &Path) -> bool {
    let mut head = [0; MAGIC.len()];
    path.is_file() && File::open(path).is_ok_and(|mut file| file.read_exact(&mut head).is_ok()) && head == MAGIC
}

/// The name of a member, if it is one that cannot lead out of a folder.
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

/// Whether `path` is a place in a bundle.
pub fn is_inside(path: &Path) -> bool {
    member_of(path).is_some()
}

/// Whether `name` can be the name of a member.
pub fn is_member_name(name: &str) -> bool {
    plain_name(Path::new(name)).is_some()
}

/// Whether there is a file at `path`, or below a bundle.
pub fn is_file(path: &Path) -> bool {
    path.is_file() || member_of(path).is_some_and(|(bundle, name)| matches!(find(bundle, &name, |_, _| Ok(())), Ok(Some(()))))
}

/// What `take` makes of the size and the bytes of the member at `path`; none if `path` lies in no bundle.
///
/// # Errors
/// The bundle cannot be used, or has no such member; those of `take`.
pub fn member<T>(path: &Path, take: impl FnOnce(u64, &mut dyn Read) -> io::Result<T>) -> Option<io::Result<T>> {
    let (bundle, name) = member_of(path)?;
    Some(found(find(bundle, &name, take)))
}

/// The bytes of the file at `path`, or of the member of a bundle; none if there are more than `bytes_max`.
///
/// # Errors
/// What the system says of the file, or what is wrong with the bundle.
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

/// What `take` makes of the size and the bytes of the member `name`; none if there is no such member.
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

/// The members of the bundle at `path`, all of which are unpacked once: what is damaged is found here.
///
/// # Errors
/// The bundle is damaged, is none, or has members that no bundle has, with the place.
pub fn members(path: &Path) -> Result<Members, BundleError> {
    let file = File::open(path).map(BufReader::new);
    file.and_then(members_of).map_err(|error| BundleError { path: path.to_path_buf(), what: cause(&error) })
}

/// The same of the bytes of a bundle.
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
    // Raw: long names and other extensions of the format, which a bundle has none of, are not read into memory.
    for (number, entry) in archive.entries()?.raw(true).enumerate() {
        let wrong = |error: io::Error| io::Error::new(error.kind(), format!("member {}: {}", number + 1, cause(&error)));
        if number == MEMBERS_MAX {
            return Err(io::Error::other(format!("a bundle has at most {MEMBERS_MAX} members")));
        }
        let mut entry = entry.map_err(wrong)?;
        match entry.header().entry_type() {
            // The folders in which other members lie.
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
    let after = first_byte_but_zero(&mut frames)?;
    if frames.limit() == 0 {
        return Err(io::Error::other(format!("it unpacks to more than {BYTES_MAX} bytes")));
    }
    match after {
        Some(byte) => Err(io::Error::other(format!("after the end of its archive there is more: byte {byte:#04x}"))),
        None => Ok(()),
    }
}

/// Reads `rest` to its end, in which an archive has zeros alone; the first byte that is none.
fn first_byte_but_zero(rest: &mut impl Read) -> io::Result<Option<u8>> {
    let (mut found, mut piece) = (None, vec![0; 64 << 10]);
    loop {
        match rest.read(&mut piece)? {
            0 => return Ok(found),
            count => found = found.or_else(|| piece[..count].iter().copied().find(|byte| *byte != 0)),
        }
    }
}

/// The message of a system error, without its number.
fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_string()
}

/// What a member holds.
#[derive(Clone, Debug)]
pub enum Content {
    /// These bytes.
    Bytes(Vec<u8>),
    /// What the file has, or the member of a bundle, when the bundle is written; of more bytes than this it is refused.
    File(PathBuf, u64),
}

/// Writes a bundle of these members to `path`, whole or not at all. Files are read piece by piece.
///
/// # Errors
/// It or a file cannot be written or read, or is no bundle by the size or the names of its members.
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
    let (place, most) = match content {
        Content::Bytes(bytes) => return append(archive, name, bytes.len() as u64, &mut &bytes[..]),
        Content::File(place, most) => (place, *most),
    };
    let mut copy = |bytes: u64, content: &mut dyn Read| match bytes > most {
        true => Err(io::Error::other(format!("it has more than {most} bytes"))),
        false => append(archive, name, bytes, content),
    };
    let copied = member(place, &mut copy).unwrap_or_else(|| {
        let mut file = File::open(place)?;
        let metadata = file.metadata()?;
        if metadata.is_file() {
            return copy(metadata.len(), &mut file);
        }
        // What has no size is read as a whole.
        let bytes = read_bounded(place, most)?.ok_or_else(|| io::Error::other(format!("it has more than {most} bytes")))?;
        copy(bytes.len() as u64, &mut &bytes[..])
    });
    copied.map_err(|error| io::Error::new(error.kind(), format!("cannot read {}: {}", place.display(), cause(&error))))
}

/// Adds a member of `bytes` bytes, which `content` must have.
fn append(archive: &mut tar::Builder<impl Write>, name: &str, bytes: u64, content: &mut dyn Read) -> io::Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_path(name)?;
    header.set_size(bytes);
    header.set_mode(0o644);
    header.set_mtime(MADE);
    header.set_cksum();
    let mut counted = content.take(bytes);
    archive.append(&header, &mut counted)?;
    match counted.limit() {
        0 => Ok(()),
        left => Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("it ends {left} bytes before the size that it had"))),
    }
}

/// The frames of a bundle with this archive in it.
pub fn packed(archive: &[u8]) -> Vec<u8> {
    frames::packed(archive)
}
