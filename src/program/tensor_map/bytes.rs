//! The 128 bytes of a tensor map, as the driver encodes them for Hopper; `fixtures/tensor/maps.txt` has recorded ones. The manual calls
//! them opaque. Numbers are little-endian, bit 0 is the lowest of a field, and bytes that are not listed are zero:
//!
//! | bytes | field |
//! | --- | --- |
//! | 0-7 | address |
//! | 8-10 | bits 0-3 mode (0 tile, 1 im2col), 4-6 rank - 1, 7-10 element, 11-12 interleave, 13-14 swizzle, 15 fill, 16 TF32, 17-18 L2 |
//! | 12-27 | strides / 16, the lower 32 bits of each dimension but the innermost |
//! | 28-29 | strides / 16, the upper 4 bits of each |
//! | 32-51 | elements - 1 of each dimension |
//! | 52-53 | element stride - 1 of each dimension, 3 bits each |
//! | 55-59 | tile: elements - 1 of the box in each dimension |
//! | 55 | im2col: channels - 1 |
//! | 56-57, 58-59 | im2col: corners of the bounding box, lower and upper; 16, 8 or 5 bits for each of 1, 2 or 3 spatial dimensions |
//! | 60-61 | im2col: pixels - 1 |
//! | 64-67 | bytes that a copy writes |
//! | 72-73 | bytes after which the swizzle's pattern repeats; 16 without one |
//!
//! 128 zero bytes are not a valid map, but `tensormap.replace` can turn them into one field by field. Until then zeros decode as on the
//! device: one dimension, of one element. Bytes that no valid map has are rejected.

use std::fmt;

use super::{BoxShape, RANK_MAX, TENSOR_MAP_BYTES, TensorMap};
use crate::isa::{Interleave, L2Promotion, OutsideFill, Swizzle, TensorElement, TensorMode};

/// An error of decoding 128 bytes as a tensor map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorMapError {
    /// All are zero.
    Zero,
    /// They hold values that no valid map has.
    Invalid,
}

impl fmt::Display for TensorMapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TensorMapError::Zero => "128 zero bytes are no tensor map",
            TensorMapError::Invalid => "the 128 bytes are no tensor map: something else was written there, or another address was meant",
        })
    }
}

/// The element types by their numbers; TF32 has the number of F32, with a separate bit set.
const ELEMENTS: [TensorElement; 11] = [
    TensorElement::U8,
    TensorElement::U16,
    TensorElement::U32,
    TensorElement::S32,
    TensorElement::U64,
    TensorElement::S64,
    TensorElement::F16,
    TensorElement::F32,
    TensorElement::F32Ftz,
    TensorElement::F64,
    TensorElement::BF16,
];

/// Bytes that the driver computes from several fields and that the simulator does not read: the size of a copy and the swizzle's period.
const COMPUTED: [std::ops::Range<usize>; 2] = [64..68, 72..74];

/// Bytes that are zero in every map.
const ZEROS: [std::ops::Range<usize>; 6] = [11..12, 30..32, 54..55, 62..64, 68..72, 74..TENSOR_MAP_BYTES];

/// Bits of a corner in each of the `rank - 2` spatial dimensions.
fn corner_bits(rank: usize) -> u32 {
    match rank {
        4 => 8,
        5 => 5,
        _ => 16,
    }
}

impl TensorMap {
    /// Its 128 bytes.
    pub fn encode(&self) -> [u8; TENSOR_MAP_BYTES] {
        let mut all = [0; TENSOR_MAP_BYTES];
        let mut put = |at: usize, bytes: &[u8]| all[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &self.address.to_le_bytes());
        put(8, &self.kinds().to_le_bytes()[..3]);
        let mut upper = 0_u16;
        for (d, stride) in self.strides.iter().enumerate() {
            let units = stride >> 4;
            put(12 + 4 * d, &(units as u32).to_le_bytes());
            upper |= ((units >> 32 & 0xf) as u16) << (4 * d);
        }
        put(28, &upper.to_le_bytes());
        let steps = self.element_strides.iter().rev().fold(0_u16, |steps, step| steps << 3 | (step.wrapping_sub(1) & 7) as u16);
        put(52, &steps.to_le_bytes());
        for (d, extent) in self.dims.iter().enumerate() {
            put(32 + 4 * d, &(extent.wrapping_sub(1) as u32).to_le_bytes());
        }
        match self.shape {
            BoxShape::Tile(extents) => put(55, &extents.map(|extent| extent.wrapping_sub(1) as u8)),
            BoxShape::Im2col { lower, upper, channels, pixels } => {
                put(55, &[channels.wrapping_sub(1) as u8]);
                put(56, &packed(lower, self.rank).to_le_bytes());
                put(58, &packed(upper, self.rank).to_le_bytes());
                put(60, &(pixels.wrapping_sub(1) as u16).to_le_bytes());
            }
        }
        put(64, &self.copied_bytes().to_le_bytes());
        put(72, &self.swizzle.span().map_or(16, |span| 8 * span as u16).to_le_bytes());
        all
    }

