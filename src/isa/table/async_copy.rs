//! PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy" and "Tensormap".

use super::super::form::{Row, row};
use crate::isa::Decode::Unsupported;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("cp-async.ca(.shared|.shared::cta{7.8,0}).global[.L2::cache_hint{7.4,80}][<prefetch>]  ...", (7, 0), 80, Unsupported, "asynchronous copy"),
    row("cp-async.cg(.shared|.shared::cta{7.8,0}).global[.L2::cache_hint{7.4,80}][<prefetch>]  ...", (7, 0), 80, Unsupported, "asynchronous copy"),
    row("cp-async-commit_group  ", (7, 0), 80, Unsupported, "closes a group of asynchronous copies"),
    row("cp-async-wait_group  a:imm", (7, 0), 80, Unsupported, "waits for groups of asynchronous copies"),
    row("cp-async-wait_all  ", (7, 0), 80, Unsupported, "waits for all asynchronous copies"),
    row("cp-async-mbarrier.arrive[.noinc][.shared|.shared::cta{7.8,0}].b64  [a]", (7, 0), 80, Unsupported, "arrives when the asynchronous copies before have ended"),
    row("cp-async-bulk.*            ...", (8, 0), 90, Unsupported, "asynchronous copy of a block or tile"),
    row("cp-reduce-async-bulk.*     ...", (8, 0), 90, Unsupported, "asynchronous reduction of a block or tile"),
    row("tensormap.*                ...", (8, 3), 90, Unsupported, "change of a tensor map"),
];
