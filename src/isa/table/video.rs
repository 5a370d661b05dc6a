//! PTX ISA, "Scalar Video Instructions" and "SIMD Video Instructions".

use super::super::form::{Row, row};
use crate::isa::Decode::Video;
use crate::isa::VideoDecode::{Mad, Scalar, Set, Shift, Simd, SimdSet};
use crate::isa::{Shift as Direction, VideoFn as F};

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("vadd(.u32|.s32)(.u32|.s32)(.u32|.s32)[.sat][.add|.min|.max]                      d:any, a:any, b:any[, c]", (2, 0), 20, Video(Scalar(F::Add)), "sum of selected bytes or halves"),
    row("vsub(.u32|.s32)(.u32|.s32)(.u32|.s32)[.sat][.add|.min|.max]                      d:any, a:any, b:any[, c]", (2, 0), 20, Video(Scalar(F::Sub)), "difference of selected bytes or halves"),
    row("vabsdiff(.u32|.s32)(.u32|.s32)(.u32|.s32)[.sat][.add|.min|.max]                  d:any, a:any, b:any[, c]", (2, 0), 20, Video(Scalar(F::AbsDiff)), "absolute difference of selected bytes or halves"),
    row("vmin(.u32|.s32)(.u32|.s32)(.u32|.s32)[.sat][.add|.min|.max]                      d:any, a:any, b:any[, c]", (2, 0), 20, Video(Scalar(F::Min)), "lesser of selected bytes or halves"),
    row("vmax(.u32|.s32)(.u32|.s32)(.u32|.s32)[.sat][.add|.min|.max]                      d:any, a:any, b:any[, c]", (2, 0), 20, Video(Scalar(F::Max)), "greater of selected bytes or halves"),
    row("vshl(.u32|.s32)(.u32|.s32).u32[.sat](.clamp|.wrap)[.add|.min|.max]               d:any, a:any, b:any[, c]", (2, 0), 20, Video(Shift(Direction::Left)), "left shift of selected bytes or halves"),
    row("vshr(.u32|.s32)(.u32|.s32).u32[.sat](.clamp|.wrap)[.add|.min|.max]               d:any, a:any, b:any[, c]", (2, 0), 20, Video(Shift(Direction::Right)), "right shift of selected bytes or halves"),
    row("vmad(.u32|.s32)(.u32|.s32)(.u32|.s32)[.po][.sat][.shr7|.shr15]                   d:u32, a:any, b:any, c:any", (2, 0), 20, Video(Mad), "product of selected bytes or halves, plus c"),
    row("vset(.u32|.s32)(.u32|.s32)(<cmp_signed>)[.add|.min|.max]                         d:any, a:any, b:any[, c]", (2, 0), 20, Video(Set), "comparison of selected bytes or halves"),

    row("vadd2(.u32|.s32)(.u32|.s32)(.u32|.s32)[.sat|.add]                                d:any, a:any, b:any, c:reg", (3, 0), 30, Video(Simd(F::Add, 2)), "sum of 2 halves"),
    row("vsub2(.u32|.s32)(.u32|.s32)(.u32|.s32)[.sat|.add]                                d:any, a:any, b:any, c:reg", (3, 0), 30, Video(Simd(F::Sub, 2)), "difference of 2 halves"),
    row("vabsdiff2(.u32|.s32)(.u32|.s32)(.u32|.s32)[.sat|.add]                            d:any, a:any, b:any, c:reg", (3, 0), 30, Video(Simd(F::AbsDiff, 2)), "absolute difference of 2 halves"),
    row("vmin2(.u32|.s32)(.u32|.s32)(.u32|.s32)[.sat|.add]                                d:any, a:any, b:any, c:reg", (3, 0), 30, Video(Simd(F::Min, 2)), "lesser of 2 halves"),
    row("vmax2(.u32|.s32)(.u32|.s32)(.u32|.s32)[.sat|.add]                                d:any, a:any, b:any, c:reg", (3, 0), 30, Video(Simd(F::Max, 2)), "greater of 2 halves"),
    row("vavrg2(.u32|.s32)(.u32|.s32)(.u32|.s32)[.sat|.add]                               d:any, a:any, b:any, c:reg", (3, 0), 30, Video(Simd(F::Average, 2)), "average of 2 halves"),
    row("vset2(.u32|.s32)(.u32|.s32)(<cmp_signed>)[.add]                                  d:any, a:any, b:any, c:reg", (3, 0), 30, Video(SimdSet(2)), "comparison of 2 halves"),

    row("vadd4(.u32|.s32)(.u32|.s32)(.u32|.s32)[.sat|.add]                                d:any, a:any, b:any, c:reg", (3, 0), 30, Video(Simd(F::Add, 4)), "sum of 4 bytes"),
    row("vsub4(.u32|.s32)(.u32|.s32)(.u32|.s32)[.sat|.add]                                d:any, a:any, b:any, c:reg", (3, 0), 30, Video(Simd(F::Sub, 4)), "difference of 4 bytes"),
    row("vabsdiff4(.u32|.s32)(.u32|.s32)(.u32|.s32)[.sat|.add]                            d:any, a:any, b:any, c:reg", (3, 0), 30, Video(Simd(F::AbsDiff, 4)), "absolute difference of 4 bytes"),
    row("vmin4(.u32|.s32)(.u32|.s32)(.u32|.s32)[.sat|.add]                                d:any, a:any, b:any, c:reg", (3, 0), 30, Video(Simd(F::Min, 4)), "lesser of 4 bytes"),
    row("vmax4(.u32|.s32)(.u32|.s32)(.u32|.s32)[.sat|.add]                                d:any, a:any, b:any, c:reg", (3, 0), 30, Video(Simd(F::Max, 4)), "greater of 4 bytes"),
    row("vavrg4(.u32|.s32)(.u32|.s32)(.u32|.s32)[.sat|.add]                               d:any, a:any, b:any, c:reg", (3, 0), 30, Video(Simd(F::Average, 4)), "average of 4 bytes"),
    row("vset4(.u32|.s32)(.u32|.s32)(<cmp_signed>)[.add]                                  d:any, a:any, b:any, c:reg", (3, 0), 30, Video(SimdSet(4)), "comparison of 4 bytes"),
];
