//! Fat binaries: nvcc's container of PTX and machine code.
//!
//! The format is not documented; the fields below were derived from the output of the compilers of CUDA 10 to 13, and are the same in
//! all of them. A region is a sequence of fat binaries, each aligned to 8 bytes. All numbers are little-endian.
//!
//! | bytes | of a fat binary |
//! | --- | --- |
//! | 0..4 | `50 ed 55 ba` |
//! | 4..6 | version: 1 |
//! | 6..8 | bytes of this header: 16 |
//! | 8..16 | bytes of the entries after it |
//!
//! | bytes | of an entry |
//! | --- | --- |
//! | 0..2 | kind: 1 is PTX, 2 a cubin, 8 LTO IR |
//! | 4..8 | bytes of this header: 64 and more |
//! | 8..16 | bytes of the payload after it, with padding |
//! | 16..20 | bytes of a compressed payload, without padding; 0 if it is not compressed |
//! | 28..32 | target: 90 is sm_90 |
//! | 32..36, 36..40 | offset from the header's start and length of the name of the source, if it has one |
//! | 40..48 | flags: 0x2000 is an LZ4 block, 0x8000 a zstd frame; 0x100000 is sm_90a, 0x200000 sm_100f |
//! | 56..64 | bytes of the decompressed payload; 0 if it is not compressed |

use std::ops::Range;

use super::input::{Fields, Input};
use super::packing::Packing;

/// Magic of a fat binary.
pub const MAGIC: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();

const HEADER: u64 = 16;
const ENTRY_HEADER: u64 = 64;
/// Bytes of an entry's header that are read: the options of the compiler may make it long.
const ENTRY_READ: u64 = 4096;
const ALIGN: u64 = 8;
/// Bytes that are read at a time to skip padding before the next fat binary.
const CHUNK: u64 = 4096;
/// Bytes that are read at a time to search for fat binaries at any offset.
const SEARCH: u64 = 1 << 20;
/// Maximum of fat binaries that such a search finds.
const SEARCHED_MAX: usize = 1 << 16;

const PTX: u16 = 1;
const CUBIN: u16 = 2;
const LTO_IR: u16 = 8;

const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;
/// The compression of compilers before CUDA 8.
const OLD: u64 = 0x1000;
/// Letters after the number of a target.
const VARIANTS: [(u64, &str); 2] = [(0x10_0000, "a"), (0x20_0000, "f")];

/// The kind of an entry's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// PTX text.
    Ptx,
    /// Machine code.
    Cubin,
    /// Intermediate code for link-time optimization.
    LtoIr,
    /// Something else.
    Other,
}

/// An entry of a fat binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The kind of its payload.
    pub kind: Kind,
    /// The offset of its header in the file.
    pub header: u64,
    /// Byte range of its payload in the file, without padding if it is compressed.
    pub payload: Range<u64>,
    /// Its compression.
    pub packing: Packing,
    /// Bytes of the decompressed payload, as the header says; those of the payload if it is not compressed.
    pub size: u64,
    /// The target: `sm_90a`.
    pub target: String,
    /// The name of the source, if the entry has one.
    pub source: Option<String>,
}

/// The entries of the fat binaries in `region` of `input`, in order, and defects: offsets and descriptions.
pub fn entries(input: &mut Input, region: Range<u64>) -> (Vec<Entry>, Vec<(u64, String)>) {
    debug_assert!(region.start <= region.end);
    let mut walk = Walk { input, entries: Vec::new(), problems: Vec::new() };
    let mut at = region.start;
    while let Some(start) = walk.next_start(at..region.end) {
        match walk.fat_binary(start..region.end) {
            Ok(end) => at = end,
            Err(problem) => {
                walk.problems.push(problem);
                break;
            }
        }
    }
    (walk.entries, walk.problems)
}

/// Byte ranges of fat binaries in `region`, by their magic: for files whose sections cannot be read.
///
/// # Errors
/// The file cannot be read.
pub fn starts(input: &mut Input, region: Range<u64>) -> Result<Vec<Range<u64>>, String> {
    let (mut found, mut at) = (Vec::new(), region.start);
    while at + HEADER <= region.end && found.len() < SEARCHED_MAX {
        let end = region.end.min(at.saturating_add(SEARCH));
        let bytes = input.read(at..end)?;
        let is_header = |header: &[u8]| header.starts_with(&MAGIC) && header[4..8] == [1, 0, HEADER as u8, 0];
        match bytes.windows(HEADER as usize).position(is_header) {
            Some(offset) => {
                let start = at + offset as u64;
                let size = Fields(&bytes[offset..offset + HEADER as usize]).u64(8);
                let end = start.saturating_add(HEADER).saturating_add(size).min(region.end);
                found.push(start..end);
                at = end;
            }
            None if end == region.end => break,
            // A header may cross the end of the chunk.
            None => at = end - HEADER + 1,
        }
    }
    Ok(found)
}

struct Walk<'a> {
    input: &'a mut Input,
    entries: Vec<Entry>,
    problems: Vec<(u64, String)>,
}

