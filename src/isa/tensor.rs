//! Types and modifiers of tensor maps and tensor copies (PTX ISA, "Tensors", "cp.async.bulk.tensor", "tensormap.replace").
//!
//! A *tensor map* describes a tensor in global memory and the size of a box; an instruction has a map and coordinates, and copies the box
//! at these coordinates between global and shared memory.

#![allow(missing_docs, reason = "variants are the words of PTX and of the driver API")]

use serde::{Deserialize, Serialize};

use super::AtomicFn;

/// The type of a tensor's elements. The number of each is its `new_val` in `tensormap.replace.elemtype`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TensorElement {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    #[serde(rename = "F32_FTZ")]
    F32Ftz,
    F64,
    BF16,
    TF32,
    #[serde(rename = "TF32_FTZ")]
    TF32Ftz,
}

impl TensorElement {
    /// All, in the order of their numbers.
    #[rustfmt::skip]
    const ALL: [(TensorElement, &'static str, u32); 13] = [
        (TensorElement::U8, "u8", 1), (TensorElement::U16, "u16", 2), (TensorElement::U32, "u32", 4), (TensorElement::S32, "s32", 4),
        (TensorElement::U64, "u64", 8), (TensorElement::S64, "s64", 8), (TensorElement::F16, "f16", 2), (TensorElement::F32, "f32", 4),
        (TensorElement::F32Ftz, "f32.ftz", 4), (TensorElement::F64, "f64", 8), (TensorElement::BF16, "bf16", 2),
        (TensorElement::TF32, "tf32", 4), (TensorElement::TF32Ftz, "tf32.ftz", 4),
    ];

    /// The type with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).map(|row| row.0)
    }

    /// The modifier in PTX, without its dot.
    pub fn word(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Size in bytes.
    pub fn bytes(self) -> u32 {
        Self::ALL[self as usize].2
    }

    /// True if `cp.reduce.async.bulk.tensor` supports the function for elements of this type, as measured on an H200; the manual lists
    /// fewer.
    pub fn reduces_by(self, f: AtomicFn) -> bool {
        use TensorElement::{BF16, F16, S32, S64, U32, U64};
        match f {
            AtomicFn::Add => matches!(self, U32 | S32 | U64) || self.is_float(),
            AtomicFn::Min | AtomicFn::Max => matches!(self, U32 | S32 | U64 | S64 | F16 | BF16),
            AtomicFn::Inc | AtomicFn::Dec => self == U32,
            AtomicFn::And | AtomicFn::Or | AtomicFn::Xor => matches!(self, U32 | S32 | U64),
            AtomicFn::Exch | AtomicFn::Cas => false,
        }
    }

    /// True if a load rounds elements to TF32, with 10 bits of mantissa.
    pub fn is_tf32(self) -> bool {
        matches!(self, TensorElement::TF32 | TensorElement::TF32Ftz)
    }

    /// True if a reduction flushes subnormal numbers.
    pub fn is_flushed(self) -> bool {
        matches!(self, TensorElement::F32Ftz | TensorElement::TF32Ftz)
    }

    /// True if elements outside the tensor can be NaN.
    pub fn is_float(self) -> bool {
        use TensorElement::{BF16, F16, F32, F32Ftz, F64, TF32, TF32Ftz};
        matches!(self, F16 | BF16 | F32 | F32Ftz | F64 | TF32 | TF32Ftz)
    }
}

/// The interleave layout of channels (PTX ISA, "Interleave layout").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Interleave {
    /// No interleaving: the innermost dimension is that of elements.
    #[default]
    None,
    /// Slices of 16 bytes, NC/8DHWC8: the innermost dimension is that of adjacent slices.
    B16,
    /// Slices of 32 bytes, NC/16DHWC16.
    B32,
}

impl Interleave {
    /// All, in the order of their numbers.
    pub const ALL: [Interleave; 3] = [Interleave::None, Interleave::B16, Interleave::B32];

    /// Bytes of a slice.
    pub fn slice_bytes(self) -> Option<u32> {
        match self {
            Interleave::None => None,
            Interleave::B16 => Some(16),
            Interleave::B32 => Some(32),
        }
    }
}

/// The swizzle mode: the span of shared memory, in bytes, within which 16-byte units are permuted (PTX ISA, "Swizzling Modes").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Swizzle {
    /// No swizzle.
    #[default]
    None,
    B32,
    B64,
    B128,
}

impl Swizzle {
    /// All, in the order of their numbers.
    pub const ALL: [Swizzle; 4] = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];

    /// Bytes of the span.
    #[inline]
    pub fn span(self) -> Option<u32> {
        match self {
            Swizzle::None => None,
            Swizzle::B32 => Some(32),
            Swizzle::B64 => Some(64),
            Swizzle::B128 => Some(128),
        }
    }

    /// The swizzled address of the byte at `address` of shared memory: the number of its 16-byte unit in the span is xored with the number
    /// of its 128-byte row, bits 7 to 9 of the address.
    #[inline]
    pub fn apply(self, address: u64) -> u64 {
        let units = self.span().map_or(1, |span| u64::from(span / 16));
        address ^ ((address >> 7 & (units - 1)) << 4)
    }
}

