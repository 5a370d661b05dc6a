//! Memory to files and back: `dump` and `restore`.
//!
//! The extension selects the format: `.npy` (NumPy) has the element type and the shape before the bytes, any other file holds only the
//! bytes. The caller chooses the memory and its type.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::base::save::{cause, save};
use crate::isa::{ScalarType, TypeKind};
use crate::launch::{Element, Kind, npy};

/// The layout of a range of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Type of an element.
    pub element: Element,
    /// Extent of every dimension, outermost first; empty for a single element.
    pub shape: Vec<u64>,
}

/// Why memory was not dumped or restored, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransferError {
    /// The system cannot read or write it.
    #[error("cannot {verb} {file}: {cause}")]
    System {
        /// `read` or `write`.
        verb: &'static str,
        /// The file.
        file: String,
        /// The message of the system.
        cause: String,
    },
    /// Its contents cannot be used; the text is the end of a sentence that starts with its name.
    #[error("{0} {1}")]
    Contents(String, String),
    /// It is of another size.
    #[error("{file} holds {found} bytes, and {expected} bytes of memory are to be restored")]
    Size {
        /// The file.
        file: String,
        /// Bytes it holds, headers not counted.
        found: u64,
        /// Bytes expected.
        expected: u64,
    },
    /// It holds elements of another type.
    #[error("{file} holds {found}, and the memory is of {expected}")]
    Type {
        /// The file.
        file: String,
        /// The type of what it holds.
        found: String,
        /// The type of the memory.
        expected: &'static str,
    },
}

/// The format of a file, by its extension.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Bytes,
    Npy,
}

impl Layout {
    /// `count` elements of the type of a register or variable in one dimension. Types that no file format has become bits of their size.
    pub fn of(ty: ScalarType, count: u64) -> Self {
        Self { element: element_of(ty), shape: vec![count.saturating_mul(u64::from(ty.bytes() / element_of(ty).bytes()).max(1))] }
    }

    /// Bytes of all elements, if the number fits 64 bits.
    pub fn bytes(&self) -> Option<u64> {
        self.shape.iter().try_fold(u64::from(self.element.bytes()), |bytes, extent| bytes.checked_mul(*extent))
    }
}

/// The element type in files of a type of PTX.
pub fn element_of(ty: ScalarType) -> Element {
    let bits = match ty.bytes() {
        1 => Element::B8,
        2 => Element::B16,
        4 => Element::B32,
        _ => Element::B64,
    };
    let same = Element::from_name(ty.word()).filter(|element| element.bytes() == ty.bytes());
    same.filter(|element| element.kind() != Kind::Float || ty.kind() == TypeKind::Float).unwrap_or(bits)
}

/// Writes `bytes` of this layout to a file; returns the size of the file.
///
/// # Errors
/// The system cannot write the file, or the layout is not of this number of bytes.
pub fn dump(path: &Path, layout: &Layout, bytes: &[u8]) -> Result<u64, TransferError> {
    let format = format_of(path);
    if layout.bytes() != Some(bytes.len() as u64) {
        let reason = format!("cannot hold {} bytes as {} in the shape {:?}", bytes.len(), layout.element.name(), layout.shape);
        return Err(TransferError::Contents(name(path), reason));
    }
    let header = if format == Format::Npy { npy::header_bytes(layout.element, &layout.shape) } else { Vec::new() };
    save(path, &[&header, bytes]).map_err(|error| system("write", path, &error))?;
    Ok((header.len() + bytes.len()) as u64)
}

/// Reads the bytes for memory of this layout from a file. The shape in a `.npy` file may differ if the number of elements is equal.
///
/// # Errors
/// The file cannot be read, is of another size, or holds elements of another type.
pub fn restore(path: &Path, layout: &Layout) -> Result<Vec<u8>, TransferError> {
    let format = format_of(path);
    let unreadable = |error: std::io::Error| system("read", path, &error);
    let mut file = File::open(path).map_err(unreadable)?;
    let file_bytes = file.metadata().map_err(unreadable)?.len();
    let data_offset = if format == Format::Npy { check_header(path, &mut file, layout)? } else { 0 };
    let found = file_bytes.saturating_sub(data_offset);
    // No file has a size beyond 64 bits.
    let expected = layout.bytes().unwrap_or(u64::MAX);
    if found != expected {
        return Err(TransferError::Size { file: name(path), found, expected });
    }
    file.seek(SeekFrom::Start(data_offset)).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(expected).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 != expected {
        return Err(TransferError::Size { file: name(path), found: bytes.len() as u64, expected });
    }
    Ok(bytes)
}

/// The array in a `.npy` file of at most `most` elements: the type of an element, the shape, the bits of the elements.
///
/// # Errors
/// The file cannot be read, is no `.npy` file, or holds elements of a type that PTX does not have.
pub fn array(path: &Path, most: u64) -> Result<(ScalarType, Vec<u64>, Vec<u128>), TransferError> {
    let contents = |reason: String| TransferError::Contents(name(path), reason);
    let unreadable = |error: std::io::Error| system("read", path, &error);
    let mut file = File::open(path).map_err(unreadable)?;
    let header = npy::read_header(&mut file).map_err(contents)?;
    let element = header.element().and_then(|element| ScalarType::from_word(element.name()));
    let ty = element.ok_or_else(|| contents(format!("holds elements of {}, which are no numbers of PTX", header.element_name())))?;
    let count = header.elements().filter(|count| *count <= most);
    let count = count.ok_or_else(|| contents(format!("holds more than {most} elements")))?;
    let size = u64::from(ty.bytes());
    file.seek(SeekFrom::Start(header.data_offset)).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(count * size).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 != count * size {
        return Err(TransferError::Size { file: name(path), found: bytes.len() as u64, expected: count * size });
    }
    Ok((ty, header.shape, bytes.chunks_exact(size as usize).map(crate::debug::value::number::little_endian).collect()))
}

/// Offset of the first element in a `.npy` file that holds elements of the layout's type.
fn check_header(path: &Path, file: &mut File, layout: &Layout) -> Result<u64, TransferError> {
    let header = npy::read_header(file).map_err(|reason| TransferError::Contents(name(path), reason))?;
    if !header.fits(layout.element) {
        return Err(TransferError::Type { file: name(path), found: header.element_name(), expected: layout.element.name() });
    }
    Ok(header.data_offset)
}

fn format_of(path: &Path) -> Format {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("npy") => Format::Npy,
        _ => Format::Bytes,
    }
}

fn system(verb: &'static str, path: &Path, error: &std::io::Error) -> TransferError {
    TransferError::System { verb, file: name(path), cause: cause(error) }
}

fn name(path: &Path) -> String {
    path.display().to_string()
}
