//! The addresses of the lanes of an access, compressed.
//!
//! The threads of a warp mostly access one row, or the rows of a tile: a base and two strides. Other addresses are stored one by one.

use smallvec::SmallVec;

use super::access::Log;
use crate::machine::{AccessEvent, LANES, LaneMask, LaneShape, PerLane, ROW, UNEVEN};

/// The addresses of the lanes of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaneAddresses {
    /// In evenly spaced rows.
    Tile(LaneTile),
    /// Irregular: an index into the log's scattered addresses.
    Scattered(u32),
    /// Every lane accesses all bytes.
    All,
}

/// Rows of lanes: lane `i` is at `base + i % width * stride + i / width * row`. A single stride is one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LaneTile {
    /// The address of lane 0, extrapolated if lane 0 is not active.
    base: u64,
    /// Bytes from a lane to the next; 0 if all lanes of a row have the same address.
    stride: i32,
    /// Bytes from a row to the next.
    row: i32,
    width: Width,
}

/// The most rows of a tile.
const ROWS: usize = 8;

/// The number of lanes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// All of them: there is one row.
    Warp,
    Sixteen,
    Eight,
    Four,
}

impl Width {
    /// The widths, the widest first.
    const ALL: [Self; 4] = [Width::Warp, Width::Sixteen, Width::Eight, Width::Four];

    fn lanes(self) -> usize {
        match self {
            Width::Warp => LANES,
            Width::Sixteen => 16,
            Width::Eight => 8,
            Width::Four => 4,
        }
    }

    /// The widest of at most `stray` lanes: lane `stray` is the first whose address does not continue the first row.
    fn up_to(stray: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|width| width.lanes() <= stray)
    }
}

impl LaneAddresses {
    /// The same relative to an origin, and this: the base of a tile, or the index of scattered ones.
    pub fn relative(self) -> (Self, u64) {
        match self {
            LaneAddresses::Tile(tile) => (LaneAddresses::Tile(LaneTile { base: 0, ..tile }), tile.base),
            LaneAddresses::Scattered(index) => (LaneAddresses::Scattered(0), u64::from(index)),
            LaneAddresses::All => (self, 0),
        }
    }

    /// The addresses that are relative to `origin`.
    #[inline]
    pub fn at(self, origin: u64) -> Self {
        match self {
            LaneAddresses::Tile(tile) => LaneAddresses::Tile(LaneTile { base: origin, ..tile }),
            LaneAddresses::Scattered(_) => LaneAddresses::Scattered(origin as u32),
            LaneAddresses::All => self,
        }
    }

    /// The lanes of `lanes` that access the byte at `address`, if each accesses `bytes` bytes.
    pub fn lanes_at(&self, lanes: LaneMask, bytes: u32, address: u64, log: &Log) -> LaneMask {
        let accesses = |start: u64| address.wrapping_sub(start) < u64::from(bytes);
        match self {
            LaneAddresses::All => lanes,
            LaneAddresses::Tile(tile) => (lanes & tile.lanes_near(address, bytes)).filter(|lane| accesses(tile.address(lane))),
            LaneAddresses::Scattered(index) => {
                let addresses = log.scattered(*index);
                lanes.filter(|lane| accesses(addresses[lane]))
            }
        }
    }

    /// The address of `lane`; none if all lanes access all bytes.
    pub fn address(&self, lane: usize, log: &Log) -> Option<u64> {
        match self {
            LaneAddresses::All => None,
            LaneAddresses::Tile(tile) => Some(tile.address(lane)),
            LaneAddresses::Scattered(index) => Some(log.scattered(*index)[lane]),
        }
    }

    /// True if no two lanes access the same byte, if each accesses `bytes` bytes; false also if that is not known.
    pub fn is_disjoint(&self, bytes: u32) -> bool {
        let LaneAddresses::Tile(LaneTile { stride, row, width, .. }) = self else { return false };
        let (stride, row) = (stride.unsigned_abs(), u64::from(row.unsigned_abs()));
        let row_bytes = u64::from(stride) * (width.lanes() as u64 - 1) + u64::from(bytes);
        stride >= bytes && (*width == Width::Warp || row >= row_bytes)
    }
}

impl LaneTile {
    /// The tile of lanes that all have this address.
    pub fn at(address: u64) -> Self {
        Self { base: address, stride: 0, row: 0, width: Width::Warp }
    }

    /// The tile of the addresses of an access, if they form one.
    #[inline(always)]
    pub fn of_event(event: &AccessEvent<'_>) -> Option<Self> {
        event.shape.and_then(|shape| Self::of_shape(shape, |lane| event.addresses[lane])).or_else(|| Self::of(event.lanes, event.addresses))
    }

