//! What is known of an array that is declared by the byte.

use super::flow::Escape;
use crate::isa::ScalarType;
use crate::program::Pc;

/// An element's type and the extents of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayType {
    /// Type of an element.
    pub ty: ScalarType,
    /// Extent of every dimension, outermost first. Of dynamic shared memory, whose size the launch says, the outermost is left out.
    pub shape: Vec<u64>,
}

/// What accesses show an array to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inferred {
    /// Its type.
    pub ty: ArrayType,
    /// Of integers, whether some instruction shows if they have a sign; without one they are taken to have one.
    pub sign_shows: bool,
    /// Bytes of the rows that some access shows, greatest first.
    pub rows: Vec<u64>,
    /// The first access.
    pub at: Option<Pc>,
}

/// Why an array stays one of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UntypedReason {
    /// No instruction accesses it, or none says how wide an element is.
    Unused,
    /// Two accesses take elements for different things.
    Differ((Pc, String), (Pc, String)),
    /// It holds something that is no array.
    Object(Pc, &'static str),
    /// Its address goes where it is not followed.
    Escapes(Escape),
    /// Its size or its alignment is not that of such elements.
    Size(ScalarType),
}

/// What is known of an array that is declared by the byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// Its accesses agree.
    Typed(Inferred),
    /// It stays one of bytes.
    Bytes(UntypedReason),
}
