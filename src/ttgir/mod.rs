//! Triton's intermediate code as text, which Triton keeps beside the PTX: `NAME.ttgir` has the tensors with their layouts, and at each
//! operation the variable of the source and the place.
//!
//! [`Module::parse`] reads a kernel's operations, [`LinearLayout`] says which thread holds which element in which register.

mod encoding;
mod layout;
mod locations;
mod parse;
mod regions;
mod text;
mod types;

use std::collections::BTreeMap;

pub use encoding::Encoding;
pub use layout::LinearLayout;
pub use locations::Place;
pub use regions::{Branched, Carried};
pub use types::{ElementType, TensorType, ValueType};

use crate::base::define_id;

define_id!(
    /// A value: an index into [`Module::values`].
    ValueId, "value"
);
define_id!(
    /// An operation: an index into [`Module::ops`].
    OpId, "operation"
);

/// The operations of a kernel.
#[derive(Debug, Default)]
pub struct Module {
    /// The values, in order of definition.
    pub values: Vec<Value>,
    /// The operations, in order of the text; one with a region comes before what is in the region.
    pub ops: Vec<Op>,
    aliases: BTreeMap<String, String>,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its name in the text, with `%`.
    pub name: String,
    /// Its type.
    pub ty: ValueType,
    /// What defines it.
    pub definition: Definition,
}

/// What defines a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// The kernel takes it: the number of the argument.
    Argument(usize),
    /// The result of an operation, with its number.
    Result(OpId, usize),
    /// What a region takes: the counter of a loop, or what its rounds hand on.
    Region(OpId),
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op {
    /// `arith.addf`, `tt.load` …
    pub name: String,
    /// What it reads, in order.
    pub operands: Vec<ValueId>,
    /// Its results, in order.
    pub results: Vec<ValueId>,
    /// The text between its name and its types, with attributes.
    pub text: String,
    /// Where it stands, and the calls around it, innermost first.
    pub places: Vec<Place>,
    /// The places of other statements that have the same value.
    pub others: Vec<Place>,
    /// The operation whose region it is in.
    pub parent: Option<OpId>,
    /// The number of that region: of `scf.if` 0 is what is done if the condition holds, of `scf.while` 0 computes the condition.
    pub region: u32,
    /// What its regions take, in order: of a loop its counter, and what its rounds hand on.
    pub arguments: Vec<ValueId>,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

impl Module {
    /// Reads the kernel called `kernel`.
    ///
    /// # Errors
    /// The text has no such kernel, or not all of it.
    pub fn parse(text: &str, kernel: &str) -> Result<Self, TextError> {
        parse::module(text, kernel)
    }

    /// The layout of a tensor.
    ///
    /// # Errors
    /// In words, which layout is not known.
    pub fn layout(&self, ty: &TensorType) -> Result<LinearLayout, String> {
        let encoding = Encoding::parse(&ty.layout, &self.aliases);
        LinearLayout::new(&encoding.ok_or_else(|| format!("the layout '{}' is not known", ty.layout))?, &ty.shape)
    }

    /// The layout of a tensor as the text has it, with the alias that the type names replaced.
    pub fn written_layout(&self, ty: &TensorType) -> String {
        let alias = ty.layout.strip_prefix('#').and_then(|name| self.aliases.get(name));
        alias.unwrap_or(&ty.layout).clone()
    }

    /// The value with this id.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// The operation with this id.
    pub fn op(&self, id: OpId) -> &Op {
        &self.ops[id.index()]
    }

    /// The operations that read a value.
    pub fn users(&self, value: ValueId) -> impl Iterator<Item = OpId> {
        let is_user = move |op: &Op| op.operands.contains(&value);
        (0..self.ops.len()).filter(move |index| is_user(&self.ops[*index])).map(OpId::new)
    }
}

impl Value {
    /// True for a number, false for a tensor and for what is neither.
    pub fn is_number(&self) -> bool {
        matches!(self.ty, ValueType::Scalar(_))
    }
}

impl Op {
    /// The attribute `name = NUMBER`.
    pub fn number(&self, name: &str) -> Option<i64> {
        let (_, rest) = self.text.split_once(&format!("{name} = "))?;
        rest.split(|letter: char| !letter.is_ascii_digit() && letter != '-').next()?.parse().ok()
    }
}
