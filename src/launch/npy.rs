//! NumPy's `.npy` files, versions 1 to 3: a magic string, a version, the length of a header, the header (a Python dictionary with
//! element type, order and shape), then the elements. Only little-endian numbers in C order are read.

use std::io::Read;

use super::element::{Element, Kind};

const MAGIC: &[u8] = b"\x93NUMPY";
/// Longest header that is read; one of a plain array has about 100 bytes.
const HEADER_BYTES_MAX: u32 = 1 << 20;

/// The header of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Kind of element: `b` for bool, `i`, `u`, `f`, and `V` for a type that NumPy does not have.
    pub kind: char,
    /// Size of an element in bytes.
    pub element_bytes: u64,
    /// Extent of every dimension, outermost first; empty for a single number.
    pub shape: Vec<u64>,
    /// Offset of the first element in the file.
    pub data_offset: u64,
}

impl Header {
    /// Number of elements, if it fits 64 bits.
    pub fn elements(&self) -> Option<u64> {
        self.shape.iter().try_fold(1_u64, |product, extent| product.checked_mul(*extent))
    }

    /// True if the elements have the type `element`.
    pub fn fits(&self, element: Element) -> bool {
        let kind_fits = match element.kind() {
            Kind::Bits => true,
            Kind::Unsigned => matches!(self.kind, 'u' | 'b'),
            Kind::Signed => self.kind == 'i',
            Kind::Float if element == Element::BF16 => matches!(self.kind, 'V' | 'u' | 'i'),
            Kind::Float => self.kind == 'f',
        };
        kind_fits && self.element_bytes == u64::from(element.bytes())
    }

    /// True if the elements are rounded to `element`: NumPy has no bf16, so an array of such numbers has type f32.
    pub fn is_rounded_to(&self, element: Element) -> bool {
        element == Element::BF16 && self.kind == 'f' && self.element_bytes == u64::from(Element::F32.bytes())
    }

    /// True if the elements can fill a buffer of `element`: of its type, integers of the other signedness, or rounded to it.
    pub fn fills(&self, element: Element) -> bool {
        let is_integer = matches!(element.kind(), Kind::Unsigned | Kind::Signed) && matches!(self.kind, 'u' | 'i' | 'b');
        self.fits(element) || self.is_rounded_to(element) || is_integer && self.element_bytes == u64::from(element.bytes())
    }

    /// The element type; `None` for a type that NumPy does not have.
    pub fn element(&self) -> Option<Element> {
        let letter = match self.kind {
            'u' | 'b' => 'u',
            'i' => 's',
            'f' => 'f',
            _ => return None,
        };
        Element::from_name(&format!("{letter}{}", self.element_bytes * 8))
    }

    /// NumPy's name of the element type.
    pub fn dtype(&self) -> String {
        let word = match self.kind {
            'b' => return "bool".to_string(),
            'V' => return format!("V{}", self.element_bytes),
            'i' => "int",
            'f' => "float",
            _ => "uint",
        };
        format!("{word}{}", 8 * self.element_bytes)
    }

    /// PTX's name of the element type; NumPy's for types that PTX does not have.
    pub fn element_name(&self) -> String {
        let letter = match self.kind {
            'i' => "s",
            'b' => return "bool".to_string(),
            'V' => return format!("V{}", self.element_bytes),
            'f' => "f",
            _ => "u",
        };
        format!("{letter}{}", 8 * self.element_bytes)
    }
}

