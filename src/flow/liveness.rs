//! Live instructions: those whose effect or result is needed. An assembler removes the others.

use std::ops::Range;

use fixedbitset::FixedBitSet;

use super::def_use::{DefUse, Definition};
use super::graph::Blocks;
use super::reach::closure;
use crate::program::Program;
use crate::program::operands::reads;

/// The live instructions of a function, as indices into its `code`: those for which `needed` is true, and all whose result a live
/// instruction may read.
pub fn live<B: Blocks>(program: &Program, code: Range<usize>, def_use: &DefUse<B>, needed: impl Fn(usize) -> bool) -> FixedBitSet {
    let first = code.start;
    let definitions = |index: usize| {
        let at = first + index;
        let read = reads(&program.code[at], program).into_iter();
        read.flat_map(move |register| def_use.definitions_past_entry(register, at)).filter_map(move |definition| match definition {
            Definition::At(from) => Some(from - first),
            Definition::Entry => None,
        })
    };
    closure(code.len(), (0..code.len()).filter(|index| needed(first + index)), definitions).into_set()
}
