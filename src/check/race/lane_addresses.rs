//! The addresses of the lanes of an access, compressed.
//!
//! The threads of a warp are mostly in a row, or in the rows of a tile, and so are their addresses: those are two distances. What is
//! scattered is kept address by address.

use smallvec::SmallVec;

use super::access::Log;
use crate::machine::{LANES, LaneMask, PerLane};

/// The addresses of the lanes of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaneAddresses {
    /// In evenly spaced rows.
    Tile(Strided),
    /// Anywhere: an index into the log's scattered addresses.
    Scattered(u32),
    /// All lanes touch all of it.
    All,
}

/// Rows of lanes: lane `i` is at `base + i % width * stride + i / width * row`. Where all lanes are evenly spaced they are one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strided {
    /// The address of lane 0, or the one it would have.
    base: u64,
    /// Bytes from a lane to the next; 0 if those of a row are at the same place.
    stride: i32,
    /// Bytes from a row to the next.
    row: i32,
    width: Width,
}

/// Rows of the narrowest tile.
const ROWS: usize = 8;

/// Lanes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// All of them: there is one row.
    Warp,
    Sixteen,
    Eight,
    Four,
}

impl Width {
    /// The widths of several rows, the widest first.
    const NARROW: [Self; 3] = [Width::Sixteen, Width::Eight, Width::Four];

    fn lanes(self) -> usize {
        match self {
            Width::Warp => LANES,
            Width::Sixteen => 16,
            Width::Eight => 8,
            Width::Four => 4,
        }
    }

    /// The widest at the end of whose first row lane `stray` can be the first that is out of line.
    fn before(stray: usize) -> Option<Self> {
        Self::NARROW.into_iter().find(|width| width.lanes() <= stray)
    }
}

impl LaneAddresses {
    /// The lanes of `lanes` that touched the byte at `address`, each of them `bytes` bytes.
    pub fn lanes_at(&self, lanes: LaneMask, bytes: u32, address: u64, log: &Log) -> LaneMask {
        let touches = |start: u64| address.wrapping_sub(start) < u64::from(bytes);
        match self {
            LaneAddresses::All => lanes,
            LaneAddresses::Tile(tile) => lanes.filter(|lane| touches(tile.address(lane))),
            LaneAddresses::Scattered(index) => {
                let addresses = log.scattered(*index);
                lanes.filter(|lane| touches(addresses[lane]))
            }
        }
    }

    /// The address of `lane`; none where all lanes access all of the bytes.
    pub fn address(&self, lane: usize, log: &Log) -> Option<u64> {
        match self {
            LaneAddresses::All => None,
            LaneAddresses::Tile(tile) => Some(tile.address(lane)),
            LaneAddresses::Scattered(index) => Some(log.scattered(*index)[lane]),
        }
    }

    /// The index in the log's table of addresses, if they are there.
    pub fn scattered(&mut self) -> Option<&mut u32> {
        if let LaneAddresses::Scattered(index) = self { Some(index) } else { None }
    }

    /// Whether no two lanes touch the same byte, if each touches `bytes` bytes; false also where that was not computed.
    pub fn is_apart(&self, bytes: u32) -> bool {
        let LaneAddresses::Tile(Strided { stride, row, width, .. }) = self else { return false };
        let (stride, row) = (stride.unsigned_abs(), u64::from(row.unsigned_abs()));
        let row_bytes = u64::from(stride) * (width.lanes() as u64 - 1) + u64::from(bytes);
        stride >= bytes && (*width == Width::Warp || row >= row_bytes)
    }
}

impl Strided {
    /// The tile that the addresses of `lanes` make, if they make one.
    pub fn of(lanes: LaneMask, addresses: &PerLane<u64>) -> Option<Self> {
        assert!(!lanes.is_empty(), "a tile is of some lanes");
        if lanes == LaneMask::ALL {
            return Self::of_all(addresses);
        }
        let first = lanes.first();
        let rest = lanes.without(LaneMask::of(first));
        if rest.is_empty() {
            return Some(Self { base: addresses[first], stride: 0, row: 0, width: Width::Warp });
        }
        let second = rest.first();
        let stride = step(addresses[first], addresses[second], second - first)?;
        let base = addresses[first].wrapping_sub((i64::from(stride) * first as i64) as u64);
        let row = Self { base, stride, row: 0, width: Width::Warp };
        if row.holds(lanes, addresses) {
            return Some(row);
        }
        let stray = lanes.iter().find(|lane| addresses[*lane] != row.address(*lane))?;
        let flat = Self { width: Width::before(stray)?, ..row };
        let tile = Self { row: step(flat.address(stray), addresses[stray], stray / flat.width.lanes())?, ..flat };
        tile.holds(lanes, addresses).then_some(tile)
    }

