//! The metadata of a sparse A: which columns its elements belong to (PTX ISA, "Sparse matrix storage").
//!
//! Of four neighbouring columns two are kept, and two bits of metadata say for each which it is. Elements of 4 bits are kept in pairs. Of
//! two neighbouring elements of 32 bits one is kept, described as its two halves: two bits each say which of the four halves of B the low
//! and the high one multiply. The manual allows 0x4 and 0xe, which are the first and the second element; the hardware takes any.

use super::Shape;
use crate::isa::ScalarType;

/// How the metadata of one instruction is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sparsity {
    /// Bits of an element.
    bits: u32,
    /// Columns of A, kept or not.
    k: u32,
}

/// What a kept element of A multiplies in B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptElement {
    /// The elements of a row.
    Row(u32),
    /// Of elements of 32 bits, for the low and the high half: a row, and which half of its elements.
    Halves([(u32, u32); 2]),
}

/// The position of the metadata of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataPlace {
    /// The lane whose register has it.
    pub lane: u32,
    /// Its lowest bit.
    pub shift: u32,
}

impl Sparsity {
    /// That of a product of `shape` whose A has elements of type `ty`.
    pub fn new(shape: Shape, ty: ScalarType) -> Sparsity {
        Sparsity { bits: ty.bits(), k: shape.k }
    }

    /// What kept element `element` of row `row` multiplies in B; `register` gives the metadata of a lane.
    pub fn kept(&self, row: u32, element: u32, selector: u32, register: impl Fn(u32) -> u32) -> KeptElement {
        let place = self.place(row, self.index(element), selector);
        let metadata = register(place.lane) >> place.shift;
        match self.bits {
            32 => KeptElement::Halves([0, 2].map(|bit| (2 * element + (metadata >> (bit + 1) & 1), metadata >> bit & 1))),
            4 => KeptElement::Row(8 * (element / 4) + 2 * (metadata & 3) + element % 2),
            _ => KeptElement::Row(4 * (element / 2) + (metadata & 3)),
        }
    }

    /// The number of an element's index among those of its row.
    fn index(&self, element: u32) -> u32 {
        if self.bits == 4 { element / 2 } else { element }
    }

    /// The position of index `index` of row `row`. Of wide elements the low halves of registers have the upper rows of A, and a row is
    /// spread over lanes; of narrow ones each lane has a row.
    fn place(&self, row: u32, index: u32, selector: u32) -> MetadataPlace {
        let (group, upper) = (row % 8, row / 8);
        let (thread, shift) = if self.bits >= 16 {
            let width = self.bits / 8;
            let per_lane = 16 / width;
            let lanes = (self.indices() / per_lane).max(1);
            (lanes * selector + index / per_lane, 16 * upper + width * (index % per_lane))
        } else {
            (2 * (selector + index / 16) + upper, 2 * (index % 16))
        };
        MetadataPlace { lane: (4 * group + thread) % 32, shift: shift % 32 }
    }

    /// Indices of a row.
    fn indices(&self) -> u32 {
        if self.bits == 4 { self.k / 4 } else { self.k / 2 }
    }
}
