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
    /// Along each dimension, the indices of its elements in the whole tensor: of a part not all, and perhaps some between others.
    pub indices: Vec<Vec<u64>>,
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
    /// Nothing is known to hold it at present.
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

    /// How many elements are not known.
    pub fn missing(&self) -> usize {
        self.elements.iter().filter(|element| matches!(element, TensorElement::Missing)).count()
    }

    /// The part with these positions along each dimension, all of which lie within the tensor.
    #[must_use]
    pub fn part(&self, positions: &[Vec<u64>]) -> Self {
        let shape: Vec<u64> = positions.iter().map(|list| list.len() as u64).collect();
        let element = |number: u64| {
            let (mut rest, mut place, mut stride) = (number, 0, 1);
            for (list, extent) in positions.iter().zip(&self.shape).rev() {
                let count = (list.len() as u64).max(1);
                place += list.get((rest % count) as usize).copied().unwrap_or(0) * stride;
                stride *= extent;
                rest /= count;
            }
            self.elements.get(place as usize).copied().unwrap_or(TensorElement::Missing)
        };
        let elements = (0..shape.iter().product()).map(element).collect();
        let index = |(list, own): (&Vec<u64>, &Vec<u64>)| list.iter().filter_map(|at| own.get(*at as usize).copied()).collect();
        let indices = positions.iter().zip(&self.indices).map(index).collect();
        Self { ty: self.ty, shape, indices, elements, notes: self.notes.clone() }
    }
}
