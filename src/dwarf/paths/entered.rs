//! Variables in blocks that threads enter again and again.
//!
//! Without optimization, debug data has one register for a variable in all of its block. In a loop this register has the value of the
//! iteration before until the variable is assigned, and the variable none.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{Code, slots};
use crate::dwarf::location::{Location, Operation};
use crate::dwarf::model::LocationEntry;
use crate::flow::graph::Blocks;
use crate::flow::solver::{Analysis, Direction, Lattice, solve};
use crate::program::Pc;
use crate::program::registers::{RegisterLocation, register};

/// The instructions of its block at which a variable in a register has been assigned, or can have no other value; none if that is all of
/// them, or if it is assigned outside of the block as well.
pub(super) fn entries(code: &Code<'_>, block: &[Range<u32>], location: &Location) -> Option<Vec<LocationEntry>> {
    let [Operation::Register(name)] = location.0.as_slice() else { return None };
    let register = register(code.function, Pc(block.first()?.start), name)?;
    let writes: BTreeSet<u32> = slots(&register).filter_map(|slot| code.writes.get(&slot)).flatten().copied().collect();
    let assigned = Assigned { code, block, writes };
    if assigned.writes.is_empty() || !assigned.writes.iter().all(|pc| assigned.is_inside(*pc)) {
        return None;
    }
    assigned.entries(location, &register)
}

/// An analysis of where a register is written.
struct Assigned<'c, 'p> {
    code: &'c Code<'p>,
    block: &'c [Range<u32>],
    writes: BTreeSet<u32>,
}

/// Whether a register may have been written since the block was entered, and at all.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Written {
    in_block: bool,
    ever: bool,
}

impl Lattice for Written {
    fn join(&mut self, other: &Self) -> bool {
        self.in_block.join(&other.in_block) | self.ever.join(&other.ever)
    }
}

impl Assigned<'_, '_> {
    fn is_inside(&self, pc: u32) -> bool {
        self.block.iter().any(|code| code.contains(&pc))
    }

    fn entries(&self, location: &Location, register: &RegisterLocation) -> Option<Vec<LocationEntry>> {
        let mut entries: Vec<LocationEntry> = Vec::new();
        let mut is_all = true;
        for (block, mut state) in solve(&self.code.flow, self).into_iter().enumerate() {
            let code = Blocks::code(&self.code.flow, block);
            self.walk(code.start as u32..code.end as u32, &mut state, |state, range| {
                let in_predicate = if state.in_block { None } else { self.code.in_predicate(&range, register) };
                let is_known = state.in_block || !state.ever;
                is_all &= is_known && in_predicate.is_none();
                let end = in_predicate.as_ref().and_then(|entry| entry.code.as_ref()).map_or(range.end, |code| code.start);
                if is_known && range.start < end {
                    entries.push(LocationEntry { code: Some(range.start..end), location: location.clone() });
                }
                entries.extend(in_predicate);
            });
        }
        (!is_all).then_some(entries)
    }

    /// Goes through instructions, and visits what holds in each part of them that is in the block.
    fn walk(&self, code: Range<u32>, state: &mut Written, mut visit: impl FnMut(Written, Range<u32>)) {
        let ends = self.block.iter().flat_map(|code| [code.start, code.end]).chain(self.writes.iter().map(|pc| pc + 1));
        let mut parts: Vec<u32> = ends.filter(|pc| code.start < *pc && *pc < code.end).chain([code.end]).collect();
        parts.sort_unstable();
        parts.dedup();
        let mut start = code.start;
        for end in parts {
            if self.is_inside(start) {
                visit(*state, start..end);
            } else {
                state.in_block = false;
            }
            if self.writes.contains(&(end - 1)) {
                *state = Written { in_block: true, ever: true };
            }
            start = end;
        }
    }
}

impl Analysis for Assigned<'_, '_> {
    type Fact = Written;
    const DIRECTION: Direction = Direction::Forward;

    fn bottom(&self) -> Written {
        Written::default()
    }

    fn start(&self, node: usize) -> Option<Written> {
        (node == 0).then(Written::default)
    }

    fn transfer(&self, node: usize, fact: &mut Written) {
        let code = Blocks::code(&self.code.flow, node);
        self.walk(code.start as u32..code.end as u32, fact, |_, _| {});
    }
}
