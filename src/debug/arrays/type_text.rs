//! Types of arrays that the user sets: `f32[16][16]`, `half[][33]`, `float`.

use super::inference::ArrayType;
use crate::debug::argument::ArgumentError;
use crate::debug::expression::type_called;
use crate::isa::TypeKind;
use crate::program::Variable;

/// Maximum number of dimensions.
const DIMENSIONS_MAX: usize = 8;

/// The memory that the user sets a type for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypedMemory {
    /// A variable.
    Variable {
        /// Its size.
        bytes: u64,
        /// True if it is declared as an array.
        is_array: bool,
    },
    /// Dynamic shared memory, and its size if the launch is known.
    Dynamic(Option<u64>),
    /// A buffer of the launch, and its size.
    Buffer(u64),
}

impl TypedMemory {
    /// That of a variable; `dynamic` is the size of dynamic shared memory, if it is known.
    pub fn of(variable: &Variable, dynamic: Option<u64>) -> Self {
        match variable.bytes {
            0 => Self::Dynamic(dynamic),
            bytes => Self::Variable { bytes, is_array: variable.is_array },
        }
    }

    fn bytes(self) -> u64 {
        match self {
            Self::Variable { bytes, .. } | Self::Buffer(bytes) => bytes,
            Self::Dynamic(bytes) => bytes.unwrap_or(0),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Variable { .. } | Self::Dynamic(_) => "variable",
            Self::Buffer(_) => "buffer",
        }
    }
}

/// Reads the type that the user sets for memory: a type of PTX or C, and extents; the first may be left out or empty.
///
/// # Errors
/// It is no type, or none that fills the memory.
pub fn parse_array_type(text: &str, memory: TypedMemory) -> Result<ArrayType, ArgumentError> {
    let (name, extents) = text.find('[').map_or((text, ""), |at| text.split_at(at));
    let words: Vec<&str> = name.split_whitespace().collect();
    let ty = type_called(&words).ok_or_else(|| {
        let help = "a type is one of PTX or C with extents, as in f32[16][16], half[][33] or float; auto is what accesses show";
        ArgumentError::new(format!("'{}' is no type", name.trim())).at(0..name.len().max(1)).with_help(help)
    })?;
    let is_whole = ty.bits() >= 8 && ty.bits().is_multiple_of(8);
    if ty.kind() == TypeKind::Predicate || !is_whole {
        return Err(ArgumentError::new(format!("an element in memory is of whole bytes, and .{} is not", ty.word())));
    }
    let shape = extents_of(extents).map_err(|message| ArgumentError::new(message).at(name.len()..text.len()))?;
    let row = shape.iter().skip(1).try_fold(u64::from(ty.bytes()), |bytes, extent| bytes.checked_mul(extent.unwrap_or(0)));
    let row = row.filter(|row| *row > 0).ok_or_else(|| ArgumentError::new("every extent but the first is a number from 1"))?;
    let inner = shape.iter().skip(1).copied().flatten();
    let (bytes, what) = (memory.bytes(), memory.word());
    if shape.first().copied().flatten().is_none() && !bytes.is_multiple_of(row) {
        let message = format!("{} has {row} bytes, of which the {what}'s {bytes} are no multiple", row_words(text, shape.len()));
        return Err(ArgumentError::new(message));
    }
    if let TypedMemory::Dynamic(_) = memory {
        // The launch gives the number of rows.
        return match shape.first() {
            Some(Some(_)) => Err(ArgumentError::new("the launch says how many elements dynamic shared memory has")
                .with_help("leave the first extent empty, as in f32[][16]")),
            Some(None) | None => Ok(ArrayType { ty, shape: inner.collect() }),
        };
    }
    let first = match shape.first() {
        Some(Some(first)) => *first,
        Some(None) | None => bytes / row,
    };
    if first.checked_mul(row) != Some(bytes) {
        let needed = first.max(1).saturating_mul(row);
        let message = format!("{} has {needed} bytes, and the {what} has {bytes}", text.trim());
        return Err(ArgumentError::new(message).with_help(format!("an element has {}", ty.bytes())));
    }
    let is_scalar = shape.is_empty() && first == 1 && matches!(memory, TypedMemory::Variable { is_array: false, .. });
    Ok(ArrayType { ty, shape: std::iter::once(first).chain(inner).filter(|_| !is_scalar).collect() })
}

/// `a row of f32[][16]`: the unit of the size error.
fn row_words(text: &str, dimensions: usize) -> String {
    format!("{} of {}", if dimensions > 1 { "a row" } else { "an element" }, text.trim())
}

/// The extents in brackets; none for an empty pair.
fn extents_of(text: &str) -> Result<Vec<Option<u64>>, String> {
    let mut extents = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let inside = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (extent, after) = inside.ok_or_else(|| format!("'{rest}' is no extent: write [N]"))?;
        let extent = match extent.trim() {
            "" => None,
            digits => {
                Some(digits.parse::<u64>().ok().filter(|extent| *extent > 0).ok_or_else(|| format!("'{digits}' is no number from 1"))?)
            }
        };
        extents.push(extent);
        rest = after.trim_start();
    }
    if extents.len() > DIMENSIONS_MAX {
        return Err(format!("an array has {DIMENSIONS_MAX} dimensions at most"));
    }
    Ok(extents)
}
