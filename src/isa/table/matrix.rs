//! PTX ISA, "Warp Level Matrix Multiply-Accumulate", "Asynchronous Warpgroup Level Matrix" and "TensorCore 5th Generation"
//! instructions.

use super::super::form::{Row, row};
use crate::isa::Decode::Unsupported;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("wmma.*             ...", (6, 0), 70, Unsupported, "matrix fragment of a warp: load, store, multiply"),
    row("mma.*              ...", (6, 4), 70, Unsupported, "matrix multiply and accumulate by a warp"),
    row("ldmatrix.*         ...", (6, 5), 75, Unsupported, "loads matrices into the registers of a warp"),
    row("stmatrix.*         ...", (7, 8), 90, Unsupported, "stores matrices from the registers of a warp"),
    row("movmatrix.*        ...", (7, 8), 75, Unsupported, "transposes a matrix in the registers of a warp"),
    row("wgmma.*            ...", (8, 0), 90, Unsupported, "matrix multiply and accumulate by a warpgroup").only(&["90a"]),
    row("tcgen05.*          ...", (8, 6), 100, Unsupported, "tensor memory and its matrix instructions").only(&["100f", "101f", "110f"]),
];
