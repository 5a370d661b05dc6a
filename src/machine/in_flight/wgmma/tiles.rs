//! The elements of operands in shared memory.

use crate::base::shuffle;
use crate::isa::{CHUNK, Major, SharedTile};
use crate::machine::state::memory::{PAGE_BYTES, Pages};

/// The elements of A in `tile`, of 8, 16 or 32 bits, row-major: for each row index, the elements of K.
pub fn rows_of_a(tile: SharedTile, bits: u32, shared: &Pages) -> Vec<u32> {
    let (mut bytes, mut elements) = (Vec::new(), Vec::new());
    read_bytes(tile, shared, &mut bytes);
    set_elements(tile, bits, ElementOrder::ByIndex, &bytes, &mut elements);
    elements
}

/// The elements of B of the last multiplications: the warps of a warpgroup multiply by the same, one after the other.
#[derive(Default)]
pub struct LastColumns {
    /// Some of them, the earliest first.
    last: Vec<Columns>,
    /// The bytes that are compared with theirs.
    bytes: Vec<u8>,
}

/// B of a multiplication.
struct Columns {
    form: ColumnsForm,
    /// The bytes of the tile's chunks, in order.
    bytes: Vec<u8>,
    /// The elements of some columns, and of as many after them, and so on: for each k, those of all of these columns.
    parts: Vec<Vec<u32>>,
}

/// What the elements of B depend on beside the bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ColumnsForm {
    /// The place of B.
    pub tile: SharedTile,
    /// The bits of an element: 8, 16 or 32.
    pub bits: u32,
    /// True if the signs are flipped.
    pub negated: bool,
    /// The columns of a part; the last may have less.
    pub part: u32,
}

impl LastColumns {
    /// Multiplications that are kept: those of a wgmma-group have the B of one step of K each.
    const KEPT: usize = 8;

    /// The elements, by parts.
    pub fn read(&mut self, form: ColumnsForm, shared: &Pages) -> &[Vec<u32>] {
        read_bytes(form.tile, shared, &mut self.bytes);
        let known = self.last.iter().position(|columns| columns.form == form);
        if let Some(known) = known.filter(|known| self.last[*known].bytes == self.bytes) {
            return &self.last[known].parts;
        }
        let oldest = || (self.last.len() == Self::KEPT).then_some(0);
        let replaced = known.or_else(oldest).map(|number| self.last.remove(number));
        let mut columns = replaced.unwrap_or(Columns { form, bytes: Vec::new(), parts: Vec::new() });
        columns.set(form, &mut self.bytes);
        self.last.push(columns);
        self.last.last().map_or(&[], |columns| &columns.parts)
    }
}

impl Columns {
    /// Sets the elements to those in `bytes`, which are exchanged for the former ones.
    fn set(&mut self, form: ColumnsForm, bytes: &mut Vec<u8>) {
        std::mem::swap(&mut self.bytes, bytes);
        self.form = form;
        let ColumnsForm { tile, bits, negated, part } = form;
        self.parts.resize_with(tile.count.div_ceil(part) as usize, Vec::new);
        for (bytes, elements) in self.bytes.chunks((part * tile.bytes) as usize).zip(&mut self.parts) {
            set_elements(tile, bits, ElementOrder::ByK, bytes, elements);
            if negated {
                flip_signs(elements, bits);
            }
        }
    }
}

/// Flips the signs of elements of N bits.
pub fn flip_signs(elements: &mut [u32], bits: u32) {
    elements.iter_mut().for_each(|element| *element ^= 1 << (bits - 1));
}

/// Sets `to` to the elements in the bytes of the tile's chunks, or of some in a row.
fn set_elements(tile: SharedTile, bits: u32, order: ElementOrder, bytes: &[u8], to: &mut Vec<u32>) {
    if let (Major::K, ElementOrder::ByK, 16) = (tile.major, order, bits) {
        transpose_halves(bytes, (tile.bytes / CHUNK) as usize, to);
        return;
    }
    *to = match bits {
        8 => ordered(tile, order, bytes, |[byte]: &[u8; 1]| u32::from(*byte)),
        16 => ordered(tile, order, bytes, |half: &[u8; 2]| u32::from(u16::from_le_bytes(*half))),
        _ => ordered(tile, order, bytes, |word| u32::from_le_bytes(*word)),
    };
}

