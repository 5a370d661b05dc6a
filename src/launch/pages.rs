//! Data files of pages that a capture has saved: `Init::Pages`.

use std::ops::Range;
use std::sync::Arc;

use super::data::{DataError, DataFile, DataRange, Form};

/// Bytes of a page.
pub const PAGE_BYTES: u64 = 4096;
/// Bytes of the page count, and of an offset.
const NUMBER_BYTES: u64 = 8;
/// Bytes of a page with its offset.
const RECORD_BYTES: u64 = NUMBER_BYTES + PAGE_BYTES;
/// Pages that are read at a time.
const RECORDS_PER_READ: u64 = 64;

/// The bytes of a file of these pages, each with its offset, in ascending order.
pub fn encode<'p>(pages: impl ExactSizeIterator<Item = (u64, &'p [u8; PAGE_BYTES as usize])>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity((NUMBER_BYTES + pages.len() as u64 * RECORD_BYTES) as usize);
    bytes.extend((pages.len() as u64).to_le_bytes());
    for (offset, page) in pages {
        bytes.extend(offset.to_le_bytes());
        bytes.extend(page);
    }
    bytes
}

/// A file of pages.
#[derive(Clone, Debug)]
pub struct Pages {
    /// The file.
    pub file: Arc<DataFile>,
    /// Offset of each page in its memory, in ascending order, counted from `lead` bytes before the memory.
    pub offsets: Arc<[u64]>,
    /// Bytes of the first page before the memory: its address modulo 16.
    pub lead: u64,
}

impl Pages {
    /// The pages in `file`, of memory of `bytes` bytes after `lead` bytes that are none of it.
    ///
    /// # Errors
    /// A mistake in the file, as the end of a sentence that begins with its name.
    pub fn read(file: Arc<DataFile>, (lead, bytes): (u64, u64)) -> Result<Self, String> {
        let cannot = |error: DataError| format!("cannot be read: {}", error.reason);
        if file.bytes < NUMBER_BYTES {
            return Err(format!("has {} bytes, and a file of pages begins with 8 that say how many there are", file.bytes));
        }
        let mut first = [0; NUMBER_BYTES as usize];
        DataRange { file: Arc::clone(&file), offset: 0, form: Form::Same }.read(0, &mut first).map_err(cannot)?;
        let count = u64::from_le_bytes(first);
        let wanted = count.checked_mul(RECORD_BYTES).and_then(|pages| pages.checked_add(NUMBER_BYTES));
        if wanted != Some(file.bytes) {
            let holds = (file.bytes - NUMBER_BYTES) / RECORD_BYTES;
            return Err(format!("says that it has {count} pages, and its {} bytes hold {holds}", file.bytes));
        }
        let end = bytes.saturating_add(lead);
        let mut offsets: Vec<u64> = Vec::new();
        let mut wrong = None;
        let read = records(&file, count, |offset, _| -> Result<(), DataError> {
            let index = offsets.len();
            if wrong.is_none() && (offset >= end || !offset.is_multiple_of(PAGE_BYTES)) {
                let message = "is none of the memory, whose pages begin at multiples of 4096";
                wrong = Some(format!("page {index}, at offset {offset}, {message} below {end}"));
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
        Ok(Self { file, offsets: offsets.into(), lead })
    }

    /// Passes each page of `bytes` bytes of memory to `sink`, with its offset.
    ///
    /// # Errors
    /// The file was changed or removed, or an error of `sink`.
    pub fn fill<E: From<DataError>>(&self, bytes: u64, sink: &mut super::init::Sink<'_, E>) -> Result<(), E> {
        records(&self.file, self.offsets.len() as u64, |offset, page| {
            let (first, end) = (self.lead.saturating_sub(offset), (self.lead + bytes).saturating_sub(offset).min(PAGE_BYTES));
            sink(offset + first - self.lead, &page[first.min(end) as usize..end as usize])
        })
    }
}

impl Pages {
    /// The number of bytes of `part` that are in the pages.
    pub fn known_bytes(&self, part: &Range<u64>) -> u64 {
        let (start, end) = (part.start + self.lead, part.end + self.lead);
        let first = self.offsets.partition_point(|offset| offset + PAGE_BYTES <= start);
        let pages = self.offsets[first..].iter().take_while(|offset| **offset < end);
        pages.map(|offset| end.min(offset + PAGE_BYTES) - start.max(*offset)).sum()
    }

    /// Passes what the pages hold of `part` to `sink`, in order, with its offsets.
    ///
    /// # Errors
    /// The file was changed or removed, or an error of `sink`.
    pub fn fill_part<E: From<DataError>>(&self, part: Range<u64>, sink: &mut super::init::Sink<'_, E>) -> Result<(), E> {
        let (start, end) = (part.start + self.lead, part.end + self.lead);
        let first = self.offsets.partition_point(|offset| offset + PAGE_BYTES <= start);
        let range = DataRange { file: Arc::clone(&self.file), offset: NUMBER_BYTES, form: Form::Same };
        let mut bytes = [0; PAGE_BYTES as usize];
        for (index, offset) in self.offsets.iter().enumerate().skip(first).take_while(|(_, offset)| **offset < end) {
            let (from, to) = (start.max(*offset), end.min(offset + PAGE_BYTES));
            let page = &mut bytes[..(to - from) as usize];
            range.read(index as u64 * RECORD_BYTES + NUMBER_BYTES + (from - offset), page)?;
            sink(from - self.lead, page)?;
        }
        Ok(())
    }
}

/// Calls `each` with the offset and the bytes of every page of `file`, in order.
fn records<E: From<DataError>>(file: &Arc<DataFile>, count: u64, mut each: impl FnMut(u64, &[u8]) -> Result<(), E>) -> Result<(), E> {
    let range = DataRange { file: Arc::clone(file), offset: NUMBER_BYTES, form: Form::Same };
    let mut scratch = vec![0; (count.min(RECORDS_PER_READ) * RECORD_BYTES) as usize];
    for first in (0..count).step_by(RECORDS_PER_READ as usize) {
        let chunk = &mut scratch[..((count - first).min(RECORDS_PER_READ) * RECORD_BYTES) as usize];
        range.read(first * RECORD_BYTES, chunk)?;
        for record in chunk.chunks_exact(RECORD_BYTES as usize) {
            let (number, page) = record.split_at(NUMBER_BYTES as usize);
            each(number.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)), page)?;
        }
    }
    Ok(())
}
