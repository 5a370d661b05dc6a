//! The inferred type of an array that is declared as bytes.

use super::flow::Escape;
use crate::isa::ScalarType;
use crate::program::Pc;

/// An element's type and the extents of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayType {
    /// Type of an element.
    pub ty: ScalarType,
    /// Extent of every dimension, outermost first. Of dynamic shared memory, whose size the launch gives, the outermost is left out.
    pub shape: Vec<u64>,
}

/// The type that the accesses to an array show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inferred {
    /// Its type.
    pub ty: ArrayType,
    /// Of integers, whether some instruction shows their signedness; otherwise they count as signed.
    pub is_sign_known: bool,
    /// Bytes of the rows that some access shows, greatest first.
    pub rows: Vec<u64>,
    /// The first access.
    pub at: Option<Pc>,
}

/// Why the type of an array remains unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UntypedReason {
    /// No instruction accesses it, or none shows the width of an element.
    Unused,
    /// Two accesses use elements as different types.
    Differ((Pc, String), (Pc, String)),
    /// It holds an object that is no array.
    Object(Pc, &'static str),
    /// Its address escapes.
    Escapes(Escape),
    /// Its size or its alignment does not fit such elements.
    Size(ScalarType),
}

/// The inferred type of an array that is declared as bytes, or why none is inferred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inference {
    /// Its accesses agree.
    Typed(Inferred),
    /// It remains an array of bytes.
    Bytes(UntypedReason),
}
