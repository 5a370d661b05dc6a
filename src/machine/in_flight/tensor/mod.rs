//! The byte runs of a tensor copy in shared and global memory, computed from a tensor map and coordinates (PTX ISA, "Tensors"). Independent
//! of warps, time and the contents of memory.
//!
//! A box is stored in shared memory as consecutive *rows*: in tiled mode, the box's elements along the innermost dimension; in im2col mode,
//! the channels of a pixel. Elements of a row outside of the tensor are *filled* by a load, and skipped by a store. A row that is shorter
//! than the swizzle's span takes a whole span, whose other bytes stay unchanged. The swizzle depends on the address in shared memory, not
//! on the position in the box.
//!
//! In an interleaved tensor the unit is not an element but a slice of 16 or 32 bytes of channels; a pixel's next slice is in the next
//! plane. The dimensions are then width, height, depth (as the rank allows), slices and images; a copy takes one slice, whatever its box
//! says, and coordinates along the width count slices. That is the behaviour of an H200; the manual does not define it. For 32-byte slices
//! it was probed, but there is no recording.

mod extent;
mod fault;
mod im2col;
mod request;
mod swizzle;
mod tile;

use crate::isa::{Swizzle, TensorElement};
use crate::program::{BoxShape, RANK_MAX, TensorMap};

pub use fault::{Fault, FaultKind};
pub use request::{Direction, Request};
pub use swizzle::{ByteRun, UNIT};

use swizzle::SwizzledRuns;

/// A box of a tensor, with its address in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorBox {
    map: TensorMap,
    request: Request,
    layout: Layout,
}

/// The layout of a row in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    /// Bytes of an element, or of a slice.
    unit: u64,
    /// Units of a row.
    units: u64,
    /// Units from one unit of a row to the next in global memory.
    step: u64,
    /// The number of rows.
    rows: u64,
    /// Bytes from one row to the next in shared memory.
    pitch: u64,
}

impl TensorBox {
    /// The box of `request`.
    ///
    /// # Errors
    /// The fault on the hardware.
    pub fn new(map: &TensorMap, request: Request) -> Result<Self, Fault> {
        fault::check(map, &request)?;
        Ok(Self { map: *map, request, layout: Layout::new(map) })
    }

    /// Bytes of all its elements, also of those outside of the tensor: the `complete_tx` count of a load.
    pub fn bytes(&self) -> u64 {
        self.layout.rows * self.layout.units * self.layout.unit
    }

    /// Its start in shared memory.
    pub fn shared_start(&self) -> u64 {
        self.request.shared
    }

    /// Bytes of shared memory from its first row to the end of its last, with gaps between rows.
    pub fn shared_bytes(&self) -> u64 {
        (self.layout.rows * self.layout.pitch).next_multiple_of(self.map.swizzle.span().map_or(1, u64::from))
    }

    /// True if the map has a swizzle.
    pub fn is_swizzled(&self) -> bool {
        self.map.swizzle != Swizzle::None
    }

    /// The swizzled address of the byte at the unswizzled `address` of shared memory.
    pub fn apply_swizzle(&self, address: u64) -> u64 {
        self.map.swizzle.apply(address)
    }

    /// Bytes of the elements of a row, the unit in which the hardware signals the mbarrier.
    pub fn row_bytes(&self) -> u64 {
        self.layout.units * self.layout.unit
    }

    /// The direction of the copy.
    pub fn direction(&self) -> Direction {
        self.request.direction
    }

    /// Its elements.
    pub fn element(&self) -> TensorElement {
        self.map.element
    }

    /// The two bytes, repeated, with which a load fills elements outside of the tensor.
    pub fn fill(&self) -> [u8; 2] {
        self.map.fill.pattern()
    }

    /// Calls `each` for every non-empty run of bytes that are contiguous in both memories, in the order of the box.
    pub fn swizzled_runs(&self, each: impl FnMut(ByteRun)) {
        self.walk(self.map.swizzle, each);
    }

    /// Like [`Self::swizzled_runs`], without the swizzle: fewer and longer runs. [`TensorBox::apply_swizzle`] gives the addresses of their
    /// bytes.
    pub fn unswizzled_runs(&self, each: impl FnMut(ByteRun)) {
        self.walk(Swizzle::None, each);
    }

