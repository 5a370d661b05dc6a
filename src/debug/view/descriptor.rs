//! `info descriptor`: a matrix descriptor of `wgmma` taken apart, and where the first chunks of the operand lie.

use crate::debug::names::place as names;
use crate::debug::scene::Scene;
use crate::isa::{CHUNK, Major, MatrixDescriptor, Space};

/// Rows of the operand that are shown: a group of eight, and the first of the next.
const ROWS: u32 = 9;

/// A matrix descriptor, and where the first chunks of its operand lie (PTX manual, 9.7.15.5.1, matrix descriptor).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptorView {
    /// Its bits.
    pub bits: u64,
    /// Address in shared memory that it starts at, and what lies there.
    pub start: String,
    /// Leading-dimension offset, in bytes.
    pub leading: u32,
    /// Stride-dimension offset, in bytes.
    pub stride: u32,
    /// Rows of 128 bytes that the swizzle's pattern starts at.
    pub base_offset: u8,
    /// Bytes that the swizzle spans; none without a swizzle.
    pub swizzle: Option<u32>,
    /// Reserved bits that are set.
    pub reserved: u64,
    /// Which dimension of the operand is contiguous.
    pub major: Major,
    /// Bytes of a chunk.
    pub chunk: u32,
    /// Addresses of the first two chunks of each row.
    pub rows: Vec<[u32; 2]>,
}

/// The fields of a descriptor, and the addresses of the first chunks of an operand that lies like `major`.
pub fn descriptor(scene: &Scene<'_>, bits: u64, major: Major) -> DescriptorView {
    let descriptor = MatrixDescriptor::new(bits);
    let chunks = |row: u32| match major {
        Major::K => [0, CHUNK].map(|byte| descriptor.k_major(row, byte)),
        Major::MN => [0, 8].map(|x| descriptor.mn_major(x, row)),
    };
    DescriptorView {
        bits,
        start: place(scene, descriptor.start),
        leading: descriptor.leading,
        stride: descriptor.stride,
        base_offset: descriptor.base_offset,
        swizzle: descriptor.swizzle.span(),
        reserved: descriptor.reserved(),
        major,
        chunk: CHUNK,
        rows: (0..ROWS).map(chunks).collect(),
    }
}

/// `0x400 <a>`
fn place(scene: &Scene<'_>, address: u32) -> String {
    let name = names::place(scene, Space::Shared, u64::from(address));
    if name.starts_with("0x") { name } else { format!("{address:#x} <{name}>") }
}
