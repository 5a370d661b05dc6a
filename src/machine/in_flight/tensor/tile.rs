//! Tiled mode: a box of elements (PTX ISA, "Tiled mode").

use super::extent::count;
use super::swizzle::{ByteRun, SwizzledRuns};
use super::{TensorBox, row_start};
use crate::program::RANK_MAX;

impl TensorBox {
    /// Adds the runs of all rows, the second dimension fastest.
    pub(super) fn walk_tile<F: FnMut(ByteRun)>(&self, extents: &[u32; RANK_MAX], runs: &mut SwizzledRuns<F>) {
        let map = &self.map;
        let mut index = [0; RANK_MAX];
        for row in 0..self.layout.rows {
            let along = |d: usize| i64::from(self.request.coordinates[d]) + index[d] as i64 * i64::from(map.element_strides[d]);
            let coordinates: [i64; RANK_MAX] = std::array::from_fn(along);
            self.row(row, coordinates[0], row_start(map, &coordinates), runs);
            for d in 1..map.rank {
                index[d] += 1;
                if index[d] < count(map, extents, d) {
                    break;
                }
                index[d] = 0;
            }
        }
    }
}