    /// The tile of a whole warp: most accesses are of one.
    fn of_all(addresses: &PerLane<u64>) -> Option<Self> {
        let base = addresses[0];
        let stride = step(base, addresses[1], 1)?;
        if is_even(addresses, 1, stride) {
            return Some(Self { base, stride, row: 0, width: Width::Warp });
        }
        let of_rows = |width: Width| {
            let row = step(base, addresses[width.lanes()], 1)?;
            let holds = is_even(&addresses[..width.lanes()], 1, stride) && is_even(addresses, width.lanes(), row);
            holds.then_some(Self { base, stride, row, width })
        };
        Width::NARROW.into_iter().find_map(of_rows)
    }

    fn holds(&self, lanes: LaneMask, addresses: &PerLane<u64>) -> bool {
        lanes.iter().all(|lane| addresses[lane] == self.address(lane))
    }

    #[inline(always)]
    fn address(&self, lane: usize) -> u64 {
        let (column, row) = (lane % self.width.lanes(), lane / self.width.lanes());
        self.base.wrapping_add((i64::from(self.stride) * column as i64 + i64::from(self.row) * row as i64) as u64)
    }

    /// The address of every lane.
    pub fn addresses(&self) -> PerLane<u64> {
        std::array::from_fn(|lane| self.address(lane))
    }

    /// The address of all lanes, if it is the same.
    pub fn place(&self) -> Option<u64> {
        (self.stride == 0 && (self.row == 0 || self.width == Width::Warp)).then_some(self.base)
    }

    /// Whether several of `lanes` are at the same place.
    pub fn coincides(&self, lanes: LaneMask) -> bool {
        lanes.count() > 1 && (self.stride == 0 || self.row == 0 && self.width != Width::Warp)
    }

    /// The bytes that `lanes` touch, `bytes` bytes each, as runs of start and length; none where there are gaps in a row.
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

    /// The range that some columns of a row access; none where there are gaps.
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

/// Whether every place lies `step` bytes after the one that is `concurrent_lanes` places before it.
#[inline(always)]
fn is_even(places: &[u64], concurrent_lanes: usize, step: i32) -> bool {
    let pairs = places.iter().zip(&places[concurrent_lanes..]);
    pairs.fold(0, |wrong, (one, other)| wrong | other.wrapping_sub(*one) ^ i64::from(step) as u64) == 0
}

/// Bytes from one of `count` evenly spaced places to the next.
fn step(from: u64, to: u64, count: usize) -> Option<i32> {
    let distance = to.wrapping_sub(from) as i64;
    let step = i32::try_from(distance / count as i64).ok()?;
    (i64::from(step) * count as i64 == distance).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(lanes: LaneMask, address: impl Fn(u64) -> u64) -> Option<Strided> {
        Strided::of(lanes, &std::array::from_fn(|lane| address(lane as u64)))
    }

    #[test]
    fn threads_in_a_row_touch_one_run() {
        let row = tile(LaneMask::ALL, |lane| 0x100 + lane * 4).unwrap();
        assert_eq!(row.runs(LaneMask::ALL, 4).unwrap().as_slice(), [(0x100, 128)]);
        assert_eq!(row.runs(LaneMask::from_bits(0xff0), 4).unwrap().as_slice(), [(0x110, 32)]);
        assert!(
            row.runs(LaneMask::from_bits(0b101), 4).is_none()
                && LaneAddresses::Tile(row).is_apart(4)
                && !LaneAddresses::Tile(row).is_apart(8)
        );
    }

    #[test]
    fn threads_of_a_tile_touch_a_run_for_each_row() {
        let columns = tile(LaneMask::ALL, |lane| 0x100 + lane % 16 * 4).unwrap();
        assert_eq!((columns.runs(LaneMask::ALL, 4).unwrap().as_slice(), columns.coincides(LaneMask::ALL)), (&[(0x100, 64)][..], true));
        let rows = tile(LaneMask::ALL, |lane| 0x100 + lane / 16 * 64).unwrap();
        assert_eq!((rows.runs(LaneMask::ALL, 4).unwrap().as_slice(), rows.coincides(LaneMask::ALL)), (&[(0x100, 4), (0x140, 4)][..], true));
        let tile = tile(LaneMask::ALL, |lane| 0x100 + lane / 8 * 1024 + lane % 8 * 4).unwrap();
        assert_eq!(tile.runs(LaneMask::from_bits(0xff_ff0f), 4).unwrap().as_slice(), [(0x100, 16), (0x500, 32), (0x900, 32)]);
        assert!(LaneAddresses::Tile(tile).is_apart(4) && !tile.coincides(LaneMask::ALL));
        assert_eq!(LaneAddresses::Tile(tile).lanes_at(LaneMask::ALL, 4, 0x506, &Log::default()), LaneMask::of(9));
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
