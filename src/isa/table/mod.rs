//! The instruction table: every instruction of PTX ISA 9.0, one file per section of the manual's chapter "Instructions".
//!
//! Rows are parsed on the first use of the table.

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

/// The parsed table with its indices.
struct Table {
    /// Sorted by opcode; forms of one opcode are in the order of their rows.
    forms: Vec<Form>,
    by_opcode: HashMap<&'static str, Range<usize>>,
    modifiers: HashSet<&'static str>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut forms: Vec<Form> = SECTIONS.iter().flat_map(|section| section.1).map(notation::read).collect();
    forms.sort_by_key(|form| form.opcode);
    let mut by_opcode: HashMap<&'static str, Range<usize>> = HashMap::new();
    for (index, form) in forms.iter().enumerate() {
        by_opcode.entry(form.opcode).or_insert(index..index).end = index + 1;
    }
    let modifiers = forms.iter().flat_map(|form| &form.slots).flat_map(|slot| &slot.modifiers).map(|word| word.text).collect();
    Table { forms, by_opcode, modifiers }
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

/// True if any form has the modifier `text`.
pub(super) fn is_modifier(text: &str) -> bool {
    TABLE.modifiers.contains(text)
}