impl Walk<'_> {
    /// Offset of the first nonzero byte: fat binaries are padded with zeros.
    fn next_start(&mut self, region: Range<u64>) -> Option<u64> {
        let mut at = region.start;
        while at < region.end {
            let end = region.end.min(at.saturating_add(CHUNK));
            match self.input.read(at..end) {
                Ok(bytes) => match bytes.iter().position(|byte| *byte != 0) {
                    Some(offset) => return Some(at + offset as u64),
                    None => at = end,
                },
                Err(why) => {
                    self.problems.push((at, why));
                    return None;
                }
            }
        }
        None
    }

    /// Reads the fat binary at the start of `region`; returns the offset at which the next one may start.
    fn fat_binary(&mut self, region: Range<u64>) -> Result<u64, (u64, String)> {
        let start = region.start;
        let wrong = |what: String| (start, what);
        let left = region.end - start;
        if left < HEADER {
            return Err(wrong(format!("{left} bytes are left, and the header of a fat binary has {HEADER}")));
        }
        let header = self.input.read(start..start + HEADER).map_err(wrong)?;
        if !header.starts_with(&MAGIC) {
            let found: Vec<String> = header[..4].iter().map(|byte| format!("{byte:02x}")).collect();
            return Err(wrong(format!("a fat binary starts with 50 ed 55 ba, and here is {}", found.join(" "))));
        }
        let fields = Fields(&header);
        let (version, length, size) = (fields.u16(4), u64::from(fields.u16(6)), fields.u64(8));
        if version != 1 || length < HEADER {
            return Err(wrong(format!("a fat binary of version {version} with a header of {length} bytes is not known here")));
        }
        let end = start.saturating_add(length).saturating_add(size);
        if end > region.end {
            self.problems.push(wrong(format!("the fat binary says that it has {size} bytes, and {} are left", left - HEADER)));
        }
        self.fat_binary_entries(start.saturating_add(length)..end.min(region.end));
        // Aligned relative to its object, which may be at any offset of an archive.
        let length = (end - start).checked_next_multiple_of(ALIGN).unwrap_or(u64::MAX);
        Ok(start.saturating_add(length).min(region.end))
    }

    fn fat_binary_entries(&mut self, region: Range<u64>) {
        let mut at = region.start;
        while at < region.end {
            match self.entry(at..region.end) {
                Ok(next) => at = next,
                Err(why) => {
                    self.problems.push((at, why));
                    return;
                }
            }
        }
    }

    /// Reads the entry at the start of `region`; returns the offset of the next one.
    fn entry(&mut self, region: Range<u64>) -> Result<u64, String> {
        let (at, left) = (region.start, region.end - region.start);
        if left < ENTRY_HEADER {
            return Err(format!("{left} bytes are left, and the header of an entry has {ENTRY_HEADER}"));
        }
        let header = self.input.read(at..at + left.min(ENTRY_READ))?;
        let fields = Fields(&header);
        let (kind, length, padded, packed) = (fields.u16(0), u64::from(fields.u32(4)), fields.u64(8), u64::from(fields.u32(16)));
        if length < ENTRY_HEADER {
            return Err(format!("the entry says that its header has {length} bytes; {ENTRY_HEADER} is the least"));
        }
        let start = at.saturating_add(length);
        let next = start.saturating_add(padded);
        if next > region.end {
            return Err(format!("the entry says that it has {length} + {padded} bytes, and {left} are left"));
        }
        let flags = fields.u64(40);
        let packing = packing(flags);
        let stored = if packing == Packing::Plain { padded } else { packed };
        if stored > padded {
            return Err(format!("the entry says that it has {stored} bytes packed, and {padded} with what pads them"));
        }
        self.entries.push(Entry {
            kind: match kind {
                PTX => Kind::Ptx,
                CUBIN => Kind::Cubin,
                LTO_IR => Kind::LtoIr,
                _ => Kind::Other,
            },
            header: at,
            payload: start..start + stored,
            packing,
            size: if packing == Packing::Plain { padded } else { fields.u64(56) },
            target: target(fields.u32(28), flags),
            source: name(&header, length, fields.u32(32), fields.u32(36)),
        });
        Ok(next)
    }
}

fn packing(flags: u64) -> Packing {
    match (flags & LZ4 != 0, flags & ZSTD != 0, flags & OLD != 0) {
        (false, false, false) => Packing::Plain,
        (true, false, false) => Packing::Lz4,
        (false, true, false) => Packing::Zstd,
        _ => Packing::Unknown(flags),
    }
}

/// `sm_90a`
fn target(number: u32, flags: u64) -> String {
    let variant = VARIANTS.iter().find(|(flag, _)| flags & flag != 0).map_or("", |(_, letter)| letter);
    format!("sm_{number}{variant}")
}

/// The name at `offset` of a header, which ends with a zero or after `length` bytes.
fn name(header: &[u8], header_length: u64, offset: u32, length: u32) -> Option<String> {
    let range = offset as usize..(offset as usize).checked_add(length as usize)?;
    let bytes = header.get(range).filter(|_| offset > 0 && u64::from(offset) + u64::from(length) <= header_length)?;
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    std::str::from_utf8(&bytes[..end]).ok().filter(|name| !name.is_empty()).map(str::to_string)
}
