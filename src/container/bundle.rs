//! Bundles: one file with all that a session follows from, an archive (tar) in one zstd frame.
//!
//! What lies in a bundle is named by a path below it, as if the bundle were a folder: `bug.ptxcap/launch.ron`. [`read`], [`member`] and
//! [`is_file`] take such paths and those of ordinary files alike, so that what reads a file need not know where it lies. A bundle is read
//! as a stream, up to the member that is asked for: memory is needed for the member alone.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::base::{read_bounded, save};

/// What a zstd frame begins with (RFC 8878, 3.1.1).
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
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
    walked.map_err(|error| BundleError { path: bundle.to_path_buf(), what: reason(&error) })?;
    Ok(taken)
}

/// The members of the bundle at `path`, all of which are unpacked once: what is damaged is found here.
///
/// # Errors
/// The bundle is damaged, is none, or has members that no bundle has, with the place.
pub fn members(path: &Path) -> Result<Members, BundleError> {
    let file = File::open(path).map(BufReader::new);
    file.and_then(members_of).map_err(|error| BundleError { path: path.to_path_buf(), what: reason(&error) })
}

/// The same of the bytes of a bundle.
///
/// # Errors
/// As those of [`members`].
pub fn members_of(bundle: impl Read) -> io::Result<Members> {
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
fn walk(bundle: impl Read, mut visit: impl FnMut(&str, u64, &mut dyn Read) -> io::Result<bool>) -> io::Result<()> {
    let decoder = StreamingDecoder::new_with_decoder(bundle, FrameDecoder::new()).map_err(io::Error::other)?;
    let mut archive = tar::Archive::new(decoder.take(BYTES_MAX));
    // Raw: long names and other extensions of the format, which a bundle has none of, are not read into memory.
    for (number, entry) in archive.entries()?.raw(true).enumerate() {
        let wrong = |error: io::Error| io::Error::new(error.kind(), format!("member {}: {}", number + 1, reason(&error)));
        if number == MEMBERS_MAX {
            return Err(io::Error::other(format!("a bundle has at most {MEMBERS_MAX} members")));
        }
        let mut entry = entry.map_err(wrong)?;
        let name = plain_name(&entry.path()?).filter(|_| entry.header().entry_type().is_file());
        let name = name.ok_or_else(|| wrong(io::Error::other("it is not a regular file with a plain name")))?;
        let bytes = entry.size();
        if !visit(&name, bytes, &mut entry).map_err(wrong)? {
            return Ok(());
        }
    }
    let mut decoder = archive.into_inner();
    io::copy(&mut decoder, &mut io::sink())?;
    if decoder.limit() == 0 {
        return Err(io::Error::other(format!("it unpacks to more than {BYTES_MAX} bytes")));
    }
    let decoder = decoder.into_inner().decoder;
    match decoder.get_checksum_from_data() == decoder.get_calculated_checksum() {
        true => Ok(()),
        false => Err(io::Error::other("the checksum at its end is that of other bytes")),
    }
}

/// What the system says, without its number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_string()
}

/// Writes a bundle of these members to `path`, whole or not at all.
///
/// # Errors
/// It cannot be written, or is no bundle by the size or the names of its members.
pub fn write(path: &Path, members: &[(String, Vec<u8>)]) -> Result<(), BundleError> {
    assert!(members.len() <= MEMBERS_MAX, "a bundle of {} members", members.len());
    let fail = |error: io::Error| BundleError { path: path.to_path_buf(), what: reason(&error) };
    let mut archive = tar::Builder::new(Vec::new());
    for (name, content) in members {
        assert!(plain_name(Path::new(name)).is_some_and(|plain| plain == *name), "'{name}' is not the name of a member");
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(MADE);
        header.set_path(name).map_err(fail)?;
        header.set_cksum();
        archive.append(&header, &content[..]).map_err(fail)?;
    }
    let archive = archive.into_inner().map_err(fail)?;
    save::save(path, &[&packed(&archive)]).map_err(fail)
}

/// The frame of a bundle with this archive in it.
pub fn packed(archive: &[u8]) -> Vec<u8> {
    compress_to_vec(archive, CompressionLevel::Fastest)
}