    /// Its 128 bytes after a field of `before` was replaced: bytes that the driver computes from several fields are unchanged.
    pub fn encode_replaced(&self, before: &[u8; TENSOR_MAP_BYTES]) -> [u8; TENSOR_MAP_BYTES] {
        let mut all = self.encode();
        for range in COMPUTED {
            all[range.clone()].copy_from_slice(&before[range]);
        }
        all
    }

    /// The bits of bytes 8 to 10.
    fn kinds(&self) -> u32 {
        let tf32 = [(TensorElement::TF32, TensorElement::F32), (TensorElement::TF32Ftz, TensorElement::F32Ftz)];
        let found = tf32.into_iter().find(|(element, _)| *element == self.element);
        let (element, is_tf32) = found.map_or((self.element, 0), |(_, float)| (float, 1));
        let number = ELEMENTS.iter().position(|known| *known == element).unwrap_or_default() as u32;
        let mode = u32::from(self.mode() == TensorMode::Im2col);
        let rank = (self.rank as u32).wrapping_sub(1) & 7;
        mode | rank << 4
            | number << 7
            | (self.interleave as u32) << 11
            | (self.swizzle as u32) << 13
            | (self.fill as u32) << 15
            | is_tf32 << 16
            | (self.promotion as u32) << 17
    }

    /// The bytes that a copy writes if its box is inside the tensor; elements that are stepped over are not copied.
    fn copied_bytes(&self) -> u32 {
        let elements = match self.shape {
            BoxShape::Tile(extents) => {
                let steps = extents.iter().zip(self.element_strides).take(self.rank);
                steps.map(|(extent, step)| extent / step.max(1)).fold(1, u32::wrapping_mul)
            }
            BoxShape::Im2col { channels, pixels, .. } => channels.wrapping_mul(pixels),
        };
        elements.wrapping_mul(self.element.bytes())
    }

    /// Decodes a map. Its fields may still be inconsistent: see [`TensorMap::check`].
    ///
    /// # Errors
    /// If `bytes` encode no map.
    pub fn decode(bytes: &[u8; TENSOR_MAP_BYTES]) -> Result<Self, TensorMapError> {
        if bytes.iter().all(|byte| *byte == 0) {
            return Err(TensorMapError::Zero);
        }
        Self::decode_partial(bytes)
    }

    /// Decodes a map for `tensormap.replace`; zeros are accepted, as fields that are not replaced yet.
    ///
    /// # Errors
    /// If `bytes` hold values that no map has.
    pub fn decode_partial(bytes: &[u8; TENSOR_MAP_BYTES]) -> Result<Self, TensorMapError> {
        let is_zero = |range: std::ops::Range<usize>| bytes[range].iter().all(|byte| *byte == 0);
        if !ZEROS.into_iter().all(is_zero) {
            return Err(TensorMapError::Invalid);
        }
        Self::read(bytes).ok_or(TensorMapError::Invalid)
    }

