//! The table: every instruction of PTX ISA 9.0, one file per section of the manual's chapter "Instructions".
//!
//! Rows are read when the table is first asked for, and only then.

mod async_copy;
mod atomics;
mod comparison;
mod control_flow;
mod data_movement;
mod extended_precision;
mod floating_point;
mod half;
mod half_comparison;
mod integer;
mod logic_shift;
mod matrix;
mod memory;
mod miscellaneous;
mod multimem;
mod stack;
mod synchronization;
mod texture_surface;
mod video;
mod warp;
mod wmma;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use super::form::{Form, Row};
use super::notation;

/// The rows by section.
pub const SECTIONS: &[(&str, &[Row])] = &[
    ("integer arithmetic", integer::ROWS),
    ("extended-precision integer arithmetic", extended_precision::ROWS),
    ("floating point", floating_point::ROWS),
    ("half precision and mixed precision", half::ROWS),
    ("comparison and selection", comparison::ROWS),
    ("half-precision comparison", half_comparison::ROWS),
    ("logic and shift", logic_shift::ROWS),
    ("data movement and conversion", data_movement::ROWS),
    ("loads and stores", memory::ROWS),
    ("memory of several devices", multimem::ROWS),
    ("asynchronous copies", async_copy::ROWS),
    ("texture and surface", texture_surface::ROWS),
    ("control flow", control_flow::ROWS),
    ("synchronization", synchronization::ROWS),
    ("warp-wide", warp::ROWS),
    ("atomics", atomics::ROWS),
    ("matrix fragments", wmma::ROWS),
    ("matrix", matrix::ROWS),
    ("stack", stack::ROWS),
    ("video", video::ROWS),
    ("miscellaneous", miscellaneous::ROWS),
];

/// The table, read, with what is looked up in it.
struct Table {
    /// Forms of one opcode lie together, in the order of their rows.
    forms: Vec<Form>,
    by_opcode: HashMap<&'static str, Range<usize>>,
    words: HashSet<&'static str>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut forms: Vec<Form> = SECTIONS.iter().flat_map(|section| section.1).map(notation::read).collect();
    forms.sort_by_key(|form| form.opcode);
    let mut by_opcode: HashMap<&'static str, Range<usize>> = HashMap::new();
    for (index, form) in forms.iter().enumerate() {
        by_opcode.entry(form.opcode).or_insert(index..index).end = index + 1;
    }
    let words = forms.iter().flat_map(|form| &form.places).flat_map(|place| &place.words).map(|word| word.text).collect();
    Table { forms, by_opcode, words }
});

/// All forms, by opcode.
pub fn all() -> &'static [Form] {
    &TABLE.forms
}

/// The forms of `opcode`, the text before the first dot; empty if there is no such instruction.
pub fn forms(opcode: &str) -> &'static [Form] {
    TABLE.by_opcode.get(opcode).map_or(&[], |range| &TABLE.forms[range.clone()])
}

/// Every opcode once, in alphabetical order.
pub fn opcodes() -> impl Iterator<Item = &'static str> {
    TABLE.forms.chunk_by(|a, b| a.opcode == b.opcode).filter_map(|forms| forms.first()).map(|form| form.opcode)
}

/// Whether any form has the dotted word `text`.
pub(super) fn is_word(text: &str) -> bool {
    TABLE.words.contains(text)
}
