//! im2col mode: consecutive pixels (PTX ISA, "im2col mode").
//!
//! The pixels of a bounding box are traversed along the width, then the height, then the depth, then in the next image. The box spans, in
//! each spatial dimension, from `lower` to `upper` past the tensor's last pixel; the traversal starts at the instruction's coordinates, and
//! steps by the element strides. The instruction's offsets then shift each pixel, possibly out of the tensor.

use super::extent::{bounds, spatial};
use super::swizzle::{ByteRun, SwizzledRuns};
use super::{TensorBox, row_start};
use crate::program::RANK_MAX;

impl TensorBox {
    /// Adds the runs of all pixels, in order.
    pub(super) fn walk_im2col<F: FnMut(ByteRun)>(
        &self,
        lower: [i32; RANK_MAX - 2],
        upper: [i32; RANK_MAX - 2],
        runs: &mut SwizzledRuns<F>,
    ) {
        let map = &self.map;
        let spatial = spatial(map);
        let mut pixel = self.request.coordinates.map(i64::from);
        for row in 0..self.layout.rows {
            let mut coordinates = pixel;
            for (d, offset) in spatial.clone().zip(self.request.offsets) {
                coordinates[d] += i64::from(offset);
            }
            self.row(row, coordinates[0], row_start(map, &coordinates), runs);
            self.advance(&mut pixel, lower, upper);
        }
    }

    /// Advances to the next pixel of the bounding box, or after its last one to the first of the next image.
    fn advance(&self, pixel: &mut [i64; RANK_MAX], lower: [i32; RANK_MAX - 2], upper: [i32; RANK_MAX - 2]) {
        let map = &self.map;
        for (index, d) in spatial(map).enumerate() {
            let (first, last) = bounds(map, d, lower[index], upper[index]);
            pixel[d] += i64::from(map.element_strides[d]);
            if pixel[d] <= last {
                return;
            }
            pixel[d] = first;
        }
        pixel[map.rank - 1] += i64::from(map.element_strides[map.rank - 1]);
    }
}
