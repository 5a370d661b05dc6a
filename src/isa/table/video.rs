//! PTX ISA, "Video Instructions" and "SIMD Video Instructions".

use super::super::form::{Row, row};
use crate::isa::Decode::Unsupported;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("vadd.*              ...", (2, 0), 20, Unsupported, "sum of selected bytes or halves"),
    row("vsub.*              ...", (2, 0), 20, Unsupported, "difference of selected bytes or halves"),
    row("vabsdiff.*          ...", (2, 0), 20, Unsupported, "absolute difference of selected bytes or halves"),
    row("vmin.*              ...", (2, 0), 20, Unsupported, "lesser of selected bytes or halves"),
    row("vmax.*              ...", (2, 0), 20, Unsupported, "greater of selected bytes or halves"),
    row("vshl.*              ...", (2, 0), 20, Unsupported, "left shift of selected bytes or halves"),
    row("vshr.*              ...", (2, 0), 20, Unsupported, "right shift of selected bytes or halves"),
    row("vmad.*              ...", (2, 0), 20, Unsupported, "product of selected bytes or halves, plus c"),
    row("vset.*              ...", (2, 0), 20, Unsupported, "comparison of selected bytes or halves"),
    row("vadd2.*             ...", (3, 0), 30, Unsupported, "sum of 2 halves"),
    row("vsub2.*             ...", (3, 0), 30, Unsupported, "difference of 2 halves"),
    row("vabsdiff2.*         ...", (3, 0), 30, Unsupported, "absolute difference of 2 halves"),
    row("vmin2.*             ...", (3, 0), 30, Unsupported, "lesser of 2 halves"),
    row("vmax2.*             ...", (3, 0), 30, Unsupported, "greater of 2 halves"),
    row("vavrg2.*            ...", (3, 0), 30, Unsupported, "average of 2 halves"),
    row("vset2.*             ...", (3, 0), 30, Unsupported, "comparison of 2 halves"),
    row("vadd4.*             ...", (3, 0), 30, Unsupported, "sum of 4 bytes"),
    row("vsub4.*             ...", (3, 0), 30, Unsupported, "difference of 4 bytes"),
    row("vabsdiff4.*         ...", (3, 0), 30, Unsupported, "absolute difference of 4 bytes"),
    row("vmin4.*             ...", (3, 0), 30, Unsupported, "lesser of 4 bytes"),
    row("vmax4.*             ...", (3, 0), 30, Unsupported, "greater of 4 bytes"),
    row("vavrg4.*            ...", (3, 0), 30, Unsupported, "average of 4 bytes"),
    row("vset4.*             ...", (3, 0), 30, Unsupported, "comparison of 4 bytes"),
];
