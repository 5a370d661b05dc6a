//! The elements of operands in shared memory.

use crate::isa::{CHUNK, Major, SharedTile};
use crate::machine::memory::{PAGE_BYTES, Pages};

/// The rows of A: index by index, the elements of K. Elements have 8, 16 or 32 bits.
pub fn by_index(tile: SharedTile, bits: u32, shared: &Pages) -> Vec<u32> {
    elements(tile, bits, Order { index: length(tile, bits), k: 1 }, shared)
}

/// The rows of B: k by k, the elements of all indices.
pub fn by_k(tile: SharedTile, bits: u32, shared: &Pages) -> Vec<u32> {
    elements(tile, bits, Order { index: 1, k: tile.count as usize }, shared)
}

/// How far apart elements with neighbouring indices are put, and those with neighbouring k.
struct Order {
    index: usize,
    k: usize,
}

/// Elements of K.
fn length(tile: SharedTile, bits: u32) -> usize {
    (tile.bytes * 8 / bits) as usize
}

fn elements(tile: SharedTile, bits: u32, order: Order, shared: &Pages) -> Vec<u32> {
    match bits {
        8 => elements_of(tile, order, shared, |[byte]: &[u8; 1]| u32::from(*byte)),
        16 => elements_of(tile, order, shared, |half: &[u8; 2]| u32::from(u16::from_le_bytes(*half))),
        _ => elements_of(tile, order, shared, |word| u32::from_le_bytes(*word)),
    }
}

/// The same of elements of N bytes.
fn elements_of<const N: usize>(tile: SharedTile, order: Order, shared: &Pages, element: impl Fn(&[u8; N]) -> u32) -> Vec<u32> {
    let mut elements = vec![0; tile.count as usize * tile.bytes as usize / N];
    let (k_bytes, step) = match tile.major {
        Major::K => (N, order.k),
        Major::MN => (1, order.index),
    };
    tile.for_each_chunk(|chunk| {
        let place = chunk.index as usize * order.index + chunk.k as usize / k_bytes * order.k;
        // A chunk lies in one page, as its address is a multiple of its size.
        let page = shared.page(u64::from(chunk.address));
        let bytes = &page[chunk.address as usize % PAGE_BYTES..];
        let values = bytes[..CHUNK as usize].as_chunks().0.iter().map(&element);
        match step {
            1 => elements[place..].iter_mut().zip(values).for_each(|(to, value)| *to = value),
            _ => elements[place..].iter_mut().step_by(step).zip(values).for_each(|(to, value)| *to = value),
        }
    });
    elements
}
