//! Which variables statements and initial values name. Addresses are numbers in decoded code; the text tells them from other numbers.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::isa::Space;
use crate::program::{FuncId, Program, VarId, Variable, map};

/// The variables that each statement names.
pub fn named_variables(program: &Program) -> Vec<SmallVec<[VarId; 1]>> {
    let mut by_name: BTreeMap<&str, SmallVec<[VarId; 1]>> = BTreeMap::new();
    for (index, variable) in program.variables.iter().enumerate() {
        by_name.entry(&*variable.name).or_default().push(VarId::new(index));
    }
    let mut named = vec![SmallVec::new(); program.code.len()];
    if by_name.is_empty() {
        return named;
    }
    for (index, function) in program.functions.iter().enumerate() {
        for pc in function.code.clone() {
            let Some(span) = program.spans.get(pc as usize) else { continue };
            let found = words(program.sources_text.text(*span)).filter_map(|word| by_name.get(word)).flatten();
            let all: SmallVec<[VarId; 2]> = found.copied().collect();
            let owner = |id: &VarId| program.variables[id.index()].function;
            let own = all.iter().filter(|id| owner(id) == Some(FuncId::new(index)));
            let mut visible: SmallVec<[VarId; 1]> = own.copied().collect();
            if visible.is_empty() {
                visible = all.iter().copied().filter(|id| owner(id).is_none()).collect();
            }
            visible.sort_unstable();
            visible.dedup();
            if let Some(place) = named.get_mut(pc as usize) {
                *place = visible;
            }
        }
    }
    named
}

/// The words of a statement that may be names.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "_$%".contains(c))).filter(|word| !word.is_empty())
}

/// Variables whose addresses are initial values, each with the variable that holds it.
pub fn initial_addresses(program: &Program) -> Vec<(VarId, VarId)> {
    let size = (program.address_bits / 8) as usize;
    let holders = program.variables.iter().enumerate().filter(|(_, holder)| holder.ty.bytes() as usize == size);
    let words = holders.flat_map(|(index, holder)| holder.init.chunks_exact(size).map(move |word| (VarId::new(index), word)));
    let found = words.filter_map(|(holder, word)| {
        let bits = word.iter().rev().fold(0, |bits: u64, byte| bits << 8 | u64::from(*byte));
        let variable = program.variables.iter().position(|variable| holds(program, variable, bits))?;
        Some((VarId::new(variable), holder))
    });
    found.collect()
}

/// Whether a variable of the module lies at an address, which may be generic.
fn holds(program: &Program, variable: &Variable, bits: u64) -> bool {
    let (space, start) = map::map(program.address_bits).window_of(bits);
    let location = variable.location;
    let at = (if space == location.space { bits - start } else { bits }).checked_sub(location.address);
    matches!(location.space, Space::Global | Space::Const) && at.is_some_and(|at| at < variable.bytes)
}
