//! Sections of programs, libraries and objects: ELF, and PE and COFF of Windows.
//!
//! Only headers are read. The parser requests ranges; when one is missing, it is read and the parser restarted, so that memory is
//! bounded even if a file claims a table of gigabytes.

use std::cell::Cell;
use std::ops::Range;

use object::read::coff::CoffHeader;
use object::read::elf::{FileHeader, SectionHeader};
use object::read::pe::ImageNtHeaders;
use object::read::{Error, FileKind, ReadRef};
use object::{elf, pe};

use super::input::Input;

/// Maximum bytes of all headers and names of a file.
const HEADER_BYTES: u64 = 64 << 20;
/// Bytes that are read at once if the end of a name is not known.
const NAME_CHUNK: u64 = 64 << 10;

/// The target machine of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// Machine code of a GPU.
    Cubin,
    /// Code of the host.
    Host,
}

/// A section that has bytes in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name; for a Windows program the first 8 bytes of it.
    pub name: String,
    /// Its byte range, relative to the start of the object.
    pub bytes: Range<u64>,
}

/// An object's machine and sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The target of its code.
    pub machine: Machine,
    /// Its sections, in order.
    pub sections: Vec<Section>,
}

/// The object in `region` of `input`; `None` if its format is unknown.
///
/// # Errors
/// Its headers are damaged, in a line.
pub fn object(input: &mut Input, region: Range<u64>) -> Result<Option<Object>, String> {
    debug_assert!(region.start <= region.end && region.end <= input.length());
    let mut ranges = Ranges { read: Vec::new(), missing: Cell::new(None), length: region.end - region.start };
    let mut bytes = 0;
    loop {
        let error = match parse(&ranges) {
            Ok(object) => return Ok(object),
            Err(error) => error,
        };
        let Some(wanted) = ranges.missing.take() else { return Err(format!("its headers are damaged: {error}")) };
        bytes += wanted.end - wanted.start;
        if bytes > HEADER_BYTES {
            return Err(format!("its headers and names are said to have more than {HEADER_BYTES} bytes"));
        }
        let read = input.read(region.start + wanted.start..region.start + wanted.end)?;
        ranges.read.push((wanted.start, read));
    }
}

/// The parts of an object that have been read.
struct Ranges {
    read: Vec<(u64, Vec<u8>)>,
    /// The last requested range that was missing.
    missing: Cell<Option<Range<u64>>>,
    length: u64,
}

impl Ranges {
    /// The bytes that have been read from `at` on.
    fn from(&self, at: u64) -> impl Iterator<Item = &[u8]> {
        self.read.iter().filter_map(move |(start, bytes)| bytes.get(usize::try_from(at.checked_sub(*start)?).ok()?..))
    }
}

impl<'a> ReadRef<'a> for &'a Ranges {
    fn len(self) -> Result<u64, ()> {
        Ok(self.length)
    }

    fn read_bytes_at(self, at: u64, size: u64) -> Result<&'a [u8], ()> {
        let end = at.checked_add(size).filter(|end| *end <= self.length).ok_or(())?;
        if size == 0 {
            return Ok(&[]);
        }
        let found = self.from(at).find_map(|bytes| bytes.get(..usize::try_from(size).ok()?));
        found.ok_or_else(|| self.missing.set(Some(at..end)))
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        if range.start >= range.end || range.end > self.length {
            return Err(());
        }
        let most = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let until = |bytes: &'a [u8]| bytes[..bytes.len().min(most)].split(|byte| *byte == delimiter).next().map(<[u8]>::len);
        // A result that ends with the range, or with the bytes read so far, has no delimiter.
        let found = self.from(range.start).find_map(|bytes| bytes.get(..until(bytes).filter(|end| *end < bytes.len().min(most))?));
        found.ok_or_else(|| {
            let longest = self.from(range.start).map(<[u8]>::len).max().unwrap_or(0) as u64;
            let wanted = range.start..range.end.min(range.start + NAME_CHUNK);
            if longest < wanted.end - wanted.start {
                self.missing.set(Some(wanted));
            }
        })
    }
}

fn parse(data: &Ranges) -> Result<Option<Object>, Error> {
    match FileKind::parse(data) {
        Ok(FileKind::Elf64) => elf_object::<elf::FileHeader64<object::Endianness>>(data).map(Some),
        Ok(FileKind::Elf32) => elf_object::<elf::FileHeader32<object::Endianness>>(data).map(Some),
        Ok(FileKind::Pe64) => pe_object::<pe::ImageNtHeaders64>(data).map(Some),
        Ok(FileKind::Pe32) => pe_object::<pe::ImageNtHeaders32>(data).map(Some),
        Ok(FileKind::Coff) => coff_object::<pe::ImageFileHeader>(data).map(Some),
        Ok(FileKind::CoffBig) => coff_object::<pe::AnonObjectHeaderBigobj>(data).map(Some),
        Ok(_) => Ok(None),
        // After a missing range the error means nothing: the range is read first.
        Err(error) => {
            let missing = data.missing.take();
            let is_unknown_format = missing.is_none();
            data.missing.set(missing);
            if is_unknown_format { Ok(None) } else { Err(error) }
        }
    }
}

fn elf_object<E: FileHeader<Endian = object::Endianness>>(data: &Ranges) -> Result<Object, Error> {
    let header = E::parse(data)?;
    let endian = header.endian()?;
    let table = header.sections(endian, data)?;
    let mut sections = Vec::new();
    for section in table.iter() {
        let name = String::from_utf8_lossy(table.section_name(endian, section)?).into_owned();
        if let Some((start, size)) = section.file_range(endian) {
            sections.push(Section { name, bytes: start..start.saturating_add(size) });
        }
    }
    let machine = if header.e_machine(endian) == elf::EM_CUDA { Machine::Cubin } else { Machine::Host };
    Ok(Object { machine, sections })
}

fn pe_object<P: ImageNtHeaders>(data: &Ranges) -> Result<Object, Error> {
    let mut offset = pe::ImageDosHeader::parse(data)?.nt_headers_offset().into();
    let (headers, _) = P::parse(data, &mut offset)?;
    let table = headers.sections(data, offset)?;
    let sections = table.iter().map(|section| {
        let (start, size) = section.pe_file_range();
        host_section(section.raw_name(), start, size)
    });
    Ok(Object { machine: Machine::Host, sections: sections.collect() })
}

fn coff_object<C: CoffHeader>(data: &Ranges) -> Result<Object, Error> {
    let mut offset = 0;
    let header = C::parse(data, &mut offset)?;
    let table = header.sections(data, offset)?;
    let ranges = table.iter().filter_map(|section| Some((section.raw_name(), section.coff_file_range()?)));
    let sections = ranges.map(|(name, (start, size))| host_section(name, start, size));
    Ok(Object { machine: Machine::Host, sections: sections.collect() })
}

fn host_section(name: &[u8], start: u32, size: u32) -> Section {
    let start = u64::from(start);
    Section { name: String::from_utf8_lossy(name).into_owned(), bytes: start..start + u64::from(size) }
}
