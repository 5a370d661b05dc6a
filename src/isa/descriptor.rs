//! Matrix descriptors of `wgmma`: 64 bits that describe the location and layout of an operand in shared memory (PTX ISA, "Matrix
//! Descriptor Format" and "Shared Memory Matrix Layout").
//!
//! An operand is a matrix of M or N by K; its *index* is the row of A or the column of B. In every layout chunks of 16 bytes are
//! contiguous, so a reader of an operand only needs [`SharedTile::chunks`].
//!
//! Without swizzle, chunks form core matrices of 8 by 16 bytes, one after the other; with a swizzle of S bytes, 8 rows of S bytes.
//! For index x and byte b along K, or element k along K, the chunk starts at this offset from the operand's start:
//!
//! | major | a chunk holds | without swizzle | with a swizzle |
//! | --- | --- | --- | --- |
//! | K | 16 bytes of K of one index | x/8 * stride + x%8 * 16 + b/16 * leading | x/8 * stride + x%8 * S + b%S + b/S * leading |
//! | M, N | 8 indices of one k | x/8 * stride + k%8 * 16 + k/8 * leading | x/P * leading + k%8 * S + k/8 * stride + x%P * 2, P = S/2 |
//!
//! A swizzle then permutes the chunks of a row: the number of the chunk in its row is xored with the number of the 128-byte row (bits 7 to
//! 9 of the address) less the base offset, modulo the chunks of a row. So the base offset is 0 if the swizzle's pattern starts at a
//! multiple of eight rows of memory. Without swizzle it has no effect. (The base offset was recorded for K-major operands only.)

use std::iter::StepBy;
use std::ops::Range;

use super::Swizzle;

/// The majorness of an operand: the dimension along which its elements are contiguous in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Major {
    /// Along K.
    K,
    /// Along M or N: the transposed form.
    MN,
}

/// Bytes of a chunk, which are contiguous with every swizzle.
pub const CHUNK: u32 = 16;

/// A decoded descriptor. Addresses and offsets are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixDescriptor {
    /// The bits it was decoded from.
    pub bits: u64,
    /// Address of the operand in the block's shared memory.
    pub start: u32,
    /// The leading dimension's offset.
    pub leading: u32,
    /// The stride dimension's offset.
    pub stride: u32,
    /// The base offset, 0 to 7.
    pub base_offset: u8,
    /// The swizzle.
    pub swizzle: Swizzle,
    /// Bytes of the swizzle's span; without swizzle, of a chunk.
    span: u32,
}

impl MatrixDescriptor {
    /// The bits that belong to no field.
    pub const RESERVED: u64 = 0x3ff1_c000_c000_c000;

    /// The descriptor in `bits`.
    pub fn new(bits: u64) -> Self {
        let field = |low: u32| (bits >> low & 0x3fff) as u32 * CHUNK;
        let swizzle = match bits >> 62 {
            0 => Swizzle::None,
            1 => Swizzle::B128,
            2 => Swizzle::B64,
            _ => Swizzle::B32,
        };
        let (base_offset, span) = ((bits >> 49 & 7) as u8, swizzle.span().unwrap_or(CHUNK));
        Self { bits, start: field(0), leading: field(16), stride: field(32), base_offset, swizzle, span }
    }

    /// The reserved bits that are set.
    pub fn reserved(self) -> u64 {
        self.bits & Self::RESERVED
    }

    /// The swizzled address of the byte that is at `address` without the swizzle.
    #[inline(always)]
    fn apply_swizzle(self, address: u32) -> u32 {
        let row = address.wrapping_sub(u32::from(self.base_offset) * 128) >> 7;
        address ^ ((row & (self.span / CHUNK - 1)) * CHUNK)
    }

    /// Address of byte `byte` along K of index `x`, in K-major order.
    #[inline(always)]
    pub fn k_major(self, x: u32, byte: u32) -> u32 {
        self.apply_swizzle(self.k_major_unswizzled(x, byte))
    }

    #[inline(always)]
    fn k_major_unswizzled(self, x: u32, byte: u32) -> u32 {
        let span = self.span;
        // A span is a power of two.
        let (spans, within) = (byte >> span.ilog2(), byte & (span - 1));
        self.start + x / 8 * self.stride + x % 8 * span + spans * self.leading + within
    }

    /// Address of the 16-bit element at index `x` and `k`, in M- or N-major order.
    #[inline(always)]
    pub fn mn_major(self, x: u32, k: u32) -> u32 {
        self.apply_swizzle(self.mn_major_unswizzled(x, k))
    }

