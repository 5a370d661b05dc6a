//! PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy" and "Tensormap".

use super::super::form::{Row, row};
use crate::isa::Decode::Unsupported;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("cp.async.*                 ...", (7, 0), 80, Unsupported, "asynchronous copy"),
    row("cp.async.bulk.*            ...", (8, 0), 90, Unsupported, "asynchronous copy of a block or tile"),
    row("cp.reduce.async.bulk.*     ...", (8, 0), 90, Unsupported, "asynchronous reduction of a block or tile"),
    row("tensormap.*                ...", (8, 3), 90, Unsupported, "change of a tensor map"),
];