    fn walk(&self, swizzle: Swizzle, each: impl FnMut(ByteRun)) {
        let mut runs = SwizzledRuns::new(swizzle, each);
        match self.map.shape {
            BoxShape::Tile(extents) => self.walk_tile(&extents, &mut runs),
            BoxShape::Im2col { lower, upper, .. } => self.walk_im2col(lower, upper, &mut runs),
        }
        runs.finish();
    }

    /// Adds the runs of a row. `coordinate` is that of its first unit along the innermost dimension, `start` the address of coordinate 0;
    /// `None` if all of the row is outside of the tensor.
    fn row<F: FnMut(ByteRun)>(&self, row: u64, coordinate: i64, start: Option<u64>, runs: &mut SwizzledRuns<F>) {
        let Layout { unit, units, step, pitch, .. } = self.layout;
        let shared = self.request.shared.wrapping_add(row * pitch);
        let Some(start) = start else { return self.outside(shared, units * unit, runs) };
        let extent = i64::try_from(self.map.dims[0]).unwrap_or(i64::MAX);
        // The first unit inside the tensor, and the first one after it.
        let units_before = |edge: i64| (edge.saturating_sub(coordinate).max(0) as u64).div_ceil(step).min(units);
        let (first, end) = (units_before(0), units_before(extent));
        let address = |index: u64| start.wrapping_add_signed(coordinate.wrapping_mul(unit as i64)).wrapping_add(index * step * unit);
        self.outside(shared, first * unit, runs);
        if step == 1 {
            runs.push(shared + first * unit, Some(address(first)), end.saturating_sub(first) * unit);
        } else {
            (first..end).for_each(|index| runs.push(shared + index * unit, Some(address(index)), unit));
        }
        self.outside(shared + end.max(first) * unit, (units - end.max(first)) * unit, runs);
    }

    /// Adds a run of bytes outside of the tensor, unless the copy is a store, which skips them.
    fn outside<F: FnMut(ByteRun)>(&self, shared: u64, bytes: u64, runs: &mut SwizzledRuns<F>) {
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
                let count = |d: usize| extent::count(map, &extents, d);
                (count(0), (1..map.rank).map(count).product())
            }
            BoxShape::Im2col { channels, pixels, .. } => (if slice.is_some() { 1 } else { u64::from(channels) }, u64::from(pixels)),
        };
        let span = map.swizzle.span().filter(|_| slice.is_none());
        Self { unit, units, step, rows, pitch: span.map_or(units * unit, u64::from) }
    }
}

/// Bytes from one index to the next in dimension `d`, which is not the innermost.
fn stride(map: &TensorMap, d: usize) -> u64 {
    map.strides.get(d.wrapping_sub(1)).copied().unwrap_or(0)
}

