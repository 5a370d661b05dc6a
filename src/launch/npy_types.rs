//! Compatibility of NumPy's array types with the types that kernels read, and how to convert an array in NumPy.

use super::data::DataFile;
use super::element::{Element, Kind};
use super::npy::Header;
use super::param_args::ParamType;
use crate::base::counted;

/// The reason why a file cannot be the contents of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The file's element type, as the start of a sentence.
    pub holds: String,
    /// The conversion in NumPy.
    pub help: String,
}

/// The element type of a buffer with the data of `file` that the kernel reads as `ty`. If only the width of an element is known,
/// elements of that width and narrower ones are accepted.
///
/// # Errors
/// The elements of the file have another size, or are floats and the kernel reads integers, or the other way round.
pub fn element_of(file: &DataFile, ty: ParamType) -> Result<Element, Misfit> {
    let is_moved = matches!(ty, ParamType::AnyOfWidth(_));
    let (Some(header), Some(ty)) = (&file.npy, ty.element()) else {
        let found = file.npy.as_ref().and_then(Header::element);
        return Ok(ty.element().or(found).unwrap_or(Element::B32));
    };
    if header.is_rounded_to(ty) {
        return Ok(ty);
    }
    let is_as_wide = |found: &Element| found.bytes() == ty.bytes();
    let taken = match (ty.kind(), header.element()) {
        (_, Some(found)) if is_moved || ty.kind() == Kind::Bits => Some(found).filter(|found| found.bytes() <= ty.bytes()),
        (Kind::Unsigned | Kind::Signed, Some(found)) if !header.fits(ty) => {
            Some(found).filter(|found| is_as_wide(found) && found.kind() != Kind::Float)
        }
        (Kind::Bits | Kind::Unsigned | Kind::Signed | Kind::Float, _) => Some(ty).filter(|ty| header.fits(*ty)),
    };
    taken.ok_or_else(|| misfit(file, header, ty))
}

fn misfit(file: &DataFile, header: &Header, wanted: Element) -> Misfit {
    Misfit { holds: format!("'{}' holds elements of {}", file.path.display(), header.dtype()), help: saving(file, wanted) }
}

/// The reason why `file` cannot be the expected contents of a buffer of `element`, if its element type differs.
pub fn unlike(file: &DataFile, element: Element) -> Option<Misfit> {
    let header = file.npy.as_ref().filter(|header| !header.fills(element))?;
    Some(misfit(file, header, element))
}

/// The NumPy statement that saves an array for a buffer of `element`.
pub fn saving(file: &DataFile, element: Element) -> String {
    let name = file.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    // Compilers load signed integers as unsigned ones: the file is better evidence.
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