/// The fill mode: the value of elements outside the tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OutsideFill {
    #[default]
    Zero,
    /// A NaN that `fma.oob` treats as zero.
    NanRequestZeroFma,
}

impl OutsideFill {
    /// All, in the order of their numbers.
    pub const ALL: [OutsideFill; 2] = [OutsideFill::Zero, OutsideFill::NanRequestZeroFma];

    /// The two bytes that are repeated. An H200 fills floats of any size with the same 16-bit NaN.
    pub fn pattern(self) -> [u8; 2] {
        match self {
            OutsideFill::Zero => [0; 2],
            OutsideFill::NanRequestZeroFma => 0x7ff7_u16.to_le_bytes(),
        }
    }
}

/// The L2 promotion size of a load, which affects no result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum L2Promotion {
    #[default]
    None,
    B64,
    B128,
    B256,
}

impl L2Promotion {
    /// All, in the order of their numbers.
    pub const ALL: [L2Promotion; 4] = [L2Promotion::None, L2Promotion::B64, L2Promotion::B128, L2Promotion::B256];
}

/// The mode of a tensor copy, which must be that of its map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorMode {
    /// A box (PTX ISA, "Tiled mode").
    Tile,
    /// Consecutive pixels of a bounding box, row after row (PTX ISA, "im2col mode").
    Im2col,
}

impl TensorMode {
    /// The modifier in PTX, without its dot.
    pub fn word(self) -> &'static str {
        match self {
            TensorMode::Tile => "tile",
            TensorMode::Im2col => "im2col",
        }
    }
}

/// A field that `tensormap.replace` changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorField {
    GlobalAddress,
    Rank,
    BoxDim,
    GlobalDim,
    GlobalStride,
    ElementStride,
    ElemType,
    InterleaveLayout,
    SwizzleMode,
    SwizzleAtomicity,
    FillMode,
}

impl TensorField {
    /// The modifiers, without their dots.
    #[rustfmt::skip]
    pub const WORDS: &'static [(&'static str, TensorField)] = &[
        ("global_address", TensorField::GlobalAddress), ("rank", TensorField::Rank), ("box_dim", TensorField::BoxDim),
        ("global_dim", TensorField::GlobalDim), ("global_stride", TensorField::GlobalStride),
        ("element_stride", TensorField::ElementStride), ("elemtype", TensorField::ElemType),
        ("interleave_layout", TensorField::InterleaveLayout), ("swizzle_mode", TensorField::SwizzleMode),
        ("swizzle_atomicity", TensorField::SwizzleAtomicity), ("fill_mode", TensorField::FillMode),
    ];

    /// The modifier, without its dot.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize].0
    }

    /// True if its new value has 64 bits.
    pub fn is_wide(self) -> bool {
        matches!(self, TensorField::GlobalAddress | TensorField::GlobalStride)
    }

    /// True if there is one for each dimension.
    pub fn is_by_dimension(self) -> bool {
        use TensorField::{BoxDim, ElementStride, GlobalDim, GlobalStride};
        matches!(self, BoxDim | GlobalDim | GlobalStride | ElementStride)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_declaration() {
        assert!(Interleave::ALL.iter().enumerate().all(|(number, row)| *row as usize == number));
        assert!(Swizzle::ALL.iter().enumerate().all(|(number, row)| *row as usize == number));
        assert!(OutsideFill::ALL.iter().enumerate().all(|(number, row)| *row as usize == number));
        assert!(L2Promotion::ALL.iter().enumerate().all(|(number, row)| *row as usize == number));
        for (number, row) in TensorElement::ALL.iter().enumerate() {
            assert_eq!(row.0 as usize, number, "{}", row.1);
        }
        for (number, (word, field)) in TensorField::WORDS.iter().enumerate() {
            assert_eq!(*field as usize, number, "{word}");
        }
    }

    /// In row 1 of 128 bytes units 0 and 1 are exchanged; in row 5 unit 0 moves to position 5, unit 2 to position 7. In spans of 64 bytes
    /// only the low two bits of the row are used, in spans of 32 the lowest.
    #[test]
    fn units_change_places_by_the_number_of_their_row() {
        assert_eq!(Swizzle::B128.apply(0x080), 0x090);
        assert_eq!(Swizzle::B128.apply(0x280), 0x2d0);
        assert_eq!(Swizzle::B128.apply(0x2a4), 0x2f4);
        assert_eq!(Swizzle::B64.apply(0x280), 0x290);
        assert_eq!(Swizzle::B64.apply(0x300), 0x320);
        assert_eq!(Swizzle::B32.apply(0x300), 0x300);
        assert_eq!(Swizzle::B32.apply(0x380), 0x390);
        assert_eq!(Swizzle::None.apply(0x2a4), 0x2a4);
    }
}
