//! Data files: opened once for size and header when a launch file is resolved, read in chunks when their bytes are needed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::element::Element;
use super::npy;
use crate::container::bundle;

/// Size limit of a data file in a bundle: it is unpacked into memory.
const MEMBER_BYTES_MAX: u64 = 4 << 30;

/// A data file that exists, with its size.
#[derive(Debug)]
pub struct DataFile {
    /// The path it is opened by.
    pub path: PathBuf,
    /// Bytes of the whole file.
    pub bytes: u64,
    /// Header of a `.npy` file.
    pub npy: Option<npy::Header>,
    /// True if it is a member of a bundle.
    is_member: bool,
    /// The bytes of a member, unpacked on first use.
    unpacked: OnceLock<Result<Vec<u8>, String>>,
}

/// A range of bytes of a data file.
#[derive(Clone, Debug)]
pub struct DataRange {
    /// The file.
    pub file: Arc<DataFile>,
    /// Byte offset at which the range starts.
    pub offset: u64,
    /// Conversion of the bytes.
    pub form: Form,
}

/// Conversion of the bytes of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// No conversion.
    Same,
    /// Each f32 to the nearest bf16, ties to even.
    Bf16,
}

/// The data files of one launch file; each is inspected once.
#[derive(Debug, Default)]
pub struct DataFiles {
    known: BTreeMap<PathBuf, Result<Arc<DataFile>, String>>,
}

impl DataFiles {
    /// The file at `path`.
    ///
    /// # Errors
    /// Why it cannot be used, as a sentence.
    pub fn get(&mut self, path: &Path) -> Result<Arc<DataFile>, String> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let file = inspect(path).map(Arc::new).map_err(|reason| format!("'{}' {reason}", path.display()));
        self.known.insert(path.to_path_buf(), file.clone());
        file
    }
}

fn inspect(path: &Path) -> Result<DataFile, String> {
    let unreadable = |error: io::Error| format!("cannot be read: {}", plain(&error));
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz")) {
        return Err("is an archive of arrays: save each as a .npy file".to_string());
    }
    let is_npy = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
    let header = |bytes, mut member: &mut dyn Read| Ok((bytes, is_npy.then(|| npy::read_header(&mut member))));
    if let Some(of_member) = bundle::member(path, header) {
        let (bytes, npy) = of_member.map_err(unreadable)?;
        return Ok(DataFile { path: path.to_path_buf(), bytes, npy: npy.transpose()?, unpacked: OnceLock::new(), is_member: true });
    }
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err("is not a regular file".to_string());
    }
    let mut file = File::open(path).map_err(unreadable)?;
    let npy = if is_npy { Some(npy::read_header(&mut file)?) } else { None };
    Ok(DataFile { path: path.to_path_buf(), bytes: metadata.len(), npy, unpacked: OnceLock::new(), is_member: false })
}

/// The bytes of a member of a bundle.
fn unpack(path: &Path) -> Result<Vec<u8>, String> {
    let bytes = bundle::read(path, MEMBER_BYTES_MAX).map_err(|error| plain(&error))?;
    bytes.ok_or_else(|| format!("a member of a bundle has at most {MEMBER_BYTES_MAX} bytes"))
}

impl DataRange {
    /// Fills `out` with the converted range from byte `offset` on; `offset` and length are multiples of an element's size.
    ///
    /// # Errors
    /// The file was changed or removed after it was inspected.
    pub fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), DataError> {
        match self.form {
            Form::Same => self.read_bytes(offset, out),
            Form::Bf16 => {
                let (wide, narrow) = (Element::F32, Element::BF16);
                let ratio = wide.bytes() / narrow.bytes();
                let mut floats = vec![0; out.len() * ratio as usize];
                self.read_bytes(offset.saturating_mul(u64::from(ratio)), &mut floats)?;
                let elements = floats.chunks_exact(wide.bytes() as usize).zip(out.chunks_exact_mut(narrow.bytes() as usize));
                for (float, element) in elements {
                    let rounded = narrow.encode_float(wide.to_f64(wide.read(float)));
                    element.copy_from_slice(&rounded.to_le_bytes()[..narrow.bytes() as usize]);
                }
                Ok(())
            }
        }
    }

    fn read_bytes(&self, offset: u64, out: &mut [u8]) -> Result<(), DataError> {
        let from = self.offset.saturating_add(offset);
        let mut read = || {
            if self.file.is_member {
                let unpacked = self
                    .file
                    .unpacked
                    .get_or_init(|| unpack(&self.file.path))
                    .as_ref()
                    .map_err(|reason| io::Error::other(reason.clone()))?;
                let part = usize::try_from(from).ok().and_then(|from| unpacked.get(from..)?.get(..out.len()));
                out.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
                return Ok(());
            }
            let mut file = File::open(&self.file.path)?;
            file.seek(SeekFrom::Start(from))?;
            file.read_exact(out)
        };
        read().map_err(|source| DataError { path: self.file.path.clone(), reason: plain(&source) })
    }
}

/// A data file that could be opened before can no longer be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{}' cannot be read: {reason}", path.display())]
pub struct DataError {
    /// The file.
    pub path: PathBuf,
    /// The message of the operating system.
    pub reason: String,
}

/// The message of the operating system without the error number that Rust adds.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}