/// Reads the header at the start of `file`.
///
/// # Errors
/// The reason why the file cannot be used, as the end of a sentence that starts with its name.
pub fn read_header(file: &mut impl Read) -> Result<Header, String> {
    let prelude = take(file, MAGIC.len() + 2)?;
    if !prelude.starts_with(MAGIC) {
        return Err("is not a .npy file: it does not start with \\x93NUMPY".to_string());
    }
    let version = prelude[MAGIC.len()];
    let length_bytes = match version {
        1 => 2,
        2 | 3 => 4,
        _ => return Err(format!("is a .npy file of version {version}; versions 1 to 3 are read")),
    };
    let length = take(file, length_bytes)?.iter().rev().fold(0_u32, |length, byte| length << 8 | u32::from(*byte));
    if length > HEADER_BYTES_MAX {
        return Err(format!("has a .npy header of {length} bytes; at most {HEADER_BYTES_MAX} are read"));
    }
    let header = take(file, length as usize)?;
    let header = std::str::from_utf8(&header).map_err(|_| "has a .npy header that is not text".to_string())?;
    let data_offset = (MAGIC.len() + 2 + length_bytes) as u64 + u64::from(length);
    parse_header(header, data_offset)
}

/// The header of a file with elements of type `element` in this shape.
pub fn header_bytes(element: Element, shape: &[u64]) -> Vec<u8> {
    header_of(&format!("'{}'", type_string(element)), shape)
}

/// The header of a file with records in this shape: the fields with their names and types, as in a structured array of NumPy.
pub fn record_header_bytes(fields: &[(String, Element)], shape: &[u64]) -> Vec<u8> {
    let field = |(name, element): &(String, Element)| format!("('{}', '{}'), ", name.replace(['\\', '\''], "_"), type_string(*element));
    header_of(&format!("[{}]", fields.iter().map(field).collect::<String>().trim_end_matches(' ')), shape)
}

/// `<f4`
fn type_string(element: Element) -> String {
    let kind = match element.kind() {
        _ if element == Element::BF16 => "V",
        Kind::Bits | Kind::Unsigned => "u",
        Kind::Signed => "i",
        Kind::Float => "f",
    };
    let order = if element.bytes() == 1 || kind == "V" { "|" } else { "<" };
    format!("{order}{kind}{}", element.bytes())
}

fn header_of(descr: &str, shape: &[u64]) -> Vec<u8> {
    let extents: String = shape.iter().map(|extent| format!("{extent}, ")).collect();
    let mut header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({}), }}", extents.trim_end());
    // Version 2 has a longer length, for headers that do not fit version 1. NumPy pads with blanks so that the elements start at a
    // multiple of 64.
    let is_long = header.len() > usize::from(u16::MAX) - 64;
    let unpadded = MAGIC.len() + if is_long { 6 } else { 4 } + header.len() + 1;
    header.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    let length = (header.len() as u32).to_le_bytes();
    let (version, length) = if is_long { (2, &length[..]) } else { (1, &length[..2]) };
    [MAGIC, &[version, 0], length, header.as_bytes()].concat()
}

fn take(file: &mut impl Read, bytes: usize) -> Result<Vec<u8>, String> {
    let mut read = vec![0; bytes];
    file.read_exact(&mut read).map_err(|_| "ends inside its .npy header".to_string())?;
    Ok(read)
}

fn parse_header(header: &str, data_offset: u64) -> Result<Header, String> {
    let entry = |key: &str| {
        let found = [format!("'{key}':"), format!("\"{key}\":")].iter().find_map(|key| header.split_once(key.as_str()));
        found.map(|(_, value)| value.trim_start()).ok_or(format!("has a .npy header without '{key}'"))
    };
    let (kind, element_bytes) = parse_descr(entry("descr")?)?;
    if !entry("fortran_order")?.starts_with("False") {
        return Err("is saved in Fortran order; save numpy.ascontiguousarray of it".to_string());
    }
    let shape = entry("shape")?.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(inside, _)| inside);
    let extents = shape.ok_or("has a .npy header whose shape is not a tuple")?.split(',').map(str::trim).filter(|text| !text.is_empty());
    let shape: Result<Vec<u64>, _> = extents.map(str::parse).collect();
    let shape = shape.map_err(|_| "has a .npy header whose shape is not a tuple of numbers")?;
    Ok(Header { kind, element_bytes, shape, data_offset })
}

