//! Memory to files and back: `dump` and `restore`.
//!
//! The ending of a file's name says what it is: `.npy` (NumPy) has element type and shape in front of the bytes, any other file holds the
//! bytes as they are. Which memory it is, and of what type, is the caller's affair.

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
    /// The system does not give or take it.
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
    #[error("{file} holds {found} bytes, and {wanted} bytes of memory are to be restored")]
    Size {
        /// The file.
        file: String,
        /// Bytes it holds, headers not counted.
        found: u64,
        /// Bytes wanted.
        wanted: u64,
    },
    /// It holds elements of another type.
    #[error("{file} holds {found}, and the memory is of {wanted}")]
    Type {
        /// The file.
        file: String,
        /// The type of what it holds.
        found: String,
        /// The type of the memory.
        wanted: &'static str,
    },
}

/// The kind of a file, by the ending of its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Bytes,
    Npy,
}

impl Layout {
    /// `count` elements of the type of a register or variable in one dimension. Types that no file knows become bits of their size.
    pub fn of(ty: ScalarType, count: u64) -> Self {
        Self { element: element_of(ty), shape: vec![count.saturating_mul(u64::from(ty.bytes() / element_of(ty).bytes()).max(1))] }
    }

    /// Bytes of all elements, if the number fits 64 bits.
    pub fn bytes(&self) -> Option<u64> {
        self.shape.iter().try_fold(u64::from(self.element.bytes()), |bytes, extent| bytes.checked_mul(*extent))
    }
}

/// The element of files that a type of PTX is.
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

/// Writes `bytes`, which are laid out so, to a file; returns the size of the file.
///
/// # Errors
/// The system does not take the file. Shape and bytes that do not belong together are refused.
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

/// Reads the bytes for memory of this layout from a file. The shape in a `.npy` file may be another if the number of elements is right.
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
    let wanted = layout.bytes().unwrap_or(u64::MAX);
    if found != wanted {
        return Err(TransferError::Size { file: name(path), found, wanted });
    }
    file.seek(SeekFrom::Start(data_offset)).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(wanted).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 != wanted {
        return Err(TransferError::Size { file: name(path), found: bytes.len() as u64, wanted });
    }
    Ok(bytes)
}

/// Offset of the first element in a `.npy` file that holds elements of the layout's type.
fn check_header(path: &Path, file: &mut File, layout: &Layout) -> Result<u64, TransferError> {
    let header = npy::read_header(file).map_err(|reason| TransferError::Contents(name(path), reason))?;
    if !header.fits(layout.element) {
        return Err(TransferError::Type { file: name(path), found: header.element_name(), wanted: layout.element.name() });
    }
    Ok(header.data_offset)
}

fn format_of(path: &Path) -> Format {
    match path.extension().and_then(|ending| ending.to_str()) {
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