/// The address of the row at `coordinates` in all dimensions but the innermost, or `None` outside of the tensor.
fn row_start(map: &TensorMap, coordinates: &[i64; RANK_MAX]) -> Option<u64> {
    let mut address = map.address;
    for d in 1..map.rank {
        let index = u64::try_from(coordinates[d]).ok().filter(|index| *index < map.dims[d])?;
        address = address.wrapping_add(index.wrapping_mul(stride(map, d)));
    }
    Some(address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{AtomicFn, Interleave, TensorMode};
    use crate::isa::{L2Promotion, OutsideFill};

    const BASE: u64 = 0x10000;

    /// Halves, 64 in a row of 128 bytes, 16 rows; a box of 32 x 4.
    fn plane() -> TensorMap {
        TensorMap {
            address: BASE,
            element: TensorElement::F16,
            rank: 2,
            dims: [64, 16, 0, 0, 0],
            strides: [128, 0, 0, 0],
            shape: BoxShape::Tile([32, 4, 0, 0, 0]),
            element_strides: [1; 5],
            interleave: Interleave::None,
            swizzle: Swizzle::None,
            promotion: L2Promotion::None,
            fill: OutsideFill::Zero,
        }
    }

    /// Images of 8 channels, 4 pixels wide, 3 high, two of them; 16 bytes a pixel.
    fn images() -> TensorMap {
        let shape = BoxShape::Im2col { lower: [-1, -1, 0], upper: [-1, -1, 0], channels: 8, pixels: 6 };
        TensorMap { rank: 4, dims: [8, 4, 3, 2, 0], strides: [16, 64, 192, 0], shape, ..plane() }
    }

    fn request(map: &TensorMap, direction: Direction, coordinates: [i32; 5]) -> Request {
        Request { direction, mode: map.mode(), rank: map.rank, coordinates, offsets: [0; 3], shared: 0x400 }
    }

    /// Shared address, global address from the start of the tensor, bytes.
    fn pieces(map: &TensorMap, request: Request) -> Vec<(u64, Option<u64>, u64)> {
        let mut all = Vec::new();
        let shape = TensorBox::new(map, request).unwrap();
        shape.swizzled_runs(|run| all.push((run.shared, run.global.map(|address| address - BASE), run.bytes)));
        all
    }

    fn rejection(map: &TensorMap, request: Request) -> Fault {
        TensorBox::new(map, request).unwrap_err()
    }

    #[test]
    fn a_box_is_a_run_for_each_row() {
        let map = plane();
        let all = pieces(&map, request(&map, Direction::Load, [32, 2, 0, 0, 0]));
        let row = |row: u64| (0x400 + 64 * row, Some(128 * (2 + row) + 64), 64);
        assert_eq!(all, [row(0), row(1), row(2), row(3)]);
    }

    #[test]
    fn whole_rows_are_one_run() {
        let map = TensorMap { dims: [32, 16, 0, 0, 0], strides: [64, 0, 0, 0], ..plane() };
        assert_eq!(pieces(&map, request(&map, Direction::Load, [0, 4, 0, 0, 0])), [(0x400, Some(256), 256)]);
    }

    /// Columns -8 to 23 of rows -1 to 2: a row outside, then rows whose first 8 elements are outside.
    #[test]
    fn a_load_fills_what_is_outside() {
        let map = plane();
        let all = pieces(&map, request(&map, Direction::Load, [-8, -1, 0, 0, 0]));
        let expected =
            [(0x400, None, 80), (0x450, Some(0), 48), (0x480, None, 16), (0x490, Some(128), 48), (0x4c0, None, 16), (0x4d0, Some(256), 48)];
        assert_eq!(all, expected);
    }

    /// Columns 48 to 79 of rows 14 to 17: 16 elements of two rows are inside.
    #[test]
    fn a_store_leaves_out_what_is_outside() {
        let map = plane();
        let all = pieces(&map, request(&map, Direction::Store, [48, 14, 0, 0, 0]));
        assert_eq!(all, [(0x400, Some(14 * 128 + 96), 32), (0x440, Some(15 * 128 + 96), 32)]);
    }

    /// Of 7 rows every third, which are 3; the step of the innermost dimension does nothing.
    #[test]
    fn strides_step_over_rows_and_not_over_elements() {
        let map = TensorMap { shape: BoxShape::Tile([32, 7, 0, 0, 0]), element_strides: [2, 3, 1, 1, 1], ..plane() };
        let load = request(&map, Direction::Load, [0, 1, 0, 0, 0]);
        assert_eq!(pieces(&map, load), [(0x400, Some(128), 64), (0x440, Some(512), 64), (0x480, Some(896), 64)]);
        assert_eq!(TensorBox::new(&map, load).unwrap().bytes(), 192);
    }

    /// 128 rows of 128 bytes. Of every 8 rows, one is whole, one in two parts, two in four, and four in eight.
    #[test]
    fn a_swizzled_box_has_few_runs() {
        let shape = BoxShape::Tile([64, 128, 0, 0, 0]);
        let map = TensorMap { dims: [256, 128, 0, 0, 0], strides: [512, 0, 0, 0], shape, swizzle: Swizzle::B128, ..plane() };
        let all = pieces(&map, request(&map, Direction::Load, [64, 0, 0, 0, 0]));
        assert_eq!(all.len(), 128 / 8 * (1 + 2 + 2 * 4 + 4 * 8));
        assert_eq!(all[..3], [(0x400, Some(128), 128), (0x490, Some(640), 16), (0x480, Some(656), 16)]);
    }

    /// A row of 16 bytes in a span of 32: the other half of each span is not written.
    #[test]
    fn short_rows_take_a_whole_span() {
        let map = TensorMap { shape: BoxShape::Tile([8, 5, 0, 0, 0]), swizzle: Swizzle::B32, ..plane() };
        let load = request(&map, Direction::Load, [0, 0, 0, 0, 0]);
        let rows = [(0x400, Some(0)), (0x420, Some(128)), (0x440, Some(256)), (0x460, Some(384)), (0x490, Some(512))];
        assert_eq!(pieces(&map, load), rows.map(|(shared, global)| (shared, global, 16)));
        let shape = TensorBox::new(&map, load).unwrap();
        assert_eq!((shape.bytes(), shape.shared_bytes(), shape.row_bytes()), (80, 160, 16));
    }

    /// The bounding box goes from -1 to 2 and from -1 to 1. From (1, 0) on: (1 0) (2 0), then (-1 1) to (2 1).
    #[test]
    fn pixels_follow_each_other_in_their_bounding_box() {
        let map = images();
        let all = pieces(&map, request(&map, Direction::Load, [0, 1, 0, 0, 0]));
        assert_eq!(all, [(0x400, Some(16), 32), (0x420, None, 16), (0x430, Some(64), 48)]);
    }

    /// From the last pixel of image 0 to the first of image 1, with offsets of 1: (2 1) becomes (3 2); (-1 -1) to (2 -1) become (0 0) to
    /// (3 0) of image 1, and (-1 0) becomes (0 1).
    #[test]
    fn pixels_go_on_in_the_next_image_and_offsets_shift_them() {
        let map = images();
        let load = Request { offsets: [1, 1, 0], ..request(&map, Direction::Load, [0, 2, 1, 0, 0]) };
        assert_eq!(pieces(&map, load), [(0x400, Some(2 * 64 + 48), 96)]);
    }

    /// Slices of 16 bytes: 4 pixels wide, 2 high, 3 slices, 2 images. A copy takes one slice whatever the box says.
    #[test]
    fn a_copy_of_an_interleaved_tensor_takes_one_slice() {
        let map = TensorMap {
            rank: 4,
            dims: [4, 2, 3, 2, 0],
            strides: [64, 128, 384, 0],
            shape: BoxShape::Tile([8, 2, 16, 1, 0]),
            interleave: Interleave::B16,
            ..plane()
        };
        let load = request(&map, Direction::Load, [1, 0, 2, 1, 0]);
        let start = 384 + 256;
        let expected = [(0x400, Some(start + 16), 48), (0x430, None, 80), (0x480, Some(start + 64 + 16), 48), (0x4b0, None, 80)];
        assert_eq!(pieces(&map, load), expected);
        assert_eq!(TensorBox::new(&map, load).unwrap().bytes(), 256);
    }

    #[test]
    fn what_the_hardware_would_not_copy_is_refused() {
        let map = plane();
        let load = request(&map, Direction::Load, [0; 5]);
        let illegal = |map: &TensorMap, request| {
            let fault = rejection(map, request);
            assert_eq!(fault.kind, FaultKind::Illegal, "{}", fault.message);
            fault.message
        };
        assert_eq!(illegal(&map, Request { rank: 3, ..load }), "the instruction has 3 coordinates, and the tensor map 2 dimensions");
        assert_eq!(
            illegal(&map, Request { mode: TensorMode::Im2col, ..load }),
            "the instruction is .im2col, and the tensor map was made for tile"
        );
        assert_eq!(rejection(&map, Request { shared: 0x440, ..load }).kind, FaultKind::Misaligned);
        assert_eq!(
            illegal(&map, request(&map, Direction::Load, [4, 0, 0, 0, 0])),
            "the innermost coordinate is 4: 8 bytes from the start of a row, which is not a multiple of 16"
        );
        assert_eq!(
            illegal(&map, request(&map, Direction::Store, [0, -1, 0, 0, 0])),
            "coordinate 1 is -1, and a store or reduction cannot begin before the tensor"
        );
        assert_eq!(
            illegal(&map, request(&map, Direction::Reduce(AtomicFn::Inc), [0; 5])),
            "the instruction's reduction is not one of elements of type .f16"
        );
        let map = images();
        assert_eq!(
            illegal(&map, request(&map, Direction::Load, [0, 3, 0, 0, 0])),
            "coordinate 1 is 3, and the bounding box goes from -1 to 2 there"
        );
        assert_eq!(
            illegal(&map, request(&map, Direction::Store, [0; 5])),
            "a lower corner is -1, and a store or reduction cannot begin before the tensor"
        );
        // The driver stores extents less one: bytes that are all zero are a map of one element.
        let message = "the tensor map cannot be used: box[0] is 1: 1 elements of type .u8 are 1 bytes, which is not a multiple of 16";
        assert_eq!(illegal(&TensorMap::EMPTY, load), message);
    }
}
