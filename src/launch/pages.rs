//! Data files of pages that a capture has kept: `Init::Pages`.

use std::sync::Arc;

use super::data::{DataError, DataFile, DataRange, Form};

/// Bytes of a page.
pub const PAGE_BYTES: u64 = 4096;
/// Bytes of a number.
const NUMBER: u64 = 8;
/// Bytes of a page with its offset.
const RECORD: u64 = NUMBER + PAGE_BYTES;
/// Pages that are read at a time.
const RECORDS: u64 = 64;

/// The bytes of a file of these pages, each with its offset, in ascending order.
pub fn encode<'p>(pages: impl ExactSizeIterator<Item = (u64, &'p [u8; PAGE_BYTES as usize])>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity((NUMBER + pages.len() as u64 * RECORD) as usize);
    bytes.extend((pages.len() as u64).to_le_bytes());
    for (offset, page) in pages {
        bytes.extend(offset.to_le_bytes());
        bytes.extend(page);
    }
    bytes
}

/// A file of pages, looked at once.
#[derive(Clone, Debug)]
pub struct Pages {
    /// The file.
    pub file: Arc<DataFile>,
    /// Where each page begins in the memory that they are of, in ascending order.
    pub offsets: Arc<[u64]>,
}

impl Pages {
    /// The pages in `file`, of memory of `bytes` bytes.
    ///
    /// # Errors
    /// What is wrong with the file, as the end of a sentence that begins with its name.
    pub fn read(file: Arc<DataFile>, bytes: u64) -> Result<Self, String> {
        let cannot = |error: DataError| format!("cannot be read: {}", error.reason);
        if file.bytes < NUMBER {
            return Err(format!("has {} bytes, and a file of pages begins with 8 that say how many there are", file.bytes));
        }
        let mut first = [0; NUMBER as usize];
        DataRange { file: Arc::clone(&file), offset: 0, form: Form::Same }.read(0, &mut first).map_err(cannot)?;
        let count = u64::from_le_bytes(first);
        let wanted = count.checked_mul(RECORD).and_then(|pages| pages.checked_add(NUMBER));
        if wanted != Some(file.bytes) {
            let holds = (file.bytes - NUMBER) / RECORD;
            return Err(format!("says that it has {count} pages, and its {} bytes hold {holds}", file.bytes));
        }
        let mut offsets: Vec<u64> = Vec::new();
        let mut wrong = None;
        let read = records(&file, count, |offset, _| -> Result<(), DataError> {
            let index = offsets.len();
            if wrong.is_none() && (offset >= bytes || !offset.is_multiple_of(PAGE_BYTES)) {
                let message = "is none of the memory, whose pages begin at multiples of 4096";
                wrong = Some(format!("page {index}, at offset {offset}, {message} below {bytes}"));
            }
            if let (None, Some(before)) = (&wrong, offsets.last().filter(|before| **before >= offset)) {
                wrong = Some(format!("page {index}, at offset {offset}, follows the one at offset {before}: pages are in ascending order"));
            }
            offsets.push(offset);
            Ok(())
        });
        read.map_err(cannot)?;
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        Ok(Self { file, offsets: offsets.into() })
    }

    /// Hands each page to `sink`, of `bytes` bytes of memory, with its offset.
    ///
    /// # Errors
    /// The file was changed or removed, or what `sink` says.
    pub fn fill<E: From<DataError>>(&self, bytes: u64, sink: &mut super::init::Sink<'_, E>) -> Result<(), E> {
        records(&self.file, self.offsets.len() as u64, |offset, page| {
            sink(offset, &page[..bytes.saturating_sub(offset).min(PAGE_BYTES) as usize])
        })
    }
}

/// Calls `each` with the offset and the bytes of every page of `file`, in order.
fn records<E: From<DataError>>(file: &Arc<DataFile>, count: u64, mut each: impl FnMut(u64, &[u8]) -> Result<(), E>) -> Result<(), E> {
    let range = DataRange { file: Arc::clone(file), offset: NUMBER, form: Form::Same };
    let mut room = vec![0; (count.min(RECORDS) * RECORD) as usize];
    for first in (0..count).step_by(RECORDS as usize) {
        let piece = &mut room[..((count - first).min(RECORDS) * RECORD) as usize];
        range.read(first * RECORD, piece)?;
        for record in piece.chunks_exact(RECORD as usize) {
            let (number, page) = record.split_at(NUMBER as usize);
            each(number.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)), page)?;
        }
    }
    Ok(())
}
