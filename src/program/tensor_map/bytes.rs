//! The 128 bytes of a tensor map. Only the device reads them, so the layout here is our own, little-endian:
//!
//! | bytes | field |
//! | --- | --- |
//! | 0-3 | the mark `TMAP` |
//! | 4 | rank |
//! | 5-10 | element, interleave, swizzle, L2 promotion, fill, mode (0 tile, 1 im2col) |
//! | 11-15 | element stride of each dimension |
//! | 16-23 | address |
//! | 24-63 | elements of each dimension |
//! | 64-95 | bytes from one index to the next, of all dimensions but the innermost |
//! | 96-105 | tile: elements of the box in each dimension |
//! | 96-111 | im2col: channels, pixels, three coordinates of the lower corner, three of the upper |
//!
//! The mark distinguishes a map from other bytes. 128 zero bytes are no map, but `tensormap.replace` makes one of them field by field: what
//! it has not replaced yet is 0, and a copy detects that. Other bytes it rejects.

use std::fmt;

use super::{BoxShape, RANK_MAX, TENSOR_MAP_BYTES, TensorMap};
use crate::isa::{Interleave, L2Promotion, OutsideFill, Swizzle, TensorElement, TensorMode};

/// Why 128 bytes are no tensor map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAMap {
    /// All are zero.
    Zero,
    /// They do not begin with the mark.
    Foreign,
    /// They begin with the mark, and then come values that no map has.
    Damaged,
}

impl fmt::Display for NotAMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotAMap::Zero => "128 zero bytes are no tensor map",
            NotAMap::Foreign => "the 128 bytes are no tensor map: something else was written there, or another address was meant",
            NotAMap::Damaged => "the 128 bytes were a tensor map, and something else was written over a part of it",
        })
    }
}

const MARK: [u8; 4] = *b"TMAP";

impl TensorMap {
    /// Its 128 bytes.
    pub fn encode(&self) -> [u8; TENSOR_MAP_BYTES] {
        let mode = u8::from(self.mode() == TensorMode::Im2col);
        let kinds = [self.element as u8, self.interleave as u8, self.swizzle as u8, self.promotion as u8, self.fill as u8, mode];
        let mut bytes = MARK.to_vec();
        bytes.push(self.rank as u8);
        bytes.extend(kinds);
        bytes.extend(self.element_strides.map(|stride| stride as u8));
        bytes.extend(self.address.to_le_bytes());
        bytes.extend(self.dims.iter().chain(&self.strides).flat_map(|extent| extent.to_le_bytes()));
        match self.shape {
            BoxShape::Tile(extents) => bytes.extend(extents.iter().flat_map(|extent| (*extent as u16).to_le_bytes())),
            BoxShape::Im2col { lower, upper, channels, pixels } => {
                bytes.extend([channels, pixels].iter().flat_map(|count| (*count as u16).to_le_bytes()));
                bytes.extend(lower.iter().chain(&upper).flat_map(|corner| (*corner as i16).to_le_bytes()));
            }
        }
        let mut all = [0; TENSOR_MAP_BYTES];
        all.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
        all
    }

    /// The map that `bytes` encode. It may say what no copy can use: see [`TensorMap::check`].
    ///
    /// # Errors
    /// Why they encode none.
    pub fn decode(bytes: &[u8; TENSOR_MAP_BYTES]) -> Result<Self, NotAMap> {
        if bytes.iter().all(|byte| *byte == 0) {
            return Err(NotAMap::Zero);
        }
        if bytes[..4] != MARK {
            return Err(NotAMap::Foreign);
        }
        Self::read(bytes).ok_or(NotAMap::Damaged)
    }

    /// The map that `tensormap.replace` finds in `bytes`, of which nothing may be said yet.
    ///
    /// # Errors
    /// Why they encode none.
    pub fn decode_or_begin(bytes: &[u8; TENSOR_MAP_BYTES]) -> Result<Self, NotAMap> {
        match Self::decode(bytes) {
            Err(NotAMap::Zero) => Ok(Self::EMPTY),
            other => other,
        }
    }

    /// What follows the mark.
    fn read(bytes: &[u8; TENSOR_MAP_BYTES]) -> Option<Self> {
        let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let long = |at: usize| (0..8).rev().fold(0, |value, byte| value << 8 | u64::from(bytes[at + byte]));
        let corner = |at: usize| i32::from(word(at).cast_signed());
        let shape = match bytes[10] {
            0 => BoxShape::Tile(std::array::from_fn(|d| u32::from(word(96 + 2 * d)))),
            1 => BoxShape::Im2col {
                channels: u32::from(word(96)),
                pixels: u32::from(word(98)),
                lower: std::array::from_fn(|d| corner(100 + 2 * d)),
                upper: std::array::from_fn(|d| corner(106 + 2 * d)),
            },
            _ => return None,
        };
        Some(Self {
            address: long(16),
            element: TensorElement::from_number(u32::from(bytes[5]))?,
            rank: Some(usize::from(bytes[4])).filter(|rank| (1..=RANK_MAX).contains(rank))?,
            dims: std::array::from_fn(|d| long(24 + 8 * d)),
            strides: std::array::from_fn(|d| long(64 + 8 * d)),
            shape,
            element_strides: std::array::from_fn(|d| u32::from(bytes[11 + d])),
            interleave: *Interleave::ALL.get(usize::from(bytes[6]))?,
            swizzle: *Swizzle::ALL.get(usize::from(bytes[7]))?,
            promotion: *L2Promotion::ALL.get(usize::from(bytes[8]))?,
            fill: *OutsideFill::ALL.get(usize::from(bytes[9]))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> TensorMap {
        TensorMap {
            address: 0x7f00_1234_5670,
            element: TensorElement::BF16,
            rank: 4,
            dims: [1 << 32, 10, 9, 3, 0],
            strides: [64, 656, (1 << 40) - 16, 0],
            shape: BoxShape::Tile([64, 3, 2, 256, 0]),
            element_strides: [1, 2, 8, 1, 0],
            interleave: Interleave::B32,
            swizzle: Swizzle::B128,
            promotion: L2Promotion::B256,
            fill: OutsideFill::NanRequestZeroFma,
        }
    }

    #[test]
    fn bytes_say_what_the_map_says() {
        let im2col = BoxShape::Im2col { lower: [-32768, -1, 15], upper: [32767, -16, 0], channels: 256, pixels: 1024 };
        for map in [map(), TensorMap { shape: im2col, ..map() }, TensorMap::EMPTY] {
            assert_eq!(TensorMap::decode(&map.encode()), Ok(map));
        }
    }

    #[test]
    fn other_bytes_are_no_map() {
        assert_eq!(TensorMap::decode(&[0; 128]), Err(NotAMap::Zero));
        assert_eq!(TensorMap::decode(&[0xcc; 128]), Err(NotAMap::Foreign));
        assert_eq!(TensorMap::decode_or_begin(&[0; 128]), Ok(TensorMap::EMPTY));
        assert_eq!(TensorMap::decode_or_begin(&[0xcc; 128]), Err(NotAMap::Foreign));
        // Rank, element, interleave, swizzle, promotion, fill and mode.
        for at in 4..11 {
            let mut bytes = map().encode();
            bytes[at] = 0xcc;
            assert_eq!(TensorMap::decode(&bytes), Err(NotAMap::Damaged), "byte {at}");
        }
    }
}