    /// The tile of addresses of this shape, if that says so; `address` is that of a lane.
    #[inline(always)]
    pub fn of_shape(shape: &LaneShape, address: impl Fn(usize) -> u64) -> Option<Self> {
        let base = address(0);
        let &[one, two, three, four] = match shape {
            LaneShape::Same => return Some(Self::at(base)),
            LaneShape::Rows(strides) => strides,
        };
        if one == UNEVEN || two != one || three != one || four != one {
            return None;
        }
        let stride = i32::try_from(one).ok()?;
        let from_first = |row: usize| address(row * ROW).wrapping_sub(base) as i64;
        let next = i64::from(stride) * ROW as i64;
        let (second, third, fourth) = (from_first(1), from_first(2), from_first(3));
        let (width, row) = if second == next && third == 2 * next && fourth == 3 * next {
            (Width::Warp, 0)
        } else if second == next && fourth == third + next {
            (Width::Sixteen, third)
        } else if third == 2 * second && fourth == 3 * second {
            (Width::Eight, second)
        } else {
            return None;
        };
        Some(Self { base, stride, row: i32::try_from(row).ok()?, width })
    }

    /// The tile of the addresses of `lanes`, if they form one.
    pub fn of(lanes: LaneMask, addresses: &PerLane<u64>) -> Option<Self> {
        assert!(!lanes.is_empty(), "a tile is of some lanes");
        if lanes == LaneMask::ALL {
            return Self::of_all(addresses);
        }
        let first = lanes.first();
        let rest = lanes.without(LaneMask::of(first));
        if rest.is_empty() {
            return Some(Self::at(addresses[first]));
        }
        let second = rest.first();
        let stride = step(addresses[first], addresses[second], second - first)?;
        let base = addresses[first].wrapping_sub((i64::from(stride) * first as i64) as u64);
        let row = Self { base, stride, row: 0, width: Width::Warp };
        if row.matches(lanes, addresses) {
            return Some(row);
        }
        let stray = lanes.iter().find(|lane| addresses[*lane] != row.address(*lane))?;
        let flat = Self { width: Width::up_to(stray)?, ..row };
        let tile = Self { row: step(flat.address(stray), addresses[stray], stray / flat.width.lanes())?, ..flat };
        tile.matches(lanes, addresses).then_some(tile)
    }

    /// The tile of the addresses of all lanes, the common case.
    fn of_all(addresses: &PerLane<u64>) -> Option<Self> {
        let base = addresses[0];
        let stride = step(base, addresses[1], 1)?;
        // Only rows of the widest width whose last lane is where the stride brings it can be evenly spaced: narrower ones would continue
        // each other.
        let has_ends = |width: &Width| addresses[width.lanes() - 1] == strided(base, stride, width.lanes() - 1);
        let width = Width::ALL.into_iter().find(has_ends)?;
        let row = if width == Width::Warp { 0 } else { step(base, addresses[width.lanes()], 1)? };
        let matches = is_strided(&addresses[..width.lanes()], 1, stride) && is_strided(addresses, width.lanes(), row);
        matches.then_some(Self { base, stride, row, width })
    }

    fn matches(&self, lanes: LaneMask, addresses: &PerLane<u64>) -> bool {
        lanes.iter().all(|lane| addresses[lane] == self.address(lane))
    }

    #[inline(always)]
    fn address(&self, lane: usize) -> u64 {
        let (column, row) = (lane % self.width.lanes(), lane / self.width.lanes());
        self.base.wrapping_add((i64::from(self.stride) * column as i64 + i64::from(self.row) * row as i64) as u64)
    }

    /// Lanes among which are all that access the byte at `address`: one at most, if the lanes are disjoint and in one row.
    fn lanes_near(&self, address: u64, bytes: u32) -> LaneMask {
        let is_row = self.width == Width::Warp && self.stride > 0 && self.stride.unsigned_abs() >= bytes;
        if !is_row || address < self.base {
            return LaneMask::ALL;
        }
        let lane = (address - self.base) / u64::from(self.stride.unsigned_abs());
        if lane < LANES as u64 { LaneMask::of(lane as usize) } else { LaneMask::NONE }
    }

    /// True if it is one row of adjacent elements of `bytes` bytes.
    pub fn is_row(&self, bytes: u32) -> bool {
        self.width == Width::Warp && self.stride.cast_unsigned() == bytes
    }

    /// The lowest and the highest address of `lanes`, or of lanes beside them.
    pub fn bounds(&self, lanes: LaneMask) -> (u64, u64) {
        let (first, last) = match self.width {
            Width::Warp => (self.address(lanes.first()), self.address(lanes.last())),
            Width::Sixteen | Width::Eight | Width::Four => {
                let (end, corner) = (self.width.lanes() - 1, LANES - self.width.lanes());
                let corners = [0, end, corner, corner + end].map(|lane| self.address(lane));
                corners.into_iter().fold((u64::MAX, 0), |(low, high), at| (low.min(at), high.max(at)))
            }
        };
        (first.min(last), first.max(last))
    }

