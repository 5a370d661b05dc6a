//! Random access to files: a library of a gigabyte is listed by reading some kilobytes.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use crate::base::save::cause;

/// Maximum bytes of one read: the largest payload that is extracted.
const READ_BYTES: u64 = 512 << 20;

trait Stream: Read + Seek + Send {}
impl<T: Read + Seek + Send> Stream for T {}

/// A file, or bytes in memory, that are read by range.
pub struct Input {
    stream: Box<dyn Stream>,
    length: u64,
}

impl Input {
    /// The regular file at `path`.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Self { stream: Box::new(file), length })
    }

    /// Bytes in memory.
    pub fn of_bytes(bytes: impl AsRef<[u8]> + Send + 'static) -> Self {
        let length = bytes.as_ref().len() as u64;
        Self { stream: Box::new(Cursor::new(bytes)), length }
    }

    /// The number of bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The bytes of `range`.
    ///
    /// # Errors
    /// The range is beyond the end, it is too long, or it cannot be read: in a line, without the file name.
    pub fn read(&mut self, range: Range<u64>) -> Result<Vec<u8>, String> {
        let Range { start, end } = range;
        if start > end || end > self.length {
            return Err(format!("bytes {start:#x} to {end:#x} are wanted, and the file ends at {:#x}", self.length));
        }
        let length = end - start;
        if length > READ_BYTES {
            return Err(format!("{length} bytes are more than {READ_BYTES}, the most that is read"));
        }
        let cannot = |error: io::Error| format!("cannot be read: {}", cause(&error));
        self.stream.seek(SeekFrom::Start(start)).map_err(cannot)?;
        let mut bytes = Vec::new();
        self.stream.by_ref().take(length).read_to_end(&mut bytes).map_err(cannot)?;
        if bytes.len() as u64 != length {
            return Err(format!("the file became shorter while it was read: {} of {length} bytes", bytes.len()));
        }
        Ok(bytes)
    }

    /// The first bytes, at most `count`.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn head(&mut self, count: u64) -> Result<Vec<u8>, String> {
        self.read(0..count.min(self.length))
    }
}

/// Little-endian numbers of a header; 0 beyond its end.
pub struct Fields<'a>(pub &'a [u8]);

impl Fields<'_> {
    fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        debug_assert!(at + N <= self.0.len(), "{at} in {} bytes", self.0.len());
        self.0.get(at..at + N).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; N])
    }

    /// The 16 bits at `at`.
    pub fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.bytes(at))
    }

    /// The 32 bits at `at`.
    pub fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes(at))
    }

    /// The 64 bits at `at`.
    pub fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_past_the_end_are_refused() {
        let mut input = Input::of_bytes(b"0123456789".to_vec());
        assert_eq!(input.read(2..5), Ok(b"234".to_vec()));
        assert_eq!(input.read(10..10), Ok(Vec::new()));
        assert_eq!(input.read(8..11), Err("bytes 0x8 to 0xb are wanted, and the file ends at 0xa".to_string()));
        assert!(input.read(Range { start: 5, end: 4 }).is_err());
        assert_eq!(input.head(100).map(|head| head.len()), Ok(10));
    }
}
