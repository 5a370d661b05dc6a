//! PTX ISA, "Texture Instructions" and "Surface Instructions".

use super::super::form::{Row, row};
use crate::isa::Decode::Unsupported;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("tex.*              ...", (1, 0), 0, Unsupported, "texture lookup"),
    row("tld4.*             ...", (2, 2), 20, Unsupported, "texture lookup of the four texels around a point"),
    row("txq.*              ...", (2, 0), 20, Unsupported, "attribute of a texture or sampler"),
    row("istypep.*          ...", (4, 0), 30, Unsupported, "does the opaque variable have this type?"),
    row("suld.*             ...", (1, 5), 20, Unsupported, "surface load"),
    row("sust.*             ...", (1, 5), 20, Unsupported, "surface store"),
    row("sured.*            ...", (2, 0), 20, Unsupported, "surface reduction"),
    row("suq.*              ...", (2, 0), 20, Unsupported, "attribute of a surface"),
];