    /// The address of every lane.
    pub fn addresses(&self) -> PerLane<u64> {
        std::array::from_fn(|lane| self.address(lane))
    }

    /// The address of all lanes, if they have the same.
    pub fn common_address(&self) -> Option<u64> {
        (self.stride == 0 && (self.row == 0 || self.width == Width::Warp)).then_some(self.base)
    }

    /// True if several of `lanes` have the same address.
    pub fn has_shared_address(&self, lanes: LaneMask) -> bool {
        lanes.count() > 1 && (self.stride == 0 || self.row == 0 && self.width != Width::Warp)
    }

    /// The bytes that `lanes` access, `bytes` bytes each, as ranges of start and length; none if there are gaps in a row.
    pub fn runs(&self, lanes: LaneMask, bytes: u32) -> Option<SmallVec<[(u64, u64); ROWS]>> {
        let (width, rows) = (self.width.lanes(), LANES / self.width.lanes());
        let columns = |row: usize| LaneMask::from_bits(lanes.bits() >> (row * width)) & LaneMask::lowest(width as u32);
        if self.row == 0 {
            let all = (0..rows).fold(LaneMask::NONE, |all, row| all | columns(row));
            return Some(SmallVec::from_slice(&[self.run(0, all, bytes)?]));
        }
        let mut runs = SmallVec::new();
        for row in 0..rows {
            let columns = columns(row);
            if !columns.is_empty() {
                runs.push(self.run(row, columns, bytes)?);
            }
        }
        Some(runs)
    }

    /// The range that some columns of a row access; none if there are gaps.
    fn run(&self, row: usize, columns: LaneMask, bytes: u32) -> Option<(u64, u64)> {
        assert!(!columns.is_empty(), "a run is of some lanes");
        let (first, count) = (columns.first(), columns.count());
        let start = self.address(row * self.width.lanes() + first);
        if self.stride == 0 || count == 1 {
            return Some((start, u64::from(bytes)));
        }
        let unbroken = (columns.bits() >> first).trailing_ones() == count && self.stride == bytes as i32;
        unbroken.then_some((start, u64::from(count) * u64::from(bytes)))
    }
}

/// The address `count` steps after `from`.
fn strided(from: u64, step: i32, count: usize) -> u64 {
    from.wrapping_add((i64::from(step) * count as i64) as u64)
}

/// True if every address is `step` bytes after the one a fixed number of lanes before it.
#[inline(always)]
fn is_strided(places: &[u64], concurrent_lanes: usize, step: i32) -> bool {
    let pairs = places.iter().zip(&places[concurrent_lanes..]);
    pairs.fold(0, |wrong, (one, other)| wrong | other.wrapping_sub(*one) ^ i64::from(step) as u64) == 0
}