    #[inline(always)]
    fn mn_major_unswizzled(self, x: u32, k: u32) -> u32 {
        let span = self.span;
        let (across, down) = if self.swizzle == Swizzle::None { (self.stride, self.leading) } else { (self.leading, self.stride) };
        let row = span / 2;
        self.start + x / row * across + k % 8 * span + k / 8 * down + x % row * 2
    }
}

/// An operand in shared memory, or the part of it that one warp reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedTile {
    /// Its descriptor.
    pub descriptor: MatrixDescriptor,
    /// Its majorness.
    pub major: Major,
    /// The first index that is read.
    pub first: u32,
    /// Number of indices; a multiple of 8.
    pub count: u32,
    /// Bytes along K of one index; a multiple of 16.
    pub bytes: u32,
}

/// A chunk of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Address in shared memory.
    pub address: u32,
    /// Its first index, relative to the first of the tile.
    pub index: u32,
    /// In K-major operands its first byte along K, in others its k.
    pub k: u32,
}

impl SharedTile {
    /// All chunks, in the order of their indices, then of k.
    pub fn chunks(self) -> impl Iterator<Item = Chunk> {
        let [indices, ks] = self.steps();
        indices.flat_map(move |index| ks.clone().map(move |k| self.chunk(index, k)))
    }

    /// Calls `visit` for all chunks in the same order, faster than the iterator.
    #[inline(always)]
    pub fn for_each_chunk(self, mut visit: impl FnMut(Chunk)) {
        let [indices, ks] = self.steps();
        for index in indices {
            for k in ks.clone() {
                visit(self.chunk(index, k));
            }
        }
    }

    /// Lower and upper bound of the start addresses of all chunks. A swizzle moves them within rows of 128 bytes.
    pub fn bounds(self) -> (u32, u32) {
        let index = self.first + self.count.saturating_sub(1);
        let (low, high) = match self.major {
            Major::K => {
                let address = |index, k| self.descriptor.k_major_unswizzled(index, k);
                (address(self.first, 0), address(index, self.bytes.saturating_sub(CHUNK)))
            }
            Major::MN => {
                let address = |index, k| self.descriptor.mn_major_unswizzled(index, k);
                // A row has 64 indices at most, and the next may begin before its end.
                (address(self.first & !63, 0), address(index | 63, (self.bytes / 2).saturating_sub(1)))
            }
        };
        (low & !127, high | (128 - CHUNK))
    }

    /// The first indices of all chunks, and their first bytes along K or their k.
    fn steps(self) -> [StepBy<Range<u32>>; 2] {
        match self.major {
            Major::K => [(0..self.count).step_by(1), (0..self.bytes).step_by(CHUNK as usize)],
            Major::MN => [(0..self.count).step_by(8), (0..self.bytes / 2).step_by(1)],
        }
    }

    #[inline(always)]
    fn chunk(self, index: u32, k: u32) -> Chunk {
        let address = match self.major {
            Major::K => self.descriptor.k_major(self.first + index, k),
            Major::MN => self.descriptor.mn_major(self.first + index, k),
        };
        Chunk { address, index, k }
    }

    /// The bytes of the tile as half-open address ranges, in order, disjoint and not adjacent.
    pub fn ranges(self) -> Vec<(u32, u32)> {
        let mut addresses: Vec<u32> = self.chunks().map(|chunk| chunk.address).collect();
        addresses.sort_unstable();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for address in addresses {
            match ranges.last_mut() {
                Some((_, end)) if *end >= address => *end = address + CHUNK,
                _ => ranges.push((address, address + CHUNK)),
            }
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_chunks_lie_between_the_bounds() {
        for bits in 0..1_u64 << 9 {
            let (swizzle, offset, leading, stride) = (bits & 3, bits >> 2 & 1, bits >> 3 & 7, bits >> 6 & 7);
            let descriptor = MatrixDescriptor::new(swizzle << 62 | (offset * 3) << 49 | (stride * 24) << 32 | (leading * 9) << 16 | 70);
            for (major, first, count, bytes) in
                [(Major::K, 0, 256, 32), (Major::K, 16, 16, 32), (Major::K, 0, 8, 64), (Major::MN, 0, 136, 32), (Major::MN, 48, 16, 32)]
            {
                let tile = SharedTile { descriptor, major, first, count, bytes };
                let (low, high) = tile.bounds();
                assert!(tile.chunks().all(|chunk| (low..=high).contains(&chunk.address)), "{tile:?}");
            }
        }
    }
}