    fn read(bytes: &[u8; TENSOR_MAP_BYTES]) -> Option<Self> {
        let number = |at: usize, count: usize| bytes[at..at + count].iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
        let kinds = number(8, 3);
        let field = |at: u32, bits: u32| (kinds >> at & ((1 << bits) - 1)) as usize;
        let rank = Some(field(4, 3) + 1).filter(|rank| *rank <= RANK_MAX)?;
        let element = match (*ELEMENTS.get(field(7, 4))?, field(16, 1)) {
            (element, 0) => element,
            (TensorElement::F32, _) => TensorElement::TF32,
            (TensorElement::F32Ftz, _) => TensorElement::TF32Ftz,
            _ => return None,
        };
        let shape = match field(0, 4) {
            0 => BoxShape::Tile(std::array::from_fn(|d| u32::from(bytes[55 + d]) + 1)),
            1 => BoxShape::Im2col {
                lower: corner(number(56, 2), rank),
                upper: corner(number(58, 2), rank),
                channels: u32::from(bytes[55]) + 1,
                pixels: number(60, 2) as u32 + 1,
            },
            _ => return None,
        };
        if kinds >> 19 != 0 {
            return None;
        }
        Some(Self {
            address: number(0, 8),
            element,
            rank,
            dims: std::array::from_fn(|d| number(32 + 4 * d, 4) + 1),
            strides: std::array::from_fn(|d| (number(12 + 4 * d, 4) | (number(28, 2) >> (4 * d) & 0xf) << 32) << 4),
            shape,
            element_strides: std::array::from_fn(|d| (number(52, 2) >> (3 * d) & 7) as u32 + 1),
            interleave: *Interleave::ALL.get(field(11, 2))?,
            swizzle: *Swizzle::ALL.get(field(13, 2))?,
            promotion: *L2Promotion::ALL.get(field(17, 2))?,
            fill: *OutsideFill::ALL.get(field(15, 1))?,
        })
    }
}

/// A corner of the bounding box in two bytes.
fn packed(corner: [i32; RANK_MAX - 2], rank: usize) -> u16 {
    let bits = corner_bits(rank);
    let spatial = rank.saturating_sub(2).clamp(1, RANK_MAX - 2);
    let all = corner[..spatial].iter().rev().fold(0_u32, |all, at| all << bits | at.cast_unsigned() & ((1 << bits) - 1));
    all as u16
}

/// The corner in two bytes; 0 in dimensions that the tensor does not have.
fn corner(packed: u64, rank: usize) -> [i32; RANK_MAX - 2] {
    let bits = corner_bits(rank);
    let spatial = rank.saturating_sub(2).clamp(1, RANK_MAX - 2);
    let at = |d: usize| (((packed >> (bits as usize * d)) as u32) << (32 - bits)).cast_signed() >> (32 - bits);
    std::array::from_fn(|d| if d < spatial { at(d) } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> TensorMap {
        TensorMap {
            address: 0x7f00_1234_5670,
            element: TensorElement::BF16,
            rank: 4,
            dims: [1 << 32, 10, 9, 3, 1],
            strides: [64, 656, (1 << 40) - 16, 0],
            shape: BoxShape::Tile([64, 3, 2, 256, 1]),
            element_strides: [1, 2, 8, 1, 1],
            interleave: Interleave::B32,
            swizzle: Swizzle::B128,
            promotion: L2Promotion::B256,
            fill: OutsideFill::NanRequestZeroFma,
        }
    }

    #[test]
    fn bytes_say_what_the_map_says() {
        let im2col = |rank: usize, lower, upper| {
            let shape = BoxShape::Im2col { lower, upper, channels: 256, pixels: 1024 };
            TensorMap { rank, shape, ..map() }
        };
        let columns =
            [im2col(3, [-32768, 0, 0], [32767, 0, 0]), im2col(4, [-128, 127, 0], [-1, 1, 0]), im2col(5, [-16, 15, 0], [15, -16, -1])];
        let tiles = [map(), TensorMap { element: TensorElement::TF32Ftz, ..map() }, TensorMap::EMPTY];
        for map in columns.into_iter().chain(tiles) {
            assert_eq!(TensorMap::decode_partial(&map.encode()), Ok(map));
        }
    }

    #[test]
    fn other_bytes_are_no_map() {
        assert_eq!(TensorMap::decode(&[0; 128]), Err(TensorMapError::Zero));
        assert_eq!(TensorMap::decode(&[0xcc; 128]), Err(TensorMapError::Invalid));
        assert_eq!(TensorMap::decode_partial(&[0; 128]), Ok(TensorMap::EMPTY));
        assert_eq!(TensorMap::decode_partial(&[0xcc; 128]), Err(TensorMapError::Invalid));
        // Mode, rank, element, TF32 of no float, interleave, a bit past the L2 promotion, and a byte that is always zero.
        for (at, bits) in [(8, 0x02), (8, 0x70), (9, 0x07), (10, 0x01), (9, 0x18), (10, 0x08), (100, 1)] {
            let mut bytes = map().encode();
            bytes[at] |= bits;
            assert_eq!(TensorMap::decode(&bytes), Err(TensorMapError::Invalid), "bits {bits:#x} of byte {at}");
        }
    }
}