/// The stride of `count` steps from the address `from` to `to`; none if it is no integer.
fn step(from: u64, to: u64, count: usize) -> Option<i32> {
    let distance = to.wrapping_sub(from) as i64;
    let step = i32::try_from(distance / count as i64).ok()?;
    (i64::from(step) * count as i64 == distance).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(lanes: LaneMask, address: impl Fn(u64) -> u64) -> Option<LaneTile> {
        LaneTile::of(lanes, &std::array::from_fn(|lane| address(lane as u64)))
    }

    #[test]
    fn threads_in_a_row_touch_one_run() {
        let row = tile(LaneMask::ALL, |lane| 0x100 + lane * 4).unwrap();
        assert_eq!(row.runs(LaneMask::ALL, 4).unwrap().as_slice(), [(0x100, 128)]);
        assert_eq!(row.runs(LaneMask::from_bits(0xff0), 4).unwrap().as_slice(), [(0x110, 32)]);
        assert!(
            row.runs(LaneMask::from_bits(0b101), 4).is_none()
                && LaneAddresses::Tile(row).is_disjoint(4)
                && !LaneAddresses::Tile(row).is_disjoint(8)
        );
    }

    #[test]
    fn threads_of_a_tile_touch_a_run_for_each_row() {
        let columns = tile(LaneMask::ALL, |lane| 0x100 + lane % 16 * 4).unwrap();
        assert_eq!(
            (columns.runs(LaneMask::ALL, 4).unwrap().as_slice(), columns.has_shared_address(LaneMask::ALL)),
            (&[(0x100, 64)][..], true)
        );
        let rows = tile(LaneMask::ALL, |lane| 0x100 + lane / 16 * 64).unwrap();
        assert_eq!(
            (rows.runs(LaneMask::ALL, 4).unwrap().as_slice(), rows.has_shared_address(LaneMask::ALL)),
            (&[(0x100, 4), (0x140, 4)][..], true)
        );
        let tile = tile(LaneMask::ALL, |lane| 0x100 + lane / 8 * 1024 + lane % 8 * 4).unwrap();
        assert_eq!(tile.runs(LaneMask::from_bits(0xff_ff0f), 4).unwrap().as_slice(), [(0x100, 16), (0x500, 32), (0x900, 32)]);
        assert!(LaneAddresses::Tile(tile).is_disjoint(4) && !tile.has_shared_address(LaneMask::ALL));
        assert_eq!(LaneAddresses::Tile(tile).lanes_at(LaneMask::ALL, 4, 0x506, &Log::default()), LaneMask::of(9));
    }

    #[test]
    fn a_tile_has_the_widest_rows() {
        for (width, row) in [(16, 64), (16, 0), (8, 1000), (4, 16), (4, 0), (8, 0)] {
            for stride in [0, 4, 12] {
                let at = |lane: u64| 0x1000 + lane % width * stride + lane / width * row;
                let found = tile(LaneMask::ALL, at).unwrap();
                assert!((0..LANES).all(|lane| found.address(lane) == at(lane as u64)), "{width} {row} {stride}");
                // One lane elsewhere makes it none.
                (1..LANES as u64).for_each(|stray| assert!(tile(LaneMask::ALL, |lane| at(lane) + u64::from(lane == stray)).is_none()));
            }
        }
    }

    /// The tile that the shape of rows of eight lanes says is the one that the addresses say; narrower rows have none.
    #[test]
    fn a_shape_says_the_tile() {
        for width in [4, 8, 16, 32] {
            for (stride, row) in [(0, 0), (4, 64), (4, 0), (12, 4), (4, 4 * width), (0, 8)] {
                let addresses: PerLane<u64> = std::array::from_fn(|lane| {
                    let lane = lane as u64;
                    0x1000 + lane % width * stride + lane / width * row
                });
                let start = |row: usize| row * ROW;
                let even = |row: usize| (1..ROW).all(|lane| addresses[start(row) + lane] == addresses[start(row)] + lane as u64 * stride);
                let rows = std::array::from_fn(|row| if even(row) { stride as u32 } else { UNEVEN });
                let found = LaneTile::of_shape(&LaneShape::Rows(rows), |lane| addresses[lane]);
                let tile = LaneTile::of(LaneMask::ALL, &addresses);
                assert!(tile.is_some() && (found.is_none() || found == tile), "{width} {stride} {row}: {found:?}, {tile:?}");
                assert_eq!(found.is_some(), rows[0] != UNEVEN, "{width} {stride} {row}");
            }
        }
        let same = LaneTile::of_shape(&LaneShape::Same, |_| 0x20);
        assert!(same.is_some() && same == LaneTile::of(LaneMask::ALL, &[0x20; LANES]));
    }

    #[test]
    fn the_lanes_of_a_byte_are_found() {
        let row = LaneAddresses::Tile(tile(LaneMask::ALL, |lane| 0x100 + lane * 8).unwrap());
        let at = |address: u64, bytes: u32| row.lanes_at(LaneMask::from_bits(!2), bytes, address, &Log::default());
        assert_eq!([at(0xff, 4), at(0x100, 4), at(0x104, 4), at(0x108, 4), at(0x200, 4)], [0, 1, 0, 0, 0].map(LaneMask::from_bits));
        assert_eq!([at(0x1fb, 4), at(0x1ff, 8), at(0x114, 16)], [1 << 31, 1 << 31, 0b100].map(LaneMask::from_bits));
    }

    #[test]
    fn what_is_scattered_is_no_tile() {
        assert!(tile(LaneMask::ALL, |lane| lane * lane).is_none());
        assert!(tile(LaneMask::ALL, |lane| 0x100 + lane / 2 * 64 + lane % 2 * 4).is_none());
        assert_eq!(tile(LaneMask::of(31), |lane| lane).unwrap().runs(LaneMask::of(31), 4).unwrap().as_slice(), [(31, 4)]);
    }

    #[test]
    fn a_pattern_is_small() {
        assert_eq!(size_of::<LaneAddresses>(), 24);
    }

    #[test]
    fn lanes_that_do_not_take_part_do_not_count() {
        let tile = tile(LaneMask::from_bits(0xfffe_fffe), |lane| if lane % 16 == 0 { 7 } else { 0x100 + lane / 16 * 256 + lane % 16 * 4 })
            .unwrap();
        assert_eq!(tile.runs(LaneMask::from_bits(0xfffe_fffe), 4).unwrap().as_slice(), [(0x104, 60), (0x204, 60)]);
    }
}
