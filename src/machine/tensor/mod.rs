//! What a tensor copy moves: from a tensor map and coordinates, the runs of bytes in shared and global memory (PTX ISA, "Tensors").
//! Nothing here knows of warps, of time or of memory's contents.
//!
//! A box goes to shared memory as *rows*, one behind the other: in tiled mode, the box's elements along the innermost dimension; in im2col
//! mode, the channels of a pixel. Elements of a row that lie outside the tensor are *filled* by a load, and left out by a store. A row that
//! is shorter than the swizzle's span takes the whole span all the same, and its rest stays as it was. The swizzle goes by the address in
//! shared memory, not by the place in the box.
//!
//! In an interleaved tensor the unit is not an element but a slice of 16 or 32 bytes of channels; a pixel's next slice is a whole plane
//! away. The dimensions are then width, height, depth (as many as the rank leaves), slices and images, a copy takes one slice, whatever
//! its box says, and coordinates along the width count slices. That is how H200 reads a map, recorded and probed; the manual leaves it open.

mod fault;
mod im2col;
mod run;
mod tile;

use crate::isa::{Interleave, TensorMode};
use crate::program::{BoxShape, RANK_MAX, TensorMap};

pub use fault::{Fault, FaultKind};
pub use run::Piece;

use run::Runs;

/// Shared memory of a tensor copy starts at a multiple of this.
const SHARED_ALIGNMENT: u64 = 128;

/// What an instruction asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which way the bytes go.
    pub direction: Direction,
    /// How the instruction walks.
    pub mode: TensorMode,
    /// How many coordinates it names.
    pub rank: usize,
    /// Where the box starts, innermost first.
    pub coordinates: [i32; RANK_MAX],
    /// Added to the spatial coordinates of every pixel, in im2col mode.
    pub offsets: [u16; RANK_MAX - 2],
    /// Where it lies in shared memory, or will.
    pub shared: u64,
}

/// Which way the bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From global memory to shared.
    Load,
    /// From shared memory to global, as they are or combined with what is there.
    Store,
}

/// A box of a tensor, at its place in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorBox {
    map: TensorMap,
    request: Request,
    layout: Layout,
}

/// How a row lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    /// Bytes of an element, or of a slice.
    unit: u64,
    /// Units of a row.
    units: u64,
    /// Units from one to the next in global memory.
    step: u64,
    /// Rows.
    rows: u64,
    /// Bytes from one row to the next in shared memory.
    pitch: u64,
}

impl TensorBox {
    /// The box that `request` asks for.
    ///
    /// # Errors
    /// Why the hardware would not copy it.
    pub fn new(map: &TensorMap, request: Request) -> Result<Self, Fault> {
        fault::check(map, &request)?;
        Ok(Self { map: *map, request, layout: Layout::new(map) })
    }

    /// Bytes of all its elements, those outside the tensor too: what a load reports to its mbarrier.
    pub fn bytes(&self) -> u64 {
        self.layout.rows * self.layout.units * self.layout.unit
    }

    /// Bytes of shared memory from its first row to the end of its last, with what lies between rows.
    pub fn shared_bytes(&self) -> u64 {
        self.layout.rows * self.layout.pitch
    }

    /// Bytes of the elements of a row: so many are reported to the mbarrier at once.
    pub fn row_bytes(&self) -> u64 {
        self.layout.units * self.layout.unit
    }

    /// Which way its bytes go.
    pub fn direction(&self) -> Direction {
        self.request.direction
    }

    /// What a load fills elements outside the tensor with: two bytes again and again.
    pub fn fill(&self) -> [u8; 2] {
        self.map.fill.pattern()
    }

    /// Calls `each` for every run of bytes that lie side by side in both memories, in the order of the box. No run is empty.
    pub fn pieces(&self, each: impl FnMut(Piece)) {
        let mut runs = Runs::new(self.map.swizzle, each);
        match self.map.shape {
            BoxShape::Tile(extents) => self.walk_tile(&extents, &mut runs),
            BoxShape::Im2col { lower, upper, .. } => self.walk_im2col(lower, upper, &mut runs),
        }
        runs.finish();
    }

    /// One row: `coordinate` is that of its first unit along the innermost dimension, `start` the address of coordinate 0 there; `None`
    /// if all of the row lies outside the tensor.
    fn row<F: FnMut(Piece)>(&self, row: u64, coordinate: i64, start: Option<u64>, runs: &mut Runs<F>) {
        let Layout { unit, units, step, pitch, .. } = self.layout;
        let shared = self.request.shared.wrapping_add(row * pitch);
        let Some(start) = start else { return self.outside(shared, units * unit, runs) };
        let extent = i64::try_from(self.map.dims[0]).unwrap_or(i64::MAX);
        // The first unit inside the tensor, and the first one behind it.
        let reach = |edge: i64| (edge.saturating_sub(coordinate).max(0) as u64).div_ceil(step).min(units);
        let (first, end) = (reach(0), reach(extent));
        let address = |index: u64| start.wrapping_add_signed(coordinate.wrapping_mul(unit as i64)).wrapping_add(index * step * unit);
        self.outside(shared, first * unit, runs);
        if step == 1 {
            runs.push(shared + first * unit, Some(address(first)), end.saturating_sub(first) * unit);
        } else {
            (first..end).for_each(|index| runs.push(shared + index * unit, Some(address(index)), unit));
        }
        self.outside(shared + end.max(first) * unit, (units - end.max(first)) * unit, runs);
    }

    /// Bytes of elements outside the tensor, which a store leaves out.
    fn outside<F: FnMut(Piece)>(&self, shared: u64, bytes: u64, runs: &mut Runs<F>) {
        if self.request.direction == Direction::Load {
            runs.push(shared, None, bytes);
        }
    }
}

impl Layout {
    fn new(map: &TensorMap) -> Self {
        let (slice, element) = (map.interleave.slice_bytes().map(u64::from), u64::from(map.element.bytes()));
        let unit = slice.unwrap_or(element);
        let step = if slice.is_some() { u64::from(map.element_strides[0].max(1)) } else { 1 };
        let (units, rows) = match map.shape {
            BoxShape::Tile(extents) => {
                let count = |d: usize| tile::count(map, &extents, d);
                (count(0), (1..map.rank).map(count).product())
            }
            BoxShape::Im2col { channels, pixels, .. } => (if slice.is_some() { 1 } else { u64::from(channels) }, u64::from(pixels)),
        };
        let span = map.swizzle.span().filter(|_| slice.is_none());
        Self { unit, units, step, rows, pitch: span.map_or(units * unit, u64::from) }
    }
}

/// The dimension of slices, of which a copy takes one.
fn slice_dimension(map: &TensorMap) -> Option<usize> {
    (map.interleave != Interleave::None).then(|| map.rank.saturating_sub(2))
}

/// Bytes from one index to the next in dimension `d`, which is not the innermost.
fn stride(map: &TensorMap, d: usize) -> u64 {
    map.strides.get(d.wrapping_sub(1)).copied().unwrap_or(0)
}

/// The address of the row at `coordinates` of all dimensions but the innermost, or `None` outside the tensor.
fn row_start(map: &TensorMap, coordinates: &[i64; RANK_MAX]) -> Option<u64> {
    let mut address = map.address;
    for d in 1..map.rank {
        let index = u64::try_from(coordinates[d]).ok().filter(|index| *index < map.dims[d])?;
        address = address.wrapping_add(index.wrapping_mul(stride(map, d)));
    }
    Some(address)
}