/// The order of elements: by index (M or N) or by K first.
#[derive(Clone, Copy)]
enum ElementOrder {
    ByIndex,
    ByK,
}

/// Sets `bytes` to those of the tile's chunks, in order.
fn read_bytes(tile: SharedTile, shared: &Pages, bytes: &mut Vec<u8>) {
    const BYTES: usize = CHUNK as usize;
    bytes.resize(tile.count as usize * tile.bytes as usize, 0);
    let mut to = bytes.as_chunks_mut::<BYTES>().0.iter_mut();
    let mut last = None;
    tile.for_each_chunk(|chunk| {
        // A chunk is in one page, as its address is a multiple of its size.
        let (in_page, offset) = (chunk.address as usize / PAGE_BYTES, chunk.address as usize % PAGE_BYTES);
        let page = match last {
            Some((number, page)) if number == in_page => page,
            _ => shared.page(u64::from(chunk.address)),
        };
        last = Some((in_page, page));
        if let Some(to) = to.next() {
            to.copy_from_slice(&page[offset..offset + BYTES]);
        }
    });
}

/// The elements of N bytes in the chunks of the tile, in the given order.
fn ordered<const N: usize>(tile: SharedTile, order: ElementOrder, bytes: &[u8], element: impl Fn(&[u8; N]) -> u32) -> Vec<u32> {
    let (chunk, depth) = (CHUNK as usize / N, tile.bytes as usize / N);
    let (elements, _) = bytes.as_chunks();
    // For the MN-major layout, a band is the chunks of the same indices for all k.
    let band = chunk * depth;
    match (tile.major, order) {
        (Major::K, ElementOrder::ByIndex) => elements.iter().map(element).collect(),
        (Major::K, ElementOrder::ByK) => transposed(elements, depth, element),
        (Major::MN, ElementOrder::ByIndex) => elements.chunks_exact(band).flat_map(|band| transposed(band, chunk, &element)).collect(),
        (Major::MN, ElementOrder::ByK) => {
            let of_k = |k| elements.chunks_exact(band).flat_map(move |band| &band[k * chunk..(k + 1) * chunk]);
            (0..depth).flat_map(of_k).map(element).collect()
        }
    }
}

/// Sets `columns` to those of a matrix of halves, with rows of `width` chunks, in groups of eight rows.
fn transpose_halves(bytes: &[u8], width: usize, columns: &mut Vec<u32>) {
    let (chunks, _) = bytes.as_chunks::<{ CHUNK as usize }>();
    let rows = chunks.len() / width;
    columns.resize(rows * width * SQUARE, 0);
    for (group, of_rows) in chunks.chunks_exact(SQUARE * width).enumerate() {
        for first in 0..width {
            let halves = |chunk: &[u8; CHUNK as usize]| {
                let mut halves = [0; SQUARE];
                for (half, bytes) in halves.iter_mut().zip(chunk.as_chunks().0) {
                    *half = u16::from_le_bytes(*bytes);
                }
                halves
            };
            let square = std::array::from_fn(|row| halves(&of_rows[row * width + first]));
            for (column, elements) in shuffle::columns(square).iter().enumerate() {
                let start = (first * SQUARE + column) * rows + group * SQUARE;
                columns[start..start + SQUARE].copy_from_slice(elements);
            }
        }
    }
}

/// The halves in a chunk, and rows that are transposed together.
const SQUARE: usize = 8;

/// The columns of a matrix with rows of `width` elements.
fn transposed<const N: usize>(matrix: &[[u8; N]], width: usize, element: impl Fn(&[u8; N]) -> u32) -> Vec<u32> {
    let mut columns = vec![0; matrix.len()];
    for (number, column) in columns.chunks_exact_mut(matrix.len() / width).enumerate() {
        for (to, row) in column.iter_mut().zip(matrix.chunks_exact(width)) {
            *to = element(&row[number]);
        }
    }
    columns
}
