//! `info descriptor`: the fields of a `wgmma` matrix descriptor, and the addresses of the operand's first chunks.

use crate::debug::eval_context::EvalContext;
use crate::debug::names::memory_name as names;
use crate::isa::{CHUNK, Major, MatrixDescriptor, Space};

/// Rows of the operand that are shown: eight, and the first of the next eight.
const ROWS: u32 = 9;

/// The fields of a matrix descriptor, and the addresses of the operand's first chunks (PTX manual, 9.7.15.5.1, matrix descriptor).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptorView {
    /// Its bits.
    pub bits: u64,
    /// Its start address in shared memory, with the symbol there.
    pub start: String,
    /// Leading-dimension offset, in bytes.
    pub leading: u32,
    /// Stride-dimension offset, in bytes.
    pub stride: u32,
    /// Base offset of the swizzle pattern, in rows of 128 bytes.
    pub base_offset: u8,
    /// Bytes that the swizzle spans; none without a swizzle.
    pub swizzle: Option<u32>,
    /// Reserved bits that are set.
    pub reserved: u64,
    /// The contiguous dimension of the operand.
    pub major: Major,
    /// Bytes of a chunk.
    pub chunk: u32,
    /// Addresses of the first two chunks of each row.
    pub rows: Vec<[u32; 2]>,
}

/// The fields of a descriptor, and the addresses of the first chunks of an operand with contiguous dimension `major`.
pub fn descriptor(context: &EvalContext<'_>, bits: u64, major: Major) -> DescriptorView {
    let descriptor = MatrixDescriptor::new(bits);
    let chunks = |row: u32| match major {
        Major::K => [0, CHUNK].map(|byte| descriptor.k_major(row, byte)),
        Major::MN => [0, 8].map(|x| descriptor.mn_major(x, row)),
    };
    DescriptorView {
        bits,
        start: place(context, descriptor.start),
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
fn place(context: &EvalContext<'_>, address: u32) -> String {
    let name = names::address_name(context, Space::Shared, u64::from(address));
    if name.starts_with("0x") { name } else { format!("{address:#x} <{name}>") }
}
