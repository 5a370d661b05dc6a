//! `tensormap.replace`: one field of a map gets a new value (PTX ISA, "tensormap.replace").

use super::{BoxShape, TensorMap};
use crate::isa::{Interleave, OutsideFill, Swizzle, TensorElement, TensorField};

impl TensorMap {
    /// Replaces a field; `ordinal` is the dimension for fields that have a value per dimension. Whether the fields are consistent is
    /// checked when a copy uses the map.
    ///
    /// # Errors
    /// The reason why the field cannot have this value, in one sentence.
    pub fn replace(&mut self, field: TensorField, ordinal: usize, value: u64) -> Result<(), String> {
        let done = match field {
            TensorField::GlobalAddress => put(Some(&mut self.address), Some(value)),
            TensorField::Rank => put(Some(&mut self.rank), within(value, 0, 4).map(|rank| rank as usize + 1)),
            TensorField::BoxDim => {
                let extent = match &mut self.shape {
                    BoxShape::Tile(extents) => extents.get_mut(ordinal),
                    BoxShape::Im2col { .. } => None,
                };
                put(extent, within(value, 1, 256))
            }
            TensorField::GlobalDim => put(self.dims.get_mut(ordinal), Some(value).filter(|extent| (1..=1 << 32).contains(extent))),
            TensorField::GlobalStride => {
                put(self.strides.get_mut(ordinal), Some(value).filter(|stride| stride % 16 == 0 && *stride < 1 << 40))
            }
            TensorField::ElementStride => put(self.element_strides.get_mut(ordinal), within(value, 1, 8)),
            TensorField::ElemType => put(Some(&mut self.element), within(value, 0, 15).and_then(TensorElement::from_number)),
            TensorField::InterleaveLayout => put(Some(&mut self.interleave), choose(&Interleave::ALL, value)),
            TensorField::SwizzleMode => put(Some(&mut self.swizzle), choose(&Swizzle::ALL, value)),
            TensorField::SwizzleAtomicity => (value == 0).then_some(()),
            TensorField::FillMode => put(Some(&mut self.fill), choose(&OutsideFill::ALL, value)),
        };
        done.ok_or_else(|| format!(".{} cannot be {value}: {}", field.word(), valid_values(field, self)))
    }
}

/// The values that a field can have, as a clause.
fn valid_values(field: TensorField, map: &TensorMap) -> &'static str {
    match (field, map.shape) {
        (TensorField::BoxDim, BoxShape::Im2col { .. }) => "this map is one for im2col, which has no box",
        (TensorField::BoxDim, BoxShape::Tile(_)) => "a box has 1 to 256 elements in each of at most 5 dimensions",
        (TensorField::Rank, _) => "it is the number of dimensions less one, 0 to 4",
        (TensorField::GlobalAddress, _) => "it is any address",
        (TensorField::GlobalDim, _) => "there are at most 5 dimensions, of 1 to 2^32 elements",
        (TensorField::GlobalStride, _) => {
            "there are at most 4 strides, of less than 2^40 bytes in multiples of 16; the innermost dimension has none"
        }
        (TensorField::ElementStride, _) => "it is 1 to 8 in each of at most 5 dimensions",
        (TensorField::ElemType, _) => "it is 0 to 12; elements of 4 and 6 bits, 13 to 15, are not modelled",
        (TensorField::InterleaveLayout, _) => "it is 0 (none), 1 (16 bytes) or 2 (32 bytes)",
        (TensorField::SwizzleMode, _) => "it is 0 (none), 1 (32 bytes), 2 (64 bytes) or 3 (128 bytes); 4 (96 bytes) is not modelled",
        (TensorField::SwizzleAtomicity, _) => "it is 0 (16 bytes); others are not modelled",
        (TensorField::FillMode, _) => "it is 0 (zero) or 1 (NaN)",
    }
}

/// Assigns a value to a field, if both are present.
fn put<T>(field: Option<&mut T>, value: Option<T>) -> Option<()> {
    *field? = value?;
    Some(())
}

fn within(value: u64, low: u32, high: u32) -> Option<u32> {
    u32::try_from(value).ok().filter(|value| (low..=high).contains(value))
}

fn choose<T: Copy>(all: &[T], number: u64) -> Option<T> {
    all.get(usize::try_from(number).ok()?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::TENSOR_MAP_BYTES;

    /// A map of 64 x 40 halves with a box of 32 x 4, built field by field as a kernel does it.
    #[test]
    fn a_map_is_made_of_zero_bytes() {
        let steps = [
            (TensorField::SwizzleMode, 0, 2),
            (TensorField::GlobalAddress, 0, 0x1000),
            (TensorField::Rank, 0, 1),
            (TensorField::ElemType, 0, 6),
            (TensorField::GlobalDim, 0, 64),
            (TensorField::GlobalDim, 1, 40),
            (TensorField::GlobalStride, 0, 128),
            (TensorField::BoxDim, 0, 32),
            (TensorField::BoxDim, 1, 4),
            (TensorField::ElementStride, 0, 1),
            (TensorField::ElementStride, 1, 1),
        ];
        let mut bytes = [0; TENSOR_MAP_BYTES];
        for (step, (field, ordinal, value)) in steps.into_iter().enumerate() {
            let mut map = TensorMap::decode_partial(&bytes).unwrap();
            // The extents of the box after the first are 1 as decoded from zero bytes.
            assert_eq!(!map.check().is_empty(), step < 8, "step {step}");
            map.replace(field, ordinal, value).unwrap();
            bytes = map.encode();
        }
        let map = TensorMap::decode(&bytes).unwrap();
        assert_eq!(map.check(), []);
        assert_eq!((map.rank, map.element, map.swizzle), (2, TensorElement::F16, Swizzle::B64));
        assert_eq!(map.shape, BoxShape::Tile([32, 4, 1, 1, 1]));
    }

    #[test]
    fn values_that_no_field_has_are_refused() {
        let mut map = TensorMap::EMPTY;
        for (field, ordinal, value) in [
            (TensorField::Rank, 0, 5),
            (TensorField::BoxDim, 0, 257),
            (TensorField::BoxDim, 5, 1),
            (TensorField::GlobalDim, 5, 1),
            (TensorField::GlobalDim, 0, 0),
            (TensorField::GlobalStride, 0, 24),
            (TensorField::GlobalStride, 4, 16),
            (TensorField::ElementStride, 0, 9),
            (TensorField::ElemType, 0, 13),
            (TensorField::InterleaveLayout, 0, 3),
            (TensorField::SwizzleMode, 0, 4),
            (TensorField::SwizzleAtomicity, 0, 1),
            (TensorField::FillMode, 0, 2),
        ] {
            assert!(map.replace(field, ordinal, value).is_err(), "{field:?}");
        }
        assert_eq!(map, TensorMap::EMPTY);
        assert_eq!(map.replace(TensorField::Rank, 0, 5), Err(".rank cannot be 5: it is the number of dimensions less one, 0 to 4".into()));
    }
}