/// Kind and size of `'<f4'`.
fn parse_descr(descr: &str) -> Result<(char, u64), String> {
    let quoted = descr.strip_prefix(['\'', '"']).and_then(|rest| rest.split(['\'', '"']).next());
    let Some(word) = quoted else { return Err("holds records, not plain numbers".to_string()) };
    if word.starts_with('>') {
        return Err(format!("holds big-endian elements ({word}); save a little-endian copy"));
    }
    let word = word.trim_start_matches(['<', '|', '=']);
    let mut letters = word.chars();
    let kind = letters.next().filter(|kind| "biufV".contains(*kind));
    let bytes = letters.as_str().parse().ok().filter(|bytes| matches!(bytes, 1 | 2 | 4 | 8));
    kind.zip(bytes).ok_or_else(|| format!("holds elements of type {word}, which no buffer has"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, header: &str) -> Vec<u8> {
        let length = (header.len() as u32).to_le_bytes();
        let length = if version == 1 { &length[..2] } else { &length[..] };
        [MAGIC, &[version, 0], length, header.as_bytes()].concat()
    }

    fn read(bytes: &[u8]) -> Result<Header, String> {
        read_header(&mut { bytes })
    }

    #[test]
    fn what_is_written_is_read_back() {
        for element in [Element::U8, Element::S16, Element::B32, Element::F16, Element::BF16, Element::F64] {
            for shape in [vec![], vec![7], vec![3, 4, 5]] {
                let bytes = header_bytes(element, &shape);
                let header = read(&bytes).unwrap();
                assert_eq!(header.shape, shape);
                assert!(header.fits(element), "{element:?} {}", header.element_name());
                assert_eq!(header.data_offset, bytes.len() as u64);
                assert_eq!(bytes.len() % 64, 0);
            }
        }
    }

    #[test]
    fn all_versions_are_read() {
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (10, 2), }\n";
        for (version, offset) in [(1, 10), (2, 12), (3, 12)] {
            let header = read(&file(version, text)).unwrap();
            let expected = Header { kind: 'f', element_bytes: 4, shape: vec![10, 2], data_offset: offset + text.len() as u64 };
            assert_eq!(header, expected);
            assert_eq!(header.elements(), Some(20));
        }
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        let header = |descr: &str, order: &str, shape: &str| {
            let text = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
            read(&file(1, &text)).map(|header| header.element_name()).unwrap_err()
        };
        assert_eq!(header("'>f4'", "False", "(1,)"), "holds big-endian elements (>f4); save a little-endian copy");
        assert_eq!(header("'<f4'", "True", "(1,)"), "is saved in Fortran order; save numpy.ascontiguousarray of it");
        assert_eq!(header("'<c8'", "False", "(1,)"), "holds elements of type c8, which no buffer has");
        assert_eq!(header("[('a', '<f4')]", "False", "(1,)"), "holds records, not plain numbers");
        assert_eq!(header("'<f4'", "False", "(-1,)"), "has a .npy header whose shape is not a tuple of numbers");
        assert_eq!(header("'<f4'", "False", "7"), "has a .npy header whose shape is not a tuple");
        assert_eq!(read(b"plain text").unwrap_err(), "is not a .npy file: it does not start with \\x93NUMPY");
        assert_eq!(read(&file(9, "{}")).unwrap_err(), "is a .npy file of version 9; versions 1 to 3 are read");
        assert_eq!(read(&file(1, "{}")).unwrap_err(), "has a .npy header without 'descr'");
        assert_eq!(read(&file(1, "{}")[..9]).unwrap_err(), "ends inside its .npy header");
        let huge = [MAGIC, &[2, 0, 255, 255, 255, 255]].concat();
        assert_eq!(read(&huge).unwrap_err(), "has a .npy header of 4294967295 bytes; at most 1048576 are read");
    }
}
