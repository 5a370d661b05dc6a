//! Types of values: `i32`, `!tt.ptr<f16>`, `tensor<64x32xf32, #mma>`.

use super::text;
use crate::isa::ScalarType;

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementType {
    /// A number.
    Scalar(ScalarType),
    /// A pointer to numbers; none for a type that PTX does not have.
    Pointer(Option<ScalarType>),
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// A number or a pointer.
    Scalar(ElementType),
    /// A tensor.
    Tensor(TensorType),
    /// Another type, such as memory or a token.
    Other,
}

/// The type of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorType {
    /// Extent of every dimension, outermost first.
    pub shape: Vec<u64>,
    /// The type of an element.
    pub element: ElementType,
    /// Its layout, as it is written; empty where the text has none.
    pub layout: String,
}

impl ElementType {
    /// Its width in bits.
    pub fn bits(self) -> u32 {
        match self {
            ElementType::Scalar(ty) => ty.bits(),
            ElementType::Pointer(_) => 64,
        }
    }

    /// The type of the number that it is: of a pointer, its bits.
    pub fn number(self) -> ScalarType {
        match self {
            ElementType::Scalar(ty) => ty,
            ElementType::Pointer(_) => ScalarType::B64,
        }
    }

    fn parse(written: &str) -> Option<Self> {
        if let Some(rest) = written.strip_prefix("!tt.ptr<") {
            let (inside, _) = text::inside(rest)?;
            let pointee = text::split(inside, ',').first().and_then(|word| Self::parse(word));
            return Some(ElementType::Pointer(match pointee {
                Some(ElementType::Scalar(ty)) => Some(ty),
                Some(ElementType::Pointer(_)) | None => None,
            }));
        }
        let word = written.split(|letter: char| !letter.is_ascii_alphanumeric()).next()?;
        NUMBERS.iter().find(|row| row.0 == word).map(|row| ElementType::Scalar(row.1))
    }
}

/// The names of numbers. Integers have no sign: they are taken as signed ones, as Triton's are unless declared otherwise.
const NUMBERS: &[(&str, ScalarType)] = &[
    ("f64", ScalarType::F64),
    ("f32", ScalarType::F32),
    ("f16", ScalarType::F16),
    ("bf16", ScalarType::BF16),
    ("f8E5M2", ScalarType::E5M2),
    ("f8E4M3FN", ScalarType::E4M3),
    ("i1", ScalarType::Pred),
    ("i8", ScalarType::S8),
    ("i16", ScalarType::S16),
    ("i32", ScalarType::S32),
    ("i64", ScalarType::S64),
];

impl ValueType {
    /// Reads a type.
    pub fn parse(written: &str) -> Self {
        let written = written.trim();
        let tensor = written.strip_prefix("tensor<").and_then(text::inside).map(|found| found.0);
        let parsed = match tensor {
            Some(inside) => tensor_type(inside).map(ValueType::Tensor),
            None => ElementType::parse(written).map(ValueType::Scalar),
        };
        parsed.unwrap_or(ValueType::Other)
    }

    /// The type with other elements.
    #[must_use]
    pub fn with_element(self, element: ElementType) -> Self {
        match self {
            ValueType::Scalar(_) => ValueType::Scalar(element),
            ValueType::Tensor(tensor) => ValueType::Tensor(TensorType { element, ..tensor }),
            ValueType::Other => ValueType::Other,
        }
    }

    /// The type of an element; none for what has none.
    pub fn element(&self) -> Option<ElementType> {
        match self {
            ValueType::Scalar(element) => Some(*element),
            ValueType::Tensor(tensor) => Some(tensor.element),
            ValueType::Other => None,
        }
    }
}

fn tensor_type(inside: &str) -> Option<TensorType> {
    let parts = text::split(inside, ',');
    let (mut rest, mut shape) = (*parts.first()?, Vec::new());
    while let Some((extent, after)) = rest.split_once('x')
        && let Ok(extent) = extent.parse()
    {
        shape.push(extent);
        rest = after;
    }
    Some(TensorType {
        shape,
        element: ElementType::parse(rest)?,
        layout: parts.get(1).map_or_else(String::new, |layout| (*layout).to_string()),
    })
}
