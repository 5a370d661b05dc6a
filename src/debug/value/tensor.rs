//! Values of tensors that the threads of a block hold together.

use super::{Scalar, Type};
use crate::isa::ScalarType;

/// A tensor, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// The type of an element.
    pub ty: ScalarType,
    /// Extent of every dimension, outermost first.
    pub shape: Vec<u64>,
    /// The first index of a part of a tensor along each dimension; all 0 for a whole one.
    pub start: Vec<u64>,
    /// The elements, in order of the indices, the last index fastest.
    pub elements: Vec<TensorElement>,
    /// What is to be known about the elements, a sentence each.
    pub notes: Vec<String>,
}

/// An element of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorElement {
    /// Its bits.
    Known(u128),
    /// A load has left it out, and these bits stand for it.
    Masked(u128),
    /// No register holds it at present.
    Missing,
}

impl TensorElement {
    /// Its bits, if it has any.
    pub fn bits(self) -> Option<u128> {
        match self {
            TensorElement::Known(bits) | TensorElement::Masked(bits) => Some(bits),
            TensorElement::Missing => None,
        }
    }

    /// The element with other bits.
    pub fn map<E>(self, change: impl FnOnce(u128) -> Result<u128, E>) -> Result<Self, E> {
        Ok(match self {
            TensorElement::Known(bits) => TensorElement::Known(change(bits)?),
            TensorElement::Masked(bits) => TensorElement::Masked(change(bits)?),
            TensorElement::Missing => TensorElement::Missing,
        })
    }
}

impl Tensor {
    /// `f32[64][32]`
    pub fn type_name(&self) -> String {
        let extents: String = self.shape.iter().map(|extent| format!("[{extent}]")).collect();
        format!("{}{extents}", self.ty.word())
    }

    /// The elements as numbers; those that are not held or that a load has left out have none.
    pub fn known(&self) -> impl Iterator<Item = Scalar> {
        self.elements.iter().filter_map(|element| match element {
            TensorElement::Known(bits) => Some(Scalar::new(Type::Scalar(self.ty), *bits)),
            TensorElement::Masked(_) | TensorElement::Missing => None,
        })
    }

    /// The part from `first` on, of `extents`, which lies within the tensor.
    #[must_use]
    pub fn part(&self, first: &[u64], extents: &[u64]) -> Self {
        let mut elements = Vec::new();
        let count: u64 = extents.iter().product();
        for number in 0..count {
            let mut rest = number;
            let mut at = vec![0; extents.len()];
            for (index, extent) in at.iter_mut().zip(extents).rev() {
                (*index, rest) = (rest % extent, rest / extent);
            }
            let place = at.iter().zip(first).zip(&self.shape).fold(0, |place, ((at, first), extent)| place * extent + at + first);
            elements.push(self.elements.get(place as usize).copied().unwrap_or(TensorElement::Missing));
        }
        let start = self.start.iter().zip(first).map(|(start, first)| start + first).collect();
        Self { ty: self.ty, shape: extents.to_vec(), start, elements, notes: self.notes.clone() }
    }
}
