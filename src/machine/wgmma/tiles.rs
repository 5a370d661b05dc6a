//! The elements of operands in shared memory.

use crate::isa::{CHUNK, Major, SharedTile};
use crate::machine::memory::{PAGE_BYTES, Pages};

/// The rows of A: index by index, the elements of K. Elements have 8, 16 or 32 bits.
pub fn by_index(tile: SharedTile, bits: u32, shared: &Pages) -> Vec<u32> {
    match tile.major {
        Major::K => lines(tile, bits, shared),
        Major::MN => transposed(&lines(tile, bits, shared), tile.count as usize),
    }
}

/// The rows of B: k by k, the elements of all indices.
pub fn by_k(tile: SharedTile, bits: u32, shared: &Pages) -> Vec<u32> {
    match tile.major {
        Major::K => transposed(&lines(tile, bits, shared), (tile.bytes * 8 / bits) as usize),
        Major::MN => lines(tile, bits, shared),
    }
}

/// The elements in the order of memory: of K-major operands index by index, of others k by k.
fn lines(tile: SharedTile, bits: u32, shared: &Pages) -> Vec<u32> {
    match bits {
        8 => lines_of(tile, shared, |[byte]: &[u8; 1]| u32::from(*byte)),
        16 => lines_of(tile, shared, |half: &[u8; 2]| u32::from(u16::from_le_bytes(*half))),
        _ => lines_of(tile, shared, |word| u32::from_le_bytes(*word)),
    }
}

/// The same of elements of N bytes.
fn lines_of<const N: usize>(tile: SharedTile, shared: &Pages, element: impl Fn(&[u8; N]) -> u32) -> Vec<u32> {
    let (count, length) = (tile.count as usize, tile.bytes as usize / N);
    let mut lines = vec![0; count * length];
    tile.for_each_chunk(|chunk| {
        let place = match tile.major {
            Major::K => chunk.index as usize * length + chunk.k as usize / N,
            Major::MN => chunk.k as usize * count + chunk.index as usize,
        };
        // A chunk lies in one page, as its address is a multiple of its size.
        let page = shared.page(u64::from(chunk.address));
        let bytes = &page[chunk.address as usize % PAGE_BYTES..];
        for (to, bytes) in lines[place..].iter_mut().zip(bytes[..CHUNK as usize].as_chunks().0) {
            *to = element(bytes);
        }
    });
    lines
}

/// Columns of a matrix with rows of this length, one after the other.
fn transposed(rows: &[u32], length: usize) -> Vec<u32> {
    let mut columns = Vec::with_capacity(rows.len());
    for column in 0..length {
        columns.extend(rows.chunks_exact(length).map(|row| row[column]));
    }
    columns
}
