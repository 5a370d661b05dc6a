//! The metadata of a sparse A: the columns that its stored elements belong to (PTX ISA, "Sparse matrix storage").
//!
//! Of four adjacent columns two are stored, and two bits of metadata for each give its column. Elements of 4 bits are stored in pairs. Of
//! two adjacent elements of 32 bits one is stored, encoded as two halves: two bits each give the one of the four halves of B that the low
//! and the high half multiply. The manual allows 0x4 and 0xe, the first and the second element; the hardware accepts any value.

use super::Shape;
use crate::isa::ScalarType;

/// The metadata format of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sparsity {
    /// Bits of an element.
    bits: u32,
    /// Columns of A, stored or not.
    k: u32,
}

/// The elements of B that a stored element of A multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorInB {
    /// The elements of this row.
    Row(u32),
    /// For 32-bit elements, for the low and the high half: a row, and the half of its elements.
    Halves([(u32, u32); 2]),
}

/// The position of the metadata of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataPosition {
    /// The lane whose register holds it.
    pub lane: u32,
    /// Its lowest bit.
    pub shift: u32,
}

impl Sparsity {
    /// The format for a product of `shape` whose A has elements of type `ty`.
    pub fn new(shape: Shape, ty: ScalarType) -> Sparsity {
        Sparsity { bits: ty.bits(), k: shape.k }
    }

    /// The elements of B that stored element `element` of row `row` multiplies; `register` returns the metadata of a lane.
    pub fn factor_in_b(&self, row: u32, element: u32, selector: u32, register: impl Fn(u32) -> u32) -> FactorInB {
        let position = self.position(row, self.index(element), selector);
        let metadata = register(position.lane) >> position.shift;
        match self.bits {
            32 => FactorInB::Halves([0, 2].map(|bit| (2 * element + (metadata >> (bit + 1) & 1), metadata >> bit & 1))),
            4 => FactorInB::Row(8 * (element / 4) + 2 * (metadata & 3) + element % 2),
            _ => FactorInB::Row(4 * (element / 2) + (metadata & 3)),
        }
    }

    /// The number of an element's metadata index in its row.
    fn index(&self, element: u32) -> u32 {
        if self.bits == 4 { element / 2 } else { element }
    }

    /// The position of index `index` of row `row`. For elements of at least 16 bits the low halves of registers hold the first eight rows
    /// of A, and a row is distributed over lanes; for narrower ones each lane holds a row.
    fn position(&self, row: u32, index: u32, selector: u32) -> MetadataPosition {
        let (group, upper) = (row % 8, row / 8);
        let (thread, shift) = if self.bits >= 16 {
            let width = self.bits / 8;
            let per_lane = 16 / width;
            let lanes = (self.indices() / per_lane).max(1);
            (lanes * selector + index / per_lane, 16 * upper + width * (index % per_lane))
        } else {
            (2 * (selector + index / 16) + upper, 2 * (index % 16))
        };
        MetadataPosition { lane: (4 * group + thread) % 32, shift: shift % 32 }
    }

    /// Number of indices of a row.
    fn indices(&self) -> u32 {
        if self.bits == 4 { self.k / 4 } else { self.k / 2 }
    }
}
