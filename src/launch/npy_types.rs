//! Arrays of NumPy and the types that kernels read: which of them go together, and what to do in NumPy where they do not.

use super::data::DataFile;
use super::element::{Element, Kind};
use super::given::Own;
use super::npy::Header;
use crate::base::counted;

/// Why a file cannot be what a buffer holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// What the file holds, as the start of a sentence.
    pub holds: String,
    /// What to do in NumPy.
    pub help: String,
}

/// The element type of a buffer that holds the data of `file` and is read as `own` by the kernel. Where the kernel says the width of an
/// element only, elements of that width are taken and narrower ones, of which a word holds several.
///
/// # Errors
/// The elements of the file have another size, or are floats where the kernel reads integers, or the other way round.
pub fn element_of(file: &DataFile, own: Own) -> Result<Element, Misfit> {
    let is_moved = matches!(own, Own::Moved(_));
    let (Some(header), Some(own)) = (&file.npy, own.element()) else {
        let found = file.npy.as_ref().and_then(Header::element);
        return Ok(own.element().or(found).unwrap_or(Element::B32));
    };
    if header.is_rounded_to(own) {
        return Ok(own);
    }
    let is_as_wide = |found: &Element| found.bytes() == own.bytes();
    let taken = match (own.kind(), header.element()) {
        (_, Some(found)) if is_moved || own.kind() == Kind::Bits => Some(found).filter(|found| found.bytes() <= own.bytes()),
        (Kind::Unsigned | Kind::Signed, Some(found)) if !header.fits(own) => {
            Some(found).filter(|found| is_as_wide(found) && found.kind() != Kind::Float)
        }
        (Kind::Bits | Kind::Unsigned | Kind::Signed | Kind::Float, _) => Some(own).filter(|own| header.fits(*own)),
    };
    taken.ok_or_else(|| misfit(file, header, own))
}

fn misfit(file: &DataFile, header: &Header, wanted: Element) -> Misfit {
    Misfit { holds: format!("'{}' holds elements of {}", file.path.display(), header.dtype()), help: saving(file, wanted) }
}

/// Why `file` cannot be what a buffer of `element` must hold at the end, if it cannot for the type of its elements.
pub fn unlike(file: &DataFile, element: Element) -> Option<Misfit> {
    let header = file.npy.as_ref().filter(|header| !header.fills(element))?;
    Some(misfit(file, header, element))
}

/// How an array is saved so that it fills a buffer of `element`.
pub fn saving(file: &DataFile, element: Element) -> String {
    let name = file.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    // Compilers load signed words as unsigned ones: the file knows more of signs.
    let has_sign = file.npy.as_ref().is_none_or(|header| !matches!(header.kind, 'u' | 'b'));
    let dtype = match element {
        Element::U8 | Element::B8 => "uint8",
        Element::S8 => "int8",
        Element::U16 | Element::S16 | Element::B16 if has_sign => "int16",
        Element::U16 | Element::S16 | Element::B16 => "uint16",
        Element::U32 | Element::S32 | Element::B32 if has_sign => "int32",
        Element::U32 | Element::S32 | Element::B32 => "uint32",
        Element::U64 | Element::S64 | Element::B64 if has_sign => "int64",
        Element::U64 | Element::S64 | Element::B64 => "uint64",
        Element::F16 => "float16",
        // NumPy has no bf16: numbers of f32 are rounded to it.
        Element::BF16 | Element::F32 => "float32",
        Element::F64 => "float64",
    };
    let converted = format!("np.save(\"{name}\", x.astype(np.{dtype}))");
    match element.kind() {
        Kind::Bits => format!("save elements of {}, such as with {converted}", counted(element.bytes().into(), "byte")),
        Kind::Unsigned | Kind::Signed | Kind::Float => format!("save it with {converted}"),
    }
}
