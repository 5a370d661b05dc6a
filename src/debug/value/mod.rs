//! Values of expressions: typed bits of one thread, of each lane, or of an array, and their text in each format.
//!
//! A value has its exact bits; only [`text`] converts them to digits, and [`lanes`] summarizes those of 32 lanes in a line.

mod element;
pub mod format;
pub mod lanes;
pub mod number;
mod tensor;
pub mod text;

use crate::dwarf::TypeId;
use crate::isa::{ScalarType, Space};
use crate::machine::{LaneMask, PerLane};

pub use element::element_text;
pub use format::Format;
pub use lanes::{LanesText, Pattern};
pub use tensor::{Tensor, TensorElement};
pub use text::{ArrayText, Shown, TensorText, ValueText};

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A number, a predicate, untyped bits or a packed vector.
    Scalar(ScalarType),
    /// An address in a space, of elements of a type.
    Pointer(Space, ScalarType),
    /// An address in a space, of objects of a type of the source: the type, and the bytes of an object.
    SourcePointer(Space, Option<TypeId>, u32),
    /// An instruction, by its number in the program.
    Code,
    /// The address of a function.
    Function,
}

/// Bits with a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// The type of the bits.
    pub ty: Type,
    /// The bits, zero-extended.
    pub bits: u128,
}

/// The values of some lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// The type of the values.
    pub ty: Type,
    /// The lanes that have a value.
    pub mask: LaneMask,
    /// The bits; only those of `mask` are valid.
    pub bits: PerLane<u128>,
    /// The lanes that were asked for as well and have no value yet.
    pub undefined: LaneMask,
}

/// The elements of an array in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Type of an element.
    pub ty: ScalarType,
    /// Its state space.
    pub space: Space,
    /// Address of the first element.
    pub address: u64,
    /// Extent of every dimension, outermost first.
    pub shape: Vec<u64>,
    /// The first elements, in order of address: all, or as many as were requested.
    pub elements: Vec<u128>,
    /// For each byte of them, true if it was not written; empty if all are written or it is not known.
    pub unwritten: Vec<bool>,
}

/// The bytes of an object with their type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceValue {
    /// The type; none for `void`.
    pub ty: Option<TypeId>,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The place in memory, if it has one.
    pub place: Option<(Space, u64)>,
    /// The number of objects in a row; none for one object.
    pub count: Option<u64>,
    /// The bytes from the start of one to that of the next, if they do not stand side by side.
    pub stride: Option<u64>,
    /// For each byte, true if the thread has not written it; empty if all are written or it is not known.
    pub unwritten: Vec<bool>,
}

/// The value of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// One value.
    Scalar(Scalar),
    /// One value for each lane.
    Lanes(Box<Lanes>),
    /// An array.
    Array(Array),
    /// An object of a type of the source.
    Source(SourceValue),
    /// A tensor that the threads of a block hold together.
    Tensor(Box<Tensor>),
}

impl Type {
    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Type::Scalar(ty) => ty.bits(),
            Type::Pointer(..) | Type::SourcePointer(..) | Type::Code | Type::Function => 64,
        }
    }

    /// The name in the user's syntax.
    pub fn name(self) -> String {
        match self {
            Type::Scalar(ty) => ty.word().to_string(),
            Type::Pointer(Space::Generic, ty) => format!("{}*", ty.word()),
            Type::Pointer(space, ty) => format!("{} {}*", space.word(), ty.word()),
            Type::SourcePointer(..) => "pointer".to_string(),
            Type::Code => "code".to_string(),
            Type::Function => "function".to_string(),
        }
    }
}

impl Scalar {
    /// `bits` as `ty`; bits above the type's width are dropped.
    pub fn new(ty: Type, bits: u128) -> Self {
        let width = ty.bits();
        Self { ty, bits: if width >= 128 { bits } else { bits & ((1 << width) - 1) } }
    }

    /// A truth value.
    pub fn truth(value: bool) -> Self {
        Self { ty: Type::Scalar(ScalarType::Pred), bits: u128::from(value) }
    }

    /// True if it is not zero; as in C, -0 is zero and NaN is not.
    pub fn is_true(&self) -> bool {
        match self.ty {
            Type::Scalar(ty) => number::to_f64(ty, self.bits).map_or(self.bits != 0, |value| value != 0.0),
            Type::Pointer(..) | Type::SourcePointer(..) | Type::Code | Type::Function => self.bits != 0,
        }
    }
}

impl Value {
    /// The lanes that were asked for and have no value yet.
    pub fn undefined(&self) -> LaneMask {
        if let Value::Lanes(lanes) = self { lanes.undefined } else { LaneMask::NONE }
    }

    /// The same with the lowest `count` bits of each number alone.
    #[must_use]
    pub fn lowest_bits(&self, count: u32) -> Value {
        let mask = 1_u128.checked_shl(count).map_or(u128::MAX, |above| above - 1);
        match self {
            Value::Scalar(scalar) => Value::Scalar(Scalar { bits: scalar.bits & mask, ..*scalar }),
            Value::Lanes(lanes) => Value::Lanes(Box::new(Lanes { bits: lanes.bits.map(|bits| bits & mask), ..(**lanes).clone() })),
            Value::Array(_) | Value::Source(_) | Value::Tensor(_) => self.clone(),
        }
    }

    /// True if a condition with this value holds: it is not zero, in any lane for lane values. An array is an address, which is true.
    pub fn is_true(&self) -> bool {
        match self {
            Value::Scalar(scalar) => scalar.is_true(),
            Value::Lanes(lanes) => lanes.iter().any(|(_, scalar)| scalar.is_true()),
            Value::Array(_) => true,
            Value::Tensor(tensor) => tensor.known().any(|element| element.is_true()),
            // A number is true if a bit of it is set; an aggregate is an address.
            Value::Source(source) => source.bytes.len() > 16 || source.bytes.iter().any(|byte| *byte != 0),
        }
    }
}

impl SourceValue {
    /// The bytes of memory from its first to its last byte.
    pub fn span(&self) -> u64 {
        match (self.stride, self.count) {
            (Some(stride), Some(count @ 1..)) => stride.saturating_mul(count - 1).saturating_add(self.bytes.len() as u64 / count),
            _ => self.bytes.len() as u64,
        }
    }

    /// Notes which bytes of its span the thread has not written; none of them if it is empty.
    pub fn note_unwritten(&mut self, of_span: &[bool]) {
        let (Some(stride), Some(count @ 1..)) = (self.stride, self.count) else {
            self.unwritten = of_span.to_vec();
            return;
        };
        let size = self.bytes.len() as u64 / count;
        let starts = (0..count).map(|index| index * stride);
        let all: Vec<bool> = starts.flat_map(|start| start..start + size).filter_map(|at| of_span.get(at as usize).copied()).collect();
        self.unwritten = if all.contains(&true) { all } else { Vec::new() };
    }
}

impl Lanes {
    /// Each lane with its value, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Scalar)> + '_ {
        self.mask.iter().map(|lane| (lane, Scalar { ty: self.ty, bits: self.bits[lane] }))
    }
}
